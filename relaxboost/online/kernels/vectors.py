"""Compiled vector loops that LLVM can vectorise.

Loops that compute sums write to no array. Otherwise LLVM may use scalar instructions if arrays are
close in memory, and the order of additions would depend on addresses.
"""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Matrix, Vector
from relaxboost._core.compiled import njit

SUMS = {"reassoc", "nsz", "contract", "nnan", "ninf"}
"""The floating-point optimisations for loops with sums."""
ENTRIES = {"nsz", "contract", "nnan", "ninf"}
"""The floating-point optimisations for elementwise loops."""


@njit(fastmath=SUMS)
def total(w: Vector) -> float:
    """Return the sum of the entries of w."""
    found = 0.0
    for j in range(w.size):
        found += w[j]
    return found


@njit(fastmath=SUMS)
def inner(w: Vector, h: Vector) -> float:
    """Return the inner product <w, h>."""
    found = 0.0
    for j in range(w.size):
        found += w[j] * h[j]
    return found


@njit(fastmath=ENTRIES)
def scale(w: Vector, factor: float) -> None:
    """Multiply the vector w by a factor, in place."""
    for j in range(w.size):
        w[j] *= factor


@njit(fastmath=ENTRIES)
def average(w: Vector, mean: Vector, gain: float) -> None:
    """Move `mean` towards w by the fraction `gain` of their difference, in place."""
    for j in range(w.size):
        mean[j] += gain * (w[j] - mean[j])


@njit(fastmath=ENTRIES)
def move(z: Vector, factor: float, h: Vector, both: bool) -> float:
    """Add factor · h to z in place, and return the largest entry of −z.

    If `both` is True, return the largest absolute entry of z instead.
    """
    # LLVM has vector instructions for the maximum of integers, but not for that of doubles. The
    # bits of a double without its sign, as an integer, are ordered like its absolute value.
    unsigned = np.int64(0x7FFFFFFFFFFFFFFF)
    top = ~unsigned
    for j in range(z.size):
        moved = z[j] + factor * h[j]
        z[j] = moved
        bits = np.float64(-moved).view(np.int64)
        key = bits & unsigned if both else bits ^ ((bits >> np.int64(63)) & unsigned)
        top = key if key > top else top
    return np.int64(top ^ ((top >> np.int64(63)) & unsigned)).view(np.float64)


@njit()
def _largest(h: Vector) -> float:
    # The bits of inf and nan are larger integers than those of all finite numbers; see `move`.
    unsigned = np.int64(0x7FFFFFFFFFFFFFFF)
    infinite = np.int64(0x7FF0000000000000)
    top = np.int64(0)
    for j in range(h.size):
        size = np.float64(h[j]).view(np.int64) & unsigned
        top = size if size > top else top
    return np.int64(top).view(np.float64) if top < infinite else np.nan


@njit(nogil=True)
def dual_norms(H: Matrix, euclidean: bool) -> Vector:
    """Return the largest absolute entry of each row, or nan if the row is not finite.

    If `euclidean` is True, return the Euclidean norms instead.
    """
    sizes = np.empty(H.shape[0])
    for row in range(H.shape[0]):
        sizes[row] = _largest(H[row])
        if euclidean and not math.isnan(sizes[row]):
            # Squares underflow below 1e-154. A scaling by a power of two is exact.
            if sizes[row] < 1e-100:
                scaled = 2.0**600 * H[row]
                sizes[row] = 2.0**-600 * math.sqrt(inner(scaled, scaled))
            else:
                sizes[row] = math.sqrt(inner(H[row], H[row]))
    return sizes
