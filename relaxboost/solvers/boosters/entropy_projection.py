"""The entropy projection of TotalBoost and SoftBoost.

The projection of the uniform distribution is the distribution d with the smallest relative entropy
to it, among those whose edges are at most a given level. It is computed through its dual problem.
"""

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
"""The largest number of evaluations of the dual function in one projection. The bound on the rounds
holds for any point that is at least as good as the start."""


class ProjectionDual:
    """The dual problem of the entropy projection, which maximises D(w) over multipliers w >= 0.

    D(w) is the minimum over d of Δ(d) + <d, Aw> − level · Σ w_j. Here d is a distribution over the
    m examples that the relaxation allows, Δ(d) is its relative entropy to the uniform
    distribution, and A has t signed columns of the game matrix.

    The function D is concave. Its gradient has one entry for each column, which is the edge of the
    column minus the level. If the entries of A lie in [-1, 1], a change of w by δ changes no entry
    of the gradient by more than Σ |δ_j|, because Δ is 1-strongly convex in the l1 norm.

    Parameters
    ----------
    columns : array of shape (m, t)
        The columns of A, multiplied by the signs of the hypotheses.
    level : float
        The largest edge that the projection may have.
    project : callable
        A function of u that returns the distribution d with the least <d, u> + Σ d_i log d_i.
    """

    def __init__(self, columns: NDArray[Any], level: float, project: Projector) -> None:
        self._columns = columns.astype(np.float64)
        self._level = level
        self._project = project

    def distribution(self, w: Vector) -> Vector:
        """Return the distribution d that attains the minimum in D(w)."""
        return self._project(self._columns @ w)

    def evaluate(self, w: Vector) -> tuple[float, Vector]:
        """Return D(w) and the gradient of D at w."""
        u = self._columns @ w
        d = self._project(u)
        entropy = float(xlogy(d, d).sum()) + math.log(d.size)
        value = entropy + float(d @ u) - self._level * float(w.sum())
        return value, d @ self._columns - self._level

    def maximise(self, start: Vector, accuracy: float) -> Vector:
        """Return multipliers w >= 0 that maximise D, or come close, by the method L-BFGS-B.

        The search ends when no edge exceeds the level by more than `accuracy`, and the edge of no
        column with a positive multiplier lies below the level by more than `accuracy`. D is never
        smaller at the result than at `start`.

        Raises
        ------
        TimeUp
            If the time limit of the run has passed.
        """
        from scipy.optimize import minimize

        def negative_dual(w: Vector) -> tuple[float, Vector]:
            # SciPy offers no other place at which the time limit can end the search.
            seconds_left()
            value, gradient = self.evaluate(w)
            return -value, -gradient

        options = {"gtol": accuracy, "ftol": 0.0, "maxfun": MAX_EVALUATIONS}
        bounds = [(0.0, None)] * start.size
        found = minimize(
            negative_dual, start, method="L-BFGS-B", jac=True, bounds=bounds, options=options
        )
        w = np.maximum(found.x, 0.0)
        # If its line search fails, L-BFGS-B may return a point that is worse than the start.
        return w if self.evaluate(w)[0] >= self.evaluate(start)[0] else start
