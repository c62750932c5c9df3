"""The sparse matrix K of a relaxation f with linear constraints or cones, with a border.

K is the matrix that f adds to Newton's equations. An unknown is in the border if its row of K has
more than √m entries, where m is the number of examples. Without the border, K is often block
diagonal, and each block contains at most one entry of the distribution d. The rows and columns of
K⁻¹ for d then form a diagonal matrix plus a matrix of low rank.

For a linear program with the variables x = (d, z) and rows y = R x with multipliers η, K is
[Θ, Rᵀ; R, −Θ_y⁻¹]. The diagonals Θ and Θ_y contain multiplier / slack, summed over the bounds of
each entry of x and y. With the border last, K = [F, V; Vᵀ, C], and block elimination gives

    K⁻¹ = [F⁻¹, 0; 0, 0] + [−Y; I] T⁻¹ [−Yᵀ, I],    Y = F⁻¹ V,    T = C − Vᵀ Y.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector
from relaxboost.matrices.bulk import Bulk
from relaxboost.solvers.interior_point.block import Block, diagonal_gram
from relaxboost.solvers.interior_point.factor import symmetric_factor


class Layout:
    """The division of the unknowns of the relaxation f into a border and inner unknowns.

    K is the matrix that f adds to Newton's equations. An unknown is in the border if its row of K
    has more than √m entries for m examples, or has entries only in the columns of the border. The
    entries of the distribution d are always inner unknowns. If the inner unknowns do not form a
    block diagonal matrix with at most one entry of d in each block, all unknowns are inner
    unknowns.

    Parameters
    ----------
    K : sparse matrix
        A matrix with a positive entry at each place where K may be nonzero.
    m : int
        The number of entries of the distribution d, which are the first unknowns.
    """

    def __init__(self, K: Any, m: int) -> None:
        from scipy import sparse
        from scipy.sparse.csgraph import connected_components

        K = sparse.csr_array(K)
        self.m = m
        is_outer = is_long(K, m)
        is_outer[:m] = False
        # An unknown that only the border determines would leave the rest singular.
        is_outer[m:] |= (K @ np.where(is_outer, 0.0, 1.0) == 0.0)[m:]
        self.inner = np.flatnonzero(~is_outer)
        self.outer = np.flatnonzero(is_outer)
        label = connected_components(K[self.inner][:, self.inner], directed=False)[1][:m]
        self.is_apart = np.unique(label).size == m
        """Whether no two entries of d are in the same block of the matrix for the inner
        unknowns."""
        if not self.is_apart:
            # The border then saves nothing, and a factor of all of K is more accurate.
            self.inner = np.arange(K.shape[0])
            self.outer = self.inner[:0]


def is_long(rows: Any, m: int) -> NDArray[np.bool_]:
    """Return a boolean array that marks the rows of a sparse matrix with more than √m entries.

    Eliminating an unknown adds the outer product of its row with itself to a matrix. For a marked
    row, this product has more than m entries.
    """
    return np.asarray(np.diff(rows.indptr) > np.sqrt(m))


class Bordered(Block):
    """The matrix K that the relaxation f adds to Newton's equations, sparse and with a border.

    Parameters
    ----------
    layout : Layout
        The division of the unknowns, which is constant during a run.
    K : sparse matrix
        The matrix K. Its first rows belong to the unknowns of f. Further rows may belong to
        auxiliary unknowns, whose right-hand sides are 0.
    times : callable
        A function that returns the product of the exact matrix and a vector of the unknowns of f.
        `K` has rounding errors, and the caller may have changed its diagonal to make `K`
        nonsingular.
    """

    def __init__(self, layout: Layout, K: Any, times: Callable[[Vector], Vector]) -> None:
        from scipy import sparse

        self._layout = layout
        self._K = sparse.csr_array(K)
        if not np.isfinite(self._K.data).all():
            raise np.linalg.LinAlgError("the quotient of a multiplier and its slack is not finite")
        self._times = times
        # A multiplier near infinity or a slack near 0 would spoil all digits of a factor.
        self.written = not layout.is_apart

    @cached_property
    def _inside(self) -> Any:
        inner = self._layout.inner
        return symmetric_factor(self._K[inner][:, inner])

    @cached_property
    def _border(self) -> tuple[Array, Array]:
        # Y = F⁻¹ V and T = C − Vᵀ Y, from the formula in the docstring of this module.
        inner = self._layout.inner
        outer = self._layout.outer
        V = self._K[inner][:, outer].toarray()
        Y = self._inside.solve(V) if outer.size else V
        return Y, self._K[outer][:, outer].toarray() - V.T @ Y

    @cached_property
    def _rest(self) -> Any:
        # The unknowns other than d.
        m = self._layout.m
        return symmetric_factor(self._K[m:, m:])

    def times(self, t: Vector) -> Vector:
        return self._times(t)

    def invert(self, h: Vector) -> Vector:
        inner = self._layout.inner
        outer = self._layout.outer
        Y, T = self._border
        # Solve for the border first, and substitute into the equations of the rest.
        padded = self._padded(h)
        t = np.empty_like(padded)
        t[outer] = np.linalg.solve(T, padded[outer] - Y.T @ padded[inner])
        t[inner] = self._inside.solve(padded[inner]) - Y @ t[outer]
        return t[: h.size]

    def gram(self, bulk: Bulk) -> Array:
        m = self._layout.m
        if self._layout.is_apart:
            # The inverse of each small block has one entry on the diagonal of d.
            unit = np.zeros(self._layout.inner.size)
            unit[:m] = 1.0
            inverse = self._inside.solve(unit)[:m]
            if not (inverse >= 0.0).all():
                raise np.linalg.LinAlgError(
                    "Newton's matrix is not positive definite because of rounding errors"
                )
            gram = diagonal_gram(bulk, inverse)
        else:
            assert bulk.array is not None
            B = np.zeros((self._K.shape[0], bulk.n + 1), order="F")
            B[:m, :-1] = bulk.array
            B[:m, -1] = -1.0
            # The rows of f lower each entry of the diagonal, and cancel the last one if they fix
            # the sum of d. Without them it has this size.
            free = 1.0 / self._K.diagonal()[:m]
            self.uncancelled = np.einsum("ij,i,ij->j", B[:m], free, B[:m])
            return np.asarray(B[:m].T @ self._inside.solve(B)[:m])
        # The border lowers the diagonal in the same way.
        self.uncancelled = gram.diagonal().copy()
        # The inverse on d is the diagonal plus Y T⁻¹ Yᵀ.
        Y, T = self._border
        across = np.column_stack([bulk.edges_of(Y[:m].T), -Y[:m].sum(axis=0)])
        return np.asarray(gram + across.T @ np.linalg.solve(T, across))

    def reduce(self, h: Vector) -> Vector:
        m = self._layout.m
        return np.asarray(h[:m] - self._K[:m, m:] @ self._rest.solve(self._padded(h)[m:]))

    def expand(self, t: Vector, h: Vector) -> Vector:
        m = self._layout.m
        rest = self._rest.solve(self._padded(h)[m:] - self._K[m:, :m] @ t)
        return np.append(t, rest[: h.size - m])

    def add_to(self, gram: Array) -> None:
        m = self._layout.m
        below = self._K[m:, :m].tocsc()
        above = below.T.tocsr()
        gram += self._K[:m, :m].toarray()
        # Some columns at a time, so that the solutions need little memory.
        for some in np.array_split(np.arange(m), 1 + below.shape[0] // 1000):
            gram[:, some] -= above @ self._rest.solve(below[:, some].toarray())

    def _padded(self, h: Vector) -> Vector:
        return np.append(h, np.zeros(self._K.shape[0] - h.size))
