"""Walks from vertex to vertex, against optima found without them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import relaxboost as rb
from relaxboost._core.loop import Clock
from relaxboost.solvers.walk import Lost, walked


def gap(game, d, w):
    lower, upper = game.bracket(np.maximum(d, 0.0), w)
    return upper - lower


def walk(first, game, most=10.0):
    return walked(game, rb.solve(first, 1e-9, "interior-point"), Clock(None), most)


def signs(rng, m, n, part=0.1):
    return np.where(rng.random((m, n)) < part, 1.0, rng.choice([-1.0, 1.0], (m, n)))


def test_two_by_two_by_hand():
    """Columns (1, -1/2) and (-1/2, 1): equal d, v = 1/4 at any cap; with (1, 1/2) the cap binds."""
    even = np.array([[1.0, -0.5], [-0.5, 1.0]])
    d, w = walk(rb.Game(even, rb.Capped(1.0)), rb.Game(even, rb.Capped(1.5)))
    assert np.allclose([d, w], 0.5, atol=1e-12)
    A = np.array([[1.0], [0.5]])  # min d1 + d2 / 2 with d2 <= 1 / k
    d, w = walk(rb.Game(A, rb.Capped(1.25)), rb.Game(A, rb.Capped(1.6)))
    assert np.allclose(d, [0.375, 0.625], atol=1e-12)
    assert np.allclose(w, 1.0, atol=1e-12)


@pytest.mark.parametrize("over", [rb.L1Ball(2), rb.Simplex(), rb.FullSimplex()], ids=repr)
def test_a_walk_ends_at_the_optimum(rng, monkeypatch, over):
    """Of real entries, up and down the caps, near, and far with all margins: a gap of rounding."""
    monkeypatch.setattr("relaxboost.solvers.walk._WATCHED", 100)
    A = np.clip(rng.normal(0.1, 0.4, (60, 25)), -1, 1)
    first = rb.Game(A, rb.Capped(20), over)
    for k in (21, 26, 12, 3.5, 1, 45):
        game = rb.Game(A, rb.Capped(k), over)
        assert gap(game, *walk(first, game)) <= 1e-12
    exact = rb.exact_value(rb.Game(A, rb.Capped(26), over))
    d, w = walk(first, rb.Game(A, rb.Capped(26), over))
    lower, upper = rb.Game(A, rb.Capped(26), over).bracket(d, w)
    assert Fraction(lower) - Fraction(1e-12) <= exact <= Fraction(upper) + Fraction(1e-12)


def test_a_walk_begins_at_any_basis(rng):
    """What the points of another game lack goes to zero on the way."""
    A = np.clip(rng.normal(0.1, 0.4, (60, 25)), -1, 1)
    other = np.clip(A + rng.normal(0.0, 0.05, A.shape), -1, 1)
    game = rb.Game(other, rb.Capped(13))
    assert gap(game, *walk(rb.Game(A, rb.Capped(10)), game)) <= 1e-12
    costly = rb.Game(A, rb.Capped(10))
    loose = rb.solve(costly, 3e-2, "interior-point")
    assert gap(costly, *walked(costly, loose, Clock(None), 10.0)) <= 1e-12


def test_what_does_not_fit_is_lost(rng):
    A = signs(rng, 60, 20)
    first = rb.Game(A, rb.Capped(20))
    stumps = rb.matrices.stumps(rng.normal(size=(60, 2)), rng.choice([-1.0, 1.0], 60))
    others = [
        rb.Game(A, rb.Capped(20), rb.Simplex()),
        rb.Game(A[:50], rb.Capped(20)),
        rb.Game(A, rb.relaxations.SpectralRisk([3, 20], [0.5, 0.5])),
        rb.Game(A, rb.KLPenalty(0.1)),
        rb.Game(stumps, rb.Capped(20)),
    ]
    near = rb.solve(first, 1e-6, "interior-point")
    for game in others:
        with pytest.raises(Lost):
            walked(game, near, Clock(None), 10.0)
    with pytest.raises(Lost):
        walk(first, rb.Game(A, rb.Capped(30)), most=0.0)
    few = rb.Game(A[:8], rb.Capped(2))  # a w of more columns than examples is at no vertex
    with pytest.raises(Lost):
        walked(few, rb.reference(few, "CLARABEL", tol=1e-2), Clock(None), 10.0)
    twins = rb.Game(np.hstack([A, A]), rb.Capped(20))
    with pytest.raises(Lost):
        walk(twins, rb.Game(twins.matrix, rb.Capped(22)))


@pytest.mark.parametrize("kind", ["plain", "columns", "rows", "none", "ties"])
def test_every_point_of_a_path_has_its_own_bracket(rng, kind):
    """Also of twins, of ties, of games whose value is 0, at k = 1 and k = m."""
    A = signs(rng, 120, 50)
    A = {
        "plain": A,
        "columns": np.hstack([A, A[:, :30], -A[:, :10]]),
        "rows": np.vstack([A, A[:40]]),
        "none": np.vstack([A, -A]),
        "ties": np.repeat(np.round(2.0 * rng.random((60, 50)) - 0.9), 2, axis=0),
    }[kind]
    m = len(A)
    grid = [1, 0.3 * m, 0.33 * m, 0.36 * m, 0.4 * m, m]
    truth = [rb.reference(rb.Game(A, rb.Capped(k))) for k in grid]
    for method in ("auto", "interior-point"):
        found = rb.path(rb.Game(A, rb.Capped(1)), 1e-6, method, k=grid)
        assert {solution.status for solution in found} == {"optimal"}
        assert all(map(rb.compare, found, truth))


def test_a_dense_path_is_a_walk(rng):
    games = [rb.Game(signs(np.random.default_rng(5), 300, 100), rb.Capped(k)) for k in (60, 66, 73)]
    found = rb.path(games, 1e-6, "interior-point")
    for solution, game in zip(found[1:], games[1:], strict=True):
        assert [record.inner for record in solution.history] == ["interior", "walk"]
        assert solution.gap <= 1e-12
        assert rb.compare(solution, rb.solve(game, 1e-6, "interior-point"))
