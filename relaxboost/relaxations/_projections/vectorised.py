"""Exponentials and logarithms without calls or branches, for loops over many entries.

A compiler turns loops of these into vector instructions; NumPy's own are as fast, but need a pass
over memory for each operation. Loops should handle `CHUNK` entries at a time, which stay in the
cache, and sum up in functions of their own, compiled with `REORDER`: the order of a sum may
change, the formulas that do not cancel must not.
"""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.compiled import njit

CHUNK = 2048
REORDER = {"reassoc", "contract", "nsz", "arcp"}

_ROUND = 6755399441055744.0  # 1.5 · 2^52: adding it rounds to a whole number, its last bits
_ONE_BITS = 0x3FF0000000000000
_BITS_OF_E = math.log(2.0) / 2.0**52
_LOG2_HIGH, _LOG2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
_MIDDLE, _LOG_MIDDLE = 1.625, math.log(1.625)


@njit(inline="always", error_model="numpy", fastmath={"contract"})
def exp(x: float) -> float:
    """Return e^x to the last bits, 0 below −708 and e^709 above 709."""
    inside = min(max(x, -708.0), 709.0)
    shifted = inside * 1.4426950408889634 + _ROUND
    n = shifted - _ROUND
    r = (inside - n * _LOG2_HIGH) - n * _LOG2_LOW
    p = 1.0 / 6227020800.0  # Taylor's sum; |r| <= log(2)/2
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
    # The last bits of `shifted` are n: they are added to the exponent of p.
    n_bits = np.float64(shifted).view(np.int64) << np.int64(52)
    power = np.int64(np.float64(p).view(np.int64) + n_bits).view(np.float64)
    return power if x >= -708.0 else 0.0


@njit(inline="always", error_model="numpy", fastmath={"contract"})
def rough_log(x: float) -> float:
    """Return log x up to 0.06 for normal x > 0: the exponent, and the mantissa less one."""
    return (np.float64(x).view(np.int64) - np.int64(_ONE_BITS)) * _BITS_OF_E


@njit(inline="always", error_model="numpy", fastmath={"contract"})
def log1p(e: float) -> float:
    """Return log(1 + e) to the last bits for e in [0, 1].

    log(1 + e) = log c + 2 artanh(s), s = (1 + e − c)/(1 + e + c) with c = 1 or 1.625, so that
    |s| <= 0.13 and nine terms of the series are enough.
    """
    upper = e > 0.3
    s = (e - (_MIDDLE - 1.0) if upper else e) / (e + (_MIDDLE + 1.0) if upper else e + 2.0)
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
    return (_LOG_MIDDLE if upper else 0.0) + (2.0 * s + s * q * p)
