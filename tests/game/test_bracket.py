"""The bracket holds: for any A, d and w, lower <= ρ <= upper against an exact optimum."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import relaxboost as rb
from relaxboost.game.bounds import evaluate_lower, evaluate_upper
from relaxboost.solvers import LPBoost
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


@settings(max_examples=300)
@given(games())
def test_every_pair_brackets_the_exact_optimum(game_and_pair):
    A, k, d, w = game_and_pair
    exact = exact_game_value(A, k)
    lower, upper = rb.Game(A, relaxation(k)).bracket(d, w)
    assert Fraction(lower) <= exact <= Fraction(upper)


@settings(max_examples=100)
@given(games())
def test_the_linear_program_gives_a_bracket_of_solver_width(game_and_pair):
    """Where A mixes entries below 1e-6 with others, HiGHS keeps to its tolerances, not to this."""
    A, k, _, _ = game_and_pair
    game = rb.Game(A, relaxation(k))
    exact = exact_game_value(A, k)
    sol = rb.solve(game, tol=1e-12, method=LPBoost())
    assert Fraction(sol.lower) <= exact <= Fraction(sol.upper)
    mixed = np.any((A != 0) & (np.abs(A) < 1e-6))
    assert sol.gap <= (1e-12 if sol.status == "optimal" else 1e-6 if mixed else 1e-9)
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
        best = rb.solve(game, tol=1e-10, method=LPBoost())
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
    for scale in (1e-320, 1e-300, 1.0, 1e300, 1e308):
        lower, upper = game.bracket(np.full(3, scale), np.full(3, max(scale, 1.0)))
        assert lower <= 1 / 3 <= upper
        assert upper - lower <= 1e-12


def exact_margins(A, w):
    rows = [[Fraction(a) for a in row] for row in A.tolist()]
    weights = [Fraction(x) for x in w.tolist()]
    return [sum(a * x for a, x in zip(row, weights, strict=True)) for row in rows]


class TestEachTermIsNeeded:
    """Every term of the error analysis alone, in exact arithmetic, where leaving it out shows."""

    def test_rounding_of_edges(self, rng):
        naive_fails = 0
        for _ in range(40):
            a = rng.uniform(0.3, 1.0, (1_501, 1))
            d = rng.dirichlet(np.ones(1_501))
            weights = [Fraction(x) for x in d.tolist()]
            entries = map(Fraction, a[:, 0].tolist())
            exact = sum(x * y for x, y in zip(entries, weights, strict=True)) / sum(weights)
            matrix = rb.matrices.DenseMatrix(a)
            assert Fraction(evaluate_upper(matrix, rb.HardMargin(), d)) >= exact
            naive_fails += Fraction(matrix.best(d).edge) < exact
        assert naive_fails > 0

    def test_rounding_of_stump_edges(self, rng):
        """A stump's edge is a difference of prefix sums: more roundings than a dot product."""
        naive_fails = 0
        X = rng.normal(size=(901, 1))
        y = np.where(rng.random(901) < 0.8, 1.0, -1.0)
        matrix = rb.matrices.stumps(X, y)
        columns = matrix.toarray()
        for _ in range(10):
            d = rng.dirichlet(np.ones(901) * 0.3)
            weights = [Fraction(x) for x in d.tolist()]
            best = matrix.best(d)
            exact = abs(
                sum(int(x) * w for x, w in zip(columns[:, best.id].tolist(), weights, strict=True))
            ) / sum(weights)
            assert Fraction(evaluate_upper(matrix, rb.HardMargin(), d)) >= exact
            naive_fails += Fraction(best.edge) < exact
        assert naive_fails > 0

    def test_rounding_of_margins(self, rng):
        naive_fails = 0
        for _ in range(40):
            A = rng.uniform(0.3, 1.0, (1, 400))
            w = rng.dirichlet(np.ones(400)) * 0.999
            (exact,) = exact_margins(A, w)
            matrix = rb.matrices.DenseMatrix(A)
            lower, _ = evaluate_lower(matrix, rb.HardMargin(), np.arange(400), w)
            assert Fraction(lower) <= exact
            naive_fails += Fraction(float(matrix.margins(range(400), w)[0])) > exact
        assert naive_fails > 0

    @pytest.mark.parametrize("norm", [1.0 + 1e-12, 1.001, 1.5])
    def test_weights_outside_the_ball(self, norm):
        matrix = rb.matrices.DenseMatrix(np.array([[1.0]]))
        lower, _ = evaluate_lower(matrix, rb.HardMargin(), np.array([0]), np.array([norm]))
        assert 1.0 - 1e-9 <= lower <= 1.0

    @pytest.mark.parametrize("total", [0.5, 0.999, 1.0 + 1e-12])
    def test_d_that_does_not_sum_to_one(self, total):
        matrix = rb.matrices.DenseMatrix(np.eye(2))
        upper = evaluate_upper(matrix, rb.HardMargin(), np.full(2, total / 2))
        assert 0.5 <= upper <= 0.5 + 1e-12

    @pytest.mark.parametrize("excess", [1e-13, 1e-3, 0.25])
    def test_d_above_the_cap(self, excess):
        """Moving the mass e above the cap costs up to 2e: attained on a row of opposite signs."""
        matrix = rb.matrices.DenseMatrix(np.array([[-1.0], [1.0]]))
        d = np.array([0.5 + excess, 0.5 - excess])
        upper = evaluate_upper(matrix, rb.Capped(2), d)  # the uniform d alone is feasible: ρ = 0
        assert 4 * excess <= upper <= 4 * excess + 1e-12

    def test_rounding_of_the_hinge_sum(self, rng):
        """γ − Σ/k is rounded down, with k as it is and not as a double."""
        for k in (Fraction(3), Fraction(10, 3), Fraction(2**60 + 1, 2**59)):
            f = rb.Capped(k)
            for _ in range(200):
                u = rng.uniform(-1, 1, 7)
                gamma = f.witness(u).gamma
                exact = (
                    Fraction(gamma)
                    - sum(max(Fraction(gamma) - Fraction(x), Fraction(0)) for x in u.tolist()) / k
                )
                bound = Fraction(f.lower_bound(u, rb.relaxations.Witness(gamma)))
                assert exact - Fraction(1, 10**14) <= bound <= exact

    def test_underflow(self):
        """Products of denormal weights vanish one by one; their errors add up (ρ = 0)."""
        B = np.array([[0.625, -0.875], [-0.46875, 0.65625]])
        A = np.hstack([np.repeat(B[:, :1], 100, 1), np.repeat(B[:, 1:], 50, 1)])
        lower, upper = rb.Game(A).bracket([3 / 7, 4 / 7], np.full(150, 5e-324))
        assert lower <= 0.0 <= upper


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64])
def test_numpy_integers_are_numbers_like_others(kind, rng):
    """Fractions of NumPy integers would wrap at 64 bits and prove what is false."""
    for _ in range(50):
        A = np.round(rng.uniform(-1, 1, (7, 2)) * 8) / 8
        w = rng.uniform(-1, 1, 2)
        d = rng.dirichlet(np.ones(7))
        plain = rb.Game(A, rb.Capped(5)).bracket(d, w)
        assert rb.Game(A, rb.Capped(kind(5))).bracket(d, w) == plain
        assert rb.Game(A, rb.Capped(Fraction(kind(5), 1))).bracket(d, w) == plain
    assert type(rb.Capped(kind(5)).k.numerator) is int
