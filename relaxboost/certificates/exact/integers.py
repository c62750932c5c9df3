"""Exact conversion of margin matrices to integers, which is possible because floats are dyadic
fractions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from relaxboost._core.errors import missing
from relaxboost.matrices import MarginMatrix

Integer = Any
"""An integer of Python or of python-flint. Arithmetic may mix the two types."""


class Columns(NamedTuple):
    """Columns of a margin matrix, scaled to integers by powers of two."""

    entries: list[list[int]]
    """The integer columns, as lists with an entry for each example."""
    shifts: list[int]
    """The exponents of the powers of two. Column j of A is entries[j] divided by 2^shifts[j]."""


def flint() -> Any:
    """Return python-flint, or raise MissingDependencyError if it is not installed."""
    try:
        import flint as module
    except ImportError:
        raise missing("exact optima need python-flint", "exact") from None
    return module


def integer_columns(matrix: MarginMatrix, columns: Sequence[int]) -> Columns:
    """Return columns of the matrix, each scaled to integers by its own power of two."""
    found = Columns([], [])
    for column in matrix.columns(columns).T.tolist():
        # A double is an integer over a power of two, so this conversion is exact.
        ratios = [x.as_integer_ratio() for x in column]
        # All denominators are powers of two, so the largest one is a common denominator.
        below = max(q for _, q in ratios)
        found.entries.append([p * (below // q) for p, q in ratios])
        found.shifts.append(below.bit_length() - 1)
    return found


def independent_rows(table: Sequence[Sequence[int]]) -> list[int]:
    """Return the indices of a maximal set of rows that are linearly independent modulo a prime."""
    # Rows that are independent modulo a prime are also independent in the rational numbers.
    # The largest Mersenne prime that fits a machine word. Arithmetic modulo a prime is much faster
    # than with integers, whose length grows during elimination.
    prime = (1 << 61) - 1
    residues = [x % prime for row in table for x in row]
    matrix = flint().nmod_mat(len(table), len(table[0]), residues, prime)
    # The pivot columns of the transpose are the independent rows.
    reduced, rank = matrix.transpose().rref()
    found: list[int] = []
    c = 0
    for r in range(rank):
        while int(reduced[r, c]) == 0:
            c += 1
        found.append(c)
        c += 1
    return found
