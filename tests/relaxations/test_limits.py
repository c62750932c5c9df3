"""Where one relaxation becomes another: equal at the ends, as near as theory says on the way."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import xlogy

import relaxboost as rb
from relaxboost.relaxations import compiled
from tests.conformance.families import weights

U = np.array([0.3, -0.45, 0.1, 0.7, -0.4, 0.05, -0.9])
M = U.size
PRIOR = np.array([0.3, 0.05, 0.1, 0.2, 0.15, 0.1, 0.1])
VARIANCE = float(PRIOR @ U**2 - (PRIOR @ U) ** 2)
SPREAD = float(U.max() - U.min())


def games():
    """A game that can be classified, one that cannot, and one of ±1."""
    rng = np.random.default_rng(21)
    A = rng.uniform(-1, 1, (8, 5))
    yield A * np.sign(A @ np.array([0.3, 0.3, 0.2, 0.1, 0.1]))[:, None]
    yield np.vstack([A[:4], -A[:4] * rng.uniform(0.2, 1, (4, 1))])
    yield rng.choice([-1.0, 1.0], (9, 4))


GAMES = list(games())


def bracket(A, f):
    """Return a bracket of width 1e-6 at most."""
    solution = rb.solve(rb.Game(A, f), tol=1e-6)
    assert solution.gap <= 1e-6
    return solution.lower, solution.upper


def margin(f, u=U):
    return f.resolve(u.size).relaxed_margin(u)[0]


@pytest.mark.parametrize("A", GAMES, ids=["separable", "mirrored", "signs"])
@pytest.mark.parametrize("c", [1e-6, 1e-3, 0.1, 1.0, 30.0, 1e3])
def test_kl_penalty_is_between_the_hard_margin_and_the_uniform_edge(A, c):
    """hard <= ρ <= hard + c log m and (Hoeffding) edge − (2 max|A|)²/(8c) <= ρ <= edge."""
    m = A.shape[0]
    hard, edge = bracket(A, rb.HardMargin()), float(np.abs(A.mean(axis=0)).max())
    lower, upper = bracket(A, rb.KLPenalty(c))
    assert upper >= hard[0]
    assert lower <= hard[1] + c * math.log(m)
    assert upper >= edge - 0.5 / c
    assert lower <= edge + 1e-15


def test_divergence_penalties_tend_to_the_mean_as_their_weight_grows():
    mean = float(PRIOR @ U)
    for c in (30.0, 1e4, 1e8):
        value = margin(rb.KLPenalty(c, PRIOR))
        assert mean - SPREAD**2 / (8 * c) - 1e-15 * c <= value <= mean + 1e-15 * c
        # d = π (1 − (u − mean)/(2c)) is positive: the minimum is that over all of R^m.
        chi = margin(rb.relaxations.ChiSquarePenalty(c, PRIOR))
        assert chi == pytest.approx(mean - VARIANCE / (4 * c), abs=1e-14)
        second = mean - VARIANCE / (2 * c)  # φ''(1) = 1, so that all orders agree up to 1/c²
        for order in (0.5, 1.5, 3, 7):
            value = margin(rb.relaxations.PowerPenalty(order, c, PRIOR))
            assert value == pytest.approx(second, abs=2 * SPREAD**3 / c**2 + 1e-15 * c)


@pytest.mark.parametrize("c", [1e-12, 1e-6, 1e-3])
def test_divergence_penalties_tend_to_the_hard_margin_as_their_weight_vanishes(c):
    """min u <= F(u) <= min u + c D(e_i, π) for the i of the least margin."""
    i = int(U.argmin())
    p = float(PRIOR[i])
    for f, price in (
        (rb.KLPenalty(c, PRIOR), math.log(1 / p)),
        (rb.relaxations.ChiSquarePenalty(c, PRIOR), 1 / p - 1),
        (rb.relaxations.HellingerPenalty(c, PRIOR), 2 - 2 * math.sqrt(p)),
        (rb.relaxations.PowerPenalty(3, c, PRIOR), (p**-2 - 1) / 6),
    ):
        assert U[i] <= margin(f) + 1e-15
        assert margin(f) <= U[i] + c * price + 1e-15


def test_divergence_balls_reach_from_the_mean_to_the_hard_margin():
    """Pinsker: |F(u) − mean| <= spread √(r/2) for KL; every distance ends at the nearest vertex."""
    mean, p = float(PRIOR @ U), float(PRIOR[U.argmin()])
    for r in (1e-12, 1e-6, 1e-2):
        assert margin(rb.KLBall(r, PRIOR)) <= mean + 1e-14
        assert mean - margin(rb.KLBall(r, PRIOR)) <= SPREAD * math.sqrt(r / 2) + 1e-14
    for r in (1e-8, 1e-4, 1e-2):  # d = π (1 − t (u − mean)), Σ (d − π)²/π = t² variance
        value = margin(rb.relaxations.ChiSquareBall(r, PRIOR))
        assert value == pytest.approx(mean - math.sqrt(r * VARIANCE), abs=1e-15 / math.sqrt(r))
    for make, far in (
        (rb.KLBall, math.log(1 / p)),
        (rb.relaxations.ChiSquareBall, 1 / p - 1),
        (rb.relaxations.HellingerBall, 2 - 2 * math.sqrt(p)),
    ):
        assert margin(make(far * (1 + 1e-9), PRIOR)) == pytest.approx(U.min(), abs=1e-12)
        assert margin(make(far * 0.9, PRIOR)) > U.min() + 1e-3


def test_power_divergences_pass_through_chi_square_hellinger_and_kl():
    for c in (0.03, 0.4):
        twice = margin(rb.relaxations.HellingerPenalty(2 * c, PRIOR))
        assert margin(rb.relaxations.PowerPenalty(2, c, PRIOR)) == pytest.approx(
            margin(rb.relaxations.ChiSquarePenalty(c / 2, PRIOR)), abs=1e-13
        )
        assert margin(rb.relaxations.PowerPenalty(0.5, c, PRIOR)) == pytest.approx(twice, abs=1e-13)
        for order in (0.999, 1.001):
            near = margin(rb.relaxations.PowerPenalty(order, c, PRIOR))
            assert near == pytest.approx(margin(rb.KLPenalty(c, PRIOR)), abs=1e-3)
    assert margin(rb.relaxations.PowerBall(2, 0.1, PRIOR)) == pytest.approx(
        margin(rb.relaxations.ChiSquareBall(0.2, PRIOR)), abs=1e-13
    )


@pytest.mark.parametrize("A", GAMES, ids=["separable", "mirrored", "signs"])
def test_the_ends_of_capped(A):
    """Capped(1) is the hard margin; Capped(m) the best single hypothesis, alone in its support."""
    m = A.shape[0]
    hard, one = bracket(A, rb.HardMargin()), bracket(A, rb.Capped(1))
    assert max(hard[0], one[0]) <= min(hard[1], one[1])
    columns = [abs(sum(map(Fraction, column))) / m for column in A.T.tolist()]
    solution = rb.solve(rb.Game(A, rb.Capped(m)), tol=1e-12, method="lpboost")
    assert Fraction(solution.lower) <= max(columns) <= Fraction(solution.upper)
    assert solution.gap <= 1e-12
    assert list(solution.support) == [columns.index(max(columns))]


def test_capped_one_is_the_hard_margin_in_every_method():
    hard, one = rb.HardMargin(), rb.Capped(1)
    assert margin(one) == margin(hard) == U.min()
    for beta in (1e-9, 0.1, 10.0):
        assert one.distribution(U, beta) == pytest.approx(hard.distribution(U, beta), abs=1e-15)
    assert one.witness(U) == hard.witness(U)


@pytest.mark.parametrize("k", [1, 2, 3, 57, Fraction(7, 3), 2.5])
def test_the_max_norm_ball_is_capped(k):
    assert rb.NormBall(math.inf, Fraction(1, 1) / Fraction(k)) == rb.Capped(k)
    if isinstance(k, int):
        assert rb.NormBall(math.inf, 1 / k) == rb.Capped(k)
    A = np.random.default_rng(2).uniform(-1, 1, (60, 3))
    ball = rb.Game(A, rb.NormBall(math.inf, 1 / Fraction(k)))
    assert ball.digest == rb.Game(A, rb.Capped(k)).digest


@pytest.mark.parametrize("k", [1, 2, 3.5, M])
def test_balls_of_high_order_tend_to_capped(k):
    """‖d‖_inf <= ‖d‖_p <= m^{1/p} ‖d‖_inf."""
    soft = margin(rb.Capped(k))
    for p in (20, 200, 2000):
        low = margin(rb.NormBall(p, M ** (1 / p) / k))
        assert low <= soft + 1e-12
        assert low == pytest.approx(soft, abs=2 * k * (M ** (1 / p) - 1))
        if k < M:
            assert margin(rb.NormBall(p, 1 / k)) >= soft - 1e-12


@pytest.mark.parametrize("c", [0.1, 0.7, 3])
def test_norm_penalties_at_their_ends(c):
    """m^{1/p − 1} <= ‖d‖_p <= 1 on the simplex, and ‖d‖_inf <= ‖d‖_p <= m^{1/p} ‖d‖_inf."""
    one, most = margin(rb.NormPenalty(1, c)), margin(rb.NormPenalty(math.inf, c))
    assert one == pytest.approx(U.min() + c, abs=1e-15)
    for p in (1.1, 1.01, 1.001):
        value = margin(rb.NormPenalty(p, c))
        assert U.min() + c * M ** (1 / p - 1) <= value + 1e-12
        assert value <= one + 1e-12
    for p in (20, 200, 2000):
        value = margin(rb.NormPenalty(p, c))
        assert most - 1e-12 <= value <= most + c * (M ** (1 / p) - 1) + 1e-12
    for p in (1.5, 2, math.inf):  # its weight -> 0: the hard margin
        assert margin(rb.NormPenalty(p, 1e-9)) == pytest.approx(U.min(), abs=2e-9)
    # Its weight -> inf: the flattest distribution, which is uniform.
    assert margin(rb.NormPenalty(2, 1e4)) - 1e4 / math.sqrt(M) == pytest.approx(U.mean(), abs=1e-3)


@pytest.mark.parametrize("p", [1.00001, 1.001, 50, 1000, 10001])
def test_norms_of_extreme_order_keep_their_accuracy(p):
    """At the kinks of a high order no γ that is a double has weights that sum to one."""
    for f in (rb.NormPenalty(p, 0.3), rb.NormBall(p, min(1.0, 1.3 * M ** (1 / p - 1)))):
        d = f.resolve(M).relaxed_margin(U)[1]
        assert f.penalty(d) + d @ U - f.lower_bound(U, f.witness(U)) <= 1e-14
        for beta in (1e-6, 0.05, 1.0):
            near = f.distribution(U, beta)

            def smoothed(x, beta=beta, f=f):
                return f.penalty(x) + x @ U + beta * float(xlogy(x, x).sum())

            for other in (d, f.center(M), rb.HardMargin().distribution(U, beta)):
                for share in (1e-4, 0.1, 1.0):
                    step = f.repair((1 - share) * near + share * other)
                    assert smoothed(near) <= smoothed(step) + 1e-15


@pytest.mark.parametrize("order", [0.05, 0.999, 1.001, 20])
def test_divergences_of_extreme_order_keep_their_accuracy(order):
    for f in (
        rb.relaxations.PowerPenalty(order, 0.3, PRIOR),
        rb.relaxations.PowerBall(order, 0.1, PRIOR),
    ):
        d = f.relaxed_margin(U)[1]
        assert f.penalty(d) + d @ U - f.lower_bound(U, f.witness(U)) <= 1e-9


def test_norms_that_are_norms_of_another_family():
    a = np.array([1.0, 2.0, 0.5, 1.5, 3.0, 1.0, 0.75])
    each, all_ = list(range(M)), [0] * M
    pairs = [
        (rb.relaxations.GroupNormPenalty(each, 0.3, factors=a), rb.NormPenalty(1, 0.3, a)),
        (rb.relaxations.GroupNormPenalty(all_, 0.3, p=3), rb.NormPenalty(3, 0.3)),
        (rb.relaxations.GroupNormBall(all_, 0.5, p=3), rb.NormBall(3, 0.5)),
        (rb.relaxations.MahalanobisPenalty(np.diag(a), 0.3), rb.NormPenalty(2, 0.3, a)),
        (rb.relaxations.MahalanobisBall(np.eye(M), 0.5), rb.NormBall(2, 0.5)),
        (0.3 * rb.NormPenalty(2, 1), rb.NormPenalty(2, 0.3)),
        (2 * rb.KLPenalty(0.1, PRIOR), rb.KLPenalty(0.2, PRIOR)),
        (rb.NormBall(1, 1), rb.HardMargin()),
        (rb.relaxations.GroupCaps(each, 0.25), rb.Capped(4)),
        (rb.Caps(0.25), rb.Capped(4)),
    ]
    for first, second in pairs:
        assert margin(first) == pytest.approx(margin(second), abs=1e-9), first
        d = first.distribution(U, 0.05)
        assert d == pytest.approx(second.distribution(U, 0.05), abs=1e-7), first


@pytest.mark.parametrize("A", GAMES, ids=["separable", "mirrored", "signs"])
@pytest.mark.parametrize("k", [1, 2.5, 4])
def test_binary_entropy_tends_to_the_soft_margin(A, k):
    """soft − (c m/k) H(k/m) <= ρ − offset <= soft, at the game."""
    m = A.shape[0]
    p = k / m
    entropy = -p * math.log(p) - (1 - p) * math.log(1 - p)
    soft = bracket(A, rb.Capped(k))
    for c in (1e-1, 1e-3, 1e-6):
        f = rb.BinaryEntropy(k, c)
        lower, upper = bracket(A, f)
        assert lower - f.offset(m) <= soft[1] + 1e-12
        assert upper - f.offset(m) >= soft[0] - c / p * entropy - 1e-12


def log_loss_optimum(A, k, c):
    """Return max over ‖w‖_1 <= 1 and γ of γ − (c/k) Σ log((1 + e^{(γ − Aw)/c})/2), by SLSQP."""
    m, n = A.shape

    def goal(x):
        margins = A @ (x[:n] - x[n : 2 * n])
        z = (x[-1] - margins) / c
        slope = 0.5 * (1.0 + np.tanh(0.5 * z)) / k
        value = x[-1] - c / k * (np.logaddexp(0.0, z).sum() - m * math.log(2.0))
        edges = A.T @ slope
        return -value, -np.concatenate([edges, -edges, [1.0 - slope.sum()]])

    def spare(x):
        return 1.0 - x[:-1].sum()

    ones = np.append(-np.ones(2 * n), 0.0)
    found = minimize(
        goal,
        np.append(np.full(2 * n, 0.25 / n), 0.0),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * (2 * n) + [(-3.0, 3.0)],
        constraints={"type": "ineq", "fun": spare, "jac": lambda x: ones},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return -found.fun


@pytest.mark.parametrize("A", GAMES, ids=["separable", "mirrored", "signs"])
@pytest.mark.parametrize(("k", "c"), [(1, 0.3), (2.5, 0.1), (4, 1.0), (7, 0.05)])
def test_binary_entropy_is_the_optimum_of_a_log_loss(A, k, c):
    lower, upper = bracket(A, rb.BinaryEntropy(k, c))
    assert lower - 1e-7 <= log_loss_optimum(A, k, c) <= upper + 1e-7


@pytest.mark.parametrize("p", [1, 1.5, 2, math.inf])
@pytest.mark.parametrize("weights", [None, [1, 2, 1.5]])
@pytest.mark.parametrize("kind", [rb.NormBall, rb.NormPenalty])
def test_what_a_norm_returns_is_of_its_class(kind, p, weights):
    f = kind(p, Fraction(3, 2), weights)
    for made in (f, f.resolve(3), pickle.loads(pickle.dumps(f)), copy.copy(f)):
        assert isinstance(made, kind)
        assert made == f
        assert made.p == p
        assert made.weights == (None if weights is None else tuple(map(Fraction, weights)))


def test_a_weighted_l1_ball_ends_where_all_lines_meet_up_to_rounding():
    """u + λ a is the same for all examples, but for the last digits, at one λ."""
    f = rb.NormBall(1, 1.5, weights(30))
    for seed in range(300):
        rng = np.random.default_rng(seed)
        meet = rng.uniform(0.0, 1.0)
        u = 0.3 - meet * f.factors + 1e-16 * rng.uniform(-1.0, 1.0, 30)
        value, d = f.relaxed_margin(u)
        assert value == pytest.approx(0.3 - 1.5 * meet, abs=1e-15)
        assert f.penalty(d) == 0.0


@pytest.mark.parametrize("weight", [1e6, 1e10])
def test_a_steep_mahalanobis_norm_is_minimised_first(weight):
    """F(u) is weight · min ‖Q d‖ and at most the range of u more."""
    rng = np.random.default_rng(6)
    for Q in (np.eye(M) + 0.3 * rng.normal(size=(M, M)) for _ in range(3)):
        f = rb.relaxations.MahalanobisPenalty(Q, weight).resolve(M)
        least = rb.relaxations.MahalanobisPenalty(Q, 1).relaxed_margin(np.zeros(M))[0]
        lower = f.lower_bound(U, f.witness(U))
        assert lower <= f.relaxed_margin(U)[0] <= lower + 1e-8 * weight
        assert -1.0 <= lower - weight * least <= 1.0 + 1e-9 * weight


@pytest.mark.parametrize("apart", [1e-8, 1e-6, 1e-4, 1e-2])
def test_a_ball_that_binds_between_margins_that_nearly_tie(apart):
    """A cone solver took them for ties, and its d for one inside: bounds missed F by a hundredth
    of what is between them."""
    rng = np.random.default_rng(8)
    for _ in range(5):
        Q = rng.normal(size=(12, 12))
        f = rb.relaxations.MahalanobisBall(Q, 0.8 * np.linalg.norm(Q, axis=0).min()).resolve(12)
        u = 0.1 + np.where(np.arange(12) < 8, apart, 1.0) * rng.random(12)
        assert f.relaxed_margin(u)[0] <= f.lower_bound(u, f.witness(u)) + 1e-6 * apart + 1e-15


@pytest.mark.parametrize("radius", [1e-8, 1e-6, 1e-5, 1e-3])
@pytest.mark.parametrize("Q", [[[0.0, 1.0]], [[1.0, 0.0, -1.0, 0.0], [0.0, 0.0, -1.0, -1.0]]])
def test_a_small_ellipsoid_of_a_singular_matrix(Q, radius):
    """The tolerance of the cone solver hid that the ball meets the simplex and is active."""
    f = rb.relaxations.MahalanobisBall(Q, radius).resolve(len(Q[0]))
    u = np.array([1.0, 0.0, 0.5, -0.5])[: len(Q[0])]
    value, d = f.relaxed_margin(u)
    assert f.size(d) <= radius * (1.0 + 1e-12)
    assert value == pytest.approx(f.lower_bound(u, f.witness(u)), abs=1e-8)


@pytest.mark.parametrize("size", [1e-90, 1e-9, 1e9, 1e20])
def test_the_size_of_q_is_no_matter_where_the_bound_makes_up_for_it(size):
    """A solver refused large ones as +inf everywhere, and took other d for the best."""
    A = np.random.default_rng(0).uniform(-1, 1, (5, 4))
    games = [
        (rb.relaxations.MahalanobisBall(size * np.eye(5), 0.5 * size), rb.NormBall(2, 0.5)),
        (rb.relaxations.MahalanobisPenalty(size * np.eye(5), 0.5 / size), rb.NormPenalty(2, 0.5)),
    ]
    for f, twin in games:
        truth = rb.reference(rb.Game(A, twin))
        for found in (rb.solve(rb.Game(A, f), 1e-6), rb.reference(rb.Game(A, f))):
            assert found.gap <= 1e-6
            assert max(found.lower, truth.lower) <= min(found.upper, truth.upper) + 1e-12


def test_a_gap_that_doubles_cannot_tell_is_named():
    A = np.random.default_rng(0).uniform(-1, 1, (5, 4))
    game = rb.Game(A, rb.relaxations.MahalanobisPenalty(1e14 * np.eye(5), 0.5))
    found = rb.solve(game, 1e-6)
    assert found.status in ("failed", "stalled")
    assert "of |rho|, close to the rounding of the bounds: use rtol" in found.message
    near = rb.solve(game, rtol=1e-9)
    assert near.status == "optimal"
    least = 0.5e14 / 5**0.5  # by f alone; edges add at most 1
    assert near.lower <= least + 1.0
    assert near.upper >= least


@pytest.mark.parametrize("beta", [1e-3, 1.0])
def test_distributions_of_a_steep_mahalanobis_norm_are_where_it_is_zero(beta):
    f = rb.relaxations.MahalanobisPenalty([[-0.25, 1.5]], 1e11).resolve(2)
    assert f.distribution(np.zeros(2), beta) == pytest.approx([6 / 7, 1 / 7], abs=1e-10)


def test_what_rounding_leaves_of_a_steep_game_is_no_warning():
    game = rb.Game([[-0.96694473]], rb.relaxations.MahalanobisPenalty([[0.64042265]], 1e10))
    sol = rb.solve(game, 1e-4)
    assert sol.lower <= 0.64042265e10 + 0.96694473 <= sol.upper <= sol.lower + 1.0


def test_a_solver_that_cannot_scale_margins_says_nothing_of_f():
    f = rb.relaxations.MahalanobisPenalty(np.eye(20), 0.3).resolve(20)
    u = 1e60 * np.random.default_rng(0).normal(size=20)
    assert u.min() * (1.0 + 1e-12) <= f.lower_bound(u, f.witness(u)) <= u.min() * (1.0 - 1e-12)
    reason = r"status \w+ \(f or margins are too large to scale\) for the relaxed margin F\(u\)"
    with pytest.raises(rb.InputError, match=reason):
        f.witness(1e140 * u)


def test_an_f_too_steep_for_a_solver_leaves_its_bracket(monkeypatch):
    A = np.random.default_rng(0).uniform(-1, 1, (12, 3))
    game = rb.Game(A, rb.Custom(lambda d: 1e6 * cp.tv(d)))
    solve_problem = compiled.solve_problem
    left = iter(range(3))

    def fails_later(problem):
        return ("solver_error", np.nan) if next(left, None) is None else solve_problem(problem)

    monkeypatch.setattr(compiled, "solve_problem", fails_later)
    found = rb.solve(game, 1e-6, rb.solvers.Corrective(step="pairwise"), max_rounds=20)
    monkeypatch.undo()
    assert found.status == "failed"
    assert "cvxpy ended with status" in found.message
    known = rb.reference(game)
    assert found.lower <= known.upper
    assert known.lower <= found.upper
    steep = rb.Custom(lambda d: 1e14 * cp.sum(cp.kl_div(d, np.full(12, 1 / 12))))
    pinned = float(np.abs(A.mean(axis=0)).max())  # at the uniform d
    found = rb.solve(rb.Game(A, steep), 1e-3)
    assert found.lower <= pinned <= found.upper <= pinned + 1e-6


@pytest.mark.parametrize(
    "f",
    [
        rb.relaxations.MahalanobisPenalty(np.eye(6), 0.3),
        rb.NormPenalty(2, 1) + rb.NormPenalty(3, 1),
        rb.Custom(lambda d: 1e-3 * cp.sum(cp.inv_pos(d))),
    ],
    ids=["norm", "sum", "custom"],
)
def test_margins_too_large_for_a_solver_leave_the_bracket_of_the_start(f):
    """It was its error that came back, and no Solution."""
    game = rb.Game(np.random.default_rng(0).uniform(-1, 1, (6, 4)), f, over=rb.Simplex(1e11))
    found = rb.solve(game, 1e-6)
    assert found.status in ("failed", "stalled")
    linear = rb.solve(rb.Game(game.matrix, rb.HardMargin(), over=game.over), rtol=1e-9)
    assert found.lower <= linear.upper + 2.0  # f is at most 2 at the d that matter
    assert linear.lower <= found.upper
    assert np.isfinite([found.lower, found.upper]).all()


@pytest.mark.parametrize("stopping", ["certified", "smoothed"])
def test_a_method_that_no_solver_lets_begin_leaves_a_bracket(stopping):
    f = rb.Custom(lambda d: (0.0 * cp.sum(d), [cp.norm2(d) <= 0.6]))
    A = np.random.default_rng(0).uniform(-1, 1, (6, 4))
    game, near = (rb.Game(A, of, over=rb.Simplex(1e9)) for of in (f, rb.NormBall(2, 0.6)))
    found = rb.solve(game, 1e-6, rb.solvers.Corrective(stopping=stopping))
    truth = rb.solve(near, rtol=1e-6)
    assert (found.status, found.history[-1].inner) == ("failed", "lost")
    assert "for the distribution" in found.message
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper <= 1e9


def test_a_start_that_no_solver_goes_on_from_leaves_its_bracket():
    """A solver that d_t asks may answer at w = 0, and not at the w of a start."""
    f = rb.Custom(lambda d: (0.0 * cp.sum(d), [cp.norm2(d) <= 0.6]))
    A = np.random.default_rng(0).uniform(-1, 1, (6, 4))
    game = rb.Game(A, f, over=rb.L1Ball(1e9))
    near = rb.solve(rb.Game(A, rb.NormBall(2, 0.6), over=game.over), rtol=1e-6)
    step = rb.solvers.Corrective(step="pairwise")
    for method in (step, rb.solvers.ERLPBoost()):
        assert rb.solve(game, 1e-6, method, max_rounds=1).status == "max_rounds"
        found = rb.solve(game, 1e-6, method, start=(near.d, [0.0, 1e9, 0.0, 0.0]))
        assert found.status == "failed"
        assert "for the distribution" in found.message
        assert found.lower <= near.upper
        assert near.lower <= found.upper <= near.upper * (1.0 + 1e-6)


def test_a_sum_that_no_solver_splits_has_a_bracket():
    f = rb.relaxations.GroupNormPenalty([0, 1, 2, 3] * 3, 1e12)
    f += rb.relaxations.GroupCaps([0, 1, 2, 3] * 3, Fraction(1, 2))
    game = rb.Game(np.random.default_rng(0).uniform(-1, 1, (12, 2)), f)
    found, least = rb.solve(game, 1e-3), 1e12 / 3**0.5  # by f alone; edges add at most 1
    assert found.status in ("failed", "stalled")
    assert least - 1e3 <= found.lower <= least + 1.0
    assert least <= found.upper <= least + 1e3


def test_margins_next_to_nothing_and_huge_ones_have_bounds():
    """Spreads below 1e-300 of the hottest tilt, and margins far beyond the weight of f."""
    rng = np.random.default_rng(2)
    f = rb.KLBall(5).resolve(6)
    for size in (1e-24, 1e-290, 5e-324):
        u = size * rng.integers(0, 3, 6)
        bound = f.lower_bound(u, f.witness(u))
        assert u.min() - 1e-12 * size - 1e-300 <= bound <= u.mean() + 1e-300
    g = rb.f_divergence(lambda t: cp.square(cp.pos(t - 1)), weight=0.1).resolve(3)
    for size in (1e12, 1e50):
        u = size * np.array([-1.0, 0.0, 1.0])
        assert g.lower_bound(u, g.witness(u)) <= u.max()
