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
from relaxboost.functional.losses import (
    Absolute,
    CustomLoss,
    Exponential,
    Hinge,
    Huber,
    Logistic,
    Loss,
    MulticlassHinge,
    MulticlassLoss,
    MultinomialLogistic,
    PointwiseLoss,
    Quantile,
    RankingHinge,
    Risk,
    SmoothHinge,
    Squared,
)
from relaxboost.functional.measure import Empirical
from relaxboost.functional.optimum import Optimum, optimum
from relaxboost.functional.rounds import State, rounds

__all__ = [
    "Absolute",
    "Algorithm",
    "Boosted",
    "ClassificationStumps",
    "CustomLoss",
    "Empirical",
    "Exponential",
    "FiniteSet",
    "Hinge",
    "Huber",
    "Hypothesis",
    "Logistic",
    "Loss",
    "MulticlassHinge",
    "MulticlassLoss",
    "MulticlassStumps",
    "MultinomialLogistic",
    "Naive",
    "Networks",
    "Optimum",
    "PointwiseLoss",
    "Pool",
    "Quantile",
    "RankingHinge",
    "Record",
    "RegressionStumps",
    "Regressor",
    "Repeated",
    "Residual",
    "Risk",
    "SmoothHinge",
    "Squared",
    "State",
    "Term",
    "Trees",
    "WeakLearner",
    "boost",
    "optimum",
    "rounds",
]
