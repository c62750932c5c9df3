"""The accuracy ν with which the boosters with a margin guarantee reach a requested gap."""

from __future__ import annotations

import math

from relaxboost.game.game import Game

ROUNDING_SHARE = 1e-9
"""The fraction of tol that is kept for rounding. The certified bounds are rounded outwards, and
without this reserve the rounding alone could keep the gap above tol."""


def working_accuracy(game: Game, tol: float) -> float:
    """Return the accuracy ν with which a booster must work to reach a gap of `tol`.

    The margin theorems hold for hypotheses of size 1, so ν is tol divided by the size of the
    game's hypotheses. If the weak learner may miss the best edge by some slack, every upper bound
    contains the slack, and only the rest of tol remains for ν.

    Parameters
    ----------
    game : Game
    tol : float
        The requested gap, > 0.

    Returns
    -------
    float
        ν in (0, 0.999].
    """
    slack = game.over.value(game.matrix.slack)
    # With a slack of tol or more no ν reaches the gap, and the slack is ignored.
    remaining = (tol - slack if slack < tol else tol) * (1.0 - ROUNDING_SHARE)
    # For ν >= 1 the weights w = 0 reach the gap, and the steps of AdaBoost* would be infinite.
    return min(max(remaining / game.over.value(1.0), 1e-300), 0.999)


def count_steps(spread: float, accuracy: float) -> float:
    """Return 2 R/ν² rounded up, the number of steps after which the margin theorems hold.

    Parameters
    ----------
    spread : float
        R, the range of the relative entropy over the allowed distributions: log m for the hard
        margin of m examples, and log(m/k) for `Capped(k)`.
    accuracy : float
        The accuracy ν.
    """
    steps = 2.0 * spread / accuracy / accuracy
    # Doubles of 2^53 or more are whole numbers, and infinity cannot be rounded.
    return math.ceil(steps) if steps < 2.0**53 else steps
