"""An f that is a cone program inside an interior point method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost.relaxations.cone_bounds import ConeProof
from relaxboost.relaxations.cone_form import ConeForm
from relaxboost.solvers.interior_point.block import Block
from relaxboost.solvers.interior_point.bordered import MANY, Pattern
from relaxboost.solvers.interior_point.cones import (
    Cones,
    ExponentialCones,
    HalfLines,
    SecondOrderCones,
)
from relaxboost.solvers.interior_point.part import Aim, Part

MAX_WRITTEN_CONE = 3
"""Second-order cones up to this size have their H written down: larger ones have fewer entries as a
multiple of the identity with two more columns in the border."""


class _Change(NamedTuple):
    x: Vector
    eta: Vector
    slack: Vector
    mult: Vector
    """The changes of s and ζ, an entry for each row in a cone."""


class Conic(Part):
    """x = (d, z) with cost·x + x·P x/2, E x = e, and G x + s = h, s in cones.

    The curvature of x is P + GᵀHG, H that of the cones; the multipliers η of E x = e are unknowns.

    Parameters
    ----------
    form : ConeForm
    center : array of shape (m,)
        A d to start near.
    mult : float
        The size of the multipliers to start with.
    """

    def __init__(self, form: ConeForm, center: Vector, mult: float) -> None:
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
            # A variable that second-order cones share may be 0 here, and as large as any row later.
            shared = kind is SecondOrderCones and number > 1
            least = float(np.abs(s).max()) if shared else 0.0
            at = s[rows].reshape(shape)
            near = mults[rows].reshape(shape).min(axis=1)
            cones = kind(at, max(least, 1.0 / m), near)
            self._cones.append((rows, cones))
            first = rows.stop
        self.count = sum(c.degree * len(c.s) for _, c in self._cones)
        self._pattern = Pattern(m, self._square, self._E, self._G, self._places())

    @property
    def proof(self) -> ConeProof:
        """The multipliers of the rows of the form as it was given, and its point."""
        zero, size = self._given
        later = self._z[self._z.size - (size[0] - zero) :]
        return ConeProof(np.append(self._eta[:zero], later), self.x[: size[1]])

    def _shared(self, m: int) -> Vector:
        """Return for each row of G how many share a z with it, whose equation adds them up."""
        used = np.diff(self._G.tocsc().indptr).astype(np.float64)
        used[:m] = 1.0
        pattern = self._G.astype(bool).multiply(used)
        return np.maximum(pattern.max(axis=1).toarray().ravel(), 1.0)

    def _near(self, center: Vector) -> Vector:
        """Return z for which the rows lack little."""
        from scipy import sparse
        from scipy.sparse.linalg import lsqr

        rows = sparse.csr_array(sparse.vstack([self._E, self._G]))
        m = center.size
        if rows.shape[1] == m:
            return np.zeros(0)
        right = np.append(self._e, self._h) - rows[:, :m] @ center
        return np.asarray(lsqr(rows[:, m:], right, iter_lim=100)[0])

    def _places(self) -> tuple[Any, Any]:
        """Return rows and columns of the entries of H that are written down."""
        found = []
        for rows, cones in self._cones:
            number, size = cones.s.shape
            index = np.arange(rows.start, rows.stop).reshape(number, size)
            if _large(cones):
                found.append((index.ravel(), index.ravel()))
            else:
                pair = np.broadcast_arrays(index[:, :, None], index[:, None, :])
                found.append((pair[0].ravel(), pair[1].ravel()))
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])

    @property
    def _s(self) -> Vector:
        return np.concatenate([c.s.ravel() for _, c in self._cones])

    @property
    def _z(self) -> Vector:
        return np.concatenate([c.z.ravel() for _, c in self._cones])

    @property
    def product(self) -> float:
        return sum(c.product for _, c in self._cones)

    def _curved(self, x: Vector) -> Vector:
        """Return H x."""
        return np.concatenate([c.times(x[r].reshape(c.s.shape)).ravel() for r, c in self._cones])

    @np.errstate(all="ignore")
    def block(self) -> Block:
        """Return K, of the scaling at the present point."""
        from scipy import sparse

        entries = []
        border = []
        corner = []
        for rows, cones in self._cones:
            cones.scale()
            if not _large(cones):
                entries.append(cones.matrices().ravel())
                continue
            assert isinstance(cones, SecondOrderCones)
            number, size = cones.s.shape
            entries.append(np.repeat(1.0 / np.square(cones.eta), size))
            # Of each cone one column that is added, and one that is taken away.
            place = np.repeat(np.arange(number), size), np.arange(number * size)
            for sign, rest in zip((-1.0, 1.0), np.moveaxis(cones.rest(), 1, 0), strict=True):
                spread = sparse.csr_array((rest.ravel(), place), (number, number * size))
                border.append((spread @ self._G[rows]).toarray())
                corner.append(np.full(number, sign))
        columns = np.zeros((self._cost.size + self._e.size, sum(map(len, border))))
        if border:
            columns[: self._cost.size] = np.vstack(border).T
        signs = np.concatenate([*corner, np.zeros(0)])
        return self._pattern.block(np.concatenate(entries), columns, signs, self._times)

    def _times(self, t: Vector) -> Vector:
        x = t[: self._cost.size]
        eta = t[self._cost.size :]
        first = self._square @ x + self._E.T @ eta + self._G.T @ self._curved(self._G @ x)
        return np.append(first, self._E @ x)

    @np.errstate(all="ignore")  # a direction that is not finite is refused
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
        """Return one step for both, since the curvature of P is felt by both."""
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


def _large(cones: Cones) -> bool:
    return isinstance(cones, SecondOrderCones) and cones.s.shape[1] > MAX_WRITTEN_CONE


def _kinds(form: ConeForm) -> Iterator[tuple[type[Cones], int, int]]:
    """Yield (kind, size, number) of cones one after the other."""
    yield HalfLines, 1, form.half
    for size, equal in groupby(form.second):
        yield SecondOrderCones, size, len(list(equal))
    if form.exponential:
        yield ExponentialCones, 3, form.exponential


def _lifted(form: ConeForm, m: int) -> ConeForm:
    """Return the form with d >= 0 as its first half lines, and short rows in all cones.

    A long one, which would fill GᵀHG, becomes an equation for a variable of its own. Where an
    equation fixes d_i there is no interior, and no half line.
    """
    from scipy import sparse

    size = form.cost.size
    E = form.rows[: form.zero]
    G = form.rows[form.zero :]
    long = np.flatnonzero(np.diff(G.indptr) > MANY)
    new = long.size
    fixed = E[np.diff(E.indptr) == 1].indices
    own = sparse.csr_array((np.ones(new), (long, np.arange(new))), (G.shape[0], new))
    floor = -sparse.eye_array(m, size + new, format="csr")[np.setdiff1d(np.arange(m), fixed)]
    short = sparse.diags_array((np.diff(G.indptr) <= MANY).astype(np.float64)) @ G
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
