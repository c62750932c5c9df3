"""The master programs of the bundle method, which Clarabel solves."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import sparse

from relaxboost._core.arrays import Matrix, Vector, Whole
from relaxboost.solvers.bundle.cuts import Cuts

TOLERANCE = 1e-10
"""The tolerances of Clarabel. Lower bounds do not rely on them, but low accuracy costs rounds."""
LEAST_PRICE = 1e4 * TOLERANCE
"""The least price of a variable in a penalty, in units of the cuts. Multipliers are wrong by the
tolerance, and a lower bound is useless if this error exceeds the prices."""
SMALLEST = float(np.finfo(np.float64).tiny) ** 0.5
"""A smaller size is a rounding error of 0: its inverse squared may leave the range of doubles."""


class Feasible(NamedTuple):
    """A set of weights w, with the penalty Ω(w) = (square/2)‖s w‖₂² + absolute · ‖s w‖₁ on the set.

    The product s w with `scale` is taken entry by entry.
    """

    scale: Vector
    """s, shape (d,), with positive entries."""
    nonnegative: bool
    """Whether w >= 0 on the set."""
    square: float = 0.0
    absolute: float = 0.0
    radius: float = math.inf
    """The largest ‖s w‖₁ on the set."""
    full: bool = False
    """Whether ‖s w‖₁ equals the radius everywhere on the set, which requires w >= 0."""
    euclidean: float = math.inf
    """The largest ‖w‖₂ on the set."""


class Master:
    """The programs over weights w and a height for each group, which is above its cuts.

    The variables of the programs are z = w / (size · unit), then, if ‖s w‖₁ matters and the signs
    are free, a y >= |z|, and last the heights divided by `size`, which is a size of the cuts.
    Clarabel then reads numbers of moderate size whatever the units of w and of the cuts are.

    Parameters
    ----------
    feasible : Feasible
        Ω and the set of w.
    groups : int
        The number of groups.
    unit : array of shape (d,)
        Changes of the weights that change the cuts by about 1.
    """

    def __init__(self, feasible: Feasible, groups: int, unit: Vector) -> None:
        self._feasible = feasible
        self._groups = groups
        self._given = unit
        self._price = -1.0
        self._fit_units(0.0)

    def _fit_units(self, size: float) -> None:
        """Make the rows of the set in units that suit cuts of a size.

        The price of ‖s w‖₁ is the l1 penalty, or, in a ball, what a cut of this size may charge for
        it. Both a price far above the cuts and one below the accuracy of Clarabel ruin the
        multipliers, so that the price of each unit is kept between `LEAST_PRICE` and 1.
        """
        price = max(self._feasible.absolute, size / self._feasible.radius)
        if price != self._price:
            self._price = price
            self._make_rows(self._given if price == 0.0 else self._priced(price))

    def _make_rows(self, unit: Vector) -> None:
        """Make the penalty and the rows of the set, which do not depend on the cuts."""
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

    def _priced(self, price: float) -> Vector:
        """Return the units that cost between `LEAST_PRICE` and 1 at a price > 0 of ‖s w‖₁."""
        largest = 1.0 / price / self._feasible.scale
        # Cuts must stay in the range of doubles, however small the price is.
        least = np.minimum(LEAST_PRICE * largest, self._given / LEAST_PRICE**2)
        return np.clip(self._given, least, largest)

    def _add(self, cone: str, right: Vector, *entries: tuple[Vector, Whole, Whole]) -> None:
        """Add the constraint that right/size − rows · x is in a cone of Clarabel.

        The entries of the rows are values, with the row and the column of each value.
        """
        for values, rows, columns in entries:
            made = np.array([values, rows + self._right.size, columns])
            self._entries = np.concatenate([self._entries, made], axis=1)
        self._right = np.append(self._right, right)
        self._cones.append((cone, right.size))

    def minimise(self, cuts: Cuts, group: Whole) -> tuple[Vector, Vector] | None:
        """Return the minimiser w of Ω plus the heights, and the multipliers of the cuts, or None.

        Neither array is exact. None is returned if the solver fails.
        """
        rows, size = self._scaled(cuts, group)
        found = self._solve(size * self._curvature, self._costs, rows, -cuts.offset, size)
        return None if found is None else (self._weights(found[0], size), found[1])

    def nearest(self, centre: Vector, level: float, cuts: Cuts, group: Whole) -> Vector | None:
        """Return the w nearest to `centre` at which Ω plus the heights is at most `level`.

        Ω must have no square. The result is None if the solver finds no such w.
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
        """Return the rows of the cuts in the variables, and `size`.

        The size is the largest offset, or else the largest slope in the units of w, or 1.
        """
        size = float(np.abs(cuts.offset).max())
        self._fit_units(size)
        d = self._unit.size
        n = self._costs.size
        rows = np.zeros((group.size, n))
        rows[:, :d] = cuts.slope * self._unit
        steep = float(np.abs(rows[:, :d]).max())
        rows[np.arange(group.size), n - self._groups + group] = -1.0
        if size <= 1e-9 * steep:  # the offsets are 0, or rounding errors of 0
            size = steep
        return rows, size if size >= SMALLEST else 1.0

    def _weights(self, x: Vector, size: float) -> Vector:
        # The product of the two sizes alone could leave the range of doubles.
        return self._unit * (size * x[: self._unit.size])

    def _solve(
        self, curvature: Vector, costs: Vector, rows: Matrix, right: Vector, size: float
    ) -> tuple[Vector, Vector] | None:
        """Return x and the multipliers of rows · x <= right/size, or None.

        The minimised function is Σ curvature_j x_j²/2 + <costs, x>, and x is in the set.
        """
        import clarabel

        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_threads = 1
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
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
