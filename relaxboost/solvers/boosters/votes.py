"""The game check and the weights that AdaBoost and AdaBoost* share."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost.game.domains import AtomicSet, L1Ball
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.relaxations import HardMargin
from relaxboost.solvers.boosters.exponential_risk import log_sum_exp
from relaxboost.solvers.boosters.starting_points import check_relaxation
from relaxboost.solvers.hypothesis import ActiveSet
from relaxboost.solvers.method import Method


@dataclass(frozen=True)
class HardMarginMethod(Method):
    """A base class for methods that solve only games with `HardMargin` over an `L1Ball`.

    The l1 norm of AdaBoost's weights w may exceed the radius r of the ball. Both bounds and the
    solution are computed from w scaled to the norm r.
    """

    cold = "always starts from w = 0"

    def check(self, game: Game) -> None:
        """Raise an InputError unless the game has `HardMargin` over an `L1Ball`."""
        purpose = "maximises the hard margin and accepts no relaxation"
        check_relaxation(self, game, (HardMargin,), purpose)
        if not isinstance(game.over, L1Ball):
            raise InputError(
                f"{type(self).__name__}() is for games over L1Ball(radius), but this game is over "
                f'{game.over!r}; use method="auto"'
            )


class Votes(ActiveSet):
    """The weights w of AdaBoost, unscaled and scaled to the radius r of the l1 ball.

    The attributes `weights` and `u` are the scaled weights r w/‖w‖_1 and their margins.
    """

    raw: Vector
    """The margins for the unscaled weights. Each round stores a new array."""
    norm: float
    """The l1 norm of the unscaled weights."""

    def __init__(self, game: Game) -> None:
        assert isinstance(game.over, AtomicSet)
        super().__init__(game.matrix, game.over, game.relaxation.center(game.m))
        self._votes = np.zeros(0)
        self.raw = np.zeros(game.m)
        self.norm = 0.0

    @property
    def log_risk(self) -> float:
        """The logarithm of AdaBoost's exponential risk for the unscaled weights."""
        return log_sum_exp(-self.raw) - math.log(self.raw.size)

    def vote(self, best: Best, eta: float, column: Vector) -> None:
        """Add the step `eta` to the unscaled weight of the hypothesis `best`.

        `column` contains its margins.
        """
        slot = self.slot(best)
        self._votes = np.append(self._votes, np.zeros(len(self) - self._votes.size))
        # The same column with the other sign loses weight first, because equal weights of both
        # signs cancel in w and must not count in ‖w‖_1.
        opposite = self._slots.get((best.id, -best.sign))
        taken = 0.0 if opposite is None else min(float(self._votes[opposite]), eta)
        if opposite is not None:
            self._votes[opposite] -= taken
        self._votes[slot] += eta - taken
        self._follow(self.raw + eta * column)

    def reduce_potential(self, rho: float) -> None:
        """Multiply w by the factor s in [0, 1] that minimises Σ exp(s (ρ‖w‖_1 − u_i)).

        The sum is over the examples i with the margins u_i, and ρ is `rho`.
        """
        # The theorem on AdaBoost* assumes that the sum is at most m at the start of a stage. For s
        # = 0 the sum is m, and s is 0 if the search finds no smaller sum.
        from scipy.optimize import minimize_scalar

        excess = rho * self.norm - self.raw
        found = minimize_scalar(
            lambda s: log_sum_exp(s * excess), bounds=(0.0, 1.0), method="bounded"
        )
        share = float(found.x) if found.fun < math.log(self.raw.size) else 0.0
        self._votes = share * self._votes
        self._follow(share * self.raw)

    def _follow(self, raw: Vector) -> None:
        self.raw = raw
        self.norm = float(self._votes.sum())
        # If w = 0, scaling does not change w, and the divisor must not be 0.
        divisor = self.norm if self.norm > 0.0 else 1.0
        self.weights = self._votes / divisor * self.over.scale
        self.u = raw / divisor * self.over.scale
