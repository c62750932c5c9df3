"""`solve`: every way to stop returns the best bracket seen, and bad input never starts."""

from __future__ import annotations

import functools
import math
import os
import subprocess
import sys
import textwrap
from itertools import pairwise

import numpy as np
import pytest

import relaxboost as rb
from relaxboost._core.history import MAX_RECORDS
from relaxboost.solvers import METHODS, Automatic, Corrective, ERLPBoost, FullyCorrective, LPBoost
from tests.processes import ctrl_c


@pytest.fixture
def game(rng):
    return rb.Game(np.clip(rng.uniform(-1, 1, (30, 40)) + 0.1, -1, 1), rb.Capped(5))


def holds(solution):
    exact = rb.solve(solution.game, 1e-9)
    return solution.lower <= exact.upper and exact.lower <= solution.upper


def test_max_rounds(game):
    solution = rb.solve(game, 1e-6, "corrective", max_rounds=7)
    assert (solution.status, solution.rounds) == ("max_rounds", 7)
    assert "max_rounds was reached at a gap of" in solution.message
    assert holds(solution)


def test_time_limit(game):
    solution = rb.solve(game, 1e-6, "corrective", time_limit=0.2)
    assert solution.status == "time_limit"
    assert 0.2 <= solution.seconds < 20.0  # not 30, on a busy machine either
    assert holds(solution)


def test_callback(game):
    seen = []

    def stop_at_five(state):
        seen.append((state.round, state.lower, state.upper))
        return state.round == 5

    solution = rb.solve(game, 1e-6, "corrective", callback=stop_at_five)
    assert (solution.status, solution.rounds) == ("callback", 5)
    assert [t for t, _, _ in seen] == [1, 2, 3, 4, 5]
    # The best of what was seen, not the last.
    assert solution.lower == pytest.approx(max(low for _, low, _ in seen), abs=1e-12)
    assert solution.upper == pytest.approx(min(high for _, _, high in seen), abs=1e-12)
    assert holds(solution)


@pytest.mark.parametrize(
    ("answer", "ends"), [(np.True_, True), (1, True), (0, False), (None, False)]
)
def test_a_callback_ends_the_run_with_anything_true(game, answer, ends):
    """What it returns is taken as `if` takes it: NumPy's booleans count."""
    solution = rb.solve(game, 0.2, "corrective", callback=lambda state: answer)
    assert (solution.status == "callback") == ends


def test_an_error_in_a_callback_is_the_users_own(game):
    with pytest.raises(ZeroDivisionError):
        rb.solve(game, callback=lambda state: 1 / 0)


def test_stalled_is_said(game):
    """A gap below what rounding allows is reported as it is."""
    solution = rb.solve(game, 1e-18, "lpboost")
    assert solution.status == "stalled"
    assert "the run could not reduce the gap below" in solution.message
    assert solution.gap <= 1e-13
    assert holds(solution)


@pytest.mark.parametrize("method", ["corrective", "lpboost"])
def test_keyboard_interrupt_inside_a_round(game, method):
    def press(state):
        if state.round == 4:
            raise KeyboardInterrupt

    solution = rb.solve(game, 1e-6, method, callback=press)
    assert (solution.status, solution.rounds) == ("interrupted", 4)
    assert "the run was interrupted at a gap of" in solution.message
    assert holds(solution)


def test_interrupt_before_the_first_round_ends(game, monkeypatch):
    def press(self, d):
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(type(game.matrix), "best", press)
    solution = rb.solve(game)
    assert (solution.status, solution.rounds) == ("interrupted", 0)
    assert solution.lower == 0.0
    assert holds(solution)


def test_interrupts_inside_a_compiled_kernel(game, monkeypatch):
    """Numba turns one that arrives between Python and its kernel into a SystemError."""
    margin = type(game.relaxation).relaxed_margin
    calls = []

    def press(self, u, cause=KeyboardInterrupt):
        calls.append(u)
        if len(calls) == 3:
            raise SystemError("returned a result with an exception set") from cause()
        return margin(self, u)

    monkeypatch.setattr(type(game.relaxation), "relaxed_margin", press)
    solution = rb.solve(game, 1e-9, "corrective")
    assert solution.status == "interrupted"
    assert holds(solution)
    calls.clear()
    other = functools.partialmethod(press, cause=ValueError)
    monkeypatch.setattr(type(game.relaxation), "relaxed_margin", other)
    with pytest.raises(SystemError):
        rb.solve(game, 1e-9, "corrective")


@pytest.mark.parametrize(
    "method",
    [Corrective(beta=1e-6), ERLPBoost(beta=1e-6)],
)
def test_a_real_ctrl_c_in_a_real_process(method):
    script = textwrap.dedent(
        f"""
        import numpy as np, relaxboost as rb
        rng = np.random.default_rng(0)
        A = np.clip(rng.uniform(-1, 1, (400, 400)) + 0.1, -1, 1)
        def tell(state):
            if state.round == 20:
                print("running", flush=True)
        game = rb.Game(A, rb.Capped(80))
        sol = rb.solve(game, 1e-15, rb.solvers.{method!r}, callback=tell)
        print(sol.status, sol.lower <= sol.upper, sol.rounds >= 20, sol.gap < 1)
        """
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "running\n"
        status, out, err = ctrl_c(process)
    assert (status, out, err) == (0, "interrupted True True True\n", "")


def test_history_is_thinned_by_doubling(rng):
    game = rb.Game(np.clip(rng.uniform(-1, 1, (6, 6)) + 0.1, -1, 1))
    solution = rb.solve(game, 1e-9, "corrective", max_rounds=25_001)
    history = solution.history
    assert len(history) <= MAX_RECORDS
    assert len(history) > MAX_RECORDS / 4
    steps = {b.round - a.round for a, b in pairwise(history[:-1])}
    assert steps == {4}
    assert history[0].round == 1
    assert history[-1].round == solution.rounds == 25_001
    assert (history[-1].lower, history[-1].upper) == (solution.lower, solution.upper)
    lowers = np.array([r.lower for r in history[:-1]])
    uppers = np.array([r.upper for r in history[:-1]])
    assert (np.diff(lowers) >= 0).all()
    assert (np.diff(uppers) <= 0).all()


def test_short_histories_keep_every_round(game):
    solution = rb.solve(game, 0.05, Corrective(step="pairwise"))
    assert [r.round for r in solution.history] == list(range(1, solution.rounds + 1))
    assert solution.history[-1].seconds <= solution.seconds


def test_bound_and_beta(game):
    for method in ("corrective", "erlpboost"):
        bound = rb.solve(game, 0.1, method, max_rounds=1).bound
        assert bound == pytest.approx(64 * math.log(30) / 0.01)
    assert math.isnan(rb.solve(game, 0.1).bound)  # no theorem counts the rounds of all phases
    assert math.isnan(rb.solve(game, 0.1, Corrective(beta=0.01)).bound)
    # Steps 2/(t + 2) need five rounds here, and the bound for the steps of Fig. 1 is two.
    single = rb.Game([[1.0]])
    assert rb.solve(single, 0.1, Corrective(step="classic")).rounds > 2
    for step in ("classic", "away", "pairwise"):
        assert math.isnan(rb.solve(single, 0.1, Corrective(step=step)).bound)
    for step in ("fig1", "line-search"):
        found = rb.solve(single, 0.1, Corrective(step=step))
        assert found.rounds <= found.bound == 2.0
    # A β far too large never gets there: its smoothing error alone exceeds tol.
    blurred = rb.solve(game, 1e-4, Corrective(step="pairwise", beta=1.0), max_rounds=300)
    assert blurred.gap > 1e-4  # a run that rounding brings to a halt ends as "stalled"
    assert blurred.status in ("max_rounds", "stalled")
    assert holds(blurred)


def test_float32_and_int8_are_solved_as_they_are(rng):
    signs = np.sign(rng.normal(size=(20, 15)))
    for A in (signs.astype(np.int8), signs.astype(np.float32), signs):
        solution = rb.solve(rb.Game(A, rb.Capped(4)), 1e-9)
        assert solution.lower == pytest.approx(rb.reference(rb.Game(signs, rb.Capped(4))).lower)
        assert rb.solve(rb.Game(A, rb.Capped(4)), 0.05, Corrective(step="away")).gap <= 0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tol": 0}, "tol must be a positive number, got 0"),
        ({"tol": -1e-3}, "tol must be a positive number"),
        ({"tol": math.nan}, "tol must be a positive number"),
        ({"tol": math.inf}, "tol must be a positive number"),
        ({"method": "gradient"}, "unknown method 'gradient'; choose one of \"adaboost\""),
        ({"method": "lpbost"}, "unknown method 'lpbost'; did you mean lpboost"),
        ({"method": Corrective}, r"write Corrective\(\)"),
        ({"max_rounds": 0}, "max_rounds must be a whole number >= 1"),
        ({"time_limit": -1.0}, "time_limit must be a positive number"),
        ({"callback": 3}, "callback must be a function"),
        ({"tol": "small"}, "tol must be a positive number, got 'small'"),
        ({"tol": True}, "tol must be a positive number, got True"),
        ({"max_rounds": 2.5}, "max_rounds must be a whole number >= 1, got 2.5"),
    ],
)
def test_wrong_options(game, options, message):
    with pytest.raises(rb.InputError, match=message):
        rb.solve(game, **options)


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        (Corrective, {"step": "big"}, "unknown step 'big'; choose one of fig1"),
        (LPBoost, {"program": "qp"}, "unknown program 'qp'; choose one of auto, linear, conic"),
        (Corrective, {"stopping": "never"}, "unknown stopping 'never'"),
        (ERLPBoost, {"smoothing": "much"}, "unknown smoothing 'much'"),
        (Corrective, {"beta": 0.0}, "beta must be a positive number"),
        (ERLPBoost, {"stopping": "never"}, "unknown stopping 'never'"),
        (ERLPBoost, {"beta": -1.0}, "beta must be a positive number"),
    ],
)
def test_options_are_checked_where_they_belong(method, options, message):
    with pytest.raises(rb.InputError, match=message):
        method(**options)


@pytest.mark.parametrize(
    ("method", "option"),
    [
        (Automatic, "step"),
        (Automatic, "smoothing"),
        (ERLPBoost, "step"),
        (Corrective, "inner"),
        (LPBoost, "stopping"),
        (LPBoost, "beta"),
        (FullyCorrective, "beta"),
        (FullyCorrective, "stopping"),
    ],
)
def test_options_of_another_method_do_not_exist(method, option):
    with pytest.raises(TypeError, match=option):
        method(**{option: "smoothed"})


def test_every_method_is_an_object_with_a_name(game):
    for name, kind in METHODS.items():
        assert kind.name == name
        assert kind() == kind()
        assert kind.__doc__
        hard = rb.Game(game.matrix)
        if name == "fully-corrective":  # over Euclidean sets only
            hard = rb.Game(game.matrix, over=rb.L2Ball())
        by_name, by_object = (rb.solve(hard, 0.1, m, max_rounds=30) for m in (name, kind()))
        assert (by_name.lower, by_name.upper) == (by_object.lower, by_object.upper)
        assert by_name.method == by_object.method


def test_extreme_tolerances_end(game):
    from fractions import Fraction

    assert rb.solve(game, Fraction(1, 10)).gap <= 0.1
    assert rb.solve(game, np.float32(0.25)).gap <= 0.25
    for tol in (1e-170, 5e-324):
        solution = rb.solve(game, tol)
        assert solution.status == "stalled"
        assert holds(solution)
    assert rb.solve(game, 1e300).status == "optimal"
    # Below what rounding allows a corrective run must not go on for ever either.
    assert rb.solve(rb.Game([[0.3]]), 1e-17, Corrective(step="line-search")).status == "stalled"


@pytest.mark.parametrize("step", ["fig1", "line-search", "away", "pairwise"])
def test_steps_that_change_nothing_end_a_run(step):
    """All weight is on the one column, and what is left of the gap is what β costs."""
    for over in (rb.L1Ball(), rb.FullSimplex(2), rb.L2Ball()):
        if isinstance(over, rb.L2Ball) and step in ("away", "pairwise"):
            continue
        one = rb.Game([[0.3], [0.5]], over=over)
        found = rb.solve(one, 1e-6, Corrective(step=step, beta=0.2), max_rounds=1000)
        assert (found.status, found.rounds < 100) == ("stalled", True)
        assert found.gap > 0.04


@pytest.mark.parametrize("step", ["away", "pairwise"])
def test_steps_that_only_drop_weights_below_rounding_go_on(step):
    """Each of 196 such columns takes a round, which changes neither d nor margins."""
    rng = np.random.default_rng(1)
    A = np.where(rng.random((80, 200)) < 0.5, 1.0, -1.0)
    A[:, :4] = np.where(rng.random((80, 4)) < 0.8, 1.0, -1.0)
    w = np.exp(100.0 * (A.mean(axis=0) - A.mean(axis=0).max()))
    game, method = rb.Game(A, rb.Capped(20)), Corrective(step=step, beta=0.01)
    found = rb.solve(game, 1e-4, method, start=(None, w / w.sum()), max_rounds=1000)
    assert found.gap < 0.05


def test_time_limit_inside_a_long_round(game):
    solution = rb.solve(game, 1e-7, ERLPBoost(beta=1e-9), time_limit=0.5)
    assert solution.status == "time_limit"
    assert solution.seconds < 20.0  # without the limit 40 are too few


def test_a_program_that_gives_up_leaves_the_bracket(game, monkeypatch):
    from relaxboost.solvers.restricted_master import ProgramError, RestrictedMaster

    honest, calls, most = RestrictedMaster.solve, [], 6

    def give_up(self, clock):
        calls.append(1)
        if len(calls) >= most:
            raise ProgramError("HiGHS ended with status Unknown on the restricted problem")
        return honest(self, clock)

    monkeypatch.setattr(RestrictedMaster, "solve", give_up)
    solution = rb.solve(game, 1e-9, "lpboost")
    monkeypatch.undo()
    assert len(calls) == 6
    assert solution.status == "failed"
    assert solution.message.startswith("HiGHS ended with status Unknown")
    assert solution.gap < 1.0
    assert holds(solution)


def test_programs_that_memory_is_too_small_for_leave_the_bracket(game, monkeypatch):
    from relaxboost._core.highs import WarmProgram
    from relaxboost.solvers.boosters import restricted_programs

    def devour(self, *args):
        raise MemoryError("std::bad_alloc")

    most = 12 * game.m
    monkeypatch.setattr(restricted_programs, "MAX_DENSE_ENTRIES", most)
    solution = rb.solve(game, 1e-9, "lpboost")
    assert (solution.status, len(solution.history)) == ("failed", 13)
    assert solution.message.startswith(f"the restricted program of {game.m} examples and 13")
    assert holds(solution)
    monkeypatch.undo()
    monkeypatch.setattr(WarmProgram, "run", devour)
    solution = rb.solve(game, 1e-9, "lpboost")
    assert solution.status == "failed"
    assert solution.message.startswith("out of memory: std::bad_alloc")
    assert holds(solution)
    assert rb.solve(game, 1e-9).status == "optimal"  # the interior point needs no HiGHS


def test_nearly_equal_columns_end_somehow_with_a_true_bracket(rng):
    """HiGHS returns status Unknown on some of these; neither front door may raise."""
    columns = np.tile(rng.uniform(-1, 1, (60, 5)), (1, 200)) * (1 - rng.random((60, 1000)) * 1e-7)
    game = rb.Game(columns)
    solutions = [
        rb.solve(game, 1e-9, "lpboost"),
        rb.solve(game, 1e-9),
        rb.reference(game),
    ]
    assert rb.compare(*solutions)
    assert all(s.gap < 1e-3 for s in solutions)


def test_solutions_cannot_be_changed(game):
    solution = rb.solve(game, 0.01)
    for array in (solution.d, solution.support, solution.coefficients):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
    solution.w[:] = 0.0  # a fresh array each time
    assert game.bracket(solution.d, solution.w) == (solution.lower, solution.upper)

    def scribble(state):
        state.d[:] = 0.0

    with pytest.raises(ValueError, match="read-only"):
        rb.solve(game, 0.01, callback=scribble)


def test_a_matrix_of_ones_own_with_unknown_slack_needs_a_limit():
    from relaxboost.matrices import DenseMatrix

    class Vague(DenseMatrix):
        slack = math.inf

        def best(self, d):
            return super().best(d)._replace(slack=math.inf)

    game = rb.Game(Vague(np.eye(3)))
    with pytest.raises(rb.InputError, match="pass max_rounds or time_limit"):
        rb.solve(game)
    found = rb.solve(game, method="corrective", max_rounds=50)
    assert (found.upper, found.status, found.rounds) == (math.inf, "max_rounds", 50)


def test_a_matrix_is_not_a_game():
    with pytest.raises(rb.InputError, match=r"write Game\(A, f\)"):
        rb.solve(np.eye(2))


@pytest.mark.skipif(os.name != "posix", reason="pseudo-terminals are POSIX")
def test_progress_bar_on_a_terminal_and_none_in_a_pipe():
    import pty

    script = (
        "import numpy as np, relaxboost as rb, time\n"
        "A = np.clip(np.random.default_rng(0).uniform(-1, 1, (50, 50)) + .1, -1, 1)\n"
        "rb.solve(rb.Game(A), 1e-9, 'corrective', time_limit=1.0, verbose=1)\n"
    )
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", script], stderr=follower, env={**os.environ, "TERM": "xterm"}
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    assert process.wait() == 0
    os.close(leader)
    assert b"gap" in shown
    assert b"round" in shown
    piped = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert piped.stdout == piped.stderr == b""


def test_a_gap_that_w_0_has_too_is_named():
    """Where ρ is small beside tol, being optimal says nothing of w."""
    A = np.sign(np.random.default_rng(0).normal(0.2, 1.0, size=(60, 10)))
    game = rb.Game(A, rb.Capped(40))
    value = rb.solve(game, 1e-9)
    assert 0.01 < value.lower < 0.2
    assert "w = 0" not in value.message
    loose = rb.solve(game, 3 * value.upper, rb.solvers.Corrective(step="pairwise"))
    assert loose.status == "optimal"
    assert loose.support.size
    assert "w = 0 is as good, with a gap of" in loose.message
    simplex = rb.solve(rb.Game(A, rb.Capped(40), over=rb.Simplex()), 1.0)
    assert "w = 0" not in simplex.message


def test_a_class_cannot_replace_a_method_by_its_name():
    built_in = METHODS["interior-point"]
    with pytest.raises(rb.InputError, match="method 'interior-point' is already the name of"):

        class Mine(LPBoost):
            name = "interior-point"

    assert METHODS["interior-point"] is built_in
