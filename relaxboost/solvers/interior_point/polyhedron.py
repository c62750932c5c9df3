"""A polyhedral f inside an interior point method."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector
from relaxboost.relaxations import LinearForm
from relaxboost.relaxations.cone_bounds import ConeProof
from relaxboost.solvers.interior_point.barrier import Barrier
from relaxboost.solvers.interior_point.block import Block, Diagonal, Rows
from relaxboost.solvers.interior_point.bordered import Pattern
from relaxboost.solvers.interior_point.part import Aim, Part

_FIXED = 1e30
"""The curvature that holds a variable with equal bounds."""


class _Change(NamedTuple):
    t: Vector
    """The changes of (d, z, R x) and of the multipliers η of R x."""
    slack: Array
    mult: Array
    """The changes of the slacks and the multipliers of the bounds, (2, size)."""


TURNS = np.array([[1.0], [-1.0]])
"""The signs with which a variable enters the slacks of its lower and its upper bound."""


class Polyhedron(Part):
    """x = (d, z) and y = R x between bounds, which hold strictly from the start; y = R x converges.

    Parameters
    ----------
    form : LinearForm
    center : array of shape (m,)
        A d to start near.
    centre : float
        The product that every pair starts with.
    """

    def __init__(self, form: LinearForm, center: Vector, centre: float) -> None:
        from scipy import sparse

        self._m, self._cost, self._size = center.size, form.cost, form.cost.size
        self._rows = None if form.rows is None else sparse.csr_array(form.rows)
        lower = np.append(form.lower, form.row_lower)
        upper = np.append(form.upper, form.row_upper)
        self._free = lower < upper
        self._bounds = np.stack([np.where(np.isfinite(x), x, 0.0) for x in (lower, upper)])
        live = np.stack([np.isfinite(lower), np.isfinite(upper)]) & self._free
        self.x = self._inside(np.append(center, np.zeros(self._size - self._m)), lower, upper)
        self._eta = np.zeros(lower.size - self._size)
        self._pattern = None if self._rows is None else self._tied(self._rows)
        self._box = Barrier(self._slacks(live), centre, live)
        self.count = self._box.count

    @property
    def proof(self) -> ConeProof | None:
        """The multipliers of the rows, and (d, z); None where the form has no rows."""
        return None if self._rows is None else ConeProof(self._eta, self.x[: self._size])

    @property
    def product(self) -> float:
        return self._box.product

    def _inside(self, x: Vector, lower: Vector, upper: Vector) -> Vector:
        """Return (d, z, R x) moved into its bounds, by a tenth of their width or of 1/m."""
        m, size = self._m, self._size
        width = np.where(self._free, upper - lower, 0.0)
        least = np.full(lower.size, 0.1 / m)
        if self._rows is not None:  # a row times a number is the same row
            largest = abs(self._rows).max(axis=1).toarray().ravel()
            least[size:] *= np.maximum(1.0, largest)
        step = np.where(np.isfinite(width), np.minimum(0.1 * width, least), least)
        x = np.clip(x, lower[:size] + step[:size], upper[:size] - step[:size])
        if self._rows is None:
            return x
        y = self._rows @ x
        return np.append(x, np.clip(y, lower[size:] + step[size:], upper[size:] - step[size:]))

    def _slacks(self, live: NDArray[np.bool_]) -> Array:
        return np.where(live, TURNS * (self.x - self._bounds), 1.0)

    def _theta(self) -> Vector:
        return np.where(self._free, self._box.ratio.sum(axis=0), _FIXED)

    def block(self) -> Block:
        """Return Θ with the rows."""
        theta, size = self._theta(), self._size
        if self._rows is None or self._pattern is None:
            return Diagonal(theta, self._m)
        # A border cancels digits of a variable without bounds, whose Θ is zero.
        if self._pattern.apart and theta[:size].all():
            diagonal = np.append(theta[:size], -1.0 / theta[size:])
            none = np.zeros((theta.size, 0))
            return self._pattern.block(
                diagonal, none, none[0], lambda t: diagonal * t + self._K @ t
            )
        return Rows(theta[:size], self._rows, 1.0 / theta[size:], self._m)

    def _tied(self, rows: Any) -> Pattern:
        """Return the places of K: those of the rows, and the diagonal."""
        from scipy import sparse

        self._K = sparse.csr_array(sparse.block_array([[None, rows.T], [rows, None]]))
        size = self._K.shape[0]
        place, none = np.arange(size), sparse.csr_array((0, size))
        return Pattern(self._m, self._K, none, sparse.eye_array(size, format="csr"), (place, place))

    def aim(self, pull: Vector, centre: Array | float, first: _Change | None = None) -> Aim:
        """Return the right-hand side for (d, z, η), from which R x has been eliminated."""
        size, rows = self._size, self._rows
        lacking = self._box.missing(centre if first is None else centre - first.slack * first.mult)
        gradient = np.append(self._cost, -self._eta)
        gradient[: self._m] += pull
        if rows is not None:
            gradient[:size] += rows.T @ self._eta
        gradient -= (TURNS * self._box.mult).sum(axis=0)
        right = np.where(self._free, (TURNS * lacking).sum(axis=0) - gradient, 0.0)
        if rows is None:
            return Aim(right, (lacking, right[:0]))
        inner = right[size:] / self._theta()[size:]
        h = np.append(right[:size], self.x[size:] - rows @ self.x[:size] + inner)
        return Aim(h, (lacking, inner))

    def change(self, aim: Aim, t: Vector) -> _Change:
        size, (lacking, inner) = self._size, aim.wanted
        rest = t[size:] / self._theta()[size:] + inner
        dx = np.append(t[:size], rest)
        slack = np.where(self._box.live, TURNS * dx, 0.0)
        return _Change(np.append(dx, t[size:]), slack, lacking - self._box.ratio * slack)

    def product_after(self, step: float, dual_step: float, change: _Change) -> float:
        return self._box.product_after(step, dual_step, change.slack, change.mult)

    def outliers(self, change: _Change, step: float, dual_step: float, centre: float) -> Array:
        return self._box.outliers(change.slack, change.mult, step, dual_step, centre)

    def longest(self, change: _Change) -> tuple[float, float]:
        return self._box.longest(change.slack, change.mult)

    def go(self, step: float, dual_step: float, change: _Change) -> None:
        self.x = self.x + step * np.where(self._free, change.t[: self.x.size], 0.0)
        self._eta = self._eta + dual_step * change.t[self.x.size :]
        self._box.move(self._slacks(self._box.live), dual_step, change.mult)
