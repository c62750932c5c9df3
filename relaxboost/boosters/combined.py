"""Pairwise steps first, then the linear program over what they found."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relaxboost.boosters.active import ActiveSet
from relaxboost.boosters.corrective import Corrective, Smoother
from relaxboost.boosters.totally_corrective import Program, TotallyCorrectiveLP
from relaxboost.game import Game
from relaxboost.matrices import Best


class Combined:
    """Corrective pairwise steps to a smoothed gap of `target`, then Eq. 13 as an exact program.

    Smoothed steps are cheap while the gap is wide and their rounds grow like 1/β; the program
    jumps to the optimum, but started from nothing on a game whose optimum uses many columns it
    pays dearly for every column it learns of. So the first find the columns, and the second
    starts from those with weight (`benchmarks/inner.py`). It also takes over when as many rounds
    as there are columns in use have brought no new one.
    """

    def __init__(
        self,
        game: Game,
        beta: float,
        target: float,
        program: type[Program] = TotallyCorrectiveLP,
        smoother: Smoother | None = None,
    ) -> None:
        self._game, self._program = game, program
        self._target = target
        self._columns = self._idle = 0
        self._now: Corrective | Program = Corrective(game, beta, "pairwise", smoother=smoother)

    @property
    def active(self) -> ActiveSet:
        """The combined hypothesis; both phases share it."""
        active = self._now.active
        assert isinstance(active, ActiveSet)
        return active

    @property
    def d(self) -> NDArray[np.float64]:
        """The distribution of the present phase."""
        return self._now.d

    @property
    def step(self) -> float:
        """The step of the present phase."""
        return self._now.step

    @property
    def inner(self) -> str:
        """The phase: "smoothed", "lp" or "conic"."""
        return self._now.inner

    def advance(self, best: Best) -> bool:
        """Update the present phase, and go over to the second once the first has done its part."""
        now = self._now
        if isinstance(now, Corrective):
            if self.active.gap(now.d, best) > self._target and not self._saturated():
                return now.advance(best)
            self._now = self._program(self._game, self.active)
            self._now.advance(best)
            return True  # the program has a d of its own, whether or not it knew the column
        return now.advance(best)

    def _saturated(self) -> bool:
        """Count a round; return whether the first phase has stopped finding columns."""
        columns = len(self.active)
        self._idle = 0 if columns > self._columns else self._idle + 1
        self._columns = columns
        return self._idle > max(20, columns)
