"""One cut a round for all tasks together, and a query within a level of the model."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from relaxboost.planning.learners.base import Step
from relaxboost.planning.learners.master import Master
from relaxboost.planning.problem import Problem

_LEVEL = 0.3
"""Where between the lower and the upper bound the next query lies, in value of the model."""


def bundle(problem: Problem) -> Iterator[Step]:
    """Yield the steps of the level bundle method of Lemaréchal, Nemirovskii & Nesterov (1995).

    The model is the one-slack cutting plane of Joachims, Finley & Yu (2009); its least value is the
    lower bound. The next query is not its minimiser, which jumps about, but the point nearest to
    the best so far where the model is below a level between the bounds.
    """
    master = Master(problem)
    best = point = problem.at(np.zeros(problem.d))
    lower = 0.0
    while True:
        master.add(point.cut)
        w, bound = master.minimise()
        lower = max(lower, bound)
        yield Step(point, lower)
        level = lower + _LEVEL * (best.value - lower)
        point = problem.at(master.nearest(best.w, level) if level > lower else w)
        best = min(best, point, key=lambda one: one.value)
