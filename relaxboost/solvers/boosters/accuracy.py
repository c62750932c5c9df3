"""The accuracies at which boosters work, so that their runs end with a gap of at most tol."""

from __future__ import annotations

import math

from relaxboost.game.game import Game

ROUNDING_SHARE = 1e-9
"""The share of tol that is left for the outward rounding of the certified bounds."""

LARGEST_ACCURACY = 0.999
"""The largest accuracy ν. If ν is at least 1, w = 0 is accurate already, and artanh is infinite."""

INNER_SHARE = 0.01
"""The part of the accuracy of a run to which each round solves its inner problem.

An inner problem optimises the weights of a hull, or projects a distribution. The round bounds hold
for any share; a smaller one saves few rounds and makes each round longer."""


def working_accuracy(game: Game, tol: float) -> float:
    """Return the accuracy ν, for columns with entries in [-1, 1], that leads to a gap of `tol`.

    The atoms of the domain multiply the gap by their size, so ν is tol divided by this size. The
    slack of the weak learner is a part of every upper bound, so it is subtracted from tol before.

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
    # With a slack of tol or more no accuracy suffices; the run then ends at a limit of the user.
    remaining = (tol - slack if slack < tol else tol) * (1.0 - ROUNDING_SHARE)
    return min(max(remaining / game.over.value(1.0), 1e-300), LARGEST_ACCURACY)


def count_steps(spread: float, accuracy: float) -> float:
    """Return 2 `spread` / `accuracy`² rounded up, the number of steps in the margin theorems.

    `spread` is the range of the relative entropy over the distributions that f allows. It is log m
    for the hard margin, and log(m/k) for `Capped(k)`.
    """
    steps = 2.0 * spread / accuracy / accuracy
    # Beyond 2^53 every double is an integer already, and infinity has no integer.
    return math.ceil(steps) if steps < 2.0**53 else steps


def stage_steps(m: int, accuracy: float) -> float:
    """Return 2 log(m)/ν² rounded up, but at least 1: the steps of a stage with the accuracy ν."""
    # A single example has log m = 0, and still needs a step.
    return max(1.0, count_steps(math.log(m), accuracy))
