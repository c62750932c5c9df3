"""Runs end: at what rounding allows, within their time, and at the same bits for any threads."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from itertools import islice

import numpy as np
import pytest

import relaxboost as rb
from relaxboost import solvers
from relaxboost._core import loop
from relaxboost._core.loop import Clock
from relaxboost.solvers import METHODS, STEPS, Corrective, FullyCorrective
from relaxboost.solvers.rounds import Booster, Rounds
from relaxboost.solvers.stopping import StoppingRule, Tolerance
from tests.solvers.test_every_method import fits

ATOMIC = ["auto", "interior-point", "lpboost", "erlpboost"]
ATOMIC += [Corrective(step=step) for step in STEPS]
EUCLIDEAN = ["auto", "fully-corrective"]
EUCLIDEAN += [Corrective(step=step) for step in ("fig1", "classic", "line-search")]
CASES = [(over, m) for over in (rb.L1Ball(1), rb.Simplex(3)) for m in ATOMIC]
CASES += [(rb.L2Ball(1), method) for method in EUCLIDEAN]


LIMITS = {rb.HardMargin(): 150, rb.Capped(12): 150, rb.KLPenalty(0.2): 1500}
"""Rounds after which a smoothed run is taken to crawl; strongly convex f reach rounding later."""

SLOW_LIMIT = 20
"""The same for ERLPBoost, whose rounds are long where β is small."""


@pytest.mark.parametrize("f", LIMITS, ids=repr)
@pytest.mark.parametrize(("over", "method"), CASES, ids=repr)
def test_a_gap_that_rounding_does_not_allow_ends_a_run(f, over, method):
    """Within five times the rounds to its smallest gap, if that is as narrow as rounding."""
    most = SLOW_LIMIT if method == "erlpboost" else LIMITS[f]
    A = np.clip(np.random.default_rng(0).uniform(-1.0, 1.0, (80, 40)) + 0.1, -1.0, 1.0)
    found = rb.solve(rb.Game(A, f, over=over), 1e-15, method, max_rounds=most)
    gaps = np.array([record.upper - record.lower for record in found.history])
    assert np.isfinite(found.gap)
    if found.status == "max_rounds":  # smoothing crawls: the gap is far above what rounding does
        assert not isinstance(method, str) or method == "erlpboost"
        assert found.gap > 1e-9
        return
    assert found.status == "stalled"
    narrowest = found.history[int(np.flatnonzero(gaps <= gaps.min() / 0.99)[0])].round
    assert found.rounds <= narrowest + max(20, 4 * narrowest) + 2


@pytest.mark.parametrize("f", LIMITS, ids=repr)
@pytest.mark.parametrize("over", [rb.L2Ball(3), rb.SquaredNorm(0.5)], ids=repr)
@pytest.mark.parametrize("shift", [0.1, 0.3])
def test_a_hull_ends_within_five_times_the_work_that_led_to_its_smallest_gap(f, over, shift):
    """Pairwise steps below rounding took 35 ms a round, and 500 rounds."""
    A = np.clip(np.random.default_rng(0).uniform(-1.0, 1.0, (80, 40)) + shift, -1.0, 1.0)
    game = rb.Game(A, f, over=over)
    goal = Tolerance(1e-15)
    rule = StoppingRule(goal, over.reach(game.n))
    rounds = Rounds(game, FullyCorrective().start(game, goal, Clock()))
    narrowest = np.inf
    enough = np.inf
    for state in rounds:
        gap = state.upper - state.lower
        if gap < 0.99 * narrowest:
            narrowest = gap
            enough = 5.0 * rounds.booster.work
        if gap <= goal.tol or rule.judge_progress(state.lower, state.upper, state.round):
            break
    assert narrowest <= 1e-13 * over.reach(game.n)
    assert rounds.booster.work <= enough
    found = rb.solve(game, goal.tol, "fully-corrective", max_rounds=500)
    assert found.status in ("stalled", "optimal")
    assert found.gap <= 1e-12


RUNS = """
import hashlib
import numpy as np
import relaxboost as rb
from relaxboost.solvers import STEPS, Corrective

rng = np.random.default_rng(5)
X = rng.normal(size=(200, 4))
y = np.where(X.sum(axis=1) + rng.normal(size=200) > 0.0, 1.0, -1.0)
A = np.clip(rng.uniform(-1.0, 1.0, (80, 40)) + 0.1, -1.0, 1.0)
methods = ["auto", "interior-point", "lpboost", "erlpboost"]
methods += [Corrective(step=step) for step in STEPS]
for matrix in (A, rb.matrices.stumps(X, y)):
    for f in (rb.HardMargin(), rb.Capped(fraction=0.1), rb.KLPenalty(0.1)):
        for method in methods:
            if method == "lpboost" and isinstance(f, rb.KLPenalty):
                continue  # a cone program a round
            found = rb.solve(rb.Game(matrix, f), 1e-3, method, max_rounds=5)
            digest = hashlib.sha256(found.d.tobytes() + found.support.tobytes())
            digest.update(found.coefficients.tobytes())
            rows = [record._replace(seconds=0.0) for record in found.history]
            digest.update(repr([found.lower, found.upper, rows]).encode())
            print(type(found.game.matrix).__name__, f, method, digest.hexdigest())
"""


def test_as_many_threads_as_there_are_change_no_bit_of_small_games():
    printed = []
    for threads in (1, 4):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        environment = {**os.environ, **dict.fromkeys(names, str(threads))}
        command = [sys.executable, "-c", textwrap.dedent(RUNS)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        printed.append(done.stdout.splitlines())
    assert len(printed[0]) == 52
    assert printed[1] == printed[0]


NEED_A_SOLVER = [
    rb.Capped(5) + rb.NormPenalty(2, 0.3),
    rb.KLPenalty(0.1) + rb.NormPenalty(np.inf, 0.3),
    rb.NormPenalty(1.5, 0.3) + rb.Capped(4),
]


class CountOfCalls:
    """A clock whose second is a call of a Python function, so that the load does not matter."""

    def __init__(self):
        self.calls = 0

    def perf_counter(self):
        return float(self.calls)

    def count(self, frame, event, argument):
        self.calls += event == "call"


@pytest.fixture
def solve_by_calls(monkeypatch):
    """`solve`, whose times are numbers of calls."""
    clock = CountOfCalls()
    monkeypatch.setattr(loop, "time", clock)

    def solve(*given, **named):
        before = sys.getprofile()
        sys.setprofile(clock.count)
        try:
            return rb.solve(*given, **named)
        finally:
            sys.setprofile(before)

    return solve


@pytest.mark.parametrize("method", ["auto", "corrective", "erlpboost", "lpboost", "interior-point"])
@pytest.mark.parametrize("f", NEED_A_SOLVER, ids=repr)
def test_no_step_outlasts_the_time_limit(f, method, solve_by_calls):
    """The limit is reached in the middle of the second round, which may have many solver calls."""
    A = np.clip(np.random.default_rng(3).uniform(-1.0, 1.0, (26, 60)) + 0.1, -1.0, 1.0)
    rb.solve(rb.Game(A, f), 1e-14, method, max_rounds=1)  # the first run imports modules
    # Games store what they compile, so each run has a game of its own.
    one, two = (
        solve_by_calls(rb.Game(A, f), 1e-14, method, max_rounds=rounds).seconds for rounds in (1, 2)
    )
    limit = (one + two) / 2.0
    found = solve_by_calls(rb.Game(A, f), 1e-14, method, time_limit=limit)
    assert found.status == "time_limit"
    assert found.seconds <= limit + two
    if method in ("auto", "interior-point"):  # rounds of other methods have few solver calls
        assert found.rounds == 1
    assert (found.lower, found.upper) == found.game.bracket(found.d, found.w)


@pytest.mark.parametrize("method", ["erlpboost", Corrective(step="pairwise")], ids=repr)
@pytest.mark.parametrize("penalty", [rb.NormPenalty(np.inf, 0.5), rb.KLPenalty(0.5)], ids=repr)
def test_a_sum_that_allows_one_distribution_is_solved(penalty, method):
    """Its entropy has a range of 0, so β may be larger than a solver can scale."""
    found = rb.solve(rb.Game([[1], [1]], rb.Capped(2) + penalty), 0.5, method)
    assert (found.status, found.rounds) == ("optimal", 2)


@pytest.mark.parametrize("method", ["auto", "hedge", "lpboost"])
def test_a_ball_through_a_vertex_stands_margins_equal_up_to_rounding(method):
    A = [[0.3], [0.3 + 1e-16], [0.3 - 1e-16]]
    found = rb.solve(rb.Game(A, rb.relaxations.ChiSquareBall(2)), 0.1, method)
    assert found.status == "optimal"
    assert found.lower <= 0.3 <= found.upper


ENDLESS = ("hedge", "erlpboost")
"""The methods whose `advance` never returns None."""
FLAT = (
    rb.Game(np.zeros((4, 3))),
    rb.Game(np.ones((4, 1))),
    rb.Game(np.zeros((4, 3)), over=rb.L2Ball(1)),
)
"""Games on which boosters end by themselves, since no step improves d or w any more."""


@pytest.mark.parametrize(
    "name", [name for name, kind in METHODS.items() if kind.__name__ in solvers.__all__]
)
def test_a_booster_that_ends_by_itself_gives_its_reason(name):
    """`solve` usually ends a run first, so the rounds are iterated without it."""
    reasons = []
    for game in FLAT:
        if not fits(METHODS[name](), game):
            continue
        method = METHODS[name]().chosen(game, 0.1)
        rounds = Rounds(game, method.start(game, Tolerance(0.1), Clock()))
        if len(list(islice(rounds, 100))) < 100:
            reasons.append(rounds.booster.why_ended)
    assert bool(reasons) != (name in ENDLESS)
    assert Booster.why_ended not in reasons


def test_adaboost_and_adaboost_star_end_for_different_reasons():
    """AdaBoost* is built on the run of AdaBoost, and must not inherit its reason."""
    reasons = {}
    for name in ("adaboost", "adaboost-star"):
        rounds = Rounds(FLAT[0], METHODS[name]().start(FLAT[0], Tolerance(0.1), Clock()))
        assert len(list(rounds)) == 1
        reasons[name] = rounds.booster.why_ended
    assert reasons["adaboost"].endswith("no step reduces the risk")
    assert reasons["adaboost-star"] == "the largest edge is 0, and AdaBoost* needs edges > 0"
