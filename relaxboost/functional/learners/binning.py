"""Features as small whole numbers: where a split may lie, settled once for all rounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.compiled import thread_pool

_EVEN = 1e-9
"""Sums of weights that differ by less than this share of all are equal but for rounding."""


class Bins:
    """The splits x_j <= c of a training set, and each row's bin of each feature that has any.

    Of the rows with positive weight p, bin b of a feature holds those between threshold b − 1
    (exclusive) and b (inclusive); every such bin has rows. Rows without weight lie where the
    thresholds put them. There are at most `most` bins of a feature, or a split between any two
    neighbouring values.

    Attributes
    ----------
    features : array of int
        The features that are not constant, in order.
    thresholds : list of arrays
        For each of them, increasing; halfway between two neighbouring values.
    codes : array of shape (features, N)
        The bins, in the smallest type that holds them.
    """

    def __init__(self, X: Array, p: Array, most: int | None) -> None:
        heavy = p >= np.finfo(np.float64).tiny  # 1/p is finite
        every = bool(heavy.all())

        def cut(x: Array) -> Array:
            x = x if every else x[heavy]
            if alike:
                return _cuts(np.sort(x), weights, most)
            order = np.argsort(x)
            return _cuts(x[order], weights[order], most)

        weights = p if every else p[heavy]
        alike = bool(weights.min() == weights.max())
        pool, threads = thread_pool()  # NumPy sorts and searches without the lock
        each: Any = map if threads == 1 else pool.map
        cuts = list(each(cut, X.T))
        self.features = np.array([j for j, c in enumerate(cuts) if c.size], dtype=np.int64)
        self.thresholds = [c for c in cuts if c.size]
        self.sizes = np.array([c.size + 1 for c in self.thresholds], dtype=np.int64)
        widest = int(self.sizes.max(initial=1))
        kind: Any = np.uint8 if widest <= 2**8 else np.uint16 if widest <= 2**16 else np.uint32
        self.codes = np.empty((len(self.thresholds), X.shape[0]), dtype=kind)

        def code(row: int) -> None:
            x = X[:, self.features[row]]
            self.codes[row] = np.searchsorted(self.thresholds[row], x, side="left")

        list(each(code, range(len(self.thresholds))))


def _cuts(x: Array, p: Array, most: int | None) -> Array:
    """Return thresholds c_1 < c_2 < ... between the values of sorted `x`, of weights p."""
    ends = np.flatnonzero(x[1:] > x[:-1])  # the last row of each value but the largest
    if most is not None and ends.size >= most:
        # As much weight in each bin as ties allow: the first end from each quantile on.
        below = np.cumsum(p)
        goals = np.arange(1, most) * (below[-1] * (1.0 - _EVEN) / most)
        ends = ends[np.unique(np.searchsorted(below[ends], goals).clip(0, ends.size - 1))]
    low, high = x[ends], x[ends + 1]
    middle = low / 2.0 + high / 2.0
    return np.where((low <= middle) & (middle < high), middle, low)
