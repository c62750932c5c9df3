"""Overlap of trips: Jaccard indices by sets, clusters by walking, folds that share no trip."""

from __future__ import annotations

import numpy as np
import pytest

from relaxboost import planning as pl
from relaxboost._core.errors import InputError
from relaxboost.planning.overlaps import clusters


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
def test_overlap_and_clusters_against_sets(seed, monkeypatch):
    monkeypatch.setattr("relaxboost.planning.overlaps._BLOCK", 7)
    rng = np.random.default_rng(seed)
    tasks = [tasks_of_two_streets(rng, 15)[i] for i in rng.permutation(35)]
    cut = 12
    expected = [max(jaccard(a, b) for b in tasks[cut:]) for a in tasks[:cut]]
    assert pl.overlap(tasks[:cut], tasks[cut:]).tolist() == expected
    number = np.array(clusters(tasks))
    found = {frozenset(np.flatnonzero(number == n).tolist()) for n in number}
    assert found == slow_clusters(tasks)
    for fold in pl.split(tasks, 3, seed):
        kept, held = ([tasks[i] for i in part] for part in fold)
        assert pl.overlap(held, kept).max() < 0.5


def test_half_is_together_and_chains_are_one():
    """Spans 0-2, 0-4, 0-8 share halves; 8-16 shares nothing; 0-5 and 2-7 share 3 of 7."""
    tasks = line(20, [(0, 2), (8, 16), (0, 4), (0, 8)])
    assert np.unique(clusters(tasks)).size == 2
    assert clusters(tasks)[0] == clusters(tasks)[3]
    assert pl.overlap(tasks[:1], tasks[3:]).tolist() == [0.25]
    assert np.unique(clusters(line(20, [(0, 5), (2, 7)]))).size == 2


def test_the_folds_by_ends_leak_where_the_default_does_not():
    """Trips that differ in their first or last street are others by their ends."""
    tasks = line(60, [(a + i, a + 9 + j) for a in (0, 20, 40) for i in (0, 1) for j in (0, 1)])
    most = {}
    for by in ("pair", "overlap"):
        parts = [
            pl.overlap([tasks[i] for i in f.test], [tasks[i] for i in f.train])
            for f in pl.split(tasks, 3, by=by)
        ]
        most[by] = np.concatenate(parts).max()
    assert most["pair"] >= 0.8
    assert most["overlap"] == 0.0
    with pytest.raises(InputError, match=r"4 folds need as many clusters .* there are 3"):
        pl.split(tasks, 4)


def test_strata_are_a_partition_with_ends_below():
    tasks = line(20, [(0, n) for n in range(2, 8)])
    report = pl.evaluate(tasks, np.ones(19))
    strata = report.strata(np.array([0.0, 0.3, 0.5, 0.8, 1.0, 0.79]))
    places = {name: [tasks.index(task) for task in part.tasks] for name, part in strata.items()}
    assert places == {"< .3": [0], ".3-.5": [1], ".5-.8": [2, 5], ">= .8": [3, 4]}
    assert strata[".5-.8"].each.shown_arcs.tolist() == [4, 7]
    assert strata[".5-.8"].metric("exact_match") == 1.0
    empty = report.strata(np.zeros(6))[">= .8"]
    assert np.isnan(empty.metric("exact_match"))
    assert report.at([2, 0]).tasks == (tasks[2], tasks[0])
