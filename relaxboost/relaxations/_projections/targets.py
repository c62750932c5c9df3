"""The search for the point at which a sum over many entries reaches a target.

The search uses a sample and two passes over all entries.

The sum is S(p) = Σ const + p Σ slope over the entries with key <= p, as in
`selection.first_reaching`. Each entry has a key, a const and a slope, which are computed from its
numbers a and b by one of three formulas. The keys, consts and slopes are never stored for all
entries, because writing a million numbers takes longer than computing them. From a sample, the
search chooses two keys between which S most likely reaches the target. Exact sums at the two keys
verify this choice. Then only the entries between the keys are stored and searched.
"""

from __future__ import annotations

import math
from enum import IntEnum

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost._core.rounding import MAX_SUMMABLE, MIN_NORMAL
from relaxboost.relaxations._projections.selection import MAX_SAMPLE, first_reaching
from relaxboost.relaxations._projections.vectorised import REORDER


class EntryKind(IntEnum):
    """The kind of the entries (a_i, b_i), which determines the terms of the sum S(p).

    Compiled loops receive the `value` of the kind.
    """

    STEPS = 0
    """The kind of entries for which S(p) is Σ b_i over the entries with a_i <= p."""
    HINGES = 1
    """The kind of entries for which S(p) is Σ b_i [p − a_i]_+."""
    RAMPS = 2
    """The kind of entries for which S(p) is Σ min(b_i, p a_i). A ramp ends at its key b_i/a_i."""


@njit(inline="always", error_model="numpy")
def ramp_end(a: float, b: float) -> float:
    """Return the p = b/a at which the ramp min(b, p a) reaches b, but at most `MAX_SUMMABLE`."""
    return min(b / max(a, MIN_NORMAL), MAX_SUMMABLE)


@njit(inline="always", error_model="numpy")
def is_constant(end: float) -> bool:
    """Return whether a ramp is so steep that it is treated as the constant b with the key 0."""
    return end < MIN_NORMAL


@njit(inline="always", error_model="numpy")
def _entry(kind: int, a: float, b: float) -> tuple[float, float, float]:
    """Return the key, const and slope that the entry (a, b) contributes to the sum S(p)."""
    if kind == EntryKind.HINGES:
        return a, -a * b, b
    if kind == EntryKind.STEPS:
        return a, b, 0.0
    end = ramp_end(a, b)
    is_steep = is_constant(end)
    return 0.0 if is_steep else end, b, 0.0 if is_steep else a


@njit(error_model="numpy", fastmath=REORDER)
def _sums_at(kind: int, a: Vector, b: Vector, p: float, q: float) -> tuple[float, ...]:
    """Return three sums for the point p, and the same three sums for the point q.

    They are Σ const over key <= p, Σ slope over the entries whose slope contributes to S(p), and Σ
    slope over key >= p.
    """
    const_p = 0.0
    const_q = 0.0
    slope_p = 0.0
    slope_q = 0.0
    from_p = 0.0
    from_q = 0.0
    for i in range(a.shape[0]):
        key, const, slope = _entry(kind, a[i], b[i])
        const_p += const if key <= p else 0.0
        const_q += const if key <= q else 0.0
        slope_p += slope if (key <= p) == (kind == EntryKind.HINGES) else 0.0
        slope_q += slope if (key <= q) == (kind == EntryKind.HINGES) else 0.0
        from_p += slope if key >= p else 0.0
        from_q += slope if key >= q else 0.0
    return const_p, slope_p, from_p, const_q, slope_q, from_q


@njit(error_model="numpy")
def _entries_between(
    kind: int, a: Vector, b: Vector, low: float, high: float
) -> tuple[Vector, Vector, Vector]:
    """Return the vectors key, const and slope of the entries with low < key < high."""
    # Counting first costs less than three arrays of full length.
    size = 0
    for i in range(a.shape[0]):
        key = _entry(kind, a[i], b[i])[0]
        size += (key > low) & (key < high)
    keys = np.empty(size + 1)
    consts = np.empty(size + 1)
    slopes = np.empty(size + 1)
    n = 0
    for i in range(a.shape[0]):
        key, const, slope = _entry(kind, a[i], b[i])
        # The next entry overwrites this one if its key is not between the bounds.
        keys[n] = key
        consts[n] = const
        slopes[n] = slope
        n += (key > low) & (key < high)
    return keys[:n], consts[:n], slopes[:n]


@njit(error_model="numpy")
def _likely_bounds(kind: int, a: Vector, b: Vector, target: float) -> tuple[float, float]:
    """Return two keys, taken from a sample, between which S most likely reaches the target."""
    stride = a.shape[0] // MAX_SAMPLE
    sample = a[::stride].copy(), b[::stride].copy()
    key, const, slope = _entries_between(kind, *sample, -math.inf, math.inf)
    order = np.argsort(key)
    # Each sampled entry stands for this many entries.
    scale = a.shape[0] / max(1, key.shape[0])
    const_upto = 0.0
    slope_upto = 0.0
    slope_total = slope.sum()
    found = key.shape[0]
    for r in range(key.shape[0]):
        i = order[r]
        const_upto += const[i]
        slope_upto += slope[i]
        ramp = slope_upto if kind == EntryKind.HINGES else max(0.0, slope_total - slope_upto)
        if scale * (const_upto + key[i] * ramp) >= target:
            found = r
            break
    # A rank in a sample of 4096 entries has a standard deviation of at most 32.
    first = found - 200
    last = found + 200
    low = key[order[first]] if first >= 0 else -math.inf
    high = key[order[last]] if last < key.shape[0] else math.inf
    return low, high


@njit(error_model="numpy")
def reaching(kind: int, a: Vector, b: Vector, target: float) -> float:
    """Return the smallest key p with S(p) >= target > 0, or ``inf`` if there is none.

    `kind` is the value of an `EntryKind`. The numbers of the entries satisfy b >= 0, and a >= 0 for
    RAMPS. Entries with an infinite key are ignored.
    """
    best = math.inf
    left = 0.0
    ramp = 0.0
    low = -math.inf
    high = math.inf
    if a.shape[0] > 8 * MAX_SAMPLE:
        p, q = _likely_bounds(kind, a, b, target)
        const_p, slope_p, from_p, const_q, slope_q, from_q = _sums_at(kind, a, b, p, q)
        for x, const, slope, slope_from in (
            (p, const_p, slope_p, from_p),
            (q, const_q, slope_q, from_q),
        ):
            if not low < x < high:
                continue
            # A sum that is nan exceeds the doubles, and so the target.
            if not const + x * slope < target:
                best = x
                high = x
                ramp = ramp if kind == EntryKind.HINGES else slope_from
            else:
                low = x
                left = const
                ramp = slope if kind == EntryKind.HINGES else ramp
    key, const_between, slope_between = _entries_between(kind, a, b, low, high)
    rising = kind == EntryKind.HINGES
    return first_reaching(key, const_between, slope_between, target, rising, best, left, ramp)
