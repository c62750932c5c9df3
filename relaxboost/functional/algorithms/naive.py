"""GB11, Algorithm 1: the gradient itself is projected."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost.functional.algorithms.base import Algorithm, Direction, Project
from relaxboost.functional.learners import WeakLearner
from relaxboost.functional.losses import Risk


@dataclass(kw_only=True, eq=False, repr=False)
class Naive(Algorithm):
    """Step along the hypothesis nearest to the gradient, and drop what it leaves over.

    f_t = f_{t−1} − η_t (<h, ∇>/‖h‖²) h. It converges for smooth strongly convex risks (GB11,
    Theorem 3), and can be stuck on others. For its options see `Algorithm`.
    """

    name = "naive"

    def default_step(self, risk: Risk, learner: WeakLearner) -> str:
        """Return "1/Lambda" where the risk is smooth (Theorem 3)."""
        return "1/Lambda" if risk.smoothness < math.inf else "1/sqrt(t)"

    def direction(self, gradient: Array, project: Project, t: int) -> Direction:
        found = project(gradient)
        if found is None:
            return Direction((), np.zeros_like(gradient))
        return Direction((found,), found.point)
