"""What AdaBoost and AdaBoost* share: their games, and the w that their steps add up to."""

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
    """A method for `HardMargin` over an `L1Ball` only, which solves no smoothed problem.

    The bracket belongs to w scaled to the size of the ball; the callback sees the unscaled w
    (`RoundState`).
    """

    cold = "AdaBoost and AdaBoost* count their steps from w = 0"

    def check(self, game: Game) -> None:
        """Raise an InputError for relaxations and other domains."""
        what = f"{type(self).__name__}()"
        if not isinstance(game.relaxation, HardMargin):
            raise InputError(
                f"{what} maximises the hard margin and knows no relaxation, and this game has "
                f'{game.relaxation!r}; use method="auto", or the game without its relaxation'
            )
        if not isinstance(game.over, L1Ball):
            raise InputError(
                f"{what} is for games over L1Ball(radius), and this one is over {game.over!r}; "
                'use method="auto", or play over L1Ball(radius)'
            )


class Votes(ActiveSet):
    """The w of AdaBoost, to which steps are added, and the same w scaled to the size of the ball.

    `weights` and the margins `u` belong to r w/‖w‖_1, a point of the game over `L1Ball(r)`;
    `raw` and `norm` belong to w itself.
    """

    raw: Vector
    """The margins A w of the unscaled w; a new array each round."""
    norm: float
    """‖w‖_1 of the unscaled w, so that u = r raw / norm."""

    def __init__(self, game: Game) -> None:
        assert isinstance(game.over, AtomicSet)
        super().__init__(game.matrix, game.over, game.relaxation.center(game.m))
        self._votes = np.zeros(16)
        self.raw = np.zeros(game.m)
        self.norm = 0.0

    @property
    def log_risk(self) -> float:
        """log L(−Aw) = log (1/m) Σ exp(−(Aw)_i) of the unscaled w."""
        return log_sum_exp(-self.raw) - math.log(self.raw.size)

    def vote(self, best: Best, eta: float, column: Vector) -> None:
        """Add `eta` times the signed column of `best` to w."""
        slot = self.slot(best)
        if slot >= self._votes.size:
            self._votes = np.concatenate([self._votes, np.zeros(self._votes.size)])
        # A column that was taken with the other sign loses weight first: ‖w‖_1 is that of the sum.
        opposite = self._slots.get((best.id, -best.sign))
        taken = 0.0 if opposite is None else min(float(self._votes[opposite]), eta)
        if opposite is not None:
            self._votes[opposite] -= taken
        self._votes[slot] += eta - taken
        self._follow(self.raw + eta * column)

    def shrink(self, share: float) -> None:
        """Multiply w by a number in [0, 1]."""
        self._votes = share * self._votes
        self._follow(share * self.raw)

    def _follow(self, raw: Vector) -> None:
        """Recompute the norm, and the scaled weights and margins, from the votes."""
        used = len(self)
        norm = float(self._votes[:used].sum())
        share = 1.0 if norm == 0.0 else norm
        weights = np.zeros(self._votes.size)
        weights[:used] = self._votes[:used] / share * self.over.scale
        self.raw = raw
        self.norm = norm
        self.weights = weights
        self.u = raw / share * self.over.scale
