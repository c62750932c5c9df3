"""Interval arithmetic: every operation contains what fractions say, at any two points."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from relaxboost._core.intervals import Interval

INF = math.inf
DOUBLES = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    (0.0, -0.0, 5e-324, -5e-324, 1e308, 0.1, 1.0, -1.0)
)
SHARES = st.fractions(0, 1, max_denominator=9)


@st.composite
def intervals(draw):
    """Draw an interval and a point in it."""
    low, high = sorted((draw(DOUBLES), draw(DOUBLES)))
    share = draw(SHARES)
    return Interval(low, high), Fraction(low) + share * (Fraction(high) - Fraction(low))


def holds(interval, point):
    low, high = interval.lower.item(), interval.upper.item()
    assert not math.isnan(low)
    assert not math.isnan(high)
    assert low == -INF or Fraction(low) <= point
    assert high == INF or point <= Fraction(high)


@pytest.mark.filterwarnings("ignore:overflow")
@given(intervals(), intervals())
def test_the_four_operations_contain_the_exact_result(first, second):
    (a, x), (b, y) = first, second
    holds(a + b, x + y)
    holds(a - b, x - y)
    holds(a * b, x * y)
    if y:
        holds(a / b, x / y)


@pytest.mark.filterwarnings("ignore:overflow")
@given(intervals(), DOUBLES)
def test_numbers_are_intervals(drawn, number):
    (a, x), y = drawn, Fraction(number)
    holds(number + a, y + x)
    holds(number - a, y - x)
    holds(number * a, y * x)
    if x:
        holds(number / a, y / x)


@given(st.lists(st.floats(-30.0, 30.0) | st.floats(-1e-8, 1e-8), min_size=2, max_size=2))
def test_what_is_near_zero_contains_what_balls_say(ends):
    low, high = sorted(ends)
    grown, logarithm = Interval(low, high).expm1(), Interval(low, high).log1p()
    for x in (arb(low), arb(high)):
        assert arb(grown.lower.item()) <= x.expm1() <= arb(grown.upper.item())
        if x > -1:
            assert logarithm.lower == -INF or arb(logarithm.lower.item()) <= x.log1p()
            assert x.log1p() <= arb(logarithm.upper.item())
    assert low > -1.0 or logarithm.lower == -INF


def test_division_by_an_interval_with_zero_is_extended():
    ones = Interval(1.0, 2.0)
    half = ones / Interval(0.0, 2.0)
    assert half.lower == pytest.approx(0.5)
    assert half.lower <= 0.5
    assert half.upper == INF
    half = ones / Interval(-2.0, 0.0)
    assert half.lower == -INF
    assert half.upper == pytest.approx(-0.5)
    for divisor in (Interval(-1.0, 1.0), Interval(0.0), Interval(-0.0, 0.0)):
        for dividend in (ones, Interval(0.0), Interval(-1.0, 1.0)):
            quotient = dividend / divisor
            zero = dividend.upper == 0  # 0/y = 0 for every y ≠ 0
            if zero:
                assert abs(quotient.lower) <= 5e-324 >= quotient.upper
            else:
                assert (quotient.lower, quotient.upper) == (-INF, INF)


def test_division_is_by_elements():
    quotient = Interval(np.array([1.0, 1.0, 6.0])) / Interval(
        np.array([-1.0, 0.0, 2.0]), np.array([1.0, 4.0, 3.0])
    )
    assert quotient.lower[0] == -INF
    assert quotient.lower[1:] == pytest.approx([0.25, 2.0])
    assert (quotient.upper[:2] == INF).all()
    assert quotient.upper[2] == pytest.approx(3.0)
    assert quotient.lower[2] < 2.0
    assert quotient.upper[2] > 3.0


def test_zero_times_infinity_is_zero():
    product = Interval(0.0, 1.0) * Interval(2.0, INF)
    assert product.lower == pytest.approx(0.0, abs=1e-300)
    assert product.upper == INF
    product = Interval(np.zeros(2)) * Interval(-INF, INF)
    assert np.abs(product.lower).max() <= 5e-324
    assert np.abs(product.upper).max() <= 5e-324


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("exponent", [1.5, 2, 3.0, 3, Fraction(7, 2), 0.25])
def test_powers_of_zero_and_of_large_numbers_do_not_warn(exponent):
    found = Interval(np.array([0.0, 1e300]), np.array([0.0, 1e300])).power(exponent)
    assert -1e-300 < found.lower[0] <= 0.0 <= found.upper[0] < 1e-300
    assert 0.0 < found.lower[1] <= found.upper[1]
