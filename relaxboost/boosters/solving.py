"""`solve`: run a booster until the bracket of the unsmoothed game is as narrow as asked."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost import bounds
from relaxboost.boosters.combined import Combined
from relaxboost.boosters.corrective import STEPS, BinaryEntropySmoother, Corrective, Smoother
from relaxboost.boosters.master import ProgramError
from relaxboost.boosters.rounds import State, Update, rounds
from relaxboost.boosters.totally_corrective import TotallyCorrectiveLP, TotallyCorrectiveSmoothed
from relaxboost.boosters.trace import Trace
from relaxboost.errors import InputError
from relaxboost.game import Game
from relaxboost.parameters import count, positive
from relaxboost.relaxations import Witness
from relaxboost.solution import Solution

Vector = NDArray[np.float64]

METHODS = ("auto", "combined", "corrective", "totally-corrective")

_POINTLESS_SMOOTHING = 0.02
"""Below this gap the linear program takes over from smoothing; see `benchmarks/inner.py`."""


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
    method : {"auto", "combined", "corrective", "totally-corrective"}
        ``"corrective"`` is SS09 Fig. 1: one new weight a round. ``"totally-corrective"`` is Eq. 13:
        all weights of the columns seen so far are optimised each round. ``"combined"`` takes
        corrective pairwise steps to a gap of 0.02 and then the second with the linear program
        over what they found. ``"auto"`` is ``"combined"`` where f is polyhedral, else
        ``"corrective"`` with pairwise steps.
    step : {"fig1", "classic", "line-search", "away", "pairwise"}, optional
        Step rule of the corrective method; ``"fig1"``, the default, is the paper's, ``"pairwise"``
        the fastest.
    inner : {"auto", "smoothed", "lp"}, optional
        How the totally corrective method solves Eq. 13: with entropic smoothing, or as the
        restricted linear program it becomes for β -> 0. ``"auto"`` smooths at tol >= 0.02 and
        where f is not polyhedral. The history says which was used.
    beta : float, optional
        Weight of the smoothing. By default tol / (2 log m) for the step ``"fig1"``, as stated
        there, and tol / (2 R) otherwise, with R <= log m the range of the entropy over dom f
        (`Relaxation.entropy_range`), which is as safe and smooths more.
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
        64 log(m) / tol² rounds.
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
        Before any work, for an unknown method or option, an option that the method does not use,
        tol <= 0, limits that are not positive, or a weak learner whose slack is unknown or not
        below `tol` without `max_rounds` or `time_limit`.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Fig. 1, Thm 9, Eq. 13. The theorem's 32 log(m) / ε² belongs
    to the smoothed test; `Solution.bound` is 64 log(m) / tol² for the certified one.
    """
    if not isinstance(game, Game):
        raise InputError(f"solve needs a Game, got {type(game).__name__}; write solve(Game(A, f))")
    tol = positive("tol", tol)
    beta = None if beta is None else positive("beta", beta)
    max_rounds = None if max_rounds is None else count("max_rounds", max_rounds)
    time_limit = None if time_limit is None else positive("time_limit", time_limit)
    plan = _plan(game, tol, method, step, inner, beta, smoothing, stopping)
    if callback is not None and not callable(callback):
        raise InputError(f"callback must be a function of the state, got {callback!r}")
    if game.matrix.slack >= tol and max_rounds is None and time_limit is None:
        raise InputError(
            f"the slack of this weak learner, {game.matrix.slack:g}, is part of every upper bound, "
            f"so a gap of tol = {tol:g} may never be reached; give max_rounds or time_limit, "
            "or declare a smaller slack"
        )
    run = _Run(game, tol, stopping, max_rounds, time_limit, callback)
    update = plan.make(run.deadline)
    reason = ""
    with Trace.display(verbose, tol) as show:
        try:
            status = run.until_done(update, show)
        except KeyboardInterrupt:
            status = "interrupted"
        except ProgramError as error:
            status, reason = "failed", str(error)
    proved = beta is None and game.matrix.slack == 0.0
    bound = _bound(_simplex_range(game.m, smoothing), tol, stopping) if proved else math.nan
    return run.solution(update, plan.name, status, reason, bound)


@dataclass(frozen=True)
class _Plan:
    """Which booster runs, under which name, made for a deadline on the clock."""

    name: str
    make: Callable[[float], Update]


def _default_beta(spread: float, tol: float) -> float:
    # One distribution only (m = 1, or k = m): there is nothing to smooth.
    return min(max(tol / (2.0 * spread), 1e-300), 1e300) if spread > 0.0 else 1.0


def _simplex_range(m: int, smoothing: str) -> float:
    """Return the range over the simplex of what β multiplies."""
    added = BinaryEntropySmoother.added_range(m) if smoothing == "binary-entropy" else 0.0
    return math.log(m) + added


def _bound(spread: float, tol: float, stopping: str) -> float:
    return max(1.0, (64.0 if stopping == "certified" else 32.0) * spread / tol / tol)


def _plan(
    game: Game,
    tol: float,
    method: str,
    step: str | None,
    inner: str | None,
    beta: float | None,
    smoothing: str,
    stopping: str,
) -> _Plan:
    """Choose the booster; raise for unknown options and for those that would do nothing."""
    for name, value, known in (
        ("method", method, METHODS),
        ("step", step, (None, *STEPS)),
        ("inner", inner, (None, "auto", "smoothed", "lp")),
        ("smoothing", smoothing, ("entropy", "binary-entropy")),
        ("stopping", stopping, ("certified", "smoothed")),
    ):
        if value not in known:
            names = ", ".join(k for k in known if k is not None)
            raise InputError(f"unknown {name} {value!r}; choose one of {names}")
    if step is not None and method != "corrective":
        raise InputError(f'step={step!r} needs method="corrective", and this is {method!r}')
    if inner is not None and method != "totally-corrective":
        raise InputError(
            f'inner={inner!r} needs method="totally-corrective", and this is {method!r}'
        )
    linear = game.relaxation.linear_form(game.m) is not None
    if method == "auto":
        method, step = ("combined", None) if linear else ("corrective", "pairwise")
    if method == "totally-corrective" and inner in (None, "auto"):
        inner = "smoothed" if tol >= _POINTLESS_SMOOTHING or not linear else "lp"
    if stopping == "smoothed" and (method == "combined" or inner == "lp"):
        raise InputError(
            'stopping="smoothed" is the test of a smoothed problem; '
            'use method="corrective", or inner="smoothed"'
        )
    if beta is not None and inner == "lp":
        raise InputError('beta smooths, and inner="lp" does not; leave one of them out')
    if smoothing != "entropy" and inner == "lp":
        raise InputError(f'inner="lp" does not smooth; leave out smoothing={smoothing!r}')
    return _make(game, tol, method, step or "fig1", inner, beta, smoothing)


def _make(
    game: Game,
    tol: float,
    method: str,
    step: str,
    inner: str | None,
    beta: float | None,
    smoothing: str,
) -> _Plan:
    smoother: Smoother | None = None
    simplex = _simplex_range(game.m, smoothing)
    spread = game.relaxation.entropy_range(game.m) + simplex - math.log(game.m)
    suffix = ""
    if smoothing == "binary-entropy":
        smoother, suffix = BinaryEntropySmoother(game.relaxation), ", binary entropy"
    if method == "corrective":
        weight = beta or _default_beta(simplex if step == "fig1" else spread, tol)
        return _Plan(
            f"corrective ({step}{suffix})",
            lambda _: Corrective(game, weight, step, smoother=smoother),
        )
    if method == "combined":
        loose = max(tol, _POINTLESS_SMOOTHING)
        weight = beta or _default_beta(spread, loose)
        return _Plan(
            f"combined (pairwise, lp{suffix})",
            lambda _: Combined(game, weight, loose / 2.0, smoother),
        )
    name = f"totally-corrective ({inner}{suffix})"
    if inner == "lp":
        return _Plan(name, lambda _: TotallyCorrectiveLP(game))
    weight = beta or _default_beta(spread, tol)
    return _Plan(
        name,
        lambda deadline: TotallyCorrectiveSmoothed(game, weight, tol / 2.0, deadline, smoother),
    )


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
        self._w: tuple[int, Vector] = (0, np.empty(0))
        self._d = game.relaxation.center(game.m)
        self._retry = 1.0

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
        if estimate > self._tol * self._retry:
            return ""
        _, lower, _, _, upper = self._certify(state.active)
        if upper - lower <= self._tol:
            return "optimal"
        if upper - lower - estimate > self._tol:
            return "stalled"
        self._retry *= 0.5  # certify again when the estimate is narrower
        return ""

    def _certify(
        self, active: Any
    ) -> tuple[tuple[NDArray[np.int64], Vector], float, Witness, Vector, float]:
        game = self._game
        w = game.repair_w(active.coefficients(self._w))
        lower, witness = bounds.evaluate_lower(game.matrix, game.relaxation, *w)
        d = game.repair_d(self._d)
        return w, lower, witness, d, bounds.evaluate_upper(game.matrix, game.relaxation, d)

    def solution(
        self, update: Update, name: str, status: str, reason: str, bound: float
    ) -> Solution:
        """Return the best points with their bracket, evaluated afresh."""
        (support, coefficients), lower, witness, d, upper = self._certify(update.active)
        certified = self._stopping == "certified"
        tol, gap = self._tol, upper - lower
        if status in ("optimal", "stalled") and certified:
            status = "optimal" if gap <= tol else "stalled"
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
    "stalled": "no new column, or rounding, keeps the gap at {gap:.3g}, tol = {tol:g}",
}
