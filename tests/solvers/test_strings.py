"""Taut strings: the cuts of a feature by themselves, and runs on all stumps."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost._core.compiled import at_most
from relaxboost.solvers.strings.pull import nearest, pull
from tests.solvers.test_interior import noisy_stumps

CAPS = [rb.HardMargin(), rb.Capped(40), rb.CVaR(0.5)]


def pulled(u, counts, s, sigma, tube):
    """Return what `pull` makes of one feature, with s given by level."""
    new, sums = np.empty(u.size), np.empty(s.size)
    state, steps = (u.copy(), np.zeros(1)), (sigma, tube, 1.0)
    codes, levels = np.repeat(np.arange(u.size), counts)[None], np.array([0, u.size])
    pull(codes, levels, counts.astype(np.uint32), s, state, steps, sums, new)
    assert np.array_equal(sums, new[codes[0]])
    assert np.allclose(state[0], new, rtol=0, atol=1e-15)
    return new


@pytest.mark.parametrize("seed", range(25))
def test_a_feature_by_itself_is_solved_exactly(seed):
    """Against a quadratic program, with the pull from 0 to beyond what leaves any jump."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    counts = rng.integers(1, 4, n)
    u, s = rng.normal(size=n), rng.normal(size=counts.sum())
    u -= 0.5 * (u[0] + u[-1])
    sigma, tube = 0.3, float(rng.choice([0.0, 0.01, 0.3, 3.0, 100.0]))
    level = np.repeat(np.arange(n), counts)
    a = u + sigma * np.bincount(level, s) / counts
    x = cp.Variable(n)
    cost = 0.5 * cp.sum(cp.multiply(counts, cp.square(x - a))) + tube * cp.sum(cp.abs(cp.diff(x)))
    cp.Problem(cp.Minimize(cost), [x[0] + x[-1] == 0]).solve("CLARABEL")
    found = pulled(u, counts, s, sigma, tube)
    assert abs(found[0] + found[-1]) <= 1e-9
    assert found == pytest.approx(x.value, abs=1e-5)


def test_the_nearest_point_between_bounds_sums_to_one():
    rng = np.random.default_rng(0)
    for scale in (1e-6, 1.0, 1e6):
        p, least = scale * rng.normal(size=200), np.zeros(200)
        most = rng.uniform(0.006, 0.3, 200)
        shift = nearest(p, least, most, 0.0)
        d = np.clip(p - shift, least, most)
        assert d.sum() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("over", [rb.L1Ball(1), rb.L1Ball(3)], ids=repr)
@pytest.mark.parametrize("f", CAPS, ids=["hard", "capped", "cvar"])
def test_brackets_are_as_narrow_as_asked(f, over):
    """Where values are compared with an interior point's, at a tenth of the value and at 1 %."""
    game = rb.Game(noisy_stumps(400, 4), f, over=over)
    truth = rb.solve(game, 1e-8, "interior-point")
    for part in (0.1, 0.01):
        found = rb.solve(game, part * truth.lower, "taut-strings", max_rounds=400)
        assert found.status == "optimal"
        assert rb.compare(found, truth)


def few_levels(m):
    """Return features of 1, 2, 3 and 5 levels, and one of all levels."""
    rng = np.random.default_rng(7)
    X = np.column_stack([*(rng.integers(0, k, m) for k in (1, 2, 3, 5)), rng.normal(size=m)])
    return X, np.where(X[:, 1] + X[:, 4] + rng.normal(size=m) > 0.5, 1.0, -1.0)


@pytest.mark.parametrize("max_cuts", [None, 1, 7])
def test_of_features_of_few_levels_or_few_cuts(max_cuts):
    matrix = rb.matrices.stumps(*few_levels(300), max_cuts=max_cuts)
    game = rb.Game(matrix, rb.Capped(fraction=0.3))
    found = rb.solve(game, 1e-3, "taut-strings", max_rounds=400)
    assert found.status == "optimal"
    assert rb.compare(found, rb.solve(game, 1e-8, "interior-point"))


def test_of_value_zero():
    """Each example is there with either label, so that no stump has an edge."""
    X = np.random.default_rng(1).normal(size=(50, 3))
    matrix = rb.matrices.stumps(np.vstack([X, X]), np.repeat([1.0, -1.0], 50))
    found = rb.solve(rb.Game(matrix, rb.Capped(20)), 1e-6, "taut-strings", max_rounds=400)
    assert found.status == "optimal"
    assert found.lower == 0.0


def test_threads_change_no_bit():
    game = rb.Game(noisy_stumps(2000, 6), rb.Capped(fraction=0.1))
    runs = []
    for threads in (1, 2, 4):
        with at_most(threads):
            runs.append(rb.solve(game, 1e-9, "taut-strings", max_rounds=8))
    assert len({(s.lower, s.upper, s.d.tobytes()) for s in runs}) == 1


def test_auto_takes_them_where_tol_is_not_narrow_beside_the_value():
    """And goes on to an interior point where it is, once they have told."""
    game = rb.Game(noisy_stumps(3000, 6), rb.Capped(fraction=0.1))
    truth = rb.solve(game, 1e-7, "interior-point")
    for part, last in ((0.1, "strings"), (1e-3, "interior")):
        found = rb.solve(game, part * truth.lower)
        kinds = [record.inner for record in found.history]
        assert found.status == "optimal"
        assert "strings" in kinds
        assert kinds[-1] == last
        assert rb.compare(found, truth)


def test_examples_in_another_order_give_the_same_bracket():
    X, y = few_levels(300)
    turn = np.random.default_rng(3).permutation(300)
    games = [
        rb.Game(rb.matrices.stumps(a, b), rb.Capped(30)) for a, b in ((X, y), (X[turn], y[turn]))
    ]
    one, other = (rb.solve(g, 1e-9, "taut-strings", max_rounds=10) for g in games)
    assert other.lower == pytest.approx(one.lower, rel=1e-6)
    assert other.upper == pytest.approx(one.upper, rel=1e-6)


@pytest.mark.parametrize(
    ("game", "said"),
    [
        (lambda A: rb.Game(A.toarray(), rb.Capped(9)), "all stumps"),
        (lambda A: rb.Game(A, rb.Capped(9), over=rb.Simplex()), "over L1Ball"),
        (lambda A: rb.Game(A, rb.KLPenalty(0.1)), "only bounds d"),
    ],
)
def test_games_that_do_not_fit_are_refused_with_what_does(game, said):
    with pytest.raises(rb.InputError, match=said):
        rb.solve(game(noisy_stumps(100, 3)), 0.01, "taut-strings")
