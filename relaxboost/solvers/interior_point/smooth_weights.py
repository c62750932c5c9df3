"""Weights w in a Euclidean ball, or without bounds, for the interior point method.

The objective may contain a quadratic term in w.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost.matrices.bulk import Bulk
from relaxboost.solvers.interior_point.normal import UNSOLVED, ColumnScaling, Move


class _Change(NamedTuple):
    y: Vector
    v: float


class SmoothWeights:
    """The weights w that maximise ⟨Aᵀd, w⟩ − Σ quadratic_j w_j² / 2 over all w with ‖w‖ <= radius.

    A is the game matrix, and d is the vector of the other player. The slack of the ball is (radius²
    − ‖w‖²)/2, with the multiplier v. The residual of the optimality condition Aᵀd = (quadratic + v)
    w converges to zero. The class has the methods of `EdgeBounds`.

    Parameters
    ----------
    bulk : Bulk
        The game matrix A.
    d : array of shape (m,)
        The vector d at the start.
    w : array of shape (n,)
        The weights at the start, in the interior of the ball.
    radius : float
        The radius of the ball, or inf without a ball.
    quadratic : array of shape (n,) or float
        The nonnegative coefficients of the quadratic term.
    mu : float
        The product of slack and multiplier of the ball at the start.
    """

    def __init__(
        self,
        bulk: Bulk,
        d: Vector,
        w: Vector,
        radius: float = math.inf,
        quadratic: Vector | float = 0.0,
        mu: float = 1.0,
    ) -> None:
        self.bulk = bulk
        self.w = w
        self.edges = bulk.edges(d)
        self.margins = bulk.margins(w)
        self._radius = radius
        self._quadratic = quadratic + np.zeros_like(w)
        self.count = int(math.isfinite(radius))
        # The ball is the only inequality, and this object stores its slack and its multiplier.
        self.pairs = self
        self.is_linear = not (self.count or self._quadratic.any())
        # Over a Euclidean set, every column can have weight.
        self.is_in_use = np.ones(w.size, dtype=bool)
        self.v = mu / self._room(w) if self.count else 0.0

    def _room(self, w: Vector) -> float:
        if not self.count:
            return 0.0
        size = math.sqrt(float(w @ w))
        return (self._radius - size) * (self._radius + size) / 2.0

    @property
    def product(self) -> float:
        """The product of the ball's slack (radius² − ‖w‖²)/2 and its multiplier v."""
        return self.v * self._room(self.w)

    @property
    def _curvature(self) -> Vector:
        return self._quadratic + self.v

    def scaling(self) -> ColumnScaling:
        """Return the terms that the weights w add to Newton's equations.

        Without a ball, the only term is the diagonal matrix D, the inverse of `quadratic`. In a
        ball, D is the inverse of `quadratic` + v, E = D w, and κ is the slack divided by v.

        Raises
        ------
        numpy.linalg.LinAlgError
            If rounding moved w out of the interior of the ball.
        """
        with np.errstate(divide="ignore"):
            D = 1.0 / self._curvature
        if not self.count:
            return ColumnScaling(D, np.zeros_like(self.w), 1.0, 1.0)
        room = self._room(self.w)
        # Rounding may put w on the sphere.
        if not room > 0.0:
            raise np.linalg.LinAlgError(UNSOLVED)
        E = D * self.w
        return ColumnScaling(D, E, room / self.v, room / self.v + float(self.w @ E))

    def target(self, centre: float, predictor: _Change | None) -> float:
        """Return the target for slack times multiplier of the ball.

        It is `centre` plus the second-order terms of any predictor.
        """
        if predictor is not None:
            y = predictor.y
            centre += predictor.v * float(self.w @ y) + self.v * float(y @ y) / 2.0
        return centre

    def right_side(self, target: float) -> tuple[Vector, float]:
        """Return the right-hand sides of Newton's equations for w and v."""
        q = self._curvature * self.w - self.edges
        return q, target / self.v - self._room(self.w) if self.count else 0.0

    def change(self, target: float, move: Move) -> _Change:
        """Return the Newton steps of w and v."""
        return _Change(move.y, move.v)

    def product_after(self, step: float, dual_step: float, y: Vector, v: float) -> float:
        """Return slack times multiplier of the ball after a step.

        The step changes the multiplier by ``step * v``, and the weights by ``dual_step * y``.
        """
        return self._room(self.w + dual_step * y) * (self.v + step * v)

    def longest(self, y: Vector, v: float) -> tuple[float, float]:
        """Return the longest steps of the multiplier along `v` and of w along `y`, at most 1.

        After these steps the multiplier is nonnegative, and the weights lie in the ball.
        """
        if not self.count:
            return 1.0, 1.0
        a = float(y @ y)
        b = float(self.w @ y)
        room = self._room(self.w)
        # A step of length t reaches the sphere if a t²/2 + b t = room. The form of the root avoids
        # cancellation.
        below = b + math.sqrt(b * b + 2.0 * a * room)
        end = 2.0 * room / below if below > 0.0 else math.inf
        return (min(1.0, -self.v / v) if v < 0.0 else 1.0), min(1.0, end)

    def go(self, step: float, dual_step: float, change: _Change, d: Vector, v: float) -> None:
        """Move the weights w, and store the new multiplier `v` of the ball.

        The weights move by `dual_step` times the step of the weights in `change`.
        """
        self.w = self.w + dual_step * change.y
        self.v = v
        self.edges = self.bulk.edges(d)
        self.margins = self.bulk.margins(self.w)
