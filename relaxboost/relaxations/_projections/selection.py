"""Sorting only those entries of a vector that have ranks near a given rank.

A sample of the entries gives two values between which the entry of this rank lies. One pass over
all entries counts the entries below the two values, and only the entries between them are sorted.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit

MAX_SAMPLE = 4096
"""The maximum number of entries in a sample from which a rank is estimated. The error of the
estimated rank is about 1 % of the number of entries. A larger sample takes longer and hardly
shortens the passes over all entries that follow."""
ENTRIES_PER_BLOCK = 64
"""The number of entries of a block. A block without an entry between the two values is skipped."""


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
    marked = np.empty(ENTRIES_PER_BLOCK, np.uint8)
    n = 0
    for start in range(0, x.shape[0], ENTRIES_PER_BLOCK):
        part = x[start : start + ENTRIES_PER_BLOCK]
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
    """Return a sorted vector of the entries of x near a position in the sorted sample.

    These entries lie between the sample's entries at the positions `place` − `spread` and `place` +
    `spread`. Also return the number of entries of x that are smaller than all of these entries.
    """
    first = math.floor(place - spread)
    last = math.ceil(place + spread)
    low = float(sample[first]) if first >= 0 else -math.inf
    high = float(sample[last]) if last < sample.size else math.inf
    below, inside = count_between(x, low, high)
    return np.sort(take_between(x, low, high, inside)), below
