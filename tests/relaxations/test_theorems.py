"""SS09's identities, each on random instances: soft margins, Cor. 5, L. 8, Ex. 1 and 2.

The sides are evaluated here, with NumPy alone, wherever that can be done; the package's own bounds
are never the judge of the package.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog

import relaxboost as rb
from relaxboost.claims import check_conditions, hinge_form
from tests.conformance.families import FAMILIES
from tests.twins import average_of_smallest


def maximum(function, low, high):
    """Return the maximum of a concave function that is -inf, if anywhere, to the right."""
    golden = (math.sqrt(5.0) - 1.0) / 2.0
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(65):
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = function(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = function(left)
    return function(low)


def soft_margin(u, k):
    """Return max over γ of γ − (1/k) Σ [γ − u]_+, attained at one of the margins."""
    return max(g - float(np.maximum(g - u, 0.0).sum()) / k for g in u)


def random_game(rng, m):
    n = int(rng.integers(2, 6))
    return rng.choice([-1.0, 1.0], (m, n)) if rng.random() < 0.3 else rng.uniform(-1, 1, (m, n))


def test_soft_margin_identity():
    """AvgMin_k(u) = min <d, u> over the capped simplex = the soft margin, k whole or not."""
    rng = np.random.default_rng(3)
    for case in range(300):
        m = int(rng.integers(1, 13))
        k = float(rng.integers(1, m + 1)) if case % 2 else float(rng.uniform(1, m))
        u = rng.choice([-0.5, 0.0, 0.25], m) if case % 5 == 0 else rng.uniform(-1, 1, m)
        average = float(average_of_smallest(u, k))
        assert soft_margin(u, k) == pytest.approx(average, abs=1e-14)
        capped = linprog(u, A_eq=np.ones((1, m)), b_eq=[1.0], bounds=(0.0, 1.0 / k + 1e-16))
        assert capped.fun == pytest.approx(average, abs=1e-9)
        assert rb.Capped(k).relaxed_margin(u)[0] == pytest.approx(average, abs=1e-14)


def edge_side(A, k):
    """Return min over capped d of max_j |(Aᵀd)_j|, as a linear program in (d, t)."""
    m, n = A.shape
    rows = np.vstack([np.hstack([s * A.T, -np.ones((n, 1))]) for s in (1.0, -1.0)])
    total = np.append(np.ones(m), 0.0)[None]
    bounds = [(0.0, 1.0 / k + 1e-16)] * m + [(0.0, None)]
    return linprog(np.eye(m + 1)[m], rows, np.zeros(2 * n), total, [1.0], bounds).fun


def margin_side(A, k):
    """Return max over ‖w‖_1 <= 1, γ and ξ >= γ − Aw of γ − (1/k) Σ ξ, and its w."""
    m, n = A.shape
    cost = np.concatenate([np.zeros(2 * n), [-1.0], np.full(m, 1.0 / k)])
    rows = np.hstack([-A, A, np.ones((m, 1)), -np.eye(m)])
    size = np.concatenate([np.ones(2 * n), np.zeros(m + 1)])[None]
    bounds = [(0.0, None)] * (2 * n) + [(None, None)] + [(0.0, None)] * m
    found = linprog(cost, np.vstack([rows, size]), np.append(np.zeros(m), 1.0), bounds=bounds)
    return -found.fun, found.x[:n] - found.x[n : 2 * n]


def test_corollary_5_on_random_games():
    """Least edge over capped d = largest soft margin = largest mean of the k smallest margins."""
    rng = np.random.default_rng(5)
    for case in range(200):
        m = int(rng.integers(1, 9))
        k = float(rng.integers(1, m + 1)) if case % 2 else float(rng.uniform(1, m))
        A = random_game(rng, m)
        edge, (margin, w) = edge_side(A, k), margin_side(A, k)
        assert margin == pytest.approx(edge, abs=1e-9)
        assert float(average_of_smallest(A @ w, k)) == pytest.approx(edge, abs=1e-9)
        if case % 20 == 0:
            solution = rb.solve(rb.Game(A, rb.Capped(k)), tol=1e-6)
            assert solution.lower - 1e-9 <= edge <= solution.upper + 1e-9


def claims_all(make):
    traits = make(6).resolve(6).traits
    return traits.monotone and traits.zero_minimum and traits.zero_in_core


MEET = {name: make for name, make in FAMILIES if claims_all(make)}
BREAK = {name: make for name, make in FAMILIES if not make(6).resolve(6).traits.monotone}
SLOW = {"polyhedral f + g"}
"""Families whose conjugate is a program of its own; tests/claims has the sums."""


@pytest.mark.parametrize("name", [name for name in MEET if name not in SLOW])
def test_lemma_8_and_theorem_7_of_every_family_that_meets_the_conditions(name):
    """F(u) = max over γ of γ − f*([γ − u]_+), and no d has a smaller edge side at any w."""
    rng = np.random.default_rng(8)
    for _ in range(10):
        m = int(rng.integers(2, 8))
        f, A = MEET[name](m).resolve(m), random_game(rng, m)
        u = A @ (rng.dirichlet(np.ones(A.shape[1])) * rng.choice([-1, 1], A.shape[1]))
        value, d = f.relaxed_margin(u)

        def hinge(gamma, u=u, f=f):
            return gamma - f.conjugate(np.maximum(gamma - u, 0.0))

        assert maximum(hinge, u.min(), u.min() + 30.0) == pytest.approx(value, abs=1e-8)
        for other in (d, f.center(m), f.repair(rng.dirichlet(np.ones(m)))):
            assert value <= f.penalty(other) + np.abs(A.T @ other).max() + 1e-12


@pytest.mark.parametrize("name", [name for name in MEET if name not in SLOW])
def test_theorem_7_at_the_optimum_of_every_family_that_meets_the_conditions(name):
    """A w and a d whose two sides agree: both are optimal, and the theorem's equality holds."""
    rng = np.random.default_rng(7)
    for m in (3, 6):
        A = random_game(rng, m)
        solution = rb.solve(rb.Game(A, MEET[name](m)), tol=1e-6)
        f, u = solution.game.relaxation, A @ solution.w
        side = maximum(
            lambda g, u=u, f=f: g - f.conjugate(np.maximum(g - u, 0.0)), u.min(), u.min() + 30.0
        )
        edges = f.penalty(solution.d) + np.abs(A.T @ solution.d).max()
        assert side == pytest.approx(edges, abs=2e-6)


@pytest.mark.parametrize("penalty", [False, True], ids=["Example 1", "Example 2"])
@pytest.mark.parametrize("p", [1, 1.5, 2, 3, math.inf])
def test_examples_1_and_2_hold_for_orthant_monotone_norms(p, penalty):
    """min ‖Aᵀd‖_∞ (+ ν‖d‖) = max γ − ν‖[γ − Aw]_+‖_* (resp. subject to ‖[γ − Aw]_+‖_* <= ν)."""
    rng = np.random.default_rng(12)
    q = math.inf if p == 1 else 1.0 if p == math.inf else p / (p - 1.0)
    for case in range(10):
        m = int(rng.integers(2, 7))
        a = rng.uniform(0.5, 2.0, m) if case % 2 else np.ones(m)
        least = 1.0 / np.linalg.norm(1.0 / a, q)
        nu = float(rng.uniform(0.1, 1.0) if penalty else least * rng.uniform(1.02, 1.5))
        make = rb.NormPenalty if penalty else rb.NormBall
        A = random_game(rng, m)
        solution = rb.solve(rb.Game(A, make(p, nu, a)), 1e-7, "lpboost")
        u, d = A @ solution.w, solution.d
        size = float(np.linalg.norm(a * d, p))
        edge = float(np.abs(A.T @ d).max()) + (nu * size if penalty else 0.0)
        assert penalty or size <= nu * (1.0 + 1e-12)

        def side(gamma, u=u, a=a, nu=nu):
            dual = float(np.linalg.norm(np.maximum(gamma - u, 0.0) / a, q))
            if penalty:
                return gamma if dual <= nu else -math.inf
            return gamma - nu * dual

        assert maximum(side, u.min(), u.min() + 60.0) == pytest.approx(edge, abs=2e-7)


A21 = np.array([[0.0], [1.0]])
ROOT = np.linalg.cholesky(np.array([[1.0, -5 / 8], [-5 / 8, 1.0]])).T


def best_hinge(f, A):
    """Return the largest hinge form of a game with one hypothesis."""
    return max(hinge_form(f, A[:, 0] * w) for w in np.linspace(-1.0, 1.0, 21))


def test_the_ellipsoid_norm_of_example_1_in_closed_form():
    """‖d‖² = d·M d with M = [[1, −5/8], [−5/8, 1]]: the paper's side is 1 − 5/√39, not 1/4."""
    game = rb.Game(A21, rb.relaxations.MahalanobisBall(ROOT, 0.625))
    for solution in (rb.reference(game), rb.solve(game, tol=1e-9)):
        assert (solution.lower, solution.upper) == pytest.approx((0.25, 0.25), abs=1e-8)
    assert best_hinge(game.relaxation, A21) == pytest.approx(1.0 - 5.0 / math.sqrt(39.0), abs=1e-7)
    assert check_conditions(game.relaxation, 2).monotone.verdict == "fails"


def test_the_hard_margin_through_theorem_7():
    """f = I of the simplex breaks (ii) and (iii), at θ = −1 < f*(0) = 0; its f* is max θ."""

    def simplex(d):
        import cvxpy as cp

        return 0.0, [d >= 0, cp.sum(d) == 1]

    f = rb.Custom(simplex).resolve(3)
    conditions = check_conditions(f, 3)
    assert [c.verdict for c in conditions][1:] == ["fails", "fails"]
    assert f.conjugate(np.full(3, -1.0)) == pytest.approx(-1.0, abs=1e-8)
    assert f.conjugate(np.zeros(3)) == pytest.approx(0.0, abs=1e-8)
    u = np.array([0.3, -0.2, 0.5])  # and yet the conclusion of the theorem holds
    assert hinge_form(f, u) == pytest.approx(-0.2, abs=1e-7)
    assert f.relaxed_margin(u)[0] == pytest.approx(-0.2, abs=1e-7)


def closed_forms():
    """Relaxations on two examples with ρ and the hinge form of the game [[0], [1]], by hand."""
    c = 0.5
    kl = -c * math.log(0.5 + 0.5 * math.exp(-1.0 / c)), c * math.log(2.0) - 0.5 * c
    p = np.array([0.25, 0.75])
    tilted = (
        -c * math.log(p[0] + p[1] * math.exp(-1.0 / c)),
        # The slope 1 − p_1 e^{γ/c} − p_2 e^{(γ − 1)/c} is zero in [0, 1].
        c * math.log(1.0 / p[0]) - c * (1.0 - p[0]),
    )
    entropy = (
        2.0 * c * (math.log(2.0) - math.log1p(math.exp(-0.5 / c))),
        1.0 - c * math.log(0.5 + 0.5 * math.exp(1.0 / c)),
    )
    return {
        "KL": (rb.KLPenalty(c), *kl),
        "KL, prior": (rb.KLPenalty(c, p), *tilted),
        "binary entropy": (rb.BinaryEntropy(1, c), *entropy),
        # c (d − π)²/π costs c t²/(π_1 π_2) for a shift t, best at π_1 π_2 / (2c) = 3/16.
        "chi-square, prior": (rb.relaxations.ChiSquarePenalty(c, p), 0.75 - 3 / 32, 0.75 - 0.125),
    }


@pytest.mark.parametrize("name", closed_forms())
def test_the_hinge_form_is_wrong_for_divergences(name):
    """On [[0], [1]], and ρ is right."""
    f, rho, hinge = closed_forms()[name]
    game = rb.Game(A21, f)
    for solution in (rb.reference(game), rb.solve(game, tol=1e-8)):
        assert (solution.lower, solution.upper) == pytest.approx((rho, rho), abs=1e-7)
    assert best_hinge(f, A21) == pytest.approx(hinge, abs=1e-7)
    assert hinge < rho - 0.03


@pytest.mark.parametrize("name", BREAK)
def test_families_that_do_not_claim_condition_iii_break_it(name):
    """With a witness; the user's own may meet it unproved. The hinge form never exceeds F(u)."""
    rng = np.random.default_rng(11)
    f = BREAK[name](4).resolve(4)
    verdict = check_conditions(f, 4).monotone
    searched = isinstance(f, rb.Custom) and not f.traits.polyhedral
    assert verdict.verdict == ("undecided" if searched else "fails")
    u = rng.uniform(-1, 1, 4)
    assert hinge_form(f, u) <= f.relaxed_margin(u)[0] + 1e-6


def test_chi_square_about_uniform_is_a_norm_ball_on_the_simplex_only():
    """Σ (d − 1/m)² m = m ‖d‖² − 1 there, so ρ is one; off it the conditions tell them apart."""
    rng = np.random.default_rng(13)
    for _ in range(12):
        m = int(rng.integers(2, 8))
        A, r = random_game(rng, m), float(rng.uniform(0.05, 0.9)) * (m - 1)
        chi, norm = rb.relaxations.ChiSquareBall(r), rb.NormBall(2, math.sqrt((1.0 + r) / m))
        u = rng.uniform(-1, 1, m)
        assert chi.relaxed_margin(u)[0] == pytest.approx(norm.relaxed_margin(u)[0], abs=1e-11)
        one, other = (rb.solve(rb.Game(A, f), tol=1e-7) for f in (chi, norm))
        assert one.lower <= other.upper + 1e-12
        assert other.lower <= one.upper + 1e-12
        assert one.d @ one.d * m - 1.0 <= r + 1e-9
    for radius, m in ((0.7, 4), (2.0, 5)):
        norm = rb.NormBall(2, math.sqrt((1.0 + radius) / m))
        assert [c.verdict for c in check_conditions(norm, m)] == ["holds"] * 3
        assert check_conditions(rb.relaxations.ChiSquareBall(radius), m).monotone.verdict == "fails"
        assert check_conditions(rb.relaxations.ChiSquareBall(radius), m).core.verdict == (
            "holds" if radius > 1 else "fails"
        )
