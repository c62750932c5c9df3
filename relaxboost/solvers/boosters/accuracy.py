"""The accuracy ν that a booster has to reach, and the number of steps until it is reached.

If a booster has the accuracy ν, the gap is at most tol, the gap that the user requested.
"""

from __future__ import annotations

import math

from relaxboost.game.game import Game
from relaxboost.solvers.stopping import RELATIVE_RESOLUTION

MAX_ACCURACY = 0.999
"""The largest accuracy ν that a booster uses, even if the user requests a larger gap. An accuracy
of 1 would be useless, because w = 0 already has this accuracy. AdaBoost* with ν = 1 could also take
a step of infinite length."""

INNER_ACCURACY_RATIO = 0.01
"""The accuracy of the optimisation problem inside a round, as a fraction of the accuracy of the
run.

A round of fully corrective Frank–Wolfe minimises over a convex hull of distributions. A round of
SoftBoost or TotalBoost computes an entropy projection, and the bounds on the rounds of these two
methods hold for every fraction. A smaller fraction would save few rounds, but make each round
slower.
"""


def working_accuracy(game: Game, tol: float) -> float:
    """Return the accuracy ν in (0, 0.999] that a booster needs for a gap of `tol`.

    The theorems about boosters assume a margin matrix with entries in [-1, 1] and weights in the
    unit l1 ball. Over a ball of radius r the gap is r times as large, so ν is tol/r.

    The slack of a weak learner is the largest amount by which the edge of the returned hypothesis
    may be below the best edge. Every upper bound contains r times the slack. The function therefore
    subtracts r times the slack from `tol` first, unless the difference would be zero or negative.
    """
    slack = game.over.value(game.matrix.slack)
    # With a slack of tol or more no accuracy suffices, and the run ends at a limit of the user.
    remaining = (tol - slack if slack < tol else tol) * (1.0 - RELATIVE_RESOLUTION)
    return min(max(remaining / game.over.value(1.0), 1e-300), MAX_ACCURACY)


def count_steps(spread: float, accuracy: float) -> float:
    """Return the number of steps after which a booster has a given accuracy ν.

    The number is 2 `spread` / ν², rounded up, by the theorems on AdaBoost*, TotalBoost and
    SoftBoost. The argument `accuracy` is ν, and `spread` is the range of the relative entropy over
    the distributions at which the relaxation is finite: log m for the hard margin, and log(m/k) for
    `Capped(k)`.
    """
    steps = 2.0 * spread / accuracy / accuracy
    # Beyond 2^53 every double is an integer already, and infinity has no integer.
    return math.ceil(steps) if steps < 2.0**53 else steps


def stage_steps(m: int, accuracy: float) -> float:
    """Return the maximum number of steps that AdaBoost* takes in a stage with the accuracy ν.

    A stage consists of the rounds in which AdaBoost* uses the same accuracy ν. The number of steps
    is 2 log(m)/ν² for m examples, rounded up, and at least 1.
    """
    # A single example has log m = 0, and still needs a step.
    return max(1.0, count_steps(math.log(m), accuracy))
