"""The compiled mirror map of the entropy, on simplices and on the l1 ball."""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost.online.kernels.vectors import ENTRIES, scale, total


@njit(fastmath=ENTRIES)
def _exponentials(z: Vector, sign: float, top: float, factor: float, out: Vector) -> None:
    """Set each entry of `out` to exp((sign · z_j − top) · factor), up to a few ulps.

    The exponents must be <= 0.
    """
    # Calling numba's exp for each entry would take about 20 times as long. Here exp(x) = 2^n exp(r)
    # with |r| <= log(2)/2, and a Taylor polynomial of degree 12 replaces exp(r), with a relative
    # error of at most 2e-16. The integer n is added to the bits of the exponent.
    # Adding 1.5 · 2^52 rounds a number to an integer in the lowest bits.
    rounding = 6755399441055744.0
    for j in range(z.size):
        # Exponents below −700 are replaced, so that no result is denormal.
        x = max((sign * z[j] - top) * factor, -700.0)
        shifted = x * 1.4426950408889634 + rounding
        n = shifted - rounding
        # The two constants are the high and the low part of log(2).
        r = (x - n * 0.6931471803691238) - n * 1.9082149292705877e-10
        p = 2.08767569878681e-09
        p = p * r + 2.505210838544172e-08
        p = p * r + 2.755731922398589e-07
        p = p * r + 2.7557319223985893e-06
        p = p * r + 2.48015873015873e-05
        p = p * r + 0.0001984126984126984
        p = p * r + 0.001388888888888889
        p = p * r + 0.008333333333333333
        p = p * r + 0.041666666666666664
        p = p * r + 0.16666666666666666
        p = p * r + 0.5
        p = p * r + 1.0
        p = p * r + 1.0
        bits = np.float64(p).view(np.int64) + (np.float64(shifted).view(np.int64) << np.int64(52))
        out[j] = np.int64(bits).view(np.float64)


@njit(fastmath=ENTRIES)
def entropy_mirror(
    radius: float, z: Vector, top: float, beta: float, w: Vector, has_zero: bool
) -> None:
    """Set w to the mirror image of z for the entropy on a simplex; see `Entropy.mirror`.

    The argument `top` is the largest entry of −z. If `has_zero` is True, the domain is the full
    simplex.
    """
    factor = 1.0 / beta
    rest = 0.0
    # The full simplex has an additional entry of v; see `Entropy`.
    if has_zero:
        top = max(top, 0.0)
        rest = math.exp(-top * factor)
    _exponentials(z, -1.0, top, factor, w)
    scale(w, radius / (total(w) + rest))


@njit(fastmath=ENTRIES)
def entropy_mirror_of_signs(
    radius: float, z: Vector, top: float, beta: float, w: Vector, spare: Vector
) -> None:
    """Set w to the mirror image of z for the entropy on the l1 ball; see `Entropy.mirror`.

    The argument `top` is the largest absolute entry of z. The array `spare` has the size of w and
    is overwritten.
    """
    factor = 1.0 / beta
    _exponentials(z, -1.0, top, factor, w)
    _exponentials(z, 1.0, top, factor, spare)
    both = total(w) + total(spare)
    for j in range(z.size):
        w[j] -= spare[j]
    scale(w, radius / both)
