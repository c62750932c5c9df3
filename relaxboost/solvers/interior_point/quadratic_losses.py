"""The interior point method for sums of quadratic losses, such as the models of Newton's method.

The losses are functions of the predictions A w. The columns of A are the outputs of the hypotheses,
and w are their weights.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost.game.domains import AtomicSet, L2Ball
from relaxboost.matrices.bulk import Bulk
from relaxboost.solvers.interior_point.barrier import SMALLEST_SLACK
from relaxboost.solvers.interior_point.block import Block, Diagonal
from relaxboost.solvers.interior_point.corner_losses import LossIterate
from relaxboost.solvers.interior_point.part import Aim, Part


class QuadraticLosses(NamedTuple):
    """Quadratic losses of predictions, as two arrays of shape (N,) for N examples.

    The loss of example n is slope_n f_n + curvature_n f_n² / 2, where f_n is the prediction.
    """

    slope: Vector
    curvature: Vector


class QuadraticIterate(LossIterate):
    """An iterate for the minimum over w of Σ_n loss_n((A w)_n).

    The dual variable of example n is d_n, which is −(slope_n + curvature_n f_n) at an optimum. The
    dual program is a game over vectors d that need not sum to 1.

    Parameters
    ----------
    bulk : Bulk
        The matrix A, whose columns are the outputs of the hypotheses.
    losses : QuadraticLosses
        The losses of the predictions.
    w : array of shape (n,)
        The method starts near these weights. They must be in the domain `over`.
    over : AtomicSet or L2Ball
        The domain of the weights w.
    gap : float
        The approximate initial sum of slack times multiplier, such as the loss at w minus the
        minimum.
    """

    def __init__(
        self,
        bulk: Bulk,
        losses: QuadraticLosses,
        w: Vector,
        over: AtomicSet | L2Ball,
        gap: float,
    ) -> None:
        part = _Quadratics(losses, bulk.margins(w))
        # An l2 ball is a single inequality.
        inequalities = bulk.n if isinstance(over, AtomicSet) else 1
        self._start(part, bulk, w, over, 0.0, gap / inequalities)

    def _longest(self, direction: Any) -> tuple[float, float]:
        # The curvature couples d with w, so both must move by the same part of the direction.
        step = min(super()._longest(direction))
        return step, step


class _Quadratics(Part):
    # The conjugates of quadratic losses have no inequalities. At an optimum, d satisfies the linear
    # equation d + slope + curvature · A w = 0, which a step of length 1 solves.
    count = 0.0
    product = 0.0

    def __init__(self, losses: QuadraticLosses, predictions: Vector) -> None:
        slope, curvature = losses
        self._slope = slope
        self._theta = 1.0 / np.maximum(curvature, SMALLEST_SLACK)
        self.x = -(slope + curvature * predictions)

    def block(self) -> Block:
        return Diagonal(self._theta, self.x.size)

    def aim(self, pull: Vector, centre: float, first: Vector | None = None) -> Aim:
        return Aim(-self._theta * (self.x + self._slope) - pull, None)

    def change(self, aim: Aim, t: Vector) -> Vector:
        return t

    def product_after(self, step: float, dual_step: float, change: Vector) -> float:
        return 0.0

    def longest(self, change: Vector) -> tuple[float, float]:
        return 1.0, 1.0

    def go(self, step: float, dual_step: float, change: Vector) -> None:
        self.x = self.x + step * change
