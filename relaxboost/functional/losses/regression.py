"""The squared, absolute, quantile and Huber losses for regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import positive, share
from relaxboost.functional.losses.base import PointwiseLoss
from relaxboost.functional.losses.leaves import means, quantiles, roots, sums


@dataclass(frozen=True)
class Squared(PointwiseLoss):
    """The squared loss (f − y)²/2 of a prediction f for a target y.

    Its strong convexity λ and smoothness Λ are 1.
    """

    name = "squared"
    task: ClassVar[str] = "regression"
    of_differences = True
    strong_convexity = 1.0
    smoothness = 1.0

    def pointwise(self, F: Array, y: Array) -> tuple[Array, Array]:
        residual = F - y
        return residual * residual / 2.0, residual

    def minimisers(self, F: Array, y: Array, p: Array, leaf: Whole, leaves: int) -> Array:
        return means(leaf, p, y - F, leaves)

    def atoms(self, F: Any, y: Array) -> Any:
        return cp.square(F - y) / 2.0

    def conjugates(self, Z: Array, y: Array) -> Array:
        return Z * Z / 2.0 + Z * y


@dataclass(frozen=True)
class Absolute(PointwiseLoss):
    """The absolute loss |f − y| of a prediction f for a target y. The subgradient at f = y is 0."""

    name = "absolute"
    task: ClassVar[str] = "regression"
    of_differences = True
    slopes = (-1.0, 1.0)

    def pointwise(self, F: Array, y: Array) -> tuple[Array, Array]:
        residual = F - y
        return np.abs(residual), np.sign(residual)

    def minimisers(self, F: Array, y: Array, p: Array, leaf: Whole, leaves: int) -> Array:
        return quantiles(y - F, p, 0.5 * sums(leaf, p, leaves), leaf)

    def atoms(self, F: Any, y: Array) -> Any:
        return cp.abs(F - y)

    def conjugates(self, Z: Array, y: Array) -> Array:
        return np.where(np.abs(Z) <= 1.0, Z * y, np.inf)


@dataclass(frozen=True)
class Quantile(PointwiseLoss):
    """The quantile loss max(q (y − f), (1 − q) (f − y)) of a prediction f for a target y.

    The best constant prediction is the q-quantile of the targets. At f = y the subgradient is 0.

    Parameters
    ----------
    q : float
        The quantile level, in (0, 1). For q = 1/2 the loss is half the absolute loss.

    References
    ----------
    Koenker & Bassett (1978), Regression quantiles, Eq. (1.6).
    """

    q: float = 0.5
    name = "quantile"
    task: ClassVar[str] = "regression"
    of_differences = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "q", share("q", self.q))

    @property
    def slopes(self) -> tuple[float, float]:  # type: ignore[override]
        """The smallest and largest slope, −q and 1 − q."""
        return -self.q, 1.0 - self.q

    def pointwise(self, F: Array, y: Array) -> tuple[Array, Array]:
        residual = F - y
        slopes = ((residual > 0.0) - self.q) * (residual != 0.0)  # This is faster than np.where.
        return slopes * residual, slopes

    def minimisers(self, F: Array, y: Array, p: Array, leaf: Whole, leaves: int) -> Array:
        return quantiles(y - F, p, self.q * sums(leaf, p, leaves), leaf)

    def atoms(self, F: Any, y: Array) -> Any:
        return cp.maximum(self.q * (y - F), (1.0 - self.q) * (F - y))

    def conjugates(self, Z: Array, y: Array) -> Array:
        return np.where((-self.q <= Z) & (1.0 - self.q >= Z), Z * y, np.inf)


@dataclass(frozen=True)
class Huber(PointwiseLoss):
    """Huber's loss of a prediction f for a target y, with smoothness Λ = 1.

    The loss is (f − y)²/2 if |f − y| <= δ, and δ |f − y| − δ²/2 otherwise.

    Parameters
    ----------
    delta : float
        The threshold δ > 0, in units of y, which is also the largest slope of the loss.

    References
    ----------
    Huber (1964), Robust estimation of a location parameter, Eq. (3).
    """

    delta: float = 1.0
    name = "huber"
    task: ClassVar[str] = "regression"
    of_differences = True
    smoothness = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", positive("delta", self.delta))

    @property
    def slopes(self) -> tuple[float, float]:  # type: ignore[override]
        """The smallest and largest slope, −δ and δ."""
        return -self.delta, self.delta

    def pointwise(self, F: Array, y: Array) -> tuple[Array, Array]:
        residual = F - y
        slopes = np.clip(residual, -self.delta, self.delta)
        return slopes * (residual - slopes / 2.0), slopes

    def derivatives(self, F: Array, y: Array) -> tuple[Array, Array]:
        slopes = np.clip(F - y, -self.delta, self.delta)
        return slopes, (np.abs(slopes) < self.delta).astype(np.float64)

    def minimisers(self, F: Array, y: Array, p: Array, leaf: Whole, leaves: int) -> Array:
        # The loss of huge targets is finite, and so they are allowed.
        return roots(lambda v: self.derivatives(F + v, y), p, leaf, leaves, far=1e308)

    def atoms(self, F: Any, y: Array) -> Any:
        return cp.huber(F - y, self.delta) / 2.0

    def conjugates(self, Z: Array, y: Array) -> Array:
        return np.where(np.abs(Z) <= self.delta, Z * Z / 2.0 + Z * y, np.inf)
