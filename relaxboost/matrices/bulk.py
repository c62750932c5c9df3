"""Products with a whole margin matrix, for methods that give every column a weight."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector, Whole

PASS = 6e-10
"""The seconds that one core takes to read an entry of A, for estimates of the work of a method."""
_ROWS = 4096
"""The smallest number of rows of A that are multiplied at a time."""


class Pricing(ABC):
    """The products that a method needs if it uses few of the columns of A at a time."""

    m: int
    n: int

    @abstractmethod
    def edges(self, d: Vector) -> Vector:
        """Return the edges Aᵀd of all columns."""

    @abstractmethod
    def restricted(self, columns: Whole) -> Bulk:
        """Return the products with some columns only; `columns` are in increasing order."""

    def spread(self, each: int) -> Whole:
        """Return about `each` columns of each kind, evenly spread, in increasing order."""
        return spread(0, self.n, each)


class CutLevels(NamedTuple):
    """Columns that are cuts of features: an entry is y above the cut, and −y up to the cut."""

    codes: NDArray[Any]
    """The number of cuts of each feature that lie below the value of each example, (features, m).
    """
    offsets: Whole
    """The first column of each feature, and the number of all columns at the end, (features + 1,).
    """
    signs: Vector
    """The labels y, shape (m,)."""


class Bulk(Pricing):
    """The products with A, shape (m, n), that an interior point method needs."""

    levels: CutLevels | None = None
    """The levels of the examples, if the columns are cuts of features; None for other matrices."""

    @property
    @abstractmethod
    def array(self) -> Vector | None:
        """A in double precision, shape (m, n); None if there is no such array."""

    @abstractmethod
    def margins(self, w: Vector) -> Vector:
        """Return the margins A w, shape (m,)."""

    @abstractmethod
    def part(self, rows: Whole, columns: Whole) -> Array:
        """Return the submatrix of A with these rows and columns."""

    @abstractmethod
    def gram(self, scaling: Vector) -> Vector:
        """Return the lower triangle of A diag(scaling) Aᵀ, for a positive scaling of the columns.

        The entries above the diagonal are undefined.
        """

    @abstractmethod
    def cross(self, weights: Vector, out: Array) -> None:
        """Write the lower triangle of Aᵀ diag(weights) A to `out`, for positive `weights`."""

    def edges_of(self, D: Array) -> Array:
        """Return the edges Aᵀd of each row d of D."""
        return np.array([self.edges(d) for d in D]).reshape(-1, self.n)


class DenseBulk(Bulk):
    """The products with A, stored as a dense array in double precision.

    Parameters
    ----------
    A : array of shape (m, n)
    """

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
    """Return `count` integers from start to stop − 1, evenly spread, or all if there are fewer."""
    inner = np.linspace(start, stop - 1, min(count, stop - start) + 2)[1:-1]
    return np.unique(inner.round().astype(np.int64))


def varied(ranked: Whole, size: int) -> Whole:
    """Return `size` columns of `ranked`: a third from its beginning, the rest evenly spread.

    Columns with nearly equal edges are often nearly equal columns. An even spread adds different
    ones.
    """
    if ranked.size <= size:
        return ranked
    picks = np.concatenate([np.arange(size // 3), np.linspace(0, ranked.size - 1, size)])
    return ranked[np.unique(picks.astype(np.int64))]


def by_rows(written: Callable[[slice], Array], weights: Vector, out: Array) -> None:
    """Write Aᵀ diag(weights) A to `out`. `written` returns some rows of A in double precision."""
    out[:] = 0.0
    step = max(_ROWS, len(out))
    for start in range(0, weights.size, step):
        part = slice(start, start + step)
        rows = written(part) * np.sqrt(weights[part, None])
        out += rows.T @ rows
