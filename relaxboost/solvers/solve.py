"""`solve`: check the request, choose a method, run it, return the incumbent."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from relaxboost._core.blas import threads_for
from relaxboost._core.compiled import is_interrupt, ready
from relaxboost._core.errors import ClusterError, InputError, SolverError
from relaxboost._core.loop import Clock, Limits, TimeUp, run, until
from relaxboost._core.parameters import positive
from relaxboost._core.progress import closing
from relaxboost.game.game import Game
from relaxboost.game.solution import Solution
from relaxboost.solvers.boosters.starting_points import Unbegun
from relaxboost.solvers.checkpoint import Checkpoint
from relaxboost.solvers.incumbent import Certified, Incumbent, RunLog, Saver
from relaxboost.solvers.messages import Ending, describe_ending
from relaxboost.solvers.method import Method, as_method
from relaxboost.solvers.restricted_master import ProgramError
from relaxboost.solvers.rounds import Booster, Rounds, RoundState
from relaxboost.solvers.stopping import StoppingRule, Tolerance
from relaxboost.solvers.warm_start import Relay, WarmStart, read_start

DEFAULT_TOL = 1e-3
"""The requested gap of a call that gives neither `tol` nor `rtol`."""

ABSOLUTE_FLOOR = 1e-8
"""The value of `tol` where only `rtol` is given: a ρ that small counts as zero."""


def solve(
    game: Game,
    tol: float | None = None,
    method: str | Method = "auto",
    *,
    rtol: float | None = None,
    start: Solution | Relay | tuple[Any, Any] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    max_rounds: int | None = None,
    time_limit: float | None = None,
    callback: Callable[[RoundState], Any] | None = None,
    verbose: int = 0,
) -> Solution:
    """Solve a game with a booster, up to a certified gap.

    Parameters
    ----------
    game : Game
    tol : float, optional
        The gap upper − lower of the *unsmoothed* game at which to stop, > 0. By default 1e-3, and
        1e-8 where `rtol` is given.
    method : str or Method
        ``"auto"`` runs phases in a fixed order, those that are for the game; `Solution.trace` says
        why each began and ended. The other names, such as ``"interior-point"``, ``"corrective"`` or
        ``"lpboost"``, stand for objects with their defaults: `InteriorPoint`, `Corrective` and
        `LPBoost` of `relaxboost.solvers`. An object brings its options, as in
        ``method=rb.solvers.Corrective(step="pairwise")``.
    rtol : float, optional
        The run also stops at a gap of at most `rtol` times |ρ|, in (0, 1). The bracket must prove
        that: the gap is compared with the end of the bracket that is nearer to 0, so a bracket
        around 0 is never narrow enough. `Solution.message` says which test ended the run. Methods
        that smooth throughout (`Corrective`, `ERLPBoost`) and `AdaBoostStar` work at the accuracy
        `tol`.
    start : Solution, or pair (d, w), optional
        Where to begin. The result is never worse than the start, unless Fig. 1's own test ends the
        run. A Solution may belong to another f or domain, or to other data with the same hypotheses
        in the same order; its d is used if it has m entries. In a pair one may be None; w is given
        as in `Game.bracket`, for example as the weights of an ensemble. Both are moved to feasible
        points, and `Solution.message` says so for a pair. If f consists of costs and bounds for the
        examples, and A has at most ten million entries or consists of all stumps, a parametric
        simplex method moves from the optimum of a neighbour to that of the game. Otherwise the
        interior point method keeps the bracket of the start and begins again. Methods that count
        their steps, such as AdaBoost, take no start.
    checkpoint : path, optional
        A file of JSON for the best points so far. It is written atomically, now and then and at the
        end. If the file exists, the run continues from it; a file of another game is an error that
        gives the reason. Rounds and seconds in the Solution include those before the checkpoint;
        the limits count from zero.
    max_rounds, time_limit : int, float (seconds), optional
        Further limits. Time counts from the moment at which compiled kernels are ready. Without
        limits a run ends at `tol` only; Fig. 1 gets there within `Solution.bound` rounds,
        64 log(m) / tol² over the unit l1 ball.
    callback : callable, optional
        Called with the `RoundState` of each round, whose d cannot be written to. The run ends when
        the callback returns something true.
    verbose : int
        1 shows a progress bar on a terminal (on standard error). 2 also prints each decision of
        the run, a line of `Solution.trace`, on standard error as it is made. 0 shows nothing.

    Returns
    -------
    Solution
        The best bracket seen, also after Ctrl-C (status ``"interrupted"``). It is evaluated again
        from d and w, whatever the booster believed. If a solver gives up in the last phase,
        memory does not suffice, or a cluster goes away, the status is ``"failed"``, and the bracket
        still holds. Runs are deterministic except for the clock; if examples times columns exceed a
        million, the last bits depend on the threads of BLAS.

    Raises
    ------
    InputError
        Before any work: for a method that is unknown, does not fit the game or takes no start; for
        a tol, rtol or limit out of range; for a start that cannot be made to fit; for a checkpoint
        of another game. Without `max_rounds` or `time_limit` also for AdaBoost, and for a weak
        learner whose slack is unknown or not below `tol`.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Fig. 1, Thm 9, Eq. 13. The theorem's 32 log(m) / ε² belongs
    to the smoothed test; `Solution.bound` is 64 log(m) / tol² for the certified one, times the
    square of the radius of other balls (`Domain.rounds_bound`).
    """
    if not isinstance(game, Game):
        raise InputError(f"solve needs a Game, got {type(game).__name__}; write solve(Game(A, f))")
    if not isinstance(verbose, Real):
        raise InputError(
            f"verbose must be 0, or 1 for a progress bar, or 2 for the decisions too, "
            f"got {verbose!r:.60}"
        )
    goal = _read_goal(tol, rtol)
    limits = Limits(max_rounds, time_limit, callback)
    chosen = as_method(method).chosen(game, goal.tol)
    chosen.check(game)
    _check_ends(game, goal, chosen, limits)
    begin, file = _read_points(game, chosen, start, checkpoint)
    _prepare_kernels(game)
    clock = Clock(limits.time_limit)
    booster = _begin(game, goal, chosen, clock)
    return _Job(game, goal, chosen, limits, clock, booster).run(begin, file, float(verbose))


def _prepare_kernels(game: Game) -> None:
    """Compile or load what every round of this kind of game needs, before the clock starts.

    So neither a time limit nor Ctrl-C meets a compiler. An f that asks a solver has no kernels.
    """
    kinds = type(game.matrix), type(game.relaxation), type(game.over)
    if kinds in _PREPARED or game.relaxation.from_solver:
        return
    center = game.relaxation.center(game.m)
    ready(
        lambda: game.over.best(game.matrix, center),
        lambda: game.relaxation.penalty(center),
        lambda: game.relaxation.relaxed_margin(np.zeros(game.m)),
    )
    _PREPARED.add(kinds)


_PREPARED: set[tuple[type, ...]] = set()
"""The kinds of games whose kernels are ready in this process."""


def _read_goal(tol: float | None, rtol: float | None) -> Tolerance:
    """Return the requested accuracy, checked."""
    if rtol is not None:
        rtol = positive("rtol", rtol)
        if rtol >= 1.0:
            raise InputError(f"rtol must be below 1, got {rtol:g}: it is a part of |rho|")
    if tol is None:
        tol = DEFAULT_TOL if rtol is None else ABSOLUTE_FLOOR
    return Tolerance(positive("tol", tol), rtol or 0.0)


def _check_ends(game: Game, goal: Tolerance, method: Method, limits: Limits) -> None:
    """Raise an InputError for a run that may never end."""
    if limits.bounded:
        return
    slack = game.over.value(game.matrix.slack)
    if slack >= goal.tol:
        raise InputError(
            f"the slack of this weak learner, {slack:g}, is part of every upper bound, "
            f"so a gap of tol = {goal.tol:g} may never be reached; give max_rounds or time_limit, "
            "or declare a smaller slack"
        )
    if method.endless:
        raise InputError(f"{method.endless}; give max_rounds or time_limit")


def _read_points(
    game: Game, method: Method, start: Any, checkpoint: str | os.PathLike[str] | None
) -> tuple[WarmStart, Checkpoint | None]:
    """Return where the run begins, and the file that it writes."""
    if method.cold and (start is not None or checkpoint is not None):
        raise InputError(f'{method.cold}; leave start and checkpoint out, or use method="auto"')
    begin = WarmStart() if start is None else read_start(game, start)
    if checkpoint is None:
        return begin, None
    file = Checkpoint(checkpoint, game)
    return begin.joined(file.start), file


def _begin(game: Game, goal: Tolerance, method: Method, clock: Clock) -> Booster:
    """Return the booster. If a solver or the clock gives out, return one that ends with that."""
    try:
        with until(clock.deadline):
            return method.start(game, goal, clock)
    except (SolverError, TimeUp) as error:
        return Unbegun(game, error).named(getattr(method, "name", type(method).__name__))


def _warm_start(booster: Booster, begin: WarmStart, game: Game, clock: Clock) -> Booster:
    """Return the booster, warm-started. If a solver gives out, return one that ends with that."""
    if begin.w is None and begin.d is None:
        return booster
    try:
        with until(clock.deadline):
            return booster.warmed(begin)
    except (SolverError, TimeUp) as error:
        return Unbegun(game, error).named(booster.label)


class _Job:
    """A run of `solve`: its rounds, and what they do to the incumbent."""

    def __init__(
        self,
        game: Game,
        goal: Tolerance,
        method: Method,
        limits: Limits,
        clock: Clock,
        booster: Booster,
    ) -> None:
        self._game = game
        self._goal = goal
        self._method = method
        self._limits = limits
        self._clock = clock
        self._booster = booster
        self._incumbent = Incumbent(game, goal, booster.active)
        self._rule = StoppingRule(goal, game.over.reach(game.n))

    def run(self, begin: WarmStart, file: Checkpoint | None, verbose: float) -> Solution:
        """Run until the goal or a limit, and return the incumbent."""
        log = RunLog(self._clock, begin)
        saver = Saver(file, self._incumbent, log)
        saver.basis = lambda: begin.basis
        is_enough = self._incumbent.take_start(begin)
        ending = Ending("optimal", "", self._method.smoothed_test)
        if not is_enough or ending.smoothed_test:
            ending = self._play(begin, log, saver, verbose)
        try:
            saver.write()
            return self._solution(ending, begin, log, saver)
        except (KeyboardInterrupt, SystemError) as error:
            if not is_interrupt(error):
                raise
        saver.write()
        return self._solution(ending._replace(status="interrupted"), begin, log, saver)

    def _play(self, begin: WarmStart, log: RunLog, saver: Saver, verbose: float) -> Ending:
        """Run the rounds; return how they ended."""
        game, clock = self._game, self._clock
        first = _warm_start(self._booster, begin, game, clock)
        rounds = Rounds(game, first, begin.rounds + 1)
        saver.basis = lambda: rounds.booster.basis() or begin.basis
        smoothed_test = self._method.smoothed_test
        limits = self._limits
        callback = limits.callback
        if callback is not None:
            limits = replace(limits, callback=lambda state: callback(_protect(state)))
        with threads_for(game.m, game.n), closing("gap", self._goal.tol, verbose > 0) as show:
            tell = _Teller(self._booster, verbose)

            def keep(state: RoundState) -> str:
                """Take what is better, write it down, and return why to stop, or ""."""
                self._incumbent.offer(state)
                log.add(state, self._incumbent)
                show(self._incumbent.upper - self._incumbent.lower, state.round)
                tell()
                saver.write_if_due()
                return self._fig1_test(state) if smoothed_test else self._judge(log.own_rounds)

            try:
                with until(clock.deadline):
                    status = run(rounds, keep, limits, clock, empty=True) or "stalled"
                ending = Ending(status, "", smoothed_test)
            except (ProgramError, SolverError, ClusterError, LinAlgError) as error:
                ending = Ending("failed", str(error), smoothed_test)
            except MemoryError as error:
                ending = Ending("failed", f"out of memory: {error}", smoothed_test)
            tell()
        if begin.relay is not None:
            begin.relay.booster = rounds.booster.current
        return ending

    def _judge(self, number: int) -> str:
        """Return why the run ends after this round, or "": the stopping rule of every method."""
        incumbent, rule = self._incumbent, self._rule
        if rule.should_certify(incumbent.lower, incumbent.upper):
            estimate = incumbent.upper - incumbent.lower
            proof = incumbent.certify(self._clock)
            verdict = rule.judge_certified(proof.lower, proof.upper, estimate)
            if verdict:
                return verdict
        return rule.judge_progress(incumbent.lower, incumbent.upper, number)

    def _fig1_test(self, state: RoundState) -> str:
        """Return "optimal" and keep the pair of this round, once Fig. 1's own test holds."""
        if not state.smoothed_gap <= self._goal.tol:  # nan where d is not smoothed
            return ""
        self._incumbent.replace(state)
        return "optimal"

    def _solution(self, ending: Ending, begin: WarmStart, log: RunLog, saver: Saver) -> Solution:
        """Return the best points with their bracket, evaluated again."""
        game, goal = self._game, self._goal
        proof = self._incumbent.certify(self._clock, ask_solver=ending.status != "interrupted")
        ending = ending._replace(status=self._final_status(ending, proof))
        said = (
            describe_ending(game, goal, ending, proof),
            game.relaxation.believed(proof.witness, proof.d),
            begin.said,
            saver.trouble,
        )
        support, coefficients = proof.weights
        gap = proof.upper - proof.lower
        last = f"The run ended after round {log.rounds} as {ending.status}, at a gap of {gap:.3g}."
        return Solution(
            game=game,
            support=support,
            coefficients=coefficients,
            d=proof.d,
            witness=proof.witness,
            lower=proof.lower,
            upper=proof.upper,
            status=ending.status,
            tol=goal.tol,
            method=self._booster.called(log.kinds),
            rounds=log.rounds,
            seconds=log.seconds,
            bound=self._method.rounds_bound(game, goal.tol),
            message="; ".join(filter(None, said)),
            history=log.records(proof.lower, proof.upper),
            rtol=goal.rtol,
            basis=saver.basis(),
            trace=(*self._booster.trace, last),
        )

    def _final_status(self, ending: Ending, proof: Certified) -> str:
        """Return the status that the certified bracket allows."""
        gap = proof.upper - proof.lower
        if gap < 0.0:
            return "inaccurate"
        if ending.status in ("optimal", "stalled") and not ending.smoothed_test:
            is_enough = gap <= self._goal.allowed(proof.lower, proof.upper)
            return "optimal" if is_enough else "stalled"
        return ending.status


class _Teller:
    """Prints the lines of a trace on standard error as they come, for `verbose=2`."""

    def __init__(self, booster: Booster, verbose: float) -> None:
        self._booster = booster
        self._is_wanted = verbose >= 2
        self._told = 0

    def __call__(self) -> None:
        """Print the lines that have come since the last call."""
        if self._is_wanted:
            for line in self._booster.trace[self._told :]:
                print(f"relaxboost: {line}", file=sys.stderr)
        self._told = len(self._booster.trace)


def _protect(state: RoundState) -> RoundState:
    """Return the state with a d that a callback cannot write to."""
    d = state.d.view()
    d.flags.writeable = False
    return replace(state, d=d)
