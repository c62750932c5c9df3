"""What `solve` does around a method: which one it takes, how deep it calls, how long it runs."""

import sys
import time
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost._core.highs import WarmProgram
from relaxboost.relaxations import numerical
from relaxboost.relaxations.base import needs_solver, projector
from relaxboost.solvers import Corrective, LPBoost
from tests.conformance.families import FAMILIES

ROOM = str(Path(rb.__file__).parent)


def transport(m):
    """The cost of moving the uniform distribution to d along a line."""
    away = np.abs(np.subtract.outer(np.arange(m), np.arange(m))) / m

    def penalty(d):
        plan = cp.Variable((m, m), nonneg=True)
        moved = [cp.sum(plan, axis=0) == np.full(m, 1 / m), cp.sum(plan, axis=1) == d]
        return cp.sum(cp.multiply(away, plan)), moved

    return rb.Custom(f=penalty)


def test_auto_asks_no_cone_solver_for_steps_where_a_linear_program_is_known(rng, monkeypatch):
    """A distribution from the cone solver costs more than a round of the linear program."""
    game = rb.Game(np.clip(rng.uniform(-1, 1, (12, 8)) + 0.1, -1, 1), transport(12))
    assert needs_solver(game.relaxation)
    assert game.linear_form is not None
    own, asked = numerical.Programs.distribution, []
    monkeypatch.setattr(numerical.Programs, "distribution", lambda *a: asked.append(1) or own(*a))
    solution = rb.solve(game, 1e-6)
    assert solution.method == "auto (interior)"
    assert solution.status == "optimal"
    assert not asked
    assert rb.compare(solution, rb.solve(game, 1e-6, LPBoost()))
    rb.solve(game, 0.1, Corrective(step="pairwise"), max_rounds=3)
    assert asked  # so that the count counts


def deepest(call):
    """Return the longest stack of frames of the package while `call` runs, outermost first."""
    longest = []

    def look(frame, event, arg):
        if event != "call" or not frame.f_code.co_filename.startswith(ROOM):
            return  # a frame from elsewhere leaves the stack as it was
        stack = []
        while frame is not None:
            if frame.f_code.co_filename.startswith(ROOM):
                stack.append(f"{Path(frame.f_code.co_filename).name}:{frame.f_code.co_name}")
            frame = frame.f_back
        if len(stack) > len(longest):
            longest[:] = stack[::-1]
        assert "line_search" not in str(stack) or not CHECKS & {s.split(":")[1] for s in stack}

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return longest


CHECKS = {"as_margins", "positive"}


@pytest.mark.parametrize(
    "relaxation", [rb.HardMargin(), rb.Capped(9), rb.Capped(fraction=0.3), rb.CVaR(0.3)], ids=repr
)
@pytest.mark.parametrize(("method", "most"), [("lpboost", 14), ("auto", 19)])
def test_calls_are_no_deeper_than_this_and_a_line_search_checks_nothing(
    rng, relaxation, method, most
):
    game = rb.Game(np.clip(rng.uniform(-1, 1, (60, 25)) + 0.1, -1, 1), relaxation)
    rb.solve(game, 1e-6, method)  # compiles
    stack = deepest(lambda: rb.solve(game, 1e-6, method))
    assert len(stack) <= most, " > ".join(stack)


OWN = [(name, make) for name, make in FAMILIES if not needs_solver(make(60).resolve(60))]

DEEPEST = 14
DEEPER = {
    "Caps": 14,
    "NormBall(inf, weights)": 14,
    "NormPenalty(1, weights)": 14,
    "NormPenalty(inf": 14,
    "KLPenalty": 14,
    "GroupCaps": 15,
    "TotalVariationBall": 15,
    "BinaryEntropy": 16,  # a root in the levels of its logits
    "KLBall": 19,
    "Mahalanobis": 18,
    "NormBall(1.5)": 22,
    "NormBall(1, weights)": 19,
    "GroupNorm": 18,
    "SpectralRisk": 18,
    "c * f": 21,
    "ChiSquarePenalty": 20,
    "HellingerPenalty": 20,
    "PowerPenalty": 20,  # one root; those below are roots in roots
    "ChiSquareBall": 23,
    "HellingerBall": 23,
    "PowerBall": 23,
    "NormBall(2": 23,
    "NormBall(8)": 23,
    "NormPenalty(1.5)": 23,
    "NormPenalty(2)": 23,
    "NormPenalty(3": 23,
}
"""Where the distribution, or the bound, needs more: how the names begin, and the depth."""


@pytest.mark.parametrize(("name", "make"), OWN, ids=[name for name, _ in OWN])
def test_no_family_calls_deeper_than_it_says_and_its_line_search_checks_nothing(rng, name, make):
    game = rb.Game(np.clip(rng.uniform(-1, 1, (60, 25)) + 0.1, -1, 1), make(60))
    method = Corrective(beta=0.01, step="pairwise")
    rb.solve(game, 1e-6, method, max_rounds=3)  # compiles
    stack = deepest(lambda: rb.solve(game, 1e-6, method, max_rounds=4))
    most = next((n for begins, n in DEEPER.items() if name.startswith(begins)), DEEPEST)
    assert len(stack) <= most, " > ".join(stack)


@pytest.mark.parametrize(("name", "make"), OWN, ids=[name for name, _ in OWN])
def test_a_projector_is_the_distribution(rng, name, make):
    f = make(60).resolve(60)
    for u in (rng.uniform(-1, 1, 60), np.round(rng.normal(size=60), 1), np.zeros(60)):
        assert np.array_equal(projector(f, 0.05)(u), f.distribution(u, 0.05))


def test_a_distribution_of_its_own_is_what_the_projector_asks():
    class Twice(rb.HardMargin):
        def distribution(self, u, beta):
            return super().distribution(u, 2 * beta)

    u = np.array([0.0, 0.3, 0.7])
    assert np.array_equal(projector(Twice(), 0.1)(u), rb.HardMargin().distribution(u, 0.2))


@pytest.mark.parametrize("method", ["lpboost", LPBoost(program="linear")])
def test_a_time_limit_cuts_programs_short(rng, method, monkeypatch):
    """HiGHS and Clarabel are told how much time is left, so that a round cannot overrun."""
    game = rb.Game(np.clip(rng.uniform(-1, 1, (40, 30)) + 0.1, -1, 1), rb.Capped(7))
    told = []
    own = WarmProgram.run

    def run(self, seconds):
        told.append(seconds)
        return own(self, seconds)

    monkeypatch.setattr(WarmProgram, "run", run)
    assert rb.solve(game, 1e-6, method, time_limit=50.0).status == "optimal"
    assert told
    assert all(0.0 < seconds <= 50.0 for seconds in told)
    assert told == sorted(told, reverse=True)


def test_a_program_out_of_time_leaves_the_best_bracket(rng, monkeypatch):
    game = rb.Game(np.clip(rng.uniform(-1, 1, (40, 30)) + 0.1, -1, 1), rb.Capped(7))
    own, calls = WarmProgram.run, []

    def run(self, seconds):
        calls.append(seconds)
        return own(self, 0.0 if len(calls) == 5 else seconds)

    monkeypatch.setattr(WarmProgram, "run", run)
    solution = rb.solve(game, 1e-9, "lpboost", time_limit=50.0)
    assert solution.status == "time_limit"
    assert solution.rounds == 5
    lower, upper = game.bracket(solution.d, solution.w)
    assert (lower, upper) == (solution.lower, solution.upper)
    assert upper - lower < 1.0


def test_time_counts_from_the_call(rng, monkeypatch):
    """What a method does before its first round is part of the time it is given."""
    game = rb.Game(rng.uniform(-1, 1, (6, 5)))
    own = rb.solvers.Corrective.start

    def slowly(self, *given):
        time.sleep(0.2)
        return own(self, *given)

    monkeypatch.setattr(rb.solvers.Corrective, "start", slowly)
    solution = rb.solve(game, 1e-12, "corrective", time_limit=0.1)
    assert (solution.status, solution.rounds) == ("time_limit", 1)
    assert solution.seconds >= 0.2
