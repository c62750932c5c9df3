"""Products with a whole margin matrix, for methods that give every column a weight."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Vector, Whole

PASS = 6e-10
"""Seconds on one core for each entry of A that is read, for estimates of work."""
_ROWS = 4096
"""Rows of A at least that are multiplied at a time."""


class Pricing(ABC):
    """What a method asks of all columns of A where it has few of them in play."""

    m: int
    n: int

    @abstractmethod
    def edges(self, d: Vector) -> Vector:
        """Return Aᵀd."""

    @abstractmethod
    def restricted(self, columns: Whole) -> Bulk:
        """Return the products with some columns only, given by increasing number."""

    def spread(self, each: int) -> Whole:
        """Return about so many columns of each kind, evenly spread, by increasing number."""
        return spread(0, self.n, each)


class CutLevels(NamedTuple):
    """Columns that are cuts of features: y where the level is above the cut, −y up to it."""

    codes: NDArray[Any]
    """How many cuts of each feature lie below each example, (features, m)."""
    offsets: Whole
    """Where the cuts of each feature begin, and the end, (features + 1,)."""
    signs: Vector
    """The labels y, (m,)."""


class Bulk(Pricing):
    """The products an interior point method asks of A, shape (m, n)."""

    levels: CutLevels | None = None
    """The levels of the examples, where columns are cuts."""

    @property
    @abstractmethod
    def array(self) -> Vector | None:
        """A in double precision, shape (m, n); None where it is never written down."""

    @abstractmethod
    def margins(self, w: Vector) -> Vector:
        """Return A w."""

    @abstractmethod
    def part(self, rows: Whole, columns: Whole) -> Array:
        """Return the entries of A where these rows and columns meet."""

    @abstractmethod
    def gram(self, scaling: Vector) -> Vector:
        """Return A diag(scaling) Aᵀ in its lower triangle, for a positive scaling of the columns.

        What stands above the diagonal is not defined.
        """

    @abstractmethod
    def cross(self, weights: Vector, out: Array) -> None:
        """Write Aᵀ diag(weights) A in its lower triangle, for positive weights of the examples."""

    def edges_of(self, D: Array) -> Array:
        """Return the edges of each row of D."""
        return np.array([self.edges(d) for d in D]).reshape(-1, self.n)


class DenseBulk(Bulk):
    """A written down in double precision.

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
    """Return so many numbers from start to stop − 1, evenly spread, or all of them."""
    inner = np.linspace(start, stop - 1, min(count, stop - start) + 2)[1:-1]
    return np.unique(inner.round().astype(np.int64))


def varied(ranked: Whole, size: int) -> Whole:
    """Return the first third of `size` columns from `ranked`, the rest evenly spread over it.

    Columns of nearly equal edge are often nearly equal columns; a spread brings in others.
    """
    if ranked.size <= size:
        return ranked
    picks = np.concatenate([np.arange(size // 3), np.linspace(0, ranked.size - 1, size)])
    return ranked[np.unique(picks.astype(np.int64))]


def by_rows(written: Callable[[slice], Array], weights: Vector, out: Array) -> None:
    """Write Aᵀ diag(weights) A, with A `written` in double precision some rows at a time."""
    out[:] = 0.0
    step = max(_ROWS, len(out))
    for start in range(0, weights.size, step):
        part = slice(start, start + step)
        rows = written(part) * np.sqrt(weights[part, None])
        out += rows.T @ rows
