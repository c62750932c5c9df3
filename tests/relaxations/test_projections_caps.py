"""Caps for each example and weighted plateaus: against an exact twin, conditions and cvxpy."""

from __future__ import annotations

import math
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from flint import arb, ctx

from relaxboost.relaxations._projections.capped import capped_distribution
from relaxboost.relaxations._projections.caps import caps_distribution, caps_threshold
from relaxboost.relaxations._projections.max_penalty import (
    max_penalty_distribution,
    max_penalty_margin,
)
from tests.twins import rational


def exact_twin(u, beta, caps, prior=None, bits=400):
    """Walk over the ratios cap / e in increasing order, in ball arithmetic."""
    previous, ctx.prec = ctx.prec, bits
    try:
        m = len(u)
        prior = np.ones(m) if prior is None else prior
        low, b = min(map(rational, u.tolist())), arb(rational(beta))
        e = [
            (arb(low - rational(x)) / b).exp() * arb(rational(a))
            for x, a in zip(u.tolist(), prior.tolist(), strict=True)
        ]
        c = [arb(rational(x)) for x in caps.tolist()]
        ratio = [ci / ei for ci, ei in zip(c, e, strict=True)]
        order = sorted(range(m), key=lambda i: ratio[i].log() if caps[i] > 0 else arb(-(10**400)))
        rest, x = arb(1), None
        for r, i in enumerate(order):
            total = sum((e[j] for j in order[r:]), arb(0))
            x = rest / total
            if not x > ratio[i]:
                break
            rest -= c[i]
        return np.array([float((x * ei).min(ci).mid()) for ei, ci in zip(e, c, strict=True)])
    finally:
        ctx.prec = previous


def hard_cases(rng, count):
    """Yield (u, β, caps): β from 1e-15 to 1e10, ties, caps that sum to little more than one."""
    for case in range(count):
        m = int(rng.integers(1, 10))
        beta = 10.0 ** rng.uniform(-15, 10)
        u = rng.choice([-1.0, 1.0, 0.25], m) if case % 3 == 0 else rng.uniform(-1, 1, m)
        if case % 4 == 0:  # differences of the size of β
            u = rng.normal(size=m) * beta * 3
        caps = rng.exponential(size=m) * rng.choice([1e-8, 1e-2, 1.0], m) + 1e-300
        if case % 5 == 0:
            caps[rng.random(m) < 0.3] = 0.0
        caps[rng.integers(m)] += 1e-9
        caps *= rng.choice([1.0 + 1e-12, 1.05, 3.0]) / caps.sum()
        yield u, beta, caps


def test_hard_cases_equal_the_exact_twin(rng):
    binding = 0
    for case, (u, beta, caps) in enumerate(hard_cases(rng, 3000)):
        prior = rng.integers(1, 9, u.size).astype(float) if case % 2 else None
        d = caps_distribution(u, beta, caps, prior)
        exact = exact_twin(u, beta, caps, prior)
        # A margin known to one rounding moves log d by that over β, and only where e matters.
        assert np.abs(d - exact).max() <= 1e-13, (u, beta, caps, prior)
        assert abs(d.sum() - 1.0) <= 4e-16 * u.size
        assert (d <= caps).all()
        binding += bool((d == caps).any() and (d < caps).any())
    assert binding > 1500


@pytest.mark.parametrize("beta", [1e-300, 1e-12, 1e-2, 1.0, 1e10])
def test_conditions_of_optimality_in_the_log_domain(beta, rng):
    """log d = (λ − u)/β where free; log c <= that where capped."""
    for _ in range(100):
        m = int(rng.integers(2, 60))
        u = rng.choice([-1.0, 0.0, 1.0], m) + (rng.random() < 0.5) * rng.uniform(-1, 1, m)
        caps = rng.uniform(0.01, 1.0, m) * 4 / m
        caps *= max(1.0, 1.01 / caps.sum())
        d = caps_distribution(u, beta, caps)
        free = (d < np.minimum(caps, 1.0)) & (d > 0)
        if not free.any():
            continue
        pivot = np.flatnonzero(free)[np.argmax(d[free])]
        with np.errstate(over="ignore"):
            scores = math.log(d[pivot]) + (u[pivot] - u) / beta
        assert np.allclose(np.log(d[free]), scores[free], rtol=1e-12, atol=1e-9)
        capped = d == np.minimum(caps, 1.0)
        assert (np.log(caps[capped]) <= scores[capped] + 1e-9).all()
        assert (scores[d == 0] < -700).all()


def test_equal_caps_are_the_capped_simplex_and_ties_share(rng):
    for beta in (1e-300, 1e-3, 1.0, 1e10):
        for m, k in ((1, 1.0), (7, 2.5), (50, 20.0), (50, 1.0)):
            u = np.round(rng.normal(size=m), 1)
            ours = caps_distribution(u, beta, np.full(m, 1 / k))
            assert np.abs(ours - capped_distribution(u, beta, k)).max() <= 1e-15
    infinite = np.array([0.0, math.inf, 1.0])
    # All margins equal: water fills the caps to one level however small β is.
    assert caps_distribution(np.ones(4), 1e-300, np.array([0.1, 0.2, 1.0, 5.0])) == pytest.approx(
        [0.1, 0.2, 0.35, 0.35], abs=1e-15
    )
    assert caps_distribution(infinite, 1e-9, np.array([0.75, 1, 1])).tolist() == [0.75, 0, 0.25]


def test_a_large_vector_in_any_order(rng):
    m = 100_000
    u, caps = np.round(rng.normal(size=m), 3), rng.uniform(0, 5 / m, m)
    order = rng.permutation(m)
    for beta in (1e-6, 0.1, 10.0):
        d = caps_distribution(u, beta, caps)
        assert d.sum() == pytest.approx(1.0, abs=1e-14)
        again = caps_distribution(u[order], beta, caps[order])
        assert np.allclose(d[order], again, rtol=1e-12, atol=0)
    gamma = caps_threshold(u, caps)
    assert caps[u < gamma].sum() < 1.0 <= caps[u <= gamma].sum()


def test_plateau_satisfies_its_optimality_conditions(rng):
    """The multipliers of a d <= M are non-negative, sum to c and vanish below the plateau."""
    for case in range(500):
        m = int(rng.integers(1, 30))
        u = rng.uniform(-1, 1, m) if case % 3 else rng.choice([-1.0, 1.0], m)
        a = np.exp(rng.normal(size=m)) if case % 2 else np.ones(m)
        beta, c = 10.0 ** rng.uniform(-2, 1), 10.0 ** rng.uniform(-4, 2)
        d = max_penalty_distribution(u, beta, c, a)
        assert d.sum() == pytest.approx(1.0, abs=1e-14)
        top = a * d >= (a * d).max() * (1 - 1e-12)
        gradient = u + beta * np.log(np.maximum(d, 1e-320))  # + β
        if top.all():
            level = (c + (gradient / a).sum()) / (1 / a).sum()
        else:
            level = gradient[~top & (d > 1e-300)].mean()
            assert np.abs(gradient[~top & (d > 1e-300)] - level).max() <= 1e-9
        multipliers = (level - gradient[top]) / a[top]
        assert multipliers.min() >= -1e-9
        assert multipliers.sum() == pytest.approx(c, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_plateau_agrees_with_cvxpy_and_tends_to_its_limit(weighted, rng):
    for m in (1, 3, 8):
        u = rng.normal(size=m) * 0.5
        a = np.exp(rng.normal(size=m)) if weighted else None
        factors = np.ones(m) if a is None else a
        c, beta = float(rng.uniform(0, 2)), 0.2
        d = cp.Variable(m, nonneg=True)
        penalty = u @ d + c * cp.max(cp.multiply(factors, d))
        smooth = cp.Problem(cp.Minimize(penalty - beta * cp.sum(cp.entr(d))), [cp.sum(d) == 1])
        linear = cp.Problem(cp.Minimize(penalty), [cp.sum(d) == 1])
        ours = max_penalty_distribution(u, beta, c, a)

        def value(p, u=u, c=c, factors=factors):
            return float(u @ p + c * (factors * p).max())

        best = smooth.solve(solver="CLARABEL")
        assert value(ours) + beta * ours @ np.log(ours) == pytest.approx(best, abs=1e-7)
        gamma, sharp = max_penalty_margin(u, c, a)
        assert gamma == pytest.approx(linear.solve(solver="CLARABEL"), abs=1e-7)
        assert value(sharp) == pytest.approx(gamma, abs=1e-14)
        for tiny in (1e-9, 1e-300):
            assert value(max_penalty_distribution(u, tiny, c, a)) == pytest.approx(gamma, abs=1e-7)


def test_plateau_corners():
    u, infinite = np.array([0.0, 1.0, 3.0]), np.array([0.0, math.inf, 1.0])
    assert max_penalty_margin(u, 0.0) == (0.0, pytest.approx([1, 0, 0]))
    assert max_penalty_margin(u, 1e-300)[0] == 1e-300
    assert max_penalty_margin(u, 5.0)[0] == 3.0  # 3 + 2 = 5
    assert max_penalty_margin(u, 8.0)[0] == pytest.approx(4.0, abs=1e-15)
    exact = (Fraction(1) + Fraction(1, 2)) / (1 + Fraction(1, 2))  # a = (1, 2, 1), two below
    assert max_penalty_margin(u, 1.0, np.array([1, 2, 1]))[0] == pytest.approx(
        float(exact), abs=1e-15
    )
    softmax = capped_distribution(u, 0.7)
    assert np.abs(max_penalty_distribution(u, 0.7, 0.0) - softmax).max() <= 1e-16
    assert np.abs(max_penalty_distribution(u, 0.7, 1e-20) - softmax).max() <= 1e-16
    assert max_penalty_distribution(u, 0.7, 1e9, np.array([1, 2, 4])) == pytest.approx(
        np.array([4, 2, 1]) / 7, abs=1e-9
    )
    # With tied margins and c far below β, log a must not be lost beside the margins.
    tied = max_penalty_distribution(np.full(3, 0.5), 1e-300, 0.0, np.array([1, 2, 3]))
    assert tied == pytest.approx(np.ones(3) / 3, abs=1e-16)
    assert max_penalty_distribution(infinite, 0.1, 0.5).tolist()[1] == 0.0
    assert max_penalty_margin(infinite, 3.0)[0] == pytest.approx(2.0)


def exact_level(u, c, a):
    """Return the γ with Σ [γ − u_i]_+ / a_i = c in exact arithmetic."""
    pairs = sorted(
        (Fraction(x), 1 / Fraction(y)) for x, y in zip(u.tolist(), a.tolist(), strict=True)
    )
    rest = Fraction(c)
    slope = Fraction(0)
    for i, (x, inverse) in enumerate(pairs):
        slope += inverse
        if i + 1 == len(pairs) or rest <= slope * (pairs[i + 1][0] - x):
            return float(x + rest / slope)
        rest -= slope * (pairs[i + 1][0] - x)


def test_factors_of_very_different_sizes(rng):
    """The sums up to a margin cancelled, and the level was that of another margin."""
    for _ in range(200):
        u = rng.normal(size=5)
        a = 10.0 ** rng.uniform(-40, 40, 5)
        c = 10.0 ** rng.uniform(-40, 40)
        level = exact_level(u, c, a)
        assert max_penalty_margin(u, c, a)[0] == pytest.approx(level, rel=1e-12, abs=1e-12)
