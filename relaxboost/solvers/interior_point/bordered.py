"""The sparse bordered matrix K of a relaxation f with linear constraints or cones.

K is the matrix that f adds to Newton's equations. Unknowns with more than √m entries in their row
of K form the border, where m is the number of examples. The rest of K is often block diagonal, with
small blocks that contain at most one entry of d each. The part of K⁻¹ for d is then diagonal plus
low rank.

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
    """The division of the unknowns of the relaxation f into a border and blocks.

    K is the matrix that f adds to Newton's equations. The border has the unknowns whose rows of K
    have more than √m entries for m examples, or only entries in border columns. It never has
    entries of the distribution d.

    Parameters
    ----------
    K : sparse matrix
        A matrix with a positive entry at each place where K may be nonzero.
    m : int
        The number of entries of the distribution d, which are the first unknowns.
    """

    def __init__(self, K: Any, m: int) -> None:
        from scipy import sparse

        K = sparse.csr_array(K)
        self.m = m
        is_outer = is_long(K, m)
        is_outer[:m] = False
        # An unknown that only the border determines would leave the rest singular.
        is_outer[m:] |= (K @ np.where(is_outer, 0.0, 1.0) == 0.0)[m:]
        self.whole = Partition(K, is_outer, m)
        """The partition of all unknowns."""
        self.rest = Partition(K[m:, m:], is_outer[m:], m)
        """The partition of the unknowns other than d, for their submatrix of K."""
        of_d = np.isin(self.whole.inner, np.arange(m))
        is_alone = np.unique(self.whole.first[of_d]).size == m
        self.is_apart = is_alone and self.whole.are_blocks_small
        # Without this property, the division saves no work, and the whole factorisation is more
        # accurate.
        """Whether the blocks are small, and no two entries of d share a block. Otherwise K is
        factorised as a whole."""


class Partition:
    """A division of the unknowns of a sparse symmetric matrix into a border and diagonal blocks.

    Parameters
    ----------
    K : sparse matrix
        A matrix with a positive entry at each place where the symmetric matrix may be nonzero.
    is_outer : array of bool
        A mask of the unknowns in the border.
    m : int
        The number of examples.
    """

    def __init__(self, K: Any, is_outer: NDArray[np.bool_], m: int) -> None:
        from scipy.sparse.csgraph import connected_components

        self.outer = np.flatnonzero(is_outer)
        """The indices of the unknowns in the border."""
        inner = np.flatnonzero(~is_outer)
        label = connected_components(K[inner][:, inner], directed=False)[1]
        size = np.bincount(label)[label]
        order = np.lexsort((label, size))
        self.inner = inner[order]
        """The indices of the unknowns in the blocks, block by block, with the smallest blocks
        first."""
        self.size = size[order]
        """The block size of each unknown in `inner`."""
        is_first = np.diff(label[order], prepend=-1) != 0
        self.first = np.flatnonzero(is_first)[np.cumsum(is_first) - 1]
        """The position in `inner` of the first unknown of each unknown's block."""
        self.are_blocks_small = bool(size.sum() <= size.size**1.5)
        """Whether the blocks have at most N√N entries for their N unknowns."""
        self.is_border_dense = bool(is_long(K[inner][:, self.outer], m).any())
        """Whether a row of a block has more than √m entries in the border, for m examples."""

    def inverse(self, K: Any) -> Any:
        """Return the sparse inverse of the block-diagonal part of the matrix.

        Its rows and columns are in the order of `inner`.

        Raises
        ------
        numpy.linalg.LinAlgError
            If a block is singular.
        """
        from scipy import sparse

        blocks = K[self.inner][:, self.inner]
        ends = np.append(0, np.cumsum(self.size))
        # The blocks are written with their zeros, one row after another.
        entries = np.zeros(ends[-1])
        shift = ends[:-1] - self.first
        entries[np.repeat(shift, np.diff(blocks.indptr)) + blocks.indices] = blocks.data
        start = 0
        for size, count in zip(*np.unique(self.size, return_counts=True), strict=True):
            equal = slice(start, start + size * count)
            inverses = np.linalg.inv(entries[equal].reshape(-1, size, size))
            entries[equal] = inverses.ravel()
            start = equal.stop
        columns = np.arange(ends[-1]) - np.repeat(shift, self.size)
        return sparse.csr_array((entries, columns, ends), shape=blocks.shape)


class ArrowFactor:
    """A factor of a sparse symmetric bordered block-diagonal matrix.

    Parameters
    ----------
    K : sparse matrix
        The matrix [F, V; Vᵀ, C], with its rows and columns in any order. F is block diagonal.
    partition : Partition
        The division of the rows into those of F and the border C.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a block of F or the Schur complement T = C − Vᵀ F⁻¹ V is singular.
    """

    def __init__(self, K: Any, partition: Partition) -> None:
        from scipy.linalg.lapack import dgetrf

        self._inner = partition.inner
        self._outer = partition.outer
        self._inverse = partition.inverse(K)
        V = K[self._inner][:, self._outer]
        if partition.is_border_dense:
            V = V.toarray()
        self._Y = self._inverse @ V
        T = as_array(K[self._outer][:, self._outer] - V.T @ self._Y)
        # LAPACK rejects an empty matrix.
        self._lu: Any = dgetrf(T) if T.size else (T, None, 0)
        if self._lu[2]:
            raise np.linalg.LinAlgError("the border of Newton's matrix is singular")

    def solve(self, h: Array) -> Array:
        """Solve K t = h, where h has a column for each right-hand side."""
        # Solve for the border first, and substitute into the equations of the blocks.
        t = np.empty_like(h)
        border = self.solve_border(h[self._outer] - self._Y.T @ h[self._inner])
        t[self._outer] = border
        t[self._inner] = self._inverse @ h[self._inner] - self._Y @ border
        return t

    def solve_border(self, h: Array) -> Array:
        """Solve T t = h for the Schur complement T = C − Vᵀ F⁻¹ V of the border."""
        from scipy.linalg.lapack import dgetrs

        return np.asarray(dgetrs(*self._lu[:2], h)[0]) if h.size else h

    def quadratic(self, B: Any) -> Array:
        """Return the dense array Bᵀ K⁻¹ B for a sparse matrix B."""
        inner = B[self._inner]
        across = as_array(B[self._outer] - self._Y.T @ inner)
        blocks = as_array(inner.T @ (self._inverse @ inner))
        return np.asarray(blocks + across.T @ self.solve_border(across))

    def leading(self, m: int) -> tuple[Vector, Array]:
        """Return a and Y for the first m rows and columns of K⁻¹, diag(a) + Y T⁻¹ Yᵀ.

        T is the matrix of `solve_border`. No two of the first m unknowns may share a block.
        """
        place = np.argsort(self._inner)[:m]
        return self._inverse.diagonal()[place], as_array(self._Y[place])


def is_long(rows: Any, m: int) -> NDArray[np.bool_]:
    """Mark the rows of a sparse matrix with more than √m entries."""
    # Eliminating an unknown adds the outer product of its row with itself, which has more than m
    # entries for a marked row.
    return np.asarray(np.diff(rows.indptr) > np.sqrt(m))


def as_array(matrix: Any) -> Array:
    """Return a dense or sparse matrix as a dense array."""
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


class Bordered(Block):
    """A sparse bordered matrix K of a relaxation f.

    Parameters
    ----------
    layout : Layout
        The division of the unknowns, constant during a run.
    K : sparse matrix
        The matrix K. Rows for unknowns that make K sparse may follow those of f. Their right-hand
        sides are 0.
    times : callable
        A function that returns the product of the exact matrix and a vector. `K` has rounding
        errors, and its diagonal may have been changed to make it nonsingular.
    """

    def __init__(self, layout: Layout, K: Any, times: Callable[[Vector], Vector]) -> None:
        from scipy import sparse

        self._layout = layout
        self._K = sparse.csr_array(K)
        # A multiplier near infinity or a slack near 0 would spoil all digits of a factor.
        if not np.isfinite(self._K.data).all():
            raise np.linalg.LinAlgError("the quotient of a multiplier and its slack is not finite")
        self._times = times
        self.written = not layout.is_apart

    @cached_property
    def _whole(self) -> Any:
        is_apart = self._layout.is_apart
        return ArrowFactor(self._K, self._layout.whole) if is_apart else symmetric_factor(self._K)

    @cached_property
    def _rest(self) -> Any:
        # These are the unknowns other than d.
        rest = self._K[self._layout.m :, self._layout.m :]
        is_apart = self._layout.is_apart
        return ArrowFactor(rest, self._layout.rest) if is_apart else symmetric_factor(rest)

    def times(self, t: Vector) -> Vector:
        return self._times(t)

    def invert(self, h: Vector) -> Vector:
        return np.asarray(self._whole.solve(self._padded(h))[: h.size])

    def gram(self, bulk: Bulk) -> Array:
        m = self._layout.m
        if not self._layout.is_apart:
            assert bulk.array is not None
            B = np.zeros((self._K.shape[0], bulk.n + 1), order="F")
            B[:m, :-1] = bulk.array
            B[:m, -1] = -1.0
            # The rows of f lower each entry of the diagonal, and cancel the last one if they fix
            # the sum of d. Without them it has this size.
            free = 1.0 / self._K.diagonal()[:m]
            self.uncancelled = np.einsum("ij,i,ij->j", B[:m], free, B[:m])
            return np.asarray(B[:m].T @ self._whole.solve(B)[:m])
        inverse, Y = self._whole.leading(m)
        if not (inverse >= 0.0).all():
            raise np.linalg.LinAlgError(
                "Newton's matrix is not positive definite because of rounding errors"
            )
        gram = diagonal_gram(bulk, inverse)
        # The border lowers the diagonal in the same way.
        self.uncancelled = gram.diagonal().copy()
        across = np.column_stack([bulk.edges_of(Y.T), -Y.sum(axis=0)])
        return np.asarray(gram + across.T @ self._whole.solve_border(across))

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
        gram += self._K[:m, :m].toarray()
        if isinstance(self._rest, ArrowFactor):
            gram -= self._rest.quadratic(below.tocsr())
        else:
            above = below.T.tocsr()
            # Some columns at a time, so that the solutions need little memory.
            for some in np.array_split(np.arange(m), 1 + below.shape[0] // 1000):
                gram[:, some] -= above @ self._rest.solve(below[:, some].toarray())

    def _padded(self, h: Vector) -> Vector:
        return np.append(h, np.zeros(self._K.shape[0] - h.size))
