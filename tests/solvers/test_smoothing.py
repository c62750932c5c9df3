"""Smoothing by binary entropies: the same brackets, other distributions."""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost import BinaryEntropy, Capped, HardMargin, InputError, KLBall, KLPenalty
from relaxboost.solvers import Corrective, ERLPBoost
from relaxboost.solvers.smoothing import binary_range

RELAXATIONS = [HardMargin(), Capped(1), Capped(2.5), Capped(4), KLPenalty(0.2)]


def binary_entropy(d):
    return -cp.sum(cp.entr(d) + cp.entr(1 - d))


@pytest.mark.parametrize("f", [*RELAXATIONS, KLPenalty(0.3, (0.5, 0.25, 0.25, 0, 0, 0))])
def test_distributions_match_cvxpy(f, rng):
    for beta in (0.05, 1.0):
        u = rng.uniform(-1, 1, 6)
        d = cp.Variable(6, nonneg=True)
        penalty, constraints = f.cvxpy_penalty(d)
        goal = cp.Minimize(u @ d + penalty + beta * binary_entropy(d))
        cp.Problem(goal, [cp.sum(d) == 1, *constraints]).solve(solver="CLARABEL")
        ours = f.binary_distribution(u, beta)
        assert ours == pytest.approx(d.value, abs=2e-4)
        assert ours.sum() == pytest.approx(1.0, abs=1e-14)
        assert f.penalty(ours) < math.inf


@pytest.mark.parametrize("beta", [1e-12, 1e-9, 1e-3, 0.1, 10.0])
def test_distributions_meet_their_optimality_conditions(beta, rng):
    """u + β log d/(1 − d) is the same for all i below the cap, and at most that at the cap."""
    for m in (1, 2, 5, 40):
        for k in {1.0, 1.01, min(m, 2.5), float(m), max(1.0, m - 1.0), max(1.0, m / 3)}:
            if not 1 <= k <= m:
                continue
            u = rng.uniform(-1, 1, m)
            if m > 2:
                u[:2] = u.min()  # ties
                u[2] = u[0] + beta
            d = Capped(k).binary_distribution(u, beta)
            assert d.sum() == pytest.approx(1.0, abs=1e-13)
            assert d.max() <= 1 / k
            free = (d > 1e-250) & (d < (1 - 1e-9) / k) & (d < 1 - 1e-6)
            if free.any():
                level = beta * (np.log(d[free]) - np.log1p(-d[free])) + u[free]
                assert np.ptp(level) <= 1e-9 * beta + 1e-15
                capped = d >= (1 - 1e-12) / k
                if k > 1:
                    at_cap = u[capped] - beta * math.log(k - 1)
                    assert np.all(at_cap <= level.max() + 1e-9 * beta + 1e-15)


def test_range_is_that_of_the_smoother(rng):
    for m in (1, 2, 3, 17):
        stated = math.log(m) + binary_range(m)

        def entropy(d):
            return sum(x * math.log(x) for x in (*d, *(1 - d)) if x > 0)

        assert entropy(np.eye(m)[0]) == 0.0
        assert entropy(np.full(m, 1 / m)) == pytest.approx(-stated, abs=1e-12)
        for _ in range(20):
            assert -stated - 1e-12 <= entropy(rng.dirichlet(np.ones(m))) <= 0.0


@pytest.mark.parametrize(
    "method",
    [
        *(
            Corrective(step=step, smoothing="binary-entropy")
            for step in ("fig1", "line-search", "pairwise")
        ),
        ERLPBoost(smoothing="binary-entropy"),
    ],
)
def test_smoothed_runs_reach_certified_gaps(method, rng):
    A = rng.choice([-1.0, 1.0], (20, 12), p=[0.35, 0.65])
    for f in (HardMargin(), Capped(4), KLPenalty(0.1)):
        game = rb.Game(A, f)
        solution = rb.solve(game, 0.1, method)
        assert solution.status == "optimal"
        assert solution.gap <= 0.1
        assert "binary entropy" in solution.method
        # No theorem bounds the pairwise steps, whose bound is nan.
        assert math.isnan(solution.bound) or solution.rounds <= solution.bound
        assert rb.compare(solution, rb.reference(game))


def test_bound_and_beta_use_the_range_of_the_smoother(monkeypatch, rng):
    seen = []
    own = HardMargin.binary_distribution

    def spy(self, u, beta):
        seen.append(beta)
        return own(self, u, beta)

    monkeypatch.setattr(HardMargin, "binary_distribution", spy)
    game = rb.Game(rng.choice([-1.0, 1.0], (8, 5)))
    solution = rb.solve(game, 0.2, Corrective(smoothing="binary-entropy"), max_rounds=3)
    spread = math.log(8) + 7 * math.log(8 / 7)
    assert seen == pytest.approx([0.2 / (2 * spread)] * len(seen))
    assert len(seen) >= 3
    assert solution.bound == pytest.approx(64 * spread / 0.2**2)


def test_smoothed_stopping_is_that_of_fig1(rng):
    game = rb.Game(rng.choice([-1.0, 1.0], (15, 10), p=[0.4, 0.6]))
    solution = rb.solve(game, 0.2, Corrective(smoothing="binary-entropy", stopping="smoothed"))
    assert solution.status == "optimal"
    assert solution.gap <= 1.5 * 0.2 + 1e-9


@pytest.mark.parametrize(
    ("f", "options", "message"),
    [
        (HardMargin(), {"smoothing": "none"}, "unknown smoothing 'none'; choose one of entropy"),
        (KLBall(1), {}, "these relaxations have it: CVaR, Capped, HardMargin, KLPenalty"),
        (BinaryEntropy(2), {}, "method binary_distribution"),
    ],
)
def test_wrong_arguments(f, options, message):
    game = rb.Game(np.eye(3), f)
    with pytest.raises(InputError, match=message):
        rb.solve(game, 1, ERLPBoost(**{"smoothing": "binary-entropy", **options}))
