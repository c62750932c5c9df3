"""Products of vectors with all columns of a margin matrix, for methods that use every column."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import ROWS_PER_BLOCK, Array, Vector, Whole


class Pricing(ABC):
    """Products with a margin matrix A, for methods that use few columns of A at a time."""

    m: int
    n: int

    @abstractmethod
    def edges(self, d: Vector) -> Vector:
        """Return the edges Aᵀd of all columns of A, for the weights `d` of the examples."""

    @abstractmethod
    def restricted(self, columns: Whole) -> Bulk:
        """Return an object for products with only the given columns of A.

        The indices of the columns must be increasing.
        """

    def spread(self, each: int) -> Whole:
        """Return the indices of evenly spread columns.

        By default the result has about `each` indices. If the columns are decision stumps, it has
        about `each` indices for each feature.
        """
        return spread(0, self.n, each)


class CutLevels(NamedTuple):
    """The description of a matrix whose columns are cuts of features.

    An entry of such a column is y if the value of the feature is above the cut, and −y otherwise.
    """

    codes: NDArray[Any]
    """The number of cuts below the value of each example, with a row for each feature and a column
    for each example."""
    offsets: Whole
    """The index of the matrix column for the first cut of each feature.

    The last entry is the number of columns of the matrix.
    """
    signs: Vector
    """The labels y of the examples, −1 or +1."""


class Bulk(Pricing):
    """Products with all columns of a margin matrix A, for interior point methods."""

    levels: CutLevels | None = None
    """The description of A as a matrix of cuts of features.

    It is None if the columns of A are no such cuts.
    """

    @property
    @abstractmethod
    def array(self) -> Vector | None:
        """The margin matrix A as an array of doubles. It is None if A is not stored."""

    @abstractmethod
    def margins(self, w: Vector) -> Vector:
        """Return the margins A w of all examples, for the weights `w` of the columns."""

    @abstractmethod
    def part(self, rows: Whole, columns: Whole) -> Array:
        """Return the submatrix of A with the given rows and columns, as an array."""

    @abstractmethod
    def gram(self, scaling: Vector) -> Vector:
        """Return A diag(scaling) Aᵀ for positive numbers `scaling`.

        Entries above the diagonal are undefined.
        """

    @abstractmethod
    def cross(self, weights: Vector, out: Array) -> None:
        """Write the lower triangle of Aᵀ diag(weights) A to `out`, for positive `weights`."""

    def edges_of(self, D: Array) -> Array:
        """Return an array that contains, for each row d of `D`, the edges Aᵀd as a row."""
        return np.array([self.edges(d) for d in D]).reshape(-1, self.n)


class DenseBulk(Bulk):
    """The products with a matrix A, computed with a dense array in double precision."""

    def __init__(self, A: Vector) -> None:
        self._A = np.ascontiguousarray(A, dtype=np.float64)
        self.m, self.n = self._A.shape

    @property
    def array(self) -> Vector:
        return self._A

    def edges(self, d: Vector) -> Vector:
        return d @ self._A

    def edges_of(self, D: Array) -> Array:
        return D @ self._A

    def margins(self, w: Vector) -> Vector:
        return self._A @ w

    def part(self, rows: Whole, columns: Whole) -> Array:
        return self._A[np.ix_(rows, columns)]

    def gram(self, scaling: Vector) -> Vector:
        out = np.empty((self.m, self.m))
        by_rows(self._A.T.__getitem__, scaling, out)
        return out

    def cross(self, weights: Vector, out: Array) -> None:
        by_rows(self._A.__getitem__, weights, out)

    def restricted(self, columns: Whole) -> DenseBulk:
        return DenseBulk(self._A[:, columns])


def spread(start: int, stop: int, count: int) -> Whole:
    """Return at most `count` different integers that are evenly spread from start to stop − 1.

    If there are more than three such integers, the two ends are left out.
    """
    inner = np.linspace(start, stop - 1, min(count, stop - start) + 2)[1:-1]
    return np.unique(inner.round().astype(np.int64))


def varied(ranked: Whole, size: int) -> Whole:
    """Return some of the ranked columns: the best columns, and columns of all ranks.

    The result contains the first `size`/3 columns, and up to `size` other columns that are evenly
    spread over the ranks. If there are at most `size` ranked columns, all of them are returned.
    """
    if ranked.size <= size:
        return ranked
    # Columns with nearly equal edges are often nearly equal. The even spread adds other columns.
    picks = np.concatenate([np.arange(size // 3), np.linspace(0, ranked.size - 1, size)])
    return ranked[np.unique(picks.astype(np.int64))]


def by_rows(written: Callable[[slice], Array], weights: Vector, out: Array) -> None:
    """Write the product Aᵀ diag(weights) A to `out`, computed from blocks of rows of A.

    The function `written` takes a slice, and returns the rows of A in this slice as an array.
    """
    out[:] = 0.0
    # The product of a block takes longer than the update of `out` if the block has more rows.
    step = max(ROWS_PER_BLOCK, len(out))
    for start in range(0, weights.size, step):
        part = slice(start, start + step)
        rows = written(part) * np.sqrt(weights[part, None])
        out += rows.T @ rows
