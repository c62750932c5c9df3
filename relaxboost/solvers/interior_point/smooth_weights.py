"""Unrestricted weights w, or weights in a Euclidean ball, for the interior point method.

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
    − ‖w‖²)/2, and v is the multiplier of the inequality slack >= 0. At the optimum, Aᵀd =
    (quadratic + v) w. This equation need not hold at the start, and its residual converges to zero.

    Parameters
    ----------
    bulk : Bulk
        The game matrix A.
    d : array of shape (m,)
        The vector d at the start.
    w : array of shape (n,)
        The weights at the start, in the interior of the ball.
    radius : float
        The radius of the ball. It is inf if w may be any vector.
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
        self.pairs = self  # the single pair of v and the room
        self.is_linear = not self.count
        self.v = mu / self._room(w) if self.count else 0.0

    def _room(self, w: Vector) -> float:
        if not self.count:
            return 0.0
        size = math.sqrt(float(w @ w))
        return (self._radius - size) * (self._radius + size) / 2.0

    @property
    def product(self) -> float:
        """The complementarity: the multiplier v of the ball times its slack (radius² − ‖w‖²)/2."""
        return self.v * self._room(self.w)

    @property
    def _curvature(self) -> Vector:
        return self._quadratic + self.v

    def scaling(self) -> ColumnScaling:
        """Return the terms that the weights w add to Newton's equations.

        If w may be any vector, the only term is the diagonal matrix D, the inverse of `quadratic`.
        If w lies in a ball, `ball_scaling` defines the terms.
        """
        with np.errstate(divide="ignore"):
            D = 1.0 / self._curvature
        if not self.count:
            return ColumnScaling(D, np.zeros_like(self.w), 1.0, 1.0)
        return ball_scaling(D, self.w, self._room(self.w), self.v)

    def target(self, centre: float, predictor: _Change | None) -> float:
        """Return the target of a step for the product of the slack of the ball and its multiplier.

        The slack of the ball ‖w‖ <= radius is (radius² − ‖w‖²)/2. The target is `centre`, plus the
        second-order terms of the predictor if there is one.
        """
        if predictor is not None:
            y = predictor.y
            centre += predictor.v * float(self.w @ y) + self.v * float(y @ y) / 2.0
        return centre

    def right_side(self, target: float) -> tuple[Vector, float]:
        """Return the right-hand sides of the two Newton equations for the weights and for v.

        The number v is the multiplier of the ball ‖w‖ <= radius. The argument `target` is the value
        of v (radius² − ‖w‖²)/2 that the step aims at.
        """
        q = self._curvature * self.w - self.edges
        return q, target / self.v - self._room(self.w) if self.count else 0.0

    def change(self, target: float, move: Move) -> _Change:
        """Return the step of the weights and the step of the multiplier of the ball."""
        return _Change(move.y, move.v)

    def product_after(self, step: float, dual_step: float, y: Vector, v: float) -> float:
        """Return the product of the slack of the ball and its multiplier after a step.

        The slack of the ball ‖w‖ <= radius is (radius² − ‖w‖²)/2. The multiplier moves by `step`
        times the argument `v`, and w moves by `dual_step` times the argument `y`.
        """
        return self._room(self.w + dual_step * y) * (self.v + step * v)

    def longest(self, y: Vector, v: float) -> tuple[float, float]:
        """Return the longest step of the multiplier v and the longest step of the weights w.

        Each step is at most 1. The multiplier of the ball ‖w‖ <= radius moves along the argument
        `v` and remains nonnegative. The weights move along `y` and remain in the ball.
        """
        if not self.count:
            return 1.0, 1.0
        end = step_to_sphere(self.w, y, self._room(self.w))
        return (min(1.0, -self.v / v) if v < 0.0 else 1.0), min(1.0, end)

    def go(self, step: float, dual_step: float, change: _Change, d: Vector, v: float) -> None:
        """Move the weights w by `dual_step` times their step in `change`.

        The arguments `d` and `v` are the new vector d and the new multiplier of the ball.
        """
        self.w = self.w + dual_step * change.y
        self.v = v
        self.edges = self.bulk.edges(d)
        self.margins = self.bulk.margins(self.w)


def ball_scaling(D: Vector, w: Vector, room: float, v: float) -> ColumnScaling:
    """Return the terms that weights w in a Euclidean ball add to Newton's equations.

    The terms are the diagonal matrix D, the vector E = D w, and the coefficient κ = `room` / v of
    the step of v. The argument `room` is the slack (radius² − ‖w‖²)/2 of the ball, and v is the
    multiplier of the inequality room >= 0.

    Raises
    ------
    numpy.linalg.LinAlgError
        If w is not in the interior of the ball because of rounding.
    """
    if not room > 0.0:  # rounding put w on the sphere
        raise np.linalg.LinAlgError(UNSOLVED)
    E = D * w
    return ColumnScaling(D, E, room / v, room / v + float(w @ E))


def step_to_sphere(w: Vector, y: Vector, room: float) -> float:
    """Return the step t after which the weights w + t y are on the sphere of a Euclidean ball.

    The result is inf if no step leads to the sphere. The argument `room` is (radius² − ‖w‖²)/2,
    where `radius` is the radius of the ball.
    """
    a, b = float(y @ y), float(w @ y)
    # At the sphere a t²/2 + b t = room. The form of the root avoids cancellation.
    root = math.sqrt(b * b + 2.0 * a * room)
    return 2.0 * room / (b + root) if b + root > 0.0 else math.inf
