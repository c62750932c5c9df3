"""`solve`: run a booster until the bracket of the unsmoothed game is as narrow as asked."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost import bounds
from relaxboost.boosters.combined import Combined
from relaxboost.boosters.corrective import STEPS, Corrective
from relaxboost.boosters.rounds import State, Update, rounds
from relaxboost.boosters.totally_corrective import TotallyCorrectiveLP, TotallyCorrectiveSmoothed
from relaxboost.boosters.trace import Trace
from relaxboost.errors import InputError
from relaxboost.game import Game
from relaxboost.relaxations import Witness
from relaxboost.solution import Solution

Vector = NDArray[np.float64]

METHODS = ("auto", "combined", "corrective", "totally-corrective")
_INNER = ("auto", "smoothed", "lp")
_STOPPING = ("certified", "smoothed")

_POINTLESS_SMOOTHING = 0.02
"""Below this gap the linear program takes over from smoothing; see `benchmarks/inner.py`."""


def solve(
    game: Game,
    tol: float = 1e-3,
    method: str = "auto",
    *,
    step: str = "fig1",
    inner: str = "auto",
    beta: float | None = None,
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
    step : {"fig1", "classic", "line-search", "away", "pairwise"}
        Step rule of the corrective method; ``"fig1"`` is the paper's, ``"pairwise"`` the fastest.
    inner : {"auto", "smoothed", "lp"}
        How Eq. 13 is solved: with entropic smoothing, or as the restricted linear program it
        becomes for β -> 0. ``"auto"`` smooths at tol >= 0.02 and where f is not polyhedral. The
        history says which was used.
    beta : float, optional
        Entropic smoothing. By default tol / (2 log m) for the step ``"fig1"``, as stated there,
        and tol / (2 R) otherwise, with R <= log m the range of the entropy over dom f
        (`Relaxation.entropy_range`), which is as safe and smooths more.
    stopping : {"certified", "smoothed"}
        ``"smoothed"`` is Fig. 1's own test, on the gap of the smoothed problem at w_t, which is
        then returned; it does not bound the error by tol (errors up to 3/2 tol occur).
    max_rounds, time_limit : int, float (seconds), optional
        Further limits. Without them a run ends at `tol` only; Fig. 1 gets there within
        64 log(m) / tol² rounds.
    callback : callable, optional
        Called with the `State` of each round; the run ends when it returns True.
    verbose : int
        1 shows a progress bar on a terminal (on standard error); 0 nothing.

    Returns
    -------
    Solution
        Always with the best bracket seen, also after Ctrl-C (status ``"interrupted"``). It is
        evaluated afresh from d and w, whatever the booster believed. Deterministic, except for
        the clock.

    Raises
    ------
    InputError
        Before any work, for an unknown method or option, tol <= 0, limits that are not positive,
        or a weak learner of unknown slack without `max_rounds` or `time_limit`.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Fig. 1, Thm 9, Eq. 13. The theorem's 32 log(m) / ε² belongs
    to the smoothed test; `Solution.bound` is 64 log(m) / tol² for the certified one.
    """
    _check(game, tol, method, step, inner, beta, stopping, max_rounds, time_limit)
    update, name = _make(game, tol, method, step, inner, beta)
    run = _Run(game, tol, stopping, max_rounds, time_limit, callback)
    with Trace.display(verbose, tol) as show:
        try:
            status = run.until_done(update, show)
        except KeyboardInterrupt:
            status = "interrupted"
    bound = _bound(game.m, tol, stopping) if beta is None else math.nan
    return run.solution(update, name, status, bound)


def _default_beta(spread: float, tol: float) -> float:
    # One distribution only (m = 1, or k = m): there is nothing to smooth.
    return tol / (2.0 * spread) if spread > 0.0 else 1.0


def _bound(m: int, tol: float, stopping: str) -> float:
    return max(1.0, (64.0 if stopping == "certified" else 32.0) * math.log(m) / tol**2)


def _check(
    game: Game,
    tol: float,
    method: str,
    step: str,
    inner: str,
    beta: float | None,
    stopping: str,
    max_rounds: int | None,
    time_limit: float | None,
) -> None:
    if not isinstance(game, Game):
        raise InputError(f"solve needs a Game, got {type(game).__name__}; write solve(Game(A, f))")
    for name, value, known in (
        ("method", method, METHODS),
        ("step", step, STEPS),
        ("inner", inner, _INNER),
        ("stopping", stopping, _STOPPING),
    ):
        if value not in known:
            raise InputError(f"unknown {name} {value!r}; choose one of {', '.join(known)}")
    for name, limit in (
        ("tol", tol),
        ("beta", beta),
        ("max_rounds", max_rounds),
        ("time_limit", time_limit),
    ):
        if limit is not None and not (limit > 0 and math.isfinite(limit)):
            raise InputError(f"{name} must be a positive number, got {limit}")
    if math.isinf(getattr(game.matrix, "slack", 0.0)) and max_rounds is None and time_limit is None:
        raise InputError(
            "nothing is known about how good this weak learner is, so no gap can ever be reached; "
            "give max_rounds or time_limit, or declare the oracle's slack"
        )


def _make(
    game: Game, tol: float, method: str, step: str, inner: str, beta: float | None
) -> tuple[Update, str]:
    """Return the update and the name the solution will carry."""
    linear = game.relaxation.linear_form(game.m) is not None
    if method == "auto":
        method, step = ("combined", step) if linear else ("corrective", "pairwise")
    spread = game.relaxation.entropy_range(game.m)
    if method == "corrective":
        if step == "fig1":
            spread = math.log(game.m)
        return Corrective(game, beta or _default_beta(spread, tol), step), f"corrective ({step})"
    if method == "combined":
        loose = max(tol, _POINTLESS_SMOOTHING)
        update = Combined(game, beta or _default_beta(spread, loose), loose / 2.0)
        return update, "combined (pairwise, lp)"
    if inner == "auto":
        inner = "smoothed" if tol >= _POINTLESS_SMOOTHING or not linear else "lp"
    name = f"totally-corrective ({inner})"
    if inner == "lp":
        return TotallyCorrectiveLP(game), name
    return TotallyCorrectiveSmoothed(game, beta or _default_beta(spread, tol), tol / 2.0), name


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
            if self._reached(state):
                return "optimal"
            if self._callback is not None and self._callback(state) is True:
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

    def _reached(self, state: State) -> bool:
        if self._stopping == "smoothed":
            if state.smoothed_gap <= self._tol:
                self._w, self._d = state.active.snapshot(), state.d
                return True
            return False
        if self._upper - self._lower > self._tol * self._retry:
            return False
        _, lower, _, _, upper = self._certify(state.active)
        if upper - lower <= self._tol:
            return True
        # Rounding stands between the estimate and the certificate: come back when it is narrower.
        self._retry *= 0.5
        return False

    def _certify(
        self, active: Any
    ) -> tuple[tuple[NDArray[np.int64], Vector], float, Witness, Vector, float]:
        game = self._game
        w = game.repair_w(active.coefficients(self._w))
        lower, witness = bounds.evaluate_lower(game.matrix, game.relaxation, *w)
        d = game.repair_d(self._d)
        return w, lower, witness, d, bounds.evaluate_upper(game.matrix, game.relaxation, d)

    def solution(self, update: Update, name: str, status: str, bound: float) -> Solution:
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
            message=_MESSAGES[status].format(gap=gap, tol=tol)
            if certified or status != "optimal"
            else f"the smoothed gap of Fig. 1 fell to {tol:g}; the certified gap is {gap:.3g}",
            history=self._trace.records(lower, upper),
        )


_MESSAGES = {
    "optimal": "the certified gap {gap:.3g} is at most tol = {tol:g}",
    "max_rounds": "max_rounds was reached at a gap of {gap:.3g}, tol = {tol:g}",
    "time_limit": "time_limit was reached at a gap of {gap:.3g}, tol = {tol:g}",
    "callback": "the callback ended the run at a gap of {gap:.3g}, tol = {tol:g}",
    "interrupted": "interrupted at a gap of {gap:.3g}, tol = {tol:g}; the bracket holds",
    "stalled": "the weak learner finds no new column; the gap stays at {gap:.3g}, tol = {tol:g}",
}
