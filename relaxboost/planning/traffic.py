"""How busy a network is: arcs on the shortest paths of random trips."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import thread_pool
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count
from relaxboost.planning.graphs import Graph
from relaxboost.planning.kernels import NOTHING, search, trace
from relaxboost.planning.planners.base import arc_costs


def traffic(graph: Graph, costs: ArrayLike, trips: int = 4000, seed: int = 0) -> Array:
    """Return how many random trips would take each arc, shape (E,), were all on shortest paths.

    This estimates betweenness, which tells main roads from side streets by the network alone. Ends
    are drawn from all nodes alike; 20 trips share a source. Trips without a path count nothing.

    Parameters
    ----------
    graph : Graph
    costs : array of shape (E,)
        >= 0.
    trips : int
        How many to draw, rounded up to a multiple of 20.
    seed : int

    References
    ----------
    Brandes & Pich (2007), Centrality estimation in large networks.
    """
    c = arc_costs(graph, costs)
    if c.min() < 0.0:
        arc = int(c.argmin())
        raise InputError(f"traffic needs costs >= 0, and {graph.arc_name(arc)} has {c[arc]:g}")
    rng = np.random.default_rng(seed)
    sources = -(-count("trips", trips) // 20)
    ends = rng.integers(0, graph.nodes, (sources, 21))
    start, far, arcs = graph.forward
    ordered = c[arcs]

    def work(row: Whole) -> Array:
        root, made = int(row[0]), np.zeros(graph.arcs)
        via = search(start, far, ordered, root, -1, NOTHING)[1]
        for node in row[1:].tolist():
            if via[node] >= 0:
                made[trace(via, arcs, graph.tail, root, node)] += 1.0
        return made

    return np.asarray(sum(thread_pool()[0].map(work, list(ends)), np.zeros(graph.arcs)))
