"""The default method: its phases, their budgets, and what they hand over."""

from __future__ import annotations

import re

import cvxpy as cp
import numpy as np
import pytest

import relaxboost as rb
from relaxboost._core.errors import SolverError
from relaxboost.relaxations import numerical
from relaxboost.solvers import automatic, incumbent, portfolio
from relaxboost.solvers.boosters.starting_points import active_set
from relaxboost.solvers.interior_point.run import InteriorRun
from relaxboost.solvers.portfolio import PHASES, Phase
from relaxboost.solvers.restricted_master import ProgramError
from relaxboost.solvers.rounds import Booster
from tests.solvers.test_interior import inners, margins, noisy_stumps

ERRORS = [ProgramError, np.linalg.LinAlgError, MemoryError, SolverError]
NAMES = [phase.name for phase in PHASES]
LAST = r"The run ended after round \d+ as \w+: .+\."
WORDS = (
    r"Round \d+: auto left out the ({names}): .+\.",
    r"Round \d+: auto began the ({names})(, with a budget of \d+ passes over A)?\.",
    r"Round \d+: auto left the ({names}) after \d+ passes over A: .+\.",
)


def said_of(line):
    """Return what a line of the trace says, and of which phase."""
    for kind, pattern in zip(("left out", "began", "left"), WORDS, strict=True):
        found = re.fullmatch(pattern.format(names="|".join(NAMES)), line)
        if found:
            return kind, found[1]
    raise AssertionError(line)


@pytest.mark.parametrize(
    "game",
    [
        rb.Game(margins(60, 40), rb.Capped(10)),
        rb.Game(margins(20, 60), rb.Capped(5)),
        rb.Game(margins(40, 20), rb.KLPenalty(0.1), over=rb.Simplex()),
        rb.Game(noisy_stumps(200, 3), rb.Capped(20)),
        rb.Game(margins(30, 20), rb.Capped(5), over=rb.L2Ball()),
    ],
    ids=["dense", "wide", "curved", "stumps", "euclidean"],
)
def test_the_trace_says_of_every_phase_what_became_of_it(game):
    found = rb.solve(game, 1e-7)
    assert found.status == "optimal"
    *lines, last = found.trace
    assert re.fullmatch(LAST, last)
    assert f"after round {found.rounds} as optimal" in last
    said = [said_of(line) for line in lines]
    omitted = [name for kind, name in said if kind == "left out"]
    begun = [name for kind, name in said if kind == "began"]
    left = [name for kind, name in said if kind == "left"]
    assert begun
    assert left == begun[:-1]  # the last one reached the gap
    assert sorted([*omitted, *begun], key=NAMES.index) == [
        name for name in NAMES if name in {*omitted, *begun}
    ]
    assert begun == sorted(begun, key=NAMES.index)
    assert not set(omitted) & set(begun)


def test_a_run_of_one_method_has_its_end_in_the_trace_only():
    for method in ("lpboost", "erlpboost", "interior-point", "corrective"):
        found = rb.solve(rb.Game(margins(30, 20), rb.Capped(5)), 0.1, method)
        (only,) = found.trace
        assert re.fullmatch(LAST, only)


def test_a_game_that_its_start_solves_has_its_end_in_the_trace_only():
    game = rb.Game(margins(30, 20), rb.Capped(5))
    again = rb.solve(game, 1e-6, start=rb.solve(game, 1e-6))
    assert again.trace == (f"The run ended after round 0 as optimal: {again.message}.",)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("rounds", [0, 3])
def test_a_phase_that_gives_up_hands_over_and_the_bracket_stays(monkeypatch, error, rounds):
    own, taken = InteriorRun.advance, []

    def advance(self, best):
        taken.append(1)
        if len(taken) > rounds:
            raise error("the wind has changed")
        return own(self, best)

    game = rb.Game(margins(60, 40), rb.Capped(10))
    truth = rb.solve(game, 1e-9)
    monkeypatch.setattr(InteriorRun, "advance", advance)
    found = rb.solve(game, 1e-9)
    assert found.status == "optimal"
    assert rb.compare(found, truth)
    assert inners(found)[-1] == "lp"
    assert len(taken) == rounds + 1
    (line,) = [line for line in found.trace if "left the interior point method" in line]
    assert line.endswith("it gave up (the wind has changed).")
    assert found.trace[found.trace.index(line) + 1].endswith("began the column generation.")
    lowers, uppers = (
        np.array([getattr(r, end) for r in found.history]) for end in ("lower", "upper")
    )
    assert (np.diff(lowers[:-1]) >= 0.0).all()
    assert (np.diff(uppers[:-1]) <= 0.0).all()


def test_a_phase_that_cannot_be_started_hands_over(monkeypatch):
    def fail(self, *args):
        raise MemoryError("no room")

    monkeypatch.setattr(InteriorRun, "__init__", fail)
    found = rb.solve(rb.Game(margins(60, 40), rb.Capped(10)), 1e-9)
    assert found.status == "optimal"
    assert inners(found)[-1] == "lp"
    assert any("it could not be started (no room)." in line for line in found.trace)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize("name", ["__init__", "advance"])
def test_where_the_last_phase_gives_up_the_bracket_holds(monkeypatch, error, name):
    def fail(self, *args):
        raise error("the end")

    phase = next(phase for phase in PHASES if phase.name == "interior point method")
    monkeypatch.setattr(automatic, "PHASES", (phase,))
    monkeypatch.setattr(InteriorRun, name, fail)
    game = rb.Game(margins(60, 40), rb.Capped(10))
    found = rb.solve(game, 1e-9)
    assert found.status == "failed"
    assert "the end" in found.message
    assert found.trace[-1].startswith("The run ended after round 1 as failed")
    assert (found.lower, found.upper) == game.bracket(found.d, found.w)
    assert np.isfinite(found.gap)


class Idle(Booster):
    """A run that shows the centre for ever, at a price."""

    def __init__(self, game, name, price=0.0, ends_after=10**9):
        self.inner = name
        self.active = active_set(game)
        self.d = game.relaxation.center(game.m)
        self.price = price
        self.left = ends_after

    def advance(self, best):
        self.work += self.price
        self.left -= 1
        return self if self.left else None


def idle(name, budget=np.inf, **options):
    """Return a phase of idle rounds for every game."""
    return Phase(
        name,
        lambda request: "",
        lambda request: Idle(request.game, name, **options),
        lambda game: budget,
    )


def test_a_phase_may_use_its_budget_of_work_and_no_more(monkeypatch):
    """Each answer of the weak learner is a pass; the last round may exceed the budget."""
    phases = (idle("first", 10.0), idle("second", 30.0, price=4.0), idle("third", ends_after=2))
    monkeypatch.setattr(automatic, "PHASES", phases)
    found = rb.solve(rb.Game(margins(20, 10), rb.Capped(4)), 1e-9, max_rounds=60)
    kinds = [record.inner for record in found.history]
    counts = {name: kinds.count(name) for name in dict.fromkeys(kinds)}
    assert counts == {"start": 1, "first": 11, "second": 7, "third": 1}
    assert found.status == "stalled"  # the last phase could do no more
    used = [line for line in found.trace if ": auto left the" in line]
    assert used == [
        f"Round {number}: auto left the {name} after {work} passes over A: "
        f"its budget of {budget} passes over A is used up."
        for number, name, work, budget in ((12, "first", 11, 10), (19, "second", 35, 30))
    ]


def test_the_last_phase_has_no_budget(monkeypatch):
    monkeypatch.setattr(automatic, "PHASES", (idle("only", 3.0),))
    found = rb.solve(rb.Game(margins(20, 10), rb.Capped(4)), 1e-9, max_rounds=30)
    assert (found.status, found.rounds) == ("max_rounds", 30)


def test_a_phase_before_the_interior_point_method_uses_no_more_than_its_work(monkeypatch):
    game = rb.Game(noisy_stumps(500, 4), rb.Capped(fraction=0.1))
    share = portfolio.interior_point.predict_passes(game)
    found = rb.solve(game, 1e-8)
    begun = [line for line in found.trace if "began the taut-string steps" in line]
    assert begun
    assert begun[0].endswith(f"with a budget of {share:.0f} passes over A.")
    (left,) = [line for line in found.trace if "left the taut-string steps" in line]
    assert float(left.partition(" after ")[2].split()[0]) <= share + 25.0 * 5.0 + 1.0


def test_reasons_for_leaving_a_phase_out_have_no_remedy():
    """A trace of the default method must not advise the default method."""
    game = rb.Game(margins(20, 10), rb.NormPenalty(10000, 0.3), over=rb.L2Ball(1))
    left_out = [line for line in rb.solve(game, 1e-3).trace if "left out" in line]
    assert any("no cone program" in line for line in left_out)
    assert not any("use " in line for line in left_out)


def test_verbose_2_prints_the_trace_on_standard_error(capsys):
    game = rb.Game(margins(60, 40), rb.Capped(10))
    found = rb.solve(game, 1e-7, verbose=2)
    out, err = capsys.readouterr()
    assert out == ""
    printed = [line for line in err.splitlines() if line.startswith("relaxboost: ")]
    assert printed == [f"relaxboost: {line}" for line in found.trace]
    for verbose in (0, 1):
        rb.solve(game, 1e-7, verbose=verbose)
        assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("method", ["lpboost", "corrective", "adaboost-star", "interior-point"])
def test_verbose_2_prints_the_trace_of_a_named_method_once(capsys, method):
    found = rb.solve(rb.Game(margins(30, 20)), 0.2, method, verbose=2)
    assert capsys.readouterr().err == "".join(f"relaxboost: {line}\n" for line in found.trace)


def test_runs_that_end_before_the_goal_say_why():
    game = rb.Game(margins(60, 40), rb.Capped(10))
    for method, reason in (
        ("lpboost", r"the best of all columns is already among the \d+ columns"),
        ("interior-point", "its Newton steps make no more progress"),
        ("auto", r"the general solver ended because it solves the game only once"),
    ):
        found = rb.solve(game, 1e-18, method)
        assert found.status == "stalled"
        said = f"could not reduce the gap below \\S+: {reason}"
        assert re.search(said, found.message)
        assert re.search(f"as stalled: the run {said}", found.trace[-1])


def test_phases_that_end_report_the_numbers():
    dense = rb.solve(rb.Game(margins(60, 40), rb.Capped(10)), 1e-7)
    (test,) = [line for line in dense.trace if "left the test for a value of zero" in line]
    assert re.search(r"residual of A\^T d = 0 from \S+ to \S+, and", test)
    stumps = rb.solve(rb.Game(noisy_stumps(200, 3), rb.Capped(20)), 1e-7)
    (strings,) = [line for line in stumps.trace if "left the taut-string steps" in line]
    found = re.search(
        r"it predicts (\S+) passes over A to reach the requested gap, and its budget is (\S+)",
        strings,
    )
    assert found
    assert float(found[1]) > float(found[2].rstrip("."))


def test_taut_strings_do_not_replace_steps_without_factors():
    large = rb.Game(noisy_stumps(80_000, 1), rb.Capped(8_000))
    found = rb.solve(large, 0.1)
    assert found.status == "optimal"
    reason = "the interior point method factorises no matrix of this size"
    assert f"Round 1: auto left out the taut-string steps: {reason}." in found.trace


def test_the_trace_says_for_which_sets_fully_corrective_steps_are():
    trace = rb.solve(rb.Game(margins(60, 40), over=rb.Simplex()), 1e-2).trace
    (line,) = [line for line in trace if "left out the fully corrective steps" in line]
    assert f"they are for L2Ball and SquaredNorm, and w ranges over {rb.Simplex()!r}" in line
    round_set = rb.solve(rb.Game(margins(60, 40), over=rb.SquaredNorm(0.5)), 1e-2).trace
    assert not [line for line in round_set if "left out the fully corrective steps" in line]


@pytest.mark.parametrize(
    "f",
    [
        rb.Custom(f=lambda d: cp.sum_squares(cp.pos(d - 0.05)), name="soft"),
        rb.relaxations.MahalanobisPenalty(np.eye(60)[::2], 0.1),
        2 * rb.relaxations.MahalanobisPenalty(np.eye(60)[::2], 0.1),
    ],
    ids=repr,
)
def test_fully_corrective_steps_are_left_out_if_each_would_call_a_solver(f):
    solution = rb.solve(rb.Game(margins(60, 40), f, over=rb.L2Ball(1)), 1e-5)
    assert solution.status == "optimal"
    reason = "each step would call a solver"
    assert f"Round 1: auto left out the fully corrective steps: {reason}." in solution.trace


@pytest.mark.parametrize(
    ("f", "reason"),
    [
        (rb.Capped(10), "f is not strongly convex, and they are slow then"),
        (
            rb.KLPenalty(0.1),
            "modulus 0.1, and they are slow if the modulus is below radius²/tol = 1e+03",
        ),
    ],
)
def test_the_trace_says_when_pairwise_steps_are_slow(f, reason):
    trace = rb.solve(rb.Game(margins(60, 40), f), 1e-3).trace
    (line,) = [line for line in trace if "left out the pairwise steps" in line]
    assert reason in line


@pytest.mark.parametrize("radius", [1e-4, 1e4])
def test_the_phases_do_not_depend_on_the_scale(radius):
    A = margins(60, 40)
    for weight, tol in ((0.1, 1e-3), (10.0, 0.2)):
        unit = rb.solve(rb.Game(A, rb.KLPenalty(weight)), tol)
        game = rb.Game(A, rb.KLPenalty(weight * radius), over=rb.L1Ball(radius))
        scaled = rb.solve(game, tol * radius, max_rounds=100)
        assert scaled.status == "optimal"
        assert scaled.method == unit.method
        assert scaled.upper / radius == pytest.approx(unit.upper, abs=tol)


def test_an_interrupt_while_a_phase_is_prepared_keeps_the_bracket(monkeypatch):
    def press(self, *args):
        raise KeyboardInterrupt

    game = rb.Game(margins(60, 40), rb.Capped(10))
    truth = rb.solve(game, 1e-9)
    monkeypatch.setattr(InteriorRun, "__init__", press)
    found = rb.solve(game, 1e-9)
    assert found.status == "interrupted"
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper < np.inf
    assert found.trace[-1].startswith(f"The run ended after round {found.rounds} as interrupted")


def test_the_phases_of_a_game_are_the_same_every_time():
    game = rb.Game(noisy_stumps(300, 3), rb.Capped(fraction=0.1))
    one, other = (rb.solve(game, 1e-6) for _ in range(2))
    assert one.trace == other.trace
    assert one.d.tobytes() == other.d.tobytes()


@pytest.mark.parametrize(
    ("old", "new"),
    [("totally-corrective", "lpboost"), ("combined", "auto"), ("taut-strings", "auto")],
)
def test_names_of_version_0_1_warn_with_those_of_today(old, new):
    game = rb.Game(margins(30, 12), rb.Capped(5))
    with pytest.warns(FutureWarning, match=f'method="{old}" is now called method="{new}"') as seen:
        found = rb.solve(game, 1e-6, old)
    assert seen[0].filename == __file__
    today = rb.solve(game, 1e-6, new)
    assert (found.lower, found.upper, found.method) == (today.lower, today.upper, today.method)


def test_a_bound_that_cannot_be_proved_ends_its_phase_and_not_the_run(monkeypatch):
    game = rb.Game(margins(60, 40), rb.Capped(10))
    truth = rb.solve(game, 1e-9)
    evaluate = incumbent.bounds.evaluate_lower
    calls = []

    def lose_the_first(*given):
        calls.append(given)
        lower, witness = evaluate(*given)
        return (lower - 0.5 if len(calls) == 1 else lower), witness

    monkeypatch.setattr(incumbent.bounds, "evaluate_lower", lose_the_first)
    found = rb.solve(game, 1e-6)
    assert found.status == "optimal"
    assert rb.compare(found, truth)
    lost = "its certified bounds are wider than the computed ones by 0.5"
    assert [line for line in found.trace if lost in line and "left the interior point" in line]


def test_without_a_further_phase_a_lost_proof_ends_the_run(monkeypatch):
    game = rb.Game(margins(60, 40), rb.Capped(10))
    evaluate = incumbent.bounds.evaluate_lower

    def lose(*given):
        lower, witness = evaluate(*given)
        return lower - 0.5, witness

    monkeypatch.setattr(incumbent.bounds, "evaluate_lower", lose)
    for method in ("auto", "interior-point"):
        found = rb.solve(game, 1e-6, method)
        assert found.status == "stalled"
        assert "its certified bounds are wider than the computed ones by 0.5" in found.message


def test_a_first_step_that_fails_says_why(monkeypatch):
    def fail(self, best):
        self.why_ended = "no step is possible"

    monkeypatch.setattr(InteriorRun, "advance", fail)
    found = rb.solve(rb.Game(margins(30, 20)), 1e-6, "interior-point")
    assert "no step is possible" in found.message


def test_an_early_iterate_does_not_spoil_later_evaluations_of_f():
    A = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]])

    def fixed(d):
        z = cp.Variable(3)
        return np.array([-3.5, -2.7, -2.7]) @ z, [d == 1 / 3, z >= 0, z <= 1]

    # The only d is uniform, and the best z is 1 in each entry: ρ = 1/3 − 8.9.
    game = rb.Game(A, rb.Custom(fixed))
    before = rb.solve(game, 1e-6, "lpboost")
    rb.solve(game, 1e-6, "interior-point")
    after = rb.solve(game, 1e-6, "lpboost")
    auto = rb.solve(rb.Game(A, rb.Custom(fixed)), 1e-6)
    for found in (before, after, auto):
        assert found.status == "optimal"
        assert found.lower - 1e-6 <= 1 / 3 - 8.9 <= found.upper + 1e-6


def test_a_loose_value_of_f_does_not_hide_a_better_one():
    def bounded(d):
        z = cp.Variable(2)
        return cp.sum(z), [z >= d[:2], z <= 1]

    f = rb.Custom(bounded).resolve(3)
    programs = numerical.programs(f, 3)
    d = np.full(3, 1 / 3)
    assert programs.above(d)[0] == pytest.approx(2 / 3, abs=1e-6)
    programs.keep("point", d, 1.5)  # what an early iterate proves
    assert programs.above(d)[0] == pytest.approx(2 / 3, abs=1e-6)


@pytest.mark.parametrize("p", [1.00001, 10_000])
def test_auto_solves_norms_that_cvxpy_cannot_compile(p):
    A = np.random.default_rng(0).uniform(-1.0, 1.0, (40, 10))
    assert rb.solve(rb.Game(A, rb.NormPenalty(p, 1)), 1e-5).gap <= 1e-5
