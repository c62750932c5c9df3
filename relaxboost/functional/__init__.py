"""Boosting any convex loss: restricted gradient descent in function space (GB11)."""

from __future__ import annotations

from relaxboost.functional.algorithms import Algorithm, Naive, Repeated, Residual
from relaxboost.functional.boosting import boost
from relaxboost.functional.ensemble import Boosted, Record, Term
from relaxboost.functional.learners import FiniteSet, Hypothesis, Pool, WeakLearner
from relaxboost.functional.losses import Absolute, Loss, PointwiseLoss, Risk, Squared
from relaxboost.functional.measure import Empirical
from relaxboost.functional.rounds import State, rounds

__all__ = [
    "Absolute",
    "Algorithm",
    "Boosted",
    "Empirical",
    "FiniteSet",
    "Hypothesis",
    "Loss",
    "Naive",
    "PointwiseLoss",
    "Pool",
    "Record",
    "Repeated",
    "Residual",
    "Risk",
    "Squared",
    "State",
    "Term",
    "WeakLearner",
    "boost",
    "rounds",
]
