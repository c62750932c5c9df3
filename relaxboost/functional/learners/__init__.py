"""Weak learners: hypothesis classes, each with a fast way to search it."""

from relaxboost.functional.learners.base import Hypothesis, Pool, WeakLearner
from relaxboost.functional.learners.finite import FiniteSet
from relaxboost.functional.learners.networks import Network, Networks
from relaxboost.functional.learners.regressor import Fitted, Regressor
from relaxboost.functional.learners.stumps import (
    ClassificationStumps,
    MulticlassStumps,
    RegressionStumps,
    Stump,
)
from relaxboost.functional.learners.trees import Tree, Trees

__all__ = [
    "ClassificationStumps",
    "FiniteSet",
    "Fitted",
    "Hypothesis",
    "MulticlassStumps",
    "Network",
    "Networks",
    "Pool",
    "RegressionStumps",
    "Regressor",
    "Stump",
    "Tree",
    "Trees",
    "WeakLearner",
]
