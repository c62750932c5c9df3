"""A relaxation f that is a linear program, for the interior point method."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector
from relaxboost.relaxations import LinearForm
from relaxboost.relaxations.cone_bounds import ConeProof
from relaxboost.solvers.interior_point.barrier import Barrier
from relaxboost.solvers.interior_point.block import Block, Diagonal
from relaxboost.solvers.interior_point.bordered import Bordered, Layout
from relaxboost.solvers.interior_point.part import Aim, Part


class _Change(NamedTuple):
    # `x` is the step of (d, z, y), and `eta` is that of the multipliers of y = R(d, z). The rows of
    # `slack` and `mult` belong to the lower and to the upper bounds.
    x: Vector
    eta: Vector
    slack: Array
    mult: Array


SIGNS = np.array([[1.0], [-1.0]])
"""The signs of a variable x in its two slacks: 1 in x − low, and −1 in high − x."""


class Polyhedron(Part):
    """A relaxation f that is a linear program with bounded variables.

    The variables are the distribution d, the further variables z, and y = R(d, z), where R is the
    matrix of the rows of the linear program. Each variable has a lower and an upper bound, which
    may be infinite. The bounds hold strictly from the start, and the residuals of y = R(d, z)
    converge to zero.

    Parameters
    ----------
    form : LinearForm
        The linear program that defines f, with the rows R.
    center : array of shape (m,)
        The method starts near this distribution d.
    centre : float or array of shape (2, size)
        The initial products of slack and multiplier for the lower and upper bounds.
    """

    def __init__(self, form: LinearForm, center: Vector, centre: Array | float) -> None:
        from scipy import sparse

        self._m = center.size
        self._cost = form.cost
        self._size = form.cost.size
        self._rows = sparse.csr_array((0, self._size) if form.rows is None else form.rows)
        lower = np.append(form.lower, form.row_lower)
        upper = np.append(form.upper, form.row_upper)
        self._is_free = lower < upper
        bounds = np.stack([lower, upper])
        live = np.isfinite(bounds) & self._is_free
        self._bounds = np.where(np.isfinite(bounds), bounds, 0.0)
        self._eta = np.zeros(lower.size - self._size)
        self.x = self._inside(np.append(center, np.zeros(self._size - self._m)), lower, upper)
        self._box = Barrier(self._slacks(live), centre, live)
        self.count = self._box.count
        if not self._eta.size:
            return
        # Without its diagonal, K never changes.
        self._ties = sparse.csr_array(
            sparse.block_array([[None, self._rows.T], [self._rows, None]])
        )
        # A variable without bounds has no curvature.
        diagonal = live.any(axis=0) | ~self._is_free
        self._layout = Layout(abs(self._ties) + sparse.diags_array(diagonal * 1.0), self._m)

    @property
    def proof(self) -> ConeProof | None:
        return ConeProof(self._eta, self.x[: self._size]) if self._eta.size else None

    @property
    def product(self) -> float:
        return self._box.product

    @cached_property
    def _largest(self) -> Vector:
        # For the bounds of a row, the ratio multiplier / slack depends on the scale of the row.
        # This ratio times the square of the largest entry does not, so different rows can be
        # compared.
        largest = abs(self._rows).max(axis=1).toarray().ravel()
        return np.where(largest > 0.0, largest, 1.0)

    def _inside(self, x: Vector, lower: Vector, upper: Vector) -> Vector:
        # Each variable and each row starts strictly between its bounds. Its distance from a bound
        # is at least `least`, or a tenth of the distance between the bounds if this is smaller.
        size = self._size
        least = np.full(size, 0.1 / self._m)
        # The size of a variable in z without two bounds is not known before the run. Slacks and
        # multipliers that are much too small need many steps to grow. Their product starts at about
        # 0.1/m, so both start at the root of this number.
        is_unknown = ~np.isfinite(upper[:size] - lower[:size])
        is_unknown[: self._m] = False
        least[is_unknown] = np.sqrt(0.1 / self._m)
        of_rows = abs(self._rows).multiply(least).max(axis=1).toarray().ravel()
        least = np.append(least, np.maximum(of_rows, 0.1 / self._m))
        step = np.minimum(0.1 * np.where(self._is_free, upper - lower, 0.0), least)
        x = np.clip(x, lower[:size] + step[:size], upper[:size] - step[:size])
        return np.append(
            x, np.clip(self._rows @ x, lower[size:] + step[size:], upper[size:] - step[size:])
        )

    def _slacks(self, live: NDArray[np.bool_]) -> Array:
        return np.where(live, SIGNS * (self.x - self._bounds), 1.0)

    def _curvature(self) -> Vector:
        # The sum of multiplier divided by slack over the two bounds of each variable.
        # A variable with equal bounds must not move, not even by a rounding of its size.
        fixed = np.finfo(np.float64).eps ** -2
        return np.where(self._is_free, self._box.ratio.sum(axis=0), fixed)

    def block(self) -> Block:
        from scipy import sparse

        theta = self._curvature()
        size = self._size
        # Without rows nothing ties the variables to each other.
        if not self._eta.size:
            return Diagonal(theta, self._m)
        diagonal = np.append(theta[:size], -1.0 / theta[size:])
        # Rows that are equations may fix d, and variables without bounds may move without d. K
        # without d is then singular. The factor takes an equation as a bound that is as stiff as
        # the stiffest inequality. For a variable without bounds, it takes the curvature of the
        # softest inequality times the root of the precision. Such a factor is wrong in half of
        # the digits, and one refinement with the exact K finds the others.
        live = self._box.live.any(axis=0)
        unit = np.append(np.ones(size), np.square(self._largest))
        stiffest = (theta * unit).max(where=live, initial=1.0)
        softest = np.sqrt(np.finfo(np.float64).eps) * (theta * unit).min(where=live, initial=1.0)
        theta = np.where(self._is_free & ~live, softest / unit, theta)
        theta[size:] = np.where(self._is_free[size:], theta[size:], stiffest / unit[size:])
        factored = sparse.diags_array(np.append(theta[:size], -1.0 / theta[size:]))
        return Bordered(
            self._layout, self._ties + factored, lambda t: self._ties @ t + diagonal * t
        )

    def aim(self, pull: Vector, centre: float, first: _Change | None = None) -> Aim:
        size = self._size
        missing = self._box.missing(centre if first is None else centre - first.slack * first.mult)
        gradient = np.append(self._cost, -self._eta)
        gradient[: self._m] += pull
        if self._eta.size:
            gradient[:size] += self._rows.T @ self._eta
        gradient -= self._box.mult[0] - self._box.mult[1]
        right = np.where(self._is_free, missing[0] - missing[1] - gradient, 0.0)
        if not self._eta.size:
            return Aim(right, (missing, right[size:]))
        # The change of y is eliminated: it is that of η over the curvature, plus `inner`.
        inner = right[size:] / self._curvature()[size:]
        # The rows converge, so the right-hand side has what they lack at this point.
        residual = self.x[size:] - self._rows @ self.x[:size]
        return Aim(np.append(right[:size], residual + inner), (missing, inner))

    def change(self, aim: Aim, t: Vector) -> _Change:
        size = self._size
        missing, inner = aim.wanted
        x = np.append(t[:size], t[size:] / self._curvature()[size:] + inner) if inner.size else t
        slack = np.where(self._box.live, SIGNS * x, 0.0)
        return _Change(x, t[size:], slack, missing - self._box.ratio * slack)

    def product_after(self, step: float, dual_step: float, change: _Change) -> float:
        return self._box.product_after(step, dual_step, change.slack, change.mult)

    def longest(self, change: _Change) -> tuple[float, float]:
        return self._box.longest(change.slack, change.mult)

    def go(self, step: float, dual_step: float, change: _Change) -> None:
        self.x = self.x + step * np.where(self._is_free, change.x, 0.0)
        self._eta = self._eta + dual_step * change.eta
        # Slacks are recomputed from x, so that they do not collect roundings.
        self._box.move(self._slacks(self._box.live), dual_step, change.mult)
