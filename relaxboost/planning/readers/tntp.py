"""Road networks with traffic, in the TNTP format of Transportation Networks for Research."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from relaxboost import planning
from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError
from relaxboost.planning.readers.fields import NumberField, number, row, whole
from relaxboost.planning.readers.places import SOURCES, lines, located

ATTRIBUTES = (
    "capacity",
    "length",
    "free_flow_time",
    "b",
    "power",
    "speed",
    "toll",
    "link_type",
)
_ENDS = ("init_node", "term_node")
_NOT_NEGATIVE = {"capacity", "length", "free_flow_time"}
_END = "END OF METADATA"
MOST_ZONES = 20_000
"""The largest table of trips that is read: more would take over 3 GB."""

_SLACK = 1e-3  # totals of trips are published with fewer digits than their entries

Line = tuple[int, str]


class RoadNetwork(NamedTuple):
    """A road network; nodes are numbered from 1, as in its files."""

    name: str
    """The name of the file without _net.tntp."""
    nodes: int
    """How many nodes there are."""
    zones: int
    """How many zones; they are the nodes 1 to `zones`."""
    first_through: int
    """Nodes below it are centroids: routes begin and end there, and may not pass through."""
    tail: Whole
    """Where each link begins, shape (E,)."""
    head: Whole
    """Where each link ends, shape (E,)."""
    attributes: dict[str, Array]
    """Arrays of shape (E,) by name: capacity, length, free_flow_time, b, power, speed, toll,
    link_type; in the units of the file."""
    volume: Array | None = None
    """The traffic on each link, shape (E,), if a file of flows was given."""
    cost: Array | None = None
    """The cost of each link under that traffic, shape (E,), if a file of flows was given."""
    position: Array | None = None
    """x and y (or longitude and latitude) of node i in row i - 1, shape (N, 2), if given."""


def read_network(
    path: str | PathLike[str],
    flow: str | PathLike[str] | None = None,
    nodes: str | PathLike[str] | None = None,
) -> RoadNetwork:
    """Read a network, and if given its equilibrium traffic and the positions of its nodes.

    Each file may be gzipped. Links keep the order of the network's file; flows are matched to
    them by their two nodes, and where several links join the same two nodes, in their order.
    The cost of a flow file is what its authors minimised: free_flow_time * (1 + b *
    (volume / capacity) ** power), plus in some networks (Chicago-Sketch) multiples of length and
    of toll. Whether `first_through` forbids anything is up to the file: some (Chicago-Sketch,
    Sioux Falls) say 1, and then every node may be passed.

    Parameters
    ----------
    path : path
        <name>_net.tntp.
    flow : path, optional
        <name>_flow.tntp: from, to, volume, cost.
    nodes : path, optional
        <name>_node.tntp (node, x, y) or a GeoJSON file of points with a property ``id``.

    Returns
    -------
    RoadNetwork

    Raises
    ------
    InputError
        If a file is missing (with where to get it), cannot be read or is empty; a line is
        malformed or has a number that is not finite (with its number); a node is outside 1 to N;
        links are not as many as the metadata say; a link has no flow or a flow no link (naming
        it); a node has no position or several.

    References
    ----------
    .. [1] Transportation Networks for Research Core Team, "Transportation Networks for Research",
           https://github.com/bstabler/TransportationNetworks.
    """
    path = located(path, SOURCES["tntp"])
    said, rows = _metadata(path)
    zones, count, through, links = (
        _said(path, said, key)
        for key in ("NUMBER OF ZONES", "NUMBER OF NODES", "FIRST THRU NODE", "NUMBER OF LINKS")
    )
    if zones > count or through > count + 1:
        raise InputError(
            f"{path} says {zones} zones, first thru node {through} and {count} nodes; neither can "
            "be more than there are nodes"
        )
    columns = [NumberField(name, 1, count) for name in _ENDS]
    columns += [NumberField(name, 0.0 if name in _NOT_NEGATIVE else -np.inf) for name in ATTRIBUTES]
    found = [row(path, n, line.rstrip("; \t").split(), columns, "a link") for n, line in rows]
    if len(rows) != links:
        raise InputError(f"{path}: {len(rows)} links, and its metadata say {links}; get it again")
    table = np.array(found).T.copy()
    tail, head = table[:2].astype(np.int64)
    attributes = dict(zip(ATTRIBUTES, table[2:], strict=True))
    name = path.name.removesuffix(".gz").removesuffix(".tntp").removesuffix("_net")
    network = RoadNetwork(name, count, zones, through, tail, head, attributes)
    if flow is not None:
        volume, cost = _flows(located(flow, SOURCES["tntp"]), network)
        network = network._replace(volume=volume, cost=cost)
    if nodes is not None:
        network = network._replace(position=_positions(located(nodes, SOURCES["tntp"]), count))
    return network


def read_demand(path: str | PathLike[str]) -> Array:
    """Read the trips between zones, <name>_trips.tntp, gzipped or not.

    Parameters
    ----------
    path : path

    Returns
    -------
    array of shape (zones, zones)
        Trips from zone i + 1 to zone j + 1; 0 where the file has none.

    Raises
    ------
    InputError
        If the file is missing (with where to get it) or cannot be read, a line is malformed, a
        zone is outside 1 to the number of zones, a pair comes twice, a number is negative or not
        finite, or the sum is not what the metadata say (to a thousandth).
    """
    path = located(path, SOURCES["tntp"])
    said, rows = _metadata(path)
    zones = _said(path, said, "NUMBER OF ZONES", MOST_ZONES)
    demand = np.full((zones, zones), np.nan)
    origin = 0
    for n, line in rows:
        if line.lower().startswith("origin"):
            origin = whole(path, n, line[len("origin") :].strip(), "the origin", 1, zones)
            continue
        if not origin:
            raise InputError(f"{path}, line {n}: trips must come after a line 'Origin <zone>'")
        for pair in filter(None, map(str.strip, line.split(";"))):
            zone, colon, text = pair.partition(":")
            if not colon:
                raise InputError(f"{path}, line {n}: {pair!r} is not 'zone : trips;'")
            to = whole(path, n, zone.strip(), "the destination", 1, zones)
            if not np.isnan(demand[origin - 1, to - 1]):
                raise InputError(f"{path}, line {n}: trips from {origin} to {to} come twice")
            demand[origin - 1, to - 1] = number(path, n, text.strip(), "trips", 0)
    if np.isnan(demand).all():
        raise InputError(f"{path} has no trips; get the file again")
    demand = np.nan_to_num(demand)
    if "TOTAL OD FLOW" in said:
        n, text = said["TOTAL OD FLOW"]
        total = number(path, n, text, "the total", 0)
        if abs(demand.sum() - total) > _SLACK * max(total, 1.0):
            raise InputError(
                f"{path}: trips sum to {demand.sum():.10g}, and its metadata say {text}; get the "
                "file again"
            )
    return demand


def _metadata(path: Path) -> tuple[dict[str, Line], list[Line]]:
    """Return the metadata by name with their lines, and the lines after that are no comments."""
    said: dict[str, Line] = {}
    begun = False
    rows = []
    for n, line in lines(path):
        if begun:
            if not line.startswith("~"):
                rows.append((n, line))
            elif "init_node" in line.lower():
                _check_columns(path, n, line)
            continue
        key, closed, value = line.removeprefix("<").partition(">")
        if not line.startswith("<") or not closed:
            if line.startswith("~"):
                continue
            raise InputError(
                f"{path}, line {n}: {line[:40]!r} before <{_END}>; there each line is <NAME> value"
            )
        begun = key.strip() == _END
        said[key.strip()] = (n, value.strip())
    if not begun:
        raise InputError(f"{path} has no line <{_END}>; it is no TNTP file, or is cut short")
    return said, rows


def _said(path: Path, said: dict[str, Line], key: str, most: int = 2**53) -> int:
    if key not in said:
        raise InputError(f"{path}: its metadata lack <{key}>; get the file again")
    n, text = said[key]
    return whole(path, n, text, f"<{key}>", 1, most)


def _check_columns(path: Path, n: int, line: str) -> None:
    """Raise if a line of headings has other columns than the format."""
    headings = tuple(line.lower().replace("~", " ").replace(";", " ").split())
    if headings != (*_ENDS, *ATTRIBUTES):
        raise InputError(
            f"{path}, line {n}: columns {', '.join(headings)}; the format has "
            f"{', '.join(_ENDS + ATTRIBUTES)}, in this order"
        )


def _table(path: Path, *columns: NumberField) -> Iterator[tuple[int, list[float]]]:
    """Yield the rows of a table that may have headings, comments and closing semicolons."""
    first = True
    for n, line in lines(path):
        if line[0] in "<~":
            continue
        fields = line.replace(";", " ").replace(":", " ").split()
        heading = first and fields and fields[0].isalpha()
        first = False
        if not heading:
            yield n, row(path, n, fields, columns)


def _flows(path: Path, network: RoadNetwork) -> tuple[Array, Array]:
    """Return volume and cost in the order of the links, which the file need not have."""
    waiting = defaultdict(list)
    for place in reversed(range(len(network.tail))):
        waiting[int(network.tail[place]), int(network.head[place])].append(place)
    volume = np.full(len(network.tail), np.nan)
    cost = volume.copy()
    nodes = NumberField("from", 1, network.nodes), NumberField("to", 1, network.nodes)
    for n, (one, other, *values) in _table(
        path, *nodes, NumberField("the volume", 0), NumberField("the cost", 0)
    ):
        ends = int(one), int(other)
        if not waiting.get(ends):
            what = "comes again" if ends in waiting else f"is not in {network.name}"
            raise InputError(f"{path}, line {n}: the link {ends[0]} -> {ends[1]} {what}")
        place = waiting[ends].pop()
        volume[place], cost[place] = values
    missing = np.flatnonzero(np.isnan(volume))
    if missing.size:
        place = missing[0]
        raise InputError(
            f"{path}: no flow for the link {network.tail[place]} -> {network.head[place]} of "
            f"{network.name} ({missing.size} of {len(volume)} links have none); give the flows of "
            "this network"
        )
    return volume, cost


def _positions(path: Path, count: int) -> Array:
    geojson = path.name.removesuffix(".gz").lower().endswith((".geojson", ".json"))
    position = np.full((count, 2), np.nan)
    for place, node, point in _points(path, count) if geojson else _node_rows(path, count):
        if not np.isnan(position[node - 1, 0]):
            raise InputError(f"{path}, {place}: node {node} comes again")
        position[node - 1] = point
    missing = np.flatnonzero(np.isnan(position[:, 0])) + 1
    if missing.size:
        raise InputError(
            f"{path}: no position for node {missing[0]} ({missing.size} of {count} nodes have "
            "none); give the nodes of this network"
        )
    return position


def _node_rows(path: Path, count: int) -> Iterator[tuple[str, int, list[float]]]:
    columns = NumberField("the node", 1, count), NumberField("x"), NumberField("y")
    for n, (node, *point) in _table(path, *columns):
        yield f"line {n}", int(node), point


def _points(path: Path, count: int) -> Iterator[tuple[str, int, list[float]]]:
    text = "\n".join(line for _, line in lines(path))
    try:
        features: Any = json.loads(text)["features"]
        found = [
            (feature["properties"]["id"], feature["geometry"]["coordinates"])
            for feature in features
        ]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            f"{path}: is no GeoJSON collection of points, each with a property id ({error!r})"
        ) from None
    for place, (node, point) in enumerate(found, start=1):
        where = f"feature {place}"
        if type(node) is not int or not 1 <= node <= count:
            raise InputError(f"{path}, {where}: id is {node!r}; it must be from 1 to {count}")
        good = isinstance(point, list) and len(point) in (2, 3)
        # A comparison is also false for NaN, and does not overflow for whole numbers of any size.
        if not good or not all(type(v) in (int, float) and abs(v) < 1e300 for v in point):
            raise InputError(f"{path}, {where}: coordinates {point!r}; it needs two finite numbers")
        yield where, node, [float(x) for x in point[:2]]


class Into(NamedTuple):
    """The label of a centroid where routes end; where they begin it is the number itself."""

    centroid: int


def road_graph(
    network: RoadNetwork, names: Sequence[str] = ("free_flow_time", "length")
) -> planning.Graph:
    """Return the network as a graph whose arcs are its links, in their order.

    Nodes below `network.first_through` may not be passed through. Each of them is two nodes here,
    its number, which only leaves, and ``Into(number)``, which is only entered; `road_target` gives
    the label to end at.

    Parameters
    ----------
    network : RoadNetwork
    names : sequence of str
        Features: attributes of the network; ``"congested_time"``, the time of a link under the
        network's traffic by the formula of the Bureau of Public Roads, free_flow_time · (1 + b ·
        (volume/capacity)^power); ``"delay"``, that without the free_flow_time.

    Returns
    -------
    planning.Graph

    Raises
    ------
    InputError
        For an unknown name, and for times under traffic of a network that was read without.
    """
    closed = network.first_through - 1
    head = np.where(
        network.head <= closed, network.nodes + network.head - 1, network.head - 1
    ).astype(np.int64)
    labels: list[object] = list(range(1, network.nodes + 1))
    labels += [Into(number) for number in range(1, closed + 1)]
    at = network.position
    X = np.stack([_feature(network, name) for name in names], axis=1)
    return planning.Graph(
        network.tail - 1,
        head,
        X,
        names=list(names),
        nodes=labels,
        position=None if at is None else np.concatenate([at, at[:closed]]),
    )


def road_target(network: RoadNetwork, node: int) -> int | Into:
    """Return the label of a node where routes end, in the graph of `road_graph`."""
    return Into(node) if node < network.first_through else node


def _feature(network: RoadNetwork, name: str) -> Array:
    have = network.attributes
    if name in have:
        return have[name]
    if name not in ("congested_time", "delay"):
        allowed = ", ".join([*have, "congested_time", "delay"])
        raise InputError(f"network {network.name} has no {name!r}; there are {allowed}")
    if network.volume is None:
        raise InputError(f"{name} needs traffic: read_network(path, flow=...) of {network.name}")
    load = network.volume / have["capacity"]
    delay = have["free_flow_time"] * have["b"] * load ** have["power"]
    return delay if name == "delay" else have["free_flow_time"] + delay
