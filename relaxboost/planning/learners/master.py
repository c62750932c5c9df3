"""The small problems of cutting planes: the least of the model, the nearest point of a level."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost.planning.problem import Cut, Problem

Array = NDArray[np.float64]


class Master:
    """The model m(w) = max over cuts of offset + <slope, w>, which is below R."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.offsets: list[float] = [0.0]  # R >= 0
        self.slopes: list[Array] = [np.zeros(problem.d)]

    def add(self, cut: Cut) -> None:
        """Add a cut."""
        self.offsets.append(cut.offset)
        self.slopes.append(cut.slope)

    def minimise(self) -> tuple[Array, float]:
        """Return the w of least Ω + m, and a lower bound of min Ω + R.

        The bound comes from the multipliers of the cuts, made a distribution, not from the
        solver's value.
        """
        import cvxpy as cp

        w, height = cp.Variable(self.problem.d), cp.Variable()
        a, G = np.array(self.offsets), np.array(self.slopes)
        size, rules = self._domain(w)
        below = G @ w + a <= height
        problem = cp.Problem(cp.Minimize(size + height), [below, *rules])
        problem.solve(solver=cp.CLARABEL)
        alpha = np.maximum(np.asarray(below.dual_value, dtype=np.float64), 0.0)
        alpha /= alpha.sum()
        found = self.problem.regulariser.project(w.value, self.problem.nonnegative)
        return found, self.problem.lower(Cut(float(alpha @ a), alpha @ G))

    def nearest(self, centre: Array, level: float) -> Array:
        """Return the w nearest to a centre among those with Ω + m <= level."""
        import cvxpy as cp

        w = cp.Variable(self.problem.d)
        a, G = np.array(self.offsets), np.array(self.slopes)
        size, rules = self._domain(w)
        rules.append(cp.max(G @ w + a) + size <= level)
        problem = cp.Problem(cp.Minimize(cp.sum_squares(w - centre)), rules)
        try:
            problem.solve(solver=cp.CLARABEL)
        except cp.error.SolverError:  # the level set is thin, and costs of very different size
            return self.minimise()[0]
        if w.value is None:
            return self.minimise()[0]
        return self.problem.regulariser.project(w.value, self.problem.nonnegative)

    def _domain(self, w: Any) -> tuple[Any, list[Any]]:
        size, rules = self.problem.regulariser.expression(w)
        return size, [*rules, w >= 0.0] if self.problem.nonnegative else rules
