"""Exponentials and logarithms without calls or branches, for loops over many entries.

A compiler turns loops over these functions into vector instructions. NumPy's functions are as fast,
but need a pass over memory for each operation. A loop should process `ENTRIES_PER_CHUNK` entries at
a time, because a chunk stays in the cache. A function compiled with `REORDER` should only compute
sums, because the compiler would also reorder formulas whose order prevents cancellation.
"""

from __future__ import annotations

import numpy as np

from relaxboost._core.compiled import njit

ENTRIES_PER_CHUNK = 2048
"""The number of entries of a vector that compiled loops process at a time.

Two chunks of doubles fit into the smallest level-1 caches, so each pass over a chunk after the
first is fast.
"""
MAX_EXPONENT = 600.0
"""The largest |x| for which the projections compute e^x. Larger exponents are clipped.

The product of e^600, a margin and the number of examples is finite, and e^−600 does not underflow.
"""
REORDER = {"reassoc", "contract", "nsz", "arcp"}
"""The numba compiler options that allow reordering a sum."""


@njit(inline="always", error_model="numpy", fastmath={"contract"})
def exp(x: float) -> float:
    """Return e^x up to rounding. The result is 0 for x < −708, and e^709 for x > 709."""
    inside = min(max(x, -708.0), 709.0)
    # x = n log 2 + r with an integer n and |r| <= log(2)/2. Adding 1.5 · 2^52 rounds x / log 2 to
    # an integer, which is then in the last bits of the sum.
    round_to_integer = 6755399441055744.0
    shifted = inside * 1.4426950408889634 + round_to_integer
    n = shifted - round_to_integer
    # The first constant is log 2 to 33 bits, so its product with n is exact (Cody & Waite 1980).
    r = (inside - n * 0.693147180369123816490) - n * 1.90821492927058770002e-10
    # The polynomial p is Taylor's sum for e^r.
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = ((p * r + 0.5) * r + 1.0) * r + 1.0
    # The last bits of `shifted` are n, which is added to the exponent of p.
    n_bits = np.float64(shifted).view(np.int64) << np.int64(52)
    power = np.int64(np.float64(p).view(np.int64) + n_bits).view(np.float64)
    return power if x >= -708.0 else 0.0


@njit(inline="always", error_model="numpy", fastmath={"contract"})
def rough_log(x: float) -> float:
    """Return log x with an error of at most 0.06, for an x > 0 that is not subnormal."""
    # The bits of a double, read as an integer, are 2^52 times its exponent plus its mantissa. Minus
    # the bits of 1.0 they are nearly 2^52 log2 x (Mitchell 1962).
    bits = np.float64(x).view(np.int64) - np.int64(0x3FF0000000000000)
    return bits * 1.539095918623324e-16  # The factor is log(2) / 2^52.


@njit(inline="always", error_model="numpy", fastmath={"contract"})
def log1p(e: float) -> float:
    """Return log(1 + e) up to rounding, for e in [0, 1]."""
    # log(1 + e) = log c + 2 artanh(s) with s = (1 + e − c)/(1 + e + c). For c = 1 if e <= 0.3, and
    # c = 1.625 (log c = 0.4855...) otherwise, |s| <= 0.13 and nine terms of the series are enough.
    is_upper = e > 0.3
    s = (e - 0.625 if is_upper else e) / (e + 2.625 if is_upper else e + 2.0)
    q = s * s
    p = 2.0 / 19.0
    p = p * q + 2.0 / 17.0
    p = p * q + 2.0 / 15.0
    p = p * q + 2.0 / 13.0
    p = p * q + 2.0 / 11.0
    p = p * q + 2.0 / 9.0
    p = p * q + 2.0 / 7.0
    p = p * q + 2.0 / 5.0
    p = p * q + 2.0 / 3.0
    return (0.4855078157817008 if is_upper else 0.0) + (2.0 * s + s * q * p)
