"""Exactly feasible points near those that a solver in doubles calls feasible."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from relaxboost._core.arrays import Vector
from relaxboost.certificates.exact.equations import Equations
from relaxboost.relaxations.linear import Bound, Row

_BITS = 60
"""Bits of a rounded entry below the size of its variable, a few more than a double has."""
_ROOM = 2.0**-20
"""Part of its size by which a variable is away from its bounds, so that it can take corrections."""
_LEAST = 2.0**-40
"""Part of its size by which each constraint is tightened first: more than doubles get wrong."""
_DEEPER = (2.0**-10, 2.0**-16, 2.0**-22, 2.0**-28)
"""Parts by which constraints are tightened for a point inside; narrow sets need small ones."""
_MOVES = 12
"""How often the step towards the point inside is taken four times as long."""

Guess = Callable[[float], "Vector | None"]
"""From the part by which constraints are tightened to a point in doubles, None if there is none."""


class Constraints(NamedTuple):
    """``lower <= x <= upper`` and ``row_lower <= rows @ x <= row_upper``; None is no bound."""

    lower: list[Bound]
    upper: list[Bound]
    rows: list[Row]
    row_lower: list[Bound]
    row_upper: list[Bound]


class NoPoint(ArithmeticError):
    """No exactly feasible point was found near those in doubles."""


def feasible_point(constraints: Constraints, sizes: Vector, guess: Guess) -> list[Fraction]:
    """Return an exactly feasible point that is nearly as good as the guess.

    The equations hold exactly after a small correction. If that violates an inequality, the point
    moves towards one that is farther inside ("project and shift").

    Raises
    ------
    NoPoint
        If no point is found, as when inequalities leave no room between them.
    Contradiction
        If no point meets the equations exactly.

    References
    ----------
    Steffy and Wolter (2013), Valid linear programming bounds for exact mixed-integer programming.
    """
    near = guess(_LEAST)
    if near is None:
        raise NoPoint
    projection = _Projection(constraints, sizes, near)
    found = projection.feasible(near)
    if found is not None:
        return found
    for part in _DEEPER:
        inside = guess(part)
        if inside is None or projection.feasible(inside) is None:
            continue
        step = 4.0 * _LEAST / part
        for _ in range(_MOVES):
            found = projection.feasible(near + min(step, 1.0) * (inside - near))
            if found is not None:
                return found
            step *= 4.0
    raise NoPoint


class _Projection:
    """The equations among constraints, factorised, and the test of the inequalities."""

    def __init__(self, constraints: Constraints, sizes: Vector, near: Vector) -> None:
        lower, upper = constraints.lower, constraints.upper
        self._fixed = {j: a for j, (a, b) in enumerate(zip(lower, upper, strict=True))
                       if a is not None and a == b}  # fmt: skip
        self._box = [
            (j, a, b)
            for j, (a, b) in enumerate(zip(lower, upper, strict=True))
            if j not in self._fixed and (a is not None or b is not None)
        ]
        self._rows = [
            _IntegerRow.of(*given)
            for given in zip(
                constraints.rows, constraints.row_lower, constraints.row_upper, strict=True
            )
        ]
        self._equal = [
            (row, row.low) for row in self._rows if row.low is not None and row.low == row.high
        ]
        self._grid = _BITS - np.frexp(sizes)[1]
        room = _ROOM * sizes
        free = np.ones(len(near), dtype=bool)
        for j, a, b in self._box:
            above = a is None or near[j] - float(a) > room[j]
            free[j] = above and (b is None or float(b) - near[j] > room[j])
        self._equations = Equations(
            [
                {j: a for j, a in row.entries.items() if j not in self._fixed}
                for row, _ in self._equal
            ],
            free.tolist(),
        )

    def feasible(self, x: Vector) -> list[Fraction] | None:
        """Return the point moved into the equations; None if an inequality does not hold."""
        numbers, below = self._rounded(x)
        missing = [side * below - row.at(numbers) for row, side in self._equal]
        correction = self._equations.correction(missing)
        more = lcm(*(Fraction(a).denominator for a in correction.values()))
        numbers = [a * more for a in numbers]
        below *= more
        for j, a in correction.items():
            numbers[j] += int(a * more)
        for j, a, b in self._box:
            if a is not None and numbers[j] * a.denominator < a.numerator * below:
                return None
            if b is not None and numbers[j] * b.denominator > b.numerator * below:
                return None
        if not all(row.holds(numbers, below) for row in self._rows):
            return None
        return [Fraction(a, below) for a in numbers]

    def _rounded(self, x: Vector) -> tuple[list[int], int]:
        """Return integers and one denominator, of x rounded to the grid of each variable."""
        finest = int(self._grid.max(initial=0))
        below = lcm(1 << finest, *(a.denominator for a in self._fixed.values()))
        grain = below >> finest
        numbers = [
            round(Fraction(value) * 2**places) << (finest - places) if places >= 0
            else round(Fraction(value)) << finest
            for value, places in zip(x.tolist(), self._grid.tolist(), strict=True)
        ]  # fmt: skip
        numbers = [a * grain for a in numbers]
        for j, value in self._fixed.items():
            numbers[j] = int(value * below)
        return numbers, below


class _IntegerRow(NamedTuple):
    """A row and its bounds, times what makes them integers."""

    entries: dict[int, int]
    low: int | None
    high: int | None

    @classmethod
    def of(cls, row: Row, low: Bound, high: Bound) -> _IntegerRow:
        """Return the row and its two bounds, multiplied by their common denominator."""
        factor = lcm(*(a.denominator for a in (*row.values(), low, high) if a is not None))
        sides = [None if a is None else int(a * factor) for a in (low, high)]
        return cls({j: int(a * factor) for j, a in row.items() if a}, *sides)

    def at(self, numbers: Sequence[int]) -> int:
        """Return the product of the row with a vector of integers."""
        return sum(a * numbers[j] for j, a in self.entries.items())

    def holds(self, numbers: Sequence[int], below: int) -> bool:
        """Return whether the vector numbers / below satisfies both bounds of the row."""
        value = self.at(numbers)
        above = self.low is None or value >= self.low * below
        return above and (self.high is None or value <= self.high * below)


def variable_sizes(table: Any, x: Vector, sides: Vector, otherwise: Vector) -> Vector:
    """Return a size of each variable, from the rows that it competes in.

    A row of size a = |row| |x| + |side| gives its variable j the size a / |row_j|, and the least
    of these counts. Less than a thousandth of `otherwise` may be noise, and is replaced by that; a
    variable in no row of positive size has the size `otherwise`.
    """
    entries = sparse.csr_array(abs(table)).tocoo()
    known = np.where(np.abs(x) > 1e-12 * np.abs(x).max(initial=0.0), np.abs(x), 0.0)
    rows = entries.tocsr() @ known + np.abs(sides)
    used = (rows[entries.row] > 0.0) & (entries.data > 0.0)
    sizes = np.full(x.size, math.inf)
    np.minimum.at(sizes, entries.col[used], rows[entries.row[used]] / entries.data[used])
    sizes = np.maximum(known, np.where(np.isfinite(sizes), sizes, 0.0))
    return np.where(sizes > 0.0, np.maximum(sizes, 2.0**-10 * otherwise), otherwise)
