"""Weak learners, which search a hypothesis class for the best hypothesis."""

from relaxboost.functional.learners.base import LEARNERS, Hypothesis, Pool, WeakLearner
from relaxboost.functional.learners.finite import FiniteSet
from relaxboost.functional.learners.regressor import Fitted, Networks, Regressor
from relaxboost.functional.learners.stumps import (
    ClassificationStumps,
    RegressionStumps,
    StumpHypothesis,
)
from relaxboost.functional.learners.trees import Tree, Trees

__all__ = [
    "LEARNERS",
    "ClassificationStumps",
    "FiniteSet",
    "Fitted",
    "Hypothesis",
    "Networks",
    "Pool",
    "RegressionStumps",
    "Regressor",
    "StumpHypothesis",
    "Tree",
    "Trees",
    "WeakLearner",
]
