"""The check of the game and the weights w that AdaBoost and AdaBoost* share."""

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
from relaxboost.solvers.hypothesis import ActiveSet
from relaxboost.solvers.method import Method


@dataclass(frozen=True)
class HardMarginMethod(Method):
    """A base class of methods that solve only games with `HardMargin` over an `L1Ball`.

    The weights w of AdaBoost leave the ball. Both bounds and the solution belong to w scaled to
    the size of the ball. A callback also sees the w without scaling (`RoundState`).
    """

    cold = "starts from w = 0"

    def check(self, game: Game) -> None:
        """Raise an InputError if the game has a relaxation or is not over an `L1Ball`."""
        what = f"{type(self).__name__}()"
        if not isinstance(game.relaxation, HardMargin):
            raise InputError(
                f"{what} maximises the hard margin and accepts no relaxation, and this game has "
                f'{game.relaxation!r}; use method="auto"'
            )
        if not isinstance(game.over, L1Ball):
            raise InputError(
                f"{what} is for games over L1Ball(radius), and this one is over {game.over!r}; "
                'use method="auto"'
            )


class Votes(ActiveSet):
    """The weights w of AdaBoost, and the same weights scaled to the size of the ball.

    The attributes `weights` and `u` belong to the scaled weights r w/‖w‖_1, a point of the domain
    `L1Ball(r)`. The attributes `raw` and `norm` belong to w itself.
    """

    raw: Vector
    """The margins A w of the weights w without scaling. Each round has a new array."""
    norm: float
    """The l1 norm of w without scaling, so u = r · raw / norm."""

    def __init__(self, game: Game) -> None:
        assert isinstance(game.over, AtomicSet)
        super().__init__(game.matrix, game.over, game.relaxation.center(game.m))
        self._votes = np.zeros(0)
        self.raw = np.zeros(game.m)
        self.norm = 0.0

    @property
    def log_risk(self) -> float:
        """The logarithm of the exponential risk (1/m) Σ exp(−(Aw)_i) of w without scaling."""
        return log_sum_exp(-self.raw) - math.log(self.raw.size)

    def vote(self, best: Best, eta: float, column: Vector) -> None:
        """Add `eta` to the weight of the hypothesis `best`, whose signed column is `column`."""
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

    def shrink(self, share: float) -> None:
        """Multiply w by a number `share` in [0, 1]."""
        self._votes = share * self._votes
        self._follow(share * self.raw)

    def _follow(self, raw: Vector) -> None:
        """Recompute the norm and the scaled weights and margins from w and its margins `raw`."""
        self.raw = raw
        self.norm = float(self._votes.sum())
        # The weights w = 0 have no direction, and scaling leaves them 0.
        divisor = self.norm if self.norm > 0.0 else 1.0
        self.weights = self._votes / divisor * self.over.scale
        self.u = raw / divisor * self.over.scale
