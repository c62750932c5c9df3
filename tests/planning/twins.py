"""A planner by other people's code: SciPy's Dijkstra."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from relaxboost.planning import NoPath, Path, Plan


def csgraph(graph, costs, source, target):
    """scipy.sparse.csgraph.dijkstra over the whole graph; of parallel arcs the cheapest is kept."""
    order = np.lexsort((costs, graph.head, graph.tail))
    pair = graph.tail[order] * graph.nodes + graph.head[order]
    first = np.r_[True, pair[1:] != pair[:-1]]
    kept, pair = order[first], pair[first]
    # Made of its three arrays, a matrix keeps entries that are 0 as arcs of no cost.
    start = np.searchsorted(graph.tail[kept], np.arange(graph.nodes + 1))
    shape = (graph.nodes, graph.nodes)
    matrix = csr_array((costs[kept], graph.head[kept], start), shape=shape)
    distance, before = dijkstra(matrix, indices=source, return_predecessors=True)
    if np.isinf(distance[target]):
        raise NoPath("no path")
    nodes = [target]
    while nodes[-1] != source:
        nodes.append(int(before[nodes[-1]]))
    along = np.array(nodes[::-1], dtype=np.int64)
    arcs = kept[np.searchsorted(pair, along[:-1] * graph.nodes + along[1:])]
    potential = np.minimum(distance, distance[target])
    return Plan(Path(graph, arcs), costs, potential, "csgraph")
