"""Sparse margin matrices, and the conversion of a user's array to a margin matrix."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.blas import MULTIPLICATIONS_PER_ENTRY
from relaxboost._core.errors import InputError
from relaxboost.matrices import kernels
from relaxboost.matrices.base import MarginMatrix, check_entry, check_shape, content_digest
from relaxboost.matrices.bulk import Bulk, by_rows
from relaxboost.matrices.dense import DenseMatrix


class SparseBulk(Bulk):
    """Products with all columns of a scipy.sparse.csc_array with sorted indices."""

    def __init__(self, A: Any) -> None:
        self._A = A
        self._transposed = A.T
        self.m, self.n = map(int, A.shape)

    @cached_property
    def _rows(self) -> Any:
        return self._A.tocsr()

    @cached_property
    def array(self) -> Vector:
        return np.asarray(self._A.toarray())

    def edges(self, d: Vector) -> Vector:
        return np.asarray(self._transposed @ d)

    def margins(self, w: Vector) -> Vector:
        return np.asarray(self._A @ w)

    def part(self, rows: Whole, columns: Whole) -> Array:
        return np.asarray(self._rows[rows][:, columns].toarray())

    def gram(self, scaling: Vector) -> Vector:
        out = np.zeros((self.m, self.m))  # The entries above the diagonal must be finite.
        _squared(self._transposed, self._rows, scaling, out)
        return out

    def cross(self, weights: Vector, out: Array) -> None:
        _squared(self._rows, self._transposed, weights, out)

    def restricted(self, columns: Whole) -> SparseBulk:
        return SparseBulk(self._A[:, columns])


def _squared(A: Any, transposed: Any, weights: Vector, out: Array) -> None:
    # The compiled loop reads the pairs of nonzero entries of a row. Dense blocks multiply all
    # pairs of entries of a row.
    m, n = A.shape
    if MULTIPLICATIONS_PER_ENTRY * A.nnz**2 >= (m * n) ** 2:
        by_rows(lambda rows: A[rows].toarray(), weights, out)
        return
    arrays = [(x.indptr, x.indices, x.data) for x in (transposed, A)]
    kernels.sparse_cross(*arrays, weights, out)


class SparseMatrix(MarginMatrix):
    """A margin matrix in compressed sparse column format.

    Zeros, the margins of hypotheses that abstain, are not stored.

    Parameters
    ----------
    A : scipy.sparse matrix or array of shape (m, n)
        Real entries in [−1, 1], after duplicates are summed. The matrix stores a copy of A.
    """

    edge_roundings: ClassVar[int] = 1
    stored: ClassVar[bool] = True

    def __init__(self, A: Any) -> None:
        if A.dtype.kind not in "iuf":
            raise InputError(f"A has dtype {A.dtype}; it must be a real floating or integer type")
        check_shape(A.shape)
        csc = A.astype(np.float64).tocsc(copy=True)  # Sums of int8 overflow.
        csc.sum_duplicates()
        csc.eliminate_zeros()
        csc.sort_indices()
        inside = np.abs(csc.data) <= 1.0  # This is false for nan.
        if not inside.all():
            p = int(np.argmin(inside))
            column = int(np.searchsorted(csc.indptr, p, side="right")) - 1
            check_entry(float(csc.data[p]), int(csc.indices[p]), column)
        self._csc = csc
        self._transposed = csc.T
        self.m, self.n = map(int, csc.shape)

    @property
    def entries(self) -> int:
        """The number of values that a pass over A reads: its nonzero entries."""
        return int(self._csc.nnz)

    def _column(self, j: int) -> Array:
        out = np.zeros(self.m)
        part = slice(self._csc.indptr[j], self._csc.indptr[j + 1])
        out[self._csc.indices[part]] = self._csc.data[part]
        return out

    def _edges(self, d: Vector) -> Vector:
        return np.asarray(self._transposed @ d)

    def bulk(self) -> Bulk:
        return self.pricing()

    def pricing(self) -> SparseBulk:
        return SparseBulk(self._csc)

    def tocvxpy(self) -> Any:
        """Return a copy of A as a scipy.sparse matrix."""
        return self._csc.copy()

    def digest(self) -> str:
        """Return the SHA-256 digest of the entries, the same as for a dense matrix."""
        assert self.n is not None
        parts = (slice(*ends) for ends in pairwise(self._csc.indptr.tolist()))
        entries = ((self._csc.indices[part], self._csc.data[part]) for part in parts)
        return content_digest(self.m, self.n, entries)


def as_matrix(A: Any) -> MarginMatrix:
    """Convert an array or a sparse matrix to a margin matrix.

    Parameters
    ----------
    A : array, scipy.sparse matrix, or MarginMatrix
        The margins of m examples and n hypotheses, shape (m, n). A margin matrix is returned
        unchanged.

    Raises
    ------
    InputError
        If A is not a non-empty matrix of real numbers in [−1, 1].
    """
    if isinstance(A, MarginMatrix):
        return A
    # A scipy.sparse object exists only if scipy.sparse is loaded, so no import is needed.
    if any(base.__module__.startswith("scipy.sparse") for base in type(A).__mro__):
        return SparseMatrix(A)
    return DenseMatrix(A)
