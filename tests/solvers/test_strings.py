"""Taut strings: the cuts of a feature by themselves, and runs on all stumps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost._core.compiled import at_most
from relaxboost._core.loop import Clock
from relaxboost.solvers.interior_point.run import predict_passes
from relaxboost.solvers.method import Method
from relaxboost.solvers.stopping import Tolerance
from relaxboost.solvers.taut_string_steps import (
    TautStringSteps,
    find_end_pull,
    find_shift,
    first_stretch,
    gather,
    scatter,
    tighten,
)
from relaxboost.solvers.taut_strings import (
    PASSES_PER_STEP,
    STEPS_PER_ROUND,
    StringsRun,
    unfit,
)
from tests.solvers.test_interior import noisy_stumps


@dataclass(frozen=True)
class TautStrings(Method):
    """A run of taut strings alone, to the end; it has no name, so that `METHODS` lacks it."""

    def check(self, game):
        assert not unfit(game)

    def start(self, game, goal, clock):
        return StringsRun(game, goal, clock).named("taut-strings")


CAPS = [rb.HardMargin(), rb.Capped(40), rb.CVaR(0.5)]


@pytest.mark.parametrize("seed", range(25))
def test_the_step_in_w_is_exact(seed):
    """Against a quadratic program, with tubes from none to wider than all that pulls."""
    rng = np.random.default_rng(seed)
    m, sigma, tube = 24, 0.3, float(rng.choice([0.0, 0.01, 0.3, 3.0, 100.0]))
    codes = np.stack([np.unique(rng.integers(0, k, m), return_inverse=True)[1] for k in (3, 9, 40)])
    offsets = np.cumsum([0, *(codes.max(axis=1) + 1)])
    parts = [slice(a, b) for a, b in pairwise(offsets)]
    counts = np.concatenate([np.bincount(code) for code in codes]).astype(np.uint32)
    g, s, o = rng.normal(size=counts.size), rng.normal(size=m), float(rng.normal())
    for part in parts:
        g[part] -= counts[part] @ g[part] / m
    s -= s.mean()

    cost, ends, limits = 0.0, 0.0, []
    for part, code in zip(parts, codes, strict=True):
        c = counts[part]
        x = cp.Variable(c.size)
        a = g[part] + sigma * np.bincount(code, s) / c
        cost += cp.sum(cp.multiply(c, cp.square(x - a))) / 2 + tube * cp.sum(cp.abs(cp.diff(x)))
        ends += x[0] + x[-1]
        limits.append(c @ x == 0)
    free = cp.Variable()
    limits.append(free == -ends / 2)
    cp.Problem(cp.Minimize(cost + m / 3 * cp.square(free - o) / 2), limits).solve("CLARABEL")
    wanted = np.concatenate([limit.args[0].variables()[0].value for limit in limits[:-1]])

    features = codes, offsets, counts
    everything = (0, len(codes))
    r, margins = np.empty(g.size), np.zeros(m)
    gather(features, everything, g, sigma * s, r)
    end_pull = find_end_pull(offsets, counts, r, tube, o, 0.0)
    tighten(features, everything, end_pull, tube, r)
    scatter(features, (0, m), r, margins)
    assert r == pytest.approx(wanted, abs=1e-5)
    assert o + 6.0 * end_pull / m == pytest.approx(float(free.value), abs=1e-5)
    assert margins == pytest.approx(
        sum(r[p][code] for p, code in zip(parts, codes, strict=True)), abs=1e-14
    )
    assert all(abs(counts[part] @ r[part]) <= 1e-9 for part in parts)


@pytest.mark.parametrize("tube", [0.0, 0.5, 5.0])
@pytest.mark.parametrize("n", [2, 30, 400])
def test_slopes_are_those_of_the_taut_string(n, tube):
    """The path stays in the tube, and it bends only where it touches the side it bends around."""
    rng = np.random.default_rng(n)
    for _ in range(20):
        counts = rng.integers(1, 4, n).astype(np.uint32)
        sums = np.sin(np.arange(n) / 40.0) * 0.1 + rng.normal(size=n) * 0.3
        slopes = sums.copy()
        features = np.arange(n)[None, :], np.array([0, n]), counts
        tighten(features, (0, 1), 0.0, tube, slopes)
        above = np.cumsum(counts * slopes) - np.cumsum(sums)
        assert above[-1] == pytest.approx(0.0, abs=1e-10)
        assert (np.abs(above) <= tube + 1e-10).all()
        bends = np.sign(np.diff(slopes))
        assert (above[:-1] * bends)[bends != 0] == pytest.approx(tube, abs=1e-10)


def test_a_string_is_straight_until_the_tube_leaves_it():
    """The tube rises by 2 a level, then falls: the string bends around its lower side there."""
    counts, sums = np.ones(6, dtype=np.uint32), np.array([2.0, 2.0, 2.0, -2.0, -2.0, -2.0])
    assert first_stretch(counts, sums, 1.0, 0.0, 0.0) == (5.0 / 3.0, 3, -1.0)
    assert first_stretch(counts, sums, 9.0, 0.0, 0.0) == (0.0, 6, 0.0)


def test_the_nearest_point_between_bounds_sums_to_one():
    rng = np.random.default_rng(0)
    for scale in (1e-6, 1.0, 1e6):
        p, least = scale * rng.normal(size=200), np.zeros(200)
        most = rng.uniform(0.006, 0.3, 200)
        shift = find_shift(p, least, most, 0.0)
        d = np.clip(p - shift, least, most)
        assert d.sum() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("over", [rb.L1Ball(1), rb.L1Ball(3)], ids=repr)
@pytest.mark.parametrize("f", CAPS, ids=["hard", "capped", "cvar"])
def test_brackets_are_as_narrow_as_asked(f, over):
    """Where values are compared with an interior point's, at a tenth of the value and at 1 %."""
    game = rb.Game(noisy_stumps(400, 4), f, over=over)
    truth = rb.solve(game, 1e-8, "interior-point")
    for part in (0.1, 0.01):
        found = rb.solve(game, part * truth.lower, TautStrings(), max_rounds=400)
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
    found = rb.solve(game, 1e-3, TautStrings(), max_rounds=400)
    assert found.status == "optimal"
    assert rb.compare(found, rb.solve(game, 1e-8, "interior-point"))


def test_of_value_zero():
    """Each example is there with either label, so that no stump has an edge."""
    X = np.random.default_rng(1).normal(size=(50, 3))
    matrix = rb.matrices.stumps(np.vstack([X, X]), np.repeat([1.0, -1.0], 50))
    found = rb.solve(rb.Game(matrix, rb.Capped(20)), 1e-6, TautStrings(), max_rounds=400)
    assert found.status == "optimal"
    assert found.lower == 0.0


@pytest.mark.parametrize(
    ("game", "tol"),
    [
        (lambda: uniform(0), 1e-3),  # d cannot move
        (lambda: uniform(4), 1e-3),
        (lambda: coins(13), 3e-4),  # a small value
    ],
)
def test_small_games_with_extreme_values_are_solved(game, tol):
    found = rb.solve(game(), tol, TautStrings(), max_rounds=60)
    assert found.status == "optimal"


def uniform(seed):
    """Return a game of value 1 that leaves the uniform distribution only."""
    X = np.random.default_rng(seed).normal(size=(8, 2))
    return rb.Game(rb.matrices.stumps(X, np.sign(X.sum(axis=1))), rb.Capped(8))


def coins(seed):
    """Return a game of labels without sense, whose value is small."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 12, size=(60, 3)).astype(float)
    return rb.Game(rb.matrices.stumps(X, np.where(rng.random(60) < 0.5, 1.0, -1.0)), rb.Capped(6))


def test_threads_change_no_bit():
    game = rb.Game(noisy_stumps(2000, 6), rb.Capped(fraction=0.1))
    runs = []
    for threads in (1, 2, 4):
        with at_most(threads):
            runs.append(rb.solve(game, 1e-9, TautStrings(), max_rounds=8))
    assert len({(s.lower, s.upper, s.d.tobytes()) for s in runs}) == 1


def test_auto_takes_them_where_tol_is_not_narrow_beside_the_value():
    """And goes on to an interior point where it is, once they have told."""
    game = rb.Game(noisy_stumps(1200, 6), rb.Capped(fraction=0.1))
    truth = rb.solve(game, 1e-7, "interior-point")
    for asked, last in (
        ({"tol": 0.1 * truth.lower}, "strings"),
        ({"tol": 1e-4 * truth.lower}, "interior"),
        ({"rtol": 0.1}, "strings"),
        ({"rtol": 1e-4}, "interior"),
    ):
        found = rb.solve(game, **asked)
        kinds = [record.inner for record in found.history]
        assert found.status == "optimal"
        assert "strings" in kinds
        assert kinds[-1] == last
        assert rb.compare(found, truth)


def test_neighbours_of_what_strings_found_are_found_by_strings():
    """Such a w is at no vertex: walks to a neighbour's optimum took twenty times as long."""
    game = rb.Game(noisy_stumps(1500, 6), rb.Capped(150))
    found = rb.solve(game, rtol=0.1)
    assert found.history[-1].inner == "strings"
    near = rb.solve(rb.Game(game.matrix, rb.Capped(180)), rtol=0.1, start=found)
    assert {record.inner for record in near.history} == {"start", "strings"}
    assert near.status == "optimal"


def test_from_a_neighbour_they_take_fewer_rounds():
    """As d is near the value, and w proves nearly that; either alone is no better than nothing."""
    first, game = (rb.Game(noisy_stumps(3000, 6), rb.Capped(k)) for k in (600, 620))
    tol = 0.01 * rb.solve(first, 1e-6, "interior-point").lower
    options = {"method": TautStrings(), "max_rounds": 200}
    found, cold = (rb.solve(one, tol, **options) for one in (first, game))
    warm = rb.solve(game, tol, start=found, **options)
    assert warm.status == "optimal"
    assert 0 < warm.rounds <= 0.75 * cold.rounds
    assert rb.compare(warm, cold)
    for start in (found.d, None), (None, (found.support, found.coefficients)):
        alone = rb.solve(game, tol, start=start, **options)
        assert alone.rounds <= cold.rounds
        assert rb.compare(alone, cold)


def test_strings_stay_within_their_budget_where_no_w_is_positive_and_tol_narrow():
    """With repeated examples and tossed labels no bound moves, so that no prediction ends them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 20))[rng.integers(0, 130, 400)]
    y = rng.choice([-1, 1], 400)
    game = rb.Game(rb.matrices.stumps(X, y), rb.Capped(fraction=0.05))
    narrow = rb.solve(game, 1e-8)
    assert narrow.status == "optimal"
    assert narrow.history[-1].inner == "interior"
    left = next(line for line in narrow.trace if "left the taut-string steps" in line)
    used = float(left.partition(" after ")[2].split()[0])
    one_round = STEPS_PER_ROUND * PASSES_PER_STEP + 1.0
    assert used <= predict_passes(game) + one_round
    wide = rb.solve(game, 1e-3)
    assert [record.inner for record in wide.history][-1] == "strings"


def test_a_run_ends_once_its_prediction_exceeds_the_budget():
    """The prediction falls while the lower bound is poor, and grows with the bound over tol."""
    game = rb.Game(noisy_stumps(1200, 6), rb.Capped(fraction=0.1))
    lower = rb.solve(game, 1e-6, "interior-point").lower
    budget = 30.0 * PASSES_PER_STEP * STEPS_PER_ROUND
    narrow = StringsRun(game, Tolerance(1e-4 * lower), Clock(), budget)
    rounds = 0
    while narrow.advance(narrow.ask(game)) is narrow:
        rounds += 1
    assert 1 <= rounds <= 3
    assert narrow.work == PASSES_PER_STEP * STEPS_PER_ROUND * rounds
    wide = StringsRun(game, Tolerance(0.1 * lower), Clock(), budget)
    for _ in range(10):
        assert wide.advance(wide.ask(game)) is wide


def test_steps_restart_with_a_higher_aim_once_w_proves_more_than_the_aim(monkeypatch):
    """Otherwise the aim and the steps go on as they are."""
    aims = []
    step = TautStringSteps.step
    monkeypatch.setattr(TautStringSteps, "step", lambda self, v: (aims.append(v), step(self, v)))
    game = rb.Game(noisy_stumps(1200, 6), rb.Capped(fraction=0.1))
    lower = rb.solve(game, 1e-6, "interior-point").lower
    tol = 0.05 * lower
    found = rb.solve(game, tol, TautStrings(), max_rounds=400)
    assert found.status == "optimal"
    moves = list(dict.fromkeys(aims))
    assert moves[0] == 0.9 * tol
    assert len(moves) >= 2
    assert all(after > before + 0.9 * tol for before, after in pairwise(moves))
    assert moves[-1] == pytest.approx(found.lower + 0.9 * tol, abs=0.9 * tol)


def test_examples_in_another_order_give_the_same_bracket():
    X, y = few_levels(300)
    turn = np.random.default_rng(3).permutation(300)
    games = [
        rb.Game(rb.matrices.stumps(a, b), rb.Capped(30)) for a, b in ((X, y), (X[turn], y[turn]))
    ]
    one, other = (rb.solve(g, 1e-9, TautStrings(), max_rounds=10) for g in games)
    assert other.lower == pytest.approx(one.lower, rel=1e-6)
    assert other.upper == pytest.approx(one.upper, rel=1e-6)


@pytest.mark.parametrize(
    ("game", "said"),
    [
        (
            lambda A: rb.Game(A.toarray(), rb.Capped(9)),
            "^they need all stumps of examples in memory, and A is ",
        ),
        (
            lambda A: rb.Game(A, rb.Capped(9), over=rb.Simplex()),
            "^they are for games over L1Ball, but this game is over Simplex",
        ),
        (
            lambda A: rb.Game(A, rb.KLPenalty(0.1)),
            "^they need an f that only bounds each weight d_i, as Capped does, and f is KLPenalty",
        ),
    ],
)
def test_games_that_do_not_fit_are_left_out_with_the_reason(game, said):
    assert re.search(said, unfit(game(noisy_stumps(100, 3))))
