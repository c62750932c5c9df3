"""GB11, Algorithm 2: the gradient is projected again and again, t times in round t."""

from __future__ import annotations

import math
from dataclasses import dataclass

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost.functional.algorithms.base import Algorithm, Direction, Project, Projected
from relaxboost.functional.learners import WeakLearner
from relaxboost.functional.losses import Risk

_MOST = 1000
"""Projections in a round with a threshold."""
_PROGRESS = 1e-6
"""Edge below which a projection shortens what is left by less than 1e-12 of itself."""


@dataclass(kw_only=True, eq=False, repr=False)
class Repeated(Algorithm):
    """Project the gradient, then what is left of it, and so on: t times in round t.

    f_t = f_{t−1} − η_t Σ_k (<h_k, ∇'>/‖h_k‖²) h_k, where ∇' is what is left of the gradient. It
    loses the step that was taken, ∇' ← ∇' − (<h_k, ∇'>/‖h_k‖²) h_k. The paper prints ∇' − h_k, with
    which its theorems fail unless h_k is the nearest point.

    Parameters
    ----------
    step, scale, projection, iterate
        See `Algorithm`.
    threshold : float, optional
        In (0, 1). Instead of t projections in round t, as many as it takes for ‖∇'‖ to fall to
        this share of ‖∇‖ (GB11, Sec. 4.2, last paragraph on Theorem 5).
    most : int, optional
        Projections in a round at most; with a threshold, which H may be unable to reach, 1000 by
        default.
    """

    name = "repeated"

    threshold: float | None = None
    most: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.threshold is not None and not 0.0 < self.threshold < 1.0:
            raise InputError(f"threshold must lie in (0, 1), got {self.threshold!r}")
        if self.most is not None and self.most < 1:
            raise InputError(f"most must be a whole number >= 1, got {self.most!r}")

    def default_step(self, risk: Risk, learner: WeakLearner) -> str:
        """Return "2/(lambda t)" where the risk is strongly convex (Theorem 4)."""
        return "2/(lambda t)" if risk.strong_convexity > 0.0 else "1/sqrt(t)"

    def direction(self, gradient: Array, project: Project, t: int) -> Direction:
        """Return the sum of the projections; see `Algorithm.direction`."""
        left, share = gradient.copy(), 1.0
        goal = 0.0 if self.threshold is None else self.threshold
        count = min(t, self.most or t) if self.threshold is None else self.most or _MOST
        parts: list[Projected] = []
        while len(parts) < count and share > goal:
            found = project(left)
            if found is None or found.edge < _PROGRESS:
                break
            parts.append(found)
            left -= found.point
            share *= math.sqrt(max(0.0, 1.0 - found.edge**2))  # ‖∇'‖/‖∇‖, by Pythagoras
        return Direction(tuple(parts), gradient - left)
