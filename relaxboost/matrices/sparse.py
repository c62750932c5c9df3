"""Sparse margin matrices."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Array, Vector
from relaxboost._core.errors import InputError
from relaxboost.matrices.base import MarginMatrix, check_entry, check_shape, content_digest


class SparseMatrix(MarginMatrix):
    """A margin matrix in compressed columns; hypotheses that abstain (0) cost nothing.

    Parameters
    ----------
    A : scipy.sparse matrix or array of shape (m, n)
        Real entries in [−1, 1]; duplicates are summed first. A copy is made.
    """

    edge_roundings: ClassVar[int] = 1
    stored: ClassVar[bool] = True

    def __init__(self, A: Any) -> None:
        if A.dtype.kind not in "iuf":
            raise InputError(f"A has dtype {A.dtype}; it must be a real floating or integer type")
        check_shape(A.shape)
        csc = A.astype(np.float64).tocsc(copy=True)  # first: sums of int8 overflow
        csc.sum_duplicates()
        csc.eliminate_zeros()
        csc.sort_indices()
        inside = np.abs(csc.data) <= 1.0  # false for nan
        if not inside.all():
            p = int(np.argmin(inside))
            column = int(np.searchsorted(csc.indptr, p, side="right")) - 1
            check_entry(float(csc.data[p]), int(csc.indices[p]), column)
        self._csc, self._transposed = csc, csc.T
        self.m, self.n = (int(s) for s in csc.shape)

    @property
    def entries(self) -> int:
        """The entries that are not 0."""
        return int(self._csc.nnz)

    def _column(self, j: int) -> Array:
        out = np.zeros(self.m)
        part = slice(self._csc.indptr[j], self._csc.indptr[j + 1])
        out[self._csc.indices[part]] = self._csc.data[part]
        return out

    def _edges(self, d: Vector) -> Vector:
        return np.asarray(self._transposed @ d)

    def tocvxpy(self) -> Any:
        """Return a copy of A as a scipy.sparse matrix."""
        return self._csc.copy()

    def digest(self) -> str:
        """Return the SHA-256 of the entries; a dense matrix with the same ones has the same."""
        assert self.n is not None
        parts = (slice(*ends) for ends in pairwise(self._csc.indptr.tolist()))
        entries = ((self._csc.indices[part], self._csc.data[part]) for part in parts)
        return content_digest(self.m, self.n, entries)
