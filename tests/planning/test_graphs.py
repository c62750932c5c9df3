"""Graphs, labels and paths: what they hold, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from relaxboost._core.errors import InputError
from relaxboost.planning import Graph, Path
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


NAN = [[1.0], [np.nan]]


@pytest.mark.parametrize(
    ("work", "match"),
    [
        (lambda g: Graph([], []), "at least one arc"),
        (lambda g: Graph([0], [1, 2]), "1 tails and 2 heads"),
        (lambda g: Graph([0.0], [1.0]), "tail must be a list of whole numbers"),
        (lambda g: Graph([0, 1], [1, 1]), r"arc 1 \(1 -> 1\) is a self-loop"),
        (lambda g: Graph([0], [3], nodes=3), "arc 0 has head 3, and nodes are numbered 0 to 2"),
        (lambda g: Graph([-1], [0]), "arc 0 has tail -1"),
        (lambda g: Graph([0, 1], [1, 0], NAN), r"feature 0 of arc 1 \(1 -> 0\) is nan"),
        (lambda g: Graph([0, 1], [1, 0], [["a"], ["b"]]), "array of numbers"),
        (lambda g: Graph([0, 1], [1, 0], [[1.0]]), r"features need shape \(2, d\)"),
        (lambda g: Graph([0], [1], np.empty((1, 0))), "d >= 1"),
        (lambda g: Graph([0], [1], [[1.0, 2.0]], names=["x", "x"]), "2 different entries"),
        (lambda g: Graph([0], [1], nodes=["a"]), "arc 0 has head 1, and nodes are numbered 0 to 0"),
        (lambda g: Graph([0], [1], nodes=["a", "a"]), "must differ"),
        (lambda g: Graph([0], [1], nodes=[[1], [2]]), "hashable"),
        (lambda g: Graph([0], [1], position=[[0, 0]]), r"position needs shape \(2, 2\)"),
        (lambda g: Graph([0], [1], sites=csr_array([[1.0], [1.0]])), "one row an arc"),
        (lambda g: Graph([0], [1], sites=csr_array([[-1.0]])), "entries >= 0"),
        (lambda g: Graph([0], [1], keys=[0, 1]), "keys need one entry an arc, 1, got 2"),
        (lambda g: g.costs([1.0]), r"costs need shape \(6,\)"),
        (lambda g: g.node("z"), "no node 'z' in the graph of 4 nodes"),
        (lambda g: g.path(), "either nodes or arcs"),
        (lambda g: g.path(["a", "c"], arcs=[5]), "either nodes or arcs"),
        (lambda g: g.path(["a"]), "at least two nodes"),
        (lambda g: g.path([]), "at least two nodes"),
        (lambda g: g.path(arcs=[]), "at least one arc|whole numbers"),
        (lambda g: g.path(["b", "d"]), "step 1 of the path, 'b' -> 'd', is no arc"),
        (lambda g: g.path(["d", "a", "b"]), r"step 2 .* parallel arcs \[0, 1\].*graph\.arc\(tail"),
        (lambda g: g.arc("a", "b", "x"), "key 'x', is no arc"),
        (lambda g: g.path(arcs=[0, 3]), r"step 2 of the path, arc 3 .* does not start at 'b'"),
        (lambda g: g.path(arcs=[9]), "arcs are numbered 0 to 5"),
        (lambda g: g.arc("a", "b"), "'a' -> 'b', may be any of the parallel arcs"),
        (lambda g: g.arc("b", "a"), "'b' -> 'a', is no arc"),
        (lambda g: Graph([0], [1]).arc(0, 1, "k"), "have no keys"),
        (lambda g: Path(g, np.array([-1])), "is arc -1"),
    ],
)
def test_what_is_no_graph_is_named(square, work, match):
    with pytest.raises(InputError, match=match):
        work(square)
