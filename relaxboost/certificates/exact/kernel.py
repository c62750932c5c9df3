"""Exact solutions of the linear systems of a simplex basis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import lcm
from typing import Any

from relaxboost.certificates.exact.integers import Integer, flint, independent_rows
from relaxboost.certificates.exact.program import ExactProgram


class Singular(ArithmeticError):
    """Raised if the basis matrix of the simplex method is singular."""


class Kernel:
    """The basis matrix K of the exact simplex method, and its factorisation.

    K contains the coefficients of the basic variables in the tight rows, which hold with equality
    at the basis. The methods raise `Singular` if K is singular.

    If a tight row of the relaxation f has a basic variable that no other tight row of f contains,
    the row is eliminated first. These rows and variables form a diagonal matrix D, and K is
    [[D, F], [G, E]]. python-flint solves the system of the Schur complement S = E − G D⁻¹ F, whose
    size is about the number of columns of the margin matrix in the basis.
    """

    def __init__(self, program: ExactProgram, tight: list[int], basic: list[int]) -> None:
        self._tight = tight
        self._basic = basic
        # python-flint has dense matrices only, so sparse rows are eliminated before they get there.
        self._pivots = _diagonal(program, tight, basic)
        """The variable that is eliminated by each eliminated row.

        Its coefficients in these rows are the diagonal of D.
        """
        eliminated = set(self._pivots.values())
        self._rows = [t for t in tight if t not in self._pivots]
        self._variables = [j for j in basic if j not in eliminated]
        diagonal = [program.rows[t][j] for t, j in self._pivots.items()]
        # S is multiplied by this unit, so that its entries are integers.
        self._unit = lcm(*diagonal, 1)
        self._lift = [self._unit // a for a in diagonal]
        """The diagonal of the inverse of D, multiplied by the common denominator."""
        place = {j: c for c, j in enumerate(self._variables)}
        self._F = [_entries(program.rows[t], place) for t in self._pivots]
        left = [program.coefficients(t, list(self._pivots.values())) for t in self._rows]
        right = [program.coefficients(t, self._variables) for t in self._rows]
        self._G = _matrix(left)
        schur = [self._eliminated(*sides) for sides in zip(left, right, strict=True)]
        self._S = _matrix(schur)

    def _eliminated(self, left: list[int], right: list[int]) -> list[int]:
        # This is a row of S multiplied by `_unit`, from the entries of this row in G and in E.
        row = [a * self._unit for a in right]
        for g, lift, entries in zip(left, self._lift, self._F, strict=True):
            if g:
                for c, a in entries:
                    row[c] -= g * lift * a
        return row

    @property
    def size(self) -> int:
        """The number of equations that remain after the elimination. python-flint solves them."""
        return len(self._rows)

    def solve(self, right: Sequence[Integer]) -> tuple[list[Integer], Integer]:
        """Solve K x = right. Return the numerators of x, one for each basic variable, and the
        denominator."""
        sides = dict(zip(self._tight, right, strict=True))
        top = [sides[t] for t in self._pivots]
        bottom = [sides[t] for t in self._rows]
        if self._G is not None:
            # The right side of the Schur complement is b − G D⁻¹ t, for the right sides t of the
            # first rows, and b of the others.
            part = self._G * _column([b * k for b, k in zip(top, self._lift, strict=True)])
            bottom = [self._unit * b - g for b, g in zip(bottom, part.entries(), strict=True)]
        inner, q = _solved(self._S, bottom)
        found = {j: x * self._unit for j, x in zip(self._variables, inner, strict=True)}
        pivots = self._pivots.values()
        for j, b, k, row in zip(pivots, top, self._lift, self._F, strict=True):
            found[j] = (b * q - sum((a * inner[c] for c, a in row), 0)) * k
        return [found[j] for j in self._basic], q * self._unit

    def solve_transposed(self, right: Sequence[Integer]) -> tuple[list[Integer], Integer]:
        """Solve Kᵀ y = right. Return the numerators of y, one for each tight row, and the
        denominator."""
        sides = dict(zip(self._basic, right, strict=True))
        left = [sides[j] for j in self._pivots.values()]
        rest = [sides[j] * self._unit for j in self._variables]
        for b, k, row in zip(left, self._lift, self._F, strict=True):
            for c, a in row:
                rest[c] -= a * k * b
        inner, q = _solved(None if self._S is None else self._S.transpose(), rest)
        outer = [b * q * k for b, k in zip(left, self._lift, strict=True)]
        if self._G is not None:
            part = (self._G.transpose() * _column(inner)).entries()
            outer = [x - g * k for x, g, k in zip(outer, part, self._lift, strict=True)]
        found = {t: x * self._unit for t, x in zip(self._rows, inner, strict=True)}
        found |= zip(self._pivots, outer, strict=True)
        return [found[t] for t in self._tight], q * self._unit


def _solved(matrix: Any, right: list[Integer]) -> tuple[list[Integer], Integer]:
    """Return the numerators and the common denominator of the solution of a linear system."""
    if matrix is None:
        return [], flint().fmpz(1)
    try:
        numbers, q = matrix.solve(_column(right)).numer_denom()
    # python-flint raises this error if the matrix is singular.
    except ZeroDivisionError:
        raise Singular from None
    return numbers.entries(), q


def independent(
    program: ExactProgram, tight: list[int], basic: list[int]
) -> tuple[set[int], set[int]]:
    """Return tight rows and basic variables that form a nonsingular matrix of maximal size."""
    if not tight or not basic:
        return set(), set()
    table = [program.coefficients(t, basic) for t in tight]
    rows = {tight[i] for i in independent_rows(table)}
    columns = [list(column) for column in zip(*table, strict=True)]
    return rows, {basic[c] for c in independent_rows(columns)}


def _diagonal(program: ExactProgram, tight: list[int], basic: list[int]) -> dict[int, int]:
    """Return the rows of f that can be eliminated first, each with a basic variable.

    No other tight row of f contains this variable.
    """
    # Row 0 is the simplex. It has every d and is never eliminated.
    rows = [t for t in tight if 0 < t < program.fixed]
    inside = set(basic)
    count = Counter(j for t in rows for j in program.rows[t] if j in inside)
    pairs = {}
    for t in rows:
        # No other row has this variable, so eliminated rows do not change each other and D is
        # diagonal.
        own = next((j for j in program.rows[t] if count[j] == 1), None)
        if own is not None:
            pairs[t] = own
    unit = lcm(*(program.rows[t][j] for t, j in pairs.items()), 1)
    # Beyond this length of the common denominator, elimination costs more than it saves.
    return pairs if unit.bit_length() <= 4096 else {}


def _entries(row: dict[int, int], place: dict[int, int]) -> list[tuple[int, int]]:
    return [(place[j], a) for j, a in row.items() if j in place]


def _matrix(table: list[list[int]]) -> Any:
    return flint().fmpz_mat(table) if table and table[0] else None


def _column(entries: Sequence[Integer]) -> Any:
    return flint().fmpz_mat([[x] for x in entries])
