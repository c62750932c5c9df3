"""Cross-validation folds that keep similar tasks together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from relaxboost._core.arrays import Whole
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count
from relaxboost._core.seeds import Rng, accepts_seed, generator
from relaxboost.planning.tasks import Task, checked_tasks


class Fold(NamedTuple):
    """A cross-validation fold: the indices of the training tasks and of the test tasks."""

    train: Whole
    test: Whole


@accepts_seed
def split(
    tasks: Sequence[Task], folds: int = 5, rng: Rng = 0, by: Any = "overlap"
) -> tuple[Fold, ...]:
    """Split tasks into cross-validation folds. Every task is a test task in exactly one fold.

    Parameters
    ----------
    tasks : sequence of Task
        The tasks to split.
    folds : int
        The number of folds, at least 2.
    rng : int, numpy.random.Generator or None
        The seed of the random assignment: an integer >= 0, a generator, or None for a new seed.
    by : {"overlap", "pair", "source", "target", "graph", "task"}, callable, or sequence
        How tasks are grouped. A group is never split between the training set and the test set.
        Without groups, a daily trip would be in both sets. By default, the groups are clusters of
        overlapping tasks. Two tasks overlap if the Jaccard index of their arcs is at least 0.5, and
        a cluster contains all tasks that a chain of overlapping tasks connects. ``"pair"`` groups
        tasks with the same source and target; trips that differ only in their first street may then
        be in both sets. With ``"task"``, every task is its own group. A callable maps a task to a
        hashable value, and a sequence contains such a value for each task. Tasks with equal values
        form a group.

    Raises
    ------
    InputError
        If there are more folds than groups.
    """
    made = checked_tasks(tasks)
    if count("folds", folds) < 2:
        raise InputError(f"folds must be at least 2, got {folds}")
    # The order of groups does not depend on hashes, so that folds are reproducible.
    group = np.array(group_numbers(made, by))
    sizes = np.bincount(group)
    if sizes.size < folds:
        what = "groups"
        other = ""
        if isinstance(by, str) and by == "overlap":
            what = "clusters of tasks that overlap"
            other = ', or another by=, such as "pair"'
        raise InputError(
            f"{folds} folds need at least as many {what}, but there are {sizes.size}; use fewer "
            f"folds{other}"
        )
    shuffled = generator(rng).permutation(sizes.size)
    # Large groups come first, and each group goes to the fold that is smallest so far.
    shuffled = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    filled = np.zeros(folds, dtype=np.int64)
    home = np.empty(sizes.size, dtype=np.int64)
    for one in shuffled:
        home[one] = int(filled.argmin())
        filled[home[one]] += sizes[one]
    place = home[group]
    return tuple(Fold(np.flatnonzero(place != k), np.flatnonzero(place == k)) for k in range(folds))


def clusters(tasks: Sequence[Task]) -> list[int]:
    """Return a cluster index for each task. Overlapping tasks, as defined in `split`, share a
    cluster."""
    from scipy.sparse.csgraph import connected_components

    rows, owner = arc_rows(tasks)
    size = np.diff(rows.indptr)
    columns = rows.T.tocsr()
    label = np.arange(len(tasks))
    # Each product compares 256 demonstrations with all others, because all pairs may not fit in
    # memory.
    for start in range(0, rows.shape[0], 256):
        shared = (rows[start : start + 256] @ columns).tocoo()
        i = shared.row + start
        j = shared.col
        # The Jaccard index is the number of arcs of both trips divided by the number of arcs of
        # either. Trips with an index of at least 0.5 overlap.
        near = shared.data / (size[i] + size[j] - shared.data) >= 0.5
        ends = label[owner[i[near]]], label[owner[j[near]]]
        # Pairs of overlapping trips in this block join clusters that were found in earlier blocks.
        joined = sparse.coo_array((np.ones(ends[0].size), ends), shape=(label.size, label.size))
        label = connected_components(joined, directed=False)[1][label]
    return label.tolist()


def arc_rows(tasks: Sequence[Task]) -> tuple[sparse.csr_array, Whole]:
    """Return a 0-1 matrix of the arcs that each demonstration uses, and the task index of each row.

    The matrix is sparse, with a column for each arc of each graph.
    """
    first = {}
    columns = 0
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


_GROUPS: dict[str, Callable[[Sequence[Task]], Iterable[Hashable]]] = {
    "overlap": clusters,
    "pair": lambda tasks: [(task.graph, task.source, task.target) for task in tasks],
    "source": lambda tasks: [(task.graph, task.source) for task in tasks],
    "target": lambda tasks: [(task.graph, task.target) for task in tasks],
    "graph": lambda tasks: [task.graph for task in tasks],
    "task": lambda tasks: range(len(tasks)),
}


def group_numbers(tasks: Sequence[Task], by: Any) -> list[int]:
    """Return a group index for each task, given the argument `by` of `split`. Groups are numbered
    in order of appearance."""
    if isinstance(by, str | None):
        if by not in _GROUPS:
            raise InputError(f"by must be one of {', '.join(_GROUPS)}, or a callable, got {by!r}")
        keys = list(_GROUPS[by](tasks))
    else:
        keys = [by(task) for task in tasks] if callable(by) else list(by)
    if len(keys) != len(tasks):
        raise InputError(
            f"the list by has {len(keys)} entries for {len(tasks)} tasks; pass one entry per task"
        )
    number: dict[Hashable, int] = {}
    return [number.setdefault(key, len(number)) for key in keys]
