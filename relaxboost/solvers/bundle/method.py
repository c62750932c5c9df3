"""The bundle method for convex functions, which needs only their values and subgradients.

The objective is F(w) = Ω(w) + Σ_g R_g(w) over a convex set, where Ω is a penalty in closed form.
Every evaluation returns a cut for each group g, which is an affine function below R_g. The maximum
of the cuts of a group is a model of R_g. The master program minimises Ω plus the models, and the
method evaluates F at the minimiser (Kelley 1960). A weighted average of cuts is also below R_g, so
it gives a lower bound on the minimum of F. The multipliers of the master program are the best
weights of this average. The lower bound is valid for any weights, so it does not depend on the
accuracy of the solver.

Without a strongly convex Ω, the minimisers of the models oscillate. The level method then evaluates
F at a point where Ω plus the models is at most a level between the lower and the upper bound. Among
these points the method takes the point nearest to the best point so far (Lemaréchal, Nemirovskii &
Nesterov 1995).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from copy import copy
from typing import Any, NamedTuple, Protocol

import numpy as np

from relaxboost._core.arrays import Vector, Whole
from relaxboost._core.loop import Clock
from relaxboost._core.rounding import roundoff
from relaxboost.solvers.bundle.cuts import Cut, Cuts, average
from relaxboost.solvers.bundle.master import Feasible, Master


class ConvexObjective(Protocol):
    """A convex function F = Ω + Σ_g R_g of weights w, which the bundle method minimises.

    Ω is a penalty in closed form. For each group g, R_g is a convex function. The method knows R_g
    only by cuts, which are affine functions below R_g.
    """

    @property
    def feasible(self) -> Feasible:
        """The penalty Ω of this objective, and the set of weights w over which it is minimised."""

    def at(self, w: Vector, *, clock: Clock) -> Any:
        """Evaluate the objective F at the weights `w`.

        Return an object with the attributes `w`, `value` (the number F(w)) and `cuts` (a cut for
        each group).
        """

    def lower(self, cut: Cut) -> float:
        """Return a lower bound on the minimum of the objective F.

        The argument `cut` is an affine function that is at most Σ_g R_g everywhere, where F = Ω +
        Σ_g R_g.
        """

    def project(self, w: Vector) -> Vector:
        """Return feasible weights close to the given weights `w`."""


class BundleRound(NamedTuple):
    """The result of a round of the bundle method: a new point and the best lower bound so far."""

    point: Any
    """The weights that this round evaluated, with the value of the objective and its cuts, as
    `ConvexObjective.at` returned them."""
    lower: float
    """The best lower bound on the minimum of the objective that the bundle method has proved so
    far."""


class CuttingPlanes:
    """A model of Σ_g R_g that the bundle method builds from cuts.

    The model is the sum over the groups g of the largest cut of group g, and is therefore at most
    Σ_g R_g for every w.

    Parameters
    ----------
    objective : ConvexObjective
        The function F.
    groups : int
        The number of groups.
    max_cuts : int
        The maximum number of cuts to keep. The cuts that have been inactive for the most rounds
        are dropped first.
    unit : array of shape (d,)
        The unit of each weight: a change of the weight by one unit changes F by about 1.
    floors : array of shape (groups,), optional
        A lower bound <= 0 on each R_g. Floors may be passed only if Ω is nonnegative. The model
        has a constant cut for each floor, and never drops these cuts.
    """

    def __init__(
        self,
        objective: ConvexObjective,
        groups: int,
        max_cuts: int,
        unit: Vector,
        floors: Vector | None = None,
    ) -> None:
        self.objective = objective
        self.master = Master(objective.feasible, groups, unit)
        self.groups = groups
        self.max_cuts = max_cuts
        self.unit = unit
        first = np.zeros(0) if floors is None else floors
        self._permanent = first.size
        """The number of constant cuts of the model, which come from `floors`. They are the first
        cuts and are never dropped."""
        self._floors = np.full(groups, -np.inf) if floors is None else floors
        # No term is above 0, so that the factor covers the rounding of the sum.
        self.floor = float(self._floors.sum()) * (1.0 + 2.0 * roundoff(groups))
        """The lower bound on the minimum of F that follows from `floors`. It is −inf without
        `floors`."""
        zero = np.zeros((first.size, unit.size))
        self.cuts = Cuts(first, zero, zero)
        self.group = np.arange(first.size)
        self.idle = np.zeros(first.size, dtype=np.int64)
        """For each cut of the model, the number of rounds for which it has been inactive."""
        self._known = set(self._keys(self.cuts, self.group))

    def of(self, objective: ConvexObjective) -> CuttingPlanes:
        """Return a copy of this model for another objective F, which has the same functions R_g."""
        made = copy(self)
        # The set of keys is changed in place, so each model needs its own.
        made._known = set(self._known)
        made.objective = objective
        made.master = Master(objective.feasible, self.groups, self.unit)
        return made

    @staticmethod
    def _keys(cuts: Cuts, group: Whole) -> list[bytes]:
        return [row.tobytes() for row in np.column_stack([group, cuts.offset, cuts.slope])]

    def add(self, cuts: Cuts) -> None:
        """Add a cut for each group g, which is an affine function below R_g.

        A cut is skipped if the model already has this cut, or if the lower bound on R_g in `floors`
        implies it.
        """
        keys = self._keys(cuts, np.arange(self.groups))
        says = (cuts.offset > self._floors) | cuts.slope.any(axis=1)
        # Equal cuts would make the multipliers ambiguous, and the programs larger.
        new = [g for g in range(self.groups) if says[g] and keys[g] not in self._known]
        self._known.update(keys[g] for g in new)
        pairs = zip(self.cuts, cuts.at(new), strict=True)
        self.cuts = Cuts(*(np.concatenate(pair) for pair in pairs))
        self.group = np.append(self.group, np.array(new, dtype=np.int64))
        self.idle = np.append(self.idle, np.zeros(len(new), dtype=np.int64))

    def minimise(self) -> tuple[Vector | None, float]:
        """Minimise the penalty plus the model. Return the minimiser and a lower bound on min F.

        The lower bound follows from the averages of the cuts, weighted by their multipliers, and
        not from the optimal value that the solver reports. If Clarabel fails, the minimiser is
        None, and the lower bound is the attribute `floor`.
        """
        found = self.master.minimise(self.cuts, self.group)
        if found is None:
            warnings.warn(
                f"Clarabel could not solve a master problem of {self.idle.size} cuts; the run "
                "continues with a subgradient step, and the bounds stay true",
                RuntimeWarning,
                stacklevel=3,
            )
            return None, self.floor
        w, alpha = found
        cut = average(self.cuts, alpha, self.group)
        bound = self.floor if cut is None else self.objective.lower(cut)
        self._forget(alpha)
        return self.objective.project(w), bound

    def nearest(self, centre: Vector, level: float) -> Vector | None:
        """Return the weights nearest to `centre` at which penalty plus model is at most `level`.

        The result is None if Clarabel finds no such weights.
        """
        w = self.master.nearest(centre, level, self.cuts, self.group)
        return None if w is None else self.objective.project(w)

    def _forget(self, alpha: Vector) -> None:
        # Lower bounds from dropped cuts remain valid, and the minimiser depends only on active
        # cuts.
        # Clarabel is accurate to 1e-10, so that a multiplier above 1e-8 is not a rounding error.
        self.idle = np.where(alpha > 1e-8, 0, self.idle + 1)
        self.idle[: self._permanent] = 0
        if self.idle.size > self.max_cuts:
            order = np.argsort(self.idle, kind="stable")
            # A quarter goes at once, so that the keys are not rebuilt in each round.
            few = max(self._permanent, 3 * self.max_cuts // 4, int((self.idle == 0).sum()))
            kept = np.sort(order[:few])
            self.cuts = self.cuts.at(kept)
            self.group = self.group[kept]
            self.idle = self.idle[kept]
            self._known = set(self._keys(self.cuts, self.group))


def rounds(
    model: CuttingPlanes, point: Any, clock: Clock, patience: int, level: float | None = None
) -> Iterator[BundleRound]:
    """Run the bundle method from a point, and yield the result of each round.

    `point` is a result of `ConvexObjective.at`. The method ends after `patience` rounds in a row
    that improve neither the upper nor the lower bound on the minimum, which rounding errors can
    cause. If `level` is a number between 0 and 1, the method is the level method, which needs a
    penalty Ω without a quadratic term.
    """
    best = point
    # In badly scaled weights, the multipliers of the solver may prove less than the first cuts do.
    cut = average(point.cuts, np.ones(model.groups), np.arange(model.groups))
    lower = model.floor if cut is None else max(model.floor, model.objective.lower(cut))
    idle = 0
    while idle < patience:
        before = (best.value, lower)
        model.add(point.cuts)
        query, bound = model.minimise()
        lower = max(lower, bound)
        best = min(best, point, key=lambda one: one.value)
        yield BundleRound(point, lower)
        # Rounding errors of the master problem may repeat the same query for ever.
        idle = idle + 1 if (best.value, lower) == before else 0
        if level is not None and math.isfinite(lower):
            near = model.nearest(best.w, lower + level * (best.value - lower))
            query = query if near is None else near
        if query is None:
            query = _polyak(model, point, lower)
        point = model.objective.at(query, clock=clock)


def _polyak(model: CuttingPlanes, last: Any, level: float) -> Vector:
    # Polyak's subgradient step towards a level of F, if the solver has found no other w.
    s = model.objective.feasible
    penalty = s.square * s.scale**2 * last.w + s.absolute * s.scale * np.sign(last.w)
    # The step is made in weights divided by their units.
    slope = model.unit * (last.cuts.slope.sum(axis=0) + penalty)
    square = float(slope @ slope)
    step = (last.value - level) / square if square > 0.0 and math.isfinite(level) else 0.0
    return model.objective.project(last.w - step * model.unit * slope)
