"""The experiments: their data, how these are split, the loss and the weak learners."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.readers import (
    LABELLED,
    RANKED,
    Labelled,
    Ranked,
    read_fold,
    read_labelled,
)
from benchmarks.readers.labelled import labelled_files
from benchmarks.readers.ranked import FOLDS, fold_files
from benchmarks.reproductions import demonstrations
from relaxboost._core.arrays import Array
from relaxboost.functional import (
    Loss,
    MulticlassHinge,
    Networks,
    RankingHinge,
    RegressionStumps,
    WeakLearner,
)

SCALES = (0.25, 1.0, 4.0, 16.0)
"""The candidates for the constant c of the steps c/sqrt(t)."""
QUICK_ROWS, QUICK_QUERIES = 1000, 60
"""The most rows, or queries, of a training or test set that --quick keeps."""


class Half(NamedTuple):
    """A training or a test set."""

    X: Array
    y: Any
    groups: Any = None

    def some(self, rows: Any) -> Half:
        """Return the set with the given rows only, a slice or an array of numbers."""
        return Half(self.X[rows], self.y[rows], None if self.groups is None else self.groups[rows])


class DataSplit(NamedTuple):
    """A training set and a test set."""

    name: str
    seed: int
    split: str
    """"published", "drawn" or the fold."""
    train: Half
    test: Half

    def digest(self) -> str:
        """Return a hash of the data."""
        made = hashlib.sha256()
        parts: list[Any] = [part for part in (*self.train, *self.test) if part is not None]
        for part in parts:
            for array in [part] if isinstance(part, np.ndarray) else demonstrations.arrays(part):
                made.update(f"{array.shape} {array.dtype.str} ".encode())
                made.update(np.ascontiguousarray(array).tobytes())
        return made.hexdigest()[:16]


@dataclass(frozen=True)
class Experiment:
    """A figure of a paper.

    Attributes
    ----------
    name : str
    title : str
    sets : tuple of str
        The data sets of the experiment.
    default : tuple of str
        The data sets of a run that names none.
    most : int, optional
        The largest number of seeds, if these are folds.
    score : str
        The second curve besides the loss: "error"; "disagreement" for rankings; or "missed" for
        planning, the share of demonstrated arcs that plans miss.
    check : callable
        Takes a set, the folder and the number of seeds; raises InputError if a file is missing.
    problems : callable
        Takes a set, the folder, the number of seeds and the option --quick. Returns a function
        from a seed to its `DataSplit`.
    geometry : callable, optional
        Takes the training risk; returns the weights of its points, and the unit of the steps. By
        default the weights of the risk, and 1.
    scales : tuple of float
        The candidates for the constant c of the steps c/√t.
    """

    name: str
    title: str
    sets: tuple[str, ...]
    default: tuple[str, ...]
    most: int | None
    score: str
    loss: Loss
    learner: WeakLearner
    check: Callable[[str, Path, int], object]
    problems: Callable[[str, Path, int, bool], Callable[[int], DataSplit]]
    geometry: Callable[[Any], tuple[Any, float]] | None = None
    scales: tuple[float, ...] = SCALES


def split(data: Labelled, seed: int, quick: bool = False) -> DataSplit:
    """Return the published split for seed 0, and a random split of the same sizes otherwise.

    connect4 has no published split: all its splits are random, four fifths for training.
    """
    published = data.published and seed == 0
    rows = np.arange(len(data.y))
    if not published:
        rows = np.random.default_rng(seed).permutation(rows)
    train, test = rows[: data.train], rows[data.train :]
    if quick:
        train, test = (_thinned(part, QUICK_ROWS) for part in (train, test))
    whole, name = Half(data.X, data.y), "published" if published else "drawn"
    return DataSplit(data.name, seed, name, whole.some(train), whole.some(test))


def _thinned(rows: Any, most: int) -> Any:
    """Return at most `most` rows, evenly spaced."""
    return rows if len(rows) <= most else rows[np.arange(most) * len(rows) // most]


def _ranked(name: str, folder: Path, seeds: int, quick: bool) -> Callable[[int], DataSplit]:
    def problem(seed: int) -> DataSplit:
        halves = [_half(part, quick) for part in read_fold(name, folder, seed + 1)]
        return DataSplit(name, seed, f"fold {seed + 1}", *halves)

    return problem


def _half(part: Ranked, quick: bool) -> Half:
    whole = Half(part.X, part.y, part.groups)
    if not quick:
        return whole
    _, first = np.unique(part.groups, return_index=True)
    kept = part.groups[np.sort(first)[:QUICK_QUERIES]]
    return whole.some(np.isin(part.groups, kept))


def _planned(name: str, folder: Path, seeds: int, quick: bool) -> Callable[[int], DataSplit]:
    draw = demonstrations.drawn(name, folder, quick)

    def problem(seed: int) -> DataSplit:
        halves = [Half(demonstrations.features(tasks), tasks) for tasks in draw(seed)]
        return DataSplit(name, seed, "drawn", *halves)

    return problem


EXPERIMENTS = {
    "gb11-fig1": Experiment(
        name="gb11-fig1",
        title="GB11, Fig. 1: maximum-margin planning with networks of 5 hidden units",
        sets=demonstrations.PLANNED,
        default=demonstrations.PLANNED,
        most=None,
        score="missed",
        loss=demonstrations.LOSS,
        learner=Networks(5),
        check=lambda name, folder, seeds: demonstrations.located(name, folder),
        problems=_planned,
        geometry=demonstrations.geometry,
        scales=(0.125, 0.25, 0.5, 1.0),  # longer steps make all costs negative
    ),
    "gb11-fig2": Experiment(
        name="gb11-fig2",
        title="GB11, Fig. 2: ranking hinge with regression stumps",
        sets=RANKED,
        default=("mq2008",),
        most=FOLDS,
        score="disagreement",
        loss=RankingHinge(),
        learner=RegressionStumps(),
        check=lambda name, folder, seeds: [fold_files(name, folder, s + 1) for s in range(seeds)],
        problems=_ranked,
    ),
    "gb11-fig3": Experiment(
        name="gb11-fig3",
        title="GB11, Fig. 3: multiclass hinge with multiclass stumps",
        sets=tuple(LABELLED),
        default=tuple(LABELLED),
        most=None,
        score="error",
        loss=MulticlassHinge(),
        learner=RegressionStumps(),
        check=lambda name, folder, seeds: labelled_files(name, folder),
        problems=lambda name, folder, seeds, quick: partial(
            split, read_labelled(name, folder), quick=quick
        ),
    ),
}
"""The experiments by their names on the command line."""
