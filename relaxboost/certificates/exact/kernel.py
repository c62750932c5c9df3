"""The square systems of a basis, solved exactly."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import Any

from relaxboost.certificates.exact.integers import flint
from relaxboost.certificates.exact.program import ExactProgram, Integer

_WIDEST = 4096
"""Bits of the common denominator beyond which rows are not eliminated by hand."""
PRIME = (1 << 61) - 1
"""What is independent modulo this prime is so in the rationals too."""


class Singular(ArithmeticError):
    """The basis is not one: its columns are dependent."""


class Kernel:
    """The tight rows of a program at its basic variables, a square matrix K.

    Rows of f are often nearly empty (a_i d_i <= z). Those with a variable that no other such row
    has are eliminated first, K = [[D, F], [G, E]] with diagonal D, so that python-flint solves
    S = E − G D⁻¹ F, which is about as large as the number of columns in use.

    Parameters
    ----------
    program : ExactProgram
    tight : list of int
        Rows.
    basic : list of int
        As many variables.
    """

    def __init__(self, program: ExactProgram, tight: list[int], basic: list[int]) -> None:
        self._tight, self._basic = tight, basic
        pairs = _diagonal(program, tight, basic)
        self._ps, self._pj = [t for t, _ in pairs], [j for _, j in pairs]
        taken, gone = set(self._ps), set(self._pj)
        self._rs = [t for t in tight if t not in taken]
        self._rj = [j for j in basic if j not in gone]
        pivots = [program.rows[t][j] for t, j in pairs]
        self._unit = lcm(*pivots, 1)
        self._lift = [self._unit // a for a in pivots]
        where = {j: c for c, j in enumerate(self._rj)}
        self._F = [
            [(where[j], a) for j, a in program.rows[t].items() if j in where] for t in self._ps
        ]
        table = [program.coefficients(t, self._rj) for t in self._rs]
        self._G: Any = None
        if pairs:
            beside = [program.coefficients(t, self._pj) for t in self._rs]
            for row, side in zip(table, beside, strict=True):
                for c in range(len(row)):
                    row[c] *= self._unit
                for g, lift, part in zip(side, self._lift, self._F, strict=True):
                    if g:
                        for c, a in part:
                            row[c] -= g * lift * a
            if self._rs:
                self._G = flint().fmpz_mat(beside)
        self._S = flint().fmpz_mat(table) if table else None

    @property
    def size(self) -> int:
        """Number of equations that are left to solve."""
        return len(self._rs)

    def solve(self, right: Sequence[Integer]) -> tuple[list[Integer], Integer]:
        """Return (numbers, q) with K x = right at x = numbers / q, q > 0, in the order of `basic`.

        Raises
        ------
        Singular
            If K is singular.
        """
        of = dict(zip(self._tight, right, strict=True))
        top, bottom = [of[t] for t in self._ps], [of[t] for t in self._rs]
        if self._G is not None:
            part = self._G * _column([b * k for b, k in zip(top, self._lift, strict=True)])
            bottom = [self._unit * b - g for b, g in zip(bottom, part.entries(), strict=True)]
        inner, q = self._inner(self._S, bottom)
        outer = [
            (b * q - sum((a * inner[c] for c, a in row), 0)) * k
            for b, k, row in zip(top, self._lift, self._F, strict=True)
        ]
        return self._ordered(self._pj, outer, self._rj, inner, self._basic), q * self._unit

    def solve_transposed(self, right: Sequence[Integer]) -> tuple[list[Integer], Integer]:
        """Return (numbers, q) with Kᵀ y = right at y = numbers / q, in the order of `tight`."""
        of = dict(zip(self._basic, right, strict=True))
        left, rest = [of[j] for j in self._pj], [of[j] * self._unit for j in self._rj]
        for c, k, row in zip(left, self._lift, self._F, strict=True):
            for slot, a in row:
                rest[slot] -= a * k * c
        inner, q = self._inner(None if self._S is None else self._S.transpose(), rest)
        outer = [c * q * k for c, k in zip(left, self._lift, strict=True)]
        if self._G is not None:
            part = (self._G.transpose() * _column(inner)).entries()
            outer = [x - g * k for x, g, k in zip(outer, part, self._lift, strict=True)]
        return self._ordered(self._ps, outer, self._rs, inner, self._tight), q * self._unit

    def _ordered(
        self,
        first: list[int],
        outer: list[Integer],
        second: list[int],
        inner: list[Integer],
        order: list[int],
    ) -> list[Integer]:
        """Return both parts over q times the unit, in one order."""
        found = dict(zip(first, outer, strict=True))
        found.update((j, x * self._unit) for j, x in zip(second, inner, strict=True))
        return [found[j] for j in order]

    @staticmethod
    def _inner(matrix: Any, right: list[Integer]) -> tuple[list[Integer], Integer]:
        if matrix is None:
            return [], flint().fmpz(1)
        try:
            numbers, q = matrix.solve(_column(right)).numer_denom()
        except ZeroDivisionError:
            raise Singular from None
        return numbers.entries(), q


def independent(
    program: ExactProgram, tight: list[int], basic: list[int]
) -> tuple[set[int], set[int]]:
    """Return as many of the rows and variables as make a matrix that is not singular.

    They are found modulo a prime, where what is independent is so in the rationals too.
    """
    if not tight or not basic:
        return set(), set()
    table = [[x % PRIME for x in program.coefficients(t, basic)] for t in tight]
    rows = {tight[i] for i in independent_rows(table)}
    return rows, {basic[c] for c in _pivots(_residues(table))}


def independent_rows(table: list[list[int]]) -> list[int]:
    """Return as many rows of residues as are independent."""
    return _pivots(_residues(table).transpose())


def _residues(table: list[list[int]]) -> Any:
    return flint().nmod_mat(len(table), len(table[0]), [x for row in table for x in row], PRIME)


def _pivots(matrix: Any) -> list[int]:
    """Return the columns that the reduced echelon form starts its rows with."""
    reduced, rank = matrix.rref()
    out, c = [], 0
    for r in range(rank):
        while int(reduced[r, c]) == 0:
            c += 1
        out.append(c)
        c += 1
    return out


def _diagonal(program: ExactProgram, tight: list[int], basic: list[int]) -> list[tuple[int, int]]:
    """Return rows of f, each with a basic variable that no other of them has."""
    rows = [t for t in tight if 0 < t < program.fixed]
    if len(rows) < 2:
        return []
    inside, count = set(basic), dict.fromkeys(basic, 0)
    for t in rows:
        for j in program.rows[t]:
            if j in inside:
                count[j] += 1
    pairs = []
    for t in rows:
        own = next((j for j in program.rows[t] if count.get(j) == 1), None)
        if own is not None:
            pairs.append((t, own))
    unit = lcm(*(program.rows[t][j] for t, j in pairs), 1)
    return pairs if unit.bit_length() <= _WIDEST else []


def _column(entries: Sequence[Integer]) -> Any:
    return flint().fmpz_mat([[x] for x in entries])
