"""Functional-gradient boosting for any convex loss, after Grubb & Bagnell (2011), or GB11."""

from __future__ import annotations

from relaxboost.functional import algorithms, learners, losses
from relaxboost.functional.algorithms import *  # noqa: F403
from relaxboost.functional.boosting import boost
from relaxboost.functional.ensemble import Boosted, BoostRecord, Term
from relaxboost.functional.learners import *  # noqa: F403
from relaxboost.functional.losses import *  # noqa: F403
from relaxboost.functional.measure import Empirical
from relaxboost.functional.optimum import LossOptimum, optimum
from relaxboost.functional.rounds import BoostState, rounds
from relaxboost.functional.stopping import Stopping

__all__ = [
    "BoostRecord",
    "BoostState",
    "Boosted",
    "Empirical",
    "LossOptimum",
    "Stopping",
    "Term",
    "boost",
    "optimum",
    "rounds",
]
__all__ += algorithms.__all__
__all__ += learners.__all__
__all__ += losses.__all__
