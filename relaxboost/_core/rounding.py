"""Directed rounding, on which all proved bounds depend.

All bounds are valid for IEEE double precision with rounding to nearest, for sums in any order, and
with or without fused multiply-add (Higham 2002, Sec. 3.1).
"""

from __future__ import annotations

import math
import sys
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.compiled import njit
from relaxboost._core.parameters import nearest

# The computation must not depend on the decimal context of the caller. 400 digits suffice for
# doubles of the usual size.
_EXACT = Context(prec=400)

SOLVER_ERROR = 1e-6
# Solvers stop at tolerances of 1e-8 to 1e-10, but some of their errors are larger than that.
"""The assumed relative error of a cone solver's result."""
RELATIVE_ROUNDING = 1e-12
# About ten thousand units of roundoff: sums of thousands of terms have smaller errors. Proofs use
# the bound `roundoff` instead.
"""The assumed relative error of a short computation in doubles. Closer numbers count as equal."""
UNIT = 2.0**-53
"""The unit roundoff of double precision: the relative error bound of one operation."""
ROUNDINGS = 8.0 * UNIT
"""A bound on the relative error of a formula with at most eight roundings."""
MIN_NORMAL = sys.float_info.min
"""The smallest normal double. Smaller doubles have fewer digits."""
MIN_PRECISE = MIN_NORMAL / UNIT
"""The size, about 2e-292, above which an underflow changes a sum by at most one rounding error."""
MAX_SUMMABLE = sys.float_info.max * UNIT
"""A bound on the absolute value of terms. The sum of up to 2^53 such terms is finite."""
SOLVER_EXPONENT = 13
# Solvers lose digits if the numbers of a problem are huge. Larger values are divided by `price`.
"""The exponent of the bound 2^13 on the values that are passed to a general solver."""


def price(size: float) -> float:
    """Return the power of two that scales values of magnitude `size` for a general solver.

    Values are divided by the result. It is 1 if `size` is below 2^13 or not finite. Otherwise, the
    scaled size is at least 2^12 and less than 2^13.
    """
    return 2.0 ** max(math.frexp(size)[1] - SOLVER_EXPONENT, 0) if math.isfinite(size) else 1.0


def up(x: float) -> float:
    """Return the next double above `x`."""
    return math.nextafter(x, math.inf)


def down(x: float) -> float:
    """Return the next double below `x`."""
    return math.nextafter(x, -math.inf)


def roundoff(n: int) -> float:
    """Return an upper bound on Higham's γ_n = n·u / (1 − n·u), where u is the unit roundoff.

    If each term of a sum of products is rounded at most `n` times, the error of the sum is at most
    γ_n times the sum of absolute values.
    """
    if n <= 0:
        return 0.0
    nu = n * UNIT
    return up(up(nu / down(1.0 - nu)))


def float_up(q: Fraction) -> float:
    """Round a rational number upwards to a double."""
    x = nearest(q)
    if math.isinf(x):
        return x if x > 0.0 else up(x)
    return x if Fraction(x) >= q else up(x)


def float_down(q: Fraction) -> float:
    """Round a rational number downwards to a double."""
    x = nearest(q)
    if math.isinf(x):
        return x if x < 0.0 else down(x)
    return x if Fraction(x) <= q else down(x)


def sum_bounds(x: NDArray[np.float64]) -> tuple[float, float]:
    """Return two doubles that enclose the exact sum of a vector.

    They differ by at most two ulps, even for long vectors.
    """
    s = rounded_sum(x)
    return down(s), up(s)


@njit()
def _sum_twice(x: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return Σ x, the sum of its rounding errors (by Knuth's TwoSum), and Σ |x|."""
    total = lost = size = 0.0
    for i in range(x.shape[0]):
        new = total + x[i]
        part = new - total
        lost += (total - (new - part)) + (x[i] - part)
        total = new
        size += abs(x[i])
    return total, lost, size


def rounded_sum(x: NDArray[np.float64]) -> float:
    """Return a double whose two neighbours enclose the exact sum of `x`."""
    # `math.fsum` returns the nearest double, but takes forty times as long for many numbers. Here,
    # the rounding error of each addition is computed exactly, and the sum of these errors is added
    # to the result. The sum of the errors has itself an error of at most γ_n² Σ|x| (Ogita, Rump &
    # Oishi 2005, Sec. 4). If this bound is below 2^-55 times the result, it is at most half of the
    # distance to a neighbouring double. The last rounding error is also at most half of this
    # distance.
    result, lost, size = _sum_twice(np.ascontiguousarray(x, dtype=np.float64))
    result += lost
    if 1.01 * roundoff(x.size) ** 2 * size <= 2.0**-55 * abs(result) < math.inf:
        return result
    return math.fsum(x.tolist())


def norm_above(x: NDArray[np.float64]) -> float:
    """Return an upper bound on the Euclidean norm of `x`, a few ulps above it."""
    # The entries are scaled by a power of two, which is exact. After scaling, no square overflows,
    # and squares that underflow are below 2^-1072 times the largest square. A factor above 1 covers
    # these squares and all rounding errors.
    largest = float(np.abs(x).max(initial=0.0))
    if largest == 0.0:
        return 0.0
    exponent = math.frexp(largest)[1]
    scaled = np.ldexp(x, -exponent)
    squared = sum_bounds(scaled * scaled)[1] * (1.0 + 8.0 * UNIT)
    return up(math.ldexp(up(math.sqrt(squared)), exponent))


def show_bracket(lower: float, upper: float) -> tuple[str, str]:
    """Return the bounds as text with 4 to 12 decimals, rounded outwards."""
    gap = upper - lower
    places = 6
    if math.isfinite(gap):
        places = 12 if gap <= 0.0 else min(12, max(4, math.ceil(-math.log10(gap)) + 1))
    return _decimal(lower, places, ROUND_FLOOR), _decimal(upper, places, ROUND_CEILING)


def _decimal(x: float, places: int, direction: str) -> str:
    if not math.isfinite(x):
        return str(x)
    digits = Decimal(x).quantize(Decimal(1).scaleb(-places), direction, _EXACT)
    return f"{digits:f}"
