"""Cuts of some groups of tasks in each round, and a query at the least of the model or nearby."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array, doubles
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost._core.parameters import count
from relaxboost.planning.costs import LinearCosts
from relaxboost.planning.optimisers.master import Master
from relaxboost.planning.problem import FitPoint, Problem

_STALLED = 60
"""Rounds that changed neither bound after which rounding is to blame."""


class FitState(NamedTuple):
    """What a round found."""

    point: FitPoint
    """Where the objective was evaluated."""
    lower: float
    """Not above the least value."""


@dataclass(frozen=True)
class Bundle:
    """Kelley's method, and where it fails the level bundle method.

    The model is a sum of cutting planes, one for each group of demonstrations; its least value is
    the lower bound. While the last query brought at least half of what the model promised, the next
    is the minimiser of the model. Else that jumps about, and the next is the point nearest to the
    best so far where the model is below a level between the bounds.

    Parameters
    ----------
    level : float
        In [0, 1): where between the lower and the upper bound the level is. With 0 all queries are
        minimisers of the model.
    most : int
        Cuts to keep; those that have been inactive for longest go first.
    start : LinearCosts or array of shape (d,), optional
        Where to begin, such as an earlier `Fit`; by default w = 0. It is projected to the set of
        the regulariser.

    References
    ----------
    Kelley (1960), The cutting-plane method for solving convex programs. Lemaréchal, Nemirovskii &
    Nesterov (1995), New variants of bundle methods. Joachims, Finley & Yu (2009), Cutting-plane
    training of structural SVMs.
    """

    level: float = 0.3
    most: int = 500
    start: LinearCosts | ArrayLike | None = field(
        default=None, repr=False, compare=False, kw_only=True
    )

    def __post_init__(self) -> None:
        if isinstance(self.level, bool) or not 0.0 <= self.level < 1.0:
            raise InputError(f"level must be at least 0 and below 1, got {self.level!r}")
        count("most", self.most)

    def first(self, problem: Problem) -> Array:
        """Return the point of the problem's domain to begin with, shape (d,)."""
        if self.start is None:
            return np.zeros(problem.d)
        given = self.start
        if isinstance(given, LinearCosts):
            if given.names != problem.names:
                raise InputError(
                    f"start was learned on features {', '.join(given.names)}, and these tasks have "
                    f"{', '.join(problem.names)}"
                )
            given = given.w
        w = np.array(doubles("start", given))
        if w.shape != (problem.d,) or not np.isfinite(w).all():
            raise InputError(
                f"start needs {problem.d} finite entries, one a feature, got {given!r}"
            )
        return problem.project(w)


def rounds(master: Master, best: FitPoint, share: float, clock: Clock) -> Iterator[FitState]:
    """Yield the steps of a `Bundle` of this level, with the cuts that the master has already."""
    problem, point = master.problem, best
    lower, before, still, level = 0.0, (np.inf, 0.0), 0, -np.inf
    while still < _STALLED:
        master.add(point.cuts)
        w, bound = master.minimise()
        lower = max(lower, bound)
        yield FitState(point, lower)
        # Where the last query brought half of what was promised, the model is believed.
        right = point.value <= 0.5 * (best.value + level) or level == -np.inf
        best = min(best, point, key=lambda one: one.value)
        level = lower if right else lower + share * (best.value - lower)
        near = master.nearest(best.w, level) if level > lower else None
        w = w if near is None else near
        point = problem.at(_polyak(problem, point, level) if w is None else w, clock=clock)
        still = still + 1 if (best.value, lower) == before else 0
        before = (best.value, lower)


def _polyak(problem: Problem, last: FitPoint, level: float) -> Array:
    """Return a step of Polyak's towards the level, which needs no solver."""
    slope = last.cut.slope
    square = float(slope @ slope)
    by = (last.value - level) / square if square > 0.0 else 0.0
    return problem.project(last.w - by * slope)
