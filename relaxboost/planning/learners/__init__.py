"""Learners of linear costs, one file each."""

from relaxboost.planning.learners.base import Learner, Step
from relaxboost.planning.learners.bundle import bundle

METHODS: dict[str, Learner] = {"bundle": bundle}

__all__ = ["METHODS", "Learner", "Step", "bundle"]
