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
from relaxboost.solvers.strings.iterate import Strings
from relaxboost.solvers.strings.pull import begin, gather, nearest, pull, room_for
from relaxboost.solvers.strings.run import PASSES_PER_STEP, StringsRun, unfit
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

    r, sums, moved = np.empty(g.size), np.empty(m), g.copy()
    gather(codes, offsets, counts, g, s, sigma, r)
    start = begin(counts, r, offsets, tube, m, o, 0.0)
    sides = np.zeros(g.size, dtype=np.int8)
    pull((codes, offsets, counts), r, moved, (start, tube, 0.5), sides, sums, room_for(offsets))
    assert r == pytest.approx(wanted, abs=1e-5)
    assert o + 6.0 * start / m == pytest.approx(float(free.value), abs=1e-5)
    assert moved == pytest.approx((g + r) / 2, abs=1e-14)
    assert sums == pytest.approx(
        sum(r[p][code] for p, code in zip(parts, codes, strict=True)), abs=1e-14
    )
    assert all(abs(counts[part] @ r[part]) <= 1e-9 for part in parts)


def strings(c, r, tube, sides):
    """Pull the strings of one feature, pinned to these sides; return them, and theirs."""
    n = c.size
    codes, offsets = np.arange(n)[None, :], np.array([0, n])
    r, sides = r.copy(), sides.copy()
    pull(
        (codes, offsets, c), r, np.zeros(n), (0.0, tube, 1.0), sides, np.empty(n), room_for(offsets)
    )
    return r, sides


@pytest.mark.parametrize("tube", [0.0, 0.5, 5.0])
@pytest.mark.parametrize("n", [2, 30, 400])
def test_strings_do_not_depend_on_where_they_bent_before(n, tube):
    rng = np.random.default_rng(n)
    c = rng.integers(1, 4, n).astype(np.uint32)
    old = np.zeros(n, dtype=np.int8)
    for _ in range(20):
        r = np.sin(np.arange(n) / 40.0) * 0.1 + rng.normal(size=n) * 0.3
        wanted, sides = strings(c, r, tube, np.zeros(n, dtype=np.int8))
        guess = np.where(rng.random(n) < 0.1, rng.integers(-1, 2, n), 0).astype(np.int8)
        guess[-1] = 0
        for known in (old, guess, sides):
            found, bends = strings(c, r, tube, known)
            assert found == pytest.approx(wanted, abs=1e-13)
            assert tube == 0.0 or (bends == sides).all()
        old = sides


def test_pins_that_go_one_after_another_go_all_together_in_the_end():
    """Each part is a line that is steeper than that before, and less so than all before."""
    slopes, length, tube = [1.0, 0.0], 8, 100.0
    while len(slopes) < 40:
        slopes.append((slopes[-1] + np.mean(slopes)) / 2.0)
    r = np.repeat(slopes, length)
    r[:length] -= tube / length  # what is added by the first pin
    sides = np.zeros(r.size, dtype=np.int8)
    sides[length - 1 : -1 : length] = 1
    found, bends = strings(np.ones(r.size, dtype=np.uint32), r, tube, sides)
    assert found == pytest.approx(np.full(r.size, r.mean()), abs=1e-13)
    assert not bends.any()


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
        (lambda: uniform(0), 1e-3),  # d cannot move, and w is 0 from the first aim on
        (lambda: uniform(4), 1e-3),
        (lambda: coins(13), 3e-4),  # w = 0 looked optimal for a while
    ],
)
def test_an_aim_above_the_value_is_taken_back(game, tol):
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
    game = rb.Game(noisy_stumps(3000, 6), rb.Capped(fraction=0.1))
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
    game = rb.Game(noisy_stumps(3000, 6), rb.Capped(300))
    found = rb.solve(game, rtol=0.1)
    assert found.history[-1].inner == "strings"
    near = rb.solve(rb.Game(game.matrix, rb.Capped(360)), rtol=0.1, start=found)
    assert {record.inner for record in near.history} == {"start", "strings"}
    assert near.status == "optimal"


@pytest.mark.parametrize("part", [0.1, 0.01])
def test_from_a_neighbour_they_take_fewer_rounds(part):
    """As d is near the value, and w proves nearly that; either alone is no better than nothing."""
    first, game = (rb.Game(noisy_stumps(3000, 6), rb.Capped(k)) for k in (600, 620))
    tol = part * rb.solve(first, 1e-6, "interior-point").lower
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
    one_round = 25 * PASSES_PER_STEP + 1.0
    assert used <= predict_passes(game) / 3.0 + one_round
    wide = rb.solve(game, 1e-3)
    assert [record.inner for record in wide.history][-1] == "strings"


def test_a_run_ends_once_its_prediction_exceeds_the_budget():
    """The prediction falls while the lower bound is poor, and grows with the bound over tol."""
    game = rb.Game(noisy_stumps(3000, 6), rb.Capped(fraction=0.1))
    lower = rb.solve(game, 1e-6, "interior-point").lower
    passes_of_a_round = 25 * PASSES_PER_STEP
    for budget, rounds in ((7.0 * passes_of_a_round, 0), (30.0 * passes_of_a_round, 1)):
        run = StringsRun(game, Tolerance(1e-4 * lower), Clock(), budget)
        taken = 0
        while run.advance(run.ask(game)) is run:
            taken += 1
        assert rounds <= taken <= 3 * rounds
        steps = 8 + 25 * (taken - 1) if taken else 0
        assert run.work == PASSES_PER_STEP * steps
    wide = StringsRun(game, Tolerance(0.1 * lower), Clock(), 30.0 * passes_of_a_round)
    for _ in range(10):
        assert wide.advance(wide.ask(game)) is wide


def test_rounds_are_short_while_tol_is_above_what_w_proves(monkeypatch):
    """So that what is asked is not found long after it is there."""
    game = rb.Game(noisy_stumps(3000, 6), rb.Capped(fraction=0.1))
    lower = rb.solve(game, 1e-6, "interior-point").lower
    steps, step = [], Strings.step
    monkeypatch.setattr(Strings, "step", lambda self, v: (steps.append(v), step(self, v)))
    counts = []
    for tol in (2.0 * lower, 1e-3 * lower):
        steps.clear()
        rb.solve(game, tol, TautStrings(), max_rounds=4)
        counts.append(len(steps))
    assert counts == [24, 58]  # the last round is only looked at


def test_weights_on_too_many_cuts_are_not_shown(monkeypatch):
    """The first have nearly all; the bounds that they prove only tell where to aim."""
    game = rb.Game(noisy_stumps(300, 3), rb.Capped(fraction=0.1))
    whole = rb.solve(game, 1e-9, TautStrings(), max_rounds=20)
    most = whole.history[1].columns - 1
    monkeypatch.setattr("relaxboost.solvers.strings.run._SHOWN", most)
    few = rb.solve(game, 1e-9, TautStrings(), max_rounds=20)
    assert few.history[1].columns == 0
    assert all(record.columns <= most for record in few.history)
    assert (few.lower, few.upper) == (whole.lower, whole.upper)


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
        (lambda A: rb.Game(A.toarray(), rb.Capped(9)), "all stumps"),
        (lambda A: rb.Game(A, rb.Capped(9), over=rb.Simplex()), "over L1Ball"),
        (lambda A: rb.Game(A, rb.KLPenalty(0.1)), "only bounds d"),
    ],
)
def test_games_that_do_not_fit_are_left_out_with_the_reason(game, said):
    assert re.search(said, unfit(game(noisy_stumps(100, 3))))
