"""Distributions of powers: the sample that starts them leaves no trace, and the equations hold."""

from __future__ import annotations

import numpy as np
import pytest

from relaxboost.relaxations._projections import power

M = 4200
"""Enough entries for a sample to be taken, if a sample has at most 1024 entries."""

MARGINS = {
    "normal": lambda rng: 0.1 * rng.normal(size=M),
    "sorted": lambda rng: np.sort(rng.exponential(size=M)),
    "one low": lambda rng: np.append(-50.0, rng.normal(size=M - 1)),
    "ties": lambda rng: 0.5 * rng.integers(0, 3, M),
    "heavy tails": lambda rng: rng.standard_cauchy(M),
}


def kappas(rng, q):
    prior = rng.uniform(0.01, 1, M)
    return {"equal": np.full(1, float(M) ** q), "prior": (prior / prior.sum()) ** -q}


def solve(kind, u, beta, kappa, q):
    energy = float((kappa * np.full(M, 1.0 / M) ** (q + 1.0)).sum())
    if kind == "penalty":
        return power.power_penalty(u, beta, kappa, q, 0.1)
    if kind == "norm":
        return power.norm_penalty(u, beta, kappa, q, 0.1 / energy ** (1 / (q + 1.0)))
    return power.power_ball(u, beta, kappa, q, np.log(energy) + (0.4 if q > 0 else -0.1))


@pytest.mark.parametrize("beta", [1e-5, 1e-2, 3.0])
@pytest.mark.parametrize(
    ("kind", "q"),
    [(kind, q) for kind in ("penalty", "norm", "ball") for q in (0.2, 1.0, 5.0)]
    + [("penalty", -0.5), ("ball", -0.5)],
)
def test_the_sample_leaves_no_trace(kind, q, beta, rng, monkeypatch):
    for make in MARGINS.values():
        u = make(rng)
        for kappa in kappas(rng, q).values():
            expected = solve(kind, u, beta, kappa, q)
            with monkeypatch.context() as patch:
                patch.setattr(power, "MAX_SAMPLE", 1024)
                found = solve(kind, u, beta, kappa, q)
            assert np.abs(found - expected).sum() <= 1e-9


def test_a_sample_of_equal_margins(monkeypatch):
    monkeypatch.setattr(power, "MAX_SAMPLE", 1024)
    d = power.norm_penalty(np.zeros(M), 0.1, np.ones(1), 1.0, 0.5)
    assert d == pytest.approx(np.full(M, 1.0 / M))


def test_a_sample_without_a_solution_is_dropped(rng, monkeypatch):
    """The ball is so small that most samples of the prior miss it."""
    monkeypatch.setattr(power, "MAX_SAMPLE", 1024)
    prior = rng.uniform(0.01, 1, M)
    prior /= prior.sum()
    d = power.power_ball(np.sort(rng.exponential(size=M)), 0.01, 1 / prior, 1.0, np.log1p(1e-3))
    assert ((d - prior) ** 2 / prior).sum() == pytest.approx(1e-3, abs=1e-11)


@pytest.mark.parametrize("q", [-0.5, 0.2, 1.0, 5.0])
def test_the_equations_hold(q, rng):
    u, beta, mu = 0.1 * rng.normal(size=M), 0.01, 0.1
    for kappa in kappas(rng, q).values():
        d = power.power_penalty(u, beta, kappa, q, mu)
        assert d.sum() == pytest.approx(1.0, abs=1e-12)
        used = d > 1e-200
        force = u + np.copysign(mu, q) * kappa * d**q + beta * np.log(np.where(used, d, 1.0))
        assert np.ptp(force[used]) <= 1e-9 * max(1.0, np.abs(force[used]).max())


@pytest.mark.parametrize("size", [1e-20, 1.0, 1e30, 1e100])
@pytest.mark.parametrize("q", [-0.95, -0.5, 1.0, 2.0, 19.0])
def test_a_tiny_weight_and_beta_leave_the_least_margin(q, size, rng):
    """g − min u was below a rounding of min u, or too far from the second margin for bisection."""
    for m in (2, 100, M):
        u = size * rng.normal(size=m)
        expected = (u == u.min()).astype(float)
        for mu in (1e-100, 1e-50):
            for beta in (1e-120, 1e-60):
                d = power.power_penalty(u, beta, np.ones(1), q, mu)
                assert d == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("beta", [1e-6, 1e-3, 1.0, 100.0])
@pytest.mark.parametrize("q", [-0.5, 0.5, 1.0, 4.0])
def test_a_tiny_ball_is_used_up_to_its_boundary(q, beta, rng):
    """The tolerance of the energy exceeded the room in the ball, and d was halfway to it."""
    radius = 1e-9
    for m in (2, 5, M):
        u = rng.uniform(-1.0, 1.0, m)
        # The energy of d = (1 + e)/m is 1 + q (q + 1)/2 · mean(e²), up to third-order terms.
        bound = np.log1p(q * (q + 1.0) / 2.0 * radius)
        d = power.power_ball(u, beta, np.full(1, float(m) ** q), q, bound)
        assert np.mean((m * d - 1.0) ** 2) == pytest.approx(radius, rel=1e-3)
