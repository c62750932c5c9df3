"""Directed rounding: the enclosures enclose."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from relaxboost._core import rounding

reals = st.floats(-1e6, 1e6)


@given(st.lists(reals, min_size=1, max_size=40))
def test_sum_bounds_enclose_the_exact_sum(xs):
    low, high = rounding.sum_bounds(np.array(xs))
    assert low <= sum(map(Fraction, xs)) <= high
    assert high <= np.nextafter(np.nextafter(np.nextafter(low, np.inf), np.inf), np.inf)


def test_the_sum_of_many_numbers_is_as_good(rng):
    """Also where they cancel, where they differ much in size, and where they are tiny or huge."""
    for n in (100, 103, 20_000, 20_003):
        normal = rng.normal(size=n)
        for x in (
            rng.dirichlet(np.ones(n)),
            normal,
            np.exp(30.0 * normal),
            np.full(n, 0.1),
            np.full(n, 2.0**-1074),
            normal * 1e300,
            np.append(normal, -normal),
            np.append(normal[1:] * 2.0**-60, 1.0),
        ):
            low, high = rounding.sum_bounds(x)
            assert low <= sum(map(Fraction, x.tolist())) <= high
            assert high == np.nextafter(np.nextafter(low, np.inf), np.inf)
    assert rounding.rounded_sum(np.full(100, np.inf)) == np.inf
    assert np.isnan(rounding.rounded_sum(np.full(100, np.nan)))


@given(st.fractions(max_denominator=10**9))
def test_fractions_round_outwards_to_neighbours(q):
    low, high = rounding.float_down(q), rounding.float_up(q)
    assert low <= q <= high
    assert low == high or high == np.nextafter(low, np.inf)


def test_gamma_bounds_the_exact_quotient():
    for n in (1, 2, 10, 569, 10**6, 10**9):
        exact = Fraction(n, 2**53) / (1 - Fraction(n, 2**53))
        assert exact <= rounding.roundoff(n) <= exact * (1 + Fraction(1, 2**50))
    assert rounding.roundoff(0) == 0.0


def test_gamma_covers_the_worst_rounding_seen(rng):
    for m in (3, 50, 500):
        for _ in range(100):
            a, d = rng.uniform(-1, 1, m), rng.dirichlet(np.ones(m))
            exact = sum(
                Fraction(x) * Fraction(y) for x, y in zip(a.tolist(), d.tolist(), strict=True)
            )
            error = abs(Fraction(float(a @ d)) - exact)
            assert error <= rounding.roundoff(m) * sum(map(Fraction, np.abs(a * d).tolist()))


@given(st.floats(-1, 1), st.floats(0, 1))
def test_printed_brackets_hold(lower, width):
    upper = min(1.0, lower + width)
    low, high = rounding.show_bracket(lower, upper)
    assert Fraction(low) <= Fraction(lower) <= Fraction(upper) <= Fraction(high)
    assert Fraction(high) - Fraction(low) <= Fraction(upper) - Fraction(lower) + Fraction(1, 4000)


def test_infinite_brackets_are_printed():
    assert rounding.show_bracket(0.25, np.inf) == ("0.250000", "inf")
    assert rounding.show_bracket(0.0, 1e-13) == ("0.000000000000", "0.000000000001")


def test_printing_does_not_depend_on_the_callers_decimals():
    from decimal import localcontext

    with localcontext() as context:
        context.prec = 6
        low, high = rounding.show_bracket(0.123456789, 0.1234567891)
    assert (low, high) == ("0.12345678899", "0.12345678911")
