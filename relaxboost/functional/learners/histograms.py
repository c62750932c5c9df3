"""Feature bins, and a compiled search for the best split between bins.

Each feature is summed separately, so that results do not depend on the number of threads.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.compiled import njit, thread_pool


class Bins:
    """The possible splits of a training set, and the bin of each row in each feature.

    Bin b of a feature contains the rows with values above threshold b − 1 and at most threshold b.
    Every bin contains rows of positive weight. The argument `most` limits the number of bins per
    feature; None allows a split between any two neighbouring values. The attributes leave out
    constant features.

    Attributes
    ----------
    features : array of int
        The indices of the features that are not constant.
    thresholds : list of arrays
        The increasing thresholds of each feature, halfway between two neighbouring values.
    codes : array of shape (features, N)
        The bin of each row in each feature.
    sizes : array of int
        The number of bins of each feature.
    before, after : arrays of shape (features, bins)
        The weight of the rows in bins 0..b and in the later bins, for each bin b.
    """

    def __init__(self, X: Array, p: Array, most: int | None) -> None:
        heavy = p >= np.finfo(np.float64).tiny  # For a smaller p the reciprocal 1/p is infinite.
        x, weights = (X, p) if heavy.all() else (X[heavy], p[heavy])
        # The features are independent of each other.
        pool, threads = thread_pool()  # NumPy sorts and searches without Python's lock.
        each: Any = map if threads == 1 else pool.map
        cuts = list(each(lambda column: _cuts(column, weights, most), x.T))
        self.features = np.array([j for j, c in enumerate(cuts) if c.size], dtype=np.int64)
        self.thresholds = [c for c in cuts if c.size]
        self.sizes = np.array([c.size + 1 for c in self.thresholds], dtype=np.int64)
        widest = int(self.sizes.max(initial=1))
        # A byte is enough for the number of one of 255 bins.
        self.codes = np.empty((len(self.sizes), len(X)), dtype=np.min_scalar_type(widest - 1))
        self.before = np.ones((len(self.sizes), widest - 1))
        self.after = np.ones((len(self.sizes), widest - 1))

        def fill(row: int) -> None:
            column = X[:, self.features[row]]
            self.codes[row] = np.searchsorted(self.thresholds[row], column, side="left")
            held = np.bincount(self.codes[row], p, self.sizes[row])
            self.before[row, : held.size - 1] = held.cumsum()[:-1]
            self.after[row, : held.size - 1] = held[::-1].cumsum()[::-1][1:]

        list(each(fill, range(len(self.sizes))))


def _cuts(x: Array, p: Array, most: int | None) -> Array:
    order = np.argsort(x)
    x = x[order]
    # `ends` contains the index of the last row of each value, except the largest value.
    ends = np.flatnonzero(x[1:] > x[:-1])
    if most is not None and ends.size >= most:
        # Bins have nearly equal weight: a cut is at the first value whose cumulative weight reaches
        # a quantile. Quantiles are lowered a little, as rounding must not move a cut to the next.
        below = np.cumsum(p[order])
        goals = np.arange(1, most) * (below[-1] * (1.0 - 1e-9) / most)
        ends = ends[np.unique(np.searchsorted(below[ends], goals).clip(0, ends.size - 1))]
    low, high = x[ends], x[ends + 1]
    # The sum of two large numbers would overflow.
    middle = low / 2.0 + high / 2.0
    return np.where((low <= middle) & (middle < high), middle, low)


def best_split(bins: Bins, target: Array, signs: bool) -> tuple[int, int, Array]:
    """Return the split with the largest total score of both leaves.

    Ties, up to rounding errors, go to the first split.

    Parameters
    ----------
    bins : Bins
        The bins of each feature, with the bin of each row.
    target : array of shape (N, K)
        The target times the weight of the row.
    signs : bool
        How leaves are scored. Let s be the sum of the target over a leaf. The score is |s| if
        `signs` is True, and otherwise ‖s‖² divided by the weight of the leaf.

    Returns
    -------
    tuple
        The index of the feature in `bins.features`, the last bin of the left leaf, and the sums of
        the target over both leaves.
    """
    pool, threads = thread_pool()
    d, rows = bins.codes.shape
    # A thread costs a tenth of a millisecond, which is as much as this work.
    threads = 1 if bins.codes.size * target.shape[1] < 200_000 else min(threads, d)
    starts = np.linspace(0, d, threads + 1).astype(int)
    scores = np.empty(d)
    places = np.empty(d, dtype=np.int64)
    leaves = np.zeros((d, 2, target.shape[1]))
    # The rounding error of a sum of N terms grows like √N. Another order of the rows, or weights
    # instead of repeated rows, must not change the split.
    tie = 1.0 - 4e-15 * math.sqrt(rows)

    def part(start: int, stop: int) -> None:
        features = tuple(a[start:stop] for a in (bins.codes, bins.sizes, bins.before, bins.after))
        found = tuple(a[start:stop] for a in (scores, places, leaves))
        _search(features, target, signs, tie, found)

    if threads == 1:
        part(0, d)
    else:
        list(pool.map(part, starts[:-1], starts[1:]))
    # Comparing with the maximum makes the result independent of the order of the search.
    row = int(np.argmax(scores >= scores.max() * tie))
    return row, int(places[row]), leaves[row]


@njit(nogil=True)
def _search(features: Any, target: Array, signs: bool, tie: float, found: Any) -> None:
    codes, sizes, before, after = features
    scores, places, leaves = found
    outputs = target.shape[1]
    for f in range(len(sizes)):
        # The sums of the bins give the sums of all possible leaves.
        sums = np.zeros((sizes[f], outputs))
        row = codes[f]
        for i in range(row.size):
            b = row[i]
            for k in range(outputs):
                sums[b, k] += target[i, k]
        scores[f], places[f] = _scan(sums, before[f], after[f], signs, tie)
        for b in range(sizes[f]):
            side = int(b > places[f])
            for k in range(outputs):
                leaves[f, side, k] += sums[b, k]


@njit(nogil=True, fastmath={"reassoc", "contract"})
def _score(s: Array, weight: float, signs: bool) -> float:
    # The score of a split is the sum of the scores of its two leaves, whose targets sum to s.
    if signs:
        return abs(s[0])
    square = 0.0
    for k in range(s.shape[0]):
        square += s[k] * s[k]
    return square / weight


@njit(nogil=True)
def _scan(sums: Array, before: Array, after: Array, signs: bool, tie: float) -> tuple[float, int]:
    """Return the largest score of a split of one feature, and the last bin in its left leaf."""
    size, outputs = sums.shape
    scores = np.empty(size - 1)
    # Subtracting the left sum from the total would lose the digits of a light right leaf.
    total = np.zeros(outputs)
    for b in range(size - 1):
        for k in range(outputs):
            total[k] += sums[b, k]
        scores[b] = _score(total, before[b], signs)
    total[:] = 0.0
    best = -1.0
    for b in range(size - 2, -1, -1):
        for k in range(outputs):
            total[k] += sums[b + 1, k]
        scores[b] += _score(total, after[b], signs)
        best = max(best, scores[b])
    for b in range(size - 1):
        if scores[b] >= best * tie:
            return best, b
    return best, 0
