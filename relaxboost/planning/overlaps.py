"""How much trips overlap: the arcs they share, and clusters of trips that share many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import sparse

from relaxboost._core.arrays import Array, Whole
from relaxboost.planning.tasks import Task, checked_tasks

_ALIKE = 0.5
"""The Jaccard index from which two trips belong together."""
_BLOCK = 256  # rows of a product at a time: all pairs of many trips need not fit in memory


def overlap(tasks: Sequence[Task], training: Sequence[Task]) -> Array:
    """Return how much of each task was seen in training, shape (T,), in [0, 1].

    This is the largest Jaccard index of its arcs with those of a training task: arcs in common
    over arcs of either. Tasks on different graphs share none. Of several demonstrations those
    count that overlap most.
    """
    tested, seen = checked_tasks(tasks), checked_tasks(training)
    rows, owner = _arcs((*tested, *seen))
    cut = int(np.searchsorted(owner, len(tested)))
    most = np.zeros(len(tested))
    for i, _, jaccard in _pairs(rows[:cut], rows[cut:]):
        np.maximum.at(most, owner[:cut][i], jaccard)
    return most


def clusters(tasks: Sequence[Task]) -> list[int]:
    """Return the number of each task's cluster.

    Tasks of a Jaccard index of at least a half are in one, and so are those that others connect.
    """
    from scipy.sparse.csgraph import connected_components

    rows, owner = _arcs(tasks)
    label = np.arange(len(tasks))
    for i, j, jaccard in _pairs(rows, rows):
        near = jaccard >= _ALIKE
        ends = label[owner[i[near]]], label[owner[j[near]]]
        joined = sparse.coo_array((np.ones(ends[0].size), ends), shape=(label.size, label.size))
        label = connected_components(joined, directed=False)[1][label]
    found: list[int] = label.tolist()
    return found


def _arcs(tasks: Sequence[Task]) -> tuple[sparse.csr_array, Whole]:
    """Return a row of 0 and 1 for each demonstration, and its task; columns are arcs of graphs."""
    first, columns = {}, 0
    for graph in dict.fromkeys(task.graph for task in tasks):
        first[graph] = columns
        columns += graph.arcs
    paths = [(k, path) for k, task in enumerate(tasks) for path in task.demonstrations]
    taken = [np.unique(path.arcs) + first[path.graph] for _, path in paths]
    ends = np.cumsum([0, *map(len, taken)])
    rows = sparse.csr_array(
        (np.ones(ends[-1], dtype=np.int32), np.concatenate(taken), ends),
        shape=(len(paths), columns),
    )
    return rows, np.array([k for k, _ in paths])


def _pairs(
    rows: sparse.csr_array, others: sparse.csr_array
) -> Iterator[tuple[Whole, Whole, Array]]:
    """Yield the pairs that share an arc, block by block: numbers of both, and Jaccard indices."""
    size, size_of_others = np.diff(rows.indptr), np.diff(others.indptr)
    flipped = others.T.tocsr()
    for start in range(0, rows.shape[0], _BLOCK):
        shared = (rows[start : start + _BLOCK] @ flipped).tocoo()
        i, j = shared.row + start, shared.col
        yield i, j, shared.data / (size[i] + size_of_others[j] - shared.data)
