"""Folds of tasks: clusters of trips by walking from trip to trip, folds that share no trip."""

from __future__ import annotations

import numpy as np
import pytest

from relaxboost import planning as pl
from relaxboost.planning.splitting import clusters


def line(nodes, spans):
    """Return a street of nodes, and a trip along it for each span."""
    graph = pl.Graph(np.arange(nodes - 1), np.arange(1, nodes))
    return [pl.Task(graph, a, b, list(range(a, b + 1))) for a, b in spans]


def jaccard(one, other):
    """Return the largest index of two tasks' demonstrations, the obvious way."""
    if one.graph is not other.graph:
        return 0.0
    sets = [[set(p.arcs.tolist()) for p in task.demonstrations] for task in (one, other)]
    return max(len(a & b) / len(a | b) for a in sets[0] for b in sets[1])


def slow_clusters(tasks):
    """Return clusters by walking from trip to trip, as sets of places."""
    left, found = set(range(len(tasks))), set()
    while left:
        reached, front = set(), {left.pop()}
        while front:
            reached |= front
            near = {j for j in left for i in front if jaccard(tasks[i], tasks[j]) >= 0.5}
            left, front = left - near, near
        found.add(frozenset(reached))
    return found


def tasks_of_two_streets(rng, count, nodes=40):
    """Return trips over two streets, some there twice, some with two demonstrations."""
    tasks = []
    for _ in range(2):
        spans = [np.sort(rng.choice(nodes, 2, replace=False)).tolist() for _ in range(count)]
        tasks += line(nodes, [*spans, spans[0]])
    ring = pl.Graph([0, 1, 2, 3, 0, 5, 4], [1, 2, 3, 4, 5, 4, 0])
    tasks.append(pl.Task(ring, 0, 4, [[0, 1, 2, 3, 4], [0, 5, 4]]))
    tasks.append(pl.Task(ring, 1, 4, [1, 2, 3, 4]))
    tasks.append(pl.Task(ring, 0, 4, [0, 5, 4]))
    return tasks


@pytest.mark.parametrize("seed", range(5))
def test_clusters_against_sets(seed):
    """With more trips than a product of rows has, so that clusters join over blocks."""
    rng = np.random.default_rng(seed)
    count = 15 if seed else 150
    made = tasks_of_two_streets(rng, count, nodes=4 * count)
    tasks = [made[i] for i in rng.permutation(len(made))]
    number = np.array(clusters(tasks))
    found = {frozenset(np.flatnonzero(number == n).tolist()) for n in number}
    assert found == slow_clusters(tasks)
    for fold in pl.split(tasks, 3, seed):
        kept, held = ([tasks[i] for i in part] for part in fold)
        assert max(jaccard(a, b) for a in held for b in kept) < 0.5


def test_half_is_together_and_chains_are_one():
    """Spans 0-2, 0-4, 0-8 share halves; 8-16 shares nothing; 0-5 and 2-7 share 3 of 7."""
    tasks = line(20, [(0, 2), (8, 16), (0, 4), (0, 8)])
    assert np.unique(clusters(tasks)).size == 2
    assert clusters(tasks)[0] == clusters(tasks)[3]
    assert np.unique(clusters(line(20, [(0, 5), (2, 7)]))).size == 2


def test_folds_of_groups_differ_by_a_group_at_most():
    """3, 3, 2, 2, 2 make 7 and 5, where 6 and 6 can be had."""
    graph = pl.Graph([0, 1], [1, 2])
    tasks = [pl.Task(graph, 0, 2, [0, 1, 2]) for _ in range(12)]
    by = [0] * 3 + [1] * 3 + [2] * 2 + [3] * 2 + [4] * 2
    sizes = [fold.test.size for fold in pl.split(tasks, 2, by=by)]
    assert sorted(sizes) == [5, 7]
