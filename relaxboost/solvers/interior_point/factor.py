"""Cholesky factors of Newton's matrices: in doubles, in single precision, and of a wider one."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.blas import threads_for

_JITTERS = (1e-14, 1e-12, 1e-10, 1e-8)
"""Relative additions to the diagonal, tried in turn: equal columns, or examples, leave the matrix
singular. Refinement takes out what they change."""
_BLOCK, _FEW = 256, 32
"""Rows of a matrix that are mirrored at a time, and that stay in the cache."""
_ROUNDED = 128
"""Order from which single precision is faster."""


class Factor:
    """The Cholesky factor of a positive definite matrix, in the lower triangle that gives it.

    What is added to the diagonal is a part of one of `sizes`, in turn; None is the diagonal itself.
    """

    def __init__(self, gram: Array, *sizes: Vector | None) -> None:
        from scipy.linalg.lapack import dpotrf

        place = np.arange(len(gram))
        diagonal = gram[place, place]
        _mirror(gram)
        for size, jitter in product(sizes or (None,), _JITTERS):
            grown = diagonal * (1.0 + jitter) if size is None else diagonal + jitter * size
            gram[place, place] = grown
            with threads_for(*gram.shape):
                self._upper, failed = dpotrf(gram.T, lower=0, clean=0, overwrite_a=1)
            if not failed:
                return
            _mirror(gram.T)  # what is above the diagonal was kept
        raise np.linalg.LinAlgError("Newton's equations are singular")

    def half(self, h: Array, back: bool = False) -> Array:
        """Return U⁻ᵀ h, or U⁻¹ h, of the matrix UᵀU."""
        from scipy.linalg import solve_triangular
        from scipy.linalg.blas import dtrsv

        turned = 0 if back else 1
        with threads_for(*self._upper.shape):
            if h.ndim == 1:  # several times as fast as LAPACK, which takes it for a matrix
                return np.asarray(dtrsv(self._upper, h, trans=turned))
            return np.asarray(solve_triangular(self._upper, h, trans=turned, check_finite=False))

    def solve(self, h: Vector) -> Vector:
        """Return the solution for one right-hand side."""
        return self.half(self.half(h), back=True)


class RoundedFactor(Factor):
    """The factor of a matrix scaled to a diagonal of ones, in single precision."""

    def __init__(self, gram: Array) -> None:
        from scipy.linalg.lapack import spotrf

        diagonal = gram.diagonal()
        if not ((diagonal > 0.0) & (diagonal < np.inf)).all():
            raise np.linalg.LinAlgError("Newton's matrix has no positive diagonal")
        self._scale = 1.0 / np.sqrt(diagonal)
        rounded = _scaled(gram, self._scale)
        with threads_for(*gram.shape):
            self._upper, failed = spotrf(rounded.T, lower=0, clean=0, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError("Newton's equations are singular in single precision")

    def half(self, h: Array, back: bool = False) -> Array:
        """Return U⁻ᵀ h, or U⁻¹ h, of the scaled matrix UᵀU, for one right-hand side."""
        from scipy.linalg.blas import strsv

        with threads_for(*self._upper.shape):
            return np.asarray(strsv(self._upper, h, trans=0 if back else 1))

    def solve(self, h: Vector) -> Vector:
        """Return the solution for one right-hand side, of about seven digits at best."""
        scaled = self._scale * h
        size = float(np.abs(scaled).max())
        if not 0.0 < size < np.inf:
            return scaled
        half = self.half((scaled / size).astype(np.float32))
        return self._scale * (size * self.half(half, back=True).astype(np.float64))


class WiderFactor(Factor):
    """The factor of a matrix of which that of a part is known: the rest is put last.

    Parameters
    ----------
    first : Factor
    rows : array of shape (new, n)
        Those of the rest, of the whole matrix.
    old, new : arrays
        Where the part is, in the order of its factor, and where the rest is.
    """

    def __init__(self, first: Factor, rows: Array, old: Whole, new: Whole) -> None:
        self._first, self._old, self._new = first, old, new
        self._across = first.half(rows[:, old].T)
        # Roundings are of the size of what cancels here.
        corner = rows[:, new]
        with threads_for(*rows.shape):
            left = corner - self._across.T @ self._across
        self._rest = Factor(left, corner.diagonal())

    def half(self, h: Array, back: bool = False) -> Array:
        """Return U⁻ᵀ h, or U⁻¹ h, with the rest last on the inner side."""
        if not back:
            x = self._first.half(h[self._old])
            return np.concatenate([x, self._rest.half(h[self._new] - self._across.T @ x)])
        out, size = np.empty_like(h), self._old.size
        out[self._new] = y = self._rest.half(h[size:], back)
        out[self._old] = self._first.half(h[:size] - self._across @ y, back)
        return out


def factor(gram: Array, single: bool, *sizes: Vector | None) -> Factor:
    """Return the factor, with `single` one of single precision where that is faster."""
    return RoundedFactor(gram) if single and len(gram) > _ROUNDED else Factor(gram, *sizes)


def add_outer(matrix: Array, left: Vector, right: Vector, more: float = 0.0) -> None:
    """Add an outer product, and a number, to the lower triangle, without one more matrix."""
    for a in range(0, len(matrix), _FEW):
        b = min(a + _FEW, len(matrix))
        matrix[a:b, :b] += left[a:b, None] * right[:b] + more


def _mirror(matrix: Array) -> None:
    """Copy what is below the diagonal above it."""
    for a in range(0, len(matrix), _BLOCK):
        b = a + _BLOCK
        matrix[:a, a:b] = matrix[a:b, :a].T
        corner = np.tril(matrix[a:b, a:b])
        matrix[a:b, a:b] = corner + np.tril(corner, -1).T


def _scaled(matrix: Array, scale: Vector) -> NDArray[np.float32]:
    """Return the lower triangle with rows and columns scaled, in single precision."""
    out = np.empty(matrix.shape, dtype=np.float32)
    for a in range(0, len(matrix), _FEW):
        b = min(a + _FEW, len(matrix))
        corner = matrix[a:b, :b] * scale[:b]
        corner *= scale[a:b, None]
        corner[:, a:] = np.tril(corner[:, a:])  # what is above the diagonal is anything
        out[a:b, :b] = corner
    np.fill_diagonal(out, 1.0)
    return out
