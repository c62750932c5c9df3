"""A bundle method for convex functions with known values and subgradients.

The objective is F(w) = Ω(w) + Σ_g R_g(w) over a convex set, where Ω is a penalty in closed form.
Each evaluation returns a cut for each group g, an affine function below R_g. The maximum of a
group's cuts is a model of R_g. The master program minimises Ω plus the models, and the method
evaluates F at the minimiser (Kelley 1960). A weighted average of cuts is also below R_g, and gives
a lower bound on the minimum of F. The best weights of this average are the multipliers of the
master program. Since any weights give a valid bound, solver errors cannot make it wrong.

Without a strongly convex Ω, the minimisers of the models oscillate. The level method therefore
evaluates F where Ω plus the models is at most a level between the two bounds, at the point nearest
to the best one so far (Lemaréchal, Nemirovskii & Nesterov 1995).
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
    """A convex function F = Ω + Σ_g R_g of weights w, for the bundle method.

    Ω is a penalty in closed form. The convex functions R_g are known only by cuts, which are affine
    functions below R_g.
    """

    @property
    def feasible(self) -> Feasible:
        """The penalty Ω and the feasible set of w."""

    def at(self, w: Vector, *, clock: Clock) -> Any:
        """Evaluate F at the weights `w`.

        Return an object with the attributes `w`, `value` (the number F(w)) and `cuts` (a cut for
        each group).
        """

    def lower(self, cut: Cut) -> float:
        """Return a lower bound on the minimum of F from a cut of Σ_g R_g."""

    def project(self, w: Vector) -> Vector:
        """Return feasible weights close to `w`."""


class BundleRound(NamedTuple):
    """A round of the bundle method: the new point and the best lower bound so far."""

    point: Any
    """The result of `ConvexObjective.at` for the evaluated weights."""
    lower: float
    """The best proved lower bound on the minimum of the objective so far."""


class CuttingPlanes:
    """A cutting-plane model of Σ_g R_g.

    The model is the sum of the largest cut of each group, and at most Σ_g R_g everywhere.

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
        The change of each weight that changes F by about 1.
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
        """The number of constant cuts from `floors`, which come first and are never dropped."""
        self._floors = np.full(groups, -np.inf) if floors is None else floors
        # No term is above 0, so that the factor covers the rounding of the sum.
        self.floor = float(self._floors.sum()) * (1.0 + 2.0 * roundoff(groups))
        """The lower bound on the minimum of F that follows from `floors`, or −inf without them."""
        zero = np.zeros((first.size, unit.size))
        self.cuts = Cuts(first, zero, zero)
        self.group = np.arange(first.size)
        self.idle = np.zeros(first.size, dtype=np.int64)
        """The number of rounds for which each cut has been inactive."""
        self._known = set(self._keys(self.cuts, self.group))

    def of(self, objective: ConvexObjective) -> CuttingPlanes:
        """Return a copy of this model for another objective with the same functions R_g."""
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
        """Add a cut for each group.

        Known cuts, and cuts that `floors` implies, are skipped.
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
        """Minimise penalty plus model.

        Return the minimiser and a lower bound on min F. If Clarabel fails, the
        minimiser is None, and the lower bound is `floor`.
        """
        # The lower bound follows from averages of the cuts, and not from the value that Clarabel
        # reports.
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
    """Run the bundle method from a point, and yield each round.

    `point` is a result of `ConvexObjective.at`. Because of rounding errors, the method ends after
    `patience` rounds in a row that improve neither bound. A `level` between 0 and 1 selects the
    level method, which needs a penalty Ω without a quadratic term.
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
