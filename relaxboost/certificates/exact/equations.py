"""Sparse linear equations in integers, solved exactly for a small correction of a given point."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from scipy import linalg

from relaxboost.certificates.exact.integers import flint
from relaxboost.certificates.exact.kernel import PRIME, independent_rows

Number = Any
"""An integer or a Fraction; they mix."""

_PIVOT_SHARE = 2.0**-10
"""A pivot is at least this part of the largest entry of its row, so that corrections stay small;
Duff, Erisman and Reid (2017), Sec. 7.2, use 0.1 to 0.001 in doubles."""
_HANDFUL = 8
"""Fewer equations than this are always eliminated one by one."""


class Contradiction(ArithmeticError):
    """A combination of the equations reads 0 = something else."""


class Equations:
    """The equations E x = b for a sparse E in integers, factorised once.

    Each equation gets a variable of its own, the pivot, and all corrections are made to pivots.
    Pivots are chosen as Markowitz (1957) does, for sparsity. When more than half of the remaining
    entries are non-zero, python-flint solves what remains as one dense system.

    Parameters
    ----------
    rows : list of dict of int to int
        The non-zero entries of each equation by variable.
    preferred : sequence of bool
        For each variable whether it may move both ways; others become pivots only if they must.

    References
    ----------
    Markowitz (1957), The elimination form of the inverse and its application to linear programming.
    """

    def __init__(self, rows: list[dict[int, int]], preferred: Sequence[bool]) -> None:
        self.operations = 0
        """Entries that the elimination has changed, the work that it took."""
        self._preferred = preferred
        self._count = len(rows)
        self._rows: dict[int, dict[int, Number]] = {i: dict(row) for i, row in enumerate(rows)}
        self._where: dict[int, set[int]] = {}
        for i, row in self._rows.items():
            for j in row:
                self._where.setdefault(j, set()).add(i)
        self._steps: list[tuple[int, int, Number]] = []
        """(row, other row, factor): `factor` times the row was subtracted from the other row."""
        self._pivots: list[tuple[int, int, dict[int, Number]]] = []
        """(row, variable, the row at that time), in the order of elimination."""
        self._empty: list[int] = []
        self._dense: _Dense | None = None
        self._factorise()

    def correction(self, missing: Sequence[Number]) -> dict[int, Number]:
        """Return changes of the pivots that add `missing` to the left sides of the equations.

        Raises
        ------
        Contradiction
            If no change does.
        """
        right = list(missing)
        for i, other, factor in self._steps:
            if right[i]:
                right[other] -= factor * right[i]
        for i in self._empty:
            if right[i]:
                raise Contradiction
        found = {} if self._dense is None else self._dense.solve(right)
        for i, pivot, row in reversed(self._pivots):
            known = sum((a * found[j] for j, a in row.items() if j in found), 0)
            found[pivot] = _quotient(right[i] - known, row[pivot])
        return {j: x for j, x in found.items() if x}

    def _factorise(self) -> None:
        self._take_single_variables([j for j, rows in self._where.items() if len(rows) == 1])
        queue = [(len(row), i) for i, row in self._rows.items()]
        heapq.heapify(queue)
        while queue:
            length, i = heapq.heappop(queue)
            if i not in self._rows or len(self._rows[i]) != length:
                continue  # the row is done, or stands in the queue again with its new length
            if not length:
                self._empty.append(i)
                del self._rows[i]
                continue
            if self._is_dense(length):
                self._dense = _Dense(self._rows)
                return
            for other in self._eliminate(i, self._choose(self._rows[i])):
                heapq.heappush(queue, (len(self._rows[other]), other))

    def _is_dense(self, shortest: int) -> bool:
        """Return whether even the shortest remaining row uses half of the remaining variables."""
        return len(self._rows) >= _HANDFUL and 2 * shortest >= len(self._where)

    def _choose(self, row: dict[int, Number]) -> int:
        """Return the variable of a row that is in the fewest other rows and large enough."""
        least = _PIVOT_SHARE * max(abs(float(a)) for a in row.values())
        large = [j for j, a in row.items() if abs(float(a)) >= least]
        return min(
            large,
            key=lambda j: (not self._preferred[j], len(self._where[j]), not _is_unit(row[j]), j),
        )

    def _take_single_variables(self, single: list[int]) -> None:
        """Make variables that only one equation has its pivots, which changes no other equation."""
        while single:
            j = single.pop()
            rows = self._where.get(j, ())
            if len(rows) != 1 or not self._preferred[j]:
                continue
            (i,) = rows
            row = self._rows[i]
            if abs(float(row[j])) >= _PIVOT_SHARE * max(abs(float(a)) for a in row.values()):
                single += self._remove(i, j)

    def _remove(self, i: int, pivot: int) -> list[int]:
        """Take a row with its pivot out of the system; return variables that one row still has."""
        row = self._rows.pop(i)
        self._pivots.append((i, pivot, row))
        single = []
        for j in row:
            rows = self._where[j]
            rows.discard(i)
            if len(rows) == 1:
                single.append(j)
            elif not rows:
                del self._where[j]
        return single

    def _eliminate(self, i: int, pivot: int) -> list[int]:
        """Remove a variable from all rows but its own; return the rows that were changed."""
        row = self._rows[i]
        changed = sorted(self._where[pivot] - {i})
        single = []
        for other in changed:
            target = self._rows[other]
            factor = _quotient(target[pivot], row[pivot])
            self._steps.append((i, other, factor))
            self.operations += len(row)
            for j, a in row.items():
                left = 0 if j == pivot else target.get(j, 0) - factor * a
                if left:
                    target[j] = left
                    self._where[j].add(other)
                elif j in target:
                    del target[j]
                    self._where[j].discard(other)
                    single.append(j)
        single += self._remove(i, pivot)
        self._take_single_variables(single)
        return [other for other in changed if other in self._rows]


class _Dense:
    """The equations that elimination has filled, solved by python-flint."""

    def __init__(self, rows: dict[int, dict[int, Number]]) -> None:
        columns = sorted({j for row in rows.values() for j in row})
        self._scale = {i: lcm(*(a.denominator for a in row.values())) for i, row in rows.items()}
        table = {
            i: [int(row.get(j, 0) * self._scale[i]) for j in columns] for i, row in rows.items()
        }
        residues = [[a % PRIME for a in row] for row in table.values()]
        names = list(table)
        kept = {names[k] for k in independent_rows(residues)}
        self._rows = sorted(kept)
        chosen = _large_columns([table[i] for i in self._rows])
        self._pivots = [columns[c] for c in chosen]
        self._matrix = flint().fmpz_mat([[table[i][c] for c in chosen] for i in self._rows])
        self._dependent = {i: [table[i][c] for c in chosen] for i in names if i not in kept}

    def solve(self, right: Sequence[Number]) -> dict[int, Number]:
        """Return the pivots that solve the equations with these right sides."""
        scaled = [Fraction(right[i]) * self._scale[i] for i in self._rows]
        unit = lcm(*(x.denominator for x in scaled))
        column = flint().fmpz_mat([[int(x * unit)] for x in scaled])
        numbers, q = self._matrix.solve(column).numer_denom()
        found = [Fraction(int(x), int(q) * unit) for x in numbers.entries()]
        for i, row in self._dependent.items():
            left = sum((a * x for a, x in zip(row, found, strict=True)), 0)
            if left != right[i] * self._scale[i]:
                raise Contradiction
        return dict(zip(self._pivots, found, strict=True))


def _large_columns(rows: list[list[int]]) -> list[int]:
    """Return as many columns as there are rows, independent far beyond rounding if possible."""
    sizes = [max(map(abs, row)) for row in rows]
    scaled = [
        [float(Fraction(a, size)) for a in row] for row, size in zip(rows, sizes, strict=True)
    ]
    order = linalg.qr(np.array(scaled), mode="r", pivoting=True)[1]
    large = sorted(order[: len(rows)].tolist())
    residues = [[a % PRIME for a in row] for row in rows]
    if len(independent_rows([[row[c] for c in large] for row in residues])) == len(rows):
        return large
    # The rows are dependent up to rounding, and doubles cannot choose among the columns.
    return independent_rows([list(column) for column in zip(*residues, strict=True)])


def _quotient(a: Number, b: Number) -> Number:
    """Return a / b, an integer if it is one."""
    if b in (1, -1):
        return a * b
    ratio = Fraction(a) / b
    return ratio.numerator if ratio.denominator == 1 else ratio


def _is_unit(a: Number) -> bool:
    """Return whether a power of two, positive or negative, which leaves denominators short."""
    size = abs(a)
    top, bottom = size.numerator, size.denominator
    return top & (top - 1) == 0 and bottom & (bottom - 1) == 0
