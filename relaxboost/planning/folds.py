"""Tasks split into folds for cross-validation, whole groups of them where they are alike."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Whole
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count
from relaxboost.planning.tasks import Task, checked_tasks


class Fold(NamedTuple):
    """Places of tasks in the list that was split."""

    train: Whole
    test: Whole


def split(tasks: Sequence[Task], folds: int = 5, seed: int = 0, by: Any = None) -> tuple[Fold, ...]:
    """Return folds of tasks for cross-validation; every task is in the test part of one.

    Parameters
    ----------
    tasks : sequence of Task
    folds : int
        >= 2.
    seed : int
        The same seed gives the same folds.
    by : {"pair", "source", "target", "graph"}, callable, or sequence, optional
        Tasks alike in this are never on both sides: a trip that is made every day would otherwise
        be learned by heart. ``"pair"`` is source and target together. A callable maps a task to a
        hashable; a sequence has one for each task. By default every task is for itself. Sizes of
        folds differ by no more than the largest group.

    Raises
    ------
    InputError
        For more folds than groups.
    """
    made = checked_tasks(tasks)
    if count("folds", folds) < 2:
        raise InputError(f"folds must be at least 2, got {folds}")
    group = np.array(group_numbers(made, by))
    sizes = np.bincount(group)
    if sizes.size < folds:
        raise InputError(f"{folds} folds need as many groups, and there are {sizes.size}")
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(sizes.size)
    # Large groups first, each to the fold that is smallest so far.
    shuffled = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    filled, home = np.zeros(folds, dtype=np.int64), np.empty(sizes.size, dtype=np.int64)
    for one in shuffled:
        home[one] = int(filled.argmin())
        filled[home[one]] += sizes[one]
    place = home[group]
    return tuple(Fold(np.flatnonzero(place != k), np.flatnonzero(place == k)) for k in range(folds))


_GROUPS: dict[str, Callable[[Task], Hashable]] = {
    "pair": lambda task: (task.graph, task.source, task.target),
    "source": lambda task: (task.graph, task.source),
    "target": lambda task: (task.graph, task.target),
    "graph": lambda task: task.graph,
}


def group_numbers(tasks: Sequence[Task], by: Any = None) -> list[int]:
    """Return the number of each task's group, from 0 in the order in which they come; see `split`.

    Raises
    ------
    InputError
        For an unknown name, or a sequence of another length.
    """
    if by is None:
        return list(range(len(tasks)))
    if isinstance(by, str):
        if by not in _GROUPS:
            raise InputError(f"by must be one of {', '.join(_GROUPS)}, or a callable, got {by!r}")
        by = _GROUPS[by]
    keys = [by(task) for task in tasks] if callable(by) else list(by)
    if len(keys) != len(tasks):
        raise InputError(f"by has {len(keys)} entries for {len(tasks)} tasks; one each")
    number: dict[Hashable, int] = {}
    return [number.setdefault(key, len(number)) for key in keys]
