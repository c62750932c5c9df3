"""Columns of a margin matrix as integers: a double is an integer over a power of two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.errors import MissingDependencyError
from relaxboost.matrices import MarginMatrix


class Columns(NamedTuple):
    """Columns times powers of two, so that their entries are integers."""

    entries: list[list[int]]
    """One list for each column, over the rows asked for."""
    shifts: list[int]
    """Column j is its list over 2^shifts[j]."""


def flint() -> Any:
    """Return the module python-flint, an optional extra.

    Raises
    ------
    MissingDependencyError
        If it is not installed.
    """
    try:
        import flint as module
    except ImportError:
        raise MissingDependencyError(
            "exact optima need python-flint; pip install 'relaxboost[exact]'"
        ) from None
    return module


def integer_columns(
    matrix: MarginMatrix, columns: Sequence[int], rows: NDArray[np.int64] | None = None
) -> Columns:
    """Return columns of A, on all rows or some, in integers."""
    block = matrix.columns(columns)
    block = np.ascontiguousarray((block if rows is None else block[rows]).T)
    if (block == np.rint(block)).all():
        return Columns(block.astype(np.int64).tolist(), [0] * len(columns))
    mantissa, exponent = np.frexp(block)
    odd = (mantissa * 2.0**53).astype(np.int64)
    lowest = (odd & -odd).astype(np.float64)  # the last bit that is set, 0 for 0
    zeros = np.where(odd == 0, 0, np.frexp(lowest)[1] - 1)
    # Entries are odd numbers times 2^place.
    place = np.where(odd == 0, 0, exponent.astype(np.int64) - 53 + zeros)
    shifts = np.maximum(-place.min(axis=1, initial=0), 0)
    width = np.where(odd == 0, 0, exponent + shifts[:, None])
    if width.max(initial=0) <= 62:
        whole = np.ldexp(block, shifts[:, None]).astype(np.int64)
        return Columns(whole.tolist(), shifts.tolist())
    parts, lifts = (odd >> zeros).tolist(), (place + shifts[:, None]).tolist()
    entries = [
        [part << lift for part, lift in zip(some, up, strict=True)]
        for some, up in zip(parts, lifts, strict=True)
    ]
    return Columns(entries, shifts.tolist())
