"""Exact corrections of points that must satisfy sparse integer equations."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from scipy import linalg

from relaxboost.certificates.exact.integers import flint, independent_rows

Number = Any
"""An integer or a Fraction. Arithmetic may mix the two types."""


class Contradiction(ArithmeticError):
    """Raised if equations contradict each other: a linear combination of them is 0 = c with c ≠
    0."""


class Equations:
    """Equations E x = b with a sparse integer matrix E, which is factorised only once.

    Corrections change only the pivot variables, one for each equation, which are chosen for
    sparsity (Markowitz 1957, The elimination form of the inverse and its application to linear
    programming). When more than half of the remaining entries are nonzero, python-flint solves the
    remaining equations as a dense system.

    Parameters
    ----------
    rows : list of dict of int to int
        The nonzero entries of each equation by variable.
    preferred : sequence of bool
        For each variable, whether it can move in both directions. Other variables become pivots
        only if no preferred variable is left.
    """

    def __init__(self, rows: list[dict[int, int]], preferred: Sequence[bool]) -> None:
        self.operations = 0
        """The number of entries that the elimination has changed, as a measure of its work."""
        self._preferred = preferred
        self._rows: dict[int, dict[int, Number]] = {i: dict(row) for i, row in enumerate(rows)}
        self._where: dict[int, set[int]] = {}
        for i, row in self._rows.items():
            for j in row:
                self._where.setdefault(j, set()).add(i)
        self._steps: list[tuple[int, int, Number]] = []
        """The elimination steps (row, other, factor): `factor` times equation `row` was subtracted
        from equation `other`."""
        self._pivots: list[tuple[int, int, dict[int, Number]]] = []
        """The pivots (row, variable, entries). The entries of the row are those that it had when it
        was eliminated."""
        self._empty: list[int] = []
        self._dense: _Dense | None = None
        self._factorise()

    def correction(self, missing: Sequence[Number]) -> dict[int, Number]:
        """Return changes of the pivot variables that increase each left-hand side by its `missing`
        entry.

        If there are none, `Contradiction` is raised.
        """
        right = list(missing)
        # The steps of the elimination are repeated on the right sides.
        for i, other, factor in self._steps:
            if right[i]:
                right[other] -= factor * right[i]
        # The left side of this row is 0 after elimination, so its right side must be 0 too.
        for i in self._empty:
            if right[i]:
                raise Contradiction
        found = {} if self._dense is None else self._dense.solve(right)
        # A row contains only its own pivot, later pivots, and variables that are not corrected.
        for i, pivot, row in reversed(self._pivots):
            known = sum((a * found[j] for j, a in row.items() if j in found), 0)
            found[pivot] = _quotient(right[i] - known, row[pivot])
        return {j: x for j, x in found.items() if x}

    def _factorise(self) -> None:
        self._take_single_variables([j for j, rows in self._where.items() if len(rows) == 1])
        # The shortest row comes first, because its elimination creates the fewest new entries.
        queue = [(len(row), i) for i, row in self._rows.items()]
        heapq.heapify(queue)
        while queue:
            length, i = heapq.heappop(queue)
            if i not in self._rows or len(self._rows[i]) != length:
                # The row has been eliminated, or it is in the queue again with its new length.
                continue
            if not length:
                self._empty.append(i)
                del self._rows[i]
                continue
            # Even the shortest remaining row has half of the remaining variables. Fewer than eight
            # equations are always eliminated one by one.
            if len(self._rows) >= 8 and 2 * length >= len(self._where):
                self._dense = _Dense(self._rows)
                return
            for other in self._eliminate(i, self._choose(self._rows[i])):
                heapq.heappush(queue, (len(self._rows[other]), other))

    def _choose(self, row: dict[int, Number]) -> int:
        # The pivot is the variable that is in the fewest other rows.
        least = _least_pivot(row)
        # Division by a small pivot would make the correction large.
        large = [j for j, a in row.items() if abs(float(a)) >= least]
        return min(
            large,
            key=lambda j: (not self._preferred[j], len(self._where[j]), not _is_unit(row[j]), j),
        )

    def _take_single_variables(self, single: list[int]) -> None:
        # A variable that is in only one equation becomes its pivot and changes no other equation.
        while single:
            j = single.pop()
            rows = self._where.get(j, ())
            if len(rows) != 1 or not self._preferred[j]:
                continue
            (i,) = rows
            if abs(float(self._rows[i][j])) >= _least_pivot(self._rows[i]):
                single += self._remove(i, j)

    def _remove(self, i: int, pivot: int) -> list[int]:
        """Remove an equation and its pivot, and return the variables that then occur in only one
        equation."""
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
        """Eliminate a pivot from all equations except equation i, and return the changed
        equations."""
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
    """The equations that elimination has made dense, which python-flint solves."""

    def __init__(self, rows: dict[int, dict[int, Number]]) -> None:
        columns = sorted(set().union(*rows.values()))
        # The system is solved in integers, so each row is multiplied by its common denominator.
        self._scale = {i: lcm(*(a.denominator for a in row.values())) for i, row in rows.items()}
        names = list(rows)
        table = [[int(rows[i].get(j, 0) * self._scale[i]) for j in columns] for i in names]
        kept = independent_rows(table)
        # The system is square only with as many variables as rows. Large columns give small
        # corrections.
        chosen = _large_columns([table[k] for k in kept])
        square = [[row[c] for c in chosen] for row in table]
        self._rows = [names[k] for k in kept]
        self._pivots = [columns[c] for c in chosen]
        self._matrix = flint().fmpz_mat([square[k] for k in kept])
        self._dependent = {names[k]: square[k] for k in set(range(len(names))).difference(kept)}

    def solve(self, right: Sequence[Number]) -> dict[int, Number]:
        """Return the value of each pivot variable for the right-hand sides `right`."""
        scaled = [Fraction(right[i]) * self._scale[i] for i in self._rows]
        unit = lcm(*(x.denominator for x in scaled))
        column = flint().fmpz_mat([[int(x * unit)] for x in scaled])
        numbers, q = self._matrix.solve(column).numer_denom()
        found = [Fraction(int(x), int(q) * unit) for x in numbers.entries()]
        # Dependent rows were left out of the square system, so their right sides are tested.
        for i, row in self._dependent.items():
            left = sum((a * x for a, x in zip(row, found, strict=True)), 0)
            if left != right[i] * self._scale[i]:
                raise Contradiction
        return dict(zip(self._pivots, found, strict=True))


def _large_columns(rows: list[list[int]]) -> list[int]:
    """Return as many linearly independent columns of a matrix as it has rows."""
    sizes = [max(map(abs, row)) for row in rows]
    scaled = [
        [float(Fraction(a, size)) for a in row] for row, size in zip(rows, sizes, strict=True)
    ]
    # Pivoted QR in doubles chooses columns that are far from dependent. The exact rank is tested
    # afterwards.
    order = linalg.qr(np.array(scaled), mode="r", pivoting=True)[1]
    large = sorted(order[: len(rows)].tolist())
    if len(independent_rows([[row[c] for c in large] for row in rows])) == len(rows):
        return large
    # The rows are dependent up to rounding, and doubles cannot choose among the columns.
    return independent_rows([list(column) for column in zip(*rows, strict=True)])


def _least_pivot(row: dict[int, Number]) -> float:
    # Small pivots would make corrections large. Duff, Erisman and Reid (2017), Sec. 7.2, use 0.1 to
    # 0.001 for floats.
    return 2.0**-10 * max(abs(float(a)) for a in row.values())


def _quotient(a: Number, b: Number) -> Number:
    if b in (1, -1):
        return a * b
    ratio = Fraction(a) / b
    return ratio.numerator if ratio.denominator == 1 else ratio


def _is_unit(a: Number) -> bool:
    # Division by a power of two keeps denominators short.
    return all(part & (part - 1) == 0 for part in (abs(a.numerator), a.denominator))
