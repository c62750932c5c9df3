"""Dense and sparse factorisations of the matrices of Newton's equations.

These matrices become nearly singular when an interior point method approaches the optimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxboost._core.arrays import Array, Vector
from relaxboost._core.blas import threads_for

ADDITIONS = tuple(10.0**-digits for digits in (14, 12, 10, 8))
"""Before a matrix is factorised, its diagonal is multiplied by one of these numbers and added to
the matrix. The numbers are tried in order until the factorisation succeeds."""


class Factor:
    """The Cholesky factor of a symmetric matrix that is positive definite except for rounding.

    Equal columns or equal examples make Newton's matrix singular. The constructor therefore always
    adds a small multiple of the diagonal to the matrix. The caller removes the effect on the
    solution by iterative refinement.

    Parameters
    ----------
    gram : array of shape (order, order)
        An array whose lower triangle contains the matrix. The constructor changes its diagonal.
    size : array of shape (order,), optional
        The diagonal of the matrix before a subtraction reduced its entries. The rounding error of
        each diagonal entry is proportional to this larger number. By default nothing was
        subtracted.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the factorisation fails even with the largest addition to the diagonal.
    """

    def __init__(self, gram: Array, size: Vector | None = None) -> None:
        place = np.arange(len(gram))
        diagonal = gram[place, place]
        # Most cancellations are mild, so additions in proportion to the diagonal are tried first.
        for scale in (diagonal,) if size is None else (diagonal, size):
            for addition in ADDITIONS:
                gram[place, place] = diagonal + addition * scale
                if self._factorise(gram):
                    return
        raise np.linalg.LinAlgError("Newton's matrix has no Cholesky factor")

    def _factorise(self, gram: Array) -> bool:
        from scipy.linalg.lapack import dpotrf

        # LAPACK stores matrices by columns, so that this lower triangle is its upper triangle.
        with threads_for(*gram.shape):
            self._upper, failed = dpotrf(gram.T, lower=0, clean=0)
        return not failed

    def solve(self, h: Vector) -> Vector:
        """Return the solution x of the equations G x = h for the matrix G that was factorised."""
        from scipy.linalg.blas import dtrsv

        # For one vector BLAS is several times faster than LAPACK, which expects a matrix.
        with threads_for(*self._upper.shape):
            half = dtrsv(self._upper, h, trans=1)
            return np.asarray(dtrsv(self._upper, half))


def symmetric_factor(matrix: Any) -> Any:
    """Return a sparse LU factor of a symmetric sparse matrix.

    The minimum degree ordering for symmetric matrices keeps pivots on the diagonal. Rows with many
    entries then cause few additional entries in the factor. With SuperLU's default ordering, the
    factor can have five hundred times more entries.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is singular even with the largest addition to its diagonal.
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
        # SciPy raises this error for a singular matrix.
        except RuntimeError:
            continue
    raise np.linalg.LinAlgError("the sparse part of Newton's matrix is singular")


def add_outer(matrix: Array, left: Vector, right: Vector) -> None:
    """Add the outer product of the vectors `left` and `right` to a matrix in place."""
    from scipy.linalg.blas import dger

    # NumPy's np.outer would allocate a second matrix of the same size.
    changed = dger(1.0, right, left, a=matrix.T, overwrite_a=1)
    assert np.shares_memory(changed, matrix)
