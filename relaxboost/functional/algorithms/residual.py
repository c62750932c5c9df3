"""GB11, Algorithm 3: what a projection leaves over is added to the next gradient."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost.functional.algorithms.base import Algorithm, Direction, Project


@dataclass(kw_only=True, eq=False, repr=False)
class Residual(Algorithm):
    """Step along the hypothesis nearest to Δ: the gradient and what earlier rounds left over.

    Δ ← Δ + ∇; f_t = f_{t−1} − η_t (<h, Δ>/‖h‖²) h; Δ ← Δ − (<h, Δ>/‖h‖²) h.

    For its options see `Algorithm`.
    """

    name = "residual"

    residual: Array | None = field(default=None, init=False)
    """Δ after the last round."""

    def direction(self, gradient: Array, project: Project, t: int) -> Direction:
        """Return the projection of gradient and residual; see `Algorithm.direction`."""
        total = gradient.copy() if self.residual is None else self.residual + gradient
        found = project(total)
        self.residual = total
        if found is None:
            # A residual may cancel what H can see of a gradient; the next round has it once more.
            waits = project(gradient) is not None
            return Direction((), np.zeros_like(gradient), waits)
        total -= found.point
        return Direction((found,), found.point)

    def fresh(self, after: Algorithm | None = None) -> Residual:
        """Return the algorithm with Δ = 0, or with the Δ of another run."""
        made = copy.copy(self)
        made.residual = after.residual if isinstance(after, Residual) else None
        return made
