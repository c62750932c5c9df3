"""The level bundle method for losses that provide only values and subgradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import Clock
from relaxboost._core.rounding import down
from relaxboost.game.domains import L2Ball
from relaxboost.online.comparators.cumulative import Cumulative
from relaxboost.online.comparators.newton import State
from relaxboost.solvers.bundle.cuts import Cut, Cuts
from relaxboost.solvers.bundle.master import SMALLEST, Feasible
from relaxboost.solvers.bundle.method import CuttingPlanes, rounds


def linear(problem: Cumulative) -> Iterator[State]:
    """Minimise a loss that is linear in w. Yield a single round with the exact optimum."""
    # The gradient is the same everywhere, so that a single cutting plane is the loss itself.
    _, cut = problem.cut(problem.center())
    w = problem.answer(-cut.slope)
    yield State(w, problem.cut(w)[0], _Objective(problem).lower(cut))


def level(problem: Cumulative, start: Vector | None, clock: Clock) -> Iterator[State]:
    """Minimise a cumulative loss by the level method, and yield each round.

    The method ends after 40 rounds without improvement because of rounding errors.
    """
    objective = _Objective(problem)
    first = problem.center() if start is None else start
    point = objective.at(objective.project(first), clock=clock)
    # Weights are measured in units of one over the largest slope. If the loss is flat, the unit is
    # the size of the domain.
    steep = max(float(np.abs(point.cuts.slope).max()), abs(point.value) / problem.reach)
    unit = 1.0 / steep if steep >= SMALLEST else problem.reach
    # At an optimum with M base functions, at most M + 1 cutting planes are active, so that four for
    # each base function are enough.
    model = CuttingPlanes(objective, 1, 200 + 4 * problem.M, np.full(problem.M, unit))
    # 0.3 is near 1 − 1/√2, the optimal level of Lemaréchal, Nemirovskii & Nesterov (1995).
    for found in rounds(model, point, clock, 40, level=0.3):
        yield State(found.point.w, found.point.value, found.lower)


class _Point(NamedTuple):
    w: Vector
    value: float
    cuts: Cuts


class _Objective:
    """The cumulative loss as an objective of the bundle method."""

    def __init__(self, problem: Cumulative) -> None:
        self._problem = problem
        ones = np.ones(problem.M)
        over = problem.over
        if isinstance(over, L2Ball):
            self.feasible = Feasible(ones, False, euclidean=float(over.radius))
        else:
            signs = not over.two_sided
            self.feasible = Feasible(ones, signs, radius=over.scale, full=not over.holds_zero)

    def at(self, w: Vector, *, clock: Clock) -> _Point:
        """Return the cumulative loss at w, and its tangent."""
        clock.check()
        value, cut = self._problem.cut(w)
        return _Point(w, value, Cuts(*(np.array([part]) for part in cut)))

    def lower(self, cut: Cut) -> float:
        """Return the minimum of a tangent over the domain, rounded down."""
        error = float(np.max(cut.error))
        return down(cut.offset - self._problem.support(-cut.slope, error))

    def project(self, w: Vector) -> Vector:
        """Return weights of the domain near w, which may violate constraints slightly."""
        # Only rounding errors or a failed solver can suggest w = 0, which is not in a simplex.
        if not (self._problem.over.holds_zero or float(w.max()) > 0.0):
            return self._problem.center()
        return self._problem.feasible(w)
