"""The entropic projection of Fig. 2 against its exact twin, and the cases that break it."""

from __future__ import annotations

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.relaxations._projections.capped import by_sorting, capped_distribution
from relaxboost.solvers import Corrective
from tests.twins import fig2_exact, fig2_float, fig2_walked

METHODS = (capped_distribution, by_sorting)


def hard_cases(rng: np.random.Generator, count: int):
    """Yield (u, β, k): β from 1e-9 to 10, spreads of u to 1e6, ties, integer and real k."""
    for case in range(count):
        m = int(rng.integers(1, 13))
        spread = 10.0 ** rng.uniform(-6, 6)
        beta = 10.0 ** rng.uniform(-9, 1)
        u = rng.normal(size=m) * spread
        if case % 3 == 0:  # ties: few distinct values
            u = rng.choice(u[: max(1, m // 3)], size=m)
        if case % 5 == 0:  # differences of the size of β, where the answer is not a vertex
            u = spread + beta * rng.normal(size=m) * 3
        if case % 7 == 0:
            u = np.round(u / beta) * beta
        k = float(rng.choice([1, m, rng.integers(1, m + 1), rng.uniform(1, m)]))
        yield u, beta, min(max(k, 1.0), float(m))


def test_ten_thousand_hard_cases_equal_the_exact_twin(rng):
    worst = 0.0
    capped = 0
    for u, beta, k in hard_cases(rng, 10_000):
        exact = np.array([float(x.mid()) for x in fig2_exact(u, beta, k)])
        for method in METHODS:
            d = method(u, beta, k)
            worst = max(worst, float(np.abs(d - exact).max()))
            assert abs(d.sum() - 1.0) <= 1e-14 * u.size
            assert d.min() >= 0.0
            assert d.max() <= 1.0 / k * (1 + 1e-15)
        capped += bool(exact.max() >= (1 - 1e-12) / k > exact.min() + 1e-9)
    print(f"largest difference from the exact twin: {worst:.2e}")
    assert worst <= 1e-10
    assert capped > 3500  # the cap binds, and not everywhere


@pytest.mark.parametrize(
    ("theta", "k"),
    [
        ((0, -40, -41), 2),
        ((0, -34, -35, -36.5), 2),
        ((0, -37, -8), 3),
        ((0, -800, -801), 2),
    ],
)
def test_cases_that_break_the_linear_domain(theta, k):
    theta = np.array(theta, dtype=float)
    with np.errstate(all="ignore"):
        printed = fig2_float(theta, 1 / k)
    assert not (np.isfinite(printed).all() and abs(printed.sum() - 1) < 1e-3)
    exact = [float(x.mid()) for x in fig2_exact(-theta, 1.0, float(k))]
    for method in METHODS:
        d = method(-theta, 1.0, k)
        assert d.sum() == pytest.approx(1.0, abs=1e-15)
        assert np.abs(d - exact).max() <= 1e-15


@pytest.mark.parametrize("method", METHODS)
def test_corners(method):
    assert method(np.array([0.3]), 1.0, 1).tolist() == [1.0]
    for m in (2, 3, 7, 50):  # ν = 1/m leaves the uniform distribution only
        u = np.linspace(-1, 1, m)
        assert np.abs(method(u, 1e-9, m) - 1 / m).max() <= 1e-16
        assert np.abs(method(np.zeros(m), 1.0, 1) - 1 / m).max() <= 1e-16
    # k fractional, β -> 0: the limit is the minimiser of AvgMin_k
    d = method(np.arange(4.0), 1e-9, 2.5)
    assert d == pytest.approx([0.4, 0.4, 0.2, 0.0], abs=1e-15)


@pytest.mark.parametrize("method", METHODS)
def test_zeros_of_d0(method):
    with np.errstate(divide="ignore"):
        u = -np.log([0.5, 0.3, 0.2, 0.0, 0.0])
    d = method(u, 1.0, 2)
    assert d == pytest.approx([0.5, 0.3, 0.2, 0, 0], abs=1e-15)
    d = method(u, 1.0, 3)
    assert d == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0, 0], abs=1e-15)


def test_large_margins_do_not_matter(rng):
    """Only differences of margins over β enter (metamorphic)."""
    u = rng.integers(-100, 100, size=30).astype(float)
    for k in (1.0, 4.5, 30.0):
        d = capped_distribution(u, 3.0, k)
        assert np.array_equal(d, capped_distribution(u + 2.0**20, 3.0, k))
        assert np.array_equal(d, capped_distribution(u * 2.0**40, 3.0 * 2.0**40, k))
        order = rng.permutation(30)
        assert np.allclose(d[order], capped_distribution(u[order], 3.0, k), rtol=0, atol=1e-16)


def test_methods_agree_on_a_large_vector(rng):
    u = np.round(rng.normal(size=20_000), 3)
    for k in (1.0, 2.0, 1999.5, 20_000.0):
        for beta in (1e-6, 0.01, 1.0):
            one, other = (method(u, beta, k) for method in METHODS)
            assert np.abs(one - other).max() <= 1e-14
            assert one.sum() == pytest.approx(1.0, abs=1e-12)


def test_a_sample_of_many_margins_changes_nothing(rng):
    """It only says where to look: also where there are ties, where it misleads, and where it misses
    what is infinite."""
    m = 5000
    smooth = rng.normal(size=m)
    with_ties = rng.choice(smooth[:7], size=m)
    misleading = np.where(np.arange(m) % (m // (m // 16)) == 0, 3.0, 0.0) + 1e-3 * smooth
    infinite = np.where(rng.random(m) < 0.2, np.inf, smooth)
    for u in (smooth, with_ties, misleading, -misleading, infinite, np.zeros(m)):
        for k in (1.0, 1.5, m / 10, m / 3 + 0.25, np.isfinite(u).sum() * 1.0):
            for beta in (1e-300, 1e-4, 0.01, 1e3):
                d = capped_distribution(u, beta, k)
                assert np.abs(d - fig2_walked(u, beta, k)).max() <= 1e-12 / k
                assert d.sum() == pytest.approx(1.0, abs=1e-12)
                assert d.max() <= 1.0 / k * (1 + 1e-15)


@pytest.mark.parametrize("beta", [5e-324, 1e-300, 1e-18, 1e18, 1e300])
def test_any_size_of_beta(beta, rng):
    for m in (20, 300):
        u = rng.normal(size=m)
        for k in (1.0, 7.0, 6.5):
            d = capped_distribution(u, beta, k)
            assert np.allclose(d, by_sorting(u, beta, k), rtol=1e-12, atol=1e-15)


class Wider(rb.Capped):
    """A user's subclass that overrides the distribution and the relaxed margin."""

    def _distribution(self, u, beta):
        return super()._distribution(u, 2 * beta)

    def relaxed_margin(self, u):
        value, d = super().relaxed_margin(u)
        return value - 0.125, d


@pytest.mark.parametrize("family", [rb.Capped, Wider])
def test_rounds_show_the_margin_and_the_distribution_of_the_relaxation(family, rng):
    """To the bit for the distribution, and for a subclass its own methods."""
    A = np.where(rng.random((400, 60)) < 0.6, 1.0, -1.0)
    game = rb.Game(A, family(k=80))
    seen = []

    def look(state):
        f, u = game.relaxation, state.active.u
        assert state.lower == pytest.approx(f.relaxed_margin(u)[0], rel=1e-13, abs=1e-14)
        assert np.array_equal(state.d, f.distribution(u, 1e-3))
        seen.append(state.round)

    rb.solve(game, 1e-9, Corrective(step="pairwise", beta=1e-3), max_rounds=50, callback=look)
    assert len(seen) == 50
