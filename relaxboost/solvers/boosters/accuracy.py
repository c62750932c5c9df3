"""The accuracy ν at which a booster with a margin guarantee reaches a gap of tol."""

from __future__ import annotations

import math

from relaxboost.game.game import Game

ROUNDING_SHARE = 1e-9
"""The share of tol that is left for the outward rounding of the certified bounds."""

LARGEST_ACCURACY = 0.999
"""The largest ν in use. At 1 and above w = 0 is accurate already, and artanh would be infinite."""


def working_accuracy(game: Game, tol: float) -> float:
    """Return the ν, for columns with entries in [-1, 1], at which a run ends with a gap of `tol`.

    The slack of a weak learner is part of every upper bound, and so of the gap: ν is what remains
    of tol, divided by the size of the atoms.

    Parameters
    ----------
    game : Game
    tol : float
        The gap to reach, > 0.

    Returns
    -------
    float
        ν in (0, 0.999].
    """
    slack = game.over.value(game.matrix.slack)
    remaining = (tol - slack if slack < tol else tol) * (1.0 - ROUNDING_SHARE)
    return min(max(remaining / game.over.value(1.0), 1e-300), LARGEST_ACCURACY)


def count_steps(spread: float, accuracy: float) -> float:
    """Return 2 `spread` / `accuracy`² rounded up, the number of steps of the margin theorems.

    `spread` is the range of the relative entropy over the distributions, log m or log(m/k).
    """
    steps = 2.0 * spread / accuracy / accuracy
    return math.ceil(steps) if steps < 2.0**53 else steps
