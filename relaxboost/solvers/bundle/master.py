"""The master programs of the bundle method, solved by Clarabel."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import sparse

from relaxboost._core.arrays import Matrix, Vector, Whole
from relaxboost.relaxations.cone_solver import SOLVER_TOLERANCE
from relaxboost.solvers.bundle.cuts import Cuts

LEAST_PRICE = 1e4 * SOLVER_TOLERANCE
# The multipliers that Clarabel returns have errors of about its tolerance. If these errors exceed
# the prices, the lower bound is useless. The programs therefore use a larger unit for smaller
# prices.
"""The smallest price of a weight: the l1 penalty of one unit, divided by the size of the cuts."""
SMALLEST = float(np.finfo(np.float64).tiny) ** 0.5
# A smaller size is a rounding error of 0, and the reciprocal of its square may overflow.
"""The smallest size of the cuts that is scaled to 1."""


class Feasible(NamedTuple):
    """The feasible set and the penalty for the weights w of the bundle method.

    The penalty is Ω(w) = (square/2)‖s w‖₂² + absolute · ‖s w‖₁. The vector s is `scale`, and s w is
    the entrywise product.
    """

    scale: Vector
    """The positive factor of each weight in the penalty."""
    nonnegative: bool
    """Whether all weights must be >= 0."""
    square: float = 0.0
    absolute: float = 0.0
    radius: float = math.inf
    """The largest norm ‖s w‖₁, or inf if there is no limit. The vector s is `scale`."""
    full: bool = False
    """Whether ‖s w‖₁ must equal `radius`. This requires `nonnegative`."""
    euclidean: float = math.inf
    """The largest norm ‖w‖₂, or inf if there is no limit."""


class Master:
    """The master programs of the bundle method, which minimise a penalty plus a model.

    The variables of a program are the weights w and, for each group of cuts, a height that is at
    least every cut of the group. The model is the sum of the heights.

    The variables are scaled to moderate size. Let `size` be the largest absolute offset of the cuts
    or, if the offsets are about 0, their largest slope. The first variables are z = w / (`size` ·
    `unit`). If the program needs ‖s w‖₁ and w may be negative, variables y >= |z| follow. The last
    variables are the heights divided by `size`.

    Parameters
    ----------
    feasible : Feasible
        The penalty Ω and the set of feasible weights w.
    groups : int
        The number of groups.
    unit : array of shape (d,)
        The change of each weight that changes the cuts by about 1.
    """

    def __init__(self, feasible: Feasible, groups: int, unit: Vector) -> None:
        self._feasible = feasible
        self._groups = groups
        self._given = unit
        self._price = -1.0
        self._fit_units(0.0)

    def _fit_units(self, size: float) -> None:
        # The price of ‖s w‖₁ is the coefficient of the l1 penalty or, over a ball, `size` divided
        # by the radius if this quotient is larger. A price far above the size of the cuts, or below
        # the accuracy of Clarabel, would make the multipliers inaccurate. So the price of each unit
        # is kept between `LEAST_PRICE` and 1.
        price = max(self._feasible.absolute, size / self._feasible.radius)
        if price == self._price:
            return
        self._price = price
        unit = self._given
        if price > 0.0:
            largest = 1.0 / price / self._feasible.scale
            # Cuts must stay in the range of doubles, however small the price is.
            least = np.minimum(LEAST_PRICE * largest, unit / LEAST_PRICE**2)
            unit = np.clip(unit, least, largest)
        self._make_rows(unit)

    def _make_rows(self, unit: Vector) -> None:
        feasible = self._feasible
        self._unit = unit
        self._curvature = feasible.square * (feasible.scale * unit) ** 2
        d = unit.size
        l1_matters = feasible.absolute > 0.0 or feasible.radius < math.inf
        split = l1_matters and not feasible.nonnegative
        n = d + (d if split else 0) + self._groups
        # With w >= 0 the l1 norm is the sum of w, which needs no further variables.
        l1 = np.zeros(n)
        l1[slice(d, 2 * d) if split else slice(d)] = feasible.scale * unit
        self._costs = feasible.absolute * l1
        self._costs[n - self._groups :] = 1.0
        self._entries = np.zeros((3, 0))
        self._right = np.zeros(0)
        self._cones: list[tuple[str, int]] = []
        ones = np.ones(d)
        own = np.arange(d)
        if feasible.nonnegative:
            self._add("NonnegativeConeT", np.zeros(d), (-ones, own, own))
        for sign in (1.0, -1.0) if split else ():
            entries = (sign * ones, own, own), (-ones, own, own + d)
            self._add("NonnegativeConeT", np.zeros(d), *entries)
        if feasible.radius < math.inf:
            cone = "ZeroConeT" if feasible.full else "NonnegativeConeT"
            columns = np.flatnonzero(l1)
            # Entries around 1 suit Clarabel; a division by the largest would lose the small ones.
            typical = float(np.exp(np.log(l1[columns]).mean()))
            row = l1[columns] / typical, 0 * columns, columns
            self._add(cone, np.array([feasible.radius / typical]), row)
        if feasible.euclidean < math.inf:
            # The first entry of the cone bounds the norm of the others.
            largest = float(unit.max())
            right = np.append(feasible.euclidean / largest, np.zeros(d))
            self._add("SecondOrderConeT", right, (-unit / largest, own + 1, own))

    def _add(self, cone: str, right: Vector, *entries: tuple[Vector, Whole, Whole]) -> None:
        """Add the constraint "right/size − rows · x lies in a cone" to all programs.

        `cone` is the name of the cone in Clarabel, and x are the scaled variables. `entries`
        contains the nonzero values of `rows`, their row indices and their column indices.
        """
        for values, rows, columns in entries:
            made = np.array([values, rows + self._right.size, columns])
            self._entries = np.concatenate([self._entries, made], axis=1)
        self._right = np.append(self._right, right)
        self._cones.append((cone, right.size))

    def minimise(self, cuts: Cuts, group: Whole) -> tuple[Vector, Vector] | None:
        """Return weights that minimise penalty plus model, and the multipliers of the cuts.

        Both are only as accurate as Clarabel. The result is None if Clarabel fails.
        """
        rows, size = self._scaled(cuts, group)
        found = self._solve(size * self._curvature, self._costs, rows, -cuts.offset, size)
        return None if found is None else (self._weights(found[0], size), found[1])

    def nearest(self, centre: Vector, level: float, cuts: Cuts, group: Whole) -> Vector | None:
        """Return the weights nearest to `centre` at which penalty plus model is at most `level`.

        The penalty must have no quadratic term. The result is None if Clarabel finds no such
        weights.
        """
        rows, size = self._scaled(cuts, group)
        # The distance is divided by the largest unit, which moderates its curvature.
        largest = float(self._unit.max())
        relative = self._unit / largest
        pull = np.zeros(self._costs.size)
        pull[: centre.size] = -relative * centre / (size * largest)
        right = np.append(-cuts.offset, level)
        found = self._solve(relative**2, pull, np.vstack([rows, self._costs]), right, size)
        return None if found is None else self._weights(found[0], size)

    def _scaled(self, cuts: Cuts, group: Whole) -> tuple[Matrix, float]:
        # The size of the cuts is the largest absolute offset. If all offsets are 0 up to rounding,
        # it is the largest slope in the units of w, or 1 if the slopes are 0 too.
        size = float(np.abs(cuts.offset).max())
        self._fit_units(size)
        d = self._unit.size
        n = self._costs.size
        rows = np.zeros((group.size, n))
        rows[:, :d] = cuts.slope * self._unit
        steep = float(np.abs(rows[:, :d]).max())
        rows[np.arange(group.size), n - self._groups + group] = -1.0
        # If the offsets are 0 or rounding errors of 0, the slopes define the size.
        if size <= 1e-9 * steep:
            size = steep
        return rows, size if size >= SMALLEST else 1.0

    def _weights(self, x: Vector, size: float) -> Vector:
        # The product of the two sizes alone could leave the range of doubles.
        return self._unit * (size * x[: self._unit.size])

    def _solve(
        self, curvature: Vector, costs: Vector, rows: Matrix, right: Vector, size: float
    ) -> tuple[Vector, Vector] | None:
        # The cuts are the inequalities rows · x <= right/size.
        import clarabel

        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_threads = 1
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = SOLVER_TOLERANCE
        n = costs.size
        d = curvature.size
        P = sparse.csc_matrix((curvature, np.arange(d), np.minimum(np.arange(n + 1), d)), (n, n))
        places = np.nonzero(rows)
        values, more, columns = self._entries
        b = np.concatenate([right, self._right]) / size
        where = np.append(places[0], more + right.size), np.append(places[1], columns)
        A = sparse.csc_matrix((np.append(rows[places], values), where), (b.size, n))
        cones = [("NonnegativeConeT", right.size), *self._cones]
        made = [getattr(clarabel, name)(length) for name, length in cones]
        found = clarabel.DefaultSolver(P, costs, A, b, made, settings).solve()
        x = np.array(found.x)
        multipliers = np.array(found.z)[: right.size]
        # Clarabel reports some failures by numbers that are not finite.
        finite = np.isfinite(x).all() and np.isfinite(multipliers).all()
        return None if not finite or "nfeasible" in str(found.status) else (x, multipliers)
