"""Margin matrices stored as dense arrays."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost._core.arrays import Vector, no_number
from relaxboost._core.blas import SMALL_ORDER
from relaxboost._core.errors import InputError
from relaxboost.matrices import kernels
from relaxboost.matrices.base import MarginMatrix, check_entry, check_shape, content_digest
from relaxboost.matrices.bulk import Bulk, DenseBulk


class DenseMatrix(MarginMatrix):
    """A margin matrix stored as a float64, float32 or int8 array.

    Parameters
    ----------
    A : array of shape (m, n)
        Entries in [−1, 1]. The types float64 and float32 are kept, and integer types become int8.
        All sums are in double precision. The matrix stores a copy of A in column order.
    """

    edge_roundings: ClassVar[int] = 1
    stored: ClassVar[bool] = True

    def __init__(self, A: ArrayLike) -> None:
        if isinstance(A, np.ma.MaskedArray):
            raise InputError(
                "A is a masked array; fill the masked entries, for example with 0, the margin of a "
                "hypothesis that abstains"
            )
        try:
            given = np.asarray(A)
        except ValueError as error:
            why = _short_row(A) or error
            raise InputError(f"A is not a rectangular array: {why}") from None
        kind = given.dtype.kind
        if kind == "b":
            raise InputError(
                "A has dtype bool, but margins are signed numbers; use 2 * A.astype('int8') - 1"
            )
        if kind not in "iuf" or given.dtype.itemsize > 8:
            raise InputError(_other_type(given, getattr(A, "columns", None)))
        check_shape(given.shape)
        inside = (given >= -1) & (given <= 1)  # This is false for nan.
        if not inside.all():
            row, column = np.unravel_index(int(np.argmin(inside)), given.shape)
            check_entry(float(given[row, column]), int(row), int(column))
        storage = np.int8 if kind in "iu" else given.dtype.newbyteorder("=")
        if storage == np.float16:
            storage = np.dtype(np.float32)
        self._A = np.array(given, dtype=storage, order="F", copy=True)
        self._A.flags.writeable = False
        self.m, self.n = self._A.shape
        is_large = self._A.size > SMALL_ORDER**2
        self._dots = kernels.dots_shared if is_large else kernels.dots

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._A.flags.writeable = False  # Pickling does not keep this flag.

    def _column(self, j: int) -> NDArray[Any]:
        return self._A[:, j]

    def _edges(self, d: Vector) -> Vector:
        return self._dots(self._A, self._A.shape[1], d)

    def toarray(self) -> Vector:
        """Return the matrix as an array in double precision."""
        return self._A.astype(np.float64)

    def bulk(self) -> Bulk:
        return DenseBulk(self._A)

    def digest(self) -> str:
        """Return the SHA-256 digest of the entries in hexadecimal."""
        m, n = self._A.shape
        return content_digest(m, n, ((np.flatnonzero(a), a[a != 0]) for a in self._A.T))


def _short_row(A: Any) -> str:
    """Describe the row of nested lists that has another length, or return "" if it is unknown."""
    if not isinstance(A, list | tuple):
        return ""
    lengths = [len(row) if hasattr(row, "__len__") else -1 for row in A]
    row = next((i for i, length in enumerate(lengths) if length != lengths[0]), 0)
    if row == 0 or min(lengths) < 0:
        return ""
    return (
        f"row {row} has length {lengths[row]}, but row 0 has length {lengths[0]}; write one "
        "entry for each hypothesis into every row"
    )


def _other_type(given: NDArray[Any], names: Any) -> str:
    if given.ndim == 0:
        return f"A must be a matrix, with examples in rows, got {given.item()!r:.60}"
    at = no_number(given) if given.dtype.kind in "OUST" else None
    if at is None:
        return (
            f"A has dtype {given.dtype}; it must be float64, float32 or an integer type; "
            "convert it with numpy.asarray(A, dtype=float)"
        )
    entry = f"A[{', '.join(map(str, at))}] = {given[at]!s:.60}"
    column = f" of column {names[at[1]]!r}" if names is not None else ""
    return (
        f"A has dtype {given.dtype}, and {entry}{column} is not a number; A contains margins "
        "y_i h_j(x_i); to build stumps from features, pass relaxboost.matrices.stumps(X, y)"
    )
