"""What a user may hand over as A."""

from __future__ import annotations

from typing import Any

from relaxboost.matrices.base import MarginMatrix
from relaxboost.matrices.dense import DenseMatrix
from relaxboost.matrices.sparse import SparseMatrix


def as_matrix(A: Any) -> MarginMatrix:
    """Return `A` as a margin matrix: one already, an array, or a scipy.sparse matrix.

    Raises
    ------
    InputError
        If A is not a non-empty matrix of real numbers in [−1, 1].
    """
    if isinstance(A, MarginMatrix):
        return A
    # scipy.sparse is not imported to find out: an object of it has been made by it.
    if any(base.__module__.startswith("scipy.sparse") for base in type(A).__mro__):
        return SparseMatrix(A)
    return DenseMatrix(A)
