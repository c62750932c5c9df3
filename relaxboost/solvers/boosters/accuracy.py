"""The accuracies that boosters use internally, and the number of steps that suffice for them.

If a booster reaches its accuracy, the gap between the bounds on the value of the game is at most
tol.
"""

from __future__ import annotations

import math

from relaxboost.game.game import Game

ROUNDING_SHARE = 1e-9
"""The share of tol that is reserved for rounding errors. The certified bounds are rounded outwards,
which makes the gap between them slightly larger."""

LARGEST_ACCURACY = 0.999
"""The largest accuracy ν of a booster. With ν = 1 the weights w = 0 would be accurate enough, and
the steps of AdaBoost*, which use artanh, could be infinite."""

INNER_SHARE = 0.01
"""The accuracy of the inner problem of a round, divided by the accuracy of the whole run.

The inner problem of fully corrective Frank–Wolfe optimises the weights of the distributions in a
hull. The inner problem of SoftBoost is the entropy projection. The bounds on the rounds hold for
any share. A smaller share saves few rounds and makes each round longer."""


def working_accuracy(game: Game, tol: float) -> float:
    """Return the accuracy ν that a booster needs for a gap of `tol`.

    The theorems state ν for columns with entries in [-1, 1] and atoms of size 1. With atoms of size
    r the gap is r times as large, so ν is tol/r. Every upper bound contains the slack of the weak
    learner. The function therefore subtracts the slack from tol first.

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
    # With a slack of tol or more no accuracy suffices, and the run ends at a limit of the user.
    remaining = (tol - slack if slack < tol else tol) * (1.0 - ROUNDING_SHARE)
    return min(max(remaining / game.over.value(1.0), 1e-300), LARGEST_ACCURACY)


def count_steps(spread: float, accuracy: float) -> float:
    """Return 2 `spread` / `accuracy`² rounded up.

    By the theorems on AdaBoost*, TotalBoost and SoftBoost, this number of steps suffices. `spread`
    is the range of the relative entropy over the distributions that the relaxation f allows. It is
    log m for the hard margin with m examples, and log(m/k) for `Capped(k)`.
    """
    steps = 2.0 * spread / accuracy / accuracy
    # Beyond 2^53 every double is an integer already, and infinity has no integer.
    return math.ceil(steps) if steps < 2.0**53 else steps


def stage_steps(m: int, accuracy: float) -> float:
    """Return the largest number of steps that a stage of AdaBoost* with the accuracy ν can take.

    The number is 2 log(m)/ν² for m examples, rounded up, and at least 1.
    """
    # A single example has log m = 0, and still needs a step.
    return max(1.0, count_steps(math.log(m), accuracy))
