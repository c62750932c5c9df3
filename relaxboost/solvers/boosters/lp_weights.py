"""The weights of the columns so far that maximise the relaxed margin, by linear programming."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.solvers.hypothesis import ActiveSet
from relaxboost.solvers.restricted_master import RestrictedMaster


class LPWeights:
    """The restricted master of a run, and which columns of the active set it has.

    Parameters
    ----------
    game : Game
        A game with a linear form, over a set with atoms.
    active : ActiveSet
        The combined hypothesis that `optimise` gives its weights to.
    clock : Clock
        When the program gives up.
    """

    def __init__(self, game: Game, active: ActiveSet, clock: Clock) -> None:
        assert game.linear_form is not None
        self._active = active
        self._clock = clock
        self._master = RestrictedMaster(game.linear_form, game.m, active.over)
        self.slots: list[int] = []
        """The slots of the columns, in the order of the program's rows."""

    def include(self, slots: Iterable[int]) -> None:
        """Add the columns of these slots, unless the program has them."""
        new = [slot for slot in dict.fromkeys(slots) if slot not in self.slots]
        if new:
            self.slots += new
            self._master.add(self._active.columns[:, new])

    def optimise(self) -> Vector:
        """Solve the program, give its optimal weights to the active set, and return its d."""
        d, multipliers = self._master.solve(self._clock)
        weights = np.zeros(len(self._active))
        weights[self.slots] = multipliers
        self._active.set_weights(weights)
        return d
