"""Losses of regression: squared and absolute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from relaxboost.functional.losses.base import PointwiseLoss

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Squared(PointwiseLoss):
    """(f − y)²/2, with λ = Λ = 1."""

    task: ClassVar[str] = "regression"
    strong_convexity = 1.0
    smoothness = 1.0

    def pointwise(self, F: Array, y: Array) -> tuple[Array, Array]:
        """Return the values and the gradient f − y."""
        residual = F - y
        return residual * residual / 2.0, residual

    def atoms(self, F: Any, y: Array) -> Any:
        """Return the loss of each example as a cvxpy expression."""
        import cvxpy as cp

        return cp.square(F - y) / 2.0

    def conjugates(self, Z: Array, y: Array) -> Array:
        """Return z²/2 + z y."""
        return Z * Z / 2.0 + Z * y


@dataclass(frozen=True)
class Absolute(PointwiseLoss):
    """|f − y|; at f = y the subgradient is 0."""

    task: ClassVar[str] = "regression"
    gradient_bound = 1.0

    def pointwise(self, F: Array, y: Array) -> tuple[Array, Array]:
        """Return the values and sign(f − y)."""
        residual = F - y
        return np.abs(residual), np.sign(residual)

    def atoms(self, F: Any, y: Array) -> Any:
        """Return the loss of each example as a cvxpy expression."""
        import cvxpy as cp

        return cp.abs(F - y)

    def conjugates(self, Z: Array, y: Array) -> Array:
        """Return z y on [−1, 1]."""
        return np.where(np.abs(Z) <= 1.0, Z * y, np.inf)
