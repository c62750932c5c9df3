"""`solve`: run a booster until the bracket of the unsmoothed game is as narrow as asked."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost import bounds
from relaxboost.boosters.active import Combination
from relaxboost.boosters.master import ProgramError
from relaxboost.boosters.plan import Options, make_plan, simplex_range
from relaxboost.boosters.rounds import State, Update, rounds
from relaxboost.boosters.trace import Trace
from relaxboost.compiled import is_interrupt
from relaxboost.errors import InputError
from relaxboost.game import Game
from relaxboost.parameters import count, positive
from relaxboost.relaxations import Witness
from relaxboost.solution import Solution

Vector = NDArray[np.float64]


def solve(
    game: Game,
    tol: float = 1e-3,
    method: str = "auto",
    *,
    step: str | None = None,
    inner: str | None = None,
    beta: float | None = None,
    smoothing: str = "entropy",
    stopping: str = "certified",
    max_rounds: int | None = None,
    time_limit: float | None = None,
    callback: Callable[[State], Any] | None = None,
    verbose: int = 0,
) -> Solution:
    """Solve a game with a booster, up to a certified gap.

    Parameters
    ----------
    game : Game
    tol : float
        The gap upper − lower of the *unsmoothed* game at which to stop, > 0.
    method : {"auto", "combined", "corrective", "totally-corrective", "adaboost", "adaboost-star"}
        ``"corrective"`` is SS09 Fig. 1: one new weight a round. ``"totally-corrective"`` is Eq. 13:
        all weights of the columns seen so far are optimised each round. ``"combined"`` takes
        corrective pairwise steps to a gap of 0.02 and then the second with an exact program over
        what they found. ``"auto"`` is ``"combined"``; where the distribution itself comes from a
        cone solver it is the exact program from the start, and ``"corrective"`` with pairwise
        steps where f is not polyhedral and m above 3000. Over Euclidean sets (`L2Ball`,
        `SquaredNorm`), where every best w is dense, ``"totally-corrective"`` optimises d over the
        hull of the worst distributions seen, and is ``"auto"``; there is no ``"combined"``.

        For `HardMargin` over an `L1Ball` only: ``"adaboost"`` is AdaBoost, steepest descent in l1
        of the exponential risk (1/m) Σ exp(−(Aw)_i). It need not reach the maximum margin, so it
        needs `max_rounds` or `time_limit`. ``"adaboost-star"`` is AdaBoost* with accuracy `tol`,
        which reaches it. The bracket is that of w scaled to the size of the ball; the callback
        sees the w that is not (`State`).
    step : str, optional
        Step rule of the corrective method: ``"fig1"``, the default, is the paper's,
        ``"pairwise"`` the fastest; ``"classic"``, ``"line-search"``, ``"away"``. Of AdaBoost, with
        γ the edge of the best column: ``"classical"``, the default, artanh γ; ``"lecture"``, γ;
        ``"line-search"``, the minimiser of the risk, which for entries ±1 is the classical step.
    inner : {"auto", "smoothed", "lp", "conic", "hull"}, optional
        How the totally corrective method solves Eq. 13: with entropic smoothing, or as the
        restricted program it becomes for β -> 0, a linear one for polyhedral f and else a conic one
        through cvxpy. ``"auto"`` smooths at tol >= 0.02. Euclidean sets have ``"hull"`` only. The
        history says which was used.
    beta : float, optional
        Weight of the smoothing. By default tol / (2 log m) for the step ``"fig1"``, as stated
        there, and tol / (2 R) otherwise, with R <= log m the range of the entropy over dom f
        (`Relaxation.entropy_range`), which is as safe and smooths more. Where f is strongly convex
        by more than that (`Relaxation.curvature`), nothing is added, but for ``"fig1"``.
    smoothing : {"entropy", "binary-entropy"}
        What is added to f, times β: Σ d log d as in Fig. 1, or Σ d log d + (1 − d) log(1 − d),
        which Sec. 6 suggests: the log-loss in place of soft-max. Its range over the simplex is
        log m + (m − 1) log(m/(m − 1)), which takes the place of log m above (and
        (m − 1) log(m/(m − 1)) < 1 is added to R). It needs a relaxation with a method
        ``binary_distribution``: `HardMargin`, `Capped`, `KLPenalty`.
    stopping : {"certified", "smoothed"}
        ``"smoothed"`` is Fig. 1's own test, on the gap of the smoothed problem at w_t, which is
        then returned; it does not bound the error by tol (errors up to 3/2 tol occur).
    max_rounds, time_limit : int, float (seconds), optional
        Further limits. Without them a run ends at `tol` only; Fig. 1 gets there within
        `Solution.bound` rounds, 64 log(m) / tol² over the unit l1 ball.
    callback : callable, optional
        Called with the `State` of each round, whose arrays are not to be written to; the run ends
        when it returns True.
    verbose : int
        1 shows a progress bar on a terminal (on standard error); 0 nothing.

    Returns
    -------
    Solution
        Always with the best bracket seen, also after Ctrl-C (status ``"interrupted"``). It is
        evaluated afresh from d and w, whatever the booster believed. If the solver of the
        restricted program gives up, the status is ``"failed"`` and the bracket holds all the
        same. Deterministic, except for the clock.

    Raises
    ------
    InputError
        Before any work, for an unknown method or option, an option that the method does not use
        or the outer set does not allow,
        tol <= 0, limits that are not positive, or a weak learner whose slack is unknown or not
        below `tol`, or AdaBoost, without `max_rounds` or `time_limit`.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Fig. 1, Thm 9, Eq. 13. The theorem's 32 log(m) / ε² belongs
    to the smoothed test; `Solution.bound` is 64 log(m) / tol² for the certified one, times the
    square of the radius of other balls (`OuterSet.rounds_bound`). AdaBoost: Freund & Schapire
    (1997); Rudin, Daubechies & Schapire (2004) for where it cycles. AdaBoost*: Rätsch & Warmuth
    (2005), Algorithm 2, 2 log(m) / tol² rounds.
    """
    if not isinstance(game, Game):
        raise InputError(f"solve needs a Game, got {type(game).__name__}; write solve(Game(A, f))")
    tol = positive("tol", tol)
    beta = None if beta is None else positive("beta", beta)
    max_rounds = None if max_rounds is None else count("max_rounds", max_rounds)
    time_limit = None if time_limit is None else positive("time_limit", time_limit)
    options = Options(tol, method, step, inner, beta, smoothing, stopping)
    plan = make_plan(game, options)
    if callback is not None and not callable(callback):
        raise InputError(f"callback must be a function of the state, got {callback!r}")
    slack = game.over.value(game.matrix.slack)
    if slack >= tol and max_rounds is None and time_limit is None:
        raise InputError(
            f"the slack of this weak learner, {slack:g}, is part of every upper bound, "
            f"so a gap of tol = {tol:g} may never be reached; give max_rounds or time_limit, "
            "or declare a smaller slack"
        )
    if plan.endless and max_rounds is None and time_limit is None:
        raise InputError(
            f'{plan.endless}; give max_rounds or time_limit, or use method="adaboost-star"'
        )
    run = _Run(game, tol, stopping, max_rounds, time_limit, callback)
    update = plan.make(run.deadline)
    reason = ""
    with Trace.display(verbose, tol) as show:
        try:
            status = run.until_done(update, show)
        except (KeyboardInterrupt, SystemError) as error:
            if not is_interrupt(error):
                raise
            status = "interrupted"
        except ProgramError as error:
            status, reason = "failed", str(error)
    bound = math.nan if plan.bound is None else plan.bound
    if plan.bound is None and beta is None and game.matrix.slack == 0.0:
        bound = game.over.rounds_bound(
            simplex_range(game.m, smoothing), game.n, tol, stopping == "certified"
        )
    return run.solution(update, plan.name, status, reason, bound)


class _Run:
    """The best points seen by a run, and its stopping rules."""

    def __init__(
        self,
        game: Game,
        tol: float,
        stopping: str,
        max_rounds: int | None,
        time_limit: float | None,
        callback: Callable[[State], Any] | None,
    ) -> None:
        self._game, self._tol, self._stopping = game, tol, stopping
        self._max_rounds, self._time_limit, self._callback = max_rounds, time_limit, callback
        self._start = time.perf_counter()
        self.deadline = math.inf if time_limit is None else self._start + time_limit
        self._trace = Trace()
        self._lower, self._upper = -math.inf, math.inf
        # Replaced as a whole, so that an interrupt finds a consistent pair.
        self._w: Any = None
        self._d = game.relaxation.center(game.m)
        self._goal = tol  # of the estimate, at which to certify

    def until_done(self, update: Update, show: Callable[[int, float, float], None]) -> str:
        """Run rounds until one of the stopping rules holds; return which."""
        for state in rounds(self._game, update):
            self._keep(state)
            seconds = time.perf_counter() - self._start
            self._trace.add(state, seconds, self._lower, self._upper)
            show(state.round, self._lower, self._upper)
            reached = self._reached(state)
            if reached:
                return reached
            if self._callback is not None and self._callback(_shown(state)) is True:
                return "callback"
            if self._max_rounds is not None and state.round >= self._max_rounds:
                return "max_rounds"
            if self._time_limit is not None and seconds >= self._time_limit:
                return "time_limit"
        return "stalled"

    def _keep(self, state: State) -> None:
        if state.lower > self._lower:
            self._w, self._lower = state.active.snapshot(), state.lower
        if state.upper <= self._upper:  # also for inf, so that d is one the booster made
            self._d, self._upper = state.d, state.upper

    def _reached(self, state: State) -> str:
        """Return "optimal" at the gap asked for, "stalled" where rounding keeps it away, or ""."""
        if self._stopping == "smoothed":
            if state.smoothed_gap > self._tol:
                return ""
            self._w, self._d = state.active.snapshot(), state.d
            return "optimal"
        estimate = self._upper - self._lower
        if estimate > self._goal:
            return ""
        _, lower, _, _, upper = self._certify(state.active)
        if upper - lower <= self._tol:
            return "optimal"
        rounding = upper - lower - estimate
        if rounding > self._tol:
            return "stalled"
        # Certify again when the estimate is narrower, by little, since the rounds that AdaBoost*
        # needs are counted to tol.
        self._goal = max(self._goal - 2.0 * rounding, 0.5 * self._goal)
        return ""

    def _certify(
        self, active: Combination
    ) -> tuple[tuple[NDArray[np.int64], Vector], float, Witness, Vector, float]:
        game = self._game
        snapshot = active.snapshot() if self._w is None else self._w
        w = game.repair_w(active.coefficients(snapshot))
        lower, witness = bounds.evaluate_lower(game.matrix, game.relaxation, *w, game.over)
        d = game.repair_d(self._d)
        upper = bounds.evaluate_upper(game.matrix, game.relaxation, d, game.over)
        return w, lower, witness, d, upper

    def solution(
        self, update: Update, name: str, status: str, reason: str, bound: float
    ) -> Solution:
        """Return the best points with their bracket, evaluated afresh."""
        (support, coefficients), lower, witness, d, upper = self._certify(update.active)
        certified = self._stopping == "certified"
        tol, gap = self._tol, upper - lower
        if status in ("optimal", "stalled") and certified:
            status = "optimal" if gap <= tol else "stalled"
        if gap < 0.0:
            status = "inaccurate"
        return Solution(
            game=self._game,
            support=support,
            coefficients=coefficients,
            d=d,
            witness=witness,
            lower=lower,
            upper=upper,
            status=status,
            tol=tol,
            method=name,
            rounds=self._trace.rounds,
            seconds=time.perf_counter() - self._start,
            bound=bound,
            message=_MESSAGES[status].format(gap=gap, tol=tol, reason=reason)
            if certified or status != "optimal"
            else f"the smoothed gap of Fig. 1 fell to {tol:g}; the certified gap is {gap:.3g}",
            history=self._trace.records(lower, upper),
        )


def _shown(state: State) -> State:
    """Return the state with a d that a callback cannot write to."""
    d = state.d.view()
    d.flags.writeable = False
    return replace(state, d=d)


_MESSAGES = {
    "optimal": "the gap {gap:.3g} is at most tol = {tol:g}",
    "failed": "{reason}; the bracket holds, at a gap of {gap:.3g}, tol = {tol:g}",
    "max_rounds": "max_rounds was reached at a gap of {gap:.3g}, tol = {tol:g}",
    "time_limit": "time_limit was reached at a gap of {gap:.3g}, tol = {tol:g}",
    "callback": "the callback ended the run at a gap of {gap:.3g}, tol = {tol:g}",
    "interrupted": "interrupted at a gap of {gap:.3g}, tol = {tol:g}; the bracket holds",
    "inaccurate": "the bounds cross by {gap:.3g}: they are numerical, as good as the solver",
    "stalled": "no new column, or rounding, keeps the gap at {gap:.3g}, tol = {tol:g}",
}
