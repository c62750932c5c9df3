"""Divergences by a user's generator: against the built-in ones, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost._core.rounding import sum_bounds
from relaxboost.relaxations.numerical import Programs, programs

PRIOR = (0.1, 0.2, 0.3, 0.4)


def chi_square(t):
    return cp.square(t - 1)


def relative_entropy(t):
    return -cp.entr(t) - t + 1


def jensen_shannon(t):
    return cp.kl_div(t, (1 + t) / 2) + cp.kl_div(np.ones(t.shape), (1 + t) / 2)


@pytest.mark.parametrize("prior", [None, PRIOR])
@pytest.mark.parametrize(
    ("generator", "kind", "twin"),
    [
        (chi_square, "weight", rb.relaxations.ChiSquarePenalty),
        (chi_square, "radius", rb.relaxations.ChiSquareBall),
        (relative_entropy, "weight", rb.KLPenalty),
        (relative_entropy, "radius", rb.KLBall),
    ],
)
def test_it_agrees_with_the_closed_forms(generator, kind, twin, prior, rng):
    f = rb.f_divergence(generator, **{kind: 0.2}, prior=prior).resolve(4)
    twin = twin(0.2, prior)
    for scale in (0.2, 1.0):
        u = scale * rng.uniform(-1, 1, 4)
        value, d = f.relaxed_margin(u)
        expected, minimiser = twin.relaxed_margin(u)
        assert value == pytest.approx(expected, abs=1e-6)
        assert d == pytest.approx(minimiser, abs=2e-4)
        assert f.lower_bound(u, f.witness(u)) == pytest.approx(expected, abs=1e-6)
        assert f.distribution(u, 0.1) == pytest.approx(twin.distribution(u, 0.1), abs=2e-4)


def test_a_divergence_without_a_closed_form_solves_a_game(rng):
    game = rb.Game(rng.uniform(-1, 1, (12, 5)), rb.f_divergence(jensen_shannon, radius=0.1))
    reference, booster = rb.reference(game), rb.solve(game, tol=1e-4)
    assert reference.gap <= 1e-6
    assert booster.status == "optimal"
    assert rb.compare(reference, booster).agree
    t = 12 * reference.d
    value = np.mean(t * np.log(2 * t / (1 + t)) + np.log(2 / (1 + t)))
    assert value == pytest.approx(0.1, abs=1e-6)  # the ball binds
    assert rb.reference(rb.Game(game.matrix, rb.HardMargin())).upper < reference.lower - 0.01


def flat(t):
    return cp.square(cp.pos(t - 1.2)) - cp.square(cp.pos(-0.2))


@pytest.mark.parametrize("prior", [None, np.arange(1, 31) / 465.0])
@pytest.mark.parametrize("generator", [jensen_shannon, flat, lambda t: cp.power(t, 3) - 1])
def test_a_table_answers_as_a_cone_solver_does(generator, prior, rng):
    m, c = 30, 0.3
    f = rb.f_divergence(generator, weight=c, prior=prior).resolve(m)
    slow, table = Programs(f, m), programs(f, m)
    assert type(table) is not Programs
    for scale in (0.0, 0.1, 5.0, 1e3):
        u = scale * rng.normal(size=m)
        value, *_ = slow.margin(u)
        found, _, gamma, _ = table.margin(u)
        assert found == pytest.approx(value, rel=1e-7, abs=1e-7)
        assert f.lower_bound(u, f.witness(u)) == pytest.approx(found, rel=1e-10, abs=1e-10)
        theta = gamma - u + rng.normal(size=m)
        best = np.clip(slow._cones.solve(-theta, box=True).d, 0.0, 1.0)
        reached = best @ theta - f.penalty(best)
        assert table.conjugate_above(theta) == pytest.approx(reached, rel=1e-7, abs=1e-7)
        d = table.distribution(u, 0.1)
        assert d.sum() == pytest.approx(1.0)
        goals = [x @ u + f.penalty(x) + 0.1 * (x @ np.log(np.maximum(x, 1e-300)))
                 for x in (d, f.repair(slow.distribution(u, 0.1)))]  # fmt: skip
        assert goals[0] <= goals[1] + 1e-9 * (1.0 + abs(goals[1]))


@pytest.mark.parametrize(
    "generator",
    [
        lambda t: cp.square(t - 1) + cp.abs(t - 1),
        lambda t: cp.exp(t) + 1e-3 * cp.abs(t - 1) - np.e,
        lambda t: cp.square(cp.cumsum(t - 1)),
        lambda t: cp.multiply(np.arange(1, t.size + 1), cp.square(t - 1)),
        lambda t: cp.multiply(np.arange(8), cp.square(t - 1)),
        lambda t: cp.hstack([cp.square(t[i] - 1) for i in range(8)]),
        lambda t: cp.inv_pos(3 - t) - 0.5,
    ],
    ids=["corner", "slight corner", "sums", "places", "of eight", "eight by hand", "end"],
)
def test_what_no_table_can_hold_is_left_to_the_solver(generator):
    assert type(programs(rb.f_divergence(generator, weight=1).resolve(8), 8)) is Programs


@pytest.mark.parametrize(("c", "spread"), [(0.5, 1.0), (0.02, 1.0), (3.0, 9.0)])
def test_a_lower_bound_is_none_too_high(c, spread, rng):
    """Differences of φ next to 0 are all rounding, and slopes are finite there; by closed forms."""
    u = spread * rng.normal(size=30)
    plane = rb.f_divergence(lambda t: 3 * (t - 1), weight=c).resolve(30)
    assert plane.lower_bound(0 * u, plane.witness(0 * u)) == pytest.approx(0.0, abs=1e-9)
    square = rb.f_divergence(lambda t: cp.square(t - 1), weight=c).resolve(30)
    pulled = 1 / 30 - u / (60 * c)
    falling = np.sort(pulled)[::-1]
    d = np.maximum(pulled - ((np.cumsum(falling) - 1) / np.arange(1, 31)).max(), 0)
    optimum = d @ u + 30 * c * np.square(d - 1 / 30).sum()
    assert square.lower_bound(u, square.witness(u)) == pytest.approx(optimum, abs=1e-10)


@pytest.mark.parametrize("weight", [1, 10**3, 10**6, 10**10])
def test_an_upper_bound_is_none_too_low(weight, rng):
    """The terms of relative entropy cancel near the prior, where it is nearly zero."""
    f = rb.f_divergence(lambda t: -cp.entr(t), weight=weight).resolve(64)
    for size in (1e-9, 1e-7, 1e-5):
        d = (1 + size * rng.normal(size=64)) / 64
        value, distance = f.penalty_bound(d, sum_bounds(d))
        y = [Fraction(x) / sum(map(Fraction, d)) for x in d]
        excess = [64 * t - 1 for t in y]  # t log t is at least s + s²/2 − s³/6 for t = 1 + s
        least = sum(s**2 / 2 - s**3 / 6 for s in excess) / 64 * weight
        assert least <= Fraction(value)
        assert distance == 0.0


@pytest.mark.parametrize("slope", [0.0, 0.15])
def test_a_conjugate_is_infinite_beyond_the_slope_at_infinity(slope):
    """Of 1/(t + 1), at which solvers fail for want of a bound."""
    f = rb.f_divergence(lambda t: cp.inv_pos(t + 1) - 0.5 + slope * (t - 1), weight=0.2)
    f, axis = f.resolve(20), np.eye(20)[0]
    assert [f.conjugate(t * axis) for t in (0.2 * slope + 0.01, 1.0)] == [np.inf] * 2
    assert 0.0 <= f.conjugate((0.2 * slope - 0.1) * axis) < np.inf
    assert rb.f_divergence(lambda t: -cp.log(t), weight=1).resolve(2).penalty([0, 1]) == np.inf


def test_equal_divergences_are_equal():
    assert rb.f_divergence(cp.square, weight=1) == rb.f_divergence(cp.square, weight=1.0)
    assert rb.f_divergence(cp.square, weight=1) != rb.f_divergence(cp.square, radius=1)
    assert "chi_square, weight=1" in repr(rb.f_divergence(chi_square, weight=1))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"generator": 3, "weight": 1}, "function of a cvxpy expression"),
        ({}, "either weight or radius, but not both"),
        ({"weight": 1, "radius": 1}, "either weight or radius, but not both"),
        ({"weight": 0}, "weight > 0, got 0"),
        ({"radius": -1}, "radius > 0, got -1"),
        ({"weight": 1, "prior": [0.5, 0.6]}, "sum to one"),
        ({"weight": 1, "prior": [1.0, 0.0]}, "needs prior > 0; leave out the examples"),
    ],
)
def test_wrong_arguments(arguments, reason):
    with pytest.raises(rb.InputError, match=reason):
        rb.f_divergence(**{"generator": chi_square, **arguments})


@pytest.mark.parametrize(
    ("generator", "reason"),
    [
        (cp.square, "be 0 at t = 1, but it is 1; subtract this number"),
        (cp.sum_squares, r"expression of shape \(4,\)"),
        (lambda t: 2.0, r"expression of shape \(4,\).*returned 2.0"),
        (lambda t: 1 - cp.square(t), "not convex"),
        (lambda t: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_wrong_generators_are_refused_when_the_game_is_declared(generator, reason):
    with pytest.raises(rb.InputError, match=reason):
        rb.Game(np.eye(4), rb.f_divergence(generator, weight=1))


def test_a_prior_of_another_length_is_refused():
    with pytest.raises(rb.InputError, match="`prior` has 4 entries"):
        rb.Game(np.eye(3), rb.f_divergence(chi_square, weight=1, prior=PRIOR))
