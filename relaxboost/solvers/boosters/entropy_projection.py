"""The entropy projection of TotalBoost and SoftBoost, through its dual in multipliers w >= 0."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import seconds_left
from relaxboost.solvers.smoothing import Projector

MAX_EVALUATIONS = 500
"""Evaluations of the dual at most. The round bound of the boosters needs no exact maximum."""


class ProjectionDual:
    """The dual of the projection: D(w) = min over d of Δ(d, uniform) + <d, Aw> − level Σ w.

    Δ is the relative entropy, and d runs over the distributions that f allows. D is concave, and
    its gradient, the edges of the columns less the level, is 1-Lipschitz from the l1 norm to the
    sup-norm, since Δ is 1-strongly convex in the l1 norm and the entries lie in [-1, 1].

    Parameters
    ----------
    columns : array of shape (m, t)
        The signed columns.
    level : float
        The largest edge that the projection may have.
    project : callable
        What gives the d of least <d, u> + Σ d log d.
    """

    def __init__(self, columns: NDArray[Any], level: float, project: Projector) -> None:
        self._columns = columns.astype(np.float64)
        self._level = level
        self._project = project

    def distribution(self, w: Vector) -> Vector:
        """Return the minimising d at the multipliers w."""
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

        The search ends once no edge is above the level by more than `accuracy`, and none of a
        column with a positive multiplier is below by more.

        Raises
        ------
        TimeUp
            If the deadline of the run passes.
        """
        from scipy.optimize import minimize

        def falling(w: Vector) -> tuple[float, Vector]:
            seconds_left()
            value, gradient = self.evaluate(w)
            return -value, -gradient

        options = {"gtol": accuracy, "ftol": 0.0, "maxfun": MAX_EVALUATIONS}
        bounds = [(0.0, None)] * start.size
        found = minimize(
            falling, start, method="L-BFGS-B", jac=True, bounds=bounds, options=options
        )
        w = np.maximum(found.x, 0.0)
        # A line search that breaks down may leave a worse point than the first.
        return w if self.evaluate(w)[0] >= self.evaluate(start)[0] else start
