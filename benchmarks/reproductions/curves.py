"""Summaries of the runs of several seeds: median curves with quartiles, and final values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from benchmarks.reproductions.runs import COLUMNS, Result
from relaxboost._core.arrays import Array


class Band(NamedTuple):
    """Median and quartiles over seeds against the number of weak learners."""

    learners: Array
    low: Array
    median: Array
    high: Array

    def last(self) -> tuple[float, float, float]:
        """Return the median, the lower and the upper quartile at the end of the curve."""
        return float(self.median[-1]), float(self.low[-1]), float(self.high[-1])


def band(results: list[Result], column: str) -> Band:
    """Return the band of a column; a run that ended early keeps its last value."""
    place = COLUMNS.index(column)
    tables = [np.array(result["rows"]) for result in results]
    grid = np.unique(np.concatenate([table[:, 0] for table in tables]))
    last = [np.searchsorted(table[:, 0], grid, side="right") - 1 for table in tables]
    values = np.array([table[rows, place] for table, rows in zip(tables, last, strict=True)])
    low, median, high = np.quantile(values, (0.25, 0.5, 0.75), axis=0)
    return Band(grid, low, median, high)


def ends(results: list[Result], column: str = "train_loss", at: int = -1) -> Array:
    """Return the last value of each run, or the value at another round."""
    return np.array([result["rows"][at][COLUMNS.index(column)] for result in results])


def end(results: list[Result], column: str = "train_loss") -> float:
    """Return the median of the last values."""
    return float(np.median(ends(results, column)))


def start(results: list[Result], column: str = "train_loss") -> float:
    """Return the median of the first values, those of f = 0."""
    return float(np.median(ends(results, column, 0)))


def late_gain(results: list[Result], column: str = "train_loss") -> float:
    """Return the decrease of the least value of a column in the second half of the learners."""
    gains, place = [], COLUMNS.index(column)
    for result in results:
        table = np.array(result["rows"])
        first = table[table[:, 0] <= table[-1, 0] / 2.0, place].min()
        gains.append(first - min(first, table[:, place].min()))
    return float(np.median(gains))


def reaches(results: list[Result], level: float, column: str = "train_loss") -> float | None:
    """Return the number of learners at which the median curve first reaches `level`."""
    curve = band(results, column)
    below = np.flatnonzero(curve.median <= level)
    return float(curve.learners[below[0]]) if below.size else None


def least(results: list[Result], column: str) -> tuple[float, float]:
    """Return the least value of the median curve, and its number of learners."""
    curve = band(results, column)
    place = int(curve.median.argmin())
    return float(curve.median[place]), float(curve.learners[place])


def middle(results: list[Result], key: str) -> Any:
    """Return the median over runs of the number under `key`."""
    return float(np.median([result[key] for result in results]))
