"""The totally corrective update of Shalev-Shwartz & Singer (2009), Eq. 13."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from relaxboost.boosters.active import ActiveSet
from relaxboost.boosters.corrective import Corrective, active_set
from relaxboost.boosters.master import RestrictedMaster
from relaxboost.errors import InputError
from relaxboost.game import Game
from relaxboost.matrices import Best

Vector = NDArray[np.float64]


class TotallyCorrectiveSmoothed:
    """w_{t+1} maximises the smoothed relaxed margin D over the columns seen so far.

    The inner maximisation starts with the best step towards the new column, which alone gains
    what Fig. 1's step would, so that the bound on the rounds carries over. Pairwise steps over
    the columns seen follow until their own Frank–Wolfe gap is half of the round's gap or, near
    the end, of the target: a closer maximum costs more than the rounds it saves
    (`benchmarks/inner.py`).
    """

    inner = "smoothed"
    step = float("nan")

    def __init__(self, game: Game, beta: float, target: float, deadline: float = np.inf) -> None:
        self.active = active_set(game, store=True)
        self._deadline = deadline  # on time.perf_counter(); then a round ends where it stands
        self._pairwise = Corrective(game, beta, "pairwise", self.active)
        self._target = target
        self.d = self._pairwise.d

    def advance(self, best: Best) -> bool:
        """Add the column `best` and re-weigh all of them."""
        active, inner = self.active, self._pairwise
        goal = 0.5 * max(active.gap(inner.d, best), self._target)
        inner.towards(best)
        while time.perf_counter() < self._deadline:
            best = active.best(inner.d)
            if active.gap(inner.d, best) <= goal:
                break
            inner.advance(best)
            if inner.step == 0.0:
                break
        self.d = inner.d
        return True


class TotallyCorrectiveLP:
    """Eq. 13 with β -> 0: (d, w) solve the linear program restricted to the columns seen so far.

    d_t is the distribution of least largest edge over those columns; the weak learner either
    finds a column with a larger edge or proves the restricted optimum to be the whole one.
    """

    inner = "lp"
    step = float("nan")

    def __init__(self, game: Game, active: ActiveSet | None = None) -> None:
        """Start where runs start, or from the columns with weight in `active`."""
        form = game.relaxation.linear_form(game.m)
        if form is None:
            raise InputError(
                f"{game.relaxation!r} is not polyhedral, so Eq. 13 has no linear program; "
                'use inner="smoothed"'
            )
        self.active = active_set(game, store=True) if active is None else active
        self._relaxation = game.relaxation
        self._master = RestrictedMaster(form, game.m, self.active.over)
        self._slots: list[int] = []  # of the rows of the program, in their order
        self.d = game.relaxation.center(game.m)
        for slot in np.flatnonzero(self.active.weights[: len(self.active)]).tolist():
            self._include(slot)
        if self._slots:
            self._solve()

    def advance(self, best: Best) -> bool:
        """Add the column `best` and solve again; False if the program has it already."""
        slot = self.active.slot(best)
        if slot in self._slots:
            return False
        self._include(slot)
        self._solve()
        return True

    def _include(self, slot: int) -> None:
        self._master.add(self.active.columns[:, slot])
        self._slots.append(slot)

    def _solve(self) -> None:
        d, multipliers = self._master.solve()
        self.d = self._relaxation.repair(d)  # the solver's d is feasible up to its tolerance
        weights = np.zeros(len(self.active))
        weights[self._slots] = multipliers
        self.active.set_weights(weights)
