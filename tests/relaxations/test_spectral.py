"""SpectralRisk against its parts, and against its definition in fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost.relaxations import SpectralRisk
from relaxboost.testing import check_relaxation


def mixtures(rng, count):
    """Yield (f, m) with one to three k, whole or not, some of them equal, some of weight 0."""
    for number in range(count):
        m, parts = int(rng.integers(1, 9)), int(rng.integers(1, 4))
        ks = [Fraction(int(k), 4) for k in rng.integers(4, 4 * m + 1, parts)]
        shares = rng.integers(0, 4, parts)
        shares[number % parts] += 1
        weights = [Fraction(int(p), int(shares.sum())) for p in shares]
        yield SpectralRisk(ks, weights).resolve(m), m


def solved(problem):
    problem.solve(solver="CLARABEL")
    return problem.value


def test_it_is_the_mixture_of_its_parts(rng):
    for number, (f, m) in enumerate(mixtures(rng, 200)):
        u = rng.normal(size=m).round(1 if number % 2 else 9)
        pairs = zip(f.ks, f.weights, strict=True)
        expected = sum(float(p) * rb.Capped(k).relaxed_margin(u)[0] for k, p in pairs)
        value, d = f.relaxed_margin(u)
        assert value == pytest.approx(expected, abs=1e-14)
        assert f.penalty(d) == 0.0
        assert expected - 1e-14 <= f.lower_bound(u, f.witness(u)) + 1e-14 <= value + 2e-14


def test_one_k_is_a_cap(rng):
    for k in (1, Fraction(5, 2), 6):
        f, cap, u = SpectralRisk([k], [1]), rb.Capped(k), rng.normal(size=6)
        assert f.relaxed_margin(u)[0] == pytest.approx(cap.relaxed_margin(u)[0], abs=1e-15)
        assert np.allclose(f.distribution(u, 0.2), cap.distribution(u, 0.2), rtol=0, atol=1e-15)
        largest = np.sort(np.abs(u))[::-1]  # f also bounds Σ |d|, which the cap leaves to the game
        shares = np.clip(float(k) - np.arange(6), 0.0, 1.0) / float(k)
        assert f.conjugate(u) == pytest.approx(float(shares @ largest), abs=1e-15)
        assert f.entropy_range(6) <= cap.entropy_range(6) + 1e-15


def test_it_is_no_cap_when_there_are_two():
    """With p = (1/2, 1/2) and k = (1, 3) one cap of 2/3 would let two examples have it."""
    f, cap = SpectralRisk([1, 3], [0.5, 0.5]), rb.Caps([2 / 3] * 3)
    assert f.relaxed_margin([0.0, 0.0, 3.0])[0] == pytest.approx(0.5)
    assert cap.relaxed_margin([0.0, 0.0, 3.0])[0] == pytest.approx(0.0)
    assert f.penalty(np.array([2 / 3, 1 / 3, 0.0])) == math.inf
    assert f.penalty(np.array([2 / 3, 1 / 6, 1 / 6])) == 0.0


def test_equal_ks_and_weights_of_zero_conform():
    assert check_relaxation(SpectralRisk([1, 2.5, 2.5, 4], [0.25, 0.25, 0, 0.5]), (5,))


def test_membership_and_the_parts_of_a_point(rng):
    inside = 0
    for f, m in mixtures(rng, 60):
        d = rng.dirichlet(np.full(m, 0.6)) * rng.choice([1, -1], m)
        z = cp.Variable(m)
        apart = solved(cp.Problem(cp.Minimize(cp.norm1(z - d)), f.cvxpy_penalty(z)[1]))
        assert (apart < 1e-6) == (f.penalty(d) == 0.0)
        inside += apart < 1e-6
        assert f.penalty(f.repair(np.abs(d))) == 0.0
        point = f.exact_point(np.abs(d).tolist())
        assert min(point) >= 0
        assert sum(point) == 1
        mixture, parts = f._mixture, np.reshape(f.exact_auxiliaries(point), (-1, m))
        assert (parts.sum(axis=0) == point).all()
        for (k, p), part in zip(mixture, parts, strict=True):
            assert min(part) >= 0
            assert max(part) <= p / k
            assert sum(part) == p
    assert 10 < inside < 50


@pytest.mark.parametrize("beta", [1e-9, 1e-3, 1e6])
def test_extreme_margins_and_temperatures(beta, rng):
    f = SpectralRisk([1, 2.5, 6], [0.25, 0.25, 0.5]).resolve(6)
    for u in (rng.normal(size=6) * 1e6, np.zeros(6), np.array([0, 0, 1, 1, 1e300, 1e300])):
        d = f.distribution(u, beta)
        assert f.penalty(d) == 0.0
        assert d.sum() == pytest.approx(1.0, abs=1e-14)
        order = np.argsort(u, kind="stable")
        assert (np.diff(d[order]) <= 1e-16).all()
        assert f.penalty_bound(d, (1.0 - 1e-15, 1.0 + 1e-15))[1] < 1e-12


def test_certificates_and_exact_values(rng):
    for f, m in mixtures(rng, 12):
        A = rng.choice([-1.0, 1.0], size=(m, 4))
        game = rb.Game(A, f, over=rb.Simplex() if m % 2 else rb.L1Ball(Fraction(1, 3)))
        solution = rb.solve(game, tol=1e-6)
        certificate = rb.certify(solution)
        assert certificate.level == "exact"
        verdict = certificate.check()
        assert verdict, verdict.reason
        value = rb.exact_value(game)
        assert certificate.lower <= value <= certificate.upper
        assert solution.lower <= value <= solution.upper


def test_wrong_parameters():
    for ks, weights, reason in (
        ([1, 2], [1], "one weight for each k"),
        ([0.5], [1], "ks >= 1"),
        ([1, 2], [1.5, -0.5], "weights >= 0"),
        ([1, 2], [0.5, 0.4], "sum to one"),
        ([], [], "at least|entry|an entry"),
        (3, [1], "vector"),
    ):
        with pytest.raises(rb.InputError, match=reason):
            SpectralRisk(ks, weights)
    with pytest.raises(rb.InputError, match="m = 3 examples"):
        rb.Game(np.eye(3), SpectralRisk([1, 4], [0.5, 0.5]))
