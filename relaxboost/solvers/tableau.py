"""The tableau T of x_B = T x_N, in which variables change sides."""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dgemm

from relaxboost._core.arrays import Array, Vector
from relaxboost.solvers import pivots

_BLOCK = 32
"""Exchanges that are applied together."""


class Tableau:
    """A dense T, (rows, columns), which is written to, and exchanges still to be applied to it.

    An exchange is a change of rank one, (column + e_r)(e_q − row) / row_q. One by one they take the
    time of reading T; together they are one product of matrices.
    """

    def __init__(self, T: Array) -> None:
        self.renew(T)

    def renew(self, T: Array) -> None:
        """Become another T, in the order of rows."""
        rows, columns = T.shape
        factors = np.empty((_BLOCK, rows)), np.empty((_BLOCK, columns))
        self.parts = T, *factors, np.zeros(1, dtype=np.int64)

    @property
    def waiting(self) -> int:
        """How many exchanges are still to be applied."""
        return int(self.parts[3][0])

    def apply(self) -> None:
        """Let none wait."""
        (T, left, right, _), k = self.parts, self.waiting
        if k:
            dgemm(1.0, right[:k].T, left[:k].T, 1.0, T.T, trans_b=1, overwrite_c=1)
            self.parts[3][0] = 0

    @property
    def T(self) -> Array:
        """The whole of it, with all exchanges."""
        self.apply()
        return self.parts[0]

    def row(self, r: int) -> Vector:
        """Return how x_r depends on x_N."""
        return np.asarray(pivots.row_of(self.parts, r))

    def column(self, q: int) -> Vector:
        """Return how x_B depends on x_q."""
        return np.asarray(pivots.column_of(self.parts, q))

    def exchange(self, r: int, q: int, row: Vector, column: Vector) -> None:
        """Let x_r and x_q change sides, whose row and column these are."""
        pivots.put(self.parts, r, q, row, column)
        if self.waiting == _BLOCK:
            self.apply()
