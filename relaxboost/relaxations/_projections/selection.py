"""Where a sum of hinges or of capped ramps reaches a target: a selection, without sorting."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost.relaxations._projections.vectorised import REORDER

_RANKED = 4096
"""Entries of the sample that narrows a rank down."""
_STRETCH = 128
"""Entries that are looked at together, and left out where none is taken."""


@njit(error_model="numpy", fastmath=REORDER)
def plain_sum(x: Vector) -> float:
    """Return Σ x, in an order that vectorises."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i]
    return total


@njit(error_model="numpy")
def compensated_sum(x: Vector) -> float:
    """Return Σ x with an error of some roundings of the result, x >= 0.

    Neumaier's summation over the sums of 64 entries at a time.
    """
    total, lost = 0.0, 0.0
    for start in range(0, x.shape[0], 64):
        part = plain_sum(x[start : start + 64])
        new = total + part
        lost += (total - new) + part if total >= part else (part - new) + total
        total = new
    return total + lost


@njit(error_model="numpy")
def count_between(x: Vector, low: float, high: float) -> tuple[int, int]:
    """Return how many x are below `low`, and how many from `low` to `high`."""
    below, upto = 0, 0
    for i in range(x.shape[0]):
        below += x[i] < low
        upto += x[i] <= high
    return below, upto - below


@njit(error_model="numpy")
def _mark(x: Vector, low: float, high: float, inside: NDArray[np.uint8]) -> int:
    """Set which x are from `low` to `high`; return how many."""
    found = 0
    for i in range(x.shape[0]):
        here = (x[i] >= low) & (x[i] <= high)
        inside[i] = here
        found += here
    return found


@njit(error_model="numpy")
def take_between(x: Vector, low: float, high: float, inside: int) -> Vector:
    """Return the x from `low` to `high`, of which there are `inside`."""
    taken, marked, n = np.empty(inside + 1), np.empty(_STRETCH, np.uint8), 0
    for start in range(0, x.shape[0], _STRETCH):
        part = x[start : start + _STRETCH]
        if _mark(part, low, high, marked):
            for i in range(part.shape[0]):
                taken[n] = part[i]
                n += marked[i]
    return taken[:n]


def pair_of_rank(x: Vector, j: int) -> tuple[float, float]:
    """Return the entries j and j + 1, counted from 0, of sorted x; twice the largest at its end.

    A sample tells between which values they lie, nearly always, and only those are partitioned.
    """
    following = min(j + 1, x.size - 1)
    size = _RANKED
    if x.size > 16 * size:
        sample = np.sort(x[:: x.size // size][:size])
        share = j / x.size
        center, spread = share * size, 5.0 * math.sqrt(size * share * (1.0 - share)) + 5.0
        first, last = int(center - spread), math.ceil(center + spread)
        low = float(sample[first]) if first >= 0 else -math.inf
        high = float(sample[last]) if last < size else math.inf
        below, inside = count_between(x, low, high)
        if below <= j and following < below + inside:
            near = take_between(x, low, high, inside)
            near.partition((j - below, following - below))
            return float(near[j - below]), float(near[following - below])
    ordered = np.partition(x, (j, following))
    return float(ordered[j]), float(ordered[following])


@njit()
def _pivot(key: Vector, n: int, state: int) -> float:
    """Return the median of three keys at pseudo-random places."""
    a = key[state % n]
    b = key[(state * 31 + 7) % n]
    c = key[(state * 17 + 3) % n]
    return max(min(a, b), min(max(a, b), c))


@njit()
def first_reaching(
    key: Vector,
    const: Vector,
    slope: Vector,
    target: float,
    rising: bool,
    best: float = math.inf,
    left: float = 0.0,
    ramp: float = 0.0,
) -> float:
    """Return the smallest key p with S(p) >= target, ``inf`` if there is none.

    S(p) = Σ_{key <= p} const + p Σ slope, non-decreasing in p. The second sum is over key <= p if
    `rising` (hinges, const = −key·slope) and over key > p if not (ramps that end at their key,
    key·slope <= const). The keys are finite; the vectors are used up. Linear time on average, and
    deterministic. Other keys may have been left out: those below are in `left` = Σ const and, if
    rising, `ramp` = Σ slope; of those above `best`, where S reaches the target, is the smallest,
    and unless rising their slopes are in `ramp`.
    """
    n, state = key.shape[0], 12345
    while n > 0:
        state = (state * 1103515245 + 12345) % 2147483648
        p = _pivot(key, n, state >> 8)  # the low bits are not random enough
        upto, slope_upto, above, slope_above = 0.0, 0.0, 0.0, 0.0
        for i in range(n):
            inside = key[i] <= p
            upto += const[i] if inside else 0.0
            slope_upto += slope[i] if inside else 0.0
            slope_above += 0.0 if inside else slope[i]
            above += 0.0 if key[i] < p else slope[i]  # equal keys go with those above
        reached = left + upto + p * (ramp + (slope_upto if rising else slope_above)) >= target
        if reached:
            best = p
            if not rising:
                ramp += above
        else:
            left += upto
            if rising:
                ramp += slope_upto
        kept = 0
        for i in range(n):  # in place: what is kept never overtakes what is read
            k = key[i]
            key[kept], const[kept], slope[kept] = k, const[i], slope[i]
            kept += (k < p) if reached else (k > p)
        n = kept
    return best
