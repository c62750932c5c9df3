"""The function `solve`, which runs a method on a game and certifies its best points."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from relaxboost._core.blas import threads_for
from relaxboost._core.compiled import is_interrupt, ready
from relaxboost._core.errors import ClusterError, InputError, SolverError
from relaxboost._core.loop import Clock, Limits, TimeUp, run, until
from relaxboost._core.names import explains_arguments
from relaxboost._core.parameters import positive
from relaxboost._core.progress import check_verbose, closing
from relaxboost.game.game import Game, check_game
from relaxboost.game.solution import Basis, Solution
from relaxboost.relaxations.base import needs_solver
from relaxboost.relaxations.bounds import bounds_of
from relaxboost.solvers.boosters.starting_points import Unbegun
from relaxboost.solvers.checkpoint import Checkpoint
from relaxboost.solvers.incumbent import Certified, Incumbent, RunLog
from relaxboost.solvers.messages import Ending, describe_ending
from relaxboost.solvers.method import Method, SmoothedMethod, as_method
from relaxboost.solvers.restricted_master import ProgramError
from relaxboost.solvers.rounds import Booster, Rounds, RoundState, with_protected_callback
from relaxboost.solvers.stopping import StoppingRule, Tolerance
from relaxboost.solvers.warm_start import Relay, WarmStart, read_start


@explains_arguments(
    eps="pass the gap as tol",
    epsilon="pass the gap as tol",
    max_iter="pass the number of rounds as max_rounds",
    solver="pass a method of relaxboost as method, or call rb.reference(game, solver=...)",
    seed="leave it out, because a second run gives the same result",
    rng="leave it out, because a second run gives the same result",
)
def solve(
    game: Game,
    tol: float | None = None,
    method: str | Method = "auto",
    *,
    rtol: float | None = None,
    start: Solution | tuple[Any, Any] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    max_rounds: int | None = None,
    time_limit: float | None = None,
    callback: Callable[[RoundState], Any] | None = None,
    verbose: int = 0,
) -> Solution:
    """Solve a game to within a certified gap.

    A game has a margin matrix A, a convex function f of the distributions d over the examples,
    called the relaxation, and a domain of the hypothesis weights w. Every feasible d proves an
    upper bound on the value ρ of the game, and every feasible w a lower bound. The gap is upper −
    lower.

    Parameters
    ----------
    game : Game
        The game to solve.
    tol : float, optional
        The requested gap upper − lower, > 0. The default is 1e-3, or 1e-8 if only `rtol` is passed.
    method : str or Method
        ``"auto"`` runs the phases that suit the game in a fixed order, and explains them in
        `Solution.trace`. Every other name, such as ``"interior-point"``, ``"corrective"`` or
        ``"lpboost"``, is short for an object with default options: `InteriorPoint()`,
        `Corrective()` and `LPBoost()` of `relaxboost.solvers`. For other options, pass an object,
        as in ``method=rb.solvers.Corrective(step="pairwise")``.
    rtol : float, optional
        The requested gap as a fraction of |ρ|, in (0, 1). The run also stops when the gap is at
        most `rtol` times the bound nearer to 0. If the bracket [lower, upper] contains 0, only
        `tol` is used. `Solution.message` says which test ended the run. `Corrective`, `ERLPBoost`
        and `AdaBoostStar` choose their parameters for `tol`, not for `rtol`.
    start : Solution, or pair (d, w), optional
        The starting points; see Notes. A Solution may come from a game with another f, another
        domain or other data, but the hypotheses must be the same, in the same order. In a pair, d
        or w may be None, and w may have any form that `Game.bracket` accepts, such as the weights
        of an ensemble.
    checkpoint : path, optional
        A JSON file for the best points, which is rewritten from time to time and at the end. If the
        file exists, the run continues from its points. The rounds and seconds of the Solution
        include those before the checkpoint, but the limits `max_rounds` and `time_limit` apply only
        to this run.
    max_rounds : int, optional
        The maximum number of rounds. By default a run continues until it reaches the requested gap
        or can no longer reduce the gap. A theorem guarantees the gap `tol` after `Solution.bound`
        rounds, unless `Solution.bound` is nan.
    time_limit : float, optional
        The maximum number of seconds. The clock starts when the compiled kernels are ready.
    callback : callable, optional
        A function of the `RoundState` of each round. A true result ends the run. The array `d` of
        the state is read-only.
    verbose : int
        0 prints nothing. 1 shows a progress bar if standard error is a terminal. 2 also prints the
        lines of `Solution.trace` to standard error as they are added.

    Returns
    -------
    Solution
        The best d and w of the run, and the bracket [lower, upper] that they prove. `solve`
        evaluates the bracket from d and w alone. The attribute `status` is one of these words:

        * ``"optimal"``: the gap is at most `tol`, or at most `rtol` times |ρ|. For the stopping
          test of Fig. 1 (see Notes), the smoothed gap is at most `tol`, and `gap` may be larger.
        * ``"max_rounds"`` or ``"time_limit"``: the run reached this limit.
        * ``"callback"``: the callback returned a true value.
        * ``"interrupted"``: the user pressed Ctrl-C.
        * ``"stalled"``: the method could not reduce the gap further.
        * ``"failed"``: the last phase failed, there was not enough memory, or the connection to a
          cluster was lost. The bracket is still valid.
        * ``"inaccurate"``: `lower` exceeds `upper`, because both bounds come from a general solver
          and are not proved.

    Raises
    ------
    InputError
        If the method is unknown, does not fit the game or does not accept `start`; if `tol`, `rtol`
        or a limit is out of range; if `start` does not fit the game; if the checkpoint is for
        another game; or if neither `max_rounds` nor `time_limit` is passed, and the run may never
        reach the gap. AdaBoost may never reach it, nor any method if the slack of the weak learner
        is unknown or not below `tol`. All arguments are checked before the run begins.

    See Also
    --------
    reference : Solve a game by a general solver, as an independent check.

    path : Solve a game for a list of relaxations, such as several caps.

    relaxboost.solvers.compare_methods : Solve a game by several methods.

    Notes
    -----
    Apart from timings, two runs with the same arguments give the same result unless a time limit
    ends them. For matrices with more than a million entries, the last bits depend on the number of
    BLAS threads.

    A run never ends with worse points than its start, unless the stopping test of Shalev-Shwartz &
    Singer (2009), Fig. 1, ends it. `solve` moves d and w to feasible points, and `Solution.message`
    says if it has moved the d or w of a pair. The d of a Solution is used if it has an entry for
    each example of this game. Methods that count their steps, such as AdaBoost, do not accept
    `start`.

    With ``method="auto"`` and a Solution as start, a parametric simplex method moves from the old
    optimum to the new one if f consists of a cost and bounds for each example, and A has at most
    ten million entries or consists of all stumps. Otherwise, the run keeps the bracket that the
    Solution proves, and the interior point method starts at `f.center(m)`, a distribution inside
    the domain of f.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Fig. 1, Thm 9, Eq. 13. Their bound of 32 log(m) / ε² rounds
    holds for the smoothed gap. For the certified gap, `Solution.bound` of `Corrective` and
    `ERLPBoost` is 64 log(m) / tol², times the square of the ball's radius (`Domain.rounds_bound`).

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, -1, 1], [-1, 1, 1], [1, 1, -1]], rb.Capped(k=2))
    >>> vote = rb.solve(game, tol=1e-6)
    >>> vote.status, round(vote.lower, 4)
    ('optimal', 0.3333)

    A run may begin from the solution of a similar game, and may stop at a relative gap:

    >>> rb.solve(rb.Game(game.matrix, rb.Capped(k=1)), start=vote, rtol=0.01).status
    'optimal'
    """
    check_verbose(verbose)
    # All arguments are checked before any work, so that an error costs no time.
    limits = Limits(max_rounds, time_limit, callback)
    # The decorator adds a call.
    goal, chosen = check_run(game, tol, rtol, as_method(method, stacklevel=4), limits)
    # The guarantee of a method that counts its steps holds only from the first step.
    if chosen.cold and (start is not None or checkpoint is not None):
        raise InputError(
            f"{type(chosen).__name__} {chosen.cold}; leave start and checkpoint out, or use "
            'method="auto"'
        )
    begin, file = _read_points(game, start, checkpoint)
    job = _prepare(game, goal, chosen, limits, begin, file)
    return _finish(job, job.play(float(verbose)), verbose)


def solve_next(
    game: Game,
    tol: float | None,
    rtol: float | None,
    method: Method,
    limits: Limits,
    relay: Relay,
    verbose: float = 0,
) -> Solution:
    """Solve the next game of a path of similar games.

    `relay` has the results of the previous game, and gets the booster of this run.
    """
    goal, chosen = check_run(game, tol, rtol, method, limits)
    if chosen.cold:
        raise InputError(
            f"{type(chosen).__name__} {chosen.cold}, but the games of a path start from previous "
            'solutions; use method="auto", or call solve for each game'
        )
    job = _prepare(game, goal, chosen, limits, relay.begin(game), None)
    return _finish(job, job.play(float(verbose)), verbose)


def _prepare(
    game: Game,
    goal: Tolerance,
    chosen: Method,
    limits: Limits,
    begin: WarmStart,
    file: Checkpoint | None,
) -> _Job:
    # The time limit excludes compilation, which happens once for each kind of game.
    _prepare_kernels(game, chosen)
    clock = Clock(limits.time_limit)
    booster = _start(game, goal, chosen, clock, begin)
    log = RunLog(clock, begin)
    return _Job(game, goal, chosen, limits, begin, file, log, booster)


def _finish(job: _Job, ending: Ending, verbose: float) -> Solution:
    try:
        solution = job.finish(ending)
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interrupt(error):
            raise
        # Ctrl-C came after the last round, so only the last steps are missing.
        solution = job.finish(ending._replace(status="interrupted"))
    # The last line of the trace needs the certified gap, so no round has printed it.
    if verbose >= 2:
        job.log.print_new(solution.trace)
    return solution


_PREPARED: set[tuple[object, ...]] = set()
"""The kinds of runs whose kernels this process has already compiled."""


def _prepare_kernels(game: Game, method: Method) -> None:
    # Each round calls these functions. They are compiled before the clock starts.
    if (type(method),) not in _PREPARED:
        ready(method.prepare)
        _PREPARED.add((type(method),))
    is_smoothed = isinstance(method, SmoothedMethod)
    kinds = type(game.matrix), type(game.relaxation), type(game.over), is_smoothed
    # A relaxation that calls a solver has no compiled functions.
    if kinds in _PREPARED or needs_solver(game.relaxation):
        return
    center = game.relaxation.center(game.m)
    # Equal margins could take a shortcut that calls fewer functions than the rounds do.
    margins = np.linspace(-1.0, 1.0, game.m)
    calls: list[Callable[[], object]] = [
        lambda: game.over.best(game.matrix, center),
        lambda: game.relaxation.penalty(center),
        lambda: game.relaxation.relaxed_margin(margins),
    ]
    if is_smoothed:
        calls.append(lambda: game.relaxation.distribution(margins, 0.1))
    ready(*calls)
    _PREPARED.add(kinds)


def check_run(
    game: Game, tol: float | None, rtol: float | None, method: Method, limits: Limits
) -> tuple[Tolerance, Method]:
    """Return the requested accuracy, and the method with every option set.

    Raises
    ------
    InputError
        If `game` is not a Game, if `tol` or `rtol` is out of range, if the method does not fit the
        game, or if the run may never reach the gap and `limits` has no limit on rounds or time.
    """
    check_game(game, "solve needs")
    goal = _read_goal(tol, rtol)
    chosen = method.chosen(game, goal.tol)
    chosen.check(game)
    _check_limits(game, goal, chosen, limits)
    return goal, chosen


def _read_goal(tol: float | None, rtol: float | None) -> Tolerance:
    if rtol is not None:
        rtol = positive("rtol", rtol)
        if rtol >= 1.0:
            raise InputError(
                f"rtol must be below 1, got {rtol:g}; pass the gap as a fraction of the value rho, "
                "for example rtol=0.01"
            )
    if tol is None:
        # With rtol alone, a run would never end at ρ = 0 without a small tol.
        tol = 1e-3 if rtol is None else 1e-8
    return Tolerance(positive("tol", tol), rtol or 0.0)


def _check_limits(game: Game, goal: Tolerance, method: Method, limits: Limits) -> None:
    if limits.bounded:
        return
    # Every upper bound includes the slack, so the gap never falls below it.
    slack = game.over.value(game.matrix.slack)
    if slack >= goal.tol:
        raise InputError(
            f"the slack of this weak learner, {slack:g}, is part of every upper bound, "
            f"so a gap of tol = {goal.tol:g} may never be reached; pass max_rounds or time_limit, "
            "or declare a smaller slack"
        )
    if method.endless:
        raise InputError(
            f"{type(method).__name__} {method.endless}, or pass max_rounds or time_limit"
        )


def _read_points(
    game: Game, start: Any, checkpoint: str | os.PathLike[str] | None
) -> tuple[WarmStart, Checkpoint | None]:
    begin = WarmStart() if start is None else read_start(game, start)
    if checkpoint is None:
        return begin, None
    file = Checkpoint(checkpoint, game)
    # If the user gave a start too, the better d and the better w of both count.
    return begin.merge(file.start), file


def _start(game: Game, goal: Tolerance, method: Method, clock: Clock, begin: WarmStart) -> Booster:
    # If a solver fails or the time limit passes before the first round, one round still gives
    # bounds.
    try:
        with until(clock.deadline):
            booster = method.start(game, goal, clock)
            has_points = begin.d is not None or begin.w is not None
            return booster.warmed(begin) if has_points else booster
    except (SolverError, TimeUp) as error:
        return Unbegun(game, error).named(getattr(method, "name", type(method).__name__))


@dataclass
class _Job:
    game: Game
    goal: Tolerance
    method: Method
    limits: Limits
    begin: WarmStart
    file: Checkpoint | None
    log: RunLog
    booster: Booster

    def __post_init__(self) -> None:
        self._incumbent = Incumbent(self.game, self.goal, self.booster.active)
        self._rule = StoppingRule(self.goal, self.game.over.reach(self.game.n))
        self._rounds = Rounds(self.game, self.booster, self.begin.rounds + 1)

    def play(self, verbose: float) -> Ending:
        """Run rounds until the goal or a limit is reached, and return how the run ended."""
        is_enough = self._incumbent.take_start(self.begin)
        game = self.game
        log = self.log
        smoothed_test = self.method.smoothed_test
        # Fig. 1's own test needs a round even if the bracket of the start is narrow.
        if is_enough and not smoothed_test:
            return Ending("optimal", "", smoothed_test)
        limits = with_protected_callback(self.limits)
        with threads_for(game.m, game.n), closing("gap", self.goal.tol, verbose > 0) as show:

            def keep(state: RoundState) -> str:
                self._incumbent.offer(state)
                log.add(state, self._incumbent)
                show(self._incumbent.upper - self._incumbent.lower, state.round)
                if verbose >= 2:
                    log.print_new(self.booster.trace)
                # The incumbent is up to date here, so the file gets a consistent state.
                if self.file is not None and self.file.pace.due:
                    self._write_checkpoint()
                return self._fig1_test(state) if smoothed_test else self._judge()

            # The incumbent survives every failure below, so the run still returns a bracket.
            try:
                with until(log.clock.deadline):
                    status = run(self._rounds, keep, limits, log.clock, empty=True)
                # Without a status, the booster has ended the run, and knows the reason.
                reason = self._rule.reason if status else self._rounds.booster.why_ended
                ending = Ending(status or "stalled", reason, smoothed_test)
            except (ProgramError, SolverError, ClusterError, LinAlgError) as error:
                ending = Ending("failed", str(error), smoothed_test)
            except MemoryError as error:
                ending = Ending("failed", f"out of memory: {error}", smoothed_test)
        # The next game of a path continues with the last run.
        if self.begin.relay is not None:
            self.begin.relay.booster = self._rounds.booster.current
        return ending

    def _judge(self) -> str:
        incumbent = self._incumbent
        rule = self._rule
        # A certification costs a pass over A, so it is computed only for a nearly small enough gap.
        if rule.should_certify(incumbent.lower, incumbent.upper):
            estimate = incumbent.upper - incumbent.lower
            proof = incumbent.certify(self.log.clock)
            verdict = rule.judge_certified(proof.lower, proof.upper, estimate)
            # A bound that could not be proved here may be proved for the points of a later phase.
            is_lost = rule.is_proof_lost(proof.lower, proof.upper, estimate)
            if verdict == "stalled" and is_lost and self._rounds.booster.leave_phase(rule.reason):
                # Points with better bounds than the certified ones then replace the best points.
                incumbent.lower = proof.lower
                incumbent.upper = proof.upper
                return ""
            if verdict:
                return verdict
        return rule.judge_progress(incumbent.lower, incumbent.upper, self.log.history.rounds)

    def _fig1_test(self, state: RoundState) -> str:
        # The d and the w of the round that meets the test become the result of the run.
        # The smoothed gap is nan in a round without smoothing, and then the test fails.
        if not state.smoothed_gap <= self.goal.tol:
            return ""
        self._incumbent.replace(state)
        return "optimal"

    def _basis(self) -> Basis | None:
        return self._rounds.booster.basis() or self.begin.basis

    def _write_checkpoint(self) -> None:
        log = self.log
        if self.file is not None:
            certify = partial(self._incumbent.certify, log.clock)
            self.file.write(certify, self._basis(), log.rounds, log.seconds)

    def finish(self, ending: Ending) -> Solution:
        """Write the checkpoint, and return the Solution of a run that has ended."""
        self._write_checkpoint()
        game = self.game
        goal = self.goal
        log = self.log
        # After Ctrl-C the user does not want to wait for a solver.
        proof = self._incumbent.certify(log.clock, ask_solver=ending.status != "interrupted")
        ending = ending._replace(status=self._final_status(ending, proof))
        # The message consists of the ending and the remarks that apply.
        end = describe_ending(game, goal, ending, proof)
        notes = (
            end,
            bounds_of(game.relaxation).reservation(proof.witness, proof.d),
            self.begin.note,
            "" if self.file is None else self.file.trouble,
        )
        support, coefficients = proof.weights
        last = f"The run ended after round {log.rounds} as {ending.status}: {end}."
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
            method=self.booster.describe(log.kinds),
            rounds=log.rounds,
            seconds=log.seconds,
            bound=self.method.rounds_bound(game, goal.tol),
            message="; ".join(filter(None, notes)),
            history=log.records(proof.lower, proof.upper),
            rtol=goal.rtol,
            basis=self._basis(),
            trace=(*self.booster.trace, last),
        )

    def _final_status(self, ending: Ending, proof: Certified) -> str:
        gap = proof.upper - proof.lower
        # Numerical bounds of an inaccurate solver may contradict each other.
        if gap < 0.0:
            return "inaccurate"
        # The last certification may have changed either verdict.
        if ending.status in ("optimal", "stalled") and not ending.smoothed_test:
            return "optimal" if self.goal.met_by(proof.lower, proof.upper) else "stalled"
        return ending.status
