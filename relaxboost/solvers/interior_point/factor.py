"""The Cholesky factor of Newton's matrix, which near the end is singular up to rounding."""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxboost._core.arrays import Array, Vector
from relaxboost._core.blas import threads_for

ADDITIONS = tuple(10.0**-digits for digits in (14, 12, 10, 8))
"""Parts of a diagonal that are added to it, tried in turn. Of the almost 16 digits of a double, so
many stay as they were."""


class Factor:
    """The Cholesky factor of a symmetric positive definite matrix.

    Equal columns, or examples, leave Newton's matrix singular. A multiple of the roundings in its
    diagonal is then added to it; iterative refinement removes the effect on the solution.

    Parameters
    ----------
    gram : array of shape (order, order)
        The matrix in its lower triangle. The diagonal is changed.
    size : array of shape (order,), optional
        How large the terms of each diagonal entry were, if they cancelled. The roundings are
        proportional to `size` then.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix has no factor, even with eight digits of its diagonal changed.
    """

    def __init__(self, gram: Array, size: Vector | None = None) -> None:
        place = np.arange(len(gram))
        diagonal = gram[place, place]
        # Most cancellations are mild, so what is left of the terms sets the first additions.
        for scale in (diagonal,) if size is None else (diagonal, size):
            for addition in ADDITIONS:
                gram[place, place] = diagonal + addition * scale
                if self._factorise(gram):
                    return
        raise np.linalg.LinAlgError("Newton's equations are singular")

    def _factorise(self, gram: Array) -> bool:
        """Factorise a copy of the matrix; return whether it is positive definite."""
        from scipy.linalg.lapack import dpotrf

        # LAPACK stores by columns: the lower triangle by rows is its upper triangle.
        with threads_for(*gram.shape):
            self._upper, failed = dpotrf(gram.T, lower=0, clean=0)
        return not failed

    def solve(self, h: Vector) -> Vector:
        """Return the solution for one right-hand side."""
        from scipy.linalg.blas import dtrsv

        # For one vector BLAS is several times faster than LAPACK, which expects a matrix.
        with threads_for(*self._upper.shape):
            half = dtrsv(self._upper, h, trans=1)
            return np.asarray(dtrsv(self._upper, half))


def symmetric_factor(matrix: Any) -> Any:
    """Return a sparse factor of a symmetric matrix, whose `solve` takes vectors and matrices.

    The minimum degree ordering of a symmetric matrix keeps pivots on the diagonal, so that rows
    with many entries fill little. SuperLU's default, made for unsymmetric matrices, fills up to
    five hundred times as much.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is singular.
    """
    from scipy import sparse
    from scipy.sparse.linalg import splu

    matrix = sparse.csc_array(matrix)
    diagonal = sparse.diags_array(matrix.diagonal(), format="csc")
    for addition in (0.0, *ADDITIONS):
        try:
            return splu(
                matrix + addition * diagonal,
                permc_spec="MMD_AT_PLUS_A",
                # Larger pivots would refuse those of active rows, and the factor would fill.
                diag_pivot_thresh=np.sqrt(np.finfo(np.float64).eps),
                options={"SymmetricMode": True},
            )
        except RuntimeError:  # SciPy's, for a singular matrix
            continue
    raise np.linalg.LinAlgError("the sparse part of Newton's equations is singular")


def add_outer(matrix: Array, left: Vector, right: Vector) -> None:
    """Add the outer product of two vectors to a matrix in place, without a second matrix."""
    from scipy.linalg.blas import dger

    changed = dger(1.0, right, left, a=matrix.T, overwrite_a=1)
    assert np.shares_memory(changed, matrix)
