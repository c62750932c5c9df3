"""The entropy projection of TotalBoost and SoftBoost, which its dual problem solves."""

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
    """The dual D(w) of the projection of the uniform distribution, with a multiplier per column.

    The projection is the distribution d that is nearest to the uniform one in relative entropy Δ,
    among the d that f allows and at which no column has an edge above `level`. Its dual is
    D(w) = min over d of Δ(d, uniform) + <d, Aw> − level Σ w, for multipliers w >= 0 of the columns
    of A. D is concave. Its gradient has the edge of every column at the minimising d, less the
    level. The gradient is 1-Lipschitz from the l1 norm to the sup-norm, because Δ is 1-strongly
    convex in the l1 norm and the entries of A lie in [-1, 1].

    Parameters
    ----------
    columns : array of shape (m, t)
        The signed columns.
    level : float
        The largest edge that a column may have at the projection.
    project : callable
        Returns the d that minimises <d, u> + Σ d log d, for margins u.
    """

    def __init__(self, columns: NDArray[Any], level: float, project: Projector) -> None:
        self._columns = columns.astype(np.float64)
        self._level = level
        self._project = project

    def distribution(self, w: Vector) -> Vector:
        """Return the d that attains D(w)."""
        return self._project(self._columns @ w)

    def evaluate(self, w: Vector) -> tuple[float, Vector]:
        """Return D(w) and its gradient."""
        u = self._columns @ w
        d = self._project(u)
        entropy = float(xlogy(d, d).sum()) + math.log(d.size)
        value = entropy + float(d @ u) - self._level * float(w.sum())
        return value, d @ self._columns - self._level

    def maximise(self, start: Vector, accuracy: float) -> Vector:
        """Return multipliers w >= 0 at which D is at least D(start), by L-BFGS-B.

        The search ends when no edge exceeds the level by more than `accuracy`, and no column with
        a positive multiplier has an edge below the level by more. The round bounds of the boosters
        do not need the exact maximum.

        Raises
        ------
        TimeUp
            If the deadline of the run passes.
        """
        from scipy.optimize import minimize

        def falling(w: Vector) -> tuple[float, Vector]:
            seconds_left()  # raises TimeUp, which ends the search
            value, gradient = self.evaluate(w)
            return -value, -gradient

        # The gradient decides when the search ends. A value that hardly grows says nothing about
        # the edges, hence the tolerance of 0 for it.
        options = {"gtol": accuracy, "ftol": 0.0}
        bounds = [(0.0, None)] * start.size
        found = minimize(
            falling, start, method="L-BFGS-B", jac=True, bounds=bounds, options=options
        )
        w = np.maximum(found.x, 0.0)
        # The last line search can fail and end at a worse point than `start`. The bounds of the
        # boosters need a point that is at least as good.
        return w if self.evaluate(w)[0] >= self.evaluate(start)[0] else start
