"""The conversion of a margin matrix to integers.

Each float is an integer divided by a power of two, so that the conversion is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from relaxboost._core.errors import missing
from relaxboost.matrices import MarginMatrix

Integer = Any
"""An integer of Python or of python-flint. Arithmetic may mix the two types."""


class Columns(NamedTuple):
    """Columns of a margin matrix, each multiplied by a power of two that makes its entries
    integers.
    """

    entries: list[list[int]]
    """The columns of the margin matrix as lists of integers, with an entry for each example."""
    shifts: list[int]
    """The exponents of the powers of two. Column j of A is entries[j] divided by 2^shifts[j]."""


def flint() -> Any:
    """Return the module of python-flint, or raise MissingDependencyError if it is not installed."""
    try:
        import flint as module
    except ImportError:
        raise missing("exact optima need python-flint", "exact") from None
    return module


def integer_columns(matrix: MarginMatrix, columns: Sequence[int]) -> Columns:
    """Return columns of the matrix as integers.

    Each column is multiplied by its own power of two, which makes its entries integers.
    """
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
    """Return the indices of a maximal set of linearly independent rows, modulo a prime."""
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
