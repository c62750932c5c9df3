"""The dense simplex tableau T of x_B = T x_N."""

from __future__ import annotations

import numpy as np
from scipy.linalg.blas import dgemm

from relaxboost._core.arrays import Array
from relaxboost.solvers.parametric_simplex.kernels import Factors

BLOCK = 32
"""Rank-one updates that are applied together, as one product of matrices that reads T once."""


class Tableau:
    """A dense tableau that collects the rank-one updates of pivots and applies them in blocks.

    Parameters
    ----------
    table : array of shape (rows, columns)
        The tableau T. Later pivots modify this array.
    """

    def __init__(self, table: Array) -> None:
        self.replace(table)

    def replace(self, table: Array) -> None:
        """Continue with another tableau."""
        rows, columns = table.shape
        self.factors = Factors(
            table=np.ascontiguousarray(table),
            left=np.empty((BLOCK, rows)),
            right=np.empty((BLOCK, columns)),
            pending=np.zeros(1, dtype=np.int64),
        )

    @property
    def size(self) -> int:
        """The number of entries."""
        return int(self.factors.table.size)

    @property
    def pending(self) -> int:
        """The number of updates that are not applied yet."""
        return int(self.factors.pending[0])

    def apply(self) -> Array:
        """Apply the pending updates, and return the tableau."""
        table, left, right, _ = self.factors
        k = self.pending
        if k:
            # BLAS sees the transpose of an array in the order of rows, and writes to it in place.
            dgemm(1.0, right[:k].T, left[:k].T, 1.0, table.T, trans_b=1, overwrite_c=1)
            self.factors.pending[0] = 0
        return table
