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
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import TimeUp, seconds_left
from relaxboost._core.rounding import UNIT, price
from relaxboost.relaxations.cone_form import ConeForm

_LEFT = 1e-12
"""What may be left of q_z, relative to its terms."""
_REACH = 16.0
"""How many times its value, or one, an auxiliary variable may be where the rest is charged."""
_TIGHT = {
    "tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10, "max_iter": 200, "verbose": False
}  # fmt: skip
_ROUGH = {"tol_gap_abs": 1e-3, "tol_gap_rel": 1e-3, "tol_feas": 1e-3, "verbose": False}
_USABLE = ("Solved", "AlmostSolved", "InsufficientProgress", "MaxIterations", "NumericalError")
_LOOSE = 1e-7
"""The relative gap beyond which a bound is loose: long trees of cones, as of high norms."""
_FLAT = 1e-12
"""The least s0 ± s1 that cones are turned by."""
_SIDE = 12
"""The largest side of a matrix that is moved in all directions."""
_LONG = 20.0
"""How many entries columns may have, on average over the entries, whose products are summed."""
_INSIDE, _STEPS = 1e-15, 3
"""How far multipliers are taken inside before they move, and how often they do."""


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
        # The third entry of an exponential cone is raised where the second holds auxiliaries.
        alone = np.diff(sparse.csr_array(form.rows[:, m:]).indptr) == 0
        first = form.zero + form.half + sum(form.second)
        self._triangles = []
        for side in form.matrix:
            self._triangles.append((slice(first, first + side * (side + 1) // 2), side))
            first += side * (side + 1) // 2
        self._exponential = slice(first, first + 3 * form.exponential)
        self._power = slice(self._exponential.stop, form.right.size)
        self._third = (alone[self._exponential][2::3]) & ~alone[self._exponential][1::3]
        self._alone = alone[self._power].reshape(-1, 3)
        self._exponents = np.array(form.power)

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
        if (left > _LEFT * size[m:] + error[m:]).any() or not math.isfinite(2.0 * size.sum()):
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
        y[half] = np.maximum(y[half], 0.0) + inside * np.abs(y[half])
        for rows, size in form.second_order():
            y[rows] = self._within(y[rows].reshape(-1, size), inside).ravel()
        for rows, side in self._triangles:
            y[rows] = positive(y[rows], side, inside)
        if form.exponential:
            rows = self._exponential
            y[rows] = self._below_exponential(y[rows].reshape(-1, 3), inside).ravel()
        if form.power:
            y[self._power] = self._below_power(y[self._power].reshape(-1, 3), inside).ravel()
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

    def _below_power(self, y: NDArray[np.float64], inside: float) -> NDArray[np.float64]:
        """Return (a, b, c) with a, b >= 0 and |c| <= (a/α)^α (b/(1 − α))^{1 − α}.

        What is in rows without auxiliaries is moved, if there is such an entry.
        """
        alpha, alone = self._exponents, self._alone.T
        a, b = np.maximum(y[:, :2], 0.0).T
        c = y[:, 2].copy()
        over = self._over_power(y) + inside
        over = np.where((c == 0.0) | np.isnan(over), 0.0, np.maximum(over, 0.0))
        with np.errstate(all="ignore"):
            c = np.where(alone[2] & (over > 0.0), c * np.exp(-over), c)
            over = np.where(alone[2], 0.0, np.minimum(over, 600.0))
            more_b = np.where(alone[1], over / (1.0 - alpha), np.where(alone[0], 0.0, over))
            more_a = np.where(alone[1], 0.0, np.where(alone[0], over / alpha, over))
            return np.stack([a * np.exp(more_a), b * np.exp(more_b), c], axis=1)

    def _over_power(self, y: NDArray[np.float64]) -> Vector:
        """Return log |c| − log (a/α)^α (b/(1 − α))^{1 − α}, rounded upwards."""
        a, b, alpha = *np.maximum(y[:, :2], 0.0).T, self._exponents
        with np.errstate(all="ignore"):
            reach = alpha * np.log(a / alpha) + (1.0 - alpha) * np.log(b / (1.0 - alpha))
            over = np.log(np.abs(y[:, 2])) - reach + 1e-13 * (1.0 + np.abs(reach))
        return np.asarray(over)

    def _along_power(self, y: Vector) -> Any:
        """Return the directions in which |c| and (a/α)^α (b/(1 − α))^{1 − α} change alike."""
        from scipy import sparse

        part, alpha = y[self._power].reshape(-1, 3), self._exponents
        first = self._power.start + 3 * np.arange(len(part))
        column = 2 * np.arange(len(part))
        at = np.concatenate([first, first + 2, first + 1, first + 2])
        to = np.concatenate([column, column, column + 1, column + 1])
        # Where c is next to nothing it is not worth moving a, which others share.
        a, b, c = part.T * (1e-9 + np.abs(part[:, 2]) / np.abs(part[:, 2]).max(initial=1e-300))
        moves = np.concatenate([a, alpha * c, b, (1.0 - alpha) * c])
        return sparse.csr_array((moves, (at, to)), (y.size, 2 * len(part)))

    def solve(self, u: Vector, *, box: bool = False) -> ConeAnswer | None:
        """Return what Clarabel makes of F(u), or of the minimum over 0 <= d <= 1; None if nothing.

        Where it ends early, or the bound is loose, it is asked again, with cones turned to where it
        was, and d as it is.
        """
        best: ConeAnswer | None = None
        turn = self._turn
        for unit in (1.0 if box else 1.0 / self._m, 1.0):
            found = self._ask(u, box, turn, _TIGHT, unit)
            if found is None:
                continue
            if found[0].below > (-math.inf if best is None else best.below):
                best = found[0]
            if found[1] and not found[0].loose:
                break
            turn = self._turned(found[2])
        return best

    @cached_property
    def _turn(self) -> Any:
        """Turn cones to where they are when nothing pulls; so no answer depends on another."""
        turn = self._turned(np.zeros(0))
        if 3 in self._form.second:
            size = 1.0 / max(self._m, 1)
            found = self._ask(np.zeros(self._m), self._m == 0, turn, _ROUGH, size)
            turn = turn if found is None else self._turned(found[2])
        return turn

    def _turned(self, slack: Vector) -> Any:
        """Return the map of rows that makes second-order cones of three of one size at `slack`.

        With it s0 + s1 is multiplied by a number, and s0 − s1 divided.
        """
        from scipy import sparse

        size = self._form.right.size
        plain = sparse.eye_array(size, format="csr")
        starts = [np.arange(r.start, r.stop, 3) for r, k in self._form.second_order() if k == 3]
        if not slack.size or not starts:
            return plain
        at = np.concatenate(starts)
        sides = slack[at] + slack[at + 1], slack[at] - slack[at + 1]
        factor = np.sqrt(np.clip(sides[1], _FLAT, None) / np.clip(sides[0], _FLAT, None))
        even, odd = 0.5 * (factor + 1.0 / factor) - 1.0, 0.5 * (factor - 1.0 / factor)
        i, j = np.concatenate([at, at + 1, at, at + 1]), np.concatenate([at, at + 1, at + 1, at])
        entries = np.concatenate([even, even, odd, odd])
        return sparse.csr_array(plain + sparse.csr_array((entries, (i, j)), (size, size)))

    def _ask(
        self, u: Vector, box: bool, turn: Any, settings: dict[str, Any], size: float
    ) -> tuple[ConeAnswer, bool, Vector] | None:
        """Return what is found, whether the solver was content, and the slacks of the rows.

        It sees d in units of `size`, and costs in one of their own, so that entries are about one.
        """
        import clarabel
        from scipy import sparse

        form, m, n = self._form, self._m, self._form.cost.size
        unit = np.concatenate([np.full(m, size), np.ones(n - m)])
        scaled = sparse.diags_array(unit)
        cost = form.cost + np.concatenate([u, np.zeros(n - m)])
        rows, right = sparse.csr_array(turn @ form.rows @ scaled), turn @ form.right
        whole = sparse.csr_array(np.concatenate([unit[:m], np.zeros(n - m)])[None, :])[int(box) :]
        sides = sparse.eye_array(m, n, format="csr")
        half = sparse.vstack([-sides, sides] if box else [-sides])
        zero, kept = form.zero, whole.shape[0]
        A = sparse.csc_array(sparse.vstack([whole, rows[:zero], half, rows[zero:]]))
        ends = np.repeat([0.0, 1.0], m)[: half.shape[0]]
        b = np.concatenate([np.ones(kept), right[:zero], ends, right[zero:]])
        cones = self._kinds(kept, ends.size)
        square = sparse.csc_array(sparse.triu(scaled @ form.quadratic @ scaled))
        largest = max(np.abs(unit * cost).max(), np.abs(square.data).max(initial=0.0))
        unit_cost = price(float(largest))
        options = clarabel.DefaultSettings()
        for name, value in settings.items():
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
        mine = np.r_[kept : kept + zero, kept + zero + ends.size : b.size]
        x, slack = unit * np.array(answer.x), np.array(answer.s)[mine]
        z = unit_cost * np.array(answer.z)[mine]
        proof = self.feasible(ConeProof(turn.T @ z, x))
        gamma, slope = self.tangent(u, proof)
        solved = str(answer.status) == "Solved"
        back = sparse.linalg.spsolve(turn, slack) if form.second else slack
        below = self.below(u, proof, box=box)
        with np.errstate(over="ignore", invalid="ignore"):  # what is beyond doubles is loose
            found = float(cost @ x + 0.5 * x @ (form.quadratic @ x) + form.constant)
        near = math.isfinite(found) and found - below <= _LOOSE * (1.0 + abs(found))
        return (
            ConeAnswer(below, np.maximum(x[:m], 0.0), gamma, slope, proof, not near),
            solved,
            back,
        )

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
            *(clarabel.PowerConeT(alpha) for alpha in form.power),
        ]

    def tangent(self, u: Vector, proof: ConeProof) -> tuple[float, Vector]:
        """Return γ and the subgradient of f that multipliers stand for."""
        slope = self._reduced(np.zeros(self._m), proof.y, proof.point)[0][: self._m]
        return float((u + slope).min(initial=math.inf)), slope

    def feasible(self, proof: ConeProof) -> ConeProof:
        """Return multipliers near those given with q_z = 0, in the cones, up to rounding.

        They move in the metric of the cones' barriers, so that they stay inside.
        """
        from scipy import sparse

        form, m = self._form, self._m
        if form.cost.size == m:
            return proof
        y, point = self._into(proof.y.copy(), _INSIDE), proof.point.copy()
        for _ in range(_STEPS):
            q, size = (part[m:] for part in self._reduced(np.zeros(m), y, point))
            if (np.abs(q) <= self._roundings[m:] * size).all():
                break
            metric = self._metric(y)
            free = sparse.diags_array(1.0 + np.abs(point))
            spread = sparse.hstack([self._up[m:] @ metric, form.quadratic.tocsr()[m:] @ free])
            try:
                step = -shortest(sparse.csc_array(spread), q)
            except RuntimeError:  # it is singular: some z is in no row
                break
            y = y + metric @ step[: metric.shape[1]]
            point = point + free @ step[metric.shape[1] :]
            y = self._into(y)
        return ConeProof(y, point)

    def _metric(self, y: Vector) -> Any:
        """Return R with R Rᵀ about the inverse Hessian of the barrier at y."""
        from scipy import sparse

        form = self._form
        size = np.abs(y) + 1e-12 * np.abs(y).max(initial=1e-12)
        size[: form.zero] += np.abs(y).max(initial=1.0)
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
        for rows, side in self._triangles:
            given = congruences(y[rows], side)
            size[rows] = 1e-150
            above = sparse.csr_array((rows.start, given.shape[1]))
            under = sparse.csr_array((y.size - rows.stop, given.shape[1]))
            blocks.append(sparse.vstack([above, given, under]))
        if self._power.start < self._power.stop:
            blocks.append(self._along_power(y))
            part = y[self._power].reshape(-1, 3)
            with np.errstate(all="ignore"):  # c alone may move as far as it is inside
                spare = np.abs(part[:, 2]) * np.clip(np.expm1(-self._over_power(part)), 0.0, 1.0)
            size[self._power] = 1e-150
            size[self._power][2::3] += np.nan_to_num(spare)
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


def _square(triangle: Vector, side: int) -> NDArray[np.float64]:
    """Return the symmetric matrix whose upper triangle is given by columns, scaled."""
    square = np.zeros((side, side))
    square.T[np.tril_indices(side)] = triangle
    square *= np.where(np.eye(side, dtype=bool), 1.0, math.sqrt(0.5))
    square += np.triu(square, 1).T
    return square


def _triangle(square: NDArray[np.float64]) -> Vector:
    """Return the upper triangle by columns, off the diagonal times √2."""
    scaled = square * np.where(np.eye(len(square), dtype=bool), 1.0, math.sqrt(2.0))
    return np.asarray(scaled.T[np.tril_indices(len(square))])


def positive(triangle: Vector, side: int, inside: float = 0.0) -> Vector:
    """Return a triangle near the one given whose matrix has no negative eigenvalue."""
    square = _square(triangle, side)
    values = np.linalg.eigvalsh(square)
    least = (8.0 * side * UNIT + inside) * np.abs(values).max(initial=0.0)
    short = least - float(values.min())
    return triangle if short <= 0.0 else _triangle(square + short * np.eye(side))


def congruences(triangle: Vector, side: int) -> NDArray[np.float64]:
    """Return the columns (L E Lᵀ for all symmetric E) that keep a matrix L Lᵀ positive."""
    values, vectors = np.linalg.eigh(_square(triangle, side))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    if side > _SIDE:
        return _triangle(root @ root.T)[:, None]
    units = np.eye(triangle.size)
    return np.stack([_triangle(root @ _square(e, side) @ root.T) for e in units], axis=1)
