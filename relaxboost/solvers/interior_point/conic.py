"""A relaxation f that is a cone program, for the interior point method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector, Whole
from relaxboost.relaxations.cone_bounds import ConeProof
from relaxboost.relaxations.cone_form import ConeForm
from relaxboost.solvers.interior_point.block import Block
from relaxboost.solvers.interior_point.bordered import Bordered, Layout, is_long
from relaxboost.solvers.interior_point.cones import (
    Cones,
    ExponentialCones,
    SecondOrderCones,
)
from relaxboost.solvers.interior_point.part import Aim, Part


class _Change(NamedTuple):
    # `eta` is the step of the multipliers of E x = e, and `slack` and `mult` are those of s and of
    # its multipliers.
    x: Vector
    eta: Vector
    slack: Vector
    mult: Vector


class _Matrix:
    """The matrix K = F + JᵀMJ of Newton's equations, in which only M changes.

    F is [P, Eᵀ; E, 0], with zeros for the auxiliary unknowns ω of the cones. J maps (x, η, ω) to (G
    x, ω), where η are the multipliers of E x = e. M contains the entries of the cones.
    """

    def __init__(self, form: ConeForm, cones: list[tuple[slice, Cones]], m: int) -> None:
        from scipy import sparse

        self._cones = [c for _, c in cones]
        E = form.rows[: form.zero]
        G = form.rows[form.zero :]
        count = G.shape[0]
        rows: list[Whole] = []
        columns: list[Whole] = []
        order = count
        for slacks, c in cones:
            index = np.append(np.arange(slacks.start, slacks.stop), order + np.arange(c.extra))
            row, column = c.places()
            rows.append(index[row])
            columns.append(index[column])
            order += c.extra
        row = np.concatenate(rows)
        column = np.concatenate(columns)
        self._sorted = np.lexsort((column, row))
        self._columns = column[self._sorted]
        self._ends = np.append(0, np.cumsum(np.bincount(row, minlength=order)))
        extra = sparse.csr_array((order - count, order - count))
        fixed = sparse.block_array([[form.quadratic, E.T], [E, None]])
        F = sparse.csr_array(sparse.block_diag([fixed, extra]))
        of_slacks = sparse.hstack([G, sparse.csr_array((count, form.zero))])
        self._J = sparse.csr_array(sparse.block_diag([of_slacks, sparse.eye_array(order - count)]))
        # K without d or without its border may be singular. This addition is small compared with
        # the entries of K and large compared with their roundings.
        small = np.finfo(np.float64).eps ** 0.75
        is_x = np.arange(F.shape[0]) < form.cost.size
        self._F = F + sparse.diags_array(np.where(is_x, small, -small))
        J = _ones(self._J)
        pattern = _ones(F) + J.T @ self._block_diagonal(np.ones(row.size)) @ J
        self.layout = Layout(pattern, m)
        """The division of the unknowns into a border and blocks, by the places where K may be
        nonzero."""

    def value(self) -> Any:
        """Return K for the present cone scaling. A small diagonal makes it nonsingular."""
        entries = np.concatenate([c.entries() for c in self._cones])
        return self._F + self._J.T @ self._block_diagonal(entries) @ self._J

    def _block_diagonal(self, entries: Vector) -> Any:
        from scipy import sparse

        size = self._ends.size - 1
        return sparse.csr_array((entries[self._sorted], self._columns, self._ends), (size, size))


class Conic(Part):
    """A relaxation f(d), the minimum of cost·x + x·P x/2 over the feasible x of a cone program.

    P is a symmetric matrix. The constraints are E x = e and G x + s = h, where the slacks s are in
    cones. The variables are x = (d, z), where d is the distribution and z are further variables.
    The unknowns of f in Newton's equations are the steps of x and of the multipliers of E x = e.
    Their matrix is `K = [P + GᵀHG, Eᵀ; E, 0]`, where H is the scaling matrix of the cones.

    Parameters
    ----------
    form : ConeForm
        The cone program that defines f.
    center : array of shape (m,)
        The method starts near this distribution d.
    mult : float
        The approximate size of the multipliers at the start.
    """

    def __init__(self, form: ConeForm, center: Vector, mult: float) -> None:
        # The multipliers are reported for the form as it is given.
        self._given = form.zero, form.rows.shape
        m = center.size
        form = _lifted(form, m)
        self._cost = form.cost
        self._square = form.quadratic
        self._E = form.rows[: form.zero]
        self._e = form.right[: form.zero]
        self._G = form.rows[form.zero :]
        self._h = form.right[form.zero :]
        self.x = np.append(center, self._near(center))
        self._eta = np.zeros(form.zero)
        s = self._h - self._G @ self.x
        mults = mult / self._shared(m)
        self._cones: list[tuple[slice, Cones]] = []
        first = 0
        for kind, size, number in _kinds(form):
            rows = slice(first, first + size * number)
            shape = (number, size)
            # A variable that all cones share, such as a norm, may be 0 at the start and as large as
            # any row later. Slacks as small as 1/m would then need many steps to grow.
            is_shared = kind is SecondOrderCones and size > 1 and number > 1
            least = float(np.abs(s).max()) if is_shared else 0.0
            at = s[rows].reshape(shape)
            near = mults[rows].reshape(shape).min(axis=1)
            cones = kind(at, max(least, 1.0 / m), near)
            cones.scale()
            self._cones.append((rows, cones))
            first = rows.stop
        self.count = sum(c.degree * len(c.s) for _, c in self._cones)
        self._matrix = _Matrix(form, self._cones, m)

    @property
    def proof(self) -> ConeProof:
        zero, size = self._given
        # The equations and half lines that `_lifted` adds stand between those of the form.
        later = self._z[self._z.size - (size[0] - zero) :]
        return ConeProof(np.append(self._eta[:zero], later), self.x[: size[1]])

    def _shared(self, m: int) -> Vector:
        # The optimality condition of a further variable z has a term for each row that contains it.
        # If k rows contain the variable, multipliers that are k times smaller keep the sum of these
        # terms small. The result has the largest k of each row, or 1.
        used = np.diff(self._G.tocsc().indptr).astype(np.float64)
        used[:m] = 1.0
        pattern = self._G.astype(bool).multiply(used)
        return np.maximum(pattern.max(axis=1).toarray().ravel(), 1.0)

    def _near(self, center: Vector) -> Vector:
        # With these variables z, the constraints nearly hold at d = `center`.
        from scipy import sparse
        from scipy.sparse.linalg import lsqr

        rows = sparse.csr_array(sparse.vstack([self._E, self._G]))
        m = center.size
        if rows.shape[1] == m:
            return np.zeros(0)
        # A start needs few digits, so that the iterations may be limited.
        right = np.append(self._e, self._h) - rows[:, :m] @ center
        return np.asarray(lsqr(rows[:, m:], right, iter_lim=100)[0])

    @property
    def _s(self) -> Vector:
        return np.concatenate([c.s.ravel() for _, c in self._cones])

    @property
    def _z(self) -> Vector:
        return np.concatenate([c.z.ravel() for _, c in self._cones])

    @property
    def product(self) -> float:
        return sum(c.product for _, c in self._cones)

    def _curved(self, s: Vector) -> Vector:
        return np.concatenate([c.times(s[r].reshape(c.s.shape)).ravel() for r, c in self._cones])

    @np.errstate(all="ignore")
    def block(self) -> Block:
        for _, cones in self._cones:
            cones.scale()
        return Bordered(self._matrix.layout, self._matrix.value(), self._times)

    def _times(self, t: Vector) -> Vector:
        # GᵀHG x from the right has fewer roundings than the matrix, where G x is small.
        x = t[: self._cost.size]
        eta = t[self._cost.size :]
        first = self._square @ x + self._E.T @ eta + self._G.T @ self._curved(self._G @ x)
        return np.append(first, self._E @ x)

    # NumPy's warnings are not needed, because `Iterate` rejects a direction that is not finite.
    @np.errstate(all="ignore")
    def aim(self, pull: Vector, centre: float, first: _Change | None = None) -> Aim:
        short = self._h - self._G @ self.x - self._s
        wanted = []
        for rows, cones in self._cones:
            shape = cones.s.shape
            ds = None if first is None else first.slack[rows].reshape(shape)
            dz = None if first is None else first.mult[rows].reshape(shape)
            wanted.append(cones.target(centre, ds, dz).ravel())
        target = np.concatenate(wanted) - self._curved(short)
        # Eliminate s and its multiplier: dζ = target + H G dx, with the residual of G x + s = h.
        gradient = self._cost + self._square @ self.x + self._E.T @ self._eta
        gradient[: pull.size] += pull
        h = -gradient - self._G.T @ (self._z + target)
        return Aim(np.append(h, self._e - self._E @ self.x), (short, target))

    def change(self, aim: Aim, t: Vector) -> _Change:
        x = t[: self._cost.size]
        short, target = aim.wanted
        moved = self._G @ x
        return _Change(x, t[x.size :], short - moved, target + self._curved(moved))

    def product_after(self, step: float, dual_step: float, change: _Change) -> float:
        return float((self._s + step * change.slack) @ (self._z + dual_step * change.mult))

    @np.errstate(all="ignore")
    def longest(self, change: _Change) -> tuple[float, float]:
        # With a quadratic term P primal and dual steps must have the same length.
        step = 1.0
        for rows, cones in self._cones:
            shape = cones.s.shape
            ds = change.slack[rows].reshape(shape)
            dz = change.mult[rows].reshape(shape)
            step = min(step, cones.longest(ds, dz))
        return step, step

    def go(self, step: float, dual_step: float, change: _Change) -> None:
        self.x = self.x + step * change.x
        self._eta = self._eta + dual_step * change.eta
        for rows, cones in self._cones:
            shape = cones.s.shape
            cones.s = cones.s + step * change.slack[rows].reshape(shape)
            cones.z = cones.z + dual_step * change.mult[rows].reshape(shape)


def _ones(matrix: Any) -> Any:
    pattern = matrix.tocsr()
    return type(pattern)((np.ones(pattern.nnz), pattern.indices, pattern.indptr), pattern.shape)


def _kinds(form: ConeForm) -> Iterator[tuple[type[Cones], int, int]]:
    # The groups of equal cones are in the order of their rows in `form`.
    # A half line is the second-order cone of dimension 1.
    yield SecondOrderCones, 1, form.half
    for size, equal in groupby(form.second):
        yield SecondOrderCones, size, len(list(equal))
    if form.exponential:
        yield ExponentialCones, 3, form.exponential


def _lifted(form: ConeForm, m: int) -> ConeForm:
    """Return an equivalent cone program with d >= 0 and without long rows in G.

    The first half lines are d >= 0. A row of G with more than √m entries for m examples would fill
    GᵀHG, so it becomes a new variable with a defining equation. If an equation with one entry fixes
    d_i, there is no d_i >= 0, because a d_i that is fixed to 0 has no positive slack.
    """
    from scipy import sparse

    size = form.cost.size
    E = form.rows[: form.zero]
    G = form.rows[form.zero :]
    is_far = is_long(G, m)
    long = np.flatnonzero(is_far)
    new = long.size
    fixed = E[np.diff(E.indptr) == 1].indices
    own = sparse.csr_array((np.ones(new), (long, np.arange(new))), (G.shape[0], new))
    floor = -sparse.eye_array(m, size + new, format="csr")[np.setdiff1d(np.arange(m), fixed)]
    short = sparse.diags_array((~is_far).astype(np.float64)) @ G
    short.eliminate_zeros()
    rows = [
        sparse.hstack([E, sparse.csr_array((form.zero, new))]),
        sparse.hstack([G[long], -sparse.eye_array(new)]),
        floor,
        sparse.hstack([short, own]),
    ]
    right = [form.right[: form.zero], np.zeros(new + floor.shape[0]), form.right[form.zero :]]
    return replace(
        form,
        cost=np.append(form.cost, np.zeros(new)),
        quadratic=sparse.csr_array(
            sparse.block_diag([form.quadratic, sparse.csr_array((new, new))])
        ),
        rows=sparse.csr_array(sparse.vstack(rows)),
        right=np.concatenate(right),
        zero=form.zero + new,
        half=floor.shape[0] + form.half,
    )
