"""Road networks with traffic, in the TNTP format of Transportation Networks for Research."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.readers.fields import NumberField, row
from benchmarks.readers.places import SOURCES, lines, located
from relaxboost import planning
from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError

ATTRIBUTES = ("capacity", "length", "free_flow_time", "b", "power", "speed", "toll", "link_type")
_ENDS = ("init_node", "term_node")
_SAID = ("NUMBER OF ZONES", "NUMBER OF NODES", "FIRST THRU NODE", "NUMBER OF LINKS")
_NOT_NEGATIVE = {"capacity", "length", "free_flow_time"}


class RoadNetwork(NamedTuple):
    """A road network; nodes are numbered from 1, as in its files."""

    name: str
    """The name of the file without _net.tntp."""
    nodes: int
    """The number of nodes."""
    zones: int
    """The number of zones, which are the nodes 1 to `zones`."""
    first_through: int
    """Nodes below this number are centroids: routes start and end there, and cannot pass them."""
    tail: Whole
    """The first node of each link, shape (E,)."""
    head: Whole
    """The last node of each link, shape (E,)."""
    attributes: dict[str, Array]
    """Arrays of shape (E,) by name: capacity, length, free_flow_time, b, power, speed, toll,
    link_type, in the units of the file; volume and cost, if a file of flows was given."""
    position: Array | None = None
    """x and y (or longitude and latitude) of node i in row i - 1, shape (N, 2), if given."""


def read_network(
    path: str | PathLike[str],
    flow: str | PathLike[str] | None = None,
    nodes: str | PathLike[str] | None = None,
) -> RoadNetwork:
    """Read a network, and if given its equilibrium traffic and the positions of its nodes.

    Each file may be gzipped. Links keep the order of the file of the network. Flows are matched to
    links by their two nodes, and in order if several links join the same nodes. The cost in a file
    of flows is the objective of its authors: free_flow_time * (1 + b * (volume / capacity) **
    power), plus multiples of length and of toll in some networks (Chicago-Sketch). In some files
    (Chicago-Sketch, Sioux Falls) `first_through` is 1, and routes may pass every node.

    Parameters
    ----------
    path : path
        <name>_net.tntp.
    flow : path, optional
        <name>_flow.tntp: from, to, volume, cost.
    nodes : path, optional
        <name>_node.tntp: node, x, y.

    Raises
    ------
    InputError
        If a file is missing (the message names its source) or cannot be read, if a line is
        malformed (with its number), if the number of links differs from the metadata, if a link
        has no flow or a flow no link, or if a node has no position or several.

    References
    ----------
    .. [1] Transportation Networks for Research Core Team, "Transportation Networks for Research",
           https://github.com/bstabler/TransportationNetworks.
    """
    path = located(path, SOURCES["tntp"])
    zones, count, through, links = _metadata(path)
    ends = [NumberField(name, 1, count, True) for name in _ENDS]
    rest = [NumberField(name, 0.0 if name in _NOT_NEGATIVE else -np.inf) for name in ATTRIBUTES]
    rows = [values for _, values in _rows(path, [*ends, *rest])]
    if len(rows) != links:
        raise InputError(f"{path}: {len(rows)} links, and its metadata say {links}; get it again")
    tail, head, *columns = np.array(rows).T.copy()
    pairs = list(zip(tail.astype(int).tolist(), head.astype(int).tolist(), strict=True))
    attributes = dict(zip(ATTRIBUTES, columns, strict=True))
    name = path.name.removesuffix(".gz").removesuffix(".tntp").removesuffix("_net")
    if flow is not None:
        values = [NumberField("volume", 0), NumberField("cost", 0)]
        attributes["volume"], attributes["cost"] = _matched(flow, ends, values, pairs, name).T
    position = None
    if nodes is not None:
        values, numbers = [NumberField("x"), NumberField("y")], [(k + 1,) for k in range(count)]
        node = NumberField("the node", 1, count, True)
        position = _matched(nodes, [node], values, numbers, name)
    tails, heads = np.array(pairs, dtype=np.int64).T.copy()
    return RoadNetwork(name, count, zones, through, tails, heads, attributes, position)


def _metadata(path: Path) -> tuple[int, ...]:
    """Return the numbers of zones and nodes, the first node to pass, and the number of links."""
    said = {}
    for n, line in lines(path):
        headings = tuple(line.lower().replace("~", " ").replace(";", " ").split())
        if headings[:1] == _ENDS[:1] and headings != (*_ENDS, *ATTRIBUTES):
            raise InputError(
                f"{path}, line {n}: columns {', '.join(headings)}; the format has "
                f"{', '.join(_ENDS + ATTRIBUTES)}, in this order"
            )
        found = re.fullmatch(r"<\s*(.+?)\s*>\s*(\d+)", line)
        if found:
            said[found[1]] = int(found[2])
    for key in _SAID:
        if not said.get(key):
            raise InputError(f"{path}: its metadata lack <{key}>, a whole number; get it again")
    zones, count, through, links = (said[key] for key in _SAID)
    if zones > count or through > count + 1:
        raise InputError(
            f"{path} says {zones} zones, first thru node {through} and {count} nodes; neither may "
            "exceed the number of nodes"
        )
    return zones, count, through, links


def _rows(path: Path, fields: Sequence[NumberField]) -> Iterator[tuple[int, list[float]]]:
    """Yield the rows of a table that may have metadata, headings and comments before them."""
    begun = False
    for n, line in lines(path):
        texts = line.replace(";", " ").replace(":", " ").split()
        if line[0] not in "<~" and (begun or not texts or not texts[0].isalpha()):
            begun = True
            yield n, row(path, n, texts, fields)


def _matched(
    given: str | PathLike[str],
    keys: Sequence[NumberField],
    values: Sequence[NumberField],
    wanted: Sequence[tuple[int, ...]],
    name: str,
) -> Array:
    """Return the values of a file in the order of `wanted`; the first fields of a row are keys."""
    path = located(given, SOURCES["tntp"])
    waiting = defaultdict(list)
    for place in reversed(range(len(wanted))):
        waiting[wanted[place]].append(place)
    found = np.full((len(wanted), len(values)), np.nan)
    for n, read in _rows(path, [*keys, *values]):
        key = tuple(map(int, read[: len(keys)]))
        if not waiting.get(key):
            what = "comes again" if key in waiting else f"is not in {name}"
            raise InputError(f"{path}, line {n}: {_shown(key)} {what}")
        found[waiting[key].pop()] = read[len(keys) :]
    missing = np.flatnonzero(np.isnan(found[:, 0]))
    if missing.size:
        raise InputError(
            f"{path} has no line for {_shown(wanted[missing[0]])} of {name} ({missing.size} of "
            f"{len(wanted)} have none); give the file of this network"
        )
    return found


def _shown(key: tuple[int, ...]) -> str:
    return f"{'link' if len(key) == 2 else 'node'} {' -> '.join(map(str, key))}"


class Into(NamedTuple):
    """The label of a centroid at the end of a route; at its start the label is the number."""

    centroid: int


def road_graph(
    network: RoadNetwork, names: Sequence[str] = ("free_flow_time", "length")
) -> planning.Graph:
    """Return the network as a graph whose arcs are its links, in their order.

    Routes cannot pass the nodes below `network.first_through`. In the graph, each of them becomes
    two nodes: its number, with outgoing arcs only, and ``Into(number)``, with incoming arcs only.
    `road_target` returns the label for the end of a route.

    Parameters
    ----------
    network : RoadNetwork
    names : sequence of str
        Attributes of the network that become features.
    """
    unknown = [name for name in names if name not in network.attributes]
    if unknown:
        have = ", ".join(network.attributes)
        raise InputError(f"network {network.name} has no {unknown[0]!r}; there are {have}")
    closed = network.first_through - 1
    enters = network.head + np.where(network.head <= closed, network.nodes, 0)
    at = network.position
    return planning.Graph(
        network.tail - 1,
        enters - 1,
        np.stack([network.attributes[name] for name in names], axis=1),
        names=names,
        nodes=[*range(1, network.nodes + 1), *map(Into, range(1, closed + 1))],
        position=None if at is None else np.concatenate([at, at[:closed]]),
    )


def road_target(network: RoadNetwork, node: int) -> int | Into:
    """Return the label in `road_graph` of a node at the end of a route."""
    return Into(node) if node < network.first_through else node
