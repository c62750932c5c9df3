"""GB11, Algorithm 1: the gradient itself is projected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relaxboost.functional.algorithms.base import Algorithm, Direction, Project

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Naive(Algorithm):
    """f_t = f_{t−1} − η_t (<h, ∇>/‖h‖²) h with the h nearest to ∇.

    It converges for smooth strongly convex risks (GB11, Theorem 3), and can be stuck on others.
    """

    def direction(self, gradient: Array, project: Project, t: int) -> Direction:
        """Return the projection of the gradient; see `Algorithm.direction`."""
        found = project(gradient)
        if found is None:
            return Direction((), np.zeros_like(gradient))
        return Direction((found,), found.point)
