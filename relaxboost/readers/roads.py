"""Road networks as graphs to plan on, in which no route passes through a centroid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost import planning
from relaxboost.errors import InputError
from relaxboost.readers.tntp import RoadNetwork

Array = NDArray[np.float64]


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
        nodes=network.nodes + closed,
        names=list(names),
        labels=labels,
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
