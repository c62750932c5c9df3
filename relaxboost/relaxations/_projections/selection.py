"""Selection of entries by rank, or by a sum that reaches a target, without a full sort.

A sample of the entries gives two values between which the entry of a rank lies. One pass over all
entries counts the entries below these values, and only the entries between them are sorted.
`first_reaching` is quickselect (Hoare 1961, Algorithm 65) for a weighted sum instead of a rank.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost.relaxations._projections.vectorised import REORDER

MAX_SAMPLE = 4096
"""The maximum number of entries in a sample, from which a projection estimates a rank or its
initial multipliers. The error of estimated ranks is about 1 % of the number of entries. A larger
sample takes longer and hardly shortens the passes over all entries that follow."""
TERMS_PER_BLOCK = 64
"""The number of consecutive terms that a compensated sum adds without compensation. Each block then
has a relative error of at most 64 roundings. Selections also test this number of entries at a
time."""


@njit(error_model="numpy", fastmath=REORDER)
def plain_sum(x: Vector) -> float:
    """Return Σ x_i, summed in an order that depends on the vector instructions of the CPU."""
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i]
    return total


@njit(error_model="numpy")
def compensated_sum(x: Vector) -> float:
    """Return Σ x_i for x >= 0 with a relative error of a few rounding errors for any length."""
    # The sums of blocks are added by compensated summation (Neumaier 1974).
    total = 0.0
    lost = 0.0
    for start in range(0, x.shape[0], TERMS_PER_BLOCK):
        part = plain_sum(x[start : start + TERMS_PER_BLOCK])
        new = total + part
        lost += (total - new) + part if total >= part else (part - new) + total
        total = new
    return total + lost


@njit(error_model="numpy")
def count_between(x: Vector, low: float, high: float) -> tuple[int, int]:
    """Return how many entries of x are below `low`, and how many are in [low, high]."""
    below = 0
    upto = 0
    for i in range(x.shape[0]):
        below += x[i] < low
        upto += x[i] <= high
    return below, upto - below


@njit(error_model="numpy")
def _mark(x: Vector, low: float, high: float, marked: NDArray[np.uint8]) -> int:
    found = 0
    for i in range(x.shape[0]):
        inside = (x[i] >= low) & (x[i] <= high)
        marked[i] = inside
        found += inside
    return found


@njit(error_model="numpy")
def take_between(x: Vector, low: float, high: float, inside: int) -> Vector:
    """Return the entries of x in [low, high]. `inside` is the number of these entries."""
    taken = np.empty(inside + 1)
    marked = np.empty(TERMS_PER_BLOCK, np.uint8)
    n = 0
    for start in range(0, x.shape[0], TERMS_PER_BLOCK):
        part = x[start : start + TERMS_PER_BLOCK]
        # Most blocks contain no entry between the bounds, and are skipped.
        if _mark(part, low, high, marked):
            for i in range(part.shape[0]):
                taken[n] = part[i]
                n += marked[i]
    return taken[:n]


def sorted_sample(x: Vector) -> Vector:
    """Return a sorted sample of x that contains at most 1/16 of the entries."""
    size = min(MAX_SAMPLE, x.size // 16)
    return np.sort(x[:: x.size // size][:size])


def sorted_near(x: Vector, sample: Vector, place: float, spread: float) -> tuple[Vector, int]:
    """Return the sorted entries of x near a position in the sorted sample.

    They lie between the sample's entries at the positions `place` − `spread` and `place` +
    `spread`. Also return the number of entries of x below them.
    """
    first = math.floor(place - spread)
    last = math.ceil(place + spread)
    low = float(sample[first]) if first >= 0 else -math.inf
    high = float(sample[last]) if last < sample.size else math.inf
    below, inside = count_between(x, low, high)
    return np.sort(take_between(x, low, high, inside)), below


def pair_of_rank(x: Vector, j: int) -> tuple[float, float]:
    """Return the entries of x with the ranks j and j + 1, where the smallest entry has rank 0.

    If j is the last rank, the function returns the largest entry twice.
    """
    following = min(j + 1, x.size - 1)
    if x.size > MAX_SAMPLE:
        sample = sorted_sample(x)
        share = j / x.size
        # Five standard deviations of the rank of a binomial sample nearly always contain j.
        spread = 5.0 * math.sqrt(sample.size * share * (1.0 - share)) + 5.0
        near, below = sorted_near(x, sample, share * sample.size, spread)
        if below <= j and following < below + near.size:
            return float(near[j - below]), float(near[following - below])
    ordered = np.partition(x, (j, following))
    return float(ordered[j]), float(ordered[following])


@njit()
def _median_of_three(key: Vector, n: int, state: int) -> float:
    # The positions of the keys are pseudo-random.
    a = key[state % n]
    b = key[(state * 31 + 7) % n]
    c = key[(state * 17 + 3) % n]
    return max(min(a, b), min(max(a, b), c))


@njit()
def _sums_at(
    key: Vector, const: Vector, slope: Vector, n: int, p: float, rising: bool
) -> tuple[float, float, float]:
    """Return Σ const over keys <= p, Σ slope over the active keys, and Σ slope over keys >= p.

    The active keys are the keys <= p if `rising` is True, and the keys > p otherwise.
    """
    # Conditional additions of 0 avoid branches that the CPU could not predict.
    const_upto = 0.0
    slope_upto = 0.0
    slope_above = 0.0
    slope_from = 0.0
    for i in range(n):
        inside = key[i] <= p
        const_upto += const[i] if inside else 0.0
        slope_upto += slope[i] if inside else 0.0
        slope_above += 0.0 if inside else slope[i]
        slope_from += 0.0 if key[i] < p else slope[i]
    return const_upto, slope_upto if rising else slope_above, slope_from


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
    """Return the smallest key p with S(p) >= target, or ``inf`` if there is none.

    The sum S(p) = Σ_{key <= p} const + p Σ slope is non-decreasing in p. If `rising` is True, the
    second sum is over key <= p: the entries are hinges that start at their key, and const =
    −key·slope. Otherwise the second sum is over key > p: the entries are ramps that end at their
    key, and key·slope <= const. The keys must be finite, and the vectors are overwritten. The time
    is linear on average, and the result is deterministic.

    S reaches the target at the key `best`, and the vectors contain no larger keys. `left` is Σ
    const over the smaller keys that the vectors do not contain. `ramp` is Σ slope over these keys
    if `rising` is True, and over keys >= `best` otherwise.
    """
    n = key.shape[0]
    state = 12345
    while n > 0:
        # A linear congruential generator, whose low bits are not random enough.
        state = (state * 1103515245 + 12345) % 2147483648
        p = _median_of_three(key, n, state >> 8)
        const_upto, ramp_at, slope_from = _sums_at(key, const, slope, n, p, rising)
        reached = left + const_upto + p * (ramp + ramp_at) >= target
        if reached:
            best = p
            ramp += 0.0 if rising else slope_from
        else:
            left += const_upto
            ramp += ramp_at if rising else 0.0
        # Keep the keys on the side of the answer. An entry never moves beyond the next one read.
        kept = 0
        for i in range(n):
            k = key[i]
            c = const[i]
            s = slope[i]
            key[kept] = k
            const[kept] = c
            slope[kept] = s
            kept += (k < p) if reached else (k > p)
        n = kept
    return best
