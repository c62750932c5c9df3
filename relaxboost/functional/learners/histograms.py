"""Compiled search for the best split. Every feature is summed by itself: threads change nothing."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import njit, thread_pool

SQUARES, SIGNS, CLASSES = 0, 1, 2
"""What a leaf with the sum s of weight w adds to the score: ‖s‖²/w; |s|; K max s − Σ s."""

_SUM = {"reassoc", "contract"}
_TOGETHER = 4  # features binned in one pass over the rows: their additions do not wait in a row
_SMALL = 256  # bins up to which they do
_TIE = 4e-15  # times √N: the relative difference below which scores count as equal


class Binned(NamedTuple):
    """The features of a training set by bins, as the kernels take them."""

    codes: NDArray[Any]
    """The bin of each row in each feature, shape (d, N)."""
    sizes: Whole
    """How many bins each feature has, shape (d,)."""
    before: Array
    """1 over the weight of the bins up to each, shape (d, bins)."""
    after: Array
    """1 over the weight of the bins after each, shape (d, bins)."""


class Found(NamedTuple):
    """The best split of each feature; written to by the kernels."""

    scores: Array
    """Shape (d,)."""
    places: Whole
    """The bin after which to split, shape (d,)."""
    leaves: Array
    """The sums of both leaves, shape (d, 2, K); zeros before."""


def best_split(bins: Binned, target: Array, kind: int) -> tuple[int, int, Array]:
    """Return the row of `bins.codes` and the bin after which to split, and both leaves' sums.

    `target`, of shape (N, K), is what is summed, weights included, into (2, K); `kind` is SQUARES,
    SIGNS or CLASSES. It is the first among equals, up to rounding.
    """
    pool, threads = thread_pool()
    d, rows = bins.codes.shape
    # A tenth of a millisecond of work is not worth the hand-over to a thread.
    threads = 1 if bins.codes.size * target.shape[1] < 200_000 else min(threads, d)
    starts = np.linspace(0, d, threads + 1).astype(int).tolist()

    found = Found(np.empty(d), np.empty(d, dtype=np.int64), np.zeros((d, 2, target.shape[1])))
    # Sums in another order, or of twice the weight for two rows, must not choose otherwise.
    tie = 1.0 - _TIE * math.sqrt(rows)

    def part(i: int) -> None:
        search(bins, target, kind, starts[i], starts[i + 1], tie, found)

    others = [pool.submit(part, i) for i in range(1, threads)]
    part(0)
    for other in others:
        other.result()
    # The largest first, so that what is equal to it does not depend on the order of the search.
    row = int(np.argmax(found.scores >= found.scores.max() * tie))
    return row, int(found.places[row]), found.leaves[row]


@njit(nogil=True)
def search(
    bins: Binned, target: Array, kind: int, start: int, stop: int, tie: float, found: Found
) -> None:
    """Write the best split of each of rows start..stop−1 of `bins.codes`: score, bin, both sums.

    The share `tie` of the largest score counts as equal to it.
    """
    codes, sizes = bins.codes, bins.sizes
    outputs = target.shape[1]
    widest = 0
    for f in range(start, stop):
        widest = max(widest, sizes[f])
    together = _TOGETHER if widest <= _SMALL else 1
    sums = np.empty((together, widest, 4 if 1 < outputs < 4 else outputs))
    scores, total = np.empty(widest), np.empty(outputs)
    for f in range(start, stop, together):
        some = min(together, stop - f)
        sums[:] = 0.0
        if outputs == 1:
            _add_numbers(codes, target, f, some, sums)
        elif outputs <= 4:
            _add_few(codes, target, f, some, sums)
        else:
            _add_vectors(codes, target, f, some, sums)
        for g in range(some):
            held = sums[g, : sizes[f + g]]
            score, cut = _scan(
                held, bins.before[f + g], bins.after[f + g], kind, tie, scores, total
            )
            found.scores[f + g], found.places[f + g] = score, cut
            for b in range(sizes[f + g]):
                side = int(b > cut)
                for k in range(outputs):
                    found.leaves[f + g, side, k] += held[b, k]


@njit(nogil=True)
def _add_numbers(codes: NDArray[Any], target: Array, f: int, some: int, sums: Array) -> None:
    v = target[:, 0]
    if some == 4:
        c0, c1, c2, c3 = codes[f], codes[f + 1], codes[f + 2], codes[f + 3]
        s0, s1, s2, s3 = sums[0, :, 0], sums[1, :, 0], sums[2, :, 0], sums[3, :, 0]
        for i in range(v.shape[0]):
            s0[c0[i]] += v[i]
            s1[c1[i]] += v[i]
            s2[c2[i]] += v[i]
            s3[c3[i]] += v[i]
        return
    for g in range(some):
        c, s = codes[f + g], sums[g, :, 0]
        for i in range(v.shape[0]):
            s[c[i]] += v[i]


@njit(nogil=True)
def _add_few(codes: NDArray[Any], target: Array, f: int, some: int, sums: Array) -> None:
    """Add vectors of 2 to 4 numbers, always as four, which the processor takes at once."""
    outputs = target.shape[1]
    v2, v3 = 0.0, 0.0
    for i in range(target.shape[0]):
        v0, v1 = target[i, 0], target[i, 1]
        if outputs > 2:
            v2 = target[i, 2]
        if outputs > 3:
            v3 = target[i, 3]
        for g in range(some):
            b = codes[f + g, i]
            sums[g, b, 0] += v0
            sums[g, b, 1] += v1
            sums[g, b, 2] += v2
            sums[g, b, 3] += v3


@njit(nogil=True)
def _add_vectors(codes: NDArray[Any], target: Array, f: int, some: int, sums: Array) -> None:
    outputs = target.shape[1]
    for i in range(target.shape[0]):
        for g in range(some):
            b = codes[f + g, i]
            for k in range(outputs):
                sums[g, b, k] += target[i, k]


@njit(nogil=True, fastmath=_SUM)
def _leaf(s: Array, inverse: float, kind: int) -> float:
    """Return what a leaf adds to the score."""
    if kind == SQUARES:
        square = 0.0
        for k in range(s.shape[0]):
            square += s[k] * s[k]
        return square * inverse
    if kind == SIGNS:
        return abs(s[0])
    largest, total = s[0], 0.0
    for k in range(s.shape[0]):
        largest = max(largest, s[k])
        total += s[k]
    return s.shape[0] * largest - total


@njit(nogil=True)
def _scan(
    sums: Array,
    before: Array,
    after: Array,
    kind: int,
    tie: float,
    scores: Array,
    total: Array,
) -> tuple[float, int]:
    """Return the largest score of a feature, and the bin after which to split."""
    size = sums.shape[0]
    # Both leaves are summed from their own end: total minus one would lose a light leaf.
    total[:] = 0.0
    for b in range(size - 1):
        for k in range(total.shape[0]):
            total[k] += sums[b, k]
        scores[b] = _leaf(total, before[b], kind)
    total[:] = 0.0
    best = -1.0
    for b in range(size - 2, -1, -1):
        for k in range(total.shape[0]):
            total[k] += sums[b + 1, k]
        scores[b] += _leaf(total, after[b], kind)
        best = max(best, scores[b])
    for b in range(size - 1):
        if scores[b] >= best * tie:
            return best, b
    return best, 0


@njit(nogil=True)
def spread(codes: NDArray[Any], place: int, leaves: Array, out: Array) -> None:
    """Write the first leaf to the rows of bins up to `place`, and the second to the others."""
    for i in range(codes.shape[0]):
        side = int(codes[i] > place)
        for k in range(leaves.shape[1]):
            out[i, k] = leaves[side, k]
