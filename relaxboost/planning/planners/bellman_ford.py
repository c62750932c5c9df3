"""Bellman and Ford's algorithm, for costs of any sign."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost.planning.graphs import Graph
from relaxboost.planning.kernels import relax, search
from relaxboost.planning.paths import Path
from relaxboost.planning.planners.common import arc_costs, ends, no_path
from relaxboost.planning.planners.dijkstra import NOTHING
from relaxboost.planning.plans import NegativeCycle, Plan

Array = NDArray[np.float64]


def bellman_ford(graph: Graph, costs: ArrayLike, source: Hashable, target: Hashable) -> Plan:
    """Return a shortest path for costs of any sign.

    Parameters
    ----------
    graph : Graph
    costs : array of shape (E,)
    source, target : labels of nodes

    Raises
    ------
    NegativeCycle
        If costs are negative around a cycle on the way from source to target; it has the cycle.
    NoPath
        If the target is out of reach.
    """
    c = arc_costs(graph, costs)
    s, t = ends(graph, source, target)
    # A negative cycle matters only where the source reaches it and it reaches the target.
    reached, reaching = _reached(graph, s, t)
    if not reached[t]:
        raise no_path(graph, s, t)
    between = reached & reaching
    kept = between[graph.tail] & between[graph.head]
    distance, via, on = relax(graph.tail, graph.head, c, s, graph.nodes, kept)
    if on >= 0:
        raise NegativeCycle(Path(graph, _around(via, graph.tail, on)), c)
    potential = np.where(reached, np.where(reaching, distance, -np.inf), np.inf)
    arcs = []
    node = t
    while node != s:
        arcs.append(int(via[node]))
        node = int(graph.tail[via[node]])
    return Plan(Path(graph, np.array(arcs[::-1])), c, potential, "bellman-ford")


def _reached(graph: Graph, s: int, t: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which nodes the source reaches, and which reach the target."""
    zero = np.zeros(graph.arcs)
    after = search(graph.forward.start, graph.forward.far, zero, s, -1, NOTHING)[0]
    before = search(graph.backward.start, graph.backward.far, zero, t, -1, NOTHING)[0]
    return np.isfinite(after), np.isfinite(before)


def _around(via: NDArray[np.int64], tail: NDArray[np.int64], node: int) -> NDArray[np.int64]:
    arcs = [int(via[node])]
    while tail[arcs[-1]] != node:
        arcs.append(int(via[tail[arcs[-1]]]))
    return np.array(arcs[::-1])
