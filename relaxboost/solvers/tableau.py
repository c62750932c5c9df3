"""The tableau T of x_B = T x_N, in which variables change sides."""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dgemm

from relaxboost._core.arrays import Array, Vector

_BLOCK = 32
"""Exchanges that are applied together."""


class Tableau:
    """A dense T, (rows, columns), which is written to, and exchanges still to be applied to it.

    An exchange is a change of rank one, (column + e_r)(e_q − row) / row_q. One by one they take the
    time of reading T; together they are one product of matrices.
    """

    def __init__(self, T: Array) -> None:
        self._T = T
        rows, columns = T.shape
        self._left, self._right = np.empty((_BLOCK, rows)), np.empty((_BLOCK, columns))
        self._waiting = 0

    @property
    def T(self) -> Array:
        """The whole of it, with all exchanges."""
        k = self._waiting
        if k:
            left, right = self._left[:k].T, self._right[:k].T
            dgemm(1.0, right, left, 1.0, self._T.T, trans_b=1, overwrite_c=1)
            self._waiting = 0
        return self._T

    def row(self, r: int) -> Vector:
        """Return how x_r depends on x_N."""
        k = self._waiting
        return self._T[r] + self._left[:k, r] @ self._right[:k]

    def column(self, q: int) -> Vector:
        """Return how x_B depends on x_q."""
        k = self._waiting
        return self._T[:, q] + self._right[:k, q] @ self._left[:k]

    def exchange(self, r: int, q: int, row: Vector, column: Vector) -> None:
        """Let x_r and x_q change sides, whose row and column these are."""
        left, right = self._left[self._waiting], self._right[self._waiting]
        left[:] = column
        left[r] += 1.0
        np.multiply(row, -1.0 / row[q], out=right)
        right[q] += 1.0 / row[q]
        self._waiting += 1
        if self._waiting == _BLOCK:
            self.T  # noqa: B018
