"""Many pairs at once: the same plans as one by one, whatever the threads."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from relaxboost.planning import (
    Graph,
    NegativeCycle,
    NoPath,
    check_plan,
    grid,
    planners,
    shortest_path,
    shortest_paths,
)
from tests.planning import slow, twins


def pairs_of(rng, graph, count):
    return [tuple(rng.choice(graph.nodes, 2, replace=False).tolist()) for _ in range(count)]


@pytest.mark.parametrize("sign", ["positive", "negative"])
def test_many_pairs_are_planned_for_as_one(rng, sign, monkeypatch):
    cells = grid(rng.random((9, 9)) + 0.1)
    graph = Graph(cells.tail, cells.head)
    costs = cells.arc_features[:, 0].copy()
    if sign == "negative":
        height = rng.random(graph.nodes)
        costs += height[graph.head] - height[graph.tail]
        assert costs.min() < 0
    few = rng.integers(graph.nodes, size=3).tolist()
    many = pairs_of(rng, graph, 30)
    for pairs in (
        many,
        [(s, t) for s in few for t in range(0, 81, 7) if s != t],
        [(s, t) for t in few for s in range(0, 81, 7) if s != t],
    ):
        answers = []
        for threads in (1, 2, 7):
            with ThreadPoolExecutor(threads) as pool, monkeypatch.context() as patched:
                patched.setattr(planners, "thread_pool", lambda pool=pool: (pool, 1))
                answers.append(shortest_paths(graph, costs, pairs))
        for (s, t), plan, *others in zip(pairs, *answers, strict=True):
            assert (plan.path.source, plan.path.target) == (s, t)
            assert check_plan(plan).ok
            assert plan.cost == pytest.approx(shortest_path(graph, costs, s, t).cost, rel=1e-12)
            for other in others:
                assert other.path == plan.path
                assert np.array_equal(other.potential, plan.potential)
    if sign == "positive":
        plans = shortest_paths(graph, costs, many[:5], twins.csgraph)
        assert all(check_plan(plan).ok for plan in plans)


def test_many_pairs_on_random_graphs_agree_with_one(rng):
    for _ in range(200):
        graph = slow.random_graph(rng)
        costs = rng.integers(0, 4, graph.arcs).astype(float)
        pairs = pairs_of(rng, graph, int(rng.integers(1, 8)))
        lengths = [slow.exact_length(graph, costs, s, t) for s, t in pairs]
        lost = [i for i, length in enumerate(lengths) if math.isinf(length)]
        if lost:
            with pytest.raises(NoPath, match=rf"^pairs\[{lost[0]}\]"):
                shortest_paths(graph, costs, pairs)
        else:
            plans = shortest_paths(graph, costs, pairs)
            assert [plan.cost for plan in plans] == lengths
            assert all(check_plan(plan).ok for plan in plans)


def test_errors_of_many_pairs_name_the_pair():
    graph = Graph([0, 1, 2, 1], [1, 2, 1, 3], nodes=5)
    with pytest.raises(NoPath, match=r"pairs\[1\], 0 -> 4: no path from 0 to 4; no arc enters"):
        shortest_paths(graph, np.ones(4), [(0, 1), (0, 4), (3, 0)])
    with pytest.raises(NegativeCycle, match=r"^pairs\[0\], 0 -> 3: costs are negative") as caught:
        shortest_paths(graph, [1.0, -1.0, -1.0, 1.0], [(0, 3)])
    assert caught.value.cost == -2.0
