"""One cut a round for all tasks together, and a query within a level of the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from relaxboost.errors import InputError
from relaxboost.parameters import count
from relaxboost.planning.learners.base import Learner, Step
from relaxboost.planning.learners.master import Master
from relaxboost.planning.problem import Point, Problem

Array = NDArray[np.float64]

_STALLED = 60
"""Rounds that changed neither bound after which rounding is to blame."""


@dataclass(frozen=True)
class Bundle(Learner):
    """The level bundle method of Lemaréchal, Nemirovskii & Nesterov (1995).

    The model is the one-slack cutting plane of Joachims, Finley & Yu (2009); its least value is the
    lower bound. The next query is not its minimiser, which jumps about, but the point nearest to
    the best so far where the model is below a level between the bounds.

    Parameters
    ----------
    level : float
        In [0, 1): where between the lower and the upper bound the level is. With 0 the queries are
        the minimisers of the model, Kelley's method.
    most : int
        Cuts to keep; those that have been inactive for longest go first.
    """

    level: float = 0.3
    most: int = 500

    name: ClassVar[str] = "bundle"

    def __post_init__(self) -> None:
        if isinstance(self.level, bool) or not 0.0 <= self.level < 1.0:
            raise InputError(f"level must be at least 0 and below 1, got {self.level!r}")
        count("most", self.most)

    def steps(self, problem: Problem, start: Array, until: float) -> Iterator[Step]:
        """Yield the steps; see `Learner`. They end where neither bound moves any more."""
        master = Master(problem, self.most)
        best = point = problem.at(start)
        lower, before, still = 0.0, (np.inf, 0.0), 0
        while still < _STALLED:
            master.add(point.cut)
            w, bound = master.minimise()
            lower = max(lower, bound)
            yield Step(point, lower)
            point = problem.at(self._query(master, best, point, lower, w), until=until)
            best = min(best, point, key=lambda one: one.value)
            still = still + 1 if (best.value, lower) == before else 0
            before = (best.value, lower)

    def _query(
        self, master: Master, best: Point, last: Point, lower: float, least: Array | None
    ) -> Array:
        level = lower + self.level * (best.value - lower)
        if self.level > 0.0 and level > lower:
            near = master.nearest(best.w, level)
            if near is not None:
                return near
        if least is not None:
            return least
        # No solver could do the small problem: a step of Polyak's towards the level needs none.
        slope = last.cut.slope
        square = float(slope @ slope)
        by = (last.value - level) / square if square > 0.0 else 0.0
        problem = master.problem
        return problem.regulariser.project(last.w - by * slope, problem.nonnegative)
