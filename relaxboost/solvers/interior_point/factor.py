"""Dense and sparse factorisations of the matrices of Newton's equations.

These matrices become nearly singular as the interior point method approaches the optimum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from relaxboost._core.arrays import Array, Vector
from relaxboost._core.blas import threads_for

ADDITIONS = tuple(10.0**-digits for digits in (14, 12, 10, 8))
"""Multiples of the diagonal that are added to a matrix, in order, until it can be factorised."""


class Factor:
    """The Cholesky factor of a matrix that is positive definite except for rounding.

    Equal columns or equal examples make Newton's matrix singular, so a small multiple of the
    diagonal is always added. The caller removes its effect by iterative refinement.

    Parameters
    ----------
    gram : array of shape (order, order)
        An array whose lower triangle contains the matrix. The constructor changes its diagonal.
    size : array of shape (order,), optional
        The diagonal before any subtraction, to which the rounding errors are proportional. By
        default nothing was subtracted.

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
        """Return the solution x of G x = h for the factorised matrix G."""
        from scipy.linalg.blas import dtrsv

        # For one vector BLAS is several times faster than LAPACK, which expects a matrix.
        with threads_for(*self._upper.shape):
            half = dtrsv(self._upper, h, trans=1)
            return np.asarray(dtrsv(self._upper, half))


def symmetric_factor(matrix: Any) -> Any:
    """Return a sparse LU factor of a symmetric sparse matrix.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the matrix is singular even with the largest addition to its diagonal.
    """
    # The symmetric minimum degree ordering keeps pivots on the diagonal, so rows with many entries
    # cause little fill-in. With SuperLU's default ordering, the factor can have five hundred times
    # more entries.
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
    """Add the outer product of `left` and `right` to a matrix in place."""
    from scipy.linalg.blas import dger

    # NumPy's np.outer would allocate a second matrix of the same size.
    changed = dger(1.0, right, left, a=matrix.T, overwrite_a=1)
    assert np.shares_memory(changed, matrix)
