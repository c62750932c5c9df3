"""A point strictly inside all inequalities of a game, and Mehrotra's step from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost.game.domains import AtomicSet
from relaxboost.matrices.bulk import Bulk
from relaxboost.relaxations import LinearForm
from relaxboost.solvers.interior.barrier import Barrier
from relaxboost.solvers.interior.block import Block, Diagonal, Rows
from relaxboost.solvers.interior.normal import ByColumns, ByExamples, ColumnScaling, Move, Normal

_SHORT = 0.995
"""The part gone of the way to the boundary."""
_ROOM = 1.1
"""How far v goes of the way that new columns ask for, so that their slacks are positive."""
_FIXED = 1e30
"""The curvature that holds a variable with equal bounds."""


class _Change(NamedTuple):
    """A direction in all variables."""

    move: Move
    box: Array
    """The changes of the multipliers of the bounds, (2, size)."""
    columns: Array
    """The changes of the weights, one row for each sign."""


class Iterate:
    """The linear program of a game, min cost·x + r v, and a point strictly inside its bounds.

    x = (d, z) and R x lie between bounds, Σd = 1, and ± <a_j, d> <= v for each column j (without
    the minus over the simplex). The multipliers of these are w_j⁺ and w_j⁻. The bounds hold
    strictly from the start; Σd = 1, the rows, and what is dual converge.

    Parameters
    ----------
    form : LinearForm
    bulk : Bulk
    over : AtomicSet
    center : array of shape (m,)
        A d to start near.

    References
    ----------
    Mehrotra (1992), SIAM J. Optim. 2; Wright (1997), Primal-Dual Interior-Point Methods, Ch. 10.
    """

    def __init__(self, form: LinearForm, bulk: Bulk, over: AtomicSet, center: Vector) -> None:
        from scipy import sparse

        self._bulk, self._over, m = bulk, over, bulk.m
        self._cost, self._size = form.cost, form.cost.size
        self._rows = None if form.rows is None else sparse.csr_array(form.rows)
        lower = np.append(form.lower, form.row_lower)
        upper = np.append(form.upper, form.row_upper)
        fixed = lower >= upper
        self._free = ~fixed
        self._bounds = np.stack([np.where(np.isfinite(x), x, 0.0) for x in (lower, upper)])
        self._turns = np.array([[1.0], [-1.0]])
        self._signs = np.array([[1.0], [-1.0]] if over.holds_zero else [[1.0]])
        live = np.stack([np.isfinite(lower), np.isfinite(upper)]) & self._free
        self.x = self._inside(np.append(center, np.zeros(self._size - m)), lower, upper)
        self.total = 0.0
        self.eta = np.zeros(lower.size - self._size)
        # Multipliers are of the size of r and of the slopes of f, whichever is larger, and a v
        # that is as far off in r v keeps the products near each other.
        size = over.scale + float(np.abs(form.cost).max())
        centre = 0.1 * size / m
        self._box = Barrier(self._slacks(live), centre, live)
        self.edges = bulk.edges(self.x[:m])
        self.v = float(np.abs(self.edges).max()) + 0.1 * size / over.scale
        slack = self.v - self._signs * self.edges
        self._columns = Barrier(slack, centre, np.ones(slack.shape, dtype=bool))
        self._columns.mult[:] = over.scale / slack.size
        self.margins = bulk.margins(self.w)

    @property
    def d(self) -> Vector:
        """The distribution, positive; it sums to one up to what has not converged."""
        return self.x[: self._bulk.m]

    @property
    def w(self) -> Vector:
        """The weights, shape (n,)."""
        return np.asarray((self._signs * self._columns.mult).sum(axis=0))

    @property
    def in_use(self) -> NDArray[np.bool_]:
        """Which columns have more weight than slack: those that the optimum uses, near the end."""
        return np.asarray((self._columns.mult > self._columns.slack).any(axis=0))

    @property
    def mu(self) -> float:
        """The mean of slack · multiplier, which goes to zero."""
        box, columns = self._box, self._columns
        return (box.product + columns.product) / (box.count + columns.count)

    def _inside(self, x: Vector, lower: Vector, upper: Vector) -> Vector:
        """Return (d, z, R x) moved into its bounds, by a tenth of their width or of 1/m."""
        m, size = self._bulk.m, self._size
        width = np.where(self._free, upper - lower, 0.0)
        step = np.where(np.isfinite(width), np.minimum(0.1 * width, 0.1 / m), 0.1 / m)
        x = np.clip(x, lower[:size] + step[:size], upper[:size] - step[:size])
        if self._rows is None:
            return x
        y = self._rows @ x
        return np.append(x, np.clip(y, lower[size:] + step[size:], upper[size:] - step[size:]))

    def _slacks(self, live: NDArray[np.bool_]) -> Array:
        return np.where(live, self._turns * (self.x - self._bounds), 1.0)

    def step(self) -> float:
        """Go a predictor and a corrector step; return the longer of the two lengths."""
        box, columns, mu = self._box, self._columns, self.mu
        count = box.count + columns.count
        normal = self._factorised()
        change = self._newton(normal, 0.0, 0.0)
        length, dual = self._longest(change)
        dbox, dcolumns = self._slack_changes(change.move)
        after = box.product_after(length, dual, dbox, change.box)
        after += columns.product_after(length, dual, dcolumns, change.columns)
        centre = (after / count / mu) ** 3 * mu
        change = self._newton(
            normal, centre - dbox * change.box, centre - dcolumns * change.columns
        )
        length, dual = self._longest(change)
        self._go(change, min(1.0, _SHORT * length), min(1.0, _SHORT * dual))
        return max(length, dual)

    def _factorised(self) -> Normal:
        size, m, bulk = self._size, self._bulk.m, self._bulk
        theta = np.where(self._free, self._box.ratio.sum(axis=0), _FIXED)
        block: Block
        if self._rows is None:
            block = Diagonal(theta, m)
        else:
            block = Rows(theta[:size], self._rows, 1.0 / theta[size:], m)
        ratio = self._columns.ratio
        D, E = ratio.sum(axis=0), (self._signs * ratio).sum(axis=0)
        kappa = float((4.0 * ratio[0] * ratio[1] / D).sum()) if len(ratio) == 2 else 0.0
        made = ColumnScaling(D, E, kappa)
        by_columns = bulk.n <= m and (bulk.array is not None or self._rows is None)
        return ByColumns(bulk, block, made) if by_columns else ByExamples(bulk, block, made)

    def _newton(self, normal: Normal, box: Array | float, columns: Array | float) -> _Change:
        """Return the direction to products of `box` and `columns`."""
        size, m = self._size, self._bulk.m
        lacking, missing = self._box.missing(box), self._columns.missing(columns)
        D = self._columns.ratio.sum(axis=0)
        signs = self._signs * self._columns.ratio / D
        net = (self._signs * missing).sum(axis=0)
        gradient = np.append(self._cost, -self.eta)
        gradient[:m] += self.margins - self.total
        if self._rows is not None:
            gradient[:size] += self._rows.T @ self.eta
        gradient -= (self._turns * self._box.mult).sum(axis=0)
        right = np.where(self._free, (self._turns * lacking).sum(axis=0) - gradient, 0.0)
        h = right[:size]
        theta = self._box.ratio.sum(axis=0)
        if self._rows is not None:
            curve = np.where(self._free, theta, _FIXED)[size:]
            inner = right[size:] / curve
            h = np.append(h, self.x[size:] - self._rows @ self.x[:size] + inner)
        short = self._over.scale - float(self._columns.mult.sum())
        move = normal.solve(
            h,
            -net / D,
            float(missing.sum()) - float(signs.sum(axis=0) @ net) - short,
            1.0 - float(self.d.sum()),
        )
        if self._rows is not None:
            rest = (move.t[size:] + right[size:]) / curve
            move = move._replace(t=np.concatenate([move.t[:size], rest, move.t[size:]]))
        dbox, dcolumns = self._slack_changes(move)
        changes = missing - self._columns.ratio * dcolumns
        if len(changes) == 2:  # what is large follows from the sum, without cancellation
            first = self._columns.ratio[0] > self._columns.ratio[1]
            changes = np.where(
                np.stack([first, ~first]),
                np.stack([move.y + changes[1], changes[0] - move.y]),
                changes,
            )
        else:
            changes = move.y[None, :]
        return _Change(move, lacking - self._box.ratio * dbox, changes)

    def _slack_changes(self, move: Move) -> tuple[Array, Array]:
        t = move.t[: self.x.size]
        return np.where(self._box.live, self._turns * t, 0.0), move.v - self._signs * move.edges

    def _longest(self, change: _Change) -> tuple[float, float]:
        dbox, dcolumns = self._slack_changes(change.move)
        pairs = (
            self._box.longest(dbox, change.box),
            self._columns.longest(dcolumns, change.columns),
        )
        return min(p[0] for p in pairs), min(p[1] for p in pairs)

    def _go(self, change: _Change, length: float, dual: float) -> None:
        move = change.move
        self.x = self.x + length * np.where(self._free, move.t[: self.x.size], 0.0)
        self.eta = self.eta + dual * move.t[self.x.size :]
        self.total += dual * move.total
        self.v += length * move.v
        self.edges = self._bulk.edges(self.d)
        self._box.move(self._slacks(self._box.live), dual, change.box)
        self._columns.move(self.v - self._signs * self.edges, dual, change.columns)
        self.margins = self._bulk.margins(self.w)

    def weighty(self, part: float) -> NDArray[np.bool_]:
        """Return which columns have a curvature of at least this part of those in use."""
        largest: Vector = self._columns.ratio.max(axis=0)
        used = self.in_use
        return largest >= part * (np.median(largest[used]) if used.any() else 0.0)

    def exchange(self, bulk: Bulk, stay: NDArray[np.bool_], place: Whole) -> None:
        """Go on with other columns: those of before that `stay`, at `place`, and new ones.

        v rises to where all slacks are positive, and new products are of the present mean.
        """
        mu, mult = self.mu, self._columns.mult[:, stay]
        self._bulk, self.edges = bulk, bulk.edges(self.d)
        highest = float((self._signs * self.edges).max())
        self.v += _ROOM * max(highest - self.v, 0.0)
        slack = self.v - self._signs * self.edges
        self._columns = Barrier(slack, mu, np.ones(slack.shape, dtype=bool))
        self._columns.mult[:, place] = mult
        self.margins = bulk.margins(self.w)
