"""GB11, Algorithm 2: the gradient is projected again and again, t times in round t."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relaxboost.errors import InputError
from relaxboost.functional.algorithms.base import Algorithm, Direction, Project, Projected

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Repeated(Algorithm):
    """f_t = f_{t−1} − η_t Σ_k (<h_k, ∇'>/‖h_k‖²) h_k, where ∇' is what is left of the gradient.

    The residual loses the step that was taken, ∇' ← ∇' − (<h_k, ∇'>/‖h_k‖²) h_k; the paper prints
    ∇' − h_k, with which its theorems fail.

    Parameters
    ----------
    threshold : float, optional
        In (0, 1). Instead of t projections in round t, as many as it takes for ‖∇'‖ to fall to
        this share of ‖∇‖ (GB11, Sec. 4.2, last paragraph on Theorem 5).
    most : int, optional
        Projections in a round at most, with or without a threshold.
    """

    threshold: float | None = None
    most: int | None = None

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0.0 < self.threshold < 1.0:
            raise InputError(f"threshold must lie in (0, 1), got {self.threshold!r}")
        if self.most is not None and self.most < 1:
            raise InputError(f"most must be a whole number >= 1, got {self.most!r}")

    def direction(self, gradient: Array, project: Project, t: int) -> Direction:
        """Return the sum of the projections; see `Algorithm.direction`."""
        left = gradient.copy()
        goal = -1.0 if self.threshold is None else self.threshold * float(np.linalg.norm(gradient))
        count = self.most if self.threshold is not None else min(t, self.most or t)
        parts: list[Projected] = []
        while (count is None or len(parts) < count) and float(np.linalg.norm(left)) > goal:
            found = project(left)
            if found is None or found.coefficient == 0.0:
                break
            parts.append(found)
            left -= found.point
        return Direction(tuple(parts), gradient - left)
