"""The part of Newton's matrix that belongs to f: the barrier of its bounds, and its rows.

It is K = [Θ, Rᵀ; R, −Θ_y⁻¹] on (x, η): x = (d, z) with the curvature Θ of its bounds, R the rows
of the linear form, η their multipliers, and Θ_y the curvature of the bounds on R x.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array, Vector
from relaxboost.matrices.bulk import Bulk

_JITTERS = (0.0, 1e-15, 1e-13, 1e-11)
"""Relative additions to the diagonal, tried in turn; refinement takes out what they change."""
_PIVOT = 1e-8
"""The part of the largest entry of its column that a pivot on the diagonal must have: larger ones
refuse the small pivots of active rows, and the factor fills."""


class Block(ABC):
    """K with d in front, which both sides of the normal equations solve with."""

    written = False
    """Whether `gram` needs A written down."""
    uncancelled: Vector | None = None
    """The diagonal of the last `gram` before something of its size was taken off it."""

    @abstractmethod
    def times(self, t: Vector) -> Vector:
        """Return K t."""

    @abstractmethod
    def invert(self, h: Vector) -> Vector:
        """Return K⁻¹ h."""

    @abstractmethod
    def gram(self, bulk: Bulk) -> Array:
        """Return Bᵀ K⁻¹ B for B = [A, −1] on the part in d, in its lower triangle."""

    @abstractmethod
    def reduce(self, h: Vector) -> Vector:
        """Return the right-hand side in d alone, all else eliminated."""

    @abstractmethod
    def expand(self, t: Vector, h: Vector) -> Vector:
        """Return the whole solution from the part in d."""

    @abstractmethod
    def add_to(self, gram: Array) -> None:
        """Add what is left of K in d alone, its Schur complement, to the lower triangle."""


class Diagonal(Block):
    """K of an f without rows, which is Θ."""

    def __init__(self, theta: Vector, m: int) -> None:
        self._theta, self._m = theta, m

    @property
    def inverse(self) -> Vector:
        """Θ⁻¹ of d, shape (m,)."""
        return 1.0 / self._theta[: self._m]

    def times(self, t: Vector) -> Vector:
        return self._theta * t

    def invert(self, h: Vector) -> Vector:
        return h / self._theta

    def gram(self, bulk: Bulk) -> Array:
        return diagonal_gram(bulk, self.inverse)

    def reduce(self, h: Vector) -> Vector:
        return h[: self._m]

    def expand(self, t: Vector, h: Vector) -> Vector:
        """Return it with the rest, which nothing ties to d."""
        return np.append(t, h[self._m :] / self._theta[self._m :])

    def add_to(self, gram: Array) -> None:
        """Add Θ."""
        place = np.arange(self._m)
        gram[place, place] += self._theta[: self._m]


def diagonal_gram(bulk: Bulk, inverse: Vector) -> Array:
    """Return Bᵀ diag(inverse) B for B = [A, −1], in its lower triangle."""
    n = bulk.n
    gram = np.zeros((n + 1, n + 1))
    bulk.cross(inverse, gram[:n, :n])
    gram[n, :n] = -bulk.edges(inverse)
    gram[n, n] = inverse.sum()
    return gram


class Rows(Block):
    """K of an f with rows, factorised as a sparse matrix."""

    written = True

    def __init__(self, theta: Vector, rows: Any, inverse: Vector, m: int) -> None:
        from scipy import sparse

        self._m, self._theta = m, theta
        self._K = sparse.csc_array(
            sparse.block_array([[sparse.diags_array(theta), rows.T], [rows, None]])
            - sparse.diags_array(np.append(np.zeros(theta.size), inverse))
        )
        self._whole: Any = None
        self._rest: Any = None

    def times(self, t: Vector) -> Vector:
        product: Vector = self._K @ t
        return product

    def invert(self, h: Array) -> Array:
        if self._whole is None:
            self._whole = symmetric_factor(self._K)
        return np.asarray(self._whole.solve(h))

    def gram(self, bulk: Bulk) -> Array:
        A = bulk.array
        assert A is not None
        m = self._m
        B = np.zeros((self._K.shape[0], bulk.n + 1), order="F")
        B[:m, :-1], B[:m, -1] = A, -1.0
        # Rows only add curvature, so that K⁻¹ on d is at most Θ⁻¹. If they say what Σd is, all of
        # that cancels in the last entry of the diagonal.
        self.uncancelled = np.einsum("ij,i,ij->j", B[:m], 1.0 / self._theta[:m], B[:m])
        return np.asarray(B[:m].T @ self.invert(B)[:m])

    def _eliminated(self) -> Any:
        if self._rest is None:
            self._rest = symmetric_factor(self._K[self._m :, self._m :])
        return self._rest

    def reduce(self, h: Vector) -> Vector:
        m = self._m
        return np.asarray(h[:m] - self._K[:m, m:] @ self._eliminated().solve(h[m:]))

    def expand(self, t: Vector, h: Vector) -> Vector:
        m = self._m
        return np.append(t, self._eliminated().solve(h[m:] - self._K[m:, :m] @ t))

    def add_to(self, gram: Array) -> None:
        """Add Θ − Bᵀ C⁻¹ B, dense."""
        m = self._m
        place = np.arange(m)
        gram[place, place] += self._theta[:m]
        below = self._K[m:, :m]
        gram -= below.T @ self._eliminated().solve(below.toarray())


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
    for jitter in _JITTERS:
        try:
            return splu(
                matrix + jitter * sparse.diags_array(matrix.diagonal(), format="csc"),
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=_PIVOT,
                options={"SymmetricMode": True},
            )
        except RuntimeError:  # SciPy's, for a singular matrix
            continue
    raise np.linalg.LinAlgError("the sparse part of Newton's equations is singular")
