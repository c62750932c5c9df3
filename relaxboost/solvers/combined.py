"""Pairwise steps first, then the exact program over what they found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.solvers.corrective import CorrectiveRun
from relaxboost.solvers.method import SmoothedMethod
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.smoothing import Smoother
from relaxboost.solvers.totally_corrective import PROGRAMS, ProgramRun, exact_program, loose_gap


@dataclass(frozen=True)
class Combined(SmoothedMethod):
    """`Corrective` pairwise steps to a gap of 0.02, then Eq. 13 as an exact program.

    Smoothed steps are cheap while the gap is wide and their rounds grow like 1/β; the program
    jumps to the optimum, but started from nothing on a game whose optimum uses many columns it
    pays dearly for every column it learns of. So the first find the columns, and the second
    starts from those with weight (`benchmarks/inner.py`). It also takes over when as many rounds
    as there are columns in use have brought no new one.

    Parameters
    ----------
    beta, smoothing
        Of the first phase; see `SmoothedMethod`.
    """

    name = "combined"

    def check(self, game: Game) -> None:
        """Raise an InputError over a set without atoms."""
        super().check(game)
        if not isinstance(game.over, AtomicSet):
            raise InputError(
                f"Combined() re-weighs the columns found so far, and over {game.over!r} every "
                "column has weight from the start; use TotallyCorrective()"
            )

    def start(self, game: Game, tol: float, clock: Clock) -> Booster:
        """Start the first phase."""
        loose = max(tol, loose_gap(game))
        beta, smoother, suffix = self.smoother(game, loose)
        inner = exact_program(game)
        run = CombinedRun(game, beta, smoother, loose / 2.0)
        run.program = PROGRAMS[inner](game, clock, run.atoms)
        return run.named(f"combined (pairwise, {inner}{suffix})")


class CombinedRun(CorrectiveRun):
    """Pairwise steps to a smoothed gap of `target`, which then hand over to a program."""

    program: ProgramRun
    """What takes over; it shares the combined hypothesis."""

    def __init__(self, game: Game, beta: float, smoother: Smoother, target: float) -> None:
        super().__init__(game, beta, "pairwise", smoother)
        self._target = target
        self._columns = self._idle = 0

    def successor(self, best: Any) -> Booster | None:
        """Return the program over the columns found, once the steps have done their part."""
        if self.active.gap(self.d, best) > self._target and not self._saturated():
            return None
        return self.program

    def _saturated(self) -> bool:
        """Count a round; return whether the steps have stopped finding columns."""
        columns = len(self.atoms)
        self._idle = 0 if columns > self._columns else self._idle + 1
        self._columns = columns
        return self._idle > max(20, columns)
