"""The binary entropies against closed forms in ball arithmetic, cvxpy, and their limits."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from scipy.special import softmax

from relaxboost import BinaryEntropy, Capped
from relaxboost._core.rounding import sum_bounds
from relaxboost.relaxations import Traits, Witness
from relaxboost.relaxations._projections import binary_entropy
from relaxboost.relaxations._projections.binary_entropy import logistic_distribution
from tests.twins import average_of_smallest, ball

ABSURD = [math.nan, math.inf, -math.inf, 1e308, -1e308, 1e-320, 0.0, -3.0, 7.0]


@pytest.fixture(autouse=True)
def precision():
    previous, ctx.prec = ctx.prec, 200
    yield
    ctx.prec = previous


def bound_at(u, gamma, f):
    """γ − (c/k) Σ log((1 + exp((γ − u)/c))/2) as a ball."""
    c, scale = ball(f.weight), ball(f.weight / f.k)
    return gamma - scale * sum((((1 + ((gamma - ball(x)) / c).exp()) / 2).log() for x in u), arb(0))


def maximum(u, f):
    """F(u) as a ball, with γ refined by Newton's method in ball arithmetic's midpoints."""
    gamma, c, k = ball(f.witness(u).gamma), ball(f.weight), ball(f.k)
    for _ in range(4):
        x = [1 / (1 + (-(gamma - ball(v)) / c).exp()) for v in u]
        slope = sum((p * (1 - p) for p in x), arb(0)) / c
        if not slope > arb(2) ** -100:
            break
        gamma = (gamma - (sum(x, arb(0)) - k) / slope).mid()
    return bound_at(u, gamma, f)


def exact_penalty(d, f):
    """f as a ball at a point given by balls in [0, 1/k]."""
    total = arb(0)
    for p in d:
        x = ball(f.k) * p
        for y in (x, 1 - x):
            if y > 0:
                total += y * y.log()
        total += arb(2).log()
    return ball(f.weight / f.k) * total


@pytest.mark.parametrize("weight", [1e-9, 1e-3, 0.1, 1, Fraction(10, 3), 1e3])
def test_bounds_hold_and_are_attained(weight, rng):
    for k in (1, 2, 2.5, Fraction(13, 3), 5, 6):
        f = BinaryEntropy(k, weight)
        u = rng.uniform(-1, 1, 6)
        exact = maximum(u, f)
        scale = 2e-14 * max(1.0, 60 * float(f.weight) / float(k))
        value, d = f.relaxed_margin(u)
        assert abs(value - float(exact)) <= scale
        assert float(exact) - f.lower_bound(u, f.witness(u)) <= scale
        for gamma in (f.witness(u).gamma, *rng.normal(size=3), *ABSURD):
            bound = f.lower_bound(u, Witness(gamma))
            assert bound == -math.inf or ball(bound) <= exact
            if abs(gamma) < 100.0:
                assert bound == -math.inf or ball(bound) <= bound_at(u, ball(gamma), f)
        upper, distance = f.penalty_bound(d, sum_bounds(d))
        assert distance <= 1e-13
        assert -distance - scale <= upper + d @ u - value <= 10 * scale
        # The soft margin, a constant offset apart.
        soft = float(average_of_smallest(u, f.k))
        p = float(k) / 6
        entropy = -sum(x * math.log(x) for x in (p, 1 - p) if x > 0)
        rest = value - f.offset(6) - soft
        assert -float(f.weight) / p * entropy - scale <= rest <= scale


def test_penalty_bound_names_a_point_of_the_domain(rng):
    for case in range(200):
        m = int(rng.integers(1, 7))
        k = float(rng.choice([1.0, m, rng.uniform(1, m)]))
        f = BinaryEntropy(k, rng.choice([1e-9, 0.1, 1.0]))
        d = f.distribution(rng.normal(size=m), rng.choice([1e-12, 1e-3, 1.0]))
        if case % 2:
            d = d * rng.uniform(1 - 1e-9, 1 + 1e-9, m) * rng.uniform(0.5, 2)
        value, distance = f.penalty_bound(d, sum_bounds(d))
        total = sum((ball(x) for x in d), arb(0))
        x = [ball(p) / total for p in d]
        top = max(float((p * ball(f.k)).upper()) for p in x)
        share = arb(0)
        if top > 1 and f.k < m:
            share = (ball(top) - 1) / (ball(top) - ball(f.k / m))
        elif f.k == m:
            share = arb(1)
        moved = [p + share * (arb(1) / m - p) for p in x]
        size = share * sum((abs(p - arb(1) / m) for p in x), arb(0))
        assert ball(distance) + arb(2) ** -49 >= size
        assert ball(value) + ball(1e-12) >= exact_penalty(moved, f)
        assert distance <= 1e-7


def test_the_kernel_is_right_on_hard_cases(rng, monkeypatch):
    """Spreads from 1e-8 to 1e3, T from 1e-12 to 1e2, a down to 1e-13, ties; few passes."""
    passes = []
    miss = binary_entropy._Equation.miss
    monkeypatch.setattr(
        binary_entropy._Equation,
        "miss",
        lambda self, delta: passes.append(1) or miss(self, delta),
    )
    for case in range(1500):
        m = int(rng.integers(2, 30))
        u = rng.normal(size=m) * 10 ** rng.uniform(-8, 3)
        if case % 3 == 0:
            u = rng.choice(u[: max(1, m // 3)], size=m)
        T = 10 ** rng.uniform(-12, 2) if case % 2 else 10 ** rng.uniform(-2, 2) * np.ptp(u) + 1e-12
        a = float(rng.choice([1, 0.99, 0.5, 0.1, 1e-3, 1e-9, 1e-13]))
        k = float(rng.choice([1, m, rng.integers(1, m), rng.uniform(1, m), m - 1e-9]))
        passes.clear()
        d, gamma = logistic_distribution(u, T, k, a)
        assert len(passes) <= 60
        assert abs(d.sum() - 1.0) <= 1e-14
        assert math.isfinite(gamma)
        x = k * d
        inner = (x > 1e-250) & (x < 1 - 1e-6)
        if inner.any():
            level = T * (np.log(x[inner]) - a * np.log1p(-x[inner])) + u[inner]
            assert np.ptp(level) <= 1e-9 * (T + np.ptp(u[inner]))


def test_many_examples_are_guessed_from_few(rng):
    u = rng.normal(size=200_000)
    for k, T, a in ((1.0, 0.01, 1.0), (2e4, 1.0, 0.9), (2e4, 1e-4, 0.5), (2e4 + 0.5, 1e-9, 1.0)):
        d, gamma = logistic_distribution(u, T, k, a)
        assert d.sum() == pytest.approx(1.0, abs=1e-12)
        x = k * d
        inner = (x > 1e-200) & (x < 1 - 1e-6)
        level = T * (np.log(x[inner]) - a * np.log1p(-x[inner])) + u[inner]
        assert np.abs(level - gamma).max() <= 1e-9 * T + 1e-14


def test_fenchel_young_and_minimum(rng):
    f = BinaryEntropy(2.5, 0.3)
    assert f.penalty(np.full(6, 0.2)) == pytest.approx(0.0, abs=1e-15)  # x = 1/2
    assert f.conjugate(np.zeros(6)) == 0.0
    for _ in range(50):
        theta, d = rng.normal(size=6), rng.uniform(0, 0.4, 6)
        assert f.penalty(d) + f.conjugate(theta) >= d @ theta - 1e-14
        best = 0.4 / (1 + np.exp(-theta / 0.3))
        assert f.penalty(best) + f.conjugate(theta) == pytest.approx(best @ theta, abs=1e-14)
    assert f.penalty(np.array([0.4, 0.0])) == pytest.approx(0.3 / 2.5 * 2 * math.log(2))
    assert f.penalty(np.array([0.41, 0.0])) == math.inf
    assert f.penalty(np.array([0.3, -1e-9])) == math.inf
    assert f.traits == Traits(smooth=True, symmetric=True, zero_minimum=True)
    assert f.curvature(6) == 0.3


def test_limits(rng):
    u = rng.uniform(-1, 1, 9)
    for k in (1, 3, 4.5):
        f, soft = BinaryEntropy(k, 1e-9), Capped(k)
        value, d = f.relaxed_margin(u)
        assert value == pytest.approx(soft.relaxed_margin(u)[0], abs=1e-7)
        assert d == pytest.approx(soft.relaxed_margin(u)[1], abs=1e-7)
        near = soft.distribution(u, 0.1)
        assert f.distribution(u, 0.1) == pytest.approx(near, abs=1e-6)
    assert np.array_equal(BinaryEntropy(9).distribution(u, 0.1), np.full(9, 1 / 9))
    value = BinaryEntropy(9, 0.5).relaxed_margin(u)[0]
    assert value == pytest.approx(u.mean() + 0.5 * math.log(2), abs=1e-14)
    # Few of many: x is small, and a logistic function is an exponential.
    u = rng.uniform(-0.01, 0.01, 20_000)
    d = BinaryEntropy(1, 1).distribution(u, 1e-9)
    assert d == pytest.approx(softmax(-u), rel=1e-3)


def test_fraction_resolves_at_the_game():
    assert BinaryEntropy(fraction=0.1, weight=2).resolve(570) == BinaryEntropy(57, 2)
    assert BinaryEntropy(fraction=1 / 3).resolve(3) == BinaryEntropy(1)
    assert BinaryEntropy(57).key() != BinaryEntropy(57, 2).key()
    assert BinaryEntropy(4).entropy_range(8) == math.log(2)
