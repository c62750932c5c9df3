"""Weights w without corners: anywhere or in a Euclidean ball, with a quadratic term."""

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
    """The maximum over w of ⟨Aᵀd, w⟩ − Σ quadratic_j w_j² / 2, with ‖w‖ <= radius if there is one.

    v is the multiplier of (radius² − ‖w‖²)/2 >= 0, the room. The equation Aᵀd = (quadratic + v) w
    converges.

    Parameters
    ----------
    bulk : Bulk
    d : array of shape (m,)
    w : array of shape (n,)
        In the interior of the ball, to start at.
    radius : float
        inf for any w.
    quadratic : array of shape (n,) or float
        At least 0.
    mu : float
        The product of v and the room at the start.
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
        """The complementarity v · room."""
        return self.v * self._room(self.w)

    @property
    def _curvature(self) -> Vector:
        return self._quadratic + self.v

    def scaling(self) -> ColumnScaling:
        """Return D, ε D and κ at the present point: D⁻¹ is the curvature, ε is w, κ is room / v."""
        with np.errstate(divide="ignore"):
            D = 1.0 / self._curvature
        if not self.count:
            return ColumnScaling(D, np.zeros_like(self.w), 1.0, 1.0)
        return ball_scaling(D, self.w, self._room(self.w), self.v)

    def target(self, centre: float, predictor: _Change | None) -> float:
        """Return the product that a direction asks for, corrected by the predictor."""
        if predictor is not None:
            y = predictor.y
            centre += predictor.v * float(self.w @ y) + self.v * float(y @ y) / 2.0
        return centre

    def right_side(self, target: float) -> tuple[Vector, float]:
        """Return q and s of Newton's equations."""
        q = self._curvature * self.w - self.edges
        return q, target / self.v - self._room(self.w) if self.count else 0.0

    def change(self, target: float, move: Move) -> _Change:
        """Return the changes of w and v that belong to a solution."""
        return _Change(move.y, move.v)

    def product_after(self, step: float, dual_step: float, y: Vector, v: float) -> float:
        """Return the complementarity after the two steps."""
        return self._room(self.w + dual_step * y) * (self.v + step * v)

    def longest(self, y: Vector, v: float) -> tuple[float, float]:
        """Return the steps to v = 0 and to the sphere, each at most 1."""
        if not self.count:
            return 1.0, 1.0
        end = step_to_sphere(self.w, y, self._room(self.w))
        return (min(1.0, -self.v / v) if v < 0.0 else 1.0), min(1.0, end)

    def go(self, step: float, dual_step: float, change: _Change, d: Vector, v: float) -> None:
        """Take the two steps; `d` and `v` are those after the step."""
        self.w = self.w + dual_step * change.y
        self.v = v
        self.edges = self.bulk.edges(d)
        self.margins = self.bulk.margins(self.w)


def ball_scaling(D: Vector, w: Vector, room: float, v: float) -> ColumnScaling:
    """Return D, ε D and κ of a ball in whose room w is: ε is w, and κ is room / v."""
    if not room > 0.0:  # rounding put w on the sphere
        raise np.linalg.LinAlgError(UNSOLVED)
    E = D * w
    return ColumnScaling(D, E, room / v, room / v + float(w @ E))


def step_to_sphere(w: Vector, y: Vector, room: float) -> float:
    """Return the step along y that leaves no room, inf if there is none."""
    a, b = float(y @ y), float(w @ y)
    # At the sphere a t²/2 + b t = room. The form of the root avoids cancellation.
    root = math.sqrt(b * b + 2.0 * a * room)
    return 2.0 * room / (b + root) if b + root > 0.0 else math.inf
