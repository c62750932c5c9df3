"""The bracket holds: for any A, d and w, lower <= ρ <= upper against an exact optimum."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import relaxboost as rb
from tests.twins import exact_game_value

entries = st.one_of(
    st.sampled_from([-1.0, 0.0, 1.0, 0.5, -1 / 3, 0.1, 1e-17]), st.floats(-1, 1, width=32)
)
anything = st.one_of(
    st.floats(-2, 2), st.floats(-1e300, 1e300), st.sampled_from([0.0, 1.0, 1 / 3, 0.1, 5e-324])
)


@st.composite
def games(draw):
    m, n = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    A = draw(hnp.arrays(np.float64, (m, n), elements=entries))
    k = draw(
        st.one_of(st.none(), st.integers(1, m), st.floats(1, m), st.just(Fraction(2 * m + 1, 3)))
    )
    if k is not None and k > m:
        k = m
    d = draw(hnp.arrays(np.float64, m, elements=anything).filter(lambda d: (d > 0).any()))
    w = draw(hnp.arrays(np.float64, n, elements=anything))
    return A, k, d, w


def relaxation(k):
    return rb.HardMargin() if k is None else rb.Capped(k)


@settings(max_examples=1000)
@given(games())
def test_every_pair_brackets_the_exact_optimum(game_and_pair):
    A, k, d, w = game_and_pair
    exact = exact_game_value(A, k)
    lower, upper = rb.Game(A, relaxation(k)).bracket(d, w)
    assert Fraction(lower) <= exact <= Fraction(upper)


@settings(max_examples=300)
@given(games())
def test_the_linear_program_gives_a_bracket_of_solver_width(game_and_pair):
    """HiGHS is exact to its feasibility tolerance of 1e-10 only where A has entries that small."""
    A, k, _, _ = game_and_pair
    game = rb.Game(A, relaxation(k))
    exact = exact_game_value(A, k)
    sol = rb.solve(game, tol=1e-12, method="totally-corrective", inner="lp")
    assert Fraction(sol.lower) <= exact <= Fraction(sol.upper)
    assert sol.gap <= (1e-12 if sol.status == "optimal" else 1e-9)
    assert game.bracket(sol.d, sol.w) == (sol.lower, sol.upper)


def test_exact_twin_knows_textbook_games():
    """The twin itself, against closed forms."""
    assert exact_game_value(np.array([[1.0, -1.0], [-1.0, 1.0]])) == 0
    for n in (2, 3, 5):
        assert exact_game_value(np.eye(n)) == Fraction(1, n)
        assert exact_game_value(2 * np.eye(n) - 1) == Fraction(n - 2, n)
    A = np.array([[0.1, 0.9], [-0.6, 0.0]])
    assert float(exact_game_value(A)) == pytest.approx(27 / 80, abs=1e-15)
    assert exact_game_value(A, 2) == Fraction(0.9) / 2  # uniform d; the better single column


def test_the_bracket_is_no_wider_than_the_pair_is_bad(rng):
    """Perturbing an optimal pair by δ widens the bracket by at most 4δ."""
    A = rng.uniform(-1, 1, (30, 20))
    for relaxed in (rb.HardMargin(), rb.Capped(7.5)):
        game = rb.Game(A, relaxed)
        best = rb.solve(game, tol=1e-10, method="totally-corrective", inner="lp")
        for delta in (1e-9, 1e-6, 1e-3):
            d = best.d + delta * rng.uniform(-1, 1, 30) / 30
            w = best.w + delta * rng.uniform(-1, 1, 20) / 20
            lower, upper = game.bracket(d, w)
            assert lower <= best.upper
            assert upper >= best.lower
            assert upper - lower <= best.gap + 8 * delta


def test_forced_points_are_tight():
    """k = m leaves the uniform d only; its bound must not suffer from 1/m not being a double."""
    for m in (3, 7, 49):
        A = np.eye(m)
        lower, upper = rb.Game(A, rb.Capped(m)).bracket(np.full(m, 1 / m), np.eye(m)[0])
        assert Fraction(lower) <= Fraction(1, m) <= Fraction(upper)
        assert upper - lower <= 1e-13


def test_zero_weights_prove_zero():
    game = rb.Game(np.array([[1.0], [-1.0]]))
    assert game.bracket([1, 1], [0.0])[0] == 0.0


def test_huge_and_tiny_inputs_are_scaled_not_overflowed():
    game = rb.Game(np.eye(3), rb.Capped(1.5))
    for scale in (1e-320, 1e-300, 1.0, 1e300):
        lower, upper = game.bracket(np.full(3, scale), np.full(3, max(scale, 1.0)))
        assert lower <= 1 / 3 <= upper
        assert upper - lower <= 1e-12
