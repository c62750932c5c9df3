"""`solve`: run a method until the bracket of the unsmoothed game is as narrow as asked."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.blas import threads_for
from relaxboost._core.compiled import is_interrupt
from relaxboost._core.errors import ClusterError, InputError, SolverError
from relaxboost._core.history import History
from relaxboost._core.loop import Clock, Limits, TimeUp, run, until
from relaxboost._core.parameters import positive
from relaxboost._core.progress import closing
from relaxboost.game import bounds
from relaxboost.game.game import Game
from relaxboost.game.solution import Basis, RoundRecord, Solution
from relaxboost.relaxations import Witness
from relaxboost.relaxations.own import is_own
from relaxboost.solvers.boosters.corrective import Unbegun
from relaxboost.solvers.checkpoint import Checkpoint
from relaxboost.solvers.hypothesis import CombinedHypothesis
from relaxboost.solvers.method import Method, as_method
from relaxboost.solvers.restricted_master import ProgramError
from relaxboost.solvers.rounds import Booster, Rounds, RoundState
from relaxboost.solvers.tolerance import Tolerance
from relaxboost.solvers.warm_start import Relay, WarmStart, Weights, read_start

_FINE = 1e-10
"""Gaps that are near the rounding of the bounds, relative to these."""
_FLOOR = 1e-8
"""What `tol` is where only `rtol` is given: a value that small counts as zero."""


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
        ``"auto"`` chooses by the game. ``"combined"``, ``"corrective"``, ``"totally-corrective"``,
        ``"interior-point"``, ``"taut-strings"``, ``"adaboost"``, ``"adaboost-star"``,
        ``"totalboost"``, ``"softboost"``, ``"smoothboost"``, ``"mlpboost"`` and ``"hedge"`` stand
        for objects with their defaults. The objects are `Combined`, `Corrective`,
        `TotallyCorrective`, `InteriorPoint`, `TautStrings`, `AdaBoost`, `AdaBoostStar`,
        `TotalBoost`, `SoftBoost`, `SmoothBoost`, `MLPBoost` and `Hedge` of `relaxboost.solvers`, as
        in ``method=rb.solvers.Corrective(step="pairwise")``; each says what it does and which
        options it has.
    rtol : float, optional
        Stop also at a gap of at most `rtol` times |ρ|, in (0, 1): the bracket must prove it, so the
        gap is compared with the end of it that is nearer to 0, and is never narrow enough around
        0. `Solution.message` says which test ended the run. Methods that smooth throughout
        (`Corrective`, ``inner="smoothed"``, `MLPBoost`) and those with a margin guarantee
        (`AdaBoostStar`, `TotalBoost`, `SoftBoost`, `Hedge`) work at the accuracy `tol`.
    start : Solution, or pair (d, w), optional
        Where to begin. The result is never worse, unless Fig. 1's own test ends the run. A
        Solution may be of another f or domain, or of other data with the same hypotheses in the
        same order; its d is used where it fits m. In a pair one may be None; w is as in
        `Game.bracket`, such as the weights of an ensemble. Both are moved to where they are
        feasible, and `Solution.message` says so of a pair. Where f is a cost and bounds for each
        example, and A has up to ten million entries or is all stumps, a walk leads to the optimum
        from that of a neighbour. Without one, interior point methods keep the bracket only.
        AdaBoost takes no start.
    checkpoint : path, optional
        A file of JSON for the best points so far, written atomically, now and then and at the end.
        If it is there the run goes on from it; where it is of another game the reason is given.
        Rounds and seconds count on in the Solution, and from zero for the limits.
    max_rounds, time_limit : int, float (seconds), optional
        Further limits; time counts from the call. Without them a run ends at `tol` only; Fig. 1
        gets there within `Solution.bound` rounds, 64 log(m) / tol² over the unit l1 ball.
    callback : callable, optional
        Called with the `RoundState` of each round, whose d cannot be written to; the run ends when
        what it returns is true.
    verbose : int
        1 shows a progress bar on a terminal (on standard error); 0 nothing.

    Returns
    -------
    Solution
        Always with the best bracket seen, also after Ctrl-C (status ``"interrupted"``). It is
        evaluated afresh from d and w, whatever the booster believed. If the solver of f or of the
        restricted program gives up, memory does not suffice, or a cluster goes away, the status
        is ``"failed"`` and the bracket holds all the same. Deterministic, except for the clock;
        where examples times columns are above a million, last bits depend on BLAS's threads.

    Raises
    ------
    InputError
        Before any work: for an unknown method, one that does not fit the game or takes no start, a
        tol, rtol or limit out of range, a start that cannot be made to fit, or a checkpoint of
        another game. Without
        `max_rounds` or `time_limit` also for AdaBoost, and for a weak learner whose slack is
        unknown or not below `tol`.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Fig. 1, Thm 9, Eq. 13. The theorem's 32 log(m) / ε² belongs
    to the smoothed test; `Solution.bound` is 64 log(m) / tol² for the certified one, times the
    square of the radius of other balls (`Domain.rounds_bound`).
    """
    if not isinstance(game, Game):
        raise InputError(f"solve needs a Game, got {type(game).__name__}; write solve(Game(A, f))")
    if not isinstance(verbose, Real):
        raise InputError(f"verbose must be 0, or 1 for a progress bar, got {verbose!r:.60}")
    tol = _tolerance(tol, rtol)
    limits = Limits(max_rounds, time_limit, callback)
    clock = Clock(limits.time_limit)
    chosen = as_method(method).chosen(game, tol)
    chosen.check(game)
    _check_ends(game, tol, chosen, limits)
    if chosen.cold and (start is not None or checkpoint is not None):
        raise InputError(f'{chosen.cold}; leave start and checkpoint out, or use method="auto"')
    begin = WarmStart() if start is None else read_start(game, start)
    file = None if checkpoint is None else Checkpoint(checkpoint, game)
    begin = begin if file is None else begin.joined(file.start)
    if callback is not None:
        limits = replace(limits, callback=lambda state: callback(_shown(state)))
    try:
        with until(clock.deadline):
            booster = chosen.start(game, tol, clock)
    except (SolverError, TimeUp) as error:
        booster = Unbegun(game, error).named(getattr(chosen, "name", type(chosen).__name__))
    called, bound = booster.called, chosen.rounds_bound(game, tol)
    best = _Best(game, tol, clock, chosen.smoothed_test, booster.active)
    best.file, reason = file, ""
    status = best.begin(begin)
    if not status:
        states = Rounds(game, _warmed(booster, begin, game, clock), begin.rounds + 1)
        best.basis = lambda: states.booster.basis() or begin.basis
        with threads_for(game.m, game.n), closing("gap", tol, verbose > 0) as best.show:
            try:
                with until(clock.deadline):
                    status = run(states, best.keep, limits, clock, empty=True) or "stalled"
            except (ProgramError, SolverError, ClusterError, MemoryError) as error:
                out = isinstance(error, MemoryError)
                status, reason = "failed", f"out of memory: {error}" if out else str(error)
        if begin.relay is not None:
            begin.relay.booster = states.booster

    try:
        best.write()
        return best.solution(called, status, reason, bound)
    except (KeyboardInterrupt, SystemError) as error:
        if not is_interrupt(error):
            raise
    best.write()
    return best.solution(called, "interrupted", reason, bound)


def _warmed(booster: Booster, begin: WarmStart, game: Game, clock: Clock) -> Booster:
    """Return it moved to a start; where a solver or time is up, what ends so after a round."""
    if begin.w is None and begin.d is None:
        return booster
    try:
        with until(clock.deadline):
            return booster.warmed(begin)
    except (SolverError, TimeUp) as error:
        return Unbegun(game, error).named(booster.label)


def _tolerance(tol: float | None, rtol: float | None) -> Tolerance:
    """Return both, with 0 for no `rtol`."""
    if rtol is not None:
        rtol = positive("rtol", rtol)
        if rtol >= 1.0:
            raise InputError(f"rtol must be below 1, got {rtol:g}: it is a part of |rho|")
    if tol is None:
        tol = 1e-3 if rtol is None else _FLOOR
    return Tolerance(positive("tol", tol), rtol or 0.0)


def _check_ends(game: Game, tol: float, method: Method, limits: Limits) -> None:
    """Raise an InputError for a run that may never end."""
    if limits.bounded:
        return
    slack = game.over.value(game.matrix.slack)
    if slack >= tol:
        raise InputError(
            f"the slack of this weak learner, {slack:g}, is part of every upper bound, "
            f"so a gap of tol = {tol:g} may never be reached; give max_rounds or time_limit, "
            "or declare a smaller slack"
        )
    if method.endless:
        raise InputError(f"{method.endless}; give max_rounds or time_limit")


class _Best:
    """The best points that a run has seen, its history, and whether they are good enough."""

    show: Callable[[float, int], None]
    file: Checkpoint | None = None

    def __init__(
        self,
        game: Game,
        tol: Tolerance,
        clock: Clock,
        smoothed_test: bool,
        active: CombinedHypothesis,
    ) -> None:
        self._game, self._clock = game, clock
        self._tol = tol
        self._smoothed_test = smoothed_test
        self._begin = WarmStart()
        self.basis: Callable[[], Basis | None] = lambda: self._begin.basis
        self._history: History[RoundRecord] = History()
        self._kinds: dict[str, None] = {}  # of rounds so far, which a thinned history may lack
        self._lower, self._upper = -math.inf, math.inf
        # Replaced as a whole, so that an interrupt finds a consistent pair.
        self._w: Callable[[], Weights] = partial(active.coefficients, active.snapshot())
        self._d = game.relaxation.center(game.m)
        self._witness: Witness | None = None  # of w, where its booster knows one
        self._asks = True  # whether a solver may be asked for a better one
        self._proof: Any = None
        self._rounding = 0.0  # by how much an estimate is to be narrower than asked

    def begin(self, start: WarmStart) -> str:
        """Take the points of a start for the first best; return "optimal" where they are enough."""
        self._begin = start
        if start.w is not None:
            w = start.w
            self._w, self._lower = (lambda: w), start.lower
        if start.d is not None:
            self._d, self._upper = start.d, start.upper
        near = start.upper - start.lower <= self._tol.at(start.lower, start.upper)
        return "optimal" if near and not self._smoothed_test else ""

    def keep(self, state: RoundState) -> str:
        """Take what is better, write it down, and return why to stop, or ""."""
        if state.lower > self._lower:
            self._w = partial(state.active.coefficients, state.active.snapshot())
            self._lower, self._witness = state.lower, state.witness
        if state.upper <= self._upper:  # also for inf, so that d is one the booster made
            self._d, self._upper = state.d, state.upper
        lower, upper = self._lower, self._upper
        estimate = upper - lower
        record = RoundRecord(
            state.round,
            self.seconds,
            lower,
            upper,
            state.smoothed_gap,
            state.active.used,
            state.step,
            state.inner,
        )
        self._history.add(record)
        self._kinds[state.inner] = None
        self.show(estimate, state.round)
        if self.file is not None and self.file.due:
            self.write()
        if self._smoothed_test:
            return self._tested(state)
        allowed = self._tol.at(lower, upper)
        if estimate > max(allowed - self._rounding, 0.5 * allowed):
            return ""
        _, lower, _, _, upper = self._certify()
        return self._verdict(upper - lower, estimate, self._tol.at(lower, upper))

    def _tested(self, state: RoundState) -> str:
        """Return "optimal" and keep the pair of this round, once Fig. 1's own test holds."""
        if not state.smoothed_gap <= self._tol:  # nan where d is not smoothed
            return ""
        self._w = partial(state.active.coefficients, state.active.snapshot())
        self._d, self._witness = state.d, state.witness
        return "optimal"

    def _verdict(self, gap: float, estimate: float, allowed: float) -> str:
        """Return "optimal" at the gap asked for, "stalled" where rounding keeps it away, or ""."""
        if gap <= allowed:
            return "optimal"
        rounding = gap - estimate
        if rounding > allowed:
            return "stalled"
        # Certify again when the estimate is narrower, by little, since the rounds that AdaBoost*
        # needs are counted to tol.
        self._rounding += 2.0 * rounding
        return ""

    def _certify(self) -> tuple[Weights, float, Witness, Vector, float]:
        game, points = self._game, (self._w, self._d)
        if self._proof is not None and all(map(operator.is_, self._proof[0], points)):
            return self._proof[1]
        w = game.repair_w(self._w())
        prove = partial(bounds.evaluate_lower, game.matrix, game.relaxation, *w, game.over)
        lower, witness = prove(self._witness)
        d = game.repair_d(self._d)
        upper = bounds.evaluate_upper(game.matrix, game.relaxation, d, game.over)
        short = upper - lower > self._tol.at(lower, upper)
        if self._witness is not None and short and self._asks:
            with suppress(SolverError, TimeUp), until(self._clock.deadline):
                lower, witness = max((lower, witness), prove(), key=operator.itemgetter(0))
        self._proof = points, (w, lower, witness, d, upper)
        return self._proof[1]

    @property
    def seconds(self) -> float:
        """Seconds so far, those before a checkpoint included."""
        return self._begin.seconds + self._clock.seconds

    @property
    def _rounds(self) -> int:
        return self._begin.rounds + self._history.rounds

    def write(self) -> None:
        """Write the checkpoint, where there is to be one."""
        if self.file is not None:
            self.file.write(self._certify, self.basis(), self._rounds, self.seconds)

    def solution(
        self, called: Callable[[Iterable[str]], str], status: str, reason: str, bound: float
    ) -> Solution:
        """Return the best points with their bracket, evaluated afresh."""
        self._asks = status != "interrupted"
        (support, coefficients), lower, witness, d, upper = self._certify()
        certified = not self._smoothed_test
        tol, gap = self._tol, upper - lower
        if status in ("optimal", "stalled") and certified:
            status = "optimal" if gap <= self._tol.at(lower, upper) else "stalled"
        if gap < 0.0:
            status = "inaccurate"
        last = self._history.last
        history = self._history.records(last and last._replace(lower=lower, upper=upper))
        return Solution(
            game=self._game,
            support=support,
            coefficients=coefficients,
            d=d,
            witness=witness,
            lower=lower,
            upper=upper,
            status=status,
            tol=float(tol),
            method=called(self._kinds),
            rounds=self._rounds,
            seconds=self.seconds,
            bound=bound,
            message=self._message(status, (lower, upper), support.size > 0, reason, (witness, d)),
            history=history,
            rtol=self._tol.rtol,
            basis=self.basis(),
        )

    def _message(
        self,
        status: str,
        bracket: tuple[float, float],
        weights: bool,
        reason: str,
        proof: tuple[Any, Vector],
    ) -> str:
        """Return how the run ended, and whether it says nothing: w = 0 is as good at this tol."""
        tol, rtol, game = self._tol, self._tol.rtol, self._game
        gap = bracket[1] - bracket[0]
        if status == "optimal" and self._smoothed_test:
            return f"the smoothed gap of Fig. 1 fell to {tol:g}; the certified gap is {gap:.3g}"
        ended = "by rtol" if status == "optimal" and gap > tol else status
        asked = f"tol = {tol:g}" + (f", rtol = {rtol:g}" if rtol and status != "optimal" else "")
        size = max(bracket[0], -bracket[1])
        said = _MESSAGES[ended].format(gap=gap, asked=asked, rtol=rtol, size=size, reason=reason)
        # F(0), which may take a solver, is at most f at any d.
        most = game.relaxation.penalty(game.relaxation.center(game.m))
        near = bracket[1] - most <= self._tol.at(most, bracket[1])
        if status == "optimal" and weights and game.over.holds_zero and near:
            least = game.relaxation.relaxed_margin(np.zeros(game.m))[0]
            idle = bracket[1] - least
            if idle <= self._tol.at(least, bracket[1]):
                said += f"; so is that of w = 0, {idle:.3g}: for a w that says more, lower tol"
        part = gap / max(abs(bracket[0]), abs(bracket[1]), math.ulp(0.0))
        if status in ("stalled", "failed") and not rtol and 0.0 <= part <= _FINE:
            said += f"; that is {part:.1g} of |rho|, near the rounding of bounds: ask for rtol"
        if status in ("stalled", "inaccurate") and is_own(game.relaxation):
            said += "; the relaxation is your own: rb.testing.check_relaxation(f) finds what in it "
            said += "disagrees"
        believed = game.relaxation.believed(*proof)
        trouble = "" if self.file is None else self.file.trouble
        return "; ".join(filter(None, (said, believed, self._begin.said, trouble)))


def _shown(state: RoundState) -> RoundState:
    """Return the state with a d that a callback cannot write to."""
    d = state.d.view()
    d.flags.writeable = False
    return replace(state, d=d)


_MESSAGES = {
    "optimal": "the gap {gap:.3g} is at most {asked}",
    "by rtol": "the gap {gap:.3g} is at most rtol = {rtol:g} of |rho| >= {size:.3g}",
    "failed": "{reason}; the bracket holds, at a gap of {gap:.3g}, {asked}",
    "max_rounds": "max_rounds was reached at a gap of {gap:.3g}, {asked}",
    "time_limit": "time_limit was reached at a gap of {gap:.3g}, {asked}",
    "callback": "the callback ended the run at a gap of {gap:.3g}, {asked}",
    "interrupted": "interrupted at a gap of {gap:.3g}, {asked}; the bracket holds",
    "inaccurate": "the bounds cross by {gap:.3g}: they are numerical, as good as the solver",
    "stalled": "no new column, or rounding, keeps the gap at {gap:.3g}, {asked}",
}
