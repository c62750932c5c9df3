"""Products with all columns of a margin matrix, for methods that use every column."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import ROWS_PER_BLOCK, Array, Vector, Whole


class Pricing(ABC):
    """Products with A for methods that use few columns at a time."""

    m: int
    n: int

    @abstractmethod
    def edges(self, d: Vector) -> Vector:
        """Return the edges Aᵀd of all columns."""

    @abstractmethod
    def restricted(self, columns: Whole) -> Bulk:
        """Return an object for products with only the given columns.

        The column indices must be increasing.
        """

    def spread(self, each: int) -> Whole:
        """Return the indices of about `each` evenly spread columns.

        For decision stumps, the result has about `each` columns per feature.
        """
        return spread(0, self.n, each)


class CutLevels(NamedTuple):
    """A compact form of a matrix whose columns are cuts of features.

    An entry of a column is y if the feature is above the cut, and −y otherwise.
    """

    codes: NDArray[Any]
    """The number of cuts below each value, with features in rows and examples in columns."""
    offsets: Whole
    """The column of each feature's first cut, followed by the number of columns."""
    signs: Vector
    """The labels y of the examples, −1 or +1."""


class Bulk(Pricing):
    """Products with all columns of A, for interior point methods."""

    levels: CutLevels | None = None
    """The compact form of A, or None if the columns are not cuts of features."""

    @property
    @abstractmethod
    def array(self) -> Vector | None:
        """A as an array of doubles, or None if A is not stored."""

    @abstractmethod
    def margins(self, w: Vector) -> Vector:
        """Return the margins A w of all examples for the column weights `w`."""

    @abstractmethod
    def part(self, rows: Whole, columns: Whole) -> Array:
        """Return the submatrix of A with the given rows and columns as an array."""

    @abstractmethod
    def gram(self, scaling: Vector) -> Vector:
        """Return A diag(scaling) Aᵀ for positive `scaling`, undefined above the diagonal."""

    @abstractmethod
    def cross(self, weights: Vector, out: Array) -> None:
        """Write the lower triangle of Aᵀ diag(weights) A to `out`, for positive `weights`."""

    def edges_of(self, D: Array) -> Array:
        """Return the edges Aᵀd for each row d of `D`, as rows of an array."""
        return np.array([self.edges(d) for d in D]).reshape(-1, self.n)


class DenseBulk(Bulk):
    """Products with A, computed from a dense array in double precision."""

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
    """Return at most `count` evenly spread integers from start to stop − 1.

    If the range has more than three integers, its two ends are left out.
    """
    inner = np.linspace(start, stop - 1, min(count, stop - start) + 2)[1:-1]
    return np.unique(inner.round().astype(np.int64))


def varied(ranked: Whole, size: int) -> Whole:
    """Return some of the ranked columns: the best ones, and others of all ranks.

    The result contains the first `size`/3 columns, and up to `size` others evenly spread over the
    ranks. If there are at most `size` columns, all of them are returned.
    """
    if ranked.size <= size:
        return ranked
    # Columns with nearly equal edges are often nearly equal. The even spread adds other columns.
    picks = np.concatenate([np.arange(size // 3), np.linspace(0, ranked.size - 1, size)])
    return ranked[np.unique(picks.astype(np.int64))]


def by_rows(written: Callable[[slice], Array], weights: Vector, out: Array) -> None:
    """Write Aᵀ diag(weights) A to `out`, computed from blocks of rows of A.

    The function `written` returns the rows of A in a slice.
    """
    out[:] = 0.0
    # The product of a block takes longer than the update of `out` if the block has more rows.
    step = max(ROWS_PER_BLOCK, len(out))
    for start in range(0, weights.size, step):
        part = slice(start, start + step)
        rows = written(part) * np.sqrt(weights[part, None])
        out += rows.T @ rows
