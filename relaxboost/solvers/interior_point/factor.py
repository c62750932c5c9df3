"""The Cholesky factor of Newton's matrix, which near the end is singular up to rounding."""

from __future__ import annotations

import numpy as np

from relaxboost._core.arrays import Array, Vector
from relaxboost._core.blas import threads_for


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
            for digits in (14, 12, 10, 8):  # of the diagonal that stay; a double has almost 16
                gram[place, place] = diagonal + 10.0**-digits * scale
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


def add_outer(matrix: Array, left: Vector, right: Vector) -> None:
    """Add the outer product of two vectors to a matrix in place, without a second matrix."""
    from scipy.linalg.blas import dger

    changed = dger(1.0, right, left, a=matrix.T, overwrite_a=1)
    assert np.shares_memory(changed, matrix)
