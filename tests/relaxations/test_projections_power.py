"""Distributions of powers: the equations of their definition hold."""

from __future__ import annotations

import numpy as np
import pytest

from relaxboost.relaxations._projections import power

M = 4200

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


def force(u, beta, kappa, q, mu, d):
    """Return the derivative of the objective for each positive weight."""
    used = d > 1e-200
    log_d = np.log(np.where(used, d, 1.0))
    return (u + np.copysign(mu, q) * kappa * d**q + beta * log_d)[used]


@pytest.mark.parametrize("beta", [1e-5, 1e-2, 3.0])
@pytest.mark.parametrize("q", [-0.5, 0.2, 1.0, 5.0])
@pytest.mark.parametrize("make", MARGINS.values(), ids=MARGINS)
def test_the_equations_hold(make, q, beta, rng):
    u, c = make(rng), 0.1
    for kappa in kappas(rng, q).values():
        even = float((kappa * np.full(M, 1.0 / M) ** (q + 1.0)).sum())
        d = power.power_penalty(u, beta, kappa, q, c)
        forces = [force(u, beta, kappa, q, c, d)]
        found = [d]
        if q > 0:
            d = power.norm_penalty(u, beta, kappa, q, c / even ** (1 / (q + 1.0)))
            norm = float((kappa * d ** (q + 1.0)).sum()) ** (1 / (q + 1.0))
            mu = c / even ** (1 / (q + 1.0)) * norm**-q
            forces.append(force(u, beta, kappa, q, mu, d))
            found.append(d)
        for each in forces:
            assert np.ptp(each) <= 1e-8 * max(1.0, np.abs(each).max())
        bound = even * np.exp(0.4 if q > 0 else -0.1)
        d = power.power_ball(u, beta, kappa, q, np.log(bound))
        energy = float((kappa * d ** (q + 1.0)).sum())
        assert np.copysign(1.0, q) * (energy / bound - 1.0) <= 1e-9
        found.append(d)
        for d in found:
            assert d.sum() == pytest.approx(1.0, abs=1e-12)


def test_equal_margins_have_equal_weights():
    d = power.norm_penalty(np.zeros(M), 0.1, np.ones(1), 1.0, 0.5)
    assert d == pytest.approx(np.full(M, 1.0 / M))


def test_a_small_ball_is_filled(rng):
    prior = rng.uniform(0.01, 1, M)
    prior /= prior.sum()
    d = power.power_ball(np.sort(rng.exponential(size=M)), 0.01, 1 / prior, 1.0, np.log1p(1e-3))
    assert ((d - prior) ** 2 / prior).sum() == pytest.approx(1e-3, abs=1e-11)


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
