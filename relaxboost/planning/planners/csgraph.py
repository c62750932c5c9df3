"""Dijkstra's algorithm of scipy.sparse.csgraph: a second opinion by other people's code."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import ArrayLike

from relaxboost.planning.graphs import Graph
from relaxboost.planning.paths import Path
from relaxboost.planning.planners.common import arc_costs, ends, no_path, non_negative
from relaxboost.planning.plans import Plan


def csgraph(graph: Graph, costs: ArrayLike, source: Hashable, target: Hashable) -> Plan:
    """Return a shortest path for costs >= 0, by `scipy.sparse.csgraph.dijkstra`.

    Of parallel arcs the cheapest is kept, the first of equals: sparse matrices would add them up.
    It searches the whole graph, and is there to be compared with.

    Parameters
    ----------
    graph : Graph
    costs : array of shape (E,)
        >= 0.
    source, target : labels of nodes

    Raises
    ------
    NoPath
        If the target is out of reach.
    InputError
        For a negative cost, with its arc.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    c = arc_costs(graph, costs)
    non_negative(graph, c, "Dijkstra's algorithm")
    s, t = ends(graph, source, target)
    order = np.lexsort((c, graph.head, graph.tail))
    pair = graph.tail[order] * graph.nodes + graph.head[order]
    first = np.r_[True, pair[1:] != pair[:-1]]
    kept, pair = order[first], pair[first]
    # Made of its three arrays, a matrix keeps entries that are 0 as arcs of no cost.
    start = np.searchsorted(graph.tail[kept], np.arange(graph.nodes + 1))
    matrix = csr_array((c[kept], graph.head[kept], start), shape=(graph.nodes, graph.nodes))
    distance, before = dijkstra(matrix, indices=s, return_predecessors=True)
    if np.isinf(distance[t]):
        raise no_path(graph, s, t)
    nodes = [t]
    while nodes[-1] != s:
        nodes.append(int(before[nodes[-1]]))
    along = np.array(nodes[::-1], dtype=np.int64)
    arcs = kept[np.searchsorted(pair, along[:-1] * graph.nodes + along[1:])]
    return Plan(Path(graph, arcs), c, np.minimum(distance, distance[t]), "csgraph")
