"""Lower bounds on the relaxed margin by the dual of the cone program of f.

F(u) = min over d in the simplex and z of <u, d> + cost·x + x·P x/2, x = (d, z), subject to
rows @ x + s = right with s in cones. For multipliers y in the dual cones and any point p, with
q = cost + (u, 0) + P p + rowsᵀ y,

    F(u) >= min_i q_i − <right, y> − p·P p/2 + q_z·z,

since x·P x/2 >= p·P x − p·P p/2. Nothing bounds z, so that q_z has to be zero: multipliers of a
solver are moved to where it is, inside the cones, and what rounding leaves of it is charged.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import TimeUp, seconds_left
from relaxboost._core.rounding import UNIT, price
from relaxboost.relaxations.cone_form import ConeForm, square_map

_LEFT = 1e-12
"""What may be left of q_z, relative to the largest term, and is charged."""
_LEFT_OF_STEP = 1e-13
"""What a step to zero may leave of a multiplier, relative to it; ten times the ridge of 1e-14."""
_LARGEST = 1e150
"""The multipliers that are used are smaller; the squares of larger ones overflow."""
_REACH = 16.0
"""How many times its value, or one, an auxiliary variable may be where the rest is charged."""
_TIGHT = {
    "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10, "max_iter": 200, "verbose": False
}  # fmt: skip
_USABLE = ("Solved", "AlmostSolved", "InsufficientProgress", "MaxIterations", "NumericalError")
_LOOSE = 1e-7
"""The relative gap beyond which a bound is loose: long trees of cones, as of high norms."""
_SIDE = 12
"""The largest side of a matrix that is moved in all directions."""
_LONG = 20.0
"""How many entries columns may have, on average over the entries, whose products are summed."""
_INSIDE = (1e-15, 1e-11, 1e-9, 1e-8, 1e-7, 1e-6)
"""How far multipliers are taken inside before they move, relative to their size; the first that
leaves them room is used, since room costs as much of the bound."""
_STEPS = 6
"""The largest number of moves of the multipliers onto the equations q_z = 0."""


class ConeProof(NamedTuple):
    """Multipliers of the rows of a cone form, and the point where its quadratic is linearised."""

    y: Vector
    point: Vector


class ConeAnswer(NamedTuple):
    """What a solver makes of F(u): a bound, the minimiser d, γ, a subgradient of f, the proof."""

    below: float
    d: Vector
    gamma: float
    slope: Vector
    proof: ConeProof
    loose: bool
    """Whether the bound is well below what the solver found."""


class _Found(NamedTuple):
    """A solver's result: the point (d, z), with z the auxiliary variables, the multipliers of the
    rows of the cone form, and the optimal value."""

    x: Vector
    y: Vector
    value: float
    is_solved: bool
    is_near: bool
    """Whether the solver met its reduced tolerances at least."""


class _Sides(NamedTuple):
    """What d has to meet beside f: rows @ d = right in the first `equal`, <= in the others."""

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
    """The cone program of one f, solved and bounded from below.

    Parameters
    ----------
    form : ConeForm
    m : int
        How many of its variables are d; with 0, all of them are without bounds.
    """

    def __init__(self, form: ConeForm, m: int) -> None:
        from scipy import sparse

        self._form, self._m = form, m
        self._up = sparse.csr_array(form.rows.T)
        self._sizes = abs(form.rows).T.tocsr(), abs(form.quadratic).tocsr()
        per_row = np.diff(self._up.indptr) + np.diff(form.quadratic.tocsr().indptr)
        self._roundings = 2.0 * UNIT * (per_row + 8.0)
        # Rows that are scaled have multipliers of another size; those of one cone belong together.
        self._unit = np.ones(form.right.size)
        plain = slice(0, form.zero + form.half)
        largest = abs(form.rows[plain]).max(axis=1).toarray().ravel()
        self._unit[plain] = np.where(largest > 0.0, largest, 1.0)
        # The third entry of an exponential cone is raised where the second holds auxiliaries.
        alone = np.diff(sparse.csr_array(form.rows[:, m:]).indptr) == 0
        self._third = alone[form.exponentials][2::3] & ~alone[form.exponentials][1::3]

    @np.errstate(over="ignore", invalid="ignore")  # what overflows proves nothing
    def below(self, u: Vector, proof: ConeProof, *, box: bool = False) -> float:
        """Return a number not above F(u), or the minimum over 0 <= d <= 1; valid for any proof."""
        form, m = self._form, self._m
        y, point = np.array(proof.y, dtype=np.float64), np.asarray(proof.point, dtype=np.float64)
        if y.shape != form.right.shape or point.shape != form.cost.shape:
            return -math.inf
        if not (np.isfinite(y).all() and np.isfinite(point).all()):
            return -math.inf
        y = self._into(y)
        q, size = self._reduced(u, y, point)
        error = self._roundings * size
        left = np.abs(q[m:]) + error[m:]
        if not (math.isfinite(2.0 * size.sum()) and self._is_zero(q, size)):
            return -math.inf
        low = q[:m] - error[:m]
        first = math.fsum(np.minimum(low, 0.0)) if box else float(low.min())
        bent = 0.5 * point * (form.quadratic @ point)
        terms = np.concatenate([-form.right * y, -bent, -_REACH * left * (1.0 + np.abs(point[m:]))])
        total = float(np.abs(terms).sum())
        off = 8.0 * UNIT * (total + abs(first) + abs(form.constant))
        curved = self._sizes[1] @ np.abs(point)
        off += float(self._roundings @ (np.abs(point) * curved))
        if not math.isfinite(off):
            return -math.inf
        return math.fsum([first, form.constant, *terms.tolist()]) - off

    def _reduced(self, u: Vector, y: Vector, point: Vector) -> tuple[Vector, Vector]:
        """Return q, and the sums of the sizes of its terms."""
        form, by_row, square = self._form, *self._sizes
        q = form.cost + form.quadratic @ point + self._up @ y
        size = np.abs(form.cost) + square @ np.abs(point) + by_row @ np.abs(y)
        q[: self._m] += u
        size[: self._m] += np.abs(u)
        return q, size

    def _into(self, y: Vector, inside: float = 0.0) -> Vector:
        """Return y raised into the dual cones, by so much of its size more."""
        form = self._form
        half = slice(form.zero, form.zero + form.half)
        y[half] = np.maximum(y[half], 0.0) + inside * np.abs(y[half]).max(initial=0.0)
        for rows, size in form.second_order():
            y[rows] = self._within(y[rows].reshape(-1, size), inside).ravel()
        for rows, side in form.matrices():
            y[rows] = _positive(y[rows], side, inside)
        if form.exponential:
            rows = form.exponentials
            y[rows] = self._below_exponential(y[rows].reshape(-1, 3), inside).ravel()
        return y

    @staticmethod
    def _within(y: NDArray[np.float64], inside: float) -> NDArray[np.float64]:
        largest = np.abs(y).max(axis=1, initial=1e-300)
        norm = largest * np.sqrt(np.square(y[:, 1:] / largest[:, None]).sum(axis=1))
        norm = norm * (1.0 + (y.shape[1] + 8) * UNIT + inside)
        y[:, 0] = np.maximum(y[:, 0], norm)
        return y

    def _below_exponential(self, y: NDArray[np.float64], inside: float) -> NDArray[np.float64]:
        """Return (a, b, c) with a <= 0 and b >= a (1 + log(c/−a)), where −a exp(b/a) <= e c."""
        a, b, c = np.minimum(y[:, 0], 0.0), y[:, 1].copy(), np.maximum(y[:, 2], 0.0)
        flat = a > -1e-290
        steep = np.where(flat, 1.0, -a)
        with np.errstate(all="ignore"):
            needed = steep * np.exp(np.clip(-b / steep, -700.0, 700.0) - 1.0) * (1.0 + 1e-13)
            c = np.maximum(c, np.where(self._third, needed, steep * 1e-290))
            growth = 1.0 + np.log(c / steep)
            least = -steep * growth + steep * (1.0 + np.abs(growth)) * (8.0 * UNIT + inside)
        b = np.maximum(b, np.where(flat, 0.0, np.where(self._third & (b > least), b, least)))
        return np.stack([np.where(flat, 0.0, a), b, c], axis=1)

    def solve(self, u: Vector, *, box: bool = False) -> ConeAnswer | None:
        """Return what Clarabel makes of F(u), or of the minimum over 0 <= d <= 1; None if nothing.

        If Clarabel ends early, or the bound is loose, Clarabel solves once more with d unscaled.
        """
        best: ConeAnswer | None = None
        sides = _box(self._m) if box else _simplex(self._m)
        for unit in (1.0 if box else 1.0 / self._m, 1.0):
            found = self._ask(u, sides, unit)
            if found is None:
                continue
            answer = self._answer(u, found, box)
            if best is None or answer.below > best.below:
                best = answer
            if found.is_solved and not answer.loose:
                break
        return best

    def _answer(self, u: Vector, found: _Found, box: bool) -> ConeAnswer:
        """Return what the multipliers that were found prove, repaired."""
        proof = self.feasible(ConeProof(found.y, found.x))
        gamma, slope = self.tangent(u, proof)
        below = self.below(u, proof, box=box)
        near = found.value - below <= _LOOSE * (1.0 + abs(found.value))  # false for nan
        d = np.maximum(found.x[: self._m], 0.0)
        return ConeAnswer(below, d, gamma, slope, proof, not near)

    def _ask(self, u: Vector, sides: _Sides, size: float) -> _Found | None:
        """Return what Clarabel finds for d within `sides`, None if nothing is usable.

        It sees d in units of `size`, and costs in one of their own, so that entries are about one.
        """
        import clarabel
        from scipy import sparse

        form, m, n = self._form, self._m, self._form.cost.size
        unit = np.concatenate([np.full(m, size), np.ones(n - m)])
        scaled = sparse.diags_array(unit)
        cost = form.cost + np.concatenate([u, np.zeros(n - m)])
        rows = sparse.csr_array(form.rows @ scaled)
        right = form.right
        of_z = sparse.csr_array((sides.right.size, n - m))
        of_d = sparse.csr_array(sparse.hstack([size * sides.rows, of_z]))
        equal, zero = slice(0, sides.equal), form.zero
        other = slice(sides.equal, sides.right.size)
        A = sparse.csc_array(sparse.vstack([of_d[equal], rows[:zero], of_d[other], rows[zero:]]))
        b = np.concatenate([sides.right[equal], right[:zero], sides.right[other], right[zero:]])
        cones = self._kinds(sides.equal, sides.right.size - sides.equal)
        square = sparse.csc_array(sparse.triu(scaled @ form.quadratic @ scaled))
        largest = max(np.abs(unit * cost).max(), np.abs(square.data).max(initial=0.0))
        unit_cost = price(float(largest))
        options = clarabel.DefaultSettings()
        for name, value in _TIGHT.items():
            setattr(options, name, value)
        options.tol_gap_abs /= unit_cost
        left = seconds_left()
        if left < math.inf:
            options.time_limit = left
        answer = clarabel.DefaultSolver(
            square / unit_cost, unit * cost / unit_cost, A, b, cones, options
        ).solve()
        if str(answer.status) == "MaxTime":
            raise TimeUp
        if str(answer.status) not in _USABLE:
            return None
        first = zero + sides.right.size
        mine = np.r_[sides.equal : sides.equal + zero, first : b.size]
        x = unit * np.array(answer.x)
        y = unit_cost * np.array(answer.z)[mine]
        with np.errstate(over="ignore", invalid="ignore"):  # what is beyond doubles is loose
            value = float(cost @ x + 0.5 * x @ (form.quadratic @ x) + form.constant)
        # Multipliers whose squares overflow end in errors of every method that goes on from them.
        if not float(np.abs(y).max(initial=0.0)) < _LARGEST:
            return None
        status = str(answer.status)
        return _Found(x, y, value, status == "Solved", status in _USABLE[:2])

    def at(self, d: Vector) -> tuple[float, Vector] | None:
        """Return f(d) and (d, z), as good as the solver says; None if it finds f infinite."""
        found = self._ask(np.zeros(d.size), _fixed(d), 1.0)
        if found is None or not (found.is_near and math.isfinite(found.value)):
            return None
        return found.value, np.append(d, found.x[d.size :])

    def _kinds(self, zero: int, half: int) -> list[Any]:
        """Return Clarabel's cones, with so many more rows of the first two kinds."""
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
        """Return γ and the subgradient of f that multipliers stand for."""
        slope = self._reduced(np.zeros(self._m), proof.y, proof.point)[0][: self._m]
        return float((u + slope).min(initial=math.inf)), slope

    def feasible(self, proof: ConeProof) -> ConeProof:
        """Return multipliers near those given with q_z = 0, in the cones, up to rounding.

        They move in the metric of the cones' barriers, so that they stay inside.
        """

        if self._form.cost.size == self._m:
            return proof
        for inside in _INSIDE:
            found = self._repaired(proof, inside)
            if self._is_zero(*self._reduced(np.zeros(self._m), *found)):
                break
        return found

    def _is_zero(self, q: Vector, size: Vector) -> bool:
        """Return whether q_z is zero, up to so little that it may be charged."""
        left = float(np.abs(q[self._m :]).max(initial=0.0))
        return left <= _LEFT * float(size.max(initial=0.0))

    def _repaired(self, proof: ConeProof, inside: float) -> ConeProof:
        """Return multipliers with q_z = 0, if they find it from this far inside the cones."""
        from scipy import sparse

        form, m = self._form, self._m
        y, point = self._into(proof.y.copy(), inside), proof.point.copy()
        for _ in range(_STEPS):
            q, size = (part[m:] for part in self._reduced(np.zeros(m), y, point))
            if (np.abs(q) <= self._roundings[m:] * size).all():
                break
            metric = self._metric(y, float(np.abs(q).max()))
            free = sparse.diags_array(1.0 + np.abs(point))
            spread = sparse.hstack([self._up[m:] @ metric, form.quadratic.tocsr()[m:] @ free])
            try:
                step = -shortest(sparse.csc_array(spread), q)
            except RuntimeError:  # it is singular: some z is in no row
                break
            moved = y + metric @ step[: metric.shape[1]]
            # What a step leaves of a multiplier that has to be zero would be all of its q_z.
            y = np.where(np.abs(moved) <= _LEFT_OF_STEP * np.abs(y), 0.0, moved)
            point = point + free @ step[metric.shape[1] :]
            y = self._into(y)
        return ConeProof(y, point)

    def _metric(self, y: Vector, wanted: float) -> Any:
        """Return R with R Rᵀ about the inverse Hessian of the barrier at y.

        Multipliers of equations are free, and move by the size of others or of what is wanted.
        """
        from scipy import sparse

        form = self._form
        # Between the size of each and of all: an entry next to nothing can still become zero.
        share = np.abs(y) * self._unit
        largest = float(share.max(initial=1e-12))
        size = np.sqrt(share + 1e-12 * largest) * math.sqrt(largest)
        size[: form.zero] += max(largest, wanted)
        size /= self._unit
        rays, column, number = [], [], 0
        for rows, k in form.second_order():
            part = y[rows].reshape(-1, k)
            with np.errstate(over="ignore"):
                length = np.sqrt(np.square(part[:, 1:]).sum(axis=1))
            spare = np.maximum(part[:, 0] - length, 0.0)
            size[rows] = np.repeat(np.sqrt(spare * part[:, 0]) + 1e-150, k)
            rays.append(np.arange(rows.start, rows.stop))
            column.append(number + np.repeat(np.arange(len(part)), k))
            number += len(part)
        blocks = []
        for rows, side in form.matrices():
            given = _congruences(y[rows], side)
            size[rows] = 1e-150
            above = sparse.csr_array((rows.start, given.shape[1]))
            under = sparse.csr_array((y.size - rows.stop, given.shape[1]))
            blocks.append(sparse.vstack([above, given, under]))
        own = sparse.hstack([sparse.diags_array(size), *blocks])
        if not rays:
            return sparse.csr_array(own)
        at = np.concatenate(rays)
        ray = sparse.csr_array((y[at], (at, np.concatenate(column))), (y.size, number))
        return sparse.csr_array(sparse.hstack([own, ray]))


def shortest(spread: Any, q: Vector) -> Vector:
    """Return the shortest x with spread @ x = q, nearly; spread is sparse, by columns.

    A long column fills spread @ spread.T, but not the larger system. A ridge below roundings would
    be lost there, and leave pivots of zero.
    """
    from scipy import sparse
    from scipy.sparse.linalg import splu

    counts = np.diff(spread.indptr)
    squares = spread.multiply(spread).sum(axis=1)
    if counts @ counts <= _LONG * counts.sum():
        system = spread @ spread.T + sparse.diags_array(1e-14 * squares + 1e-300)
        return np.asarray(spread.T @ splu(sparse.csc_array(system)).solve(q))
    size, ridge = counts.size, sparse.diags_array(1e-15 * squares + 1e-300)
    system = sparse.block_array([[sparse.eye_array(size), spread.T], [spread, -ridge]])
    right = np.concatenate([np.zeros(size), q])
    return np.asarray(splu(sparse.csc_array(system)).solve(right)[:size])


def _positive(triangle: Vector, side: int, inside: float = 0.0) -> Vector:
    """Return a triangle near the one given whose matrix has no negative eigenvalue."""
    of = square_map(side)
    values = np.linalg.eigvalsh((of @ triangle).reshape(side, side))
    least = (8.0 * side * UNIT + inside) * np.abs(values).max(initial=0.0)
    short = max(least - float(values.min()), 0.0)
    return triangle + short * (of.T @ np.eye(side).ravel())


def _congruences(triangle: Vector, side: int) -> NDArray[np.float64]:
    """Return the columns L E Lᵀ for symmetric E, along which a matrix L Lᵀ stays positive.

    For large matrices E is the identity only.
    """
    of = square_map(side)
    values, vectors = np.linalg.eigh((of @ triangle).reshape(side, side))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    if side > _SIDE:
        return (of.T @ (root @ root.T).ravel())[:, None]
    return np.asarray(of.T @ (of.T @ np.kron(root, root).T).T)
