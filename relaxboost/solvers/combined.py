"""Pairwise steps first, then the exact program over what they found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.game.solution import Basis
from relaxboost.matrices.bulk import PASS
from relaxboost.relaxations import KLPenalty
from relaxboost.solvers.balance import Balance, may_balance, seconds_to_look
from relaxboost.solvers.boosters.corrective import active_set
from relaxboost.solvers.boosters.totally_corrective import (
    PROGRAMS,
    ProgramRun,
    exact_program,
    loose_gap,
)
from relaxboost.solvers.forecast import Forecast
from relaxboost.solvers.interior_point.run import (
    OVERHEAD,
    PART,
    PIVOT,
    PROJECTIONS,
    STEP,
    Rival,
    expected,
    unfit,
    walk_limit,
)
from relaxboost.solvers.loose import EASIER, EASY, LooseRun
from relaxboost.solvers.method import SmoothedMethod, default_beta
from relaxboost.solvers.parametric_simplex.booster import Walking, walkable
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.smoothing import Smoother, Unsmoothed
from relaxboost.solvers.warm_start import WarmStart, ended_as

_MANY = 0.3
"""The part of the columns, or of as many as there are examples, that makes an optimum dense."""
_NEAR = 2.0
"""How many times below the gap at which steps hand over tol may be, for steps to go on alone."""
_FAR = 10.0
"""How many times the gap at which steps hand over a start is of use to them, or to the program."""
_BETWEEN = 3
"""Steps over the columns in use, at most, between two passes over all, where steps may go on alone.
With more of them dense optima take longer."""
_NEW, _OFTEN = 4.0, 0.9
"""How many times work of steps counts while so large a part of them brought a new column: an
optimum of many columns shows so."""
_FEW = 1.0
"""The product of tol and the curvature of f from which some eight rounds of steps do."""
_STEEP, _STEPS = 5.0, 5.0
"""How many times what smoothing would add the curvature of f is at least, for steps that go on
without it, and how many times the price of an interior point method they may then cost."""
_ENDING = 2.0
"""How many times the price of `Balance` the rest of steps costs at least, for it not to wait.

The rest is told as if the gap fell by the same part a round: the least that it may be."""
_ROUNDING = 1e-12
"""The value, beside its largest margin, that a w may have by rounding alone."""
_SOON = 5.0
"""Seconds for which an interior point method beats steps and cone programs, wherever it ends."""


@dataclass(frozen=True)
class Combined(SmoothedMethod):
    """`Corrective` pairwise steps to a gap of 0.02, then Eq. 13 as an exact program.

    Smoothed steps are cheap while the gap is wide, and their rounds grow like 1/β. The program
    jumps to the optimum, but pays dearly for every column it learns of. So steps find the columns,
    and the program starts from those with weight (`benchmarks/inner.py`). It also takes over when
    as many rounds as there are columns in use have brought no new one.

    `InteriorPoint` is the best of the three where optima use many columns. It takes over when the
    steps have cost a quarter of what it is expected to, or a sixteenth where nearly each has found
    a new column. Before that a program may take as long as `InteriorPoint` is expected to, and
    what steps spared; it is not begun where it would take longer. What `InteriorPoint` cannot
    finish goes back to the program. Before it, of all stumps, come `TautStrings`, and go on where
    tol is not narrow beside ρ.

    For a tol of half that gap or more, steps aim at that tol from the beginning. With a hard or
    soft margin, or a `KLPenalty`, they smooth more than tol allows at first (`LooseRun`), and with
    a margin most are over the columns in use. They go on where the program would take longer than
    they did, and in place of `InteriorPoint` where what is left of them is expected (`Forecast`) to
    cost less.

    Where the steps have found nothing better than w = 0, and columns are fewer than
    examples, `Balance` looks once whether that is optimal: whether some d leaves no edges. It waits
    for twice as much work where steps are nearly done.

    Where f is not polyhedral the program is one for a cone solver. `InteriorPoint` beats that, and
    takes over from the steps. It starts at once where it is expected to take seconds, or a cone
    solver makes the distributions. For a tol of half the gap or more, and an f whose own curvature
    is five times what smoothing would add, steps go on while they cost less than five times as
    much as `InteriorPoint` would.

    `RoundRecord.inner` in the history says which of them a round belongs to: "smoothed" for the
    steps, "lp" or "conic" for the program, "interior", "strings", "walk", "balance", or "lost"
    where a walk came to nothing.

    Parameters
    ----------
    beta, smoothing
        Of the first phase; see `SmoothedMethod`.
    interior : bool
        Whether `InteriorPoint` may take over, where it fits the game.
    """

    name = "combined"
    interior: bool = True

    def check(self, game: Game) -> None:
        """Raise an InputError over a set without atoms."""
        super().check(game)
        if not isinstance(game.over, AtomicSet):
            raise InputError(
                f"Combined() re-weighs the columns found so far, and over {game.over!r} every "
                "column has weight from the start; use TotallyCorrective()"
            )

    def start(self, game: Game, tol: float, clock: Clock) -> Booster:
        loose = loose_gap(game)
        near, loose = _NEAR * tol >= loose, max(tol, loose)
        target = tol if near else loose
        inner = exact_program(game)
        fits = self.interior and not unfit(game)
        steep = fits and near and inner == "conic"
        steep = steep and isinstance(self.smoother(game, _STEEP * tol)[1], Unsmoothed)
        # A few steps do, and f is too steep for the programs of cone solvers.
        few = game.relaxation.curvature(game.m) * tol >= _FEW
        rival = Rival(game, tol, clock, _STEPS if steep else PART) if fits else None
        if rival is not None and inner == "conic":
            soon = tol < loose and expected(game) < _SOON and not (steep or few)
            target = tol if steep or few else target
            if soon or game.relaxation.from_solver:
                program = PROGRAMS[inner](game, clock, active_set(game))
                program.rival = rival
                return rival.first(program).named("combined", "pairwise")
        beta, smoother, suffix = self.smoother(game, target)
        least, easy, between = inf, 1.0, 0
        # Others than hard and soft margins take many times as long for a d as is counted.
        quick = near and hasattr(smoother.projector(beta), "along")
        if quick and self.beta is None:
            least, easy, between = beta, EASY, _BETWEEN
        # More of the same entropy costs nothing; beside others it takes a search.
        kl = near and isinstance(smoother, Unsmoothed) and isinstance(game.relaxation, KLPenalty)
        if kl:
            smoother, easy = game.relaxation, EASIER
            beta = least = default_beta(game.relaxation.entropy_range(game.m), target)
        run = CombinedRun(game, easy * beta, smoother, target / 2.0, clock)
        run.least, run.between = least, between
        run.make, run.rival = partial(PROGRAMS[inner], game, clock, run.atoms), rival
        run.new, run.patient = 1.0 if steep or kl else _NEW, kl
        run.forecast = Forecast(tol) if quick else None
        return run.named("combined", f"pairwise{suffix}")


class CombinedRun(LooseRun):
    """Pairwise steps to a smoothed gap of `target`, which then hand over to a program."""

    newton = False  # when its steps hand over was measured with searches that begin elsewhere
    make: Callable[[], ProgramRun]
    """Makes what takes over, which shares the combined hypothesis."""
    program: ProgramRun | None = None
    rival: Rival | None = None
    """What takes over from both."""
    new: float = _NEW
    """How many times work of steps counts while nearly each has found a new column."""
    patient: bool = False
    """Whether steps that find no new column go on: they still gain, and what follows is dear."""
    forecast: Forecast | None = None
    """Of rounds of steps, where they may go on alone."""

    def __init__(
        self, game: Game, beta: float, smoother: Smoother, target: float, clock: Clock
    ) -> None:
        super().__init__(game, beta, smoother, target, clock)
        self._ready = self._looked = False
        self._fewer = min(game.m, game.n or game.m)
        self._pass = PASS * game.matrix.entries
        self._columns = self._vain = 0
        self._work, self._price = 0.0, seconds_to_look(game)
        self._look = self._price  # what steps may still cost before `Balance` looks

    def warmed(self, start: WarmStart) -> Booster:
        """Begin with a walk from the optimum of a neighbour; without one, see `_begun`.

        From many columns that taut strings found, at no vertex, a walk is long, and they are quick
        again.
        """
        near, rival = start.near, self.rival
        strings = near is not None and ended_as(near) == "strings"
        if near and strings and rival and self._pivots(near.support.size) > rival.left:
            return rival.now(self._made()).warmed(start)
        gap = (start.upper - start.lower) / (2.0 * self._target)
        begun = partial(self._begun, start, gap)
        if self.rival and gap <= _FAR and walkable(self._game, start):
            passes = walk_limit(self._game) / self._pass
            return Walking(self._game, self._clock, start, passes, begun)
        return begun()

    def _begun(self, start: WarmStart, gap: float) -> Booster:
        """Begin with the program where the gap is as narrow as steps are good for, or nearly.

        From a basis the program goes on at a few times that gap; where it had many columns, the
        rival. Steps from further away take longer than from nothing.
        """
        known = start.basis or Basis(())
        program = self._made()
        if start.near is not None and self.rival and gap <= _FAR:
            used = start.near.support.size
            dense = used > _MANY * self._fewer and not known.columns
            if dense or self._pivots(used) > self.rival.left:
                return self.rival.first(program)
        if gap <= (_FAR if known.columns else 1.0):
            self._ready = self._looked = True
            program.warmed(start)
            self.d, self.active = program.d, program.active
        elif gap <= _FAR:
            super().warmed(start)
        return self

    def _made(self) -> ProgramRun:
        """Return the program, made anew, which the rival may take over from."""
        self.program = self.make()
        self.program.rival = self.rival
        return self.program

    def successor(self, best: Any) -> Booster | None:
        """Return the program over the columns found, once the steps have done their part."""
        used, gap = self.atoms.used, self.active.gap(self.d, best)
        rival, program, pivots = self.rival, self.program, self._pivots(used)
        dear = used > _MANY * self._fewer or (rival is not None and pivots > rival.left)
        if rival and program and self._ready and dear and not program.knows:
            return rival.now(program)
        done = self._ready or (gap <= self._target and not self.eased) or self._saturated()
        due = ending = False
        if rival is not None:
            examples = self.active.u.size * (len(self.atoms) + PROJECTIONS)
            work = self._pass + (1 + self._settled) * STEP * (examples + OVERHEAD)
            self._work += work
            new = used >= _OFTEN * self._round
            counted = work * (self.new if new else 1.0)
            # A forecast says when the rival is due; new columns then only hasten the look.
            due = rival.due(work if self.forecast else counted)
            self._look -= counted if self.forecast else work
            if self.forecast is not None:
                self.forecast.note(self.certified())
                left = work * self.forecast.rounds(power=self.idle)
                ending = work * self.forecast.rounds() < _ENDING * self._price
                if due and (left < self._look or not self._looks()):
                    due = not rival.spares(left, self.idle)
                done = done and (self._ready or pivots <= self._work)
        if rival and (done or due or self._look <= (-self._price if ending else 0.0)):
            looks, self._looked = self._looks(), True
            if looks:
                return Balance(self._game, self._clock, self)
        if not (done or due):
            return None
        if program is None:
            program = self._made()
        if rival is None:
            return program
        if not due and float(self.d @ self.active.u) > self._target:
            rival.wait()  # not where steps have found next to nothing better than w = 0
        if due or program.inner == "conic" or pivots > rival.left:
            return rival.now(program)  # the program would not end in the time it may take
        program.known = gap
        return program

    def _looks(self) -> bool:
        """Whether `Balance` is to look, which it does once; a w of positive value says no.

        Also one of an earlier round: steps smooth, and the value of the present w may fall.
        """
        if self._looked or not may_balance(self._game):
            return False
        u = self.active.u
        value = max(self._lower, self._game.relaxation.valuer()(u))
        return value <= _ROUNDING * float(np.abs(u).max())

    def _pivots(self, used: int) -> float:
        """Return the seconds of two pivots for each column of a start without a basis."""
        return 2.0 * PIVOT * used**2 * self._game.m

    def _saturated(self) -> bool:
        """Count a round; return whether the steps have stopped finding columns."""
        columns = len(self.atoms)
        self._vain = 0 if columns > self._columns else self._vain + 1
        self._columns = columns
        return self._vain > max(20, columns) and not self.patient
