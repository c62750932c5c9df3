"""The columns that stumps cut, for missing values and categories too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost.estimators.tables import Features
from relaxboost.matrices import StumpColumn, StumpMatrix

_RARE = 10.0
"""A category of this weight has its share of +1 drawn half the way to that of all."""
_SHOWN = 6
"""How many categories are named."""


@dataclass(frozen=True)
class CutColumns:
    """What stumps cut in one game: a column for each feature, two where values are missing.

    Missing values are below all others in the first and above them in the second, so that a stump
    of the one sends them left and a stump of the other right. Half of each sends them nowhere,
    and its edge, the mean of theirs, is never the best. Where none was missing in training they
    are nan, at which a stump is 0.

    Categories are numbered by their share of +1, rare ones drawn to that of all, so that a cut
    between them is a subset. One that training had no example of is missing.
    """

    table: Features
    ranks: tuple[Vector | None, ...]
    """The number of each category; None for a feature of numbers."""
    source: Whole
    """The feature of each column."""
    low: Vector
    """Its smallest and its largest value, where there are two columns; else infinite."""
    high: Vector
    fill: Vector
    """What stands for a missing value; nan where there was none."""

    @classmethod
    def of(cls, table: Features, Z: Array, signs: Vector, weights: Vector) -> CutColumns:
        """Return the columns for one game, from `Features.numbers` and its labels and weights."""
        ranks: list[Vector | None] = []
        made: list[tuple[float, float, float, float]] = []
        for f, levels in enumerate(table.levels):
            rank = None if levels is None else _ranks(Z[:, f], len(levels), signs, weights)
            ranks.append(rank)
            x = _ranked(Z[:, f], rank)
            known = x[~np.isnan(x)]
            if known.size == x.size:
                made.append((f, -np.inf, np.inf, np.nan))
            elif known.size == 0:  # as folds may have it: constant
                made.append((f, 0.0, 0.0, 0.0))
            else:
                low, high = float(known.min()), float(known.max())
                away = max(1.0, high - low, abs(low), abs(high))
                below, above = np.nan_to_num([low - away, high + away])  # not infinite
                made += [(f, low, high, below), (f, low, high, above)]
        source, low_, high_, fill = np.array(made).T
        return cls(table, tuple(ranks), source.astype(np.int64), low_, high_, fill)

    def __call__(self, Z: Array) -> Array:
        """Return the columns for rows as `Features.numbers` makes them."""
        ranked = np.column_stack([_ranked(x, r) for x, r in zip(Z.T, self.ranks, strict=True)])
        E = np.clip(ranked[:, self.source], self.low, self.high)
        return np.where(np.isnan(E), self.fill, E)

    def words(self, stump: StumpColumn, above_it: bool) -> str:
        """Return what a stump, or its negative, says: "age > 30 or missing", "job in {a, b}"."""
        c, t = stump.feature, stump.threshold
        f = int(self.source[c])
        name, levels, rank = self.table.names[f], self.table.levels[f], self.ranks[f]
        below = self.fill[c] < self.low[c]  # where missing values are; False for nan
        above = self.fill[c] > self.high[c]
        if (below and t < self.low[c]) or (above and t >= self.high[c]):
            return f"{name} is {'known' if bool(below) == above_it else 'missing'}"
        if levels is None or rank is None:
            text = f"{name} {'>' if above_it else '<='} {stump.shown}"
        else:
            inside = rank > t if above_it else rank <= t
            chosen = [str(v) for v, one in zip(levels, inside.tolist(), strict=True) if one]
            more = f", and {len(chosen) - _SHOWN} more" if len(chosen) > _SHOWN else ""
            text = f"{name} in {{{', '.join(chosen[:_SHOWN])}{more}}}"
        return text + " or missing" * bool(above if above_it else below)


class SubsetStumps(StumpMatrix):
    """All stumps of the columns of a frame, those of categories as `CutColumns` orders them."""

    def __init__(self, frame: Any, signs: Vector) -> None:
        table = Features.of(frame)
        Z = table.numbers(frame)
        self._columns = CutColumns.of(table, Z, signs, np.ones(signs.size))
        names = tuple(table.names[f] for f in self._columns.source.tolist())
        super().__init__(self._columns(Z), signs, names, None)

    def describe(self, j: int, sign: int = 1) -> str:
        """Return e.g. "age > 30", or "city in {Oslo, Rome}"."""
        return self._columns.words(self.hypothesis(j), sign > 0)


def _ranks(codes: Vector, levels: int, signs: Vector, weights: Vector) -> Vector:
    """Return the places of the categories by their share of +1; nan for those without examples."""
    known = ~np.isnan(codes)
    at, s = codes[known].astype(np.int64), weights[known]
    total = np.bincount(at, s, levels)
    mean = float(s @ signs[known]) / max(float(s.sum()), 1e-300)
    score = np.bincount(at, s * (signs[known] - mean), levels) / (total + _RARE)
    order = np.flatnonzero(total > 0.0)
    order = order[np.argsort(score[order], kind="stable")]
    ranks = np.full(levels, np.nan)
    ranks[order] = np.arange(order.size)
    return ranks


def _ranked(x: Vector, rank: Vector | None) -> Vector:
    if rank is None:
        return x
    return np.append(rank, np.nan)[np.where(np.isnan(x), -1, x).astype(np.int64)]
