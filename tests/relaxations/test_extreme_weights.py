"""Weights and margins at the ends of the doubles: brackets hold, and nothing fails or warns."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import relaxboost as rb
from relaxboost._core.rounding import sum_bounds
from relaxboost.relaxations import (
    ChiSquareBall,
    ChiSquarePenalty,
    GroupNormBall,
    GroupNormPenalty,
    HellingerBall,
    HellingerPenalty,
    MahalanobisPenalty,
    PowerPenalty,
)
from relaxboost.relaxations.mahalanobis import EllipsoidWitness

METHODS = ("auto", "interior-point", "lpboost", "erlpboost", "hedge")


def solutions(game):
    """Return what every method that takes the game makes of it."""
    found = [rb.reference(game)]
    for method in METHODS:
        try:
            found.append(rb.solve(game, 1e-6, method, max_rounds=60))
        except rb.InputError:  # it is for other relaxations
            continue
    assert len(found) >= 3
    return found


def overlap(game):
    """Assert that no lower bound is above an upper one; return the best of both."""
    found = solutions(game)
    lower, upper = max(s.lower for s in found), min(s.upper for s in found)
    assert lower <= upper, {s.method: (s.lower, s.upper) for s in found}
    return lower, upper


@pytest.mark.parametrize("seed", range(2))
def test_a_shift_of_a_large_weight_has_one_value(seed):
    """f* comes from a solver, is 1.5e8, and cancels: bounds were as much as 58 apart."""
    A = np.random.default_rng(seed).uniform(-1.0, 1.0, (4, 4))
    f = rb.Caps([0.25] * 4) + rb.NormPenalty(math.inf, 6.3e8)
    game = rb.Game(A, f.shifted([0.0025, -0.0625, 0.0025, 0.0025]), rb.FullSimplex(0.0376))
    lower, upper = overlap(game)
    assert upper - lower <= 1e-8 * upper


def test_a_multiple_of_a_shifted_ball_has_one_value():
    """f* is a solver's, times 16112: bounds were 6e-8 apart."""
    A = np.random.default_rng(898).uniform(-1.0, 1.0, (2, 7))
    game = rb.Game(A, 16112.1 * HellingerBall(28.3).shifted([0.001, -0.0015]), rb.Simplex(1))
    found = [rb.reference(game), *(rb.solve(game, 1e-6, name) for name in ("auto", "lpboost"))]
    assert max(s.lower for s in found) <= min(s.upper for s in found)


@pytest.mark.parametrize(
    "f",
    [
        rb.NormPenalty(2, 1e9).shifted([0.3, -0.2, 0.1, 0.0]),
        rb.NormPenalty(3, 1e12).scaled(0.7),
        (1e9 * ChiSquarePenalty(3)).shifted(-0.125),
        MahalanobisPenalty(np.eye(4) + 0.3, 1e8).shifted(0.125),
        GroupNormPenalty([0, 1, 1, 0], 1e10).scaled(3),
    ],
    ids=repr,
)
def test_changes_of_large_weights_have_one_value(f):
    for seed in range(2):
        A = np.random.default_rng(seed).uniform(-1.0, 1.0, (4, 3))
        overlap(rb.Game(A, f, rb.Simplex(1)))


@pytest.mark.parametrize("order", [0.5, 2, 3])
@pytest.mark.parametrize("columns", [3, 8])
def test_a_divergence_of_weight_1e17_is_told_from_its_roundings(order, columns):
    """The prior alone is left, and Σ π φ*(x/c) no longer cancels: the gap was 34."""
    A = np.random.default_rng(columns).uniform(-1.0, 1.0, (59, columns))
    f = 127288.8 * PowerPenalty(order, 8e11)
    best = max(0.0, float(A.mean(axis=0).max()))
    lower, upper = overlap(rb.Game(A, f, rb.FullSimplex(1)))
    assert lower <= best + 1e-15
    assert best - 1e-15 <= upper <= best + 1e-9
    if order == 2:
        assert lower >= best - 1e-9


@pytest.mark.parametrize(
    ("f", "over"),
    [
        (rb.NormPenalty(3, 7.7e-77), rb.L1Ball(1)),
        (rb.NormPenalty(2, 6.1e-46, [1.0, 2.0, 3.0, 1.5]), rb.L1Ball(1.8)),
        (rb.NormPenalty(100, 1.05e-100), rb.L2Ball(1)),
        (rb.NormPenalty(1.01, 1.3e-93), rb.L1Ball(1)),
        (GroupNormPenalty([0, 1, 2, 0], 2.9e37, p=3), rb.FullSimplex(1)),
        (GroupNormPenalty([0, 1, 0, 1], 1.8e51), rb.Simplex(16.5)),
        (MahalanobisPenalty(np.eye(4) + 0.3, 2.8e-47), rb.L2Ball(2.5)),
        (2568004.0 * rb.BinaryEntropy(2.5, 1.1e-65), rb.L1Ball(1.4)),
        (rb.KLPenalty(1e-59), rb.L1Ball(1)),
        (rb.KLPenalty(1e59), rb.L1Ball(1)),
        (HellingerPenalty(1e-80), rb.L1Ball(1)),
        (PowerPenalty(3, 1e40), rb.L1Ball(1)),
        (8.5e-62 * (GroupNormPenalty([0, 1, 2, 3], 9.9, 1.5) + ChiSquarePenalty(3e6)), rb.L1Ball()),
    ],
    ids=repr,
)
@pytest.mark.parametrize("size", [1.0, 1e-30])
def test_certificates_lie_within_the_bracket_that_they_are_made_from(f, over, size):
    A = size * np.random.default_rng(3).uniform(-1.0, 1.0, (4, 3))
    for s in (rb.reference(rb.Game(A, f, over)), rb.solve(rb.Game(A, f, over), 1e-6)):
        certificate = rb.certify(s)
        assert certificate.check(A).ok
        assert Fraction(s.lower) <= certificate.lower <= certificate.upper <= Fraction(s.upper)


@pytest.mark.parametrize("weight", [2.8e-47, 2.8, 2.8e47])
def test_multipliers_just_above_the_weight_shrink_by_a_rounding(weight):
    f = MahalanobisPenalty(np.eye(4) + 0.3, weight).resolve(4)
    v = np.full(4, 0.5 * weight * (1.0 + 2.0**-52))
    found = f.describe_witness(EllipsoidWitness(0.0, v), [Fraction(0)] * 4)
    assert float(Fraction(found["gamma"])) == pytest.approx(1.1 * weight, rel=1e-9, abs=0.0)


BALLS = [
    GroupNormBall([0, 1, 1, 0], 0.9, p=20),
    GroupNormBall([0, 0, 1, 1], 0.7, p=7),
    GroupNormBall([0, 1, 0, 1], 225, p=1.5, factors=[111, 689]),
    GroupNormBall([0, 0, 0, 0], 0.2535, p=100),
    GroupNormBall([0, 1, 0, 1], 76, p=100, factors=[4, 891]),
    ChiSquareBall(0.3),
    ChiSquareBall(0.3, (0.1, 0.2, 0.3, 0.4)),
]
MARGINS = [
    [1.5e-323, 3e-323, -2e-323, 5e-324],
    [1e-322, -5e-324, 0.0, 0.0],
    [1e-160, -3e-170, 2e-165, 0.0],
    [3e-15, -4e-246, 1e-180, 2e-104],
    [-5e-288, -3e-50, 3e-18, 0.0],
    [0.1, 0.1, 0.1, 0.1],
    [-1.2e14, -1.9e14, 2.6e13, 3.7e13],
]


@pytest.mark.parametrize("u", MARGINS, ids=str)
@pytest.mark.parametrize("f", BALLS, ids=repr)
def test_balls_keep_their_margins_at_the_ends_of_the_doubles(f, u):
    """math.log of zero, or the largest of no numbers; or a γ that is above no margin."""
    f, u = f.resolve(4), np.array(u)
    value, d = f.relaxed_margin(u)
    lower = f.lower_bound(u, f.witness(u))
    _, distance = f.penalty_bound(d, sum_bounds(d))
    size = float(np.abs(u).max())
    assert lower <= value + (1e-12 + distance) * size
    assert lower >= value - 1e-9 * size - 1e-139  # what `power_margin` takes for zero


@pytest.mark.parametrize("beta", [1e-97, 1e-62, 1e-30, 1e-12, 1.0])
@pytest.mark.parametrize("u", MARGINS, ids=str)
@pytest.mark.parametrize("f", BALLS[:5], ids=repr)
def test_distributions_of_group_norms_hold_for_any_beta(f, u, beta):
    """Beyond 2^-40 of the spread β cannot be told from zero, and Newton's steps were noise."""
    for g in (f.resolve(4), GroupNormPenalty(f.groups, f.radius, f.p, f.factors).resolve(4)):
        d = g.distribution(np.array(u), beta)
        assert d.min() >= 0.0
        assert d.sum() == pytest.approx(1.0, abs=1e-12)
        assert g.penalty(d) < math.inf
        value, _ = g.relaxed_margin(np.array(u))
        reached = float(d @ u) + g.penalty(d)
        size = float(np.ptp(u)) + abs(value)
        assert value - 1e-12 * size <= reached <= value + beta * math.log(4) + 2e-3 * size


@pytest.mark.parametrize(
    ("f", "size"),
    [
        (GroupNormPenalty([0, 0, 1, 0, 0, 2], 2.7e10), 1e-30),
        (GroupNormPenalty([2, 3, 1, 1, 0, 4], 0.12, p=3), 1e-320),
        (PowerPenalty(1.5, 2.8e-59) + PowerPenalty(20, 1024.0), 1e-300),
        (rb.NormBall(1.01, 0.99), 1e-310),
        (rb.NormPenalty(math.inf, 1e14), 5e-321),
    ],
    ids=repr,
)
def test_games_of_tiny_margins_and_large_weights_warn_of_nothing(f, size):
    """Warnings are errors here; the margins are down to the smallest doubles."""
    A = size * np.random.default_rng(5).uniform(-1.0, 1.0, (6, 4))
    overlap(rb.Game(A, f))


@pytest.mark.parametrize("spread", [5e-324, 1e-323, 1e-322])
def test_a_ball_around_margins_of_the_smallest_doubles_has_a_distribution(spread):
    """The quotient of the spread of the margins and β is zero in doubles."""
    d = rb.KLBall(0.1).distribution(np.array([0.0, 0.0, spread]), 0.1)
    assert d == pytest.approx(np.full(3, 1 / 3), abs=1e-12)


@pytest.mark.parametrize(
    "f",
    [
        rb.relaxations.PowerBall(0.05, 10, [Fraction(3, 7), Fraction(4, 7)]),
        rb.relaxations.PowerPenalty(0.05, 1e-16),
    ],
)
def test_divergences_bound_the_margin_by_the_smallest_one(f):
    # The multiplier of the ball is 7e-17, and doubles near the threshold −1 are 1e-16 apart.
    u = np.array([-1.0, 1.0])
    f = f.resolve(2)
    assert f.lower_bound(u, f.witness(u)) >= -1.0
    assert rb.solve(rb.Game(u[:, None], f, over=rb.Simplex()), tol=1e-3).status == "optimal"
