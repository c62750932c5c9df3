"""The columns that stumps cut, for features with missing values or categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost.estimators.tables import Features
from relaxboost.matrices import StumpColumn, StumpMatrix

WEIGHT_OF_MEAN = 10.0
"""The number of artificial examples that are added to each category.

Their label is the mean label of all examples. They prevent the mean label of a rare category from
being extreme by chance.
"""
MAX_NAMED_CATEGORIES = 6
"""The maximum number of categories that the name of a stump lists."""


@dataclass(frozen=True)
class CutColumns:
    """The columns that stumps cut in one game, one or two for each feature.

    A feature with missing values has two columns. Missing values are below all other values in the
    first and above them in the second, so that stumps send them left or right. If no value was
    missing in training, missing values stay nan, and every stump votes 0 for them.

    Categories are numbered in the order of their mean label or target. Categories without training
    examples count as missing.
    """

    table: Features
    ranks: tuple[Vector | None, ...]
    """For each feature, a vector with the rank of each category, or None for a numeric feature."""
    source: Whole
    """For each column, the index of the feature that it contains."""
    low: Vector
    high: Vector
    """For each column, `low` and `high` are the range of the known training values. They are
    infinite if no value was missing in training, and 0 if all values were missing."""
    fill: Vector
    """For each column, the number that replaces missing values, or nan if no value was missing in
    training."""

    @classmethod
    def of(cls, table: Features, Z: Array, signs: Vector, weights: Vector) -> CutColumns:
        """Return the columns of one game.

        The rows of `Z` are the training examples, as `Features.numbers` returns them.
        """
        ranks: list[Vector | None] = []
        made: list[tuple[float, float, float, float]] = []
        for f, levels in enumerate(table.levels):
            rank = None if levels is None else _ranks(Z[:, f], len(levels), signs, weights)
            ranks.append(rank)
            x = _ranked(Z[:, f], rank)
            known = x[~np.isnan(x)]
            # Without missing values in training, one column suffices. Votes for a later missing
            # value are 0.
            if known.size == x.size:
                made.append((f, -np.inf, np.inf, np.nan))
            elif known.size == 0:
                # All values of a training part of a fold may be missing. The column is constant.
                made.append((f, 0.0, 0.0, 0.0))
            else:
                low = float(known.min())
                high = float(known.max())
                # The numbers for missing values are so far away that a threshold between known and
                # missing values is neither rounded to a known value nor infinite.
                away = max(1.0, high - low, abs(low), abs(high))
                below, above = np.nan_to_num([low - away, high + away])
                # A stump that votes 0 for missing values is the mean of stumps on the two
                # columns. Its edge is at most the larger of their edges, so it is not needed.
                made += [(f, low, high, below), (f, low, high, above)]
        source, low_, high_, fill = np.array(made).T
        return cls(table, tuple(ranks), source.astype(np.int64), low_, high_, fill)

    def __call__(self, Z: Array) -> Array:
        """Return the columns for the rows of Z, in which categories are numbers."""
        # Values beyond the training range must not pass the number of missing values.
        ranked = np.column_stack([_ranked(x, r) for x, r in zip(Z.T, self.ranks, strict=True)])
        E = np.clip(ranked[:, self.source], self.low, self.high)
        return np.where(np.isnan(E), self.fill, E)

    def words(self, stump: StumpColumn, above_it: bool) -> str:
        """Describe the rows for which a stump votes +1, for example "age > 30 or missing".

        If `above_it` is False, describe the rows for which the negated stump votes +1.
        """
        c = stump.feature
        name = self.table.names[int(self.source[c])]
        # Both flags are False if no value was missing in training.
        is_below = bool(self.fill[c] < self.low[c])
        is_above = bool(self.fill[c] > self.high[c])
        if is_below and stump.threshold < self.low[c]:
            return f"{name} is {'known' if above_it else 'missing'}"
        if is_above and stump.threshold >= self.high[c]:
            return f"{name} is {'missing' if above_it else 'known'}"
        text = f"{name} {self._condition(stump, above_it)}"
        return text + " or missing" * (is_above if above_it else is_below)

    def _condition(self, stump: StumpColumn, above_it: bool) -> str:
        f = int(self.source[stump.feature])
        levels = self.table.levels[f]
        rank = self.ranks[f]
        if levels is None or rank is None:
            return f"{'>' if above_it else '<='} {stump.shown}"
        inside = rank > stump.threshold if above_it else rank <= stump.threshold
        chosen = [str(v) for v, is_in in zip(levels, inside.tolist(), strict=True) if is_in]
        named = ", ".join(chosen[:MAX_NAMED_CATEGORIES])
        more = len(chosen) - MAX_NAMED_CATEGORIES
        return f"in {{{named}, and {more} more}}" if more > 0 else f"in {{{named}}}"


class SubsetStumps(StumpMatrix):
    """The margin matrix of all stumps on a table, with categories ordered as in `CutColumns`."""

    def __init__(self, frame: Any, signs: Vector) -> None:
        table = Features.of(frame)
        Z = table.numbers(frame)
        self._columns = CutColumns.of(table, Z, signs, np.ones(signs.size))
        names = tuple(table.names[f] for f in self._columns.source.tolist())
        super().__init__(self._columns(Z), signs, names, None)

    def describe(self, j: int, sign: int = 1) -> str:
        return self._columns.words(self.hypothesis(j), sign > 0)


def _ranks(codes: Vector, levels: int, signs: Vector, weights: Vector) -> Vector:
    known = ~np.isnan(codes)
    at = codes[known].astype(np.int64)
    s = weights[known]
    total = np.bincount(at, s, levels)
    mean = float(s @ signs[known]) / max(float(s.sum()), 1e-300)
    # The share of a rare category is noise. It is drawn towards the share of all examples.
    score = np.bincount(at, s * (signs[known] - mean), levels) / (total + WEIGHT_OF_MEAN)
    order = np.flatnonzero(total > 0.0)
    order = order[np.argsort(score[order], kind="stable")]
    ranks = np.full(levels, np.nan)
    ranks[order] = np.arange(order.size)
    return ranks


def _ranked(x: Vector, rank: Vector | None) -> Vector:
    if rank is None:
        return x
    # Missing values have the index −1, and thus get the last entry, which is nan.
    return np.append(rank, np.nan)[np.where(np.isnan(x), -1, x).astype(np.int64)]
