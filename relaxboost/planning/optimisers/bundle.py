"""One cut a round for all tasks together, and a query within a level of the model."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost._core.highs import OwnThread
from relaxboost._core.loop import Clock
from relaxboost._core.parameters import count
from relaxboost.planning.cuts import Cut, mean
from relaxboost.planning.optimisers.base import FitState, Optimiser
from relaxboost.planning.problem import FitPoint, Problem

_STALLED = 60
"""Rounds that changed neither bound after which rounding is to blame."""


@dataclass(frozen=True)
class Bundle(Optimiser):
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

    def steps(self, problem: Problem, start: Array, clock: Clock) -> Iterator[FitState]:
        """Yield the steps; see `Optimiser`. They end where neither bound moves any more."""
        master = Master(problem, self.most)
        best = point = problem.at(start)
        lower, before, still = 0.0, (np.inf, 0.0), 0
        while still < _STALLED:
            master.add(point.cut)
            w, bound = master.minimise()
            lower = max(lower, bound)
            yield FitState(point, lower)
            point = problem.at(self._query(master, best, point, lower, w), clock=clock)
            best = min(best, point, key=lambda one: one.value)
            still = still + 1 if (best.value, lower) == before else 0
            before = (best.value, lower)

    def _query(
        self, master: Master, best: FitPoint, last: FitPoint, lower: float, least: Array | None
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


_SOLVERS: dict[str, dict[str, Any]] = {
    "CLARABEL": {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10},
    "HIGHS": {},
    "SCS": {"eps_abs": 1e-7, "eps_rel": 1e-7},
}
"""Tried in this order; nothing they say enters a bound unless it is computed anew."""

_INACTIVE = 1e-8


class Master:
    """The model m(w) = max over cuts of offset + <slope, w>, which is below R.

    Its programs are posed in w_j times the largest entry of feature j, and in values divided by
    the largest offset, so that units of features do not matter to solvers.
    """

    def __init__(self, problem: Problem, most: int) -> None:
        self.problem, self.most = problem, most
        self.cuts = [Cut(0.0, np.zeros(problem.d))]  # R >= 0
        self.idle = [0]
        largest = np.max([np.abs(x).max(axis=0) for x in problem.arc_features], axis=0)
        self._unit = 1.0 / np.where(largest > 0.0, largest, 1.0)

    def add(self, cut: Cut) -> None:
        """Add a cut, unless it is there already or says less than 0 <= R."""
        if cut.offset <= 0.0 and not cut.slope.any():
            return
        for there in self.cuts:
            if there.offset == cut.offset and np.array_equal(there.slope, cut.slope):
                return
        self.cuts.append(cut)
        self.idle.append(0)

    def minimise(self) -> tuple[Array | None, float]:
        """Return the w of least Ω + m, and a lower bound of min Ω + R.

        The bound comes from the multipliers of the cuts, made a distribution, not from the
        solver's value. Where no solver finds any, None and 0.
        """
        import cvxpy as cp

        z, height, below, penalty, rules, size = self._posed()
        if not _solved(cp.Problem(cp.Minimize(penalty + height), [below, *rules])):
            self._warn()
            return None, 0.0
        w, bound = self._projected(size * self._unit * z.value), 0.0
        alpha = np.asarray(below.dual_value, dtype=np.float64)
        average = mean(self.cuts, alpha)
        if average is not None:
            bound = self.problem.lower(average)
            self._forget(alpha / np.abs(alpha).sum())
        return w, bound

    def nearest(self, centre: Array, level: float) -> Array | None:
        """Return the w nearest to a centre among those with Ω + m <= level; None if none is found.

        Distances are in the units of the programs.
        """
        import cvxpy as cp

        z, height, below, penalty, rules, size = self._posed()
        rules += [below, height + penalty <= level / size]
        away = cp.sum_squares(z - centre / (size * self._unit))
        if not _solved(cp.Problem(cp.Minimize(away), rules), ("CLARABEL",)):
            return None
        return self._projected(size * self._unit * z.value)

    def _posed(self) -> tuple[Any, Any, Any, Any, list[Any], float]:
        """Return the variables, the model below its height, Ω, its domain, and the unit of values.

        The height is a variable, so that a curved Ω is in one constraint and not in one a cut.
        """
        import cvxpy as cp

        a = np.array([cut.offset for cut in self.cuts])
        G = np.array([cut.slope for cut in self.cuts]) * self._unit
        size, steep = float(np.abs(a).max()), float(np.abs(G).max())
        if size <= 1e-9 * steep:  # offsets of 0, or what rounding leaves of them
            size = steep
        size = size if size > 0.0 else 1.0
        z, height = cp.Variable(self.problem.d), cp.Variable()
        w = size * cp.multiply(self._unit, z)
        penalty, rules = self.problem.regulariser.expression(w)
        rules = [*rules, w >= 0.0] if self.problem.nonnegative else rules
        return z, height, G @ z + a / size <= height, penalty / size, rules, size

    def _projected(self, w: Array) -> Array | None:
        if not np.isfinite(w).all():
            return None
        return self.problem.regulariser.project(w, self.problem.nonnegative)

    def _forget(self, alpha: Array) -> None:
        """Drop cuts that have long been inactive, if there are too many.

        Bounds that they gave stay true, and the active ones alone give the least of the model.
        """
        self.idle = [
            0 if weight > _INACTIVE else idle + 1
            for idle, weight in zip(self.idle, alpha, strict=True)
        ]
        if len(self.cuts) <= self.most:
            return
        order = sorted(range(1, len(self.cuts)), key=lambda k: self.idle[k])
        wanted = max(1, 3 * self.most // 4)
        kept = sorted(k for place, k in enumerate(order) if place < wanted or not self.idle[k])
        kept.insert(0, 0)
        self.cuts = [self.cuts[k] for k in kept]
        self.idle = [self.idle[k] for k in kept]

    def _warn(self) -> None:
        warnings.warn(
            f"none of {', '.join(_SOLVERS)} could solve a master problem of {len(self.cuts)} cuts; "
            "going on with subgradient steps, and the bounds stay true. Features of like size help",
            RuntimeWarning,
            stacklevel=4,
        )


def _solved(program: Any, names: Sequence[str] = tuple(_SOLVERS)) -> bool:
    """Return whether some solver found a finite point, accurate or not."""
    import cvxpy as cp

    with warnings.catch_warnings():
        # "Solution may be inaccurate": bounds are computed from it, and not believed.
        warnings.simplefilter("ignore")
        for name in names:
            if name not in cp.installed_solvers():
                continue
            try:
                OwnThread()(program.solve, solver=name, **_SOLVERS[name])
            except (cp.SolverError, ValueError, ArithmeticError):
                continue
            values = [variable.value for variable in program.variables()]
            if all(value is not None and np.isfinite(value).all() for value in values):
                return True
            if program.status in ("infeasible", "unbounded"):
                return False
    return False
