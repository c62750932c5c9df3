"""Graphs, labels and paths: what they hold, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from relaxboost.planning import Graph
from tests.planning import slow

# A square with a diagonal, and two arcs from "a" to "b".
SQUARE = {"nodes": ["a", "b", "c", "d"], "keys": ["slow", "fast", 0, 0, 0, 0]}


@pytest.fixture
def square():
    return Graph([0, 0, 1, 2, 3, 0], [1, 1, 2, 3, 0, 2], np.arange(12.0).reshape(6, 2), **SQUARE)


def test_adjacencies_hold_every_arc_once(rng):
    for _ in range(100):
        graph = slow.random_graph(rng)
        for near, far, found in (
            (graph.tail, graph.head, graph.forward),
            (graph.head, graph.tail, graph.backward),
        ):
            assert sorted(found.arcs.tolist()) == list(range(graph.arcs))
            for node in range(graph.nodes):
                here = slice(found.start[node], found.start[node + 1])
                arcs = found.arcs[here]
                assert arcs.tolist() == np.flatnonzero(near == node).tolist()
                assert found.far[here].tolist() == far[arcs].tolist()
        assert np.array_equal(graph.forward.arcs[graph.place], np.arange(graph.arcs))
        assert np.array_equal(graph.near, graph.tail[graph.forward.arcs])


def test_costs_and_gathered_are_adjoint(rng):
    B = csr_array(rng.random((5, 3)) * (rng.random((5, 3)) < 0.6))
    graph = Graph([0, 1, 2, 3, 0], [1, 2, 3, 0, 2], rng.random((3, 2)), sites=B)
    C, v, w = rng.random(3), rng.random(5), rng.random(2)
    assert graph.costs(C) @ v == pytest.approx(C @ graph.gathered(v))
    assert graph.arc_features @ w == pytest.approx(graph.costs(graph.features @ w))
    assert (graph.size, graph.arcs) == (3, 5)


def test_paths_by_nodes_and_arcs_are_the_same(square):
    path = square.path(["b", "c", "d", "a"])
    assert path.nodes == ["b", "c", "d", "a"]
    assert path == square.path(arcs=[2, 3, 4])
    fast = square.path(arcs=[square.arc("a", "b", "fast"), square.arc("b", "c", 0)])
    assert fast.arcs.tolist() == [1, 2]
    assert square.arc("a", "b", "slow") == 0
    assert square.arc("a", "c") == 5
    assert fast.features() == pytest.approx(square.features[[1, 2]].sum(axis=0))


def test_graphs_keep_arrays_of_their_own():
    tail, X = np.array([0, 1]), np.ones((2, 1))
    graph = Graph(tail, [1, 2], X)
    tail[0], X[0] = 5, 7.0
    assert graph.tail.tolist() == [0, 1]
    assert graph.features[0, 0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        graph.tail[0] = 1
