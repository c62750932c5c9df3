"""Interval arithmetic on arrays of doubles, with endpoints rounded outwards.

Proved bounds are evaluated in interval arithmetic and need no separate analysis of rounding errors.
The four operations and the square root are correctly rounded (IEEE 754). The errors of NumPy's exp,
log, log1p and expm1 are assumed to be at most four units in the last place. NumPy's tests check
this bound. The ball arithmetic of certificates does not need this assumption.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost._core.rounding import UNIT, float_down, float_up

LIBRARY_ULPS = 4.0
"""The assumed error bound of NumPy's exp, log, log1p and expm1, in units in the last place."""

_RELATIVE = LIBRARY_ULPS * 2.0 * UNIT
_UNDERFLOW = LIBRARY_ULPS * math.ulp(0.0)


def _below(x: Any) -> Any:
    return np.nextafter(x, -np.inf)


def _above(x: Any) -> Any:
    return np.nextafter(x, np.inf)


def _product(x: Any, y: Any) -> Any:
    with np.errstate(invalid="ignore", over="ignore"):
        return np.where((x == 0.0) | (y == 0.0), 0.0, x * y)


class Interval:
    """An interval [lower, upper] that contains an unknown number, or an array of such intervals.

    Parameters
    ----------
    lower, upper : float or array
        The endpoints, as scalars or as arrays of the same shape. If `upper` is omitted, it equals
        `lower`. A Fraction is rounded downwards for `lower`, and upwards for `upper`.

    Examples
    --------
    >>> from relaxboost.relaxations import Interval
    >>> third = Interval(1.0) / 3.0
    >>> bool(third.lower < third.upper)
    True
    """

    # With this attribute NumPy passes array * Interval on to `__rmul__`.
    __array_ufunc__ = None

    def __init__(self, lower: Any, upper: Any = None) -> None:
        if isinstance(lower, Fraction):
            lower, upper = float_down(lower), float_up(lower if upper is None else upper)
        self.lower: Any = np.asarray(lower, dtype=np.float64)
        self.upper: Any = self.lower if upper is None else np.asarray(upper, dtype=np.float64)

    def __repr__(self) -> str:
        return f"Interval({self.lower}, {self.upper})"

    def __getitem__(self, index: Any) -> Interval:
        return Interval(self.lower[index], self.upper[index])

    def __neg__(self) -> Interval:
        return Interval(-self.upper, -self.lower)

    def __add__(self, other: Any) -> Interval:
        other = enclose(other)
        return Interval(_below(self.lower + other.lower), _above(self.upper + other.upper))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Interval:
        return self + (-enclose(other))

    def __rsub__(self, other: Any) -> Interval:
        return enclose(other) + (-self)

    def __mul__(self, other: Any) -> Interval:
        # Infinite endpoints are limits, so 0·∞ = 0. A product that overflows has an infinite bound.
        other = enclose(other)
        a, b, c, d = self.lower, self.upper, other.lower, other.upper
        try:
            with np.errstate(invalid="raise", over="ignore"):
                corners = np.broadcast_arrays(a * c, a * d, b * c, b * d)
        except FloatingPointError:
            corners = np.broadcast_arrays(*(_product(x, y) for x in (a, b) for y in (c, d)))
        return Interval(_below(np.minimum.reduce(corners)), _above(np.maximum.reduce(corners)))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Interval:
        # The result contains the quotients by all nonzero numbers in the divisor. If zero is an
        # endpoint of the divisor, it is a half-line, such as [1, 2]/[0, 1] = [1, ∞]. If zero is in
        # the interior, it is the whole line.
        other = enclose(other)
        low, high = other.lower, other.upper
        if not ((low <= 0.0) & (high >= 0.0)).any():
            return self * Interval(_below(1.0 / high), _above(1.0 / low))
        only_zero = (low == 0.0) & (high == 0.0)
        with np.errstate(divide="ignore"):
            least, most = _below(1.0 / high), _above(1.0 / low)
        least = np.where(((low < 0.0) & (high >= 0.0)) | only_zero, -np.inf, least)
        most = np.where(((low <= 0.0) & (high > 0.0)) | only_zero, np.inf, most)
        return self * Interval(least, most)

    def __rtruediv__(self, other: Any) -> Interval:
        return enclose(other) / self

    def positive(self) -> Interval:
        """Return the interval of max(x, 0) for x in this interval."""
        return Interval(np.maximum(self.lower, 0.0), np.maximum(self.upper, 0.0))

    def abs(self) -> Interval:
        """Return the interval of |x| for x in this interval."""
        low = np.where(
            (self.lower <= 0.0) & (self.upper >= 0.0),
            0.0,
            np.minimum(np.abs(self.lower), np.abs(self.upper)),
        )
        return Interval(low, np.maximum(np.abs(self.lower), np.abs(self.upper)))

    def square(self) -> Interval:
        """Enclose x² for every x in this interval. The lower endpoint is at least 0."""
        size = self.abs()
        return size * size

    def sqrt(self) -> Interval:
        """Enclose the square root of every x in this interval. Negative numbers count as 0."""
        x = self.positive()
        return Interval(np.maximum(_below(np.sqrt(x.lower)), 0.0), _above(np.sqrt(x.upper)))

    def exp(self) -> Interval:
        """Enclose e^x for every x in this interval."""
        with np.errstate(over="ignore", under="ignore"):
            low, high = np.exp(self.lower), np.exp(self.upper)
            return Interval(
                # If e^x overflows, `_below` returns a finite lower endpoint.
                np.maximum(_below(low * (1.0 - _RELATIVE)) - _UNDERFLOW, 0.0),
                _above(high * (1.0 + _RELATIVE)) + _UNDERFLOW,
            )

    def log(self) -> Interval:
        """Enclose the natural logarithm of every x in this interval.

        Negative numbers count as 0, whose logarithm is −inf.
        """
        x = self.positive()
        with np.errstate(divide="ignore"):
            low, high = np.log(x.lower), np.log(x.upper)
        return Interval(
            _below(low - _RELATIVE * np.where(low > -np.inf, np.abs(low), 0.0)),
            _above(high + _RELATIVE * np.where(high > -np.inf, np.abs(high), 0.0)),
        )

    def expm1(self) -> Interval:
        """Enclose e^x − 1 for every x in this interval."""
        return self._near(np.expm1)

    def log1p(self) -> Interval:
        """Enclose log(1 + x) for every x in this interval.

        The logarithm is −inf for x <= −1.
        """
        above = Interval(np.maximum(self.lower, -1.0), np.maximum(self.upper, -1.0))
        return above._near(np.log1p)

    def _near(self, function: Any) -> Interval:
        # The function is non-decreasing, and is 0 at 0.
        with np.errstate(over="ignore", divide="ignore"):
            low, high = function(self.lower), function(self.upper)
        off = [_RELATIVE * np.where(np.isfinite(x), np.abs(x), 0.0) for x in (low, high)]
        return Interval(_below(low - off[0]) - _UNDERFLOW, _above(high + off[1]) + _UNDERFLOW)

    def softplus(self) -> Interval:
        """Enclose log(1 + e^x) for every x in this interval, without overflow."""
        low, high = np.logaddexp(0.0, self.lower), np.logaddexp(0.0, self.upper)
        # NumPy computes an exponential, a log1p and a sum, and each has an error.
        slack = 4.0 * _RELATIVE
        return Interval(np.maximum(low * (1.0 - slack), 0.0), high * (1.0 + slack) + _UNDERFLOW)

    def power(self, exponent: Fraction | float) -> Interval:
        """Enclose the given power of every x in this interval.

        Negative numbers count as 0. The exponent must be positive.
        """
        if exponent == 1:
            return self.positive()
        if exponent == 2:
            return self.positive().square()
        if 2 * exponent == 1:
            return self.sqrt()
        q = exponent if isinstance(exponent, Fraction) else Fraction(exponent)
        logarithm = self.log()
        with np.errstate(invalid="ignore"):
            result = (logarithm * Interval(q)).exp()
        zero_low, zero_high = self.lower <= 0.0, self.upper <= 0.0
        return Interval(
            np.where(zero_low, 0.0, result.lower), np.where(zero_high, 0.0, result.upper)
        )

    def sum(self) -> Interval:
        """Enclose the sum of an array of intervals. Each endpoint is rounded only once."""
        if not (np.isfinite(self.lower).all() and np.isfinite(self.upper).all()):
            return Interval(-np.inf, np.inf) if self.lower.min() < 0 else Interval(0.0, np.inf)
        try:
            low, high = math.fsum(self.lower.tolist()), math.fsum(self.upper.tolist())
        except OverflowError:
            return Interval(-np.inf, np.inf)
        return Interval(_below(low), _above(high))

    def max(self) -> Interval:
        """Return the interval of the maximum of an array of intervals."""
        return Interval(self.lower.max(), self.upper.max())

    def min(self) -> Interval:
        """Return the interval of the minimum of an array of intervals."""
        return Interval(self.lower.min(), self.upper.min())

    @property
    def middle(self) -> Any:
        """The midpoint, computed in double precision."""
        with np.errstate(over="ignore"):
            return 0.5 * (self.lower + self.upper)

    @property
    def down(self) -> float:
        """The lower endpoint of a scalar interval as a float.

        If the endpoint is nan, this property is −inf, which is always a valid lower bound.
        """
        value = float(self.lower)
        return value if not math.isnan(value) else -math.inf

    @property
    def up(self) -> float:
        """The upper endpoint of a scalar interval as a float.

        If the endpoint is nan, this property is inf, which is always a valid upper bound.
        """
        value = float(self.upper)
        return value if not math.isnan(value) else math.inf


def enclose(x: Any) -> Interval:
    """Convert a number or an array to an `Interval`, whose width is zero for doubles.

    A fraction is enclosed by the nearest doubles. An `Interval` is returned unchanged.
    """
    return x if isinstance(x, Interval) else Interval(x)
