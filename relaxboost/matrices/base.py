"""The interface of a margin matrix A: its best column, its columns, and its products."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector, Whole
from relaxboost._core.errors import InputError, number_of
from relaxboost.matrices import kernels
from relaxboost.matrices.bulk import Bulk, DenseBulk, Pricing

MAX_DENSE_ENTRIES = 50_000_000
"""The largest number of entries that is converted to a dense array or a linear program.

A general solver needs up to a hundred bytes per entry, so this number takes 4 to 5 GB. Methods that
need the array reject larger matrices.
"""
_NONE = np.empty(0, dtype=np.int64)


class Best(NamedTuple):
    """The column of a margin matrix that a weak learner returns for a distribution d."""

    id: int
    """The index of the column."""
    sign: int
    """The sign of the weight that the column should get, +1 or −1.

    It is never −1 if the weights w must not be negative. It is 0 if w may be zero and no column is
    better than w = 0.
    """
    edge: float
    """The computed edge (Aᵀd)_id of the column, multiplied by `sign`.

    If weights may have both signs, this is the absolute value of the edge. Otherwise it is negative
    if all edges are negative and the weights w must not be zero.
    """
    slack: float
    """The slack of the weak learner.

    The best hypothesis has an edge of at most `edge` + `slack`, up to the rounding errors that
    `edge_roundings` bounds.
    """


def best_of(j: int, edge: float) -> Best:
    """Return column j with its edge as the result of an exact weak learner with slack 0."""
    return Best(j, -1 if edge < 0 else 1, abs(edge), 0.0)


class MarginMatrix(ABC):
    """A margin matrix A with entries A[i, j] = y_i h_j(x_i) in [−1, 1].

    Row i belongs to the example x_i with the label y_i, and column j to the hypothesis h_j. The
    column order is canonical.

    A subclass sets `m`, `n` and `edge_roundings`, and implements `digest`, `_column` and `_edges`.
    `_column` receives the index of an existing column, and `_edges` a contiguous vector of doubles.
    A weak learner that does not enumerate its columns also overrides `best` and `known`, and sets
    `slack`. Kernels add numbers in a fixed order, so results do not depend on the number of
    threads.
    """

    m: int
    """The number of examples, the rows of the matrix."""

    n: int | None
    """The number of hypotheses, the columns of the matrix, or None if they are not enumerated."""

    edge_roundings: ClassVar[int]
    """The number of rounding errors that each example adds to a computed edge.

    It is 1 for a sum of products, and larger for a difference of prefix sums. Let u be the unit
    roundoff and r = edge_roundings · m + 8. The error of an edge is then at most r u / (1 − r u)
    times the sum of the weights d.
    """

    stored: ClassVar[bool] = False
    """Whether all entries are in memory, so that `tocvxpy` only copies them."""

    implicit: ClassVar[bool] = False
    """Whether `bulk` computes products with all columns without an array of all entries."""

    slack: float = 0.0
    """An upper bound on the largest absolute edge minus that of the column from `best`.

    It is inf if no bound is known.
    """

    @property
    def entries(self) -> int:
        """The number of values that a pass over A reads, by default m · n if n is known."""
        return self.m * (self.n or 1)

    @property
    def known(self) -> int:
        """The number of known columns, which `column` can return."""
        assert self.n is not None
        return self.n

    def column(self, j: int) -> NDArray[Any]:
        """Return column j as a read-only array with one entry per example.

        The array has the dtype of the matrix. If column j does not exist, InputError is raised.
        """
        if not 0 <= j < self.known:
            raise InputError(
                f"there is no column {j}; {self!r} has the columns 0..{self.known - 1}"
            )
        return self._column(j)

    def edges(self, d: Vector) -> Vector:
        """Return the edges Aᵀd of all known columns.

        If `d` is not a vector with an entry for each example, InputError is raised.
        """
        return self._edges(self._examples(d))

    def _examples(self, d: Vector) -> Vector:
        d = np.ascontiguousarray(d, dtype=np.float64)
        if d.shape != (self.m,):
            raise InputError(
                f"d must have shape ({self.m},), with one entry for each example, got {d.shape}"
            )
        return d

    @abstractmethod
    def _column(self, j: int) -> NDArray[Any]: ...

    @abstractmethod
    def _edges(self, d: Vector) -> Vector: ...

    @abstractmethod
    def digest(self) -> str:
        """Return the SHA-256 digest of the margin matrix in hexadecimal.

        Dense and sparse matrices with the same entries have the same digest. For a matrix computed
        from data, such as `StumpMatrix`, it is the digest of these data.
        """

    def best(self, d: Vector) -> Best:
        """Return the first column of A with the largest absolute edge for the weights `d`."""
        return self._priced(d, _NONE)[0]

    def priced(self, d: Vector, columns: Whole) -> tuple[Best, Vector | None]:
        """Return the best column for the weights `d`, and the edges of `columns`.

        `columns` contains indices of columns. The edges are None if a subclass overrides `best`.
        """
        if type(self).best is not MarginMatrix.best:
            return self.best(d), None
        return self._priced(d, columns)

    def _priced(self, d: Vector, columns: Whole) -> tuple[Best, Vector]:
        edges = self._edges(self._examples(d))
        j, edge = kernels.first_largest(edges)
        return best_of(j, edge), edges[columns]

    def margins(self, support: Iterable[int], coefficients: Vector) -> Vector:
        """Return the margins A w of all examples.

        The vector w contains `coefficients` at the indices `support`, and zeros elsewhere.
        """
        ids = np.fromiter(support, dtype=np.int64)
        if not ids.size:
            return np.zeros(self.m)
        for j in ids[(ids < 0) | (ids >= self.known)].tolist():
            self.column(j)  # This raises the error.
        weights = np.ascontiguousarray(coefficients, dtype=np.float64)
        if weights.shape != ids.shape:
            raise ValueError(
                f"support has {ids.size} columns and coefficients has {weights.size} entries; they "
                "must have the same length"
            )
        return self._margins(ids, weights)

    def _margins(self, support: Whole, coefficients: Vector) -> Vector:
        # The columns exist, and are added in the given order.
        u = np.zeros(self.m)
        for j, c in zip(support.tolist(), coefficients.tolist(), strict=True):
            kernels.add_scaled(u, self._column(j), c)
        return u

    def describe(self, j: int, sign: int = 1) -> str:
        """Return the name of hypothesis j, or of its negative if `sign` is −1."""
        return f"h{j}" if sign > 0 else f"-h{j}"

    def columns(self, support: Iterable[int]) -> Vector:
        """Return the columns of A with the indices `support` as an array."""
        ids = [int(j) for j in support]
        out = np.empty((self.m, len(ids)), order="F")
        for slot, j in enumerate(ids):
            out[:, slot] = self.column(j)
        return out

    def toarray(self) -> Vector:
        """Return A as a dense array in double precision.

        Raises
        ------
        InputError
            If the columns are not enumerated, or if A has too many entries for a dense array.
        """
        if self.n is None:
            raise InputError(
                f"this method needs all columns of A, but {self!r} does not enumerate its "
                "columns; use solve(game)"
            )
        if self.m * self.n > MAX_DENSE_ENTRIES:
            raise InputError(
                f"this method needs A as a dense array, but {self.m} x {self.n} is more than "
                f"{MAX_DENSE_ENTRIES:.0e} entries; use solve(game), which never forms A, or "
                "reference(game), which generates columns as they are needed"
            )
        return self.columns(range(self.n))

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        # Without this method, numpy would return an array whose only entry is the matrix object.
        raise InputError(f"numpy does not convert {self!r} to an array; write A.toarray()")

    def bulk(self) -> Bulk:
        """Return an object for products with all known columns of A.

        By default it uses a dense copy of A.
        """
        return self.pricing().restricted(np.arange(self.known))

    def pricing(self) -> Pricing:
        """Return an object for products with few columns of A at a time.

        By default these columns are copied to a dense array in double precision.
        """
        return _Stored(self)

    def tocvxpy(self) -> Any:
        """Return A for cvxpy as an array or a sparse matrix, with the errors of `toarray`."""
        return self.toarray()

    def data(self) -> Vector:
        """Return the data that a certificate stores for this matrix, by default A itself."""
        return self.toarray()

    def recipe(self) -> dict[str, Any]:
        """Return the certificate fields from which a checker computes A, given `data`.

        The dictionary is empty if `data` returns A itself.
        """
        return {}

    def __repr__(self) -> str:
        n = "any number of" if self.n is None else self.n
        return f"{type(self).__name__}({self.m} examples, {n} hypotheses)"


class _Stored(Pricing):
    def __init__(self, matrix: MarginMatrix) -> None:
        assert matrix.n is not None
        self.m = matrix.m
        self.n = matrix.n
        self._matrix = matrix

    def edges(self, d: Vector) -> Vector:
        return self._matrix.edges(d)

    def restricted(self, columns: Whole) -> DenseBulk:
        return DenseBulk(self._matrix.columns(columns))


def content_digest(m: int, n: int, columns: Iterable[tuple[NDArray[Any], NDArray[Any]]]) -> str:
    """Return the SHA-256 digest of a matrix with m rows and n columns.

    `columns` contains the row indices and the nonzero values of each column.
    """
    sha = hashlib.sha256(f"relaxboost matrix v1 {m} {n}\n".encode())
    for rows, values in columns:
        sha.update(np.int64(len(rows)).astype("<i8").tobytes())
        sha.update(np.ascontiguousarray(rows, dtype="<i8").tobytes())
        sha.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
    return sha.hexdigest()


def check_shape(shape: tuple[int, ...]) -> None:
    """Raise InputError if a margin matrix cannot have this shape."""
    if len(shape) != 2:
        raise InputError(
            f"A must be a matrix with examples in rows and hypotheses in columns, got "
            f"{number_of(len(shape), 'dimension')}"
        )
    for size, what in zip(shape, ("row (example)", "column (hypothesis)"), strict=True):
        if size == 0:
            raise InputError(f"A needs at least one {what}, got shape {shape}")


def check_entry(value: float, row: int, column: int) -> None:
    """Raise InputError about the invalid entry A[row, column] = value."""
    if math.isfinite(value):
        rule = "is outside [-1, 1]; divide A, or each column, by its largest absolute value"
    else:
        rule = "is not a finite number; drop or impute that example"
    raise InputError(f"A[{row}, {column}] = {value:.16g} {rule}")
