"""The entropy projection of TotalBoost and SoftBoost, computed from its dual problem."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import seconds_left
from relaxboost.solvers.smoothing import Projector


class ProjectionDual:
    """The dual function D(w) of the entropy projection, with a multiplier w_j for each column j.

    The projection is the distribution d with the smallest relative entropy Δ to the uniform
    distribution, subject to two constraints: the relaxation f is finite at d, and every column of A
    has an edge of at most `level`. The dual function is
    D(w) = min over d of Δ(d, uniform) + <d, Aw> − level Σ w_j, for w >= 0.

    D is concave. Entry j of the gradient of D is the edge of column j at the minimising d, minus
    the level. A change of w by v changes every entry of the gradient by at most ‖v‖_1, because Δ is
    1-strongly convex in the l1 norm and the entries of A lie in [-1, 1].

    Parameters
    ----------
    columns : array of shape (m, t)
        The signed columns of A.
    level : float
        The largest allowed edge at the projection.
    project : callable
        A function that maps margins u to the distribution d that minimises <d, u> + Σ d log d among
        the distributions at which the relaxation is finite.
    """

    def __init__(self, columns: NDArray[Any], level: float, project: Projector) -> None:
        self._columns = columns.astype(np.float64)
        self._level = level
        self._project = project

    def distribution(self, w: Vector) -> Vector:
        """Return the distribution d that attains the dual function D(w)."""
        return self._project(self._columns @ w)

    def evaluate(self, w: Vector) -> tuple[float, Vector]:
        """Return the dual function D(w) and its gradient."""
        u = self._columns @ w
        d = self._project(u)
        entropy = float(xlogy(d, d).sum()) + math.log(d.size)
        value = entropy + float(d @ u) - self._level * float(w.sum())
        return value, d @ self._columns - self._level

    def maximise(self, start: Vector, accuracy: float) -> Vector:
        """Maximise the dual function by L-BFGS-B, and return w with D(w) >= D(start).

        The search ends when every edge is at most the level plus `accuracy`, and every edge with a
        positive multiplier is at least the level minus `accuracy`, or when a line search fails.
        Raise `TimeUp` if the deadline passes.
        """
        # The bounds on the rounds of SoftBoost and TotalBoost need only D(w) >= D(start).
        from scipy.optimize import minimize

        def falling(w: Vector) -> tuple[float, Vector]:
            # The call raises TimeUp if no time is left, which ends the search.
            seconds_left()
            value, gradient = self.evaluate(w)
            return -value, -gradient

        # The gradient decides when the search ends. The tolerance of the value is 0, because a
        # value that hardly grows says nothing about the edges.
        options = {"gtol": accuracy, "ftol": 0.0}
        bounds = [(0.0, None)] * start.size
        found = minimize(
            falling, start, method="L-BFGS-B", jac=True, bounds=bounds, options=options
        )
        w = np.maximum(found.x, 0.0)
        # The last line search can fail and end at a worse point than `start`. The bounds of the
        # boosters need a point that is at least as good.
        return w if self.evaluate(w)[0] >= self.evaluate(start)[0] else start
