"""Boosting any convex loss: restricted gradient descent in function space (GB11)."""

from __future__ import annotations

from relaxboost.functional.algorithms import Algorithm, Naive, Repeated, Residual
from relaxboost.functional.boosting import boost
from relaxboost.functional.ensemble import Boosted, Record, Term
from relaxboost.functional.learners import (
    ClassificationStumps,
    FiniteSet,
    Hypothesis,
    MulticlassStumps,
    Networks,
    Pool,
    RegressionStumps,
    Regressor,
    Trees,
    WeakLearner,
)
from relaxboost.functional.losses import Absolute, Loss, PointwiseLoss, Risk, Squared
from relaxboost.functional.measure import Empirical
from relaxboost.functional.rounds import State, rounds

__all__ = [
    "Absolute",
    "Algorithm",
    "Boosted",
    "ClassificationStumps",
    "Empirical",
    "FiniteSet",
    "Hypothesis",
    "Loss",
    "MulticlassStumps",
    "Naive",
    "Networks",
    "PointwiseLoss",
    "Pool",
    "Record",
    "RegressionStumps",
    "Regressor",
    "Repeated",
    "Residual",
    "Risk",
    "Squared",
    "State",
    "Term",
    "Trees",
    "WeakLearner",
    "boost",
    "rounds",
]
