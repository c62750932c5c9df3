"""Coordinates for networks that come without any."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relaxboost.errors import InputError
from relaxboost.planning.graphs import Graph

LARGEST = 3000
"""Nodes of the largest network that is laid out."""


def layout(graph: Graph) -> NDArray[np.float64]:
    """Return coordinates for a network without any, shape (nodes, 2), the same every time.

    Nodes that few arcs lie between are put near each other, by networkx.

    Raises
    ------
    InputError
        For more than `LARGEST` nodes, which would take too long.
    """
    import networkx as nx

    if graph.nodes > LARGEST:
        raise InputError(
            f"the graph of {graph.nodes} nodes has no position, and only up to {LARGEST} "
            "are laid out; give position=, an array of shape (nodes, 2), when making it"
        )
    plain = nx.Graph()
    plain.add_nodes_from(range(graph.nodes))
    plain.add_edges_from(zip(graph.tail.tolist(), graph.head.tolist(), strict=True))
    small = graph.nodes <= 300  # the better of the two takes cubic time
    found = nx.kamada_kawai_layout(plain) if small else nx.spring_layout(plain, seed=0)
    return np.array([found[node] for node in range(graph.nodes)], dtype=np.float64)
