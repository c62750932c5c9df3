"""Weak learners: hypothesis classes, each with a fast way to search it."""

from relaxboost.functional.learners.base import Hypothesis, Pool, WeakLearner
from relaxboost.functional.learners.finite import FiniteSet

__all__ = ["FiniteSet", "Hypothesis", "Pool", "WeakLearner"]
