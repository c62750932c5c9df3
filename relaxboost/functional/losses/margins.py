"""Losses for two classes, as functions of the margin y f.

The target y is −1 for the first label and +1 for the second, and f is the prediction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import xlogy

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import positive
from relaxboost.functional.losses.base import PointwiseLoss

HINGE_TEMPERATURE = 0.5
"""The temperature τ of the softened hinge τ log(1 + exp((1 − y f)/τ)), which `Refitted` minimises.
The hinge itself would trap examples at its corner, where the margin is 1."""
MAX_LOG_SLOPE = 350.0
"""The value of −y f above which the exponential loss continues as a straight line. The square of
the slope exp(350) is still a finite double."""


@dataclass(frozen=True)
class Logistic(PointwiseLoss):
    """The logistic loss log(1 + exp(−y f)) of a prediction f for a target y = ±1.

    Its smoothness Λ is 1/4, and its slopes are below 1 in absolute value. If a sum of hypotheses
    separates the classes, the infimum 0 of the risk is not attained.

    References
    ----------
    Friedman, Hastie & Tibshirani (2000), Additive logistic regression, Sec. 4.
    """

    name = "logistic"
    task: ClassVar[str] = "binary"
    likelihood = True
    smoothness = 0.25
    slopes = (-1.0, 0.0)
    attained = False
    falling = True

    def pointwise(self, F: Array, y: Array) -> tuple[Array, Array]:
        # The slopes are −y / (1 + exp(y f)).
        u = -y * F
        slopes, tail = _sigmoid_and_tail(u)
        slopes *= -y
        values = np.log1p(tail, out=tail)
        values += np.maximum(u, 0.0, out=u)
        return values, slopes

    def derivatives(self, F: Array, y: Array) -> tuple[Array, Array]:
        # The slopes are −y s and the second derivatives s (1 − s), where s = 1 / (1 + exp(y f)).
        share, tail = _sigmoid_and_tail(-y * F)
        both = 1.0 + tail
        both *= both
        bend = np.divide(tail, both, out=tail)  # The number 1 − s would round to 0 if −y f > 37.
        share *= -y
        return share, bend

    def atoms(self, F: Any, y: Array) -> Any:
        return cp.logistic(cp.multiply(-y, F))

    def conjugates(self, Z: Array, y: Array) -> Array:
        s = np.clip(-y * Z, 0.0, 1.0)
        return np.where(-y * Z == s, xlogy(s, s) + xlogy(1.0 - s, 1.0 - s), np.inf)


def _sigmoid_and_tail(u: Array) -> tuple[Array, Array]:
    # The results are accurate up to rounding for all u. Operations are done in place, because
    # allocating memory takes longer than the arithmetic.
    tail = np.abs(u)  # The next line overwrites this by exp(−|u|).
    np.exp(np.negative(tail, out=tail), out=tail)
    share = np.maximum(tail, u >= 0.0)  # This is exp(min(u, 0)).
    share /= 1.0 + tail
    return share, tail


@dataclass(frozen=True)
class Exponential(PointwiseLoss):
    """The exponential loss exp(−y f) of a prediction f for a target y = ±1.

    It is differentiable, with unbounded slopes. Above −y f = 350, the loss is replaced by its
    tangent to prevent overflow. If a sum of hypotheses separates the classes, the infimum 0 of the
    risk is not attained.

    References
    ----------
    Freund & Schapire (1997); Friedman, Hastie & Tibshirani (2000), Sec. 4.1.
    """

    name = "exponential"
    task: ClassVar[str] = "binary"
    slopes = (-math.inf, 0.0)
    attained = False
    falling = True

    def pointwise(self, F: Array, y: Array) -> tuple[Array, Array]:
        # Beyond MAX_LOG_SLOPE the loss is linear.
        u = np.minimum(-y * F, MAX_LOG_SLOPE)
        heights = np.exp(u)
        return heights * (1.0 + (-y * F - u)), -y * heights

    def derivatives(self, F: Array, y: Array) -> tuple[Array, Array]:
        # The tangent beyond MAX_LOG_SLOPE has the second derivative 0, but Newton steps need that
        # of the point of contact.
        heights = np.exp(np.minimum(-y * F, MAX_LOG_SLOPE))
        return -y * heights, heights

    def atoms(self, F: Any, y: Array) -> Any:
        return cp.exp(cp.multiply(-y, F))

    def conjugates(self, Z: Array, y: Array) -> Array:
        s = np.maximum(-y * Z, 0.0)
        return np.where(-y * Z == s, xlogy(s, s) - s, np.inf)


@dataclass(frozen=True)
class Hinge(PointwiseLoss):
    """The hinge loss max(0, 1 − y f) of a prediction f for a target y = ±1.

    The subgradient at y f = 1 is 0.

    References
    ----------
    Cortes & Vapnik (1995), Support-vector networks.
    """

    name = "hinge"
    task: ClassVar[str] = "binary"
    slopes = (-1.0, 0.0)

    def pointwise(self, F: Array, y: Array) -> tuple[Array, Array]:
        short = 1.0 - y * F
        return np.maximum(short, 0.0), (short > 0.0) * -y  # This is faster than np.where.

    def softened(self, F: Array, y: Array, slopes: Array) -> Array:
        # The softened hinge τ log(1 + exp((1 − y f)/τ)) is τ times the logistic loss at (f − y)/τ.
        return Logistic().derivatives((F - y) / HINGE_TEMPERATURE, y)[0]

    def refitted(self, F: Array, y: Array, p: Array, leaf: Whole, leaves: int) -> Array:
        # The exact minimiser of the hinge would put examples of the leaf exactly on the corner of
        # the hinge. Then the majority class of the leaf would keep all later steps at 0.
        return HINGE_TEMPERATURE * Logistic().refitted(
            (F - y) / HINGE_TEMPERATURE, y, p, leaf, leaves
        )

    def atoms(self, F: Any, y: Array) -> Any:
        return cp.pos(1.0 - cp.multiply(y, F))

    def conjugates(self, Z: Array, y: Array) -> Array:
        return np.where((y * Z <= 0.0) & (y * Z >= -1.0), y * Z, np.inf)


@dataclass(frozen=True)
class SmoothHinge(PointwiseLoss):
    """The hinge loss with a corner rounded over the width w, and with smoothness Λ = 1/w.

    For the margin a = y f of a prediction f and a target y = ±1, the loss is 0 if a >= 1, (1 −
    a)²/(2w) if 1 − w <= a <= 1, and 1 − a − w/2 if a <= 1 − w. It lies between the hinge minus w/2
    and the hinge.

    Parameters
    ----------
    width : float
        The width w > 0 of the rounded corner. The smooth hinge of Rennie & Srebro has w = 1.

    References
    ----------
    Rennie & Srebro (2005), Loss functions for preference levels (w = 1); Shalev-Shwartz & Zhang
    (2013), Stochastic dual coordinate ascent methods (any w).
    """

    width: float = 1.0
    name = "smooth-hinge"
    task: ClassVar[str] = "binary"
    slopes = (-1.0, 0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", positive("width", self.width))

    @property
    def smoothness(self) -> float:  # type: ignore[override]
        """The smoothness Λ = 1/w."""
        return 1.0 / self.width

    def pointwise(self, F: Array, y: Array) -> tuple[Array, Array]:
        short = np.maximum(1.0 - y * F, 0.0)
        share = np.minimum(short / self.width, 1.0)
        return share * (short - self.width * share / 2.0), -y * share

    def derivatives(self, F: Array, y: Array) -> tuple[Array, Array]:
        share = np.clip((1.0 - y * F) / self.width, 0.0, 1.0)
        return -y * share, ((share > 0.0) & (share < 1.0)) / self.width

    def atoms(self, F: Any, y: Array) -> Any:
        return cp.huber(cp.pos(1.0 - cp.multiply(y, F)), self.width) / (2.0 * self.width)

    def conjugates(self, Z: Array, y: Array) -> Array:
        s = np.clip(-y * Z, 0.0, 1.0)
        return np.where(-y * Z == s, s * (self.width * s / 2.0 - 1.0), np.inf)
