"""The accuracy ν that a booster needs, and the number of steps to reach it.

With the accuracy ν, the gap is at most the requested gap tol.
"""

from __future__ import annotations

import math

from relaxboost.game.game import Game
from relaxboost.solvers.stopping import RELATIVE_RESOLUTION

MAX_ACCURACY = 0.999
# With an accuracy of 1, w = 0 would be accurate, and AdaBoost* could take a step of infinite
# length.
"""The largest accuracy ν that a booster uses, even for a larger requested gap."""

INNER_ACCURACY_RATIO = 0.01
# Used for the convex hulls of fully corrective Frank–Wolfe and for the entropy projections of
# SoftBoost and TotalBoost, whose bounds on the rounds hold for every fraction. A smaller fraction
# would save few rounds, but make each round slower.
"""The accuracy of the optimisation within a round, as a fraction of the run's accuracy."""


def working_accuracy(game: Game, tol: float) -> float:
    """Return the accuracy ν in (0, 0.999] that a booster needs for a gap of `tol`.

    The theorems assume a margin matrix with entries in [-1, 1] and weights in the unit l1 ball.
    Over a ball of radius r, the gap is r times as large, so ν is tol/r.

    A weak learner may miss the best edge by its slack, which adds r times the slack to every upper
    bound. The function subtracts this amount from `tol` if the difference is positive.
    """
    slack = game.over.value(game.matrix.slack)
    # With a slack of tol or more no accuracy suffices, and the run ends at a limit of the user.
    remaining = (tol - slack if slack < tol else tol) * (1.0 - RELATIVE_RESOLUTION)
    return min(max(remaining / game.over.value(1.0), 1e-300), MAX_ACCURACY)


def count_steps(spread: float, accuracy: float) -> float:
    """Return the number of steps after which a booster has the accuracy ν.

    The number is 2 `spread` / ν², rounded up, by the theorems on AdaBoost*, TotalBoost and
    SoftBoost. `spread` is the range of the relative entropy over the distributions at which the
    relaxation is finite: log m for the hard margin, and log(m/k) for `Capped(k)`.
    """
    steps = 2.0 * spread / accuracy / accuracy
    # Beyond 2^53 every double is an integer already, and infinity has no integer.
    return math.ceil(steps) if steps < 2.0**53 else steps


def stage_steps(m: int, accuracy: float) -> float:
    """Return the maximum number of steps of AdaBoost* with the accuracy ν.

    The number is 2 log(m)/ν² for m examples, rounded up, and at least 1.
    """
    # A single example has log m = 0, and still needs a step.
    return max(1.0, count_steps(math.log(m), accuracy))
