"""Upper bounds on f from feasible points of its cone program.

The value f(d) is the minimum over z of cost·x + x·P x/2 + constant with x = (d, z), subject to rows
@ x + s = right with slacks s in cones. Every feasible point (d, z) therefore proves an upper bound
on f(d). A solver's point violates constraints by up to its tolerance. `ConePoints` moves the point
onto the equations, and then towards an interior point of all cones until no constraint is violated.
Inequalities without interior points, such as d_1 <= 0 in the simplex, are treated as equations.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.lazy import cp
from relaxboost._core.rounding import ROUNDINGS, UNIT
from relaxboost.relaxations.cone_form import ConeForm, square_map
from relaxboost.relaxations.cone_multipliers import implied_rows, least_singular_value
from relaxboost.relaxations.cone_solver import POINT_ACCURACY, solves

EQUATION_TOLERANCE = 1e-13
"""The largest violation of an equation at a point that is treated as feasible.

It is relative to one plus the size of the terms. Newton's steps leave violations of a few ulps.
"""


class ConePoints:
    """Feasible points of the cone program `form` for m examples.

    The first m variables are the entries of d. With `simplex`, d must be in the simplex.
    """

    def __init__(self, form: ConeForm, m: int, *, simplex: bool = True) -> None:
        self._form = form
        self._m = m
        self._simplex = simplex
        self._sizes = abs(form.rows).tocsr()
        self._tie(np.arange(form.right.size) < form.zero, np.ones(m, dtype=np.bool_))

    def _tie(self, is_equation: Any, is_free: Any) -> None:
        """Store which rows are equations, and which weights d may be positive.

        The arguments are boolean arrays. Weights that may not be positive are zero.
        """
        from scipy import sparse

        form = self._form
        self._is_equation = is_equation
        self._is_free = is_free
        whole = sparse.csr_array((np.arange(form.cost.size) < self._m)[None, :] * 1.0)
        rows = sparse.vstack([whole, form.rows[is_equation]][1 - self._simplex :])
        self._equations = sparse.csr_array(rows)
        self._equal = np.append(1.0, form.right[is_equation])[1 - self._simplex :]

    @cached_property
    def has_dependent_equations(self) -> bool:
        """Whether equations are dependent up to rounding, but not exactly.

        Such equations may contradict each other in exact arithmetic.
        """
        from scipy import sparse

        unit = np.sqrt(self._equations.multiply(self._equations).sum(axis=1))
        used = np.flatnonzero(unit + np.abs(self._equal))
        rows = self._equations[used]
        unit = np.where(unit[used] > 0.0, unit[used], 1.0)
        scaled = sparse.csr_array(sparse.diags_array(1.0 / unit) @ rows)
        if least_singular_value(scaled) > 0.0:
            return False
        right = sparse.csr_array(self._equal[used, None])
        terms = sparse.hstack([right, rows], format="csr")
        kept = np.delete(np.arange(used.size), implied_rows(scaled, terms, unit))
        return least_singular_value(scaled[kept]) == 0.0

    def near(self, point: Vector, *, move: bool = True) -> tuple[Vector, float] | None:
        """Return feasible weights near those in `point`, and an upper bound on f there.

        With `move`, the point may be moved towards the feasible point `inside`. The result is None
        if no feasible weights are found.
        """
        if point.shape != self._form.cost.shape or not np.isfinite(point).all():
            return None
        x = self._onto(point)
        if not self._holds(x):
            if not move or self.inside is None:
                return None
            # `inside` may have found that some inequalities hold as equations.
            x = self._towards(self._onto(point), self.inside)
        form = self._form
        bent = form.quadratic @ x
        terms = [*(form.cost * x).tolist(), *(0.5 * bent * x).tolist(), form.constant]
        return x[: self._m], math.fsum(terms) + ROUNDINGS * float(np.abs(terms).sum())

    def _towards(self, x: Vector, inside: Vector) -> Vector:
        """Return a feasible point between x and the feasible point `inside`, close to x."""
        if self._holds(x):
            return x
        share = 1e-16
        while share < 1.0 and not self._holds(self._onto(x + share * (inside - x))):
            share *= 10.0
        if share >= 1.0:
            return inside
        # The bound grows with the share, so that bisection narrows the share to a few percent.
        low = 0.1 * share
        for _ in range(8):
            middle = 0.5 * (low + share)
            if self._holds(self._onto(x + middle * (inside - x))):
                share = middle
            else:
                low = middle
        return self._onto(x + share * (inside - x))

    def _onto(self, x: Vector) -> Vector:
        """Move the point x = (d, z) onto its equations, and d into the simplex if required."""
        d = x[: self._m]
        if self._simplex:
            d = np.where(self._is_free, np.maximum(d, 0.0), 0.0)
            d = d / max(math.fsum(d.tolist()), UNIT)
        return self._corrected(np.append(d, x[self._m :]), self._equations, self._equal)

    def onto_domain(self, d: Vector) -> Vector:
        """Move the point d onto the equations that contain only entries of d."""
        is_alone = np.diff(self._equations[:, self._m :].tocsr().indptr) == 0
        x = np.append(d, np.zeros(self._form.cost.size - self._m))
        return self._corrected(x, self._equations[is_alone], self._equal[is_alone])[: self._m]

    def _corrected(self, x: Vector, rows: Any, right: Vector) -> Vector:
        from scipy import sparse
        from scipy.sparse.linalg import splu

        if not right.size:
            return x
        # Each entry moves in proportion to its size, so that a zero entry of d stays zero.
        sizes = np.abs(x)
        sizes[self._m if self._simplex else 0 :] += 1.0
        moves = rows @ sparse.diags_array(sizes) @ rows.T
        ridge = sparse.diags_array(EQUATION_TOLERANCE * moves.diagonal() + 1e-300)
        try:
            factor = splu(
                sparse.csc_array(moves + ridge), "MMD_AT_PLUS_A", options={"SymmetricMode": True}
            )
        except RuntimeError:  # The system is singular, because no entry of an equation may move.
            return x
        # Each step leaves about 1e-10 of the distance, because of the ridge.
        for _ in range(3):
            x = x + sizes * (rows.T @ factor.solve(right - rows @ x))
        return x

    def _holds(self, x: Vector) -> bool:
        form = self._form
        if self._simplex and x[: self._m].min() < 0.0:
            return False
        slack = form.right - form.rows @ x
        size = np.abs(form.right) + self._sizes @ np.abs(x)
        is_equation = self._is_equation
        if (np.abs(slack[is_equation]) > EQUATION_TOLERANCE * (1.0 + size[is_equation])).any():
            return False
        half = slice(0, form.zero + form.half)
        is_short = slack[half] < -ROUNDINGS * size[half]
        if (is_short & ~is_equation[half]).any():
            return False
        for rows, k in form.second_order():
            s = slack[rows].reshape(-1, k)
            large = size[rows].reshape(-1, k).max(axis=1)
            if (np.linalg.norm(s[:, 1:], axis=1) > s[:, 0] + ROUNDINGS * large).any():
                return False
        for rows, side in form.matrices():
            square = (square_map(side) @ slack[rows]).reshape(side, side)
            if np.linalg.eigvalsh(square)[0] < -side * ROUNDINGS * size[rows].max(initial=0.0):
                return False
        a, b, c = slack[form.exponentials].reshape(-1, 3).T
        large = size[form.exponentials].reshape(-1, 3).max(axis=1, initial=0.0)
        # (a, b, c) is in the exponential cone if b > 0 and b exp(a / b) <= c, or b = 0 and
        # a <= 0 <= c.
        steep = np.where(b > 0.0, b, 1.0)
        with np.errstate(all="ignore"):
            at_end = np.maximum(np.maximum(a, -c), -b)
            over = np.where(b > 0.0, b * np.exp(a / steep) - c, at_end)
        return not (over > ROUNDINGS * large).any()

    @cached_property
    def inside(self) -> Vector | None:
        """A feasible point with a small value of f, or None if none was found.

        If possible, the point is in the interior of all cones.
        """
        found, has_room = self._with_most_room()
        if has_room:
            return found
        # Inequalities without room become equations, and the others may then have room.
        before = self._is_equation, self._is_free
        tied = self._tight()
        if tied is None:
            return found
        self._tie(*tied)
        again, _ = self._with_most_room()
        if again is None:  # Because of rounding, no point satisfies these equations.
            self._tie(*before)
        return found if again is None else again

    def _with_most_room(self) -> tuple[Vector | None, bool]:
        """Return a feasible point or None, and whether the point is inside all cones."""
        form = self._form
        x = cp.Variable(form.cost.size)
        room = cp.Variable()
        limits = [*self._limits(x, room), room <= 1.0]
        if self._simplex:
            limits.append(x[: self._m] >= room / self._m * self._is_free)
        inside = None
        # Room counts more and more against f, and the last trial ignores f.
        for price_of_room in (1.0, 1e4, math.inf):
            goal = -room
            if math.isfinite(price_of_room):
                bent = cp.quad_form(x, form.quadratic, assume_PSD=True)
                goal = form.cost @ x + 0.5 * bent - price_of_room * room
            if not solves(cp.Problem(cp.Minimize(goal), limits)):
                continue
            moved = self._onto(np.asarray(x.value))
            if not self._holds(moved):
                continue
            if float(room.value) > POINT_ACCURACY:
                return moved, True
            inside = moved if inside is None else inside
        return inside, False

    def _limits(self, x: Any, room: Any) -> list[Any]:
        """Return cvxpy constraints that put x at the distance `room` inside each cone."""
        form = self._form
        unit = np.maximum(abs(form.rows).max(axis=1).toarray().ravel(), np.abs(form.right))
        unit[unit == 0.0] = 1.0
        slack = form.right - form.rows @ x
        rows = self._equations
        right = self._equal
        half = np.flatnonzero(~self._is_equation[: form.zero + form.half])
        limits = [rows @ x == right] if right.size else []
        limits += [slack[half] >= cp.multiply(room, unit[half])] if half.size else []
        for cones, k in form.second_order():
            s = cp.reshape(slack[cones], ((cones.stop - cones.start) // k, k), order="C")
            large = unit[cones].reshape(-1, k).max(axis=1)
            limits.append(cp.SOC(s[:, 0] - room * large, s[:, 1:].T, axis=0))
        for cone, side in form.matrices():
            square = cp.reshape(square_map(side) @ slack[cone], (side, side), order="C")
            limits.append(square - room * unit[cone].max() * np.eye(side) >> 0)
        if form.exponential:
            a, b, c = (slack[form.exponentials][i::3] for i in range(3))
            limits.append(cp.ExpCone(a + room, b - room, c - room))
        return limits

    def _tight(self) -> tuple[Any, Any] | None:
        """Find the inequalities that no feasible point satisfies strictly.

        The result contains the arguments of `_tie`. It is None if there are no such inequalities,
        or if the solver fails.
        """
        form = self._form
        x = cp.Variable(form.cost.size)
        half = np.arange(form.zero, form.zero + form.half)
        spare = form.right[half] - form.rows[half] @ x
        spare = cp.hstack([spare, x[: self._m]]) if self._simplex else spare
        rooms = cp.Variable(spare.size)
        limits = [*self._limits(x, 0.0), rooms <= spare, rooms <= 1.0]
        # A root is steep at zero, so that every inequality that can have room has some.
        problem = cp.Problem(cp.Maximize(cp.sum(cp.sqrt(rooms))), limits)
        with np.errstate(invalid="ignore"):  # Rounding may make a number under a root negative.
            if not spare.size or not solves(problem):
                return None
        is_tight = np.asarray(rooms.value) <= POINT_ACCURACY
        is_equation = self._is_equation.copy()
        is_equation[half] = is_tight[: half.size]
        is_free = ~is_tight[half.size :] if self._simplex else self._is_free
        return (is_equation, is_free) if is_tight.any() else None
