"""Dijkstra's algorithm, for costs >= 0."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost.planning.graphs import Graph
from relaxboost.planning.kernels import search, trace
from relaxboost.planning.paths import Path
from relaxboost.planning.planners.common import NOTHING, arc_costs, ends, no_path, non_negative
from relaxboost.planning.plans import Plan, capped

Array = NDArray[np.float64]
Whole = NDArray[np.int64]


def dijkstra(graph: Graph, costs: ArrayLike, source: Hashable, target: Hashable) -> Plan:
    """Return a shortest path for costs >= 0.

    Parameters
    ----------
    graph : Graph
    costs : array of shape (E,)
    source, target : labels of nodes

    Raises
    ------
    NoPath
        If the target is out of reach.
    InputError
        For a negative cost, with its arc.
    """
    c = arc_costs(graph, costs)
    non_negative(graph, c, "Dijkstra's algorithm")
    s, t = ends(graph, source, target)
    taken, distance = shortest_arcs(graph, c[graph.forward.arcs], s, t)
    return Plan(Path(graph, taken), c, capped(distance, distance[t], NOTHING), "dijkstra")


def shortest_arcs(
    graph: Graph, ordered: Array, source: int, target: int, ahead: Array = NOTHING
) -> tuple[Whole, Array]:
    """Return the arcs of a shortest path, and the distances that the search found until then.

    Parameters
    ----------
    graph : Graph
    ordered : array of shape (E,)
        Costs >= 0 in the order of `graph.forward`.
    source, target : int
    ahead : array of shape (nodes,), optional
        Estimates of what lies ahead, for A*; see `kernels.search`.

    Raises
    ------
    NoPath
        If the target is out of reach.
    """
    start, far, arcs = graph.forward
    distance, via, _ = search(start, far, ordered, source, target, ahead)
    if np.isinf(distance[target]):
        raise no_path(graph, source, target)
    return trace(via, arcs, graph.tail, source, target), distance


def distances_to(graph: Graph, costs: Array, target: int) -> Array:
    """Return each node's distance to a target, inf where there is no path; for costs >= 0."""
    start, far, arcs = graph.backward
    distance: Array = search(start, far, costs[arcs], target, -1, NOTHING)[0]
    return distance
