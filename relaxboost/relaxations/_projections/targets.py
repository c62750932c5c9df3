"""Where a sum over many entries reaches a target, from a sample and two passes over them.

S(p) = Σ_{key <= p} const + p Σ slope as in `selection.first_reaching`, for three kinds of entries
given by two vectors: of a million entries no third should be written, since fresh memory costs
more than the arithmetic.
"""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost.relaxations._projections.selection import first_reaching
from relaxboost.relaxations._projections.vectorised import REORDER

STEPS = 0
"""S(p) = Σ b over a <= p."""
HINGES = 1
"""S(p) = Σ b [p − a]_+."""
RAMPS = 2
"""S(p) = Σ min(b, p a): the keys are b/a, or 0 if that is tiny."""

SURELY_ENDED = 1e-100
"""Ramps that end before it are constants, since their slopes are beyond all others."""

_SAMPLE, _AROUND = 4096, 200
"""Entries of the sample, and how many of them on each side of its own answer are kept."""


@njit(inline="always", error_model="numpy")
def ramp_end(a: float, b: float) -> float:
    """Return b/a, at most 1e300."""
    return min(b / max(a, 1e-308), 1e300)


@njit(inline="always", error_model="numpy")
def _entry(kind: int, a: float, b: float) -> tuple[float, float, float]:
    """Return key, const and slope."""
    if kind == 1:
        return a, -a * b, b
    if kind == 0:
        return a, b, 0.0
    end = ramp_end(a, b)
    ended = end < SURELY_ENDED
    return 0.0 if ended else end, b, 0.0 if ended else a


@njit(error_model="numpy", fastmath=REORDER)
def _sums_at(kind: int, a: Vector, b: Vector, p: float, q: float) -> tuple[float, ...]:
    """Return Σ const over key <= p, Σ slope over key <= p or else key > p, and over key >= p;
    then all for q."""
    p0, p1, p2, q0, q1, q2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(a.shape[0]):
        key, const, slope = _entry(kind, a[i], b[i])
        p0 += const if key <= p else 0.0
        q0 += const if key <= q else 0.0
        p1 += slope if (key <= p) == (kind == 1) else 0.0
        q1 += slope if (key <= q) == (kind == 1) else 0.0
        p2 += slope if key >= p else 0.0
        q2 += slope if key >= q else 0.0
    return p0, p1, p2, q0, q1, q2


@njit(error_model="numpy")
def _keep(
    kind: int, a: Vector, b: Vector, low: float, high: float
) -> tuple[Vector, Vector, Vector]:
    """Return key, const and slope of the entries with low < key < high."""
    size = 0
    for i in range(a.shape[0]):
        key = _entry(kind, a[i], b[i])[0]
        size += (key > low) & (key < high)
    keys, consts, slopes = np.empty(size + 1), np.empty(size + 1), np.empty(size + 1)
    n = 0
    for i in range(a.shape[0]):
        key, const, slope = _entry(kind, a[i], b[i])
        keys[n], consts[n], slopes[n] = key, const, slope
        n += (key > low) & (key < high)
    return keys[:n], consts[:n], slopes[:n]


@njit(error_model="numpy")
def _bracket(kind: int, a: Vector, b: Vector, target: float) -> tuple[float, float]:
    """Return keys between which S reaches the target if a sample is to be trusted."""
    stride = a.shape[0] // _SAMPLE
    key, const, slope = _keep(kind, a[::stride].copy(), b[::stride].copy(), -math.inf, math.inf)
    order = np.argsort(key)
    scale = a.shape[0] / max(1, key.shape[0])
    upto, lifted, above, found = 0.0, 0.0, slope.sum(), key.shape[0]
    for r in range(key.shape[0]):
        i = order[r]
        upto += const[i]
        lifted += slope[i]
        ramp = lifted if kind == 1 else max(0.0, above - lifted)
        if scale * (upto + key[i] * ramp) >= target:
            found = r
            break
    first, last = found - _AROUND, found + _AROUND
    low = key[order[first]] if first >= 0 else -math.inf
    high = key[order[last]] if last < key.shape[0] else math.inf
    return low, high


@njit(error_model="numpy")
def reaching(kind: int, a: Vector, b: Vector, target: float) -> float:
    """Return the smallest key p with S(p) >= target, ``inf`` if there is none.

    Parameters
    ----------
    kind : int
        STEPS, HINGES or RAMPS.
    a, b : arrays of shape (m,)
        What S sums over, b >= 0; for RAMPS a >= 0. Infinite keys are left out.
    target : float
        Positive.
    """
    best, left, ramp = math.inf, 0.0, 0.0
    low, high = -math.inf, math.inf
    if a.shape[0] > 8 * _SAMPLE:
        p, q = _bracket(kind, a, b, target)
        p0, p1, p2, q0, q1, q2 = _sums_at(kind, a, b, p, q)
        for x, upto, slope, from_x in ((p, p0, p1, p2), (q, q0, q1, q2)):
            if not low < x < high:
                continue
            if not upto + x * slope < target:  # nan: it exceeds the doubles
                best = high = x
                ramp = ramp if kind == 1 else from_x
            else:
                low, left = x, upto
                ramp = slope if kind == 1 else ramp
    key, const, slopes = _keep(kind, a, b, low, high)
    return first_reaching(key, const, slopes, target, kind == 1, best, left, ramp)
