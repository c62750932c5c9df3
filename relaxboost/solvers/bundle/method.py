"""The bundle method for convex functions that are known by values and subgradients.

The objective is F(w) = Ω(w) + Σ_g R_g(w) over a convex set, where Ω is a penalty in closed form.
Every evaluation returns a cut for each group g, which is an affine function below R_g. The largest
cut of a group is a model of R_g, and the next evaluation is at the minimiser of Ω plus the models
(Kelley 1960). An average of cuts is also below R_g, and it proves a lower bound of the least F. The
multipliers of the master program are the best weights of the average. The bound is true for any
weights, so it does not rely on the solver of the master program.

Without a strongly convex Ω, the minimisers of the models oscillate. The level method then evaluates
F at the point nearest to the best point so far at which the model is at most a level between the
two bounds (Lemaréchal, Nemirovskii & Nesterov 1995).
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
    """A convex function F = Ω + Σ_g R_g that the bundle method minimises."""

    @property
    def feasible(self) -> Feasible:
        """Ω and the set of w."""

    def at(self, w: Vector, *, clock: Clock) -> Any:
        """Return an object with the attributes `w`, `value` = F(w), and `cuts` for all groups."""

    def lower(self, cut: Cut) -> float:
        """Return a lower bound of the least F, where the cut is below Σ_g R_g."""

    def project(self, w: Vector) -> Vector:
        """Return weights of the set near w."""


class BundleRound(NamedTuple):
    """A round of the bundle method."""

    point: Any
    """The point that `ConvexObjective.at` returned in this round."""
    lower: float
    """The best lower bound of the least F so far."""


class CuttingPlanes:
    """The model Σ_g max over the cuts of group g of offset + <slope, w>, which is below Σ_g R_g.

    Parameters
    ----------
    objective : ConvexObjective
        F.
    groups : int
        The number of groups.
    max_cuts : int
        The number of cuts to keep. The cuts that were inactive for the longest time are dropped
        first.
    unit : array of shape (d,)
        Changes of the weights that change F by about 1.
    floors : array of shape (groups,), optional
        Lower bounds <= 0 of every R_g, if Ω is nonnegative. The model then has the cuts
        floor <= R_g, which are never dropped.
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
        """The number of cuts floor <= R_g, which come first and are never dropped."""
        self._floors = np.full(groups, -np.inf) if floors is None else floors
        # No term is above 0, so that the factor covers the rounding of the sum.
        self.floor = float(self._floors.sum()) * (1.0 + 2.0 * roundoff(groups))
        """A lower bound of the least F, or −inf."""
        zero = np.zeros((first.size, unit.size))
        self.cuts = Cuts(first, zero, zero)
        self.group = np.arange(first.size)
        self.idle = np.zeros(first.size, dtype=np.int64)
        """The number of rounds for which each cut has been inactive."""
        self._known = set(self._keys(self.cuts, self.group))

    def of(self, objective: ConvexObjective) -> CuttingPlanes:
        """Return a copy with the same cuts for an objective that differs only in Ω or its set."""
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
        """Add a cut for each group, unless the model has it or the floor of R_g implies it."""
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
        """Return the minimiser of Ω plus the model, and a lower bound of the least F.

        The bound comes from the multipliers of the cuts, which are turned into a distribution in
        each group. The value that the solver reports is not used. If the solver fails, the result
        is None and `floor`.
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
        """Return the w nearest to `centre` at which the model is at most `level`, or None."""
        w = self.master.nearest(centre, level, self.cuts, self.group)
        return None if w is None else self.objective.project(w)

    def _forget(self, alpha: Vector) -> None:
        """Drop the cuts that were inactive for the longest time, if there are too many.

        Bounds that they gave stay true, and the minimiser of the model depends on active cuts only.
        """
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
    """Yield the rounds of the method, beginning with a point that was evaluated.

    The method ends after `patience` rounds in which rounding errors let neither bound change. With
    a `level` between 0 and 1 it is the level method, and Ω must have no square.
    """
    best = point
    lower = model.floor
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
    """Return Polyak's subgradient step towards a level of F, which needs no solver."""
    s = model.objective.feasible
    penalty = s.square * s.scale**2 * last.w + s.absolute * s.scale * np.sign(last.w)
    # The step is made in weights divided by their units.
    slope = model.unit * (last.cuts.slope.sum(axis=0) + penalty)
    square = float(slope @ slope)
    step = (last.value - level) / square if square > 0.0 and math.isfinite(level) else 0.0
    return model.objective.project(last.w - step * model.unit * slope)
