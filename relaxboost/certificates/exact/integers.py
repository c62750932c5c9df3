"""Columns of a margin matrix as integers: a double is an integer over a power of two."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from relaxboost._core.errors import missing
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
        raise missing("exact optima need python-flint", "exact") from None
    return module


def integer_columns(matrix: MarginMatrix, columns: Sequence[int]) -> Columns:
    """Return columns of A in integers."""
    found = Columns([], [])
    for column in matrix.columns(columns).T.tolist():
        ratios = [x.as_integer_ratio() for x in column]
        below = max(q for _, q in ratios)  # powers of two
        found.entries.append([p * (below // q) for p, q in ratios])
        found.shifts.append(below.bit_length() - 1)
    return found
