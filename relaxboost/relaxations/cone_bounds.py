"""Lower bounds on the relaxed margin from the dual of the cone program of f.

F(u) is the minimum over distributions d and auxiliary variables z of <u, d> + cost·x + x·P x/2 +
constant with x = (d, z), subject to rows @ x + s = right with slacks s in cones. For multipliers y
in the dual cones and any point p, let q = cost + (u, 0) + P p + rowsᵀ y. Then

    F(u) >= min over i <= m of q_i − <right, y> − p·P p/2 + <q_z, z> + constant,

since x·P x/2 >= p·P x − p·P p/2. Since z has no bounds, the part q_z of q must be exactly zero, but
in double precision it is zero only up to rounding. `ConeBounds` therefore proves that the dual
cones contain multipliers near y with q_z = 0, and subtracts the largest amount by which the bound
can change between y and these multipliers. If no such multipliers are found, the bound is −inf.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import TimeUp, seconds_left
from relaxboost._core.rounding import UNIT, price
from relaxboost.relaxations.cone_form import ConeForm
from relaxboost.relaxations.cone_multipliers import (
    DualCones,
    implied_rows,
    least_singular_value,
    merged_equations,
    shortest,
)
from relaxboost.relaxations.cone_solver import ACCURATE, POINT_ACCURACY, is_panic

_USABLE = ("Solved", "AlmostSolved", "InsufficientProgress", "MaxIterations", "NumericalError")


class ConeProof(NamedTuple):
    """Multipliers y of a cone program, and the point p where the objective is linearised."""

    y: Vector
    point: Vector


class ConeAnswer(NamedTuple):
    """The solution of the cone program for F(u), and the lower bound that its multipliers prove."""

    below: float
    """The lower bound on F(u), or −inf if no bound is proved."""
    d: Vector
    """The solver's minimiser of <u, d> + f(d)."""
    gamma: float
    """The threshold γ, the smallest entry of u + `slope`."""
    slope: Vector
    """The subgradient of f that follows from the multipliers."""
    proof: ConeProof


class _Found(NamedTuple):
    """Clarabel's point (d, z), multipliers, optimum and status."""

    x: Vector
    y: Vector
    value: float
    status: str


class _Ball(NamedTuple):
    """A ball around y that contains multipliers with q_z = 0.

    The module docstring defines the reduced costs q and the lower bound.
    """

    y: Vector
    slope: Vector
    """The largest change of each of the first m reduced costs within the ball."""
    value: float
    """The largest change of −<right, y> − p·P p/2 within the ball."""


class _Independent(NamedTuple):
    """A lower bound on the smallest singular value of the matrix T with scaled rows.

    `ConeBounds._ball` defines T and the scaling D of the multipliers.
    """

    unit: Vector
    """The lengths of the rows of T, by which the rows are divided.

    The length is inf for an equation that is left out, because it already holds or follows from
    others.
    """
    least: float
    """The lower bound on the smallest singular value, not positive if no bound is proved."""
    moves: Vector
    """The diagonal of D, with 0 for each fixed multiplier."""


class _Sides(NamedTuple):
    """Linear constraints rows @ d <= right, the first `equal` of which are equations."""

    rows: Any
    right: Vector
    equal: int


def _simplex(m: int) -> _Sides:
    from scipy import sparse

    rows = sparse.vstack([np.ones((1, m)), -sparse.eye_array(m)], format="csr")
    return _Sides(rows, np.append(1.0, np.zeros(m)), 1)


def _box(m: int) -> _Sides:
    from scipy import sparse

    eye = sparse.eye_array(m)
    rows = sparse.vstack([-eye, eye], format="csr")
    return _Sides(rows, np.repeat([0.0, 1.0], m), 0)


def _fixed(d: Vector) -> _Sides:
    from scipy import sparse

    return _Sides(sparse.eye_array(d.size, format="csr"), d, d.size)


class ConeBounds:
    """The cone program of a relaxation f, and lower bounds on F(u) from its multipliers.

    The first m variables are the weights d, in the simplex or in [0, 1]^m. If m is 0, all variables
    are auxiliary and may have any sign.
    """

    def __init__(self, form: ConeForm, m: int) -> None:
        from scipy import sparse

        self._form = form
        self._m = m
        self._cones = DualCones(form, m)
        self._up = sparse.csr_array(form.rows.T)
        self._square = sparse.csr_array(form.quadratic)
        self._sizes = (abs(self._up), abs(self._square))
        # A sum of k products is off by at most k roundings of the size of its terms.
        lengths = np.diff(self._up.indptr) + np.diff(self._square.indptr)
        self._roundings = 1.01 * UNIT * (lengths + 4.0)
        change = sparse.hstack([self._up @ sparse.diags_array(self._cones.moves), self._square])
        change = change.tocsr()[:m]
        self._steep = np.sqrt(change.multiply(change).sum(axis=1))
        self._last_independent: tuple[bytes, _Independent] | None = None

    @np.errstate(over="ignore", invalid="ignore")  # Numbers that overflow prove nothing.
    def below(self, u: Vector, proof: ConeProof, *, box: bool = False) -> float:
        """Return the lower bound on F(u) that `proof` proves.

        With `box`, d is in [0, 1]^m instead of the simplex. The bound is valid for every `proof`,
        but −inf if no multipliers with q_z = 0 are found nearby.
        """
        form = self._form
        m = self._m
        if proof.y.shape != form.right.shape or proof.point.shape != form.cost.shape:
            return -math.inf
        ball = self._ball(proof)
        if ball is None:
            return -math.inf
        point = proof.point
        q, size = self._reduced(u, ball.y, point)
        if not math.isfinite(2.0 * size.sum()):
            return -math.inf
        low = q[:m] - (self._roundings * size)[:m] - ball.slope
        first = math.fsum(np.minimum(low, 0.0)) if box else float(low.min())
        bent = 0.5 * point * (form.quadratic @ point)
        terms = np.concatenate([-form.right * ball.y, -bent])
        total = float(np.abs(terms).sum())
        off = ball.value + 8.0 * UNIT * (total + abs(first) + abs(form.constant))
        curved = self._sizes[1] @ np.abs(point)
        off += float(self._roundings @ (np.abs(point) * curved))
        if not math.isfinite(off):
            return -math.inf
        return math.fsum([first, form.constant, *terms.tolist()]) - off

    def _reduced(self, u: Vector, y: Vector, point: Vector) -> tuple[Vector, Vector]:
        """Return the reduced costs q and, for each, the sum of its terms' absolute values."""
        form = self._form
        by_row, square = self._sizes
        q = form.cost + form.quadratic @ point + self._up @ y
        size = np.abs(form.cost) + square @ np.abs(point) + by_row @ np.abs(y)
        q[: self._m] += u
        size[: self._m] += np.abs(u)
        return q, size

    def solve(self, u: Vector, *, box: bool = False) -> ConeAnswer | None:
        """Solve the cone program for F(u) with Clarabel.

        The result is None if the solution is not usable. With `box`, d is in [0, 1]^m instead of
        the simplex.
        """
        best: ConeAnswer | None = None
        sides = _box(self._m) if box else _simplex(self._m)
        for unit in (1.0,) if box else (1.0 / self._m, 1.0):
            found = self._ask(u, sides, unit)
            if found is None:
                continue
            proof = self.feasible(u, ConeProof(found.y, found.x), box=box)
            gamma, slope = self.tangent(u, proof)
            below = self.below(u, proof, box=box)
            if best is None or below > best.below:
                d = np.maximum(found.x[: self._m], 0.0)
                best = ConeAnswer(below, d, gamma, slope, proof)
            # If Clarabel ends early, or the bound is loose, d in units of one may be easier.
            # The comparison is false for nan.
            is_tight = found.value - below <= POINT_ACCURACY * (1.0 + abs(found.value))
            if found.status == "Solved" and is_tight:
                break
        return best

    def _ask(self, u: Vector, sides: _Sides, size: float) -> _Found | None:
        """Minimise <u, d> + f(d) under the constraints `sides` with Clarabel.

        The weights d are measured in units of `size`. The result is None if the solution is not
        usable.
        """
        import clarabel
        from scipy import sparse

        form = self._form
        m = self._m
        n = form.cost.size
        unit = np.concatenate([np.full(m, size), np.ones(n - m)])
        scaled = sparse.diags_array(unit)
        cost = form.cost + np.concatenate([u, np.zeros(n - m)])
        rows = sparse.csr_array(form.rows @ scaled)
        right = form.right
        of_z = sparse.csr_array((sides.right.size, n - m))
        of_d = sparse.csr_array(sparse.hstack([size * sides.rows, of_z]))
        zero = form.zero
        # Clarabel takes the equations of all parts first, and then the inequalities.
        equal = slice(0, sides.equal)
        other = slice(sides.equal, sides.right.size)
        A = sparse.csc_array(sparse.vstack([of_d[equal], rows[:zero], of_d[other], rows[zero:]]))
        b = np.concatenate([sides.right[equal], right[:zero], sides.right[other], right[zero:]])
        cones = self._kinds(sides.equal, sides.right.size - sides.equal)
        square = sparse.csc_array(sparse.triu(scaled @ form.quadratic @ scaled))
        largest = max(np.abs(unit * cost).max(), np.abs(square.data).max(initial=0.0))
        # Huge costs are divided by a power of two, so that the numbers are about one.
        unit_cost = price(float(largest))
        options = clarabel.DefaultSettings()
        for name, setting in ACCURATE.items():
            setattr(options, name, setting)
        options.verbose = False
        options.tol_gap_abs /= unit_cost
        left = seconds_left()
        if left < math.inf:
            options.time_limit = left
        solver = clarabel.DefaultSolver(
            square / unit_cost, unit * cost / unit_cost, A, b, cones, options
        )
        try:
            answer = solver.solve()
        except BaseException as error:
            if is_panic(error):
                return None
            raise
        status = str(answer.status)
        if status == "MaxTime":
            raise TimeUp
        if status not in _USABLE:
            return None
        first = zero + sides.right.size
        mine = np.r_[sides.equal : sides.equal + zero, first : b.size]
        x = unit * np.array(answer.x)
        y = unit_cost * np.array(answer.z)[mine]
        with np.errstate(over="ignore", invalid="ignore"):  # A value that overflows is loose.
            value = float(cost @ x + 0.5 * x @ (form.quadratic @ x) + form.constant)
        # The squares of larger multipliers overflow.
        if not float(np.abs(y).max(initial=0.0)) < 1e150:
            return None
        return _Found(x, y, value, status)

    def at(self, d: Vector) -> tuple[float, Vector] | None:
        """Return f(d) and the point (d, z) that attains it, or None if Clarabel is inaccurate."""
        found = self._ask(np.zeros(d.size), _fixed(d), 1.0)
        # These two statuses mean that Clarabel met at least its reduced tolerances.
        if found is None or found.status not in ("Solved", "AlmostSolved"):
            return None
        if not math.isfinite(found.value):
            return None
        return found.value, np.append(d, found.x[d.size :])

    def _kinds(self, zero: int, half: int) -> list[Any]:
        """Return Clarabel's cones for `zero` extra equations and `half` extra inequalities."""
        import clarabel

        form = self._form
        return [
            clarabel.ZeroConeT(zero + form.zero),
            clarabel.NonnegativeConeT(half + form.half),
            *(clarabel.SecondOrderConeT(size) for size in form.second),
            *(clarabel.PSDTriangleConeT(side) for side in form.matrix),
            *(clarabel.ExponentialConeT() for _ in range(form.exponential)),
        ]

    def tangent(self, u: Vector, proof: ConeProof) -> tuple[float, Vector]:
        """Return the threshold γ and the subgradient of f for the multipliers in `proof`."""
        slope = self._reduced(np.zeros(self._m), proof.y, proof.point)[0][: self._m]
        return float((u + slope).min(initial=math.inf)), slope

    def feasible(self, u: Vector, proof: ConeProof, *, box: bool = False) -> ConeProof:
        """Return multipliers near those in `proof` that prove a lower bound on F(u).

        Several moves into the interior of the dual cones are tried, and the best bound wins.
        """
        if self._merge is not None:
            # If equations are dependent only up to rounding, there may be no multipliers with
            # q_z = 0 near the given multipliers.
            y = proof.y.copy()
            y[: self._form.zero] = self._merge @ y[: self._form.zero]
            proof = ConeProof(y, proof.point)
        best = proof
        found = proof
        highest = -math.inf
        size = float(self._reduced(u, proof.y, proof.point)[1].max())
        room = size * self._cones.room(proof.point)
        # A long move weakens the bound. After a short move, the Newton steps can leave the cones.
        for exponent in range(-15, -3) if self._form.cost.size > self._m else ():
            found = self._repaired(found, 10.0**exponent * room)
            below = self.below(u, found, box=box)
            if below > highest:
                best = found
                highest = below
            ball = self._ball(found)
            if ball is not None and ball.value + ball.slope.max(initial=0.0) <= 1e-9 * size:
                break
        return best

    @cached_property
    def _merge(self) -> Any:
        return merged_equations(self._form.rows[: self._form.zero])

    def _repaired(self, proof: ConeProof, room: Vector) -> ConeProof:
        from scipy import sparse

        m = self._m
        is_plain = np.arange(room.size) < self._form.zero + self._form.half
        y = self._cones.raised(proof.y, room)
        point = proof.point
        rests = np.zeros(y.size, dtype=np.bool_)
        for _ in range(6):
            # If the steps use up the room of a multiplier, the equations may require that the
            # multiplier is zero. A rounding error instead of zero could be the only term of an
            # entry of q_z, which would then not become zero.
            rests |= is_plain & (np.abs(y) <= 1e-3 * room)
            y[rests] = 0.0
            q, size = (part[m:] for part in self._reduced(np.zeros(m), y, point))
            if (np.abs(q) <= self._roundings[m:] * size).all():
                break
            metric = self._cones.metric(y, float(np.abs(q).max()))
            metric = sparse.diags_array(1.0 * ~rests) @ metric
            free = sparse.diags_array(1.0 + np.abs(point))
            spread = sparse.hstack([self._up[m:] @ metric, self._square[m:] @ free])
            try:
                step = -shortest(sparse.csc_array(spread), q)
            except RuntimeError:  # The system is singular, because some z is in no row.
                break
            of_y, of_point = np.split(step, [metric.shape[1]])
            y = self._cones.raised(y + metric @ of_y, np.zeros(y.size))
            point = point + free @ of_point
        return ConeProof(y, point)

    @np.errstate(over="ignore", invalid="ignore")  # Numbers that overflow prove nothing.
    def _ball(self, proof: ConeProof) -> _Ball | None:
        """Return a ball of multipliers, some of which satisfy q_z = 0 exactly, or None.

        A step (x, e) moves the multipliers to y + D x, for a diagonal scaling D, and the point p to
        p + e. It changes q_z by T (x, e), where T consists of the rows of (rowsᵀ D, P) that belong
        to z. If the smallest singular value σ of T is positive, a step of length at most |q_z| / σ
        changes q_z to zero. The multipliers y + D x must be in the dual cones for every x of this
        length.
        """
        y = self._cones.raised(proof.y, np.zeros(proof.y.size))
        left = self._left(y, proof.point)
        if not np.isfinite(left).all():
            return None
        is_zero = left == 0.0
        unit, least, moves = self._independent(is_zero, y == 0.0)
        if not least > 0.0:
            return None
        # Multipliers that are raised change q_z, so that a larger radius is tried and checked.
        radius = 4.0 * float(np.linalg.norm(left / unit)) / least
        y = self._cones.raised(y, radius * moves)
        left = self._left(y, proof.point)
        is_inside = float(np.linalg.norm(left / unit)) / least <= 0.5 * radius
        if not is_inside or left[is_zero].any():
            return None
        bent = float(np.linalg.norm(self._square @ proof.point))
        bend = float(np.sqrt(self._square.multiply(self._square).sum()))
        value = float(np.linalg.norm(moves * self._form.right)) + bent + 0.5 * radius * bend
        return _Ball(y, radius * self._steep, radius * value)

    def _left(self, y: Vector, point: Vector) -> Vector:
        """Return upper bounds on the absolute values of q_z, including rounding errors."""
        q, size = (part[self._m :] for part in self._reduced(np.zeros(self._m), y, point))
        return np.asarray(np.abs(q) + self._roundings[self._m :] * size)

    def _independent(self, is_zero: Any, rests: Any) -> _Independent:
        """Bound the smallest singular value of the matrix T of `_ball`, and choose the scaling D.

        Fixed variables have no column in T: those of entries of q_z that are zero (`is_zero`), and
        zero multipliers of inequalities (`rests`), which must not become negative.
        """
        from scipy import sparse

        m = self._m
        half = slice(self._form.zero, self._form.zero + self._form.half)
        key = is_zero.tobytes() + rests[half].tobytes()
        if self._last_independent is not None and self._last_independent[0] == key:
            return self._last_independent[1]
        moves = self._cones.moves * (abs(self._up[m:][is_zero]).sum(axis=0) == 0.0)
        moves[half] *= ~rests[half]
        bends = abs(self._square[m:][is_zero]).sum(axis=0) == 0.0
        terms = sparse.hstack([self._up[m:, moves > 0.0], self._square[m:, bends]], format="csr")
        change = terms @ sparse.diags_array(np.append(moves[moves > 0.0], np.ones(bends.sum())))
        unit = np.sqrt(change.multiply(change).sum(axis=1))
        unit[is_zero] = np.inf
        least = 0.0
        if (unit > 0.0).all():
            z = np.flatnonzero(~is_zero)
            scaled = sparse.csr_array(sparse.diags_array(1.0 / unit) @ change)
            least = least_singular_value(scaled[z])
            if least == 0.0:
                # Some entries of q_z may be zero whenever the other entries are zero. The prices in
                # an assignment problem are an example: the sum of the prices of one side determines
                # the sum of the prices of the other side.
                cost = sparse.csr_array(self._form.cost[m:, None])
                every_term = sparse.hstack([cost, terms], format="csr")
                unit[z[implied_rows(scaled[z], every_term[z], unit[z])]] = np.inf
                z = np.flatnonzero(unit < np.inf)
                least = least_singular_value(scaled[z])
            least -= 4.0 * UNIT * math.sqrt(z.size)  # The entries of `scaled` are rounded.
        found = _Independent(unit, least, moves)
        self._last_independent = (key, found)
        return found
