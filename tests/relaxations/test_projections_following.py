"""Capped projections and soft margins that begin where the last ones ended."""

import math

import numpy as np
import pytest

import relaxboost as rb
from relaxboost.relaxations._projections import (
    CappedFollower,
    MeanFollower,
    by_sorting,
    capped_distribution,
)
from relaxboost.relaxations.base import margin_function, projector
from relaxboost.solvers import Corrective


def walks(rng, m):
    """Margins that move a little, then far, then not at all; and such with many ties."""
    for digits in (17, 2):
        u = rng.normal(size=m) * 0.1
        for size in (1e-4, 1e-3, 0.0, 0.05, 3.0, 1e-3, -2.0, 1e-3):
            u = np.round(u + size * (rng.choice([-1.0, 0.0, 1.0], m) + size), digits)
            yield u


@pytest.mark.parametrize("m", [1, 2, 7, 300, 5000])
@pytest.mark.parametrize("beta", [1e-5, 1e-3, 0.05, 10.0])
def test_the_projection_is_the_same_wherever_it_begins(rng, m, beta):
    for k in {1.0, m / 10, m / 3, float(max(1, m // 2)), m - 0.5, float(m)}:
        if k < 1.0:
            continue
        follow = CappedFollower(beta, k)
        for u in (*walks(rng, m), np.zeros(m)):
            d = follow(u)
            assert np.array_equal(d, CappedFollower(beta, k)(u))
            assert np.allclose(d, by_sorting(u, beta, k), rtol=1e-10, atol=1e-15)
            assert abs(math.fsum(d) - 1.0) <= 1e-13
            assert d.min() >= 0.0
            assert d.max() <= (1.0 + 4e-16) / k


@pytest.mark.parametrize("beta", [5e-324, 1e-300, 1e-18, 1e18, 1e300])
def test_any_size_of_beta(rng, beta):
    for k in (1.0, 7.0, 6.5):
        follow = CappedFollower(beta, k)
        for u in (*walks(rng, 20), np.zeros(20)):
            d = follow(u)
            assert np.allclose(d, capped_distribution(u, beta, k), rtol=1e-12, atol=1e-15)


def test_along_is_the_projection_there(rng):
    for k in (1.0, 30.0, 33.3):
        follow = CappedFollower(0.01, k)
        for size in (1e-3, 0.1, 100.0, 1e-3):
            u, v = rng.normal(size=(2, 100))
            there, d, slope, product = follow.along(u, v, size)
            assert np.array_equal(there, u + size * v)
            assert np.array_equal(d, follow(there))
            assert slope == pytest.approx(float(d @ v), abs=1e-13)
            assert product == pytest.approx(float(d @ there), abs=1e-13 * (1.0 + size))


@pytest.mark.parametrize("m", [40, 3000])
def test_a_search_begins_where_newton_would(rng, m):
    for k in (1.0, m / 10, m / 3):
        follow, u, v = CappedFollower(1.0, k), rng.normal(size=m), rng.normal(size=m)
        d = follow(u)
        v -= d @ v - 1e-6  # <d, v>, which is to fall to an eighth
        size = float(np.abs(v).max())
        times = follow.stretch(d, v, size, 0.25)
        slope = follow.along(u, v, times * 1e-6 / size**2)[2]
        assert slope == pytest.approx(0.125e-6, rel=0.05)
        assert follow.stretch(d, np.ones(m), 1.0, 0.25) > 1e10  # d does not change
        signs = np.tile([1.0, -1.0], m // 2)  # Newton's step is 7/8 of that of Fig. 1
        assert follow.stretch(np.full(m, 1.0 / m), signs, 1.0, 0.25) == 1.0


@pytest.mark.parametrize("m", [1, 2, 7, 300, 5000, 70_000])
def test_the_soft_margin_is_the_same_wherever_it_begins(rng, m):
    for k in {1.0, m / 10, m / 3, float(max(1, m // 2)), m - 0.5, float(m)}:
        if k < 1.0:
            continue
        f = rb.Capped(k=k).resolve(m)
        value = margin_function(f)
        for u in walks(rng, m):
            assert value(u) == pytest.approx(f.relaxed_margin(u)[0], rel=1e-13, abs=1e-14)


def test_the_soft_margin_in_any_order_and_of_any_size(rng):
    """Sorted, periodic, in clusters, nearly all alike; the last margins may say nothing of it."""
    m = 40_000
    i, x = np.arange(m), rng.normal(size=m)
    clusters, alike = rng.integers(0, 9, m) + 1e-9 * x, np.where(i == 7, 2.0, 1.0)
    for rank in (0, 17, m // 10, m - 1):
        value = MeanFollower(rank + 1.0, rank)
        for u in (i / m, (i % 10) / 10.0, clusters, -np.exp(99.0 * x), alike, 1.0 - i / m):
            least = np.sort(u)[: rank + 1]
            assert value(u) == pytest.approx(math.fsum(least) / least.size, rel=1e-12, abs=1e-14)


def test_what_a_subclass_overrides_is_asked(rng):
    class Own(rb.Capped):
        def _distribution(self, u, beta):
            return super()._distribution(u, 2 * beta)

        def relaxed_margin(self, u):
            value, d = super().relaxed_margin(u)
            return value - 1.0, d

    u = rng.normal(size=30)
    assert np.array_equal(projector(Own(5), 0.1)(u), rb.Capped(5).distribution(u, 0.2))
    assert margin_function(Own(5))(u) == rb.Capped(5).relaxed_margin(u)[0] - 1.0


def test_rounds_show_the_soft_margin(rng):
    """And the projection of their margins, to the bit."""
    A = np.where(rng.random((400, 60)) < 0.6, 1.0, -1.0)
    game = rb.Game(A, rb.Capped(fraction=0.2))
    seen = []

    def look(state):
        f, u = game.relaxation, state.active.u
        assert state.lower == pytest.approx(f.relaxed_margin(u)[0], rel=1e-13, abs=1e-14)
        assert np.array_equal(state.d, f.distribution(u, 1e-3))
        seen.append(state.round)

    rb.solve(game, 1e-9, Corrective(step="pairwise", beta=1e-3), max_rounds=150, callback=look)
    assert len(seen) == 150
