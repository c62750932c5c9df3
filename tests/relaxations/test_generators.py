"""Divergences by a user's generator: against the built-in ones, and what is refused."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb

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


def test_equal_divergences_are_equal():
    assert rb.f_divergence(cp.square, weight=1) == rb.f_divergence(cp.square, weight=1.0)
    assert rb.f_divergence(cp.square, weight=1) != rb.f_divergence(cp.square, radius=1)
    assert "chi_square, weight=1" in repr(rb.f_divergence(chi_square, weight=1))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"generator": 3, "weight": 1}, "function of a cvxpy expression"),
        ({}, "either weight or radius, and not both"),
        ({"weight": 1, "radius": 1}, "either weight or radius, and not both"),
        ({"weight": 0}, "weight > 0, got 0"),
        ({"radius": -1}, "radius > 0, got -1"),
        ({"weight": 1, "prior": [0.5, 0.6]}, "sum to one"),
        ({"weight": 1, "prior": [1.0, 0.0]}, "every entry of prior > 0; leave"),
    ],
)
def test_wrong_arguments(arguments, reason):
    with pytest.raises(rb.InputError, match=reason):
        rb.f_divergence(**{"generator": chi_square, **arguments})


@pytest.mark.parametrize(
    ("generator", "reason"),
    [
        (cp.square, "zero at t = 1, and this one is 1; subtract that"),
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
    with pytest.raises(rb.InputError, match="prior has 4 entries"):
        rb.Game(np.eye(3), rb.f_divergence(chi_square, weight=1, prior=PRIOR))
