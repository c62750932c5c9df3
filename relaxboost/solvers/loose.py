"""Pairwise steps for a loose tolerance: they smooth as much as the gap allows, and extrapolate."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.matrices import kernels
from relaxboost.solvers.boosters.corrective import CorrectiveRun, active_set
from relaxboost.solvers.hypothesis import ActiveSet
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.smoothing import Smoother
from relaxboost.solvers.steps import Segment, line_search

EASY = 8.0
"""How many times the β that costs tol/2 at most is the first: a power of 1/`_CUT`, so that cuts end
there. It hardly ever costs a tenth of what it may."""
EASIER = 32.0
"""The same for an f that is an entropy itself, beside which smoothing is little."""
_CUT = 0.5
"""The part of β that is left where smoothing costs more than the gap."""
_SWEEP = 50
"""Steps between two that go on in the direction of all of them."""
_ACCURACY = 0.25
"""The part of its slope at which the search for such a step ends."""
_NOTHING = 1e-12
"""The part of a weight, or of a change, that rounding leaves."""


class LooseRun(CorrectiveRun):
    """Pairwise steps to a smoothed gap of `target`, most of them over the columns in use.

    The certified gap is that of the smoothed problem and what smoothing costs at the present
    point, at most β R with R the range of the entropy. Rounds grow like 1/β. So β begins large,
    and is halved where it costs more than steps are still to gain, down to what the bound allows.
    After many short steps one goes on in the direction of all of them together, as far as that
    gains: columns that are nearly equal, as neighbouring stumps, take turns for long.
    """

    between = 0
    """Steps over the columns in use, at most, between two passes over all."""
    least = inf
    """The β at which smoothing costs no more than it may; inf where the first β stays."""

    def __init__(
        self, game: Game, beta: float, smoother: Smoother, target: float, clock: Clock
    ) -> None:
        super().__init__(game, beta, "pairwise", smoother, active_set(game))
        self._game, self._clock, self._target = game, clock, target
        self._smoother = smoother
        self._settled = self._since = 0
        self._lower, self._upper = -inf, inf
        self._mark: tuple[Vector, Vector] | None = None  # weights and margins at the last sweep

    def _smooth(self, beta: float) -> None:
        self._beta, self._project = beta, self._smoother.projector(beta)
        self._stretches = dict.fromkeys(self._stretches, 1.0)
        self.d, self.edges = self._project(self.active.u), None

    def certified(self) -> float:
        """Note the bracket of the round, and return the gap of the best points so far."""
        lower, upper = self.bracket
        self._lower, self._upper = max(self._lower, lower), min(self._upper, upper)
        return self._upper - self._lower

    @property
    def eased(self) -> bool:
        """Whether smoothing may cost more than half of tol."""
        return self._beta > self.least

    @property
    def idle(self) -> bool:
        """Whether no w so far is better than w = 0, so that nothing but smoothing bounds it."""
        return self._lower <= 0.0

    def _stuck(self, best: Any) -> bool:
        """Leave the end to what takes over."""
        return False

    def advance(self, best: Any) -> Booster | None:
        """Take a step, and some over the columns in use."""
        if self.least == inf:
            return super().advance(best)
        gap = self.active.gap(self.d, best)
        dear = self.eased and self.certified() > 2.0 * gap
        super().advance(best)
        goal = 0.5 * max(gap, self._target)
        self._settled = self.settle(goal, self._clock, self.between) if self.between else 0
        self._since += 1 + self._settled
        if dear:
            self._smooth(_CUT * self._beta)
        if self._since >= _SWEEP:
            self._since = 0
            self._go_on()
        return self

    def _go_on(self) -> None:
        """Take the best step in the direction of all since the last such step."""
        active, before = self.atoms, self._mark
        weights = active.weights[: len(active)]
        if before is not None:
            moved = weights.copy()
            moved[: before[0].size] -= before[0]
            v = active.u - before[1]
            slope, stretch = kernels.dot(self.d, v), self._stretches.get("on", 1.0)
            segment = Segment(active.u, v, slope, _room(active, weights, moved))
            self._found = line_search(self._project, self._beta, segment, _ACCURACY, stretch)
            eta = self._step_of("on")
            after = weights + eta * moved
            weights[:] = np.where(after > _NOTHING * weights, after, 0.0)
            active.u = self._margins(eta, v)
            self._reweigh()
        self._mark = weights.copy(), active.u


def _room(active: ActiveSet, weights: Vector, moved: Vector) -> float:
    """Return how many times weights may move so again, until one is 0 or there is too much."""
    falls, rise = moved < 0.0, float(moved.sum())
    longest = float((weights[falls] / -moved[falls]).min(initial=1e9))
    if active.over.holds_zero and rise > _NOTHING * float(np.abs(moved).sum()):
        longest = min(longest, max(active.over.scale - float(weights.sum()), 0.0) / rise)
    return longest
