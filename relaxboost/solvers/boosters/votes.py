"""The parts that AdaBoost and AdaBoost* share: the check of the game, and the sum of the steps."""

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
    """A method for games with `HardMargin` over an `L1Ball`.

    The steps of these methods add up to a w of any size. The bracket belongs to this w scaled to
    the size of the ball. A callback sees both (`RoundState`).
    """

    cold = "AdaBoost and AdaBoost* count their steps from w = 0"

    def check(self, game: Game) -> None:
        """Raise an InputError for a relaxation other than `HardMargin`, and for other domains."""
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
    """The sum w of AdaBoost's steps, and the same w scaled to the size of the ball.

    `weights` and the margins `u` belong to r w/‖w‖_1, which is a point of the game over
    `L1Ball(r)`. `raw` and `norm` belong to w itself.
    """

    raw: Vector
    """The margins A w of the unscaled w. Every round makes a new array."""
    norm: float
    """The norm ‖w‖_1 of the unscaled w. The scaled margins are u = r raw / norm."""

    def __init__(self, game: Game) -> None:
        assert isinstance(game.over, AtomicSet)
        super().__init__(game.matrix, game.over, game.relaxation.center(game.m))
        self._votes = np.zeros(16)
        self.raw = np.zeros(game.m)
        self.norm = 0.0

    @property
    def log_risk(self) -> float:
        """The logarithm of the exponential risk (1/m) Σ exp(−(Aw)_i) of the unscaled w."""
        return log_sum_exp(-self.raw) - math.log(self.raw.size)

    def vote(self, best: Best, eta: float, column: Vector) -> None:
        """Add `eta` times the signed column of `best` to w."""
        slot = self.slot(best)
        # Doubling the room makes the copies of all rounds as long as the last array.
        if slot >= self._votes.size:
            self._votes = np.concatenate([self._votes, np.zeros(self._votes.size)])
        # If w has the column with the other sign, that weight shrinks first. Otherwise the sum of
        # the weights would exceed ‖w‖_1.
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
        # The scaled w of w = 0 is w = 0.
        share = 1.0 if norm == 0.0 else norm
        weights = np.zeros(self._votes.size)
        weights[:used] = self._votes[:used] / share * self.over.scale
        self.raw = raw
        self.norm = norm
        self.weights = weights
        self.u = raw / share * self.over.scale
