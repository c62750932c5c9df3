"""The entropic kin against closed forms in ball arithmetic, cvxpy, and their limits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from scipy.special import softmax

import relaxboost as rb
from relaxboost import KLBall, KLPenalty
from relaxboost._core.rounding import sum_bounds
from relaxboost.relaxations import BallWitness, Traits, Witness
from relaxboost.relaxations.bounds import level_of
from relaxboost.testing import check_relaxation
from tests.twins import ball

ABSURD = [math.nan, math.inf, -math.inf, 1e308, -1e308, 1e-320, 0.0, -3.0]


@pytest.fixture(autouse=True)
def precision():
    previous, ctx.prec = ctx.prec, 200
    yield
    ctx.prec = previous


def priors(rng, m):
    """Uniform; positive; rational; with a zero; extreme; summing to one only nearly."""
    positive = rng.dirichlet(np.ones(m))
    thirds = (Fraction(1, 3), Fraction(2, 3), *[0] * (m - 2))
    zero = np.concatenate([[0.0], rng.dirichlet(np.ones(m - 1))])
    extreme = np.full(m, 1e-30)
    extreme[-1] = 1.0
    return [None, positive, thirds, zero, extreme, positive * (1 + 9e-10)]


def exact_prior(f, m):
    """π as balls."""
    if f.prior is None:
        return [arb(1) / m] * m
    total = sum(map(Fraction, f.prior), Fraction(0))
    return [ball(Fraction(p) / total) for p in f.prior]


def exact_kl(d, pi):
    """KL(d/Σd ‖ π) as a ball, inf as None."""
    total = sum((ball(x) for x in d), arb(0))
    result = arb(0)
    for x, p in zip(d, pi, strict=True):
        if x > 0:
            if p == 0:
                return None
            result += ball(x) / total * (ball(x) / total / p).log()
    return result


def soft_minimum(u, pi, weight):
    """−c log Σ π exp(−u/c) as a ball."""
    c = ball(weight)
    return -c * sum((p * (-ball(x) / c).exp() for p, x in zip(pi, u, strict=True)), arb(0)).log()


def test_penalty_bounds_and_attains_its_soft_minimum(rng):
    for weight in (1e-9, 1e-3, 0.1, 1, Fraction(10, 3), 1e3):
        for prior in priors(rng, 5):
            f = KLPenalty(weight, prior)
            u = rng.uniform(-1, 1, 5)
            pi = exact_prior(f, 5)
            exact = soft_minimum(u, pi, f.weight)
            scale = 1e-14 * max(1.0, float(f.weight))
            value, d = f.relaxed_margin(u)
            assert abs(value - float(exact)) <= scale
            assert float(exact) - f.lower_bound(u, f.witness(u)) <= scale
            for gamma in (*rng.normal(size=5) * 3, f.witness(u).gamma, *ABSURD):
                bound = f.lower_bound(u, Witness(gamma))
                assert bound == -math.inf or ball(bound) <= exact
            upper, distance = f.penalty_bound(d, sum_bounds(d))
            assert distance == 0.0
            assert ball(upper) >= ball(f.weight) * exact_kl(d, pi)
            assert upper + d @ u - value <= 10 * scale


@pytest.mark.parametrize("weight", [1e7, 1e10])
def test_bounds_do_not_cancel_where_the_prior_is_all_but_the_answer(weight, rng):
    for prior in priors(rng, 5):
        f = KLPenalty(weight, prior)
        u, pi = rng.uniform(-1, 1, 5), exact_prior(f, 5)
        exact, d = soft_minimum(u, pi, f.weight), f.distribution(u, 1e-3)
        lower = f.lower_bound(u, f.witness(u))
        assert ball(lower) <= exact
        assert exact - lower <= 1e-6
        upper, _ = f.penalty_bound(d, sum_bounds(d))
        assert ball(upper) >= ball(f.weight) * exact_kl(d, pi)
        game = rb.Game(rng.uniform(-1, 1, (5, 4)), f)
        assert rb.solve(game, tol=1e-6).status == "optimal"


def test_ball_bounds_and_attains_its_margin(rng):
    for radius in (1e-12, 1e-6, 0.01, 0.5, Fraction(4, 3), 3, 100):
        for prior in priors(rng, 5):
            f = KLBall(radius, prior)
            u = rng.uniform(-1, 1, 5)
            pi = exact_prior(f, 5)

            def formula(multiplier, f=f, u=u, pi=pi):
                if multiplier == 0.0:
                    return min(ball(x) for x, p in zip(u, pi, strict=True) if p > 0)
                return soft_minimum(u, pi, multiplier) - ball(multiplier) * ball(f.radius)

            value, d = f.relaxed_margin(u)
            assert f.penalty(d) == 0.0
            best = f.witness(u)
            assert abs(f.lower_bound(u, best) - value) <= 1e-14 * (1 + 10 * best.multiplier)
            for gamma in (best.gamma, *rng.normal(size=2)):
                for multiplier in (best.multiplier, 0.0, *10.0 ** rng.uniform(-3, 3, 4)):
                    bound = f.lower_bound(u, BallWitness(gamma, multiplier))
                    assert bound == -math.inf or ball(bound) <= formula(multiplier)
                    assert bound <= value + 1e-14
            for bad in ABSURD:
                for witness in (BallWitness(bad, 1.0), BallWitness(0.5, bad)):
                    bound = f.lower_bound(u, witness)
                    assert bound <= value + 1e-14
                    valid = math.isfinite(witness.gamma) and 0.0 <= witness.multiplier < math.inf
                    assert valid or bound == -math.inf


@pytest.mark.parametrize("radius", [1e-20, 1e-35, 1e-60, 1e-70, 1e-100])
@pytest.mark.parametrize("prior", [None, [0.5, 0.25, 0.125, 0.125]])
def test_margins_of_tiny_balls_are_near_the_mean(radius, prior):
    f = rb.KLBall(radius, prior).resolve(4)
    u = np.array([0.5, -0.25, 0.75, 0.125])
    mean = f.center(4) @ u
    witness = f.witness(u)
    variance = f.center(4) @ (u - mean) ** 2
    assert witness.multiplier == pytest.approx(np.sqrt(variance / (2.0 * radius)), rel=1e-6)
    margin = mean - np.sqrt(2.0 * radius * variance)
    assert f.lower_bound(u, witness) == pytest.approx(margin, abs=1e-14)


def test_ball_penalty_bound_names_a_point_of_the_ball(rng):
    """d' = d/Σd moved by t is in the ball, and the distance reported is at least its own."""
    for case in range(200):
        m = int(rng.integers(2, 8))
        f = KLBall(10.0 ** rng.uniform(-8, 1), priors(rng, m)[case % 6])
        pi = exact_prior(f, m)
        d = f.distribution(rng.normal(size=m), 10.0 ** rng.uniform(-6, 0))
        d = d * rng.uniform(1 - 1e-9, 1 + 1e-9, m) if case % 2 else rng.dirichlet(np.ones(m))
        value, distance = f.penalty_bound(d, sum_bounds(d))
        assert value == 0.0
        kl = exact_kl(d, pi)
        if kl is None:
            assert distance == 2.0
            continue
        radius, total = ball(f.radius), sum((ball(x) for x in d), arb(0))
        share = max(0.0, float(1 - radius / kl)) if kl > 0 else 0.0
        if share == 0.0:
            continue
        share = ball(share) * (1 + arb(2) ** -50)
        scaled = [ball(x) / total for x in d]
        moved = [x + share * (p - x) for x, p in zip(scaled, pi, strict=True)]
        terms = [x * (x / p).log() for x, p in zip(moved, pi, strict=True) if p > 0 and x > 0]
        assert sum(terms, arb(0)) <= radius * (1 + arb(2) ** -40)
        size = sum((abs(x - p) for x, p in zip(scaled, pi, strict=True)), arb(0)) * share
        assert ball(distance) * (1 + arb(2) ** -40) >= size
        assert distance <= 2.0


@pytest.mark.parametrize("beta", [1e-12, 1e-6, 0.1, 10.0])
def test_distributions_meet_their_optimality_conditions(beta, rng):
    """In the log domain: u + (λ + β) log d − λ log π is the same for all i."""
    for weight in (1e-9, 1e-6, 1e-3, 0.1, 1.0, 1e3):
        for prior in priors(rng, 6)[:4]:
            u = rng.uniform(-1, 1, 6)
            penalty = KLPenalty(weight, prior)
            cases = [(penalty, weight, penalty.distribution(u, beta))]
            ball_ = KLBall(weight, prior)
            d = ball_.distribution(u, beta)
            inside = d > 0
            pi = ball_.center(6)
            assert ball_.penalty(d) == 0.0
            if inside.sum() > 1 and weight < 0.5:
                # λ from the two largest entries; 0 <= λ, and λ > 0 only on the sphere.
                i, j = np.argsort(-d)[:2]
                log_d, log_pi = np.log(d[[i, j]]), np.log(pi[[i, j]])
                slope = np.diff(log_d - log_pi)[0]
                free = -np.diff(u[[i, j]] + beta * log_pi)[0]
                if abs(slope) > 1e-4:
                    multiplier = free / slope - beta
                    assert multiplier >= -1e-9 * (1 + beta)
                    kl = float(np.sum(d[inside] * np.log(d[inside] / pi[inside])))
                    if multiplier > 1e-9 * (1 + beta):
                        assert kl == pytest.approx(weight, rel=1e-6, abs=1e-14)
                    cases.append((ball_, max(multiplier, 0.0), d))
            for f, multiplier, d in cases:
                used = d > 0
                level = u + (multiplier + beta) * np.log(np.where(used, d, 1))
                level -= multiplier * np.log(np.where(used, pi, 1))
                spread = np.ptp(level[used])
                assert spread <= 1e-9 * (1 + multiplier + beta), (f, beta)
                assert d.sum() == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("kind", [KLPenalty, KLBall])
def test_a_prior_with_zeros_conforms(kind):
    assert check_relaxation(kind(0.2, (0, 0.25, 0.5, 0, 0.25)), (5,))


def test_fenchel_young_is_attained(rng):
    """f(d) + f*(θ) = <d, θ> at d = π exp(θ/c)."""
    for prior in priors(rng, 6):
        f, theta = KLPenalty(0.3, prior), rng.normal(size=6)
        d = f.center(6) * np.exp(theta / 0.3)
        young = f.penalty(d) + f.conjugate(theta) - d @ theta
        assert abs(young) <= 1e-13 * max(1.0, f.conjugate(theta))
    assert KLBall(2).conjugate(np.array([-1.0, -2.0])) == 0.0  # d = 0 is in the ball
    assert KLBall(0.5).conjugate(np.array([0.0, -2.0])) == 0.0  # d = (1/2, 0) just so


def test_weak_ones_are_soft_max(rng):
    u = rng.uniform(-1, 1, 7)
    assert np.array_equal(
        KLBall(50).distribution(u, 0.1), KLBall(math.log(7) * 1.001).distribution(u, 0.1)
    )
    assert KLBall(50).distribution(u, 0.1) == pytest.approx(softmax(-u / 0.1), abs=1e-14)
    assert KLPenalty(0.1).distribution(u, 0.4) == pytest.approx(softmax(-u / 0.5), abs=1e-14)


def test_the_prior_is_divided_by_its_sum():
    near = KLPenalty(1, (0.5, 0.5 + 9e-10))
    assert near.center(2).sum() == pytest.approx(1.0, abs=1e-15)
    assert near.prior == (0.5, 0.5 + 9e-10)
    assert near.penalty(near.center(2)) <= 1e-30
    assert near.relaxed_margin(np.zeros(2))[0] == pytest.approx(0.0, abs=1e-15)


def test_penalty_and_traits():
    prior = (0.5, 0.25, 0.25, 0)
    f = KLPenalty(2, prior)
    assert f.penalty(np.array(prior)) == 0.0
    assert f.penalty(np.zeros(4)) == 2.0  # condition (iii) fails: 0 is dearer than π
    assert f.penalty(np.array([0.5, 0.25, 0.25, 0.1])) == math.inf
    assert f.penalty(np.array([0.5, -1e-9, 0.25, 0])) == math.inf
    assert KLBall(1, prior).penalty(np.zeros(4)) == 0.0
    assert f.traits.smooth
    assert f.curvature(4) == 2.0
    assert f.traits == Traits(smooth=True, zero_minimum=True)
    assert KLBall(1).traits.symmetric
    assert level_of(f) == "enclosed"


def test_keys_tell_parameters_apart():
    assert KLBall(0.5, (0.5, 0.5)).key() == KLBall(Fraction(1, 2), (Fraction(1, 2), 0.5)).key()
    keys = {KLBall(1).key(), KLPenalty(1).key(), KLBall(2).key(), KLBall(1, (0.5, 0.5)).key()}
    assert len(keys) == 4
