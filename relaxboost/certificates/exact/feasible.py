"""Exactly feasible points of linear programs, near points that are feasible in floats."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence
from fractions import Fraction
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from relaxboost._core.arrays import Vector
from relaxboost.certificates.exact.equations import Equations
from relaxboost.relaxations.linear import Bound, ExactForm, Row

Guess = Callable[[float], "Vector | None"]
"""A function that proposes a nearly optimal point of a linear program in floats, or None.

Its argument is a number s in (0, 1). Each inequality holds with a slack of s times the magnitude of
its row or variable, unless its two bounds are too close to each other.
"""


class NoPoint(ArithmeticError):
    """Raised if no exactly feasible point was found near a point in floats."""


def feasible_point(form: ExactForm, sizes: Vector, guess: Guess) -> list[Fraction]:
    """Return an exactly feasible, nearly optimal point of a linear program.

    The function `guess` proposes a point in floats, which is corrected to satisfy the equations
    exactly. If the corrected point violates an inequality, it is moved towards a point with more
    slack ("project and shift"; Steffy and Wolter 2013, Valid linear programming bounds for exact
    mixed-integer programming).

    Raises
    ------
    NoPoint
        If no point is found, for example because no point satisfies all inequalities strictly.
    Contradiction
        If no point satisfies the equations exactly.
    """
    # Constraints are tightened by a share of their sizes, which exceeds the errors of doubles.
    least = 2.0**-40
    # This guess is nearly optimal. Later guesses are farther inside and cost more.
    near = guess(least)
    if near is None:
        raise NoPoint
    projection = _Projection(form, sizes, near)
    found = projection.feasible(near)
    if found is not None:
        return found
    # Narrow sets have points inside only if constraints are tightened by little.
    for share in (2.0**-10, 2.0**-16, 2.0**-22, 2.0**-28):
        inside = guess(share)
        if inside is None or projection.feasible(inside) is None:
            continue
        step = 4.0 * least / share
        for _ in range(12):
            # The first step tightens constraints by four times the least share, and each step is
            # four times the last.
            found = projection.feasible(near + min(step, 1.0) * (inside - near))
            if found is not None:
                return found
            step *= 4.0
    raise NoPoint


class _Projection:
    # The equations are factorised once for all points.
    def __init__(self, form: ExactForm, sizes: Vector, near: Vector) -> None:
        bounds = list(enumerate(zip(form.lower, form.upper, strict=True)))
        # A variable with equal bounds is a constant, and cannot be corrected.
        self._fixed = {j: low for j, (low, high) in bounds if low is not None and low == high}
        self._box = [
            (j, low, high)
            for j, (low, high) in bounds
            if j not in self._fixed and (low, high) != (None, None)
        ]
        sides = zip(form.rows, form.row_lower, form.row_upper, strict=True)
        self._rows = [_IntegerRow.of(*given) for given in sides]
        # Only equations are solved. Inequalities have some room and are tested afterwards.
        self._equal = [(r, r.low) for r in self._rows if r.low is not None and r.low == r.high]
        # Entries are rounded to 60 bits below the sizes, a few more than a double has.
        self._grid = 60 - np.frexp(sizes)[1]
        corrected = [row.without(self._fixed) for row, _ in self._equal]
        self._equations = Equations(corrected, self._free(sizes, near))

    def _free(self, sizes: Vector, near: Vector) -> list[bool]:
        # A variable close to a bound has no room for a correction.
        room = 2.0**-20 * sizes
        free = [True] * len(near)
        for j, low, high in self._box:
            is_above = low is None or near[j] - float(low) > room[j]
            free[j] = bool(is_above and (high is None or float(high) - near[j] > room[j]))
        return free

    def feasible(self, x: Vector) -> list[Fraction] | None:
        """Correct x to satisfy all equations, or return None if the result violates an
        inequality."""
        numbers, below = self._rounded(x)
        missing = [side * below - row.at(numbers) for row, side in self._equal]
        correction = self._equations.correction(missing)
        # All entries get one common denominator, so that rows are evaluated in integers.
        more = lcm(*(Fraction(a).denominator for a in correction.values()))
        numbers = [a * more for a in numbers]
        below *= more
        for j, a in correction.items():
            numbers[j] += int(a * more)
        is_feasible = self._is_inside(numbers, below) and all(
            row.holds(numbers, below) for row in self._rows
        )
        return [Fraction(a, below) for a in numbers] if is_feasible else None

    def _is_inside(self, numbers: list[int], below: int) -> bool:
        for j, low, high in self._box:
            if low is not None and numbers[j] * low.denominator < low.numerator * below:
                return False
            if high is not None and numbers[j] * high.denominator > high.numerator * below:
                return False
        return True

    def _rounded(self, x: Vector) -> tuple[list[int], int]:
        """Round the point x to integers with a common denominator.

        The precision of each entry suits the magnitude of its variable. Variables with equal bounds
        get this exact value.
        """
        # A common grid keeps the integers short. The exact value of each double would not.
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
    """A row of a linear program with its bounds, scaled to integers."""

    entries: dict[int, int]
    low: int | None
    high: int | None

    @classmethod
    def of(cls, row: Row, low: Bound, high: Bound) -> _IntegerRow:
        """Multiply a row and its bounds by their common denominator."""
        factor = lcm(*(a.denominator for a in (*row.values(), low, high) if a is not None))
        sides = [None if a is None else int(a * factor) for a in (low, high)]
        return cls({j: int(a * factor) for j, a in row.items() if a}, *sides)

    def without(self, fixed: Container[int]) -> dict[int, int]:
        """Return the coefficients of the variables that are not fixed."""
        return {j: a for j, a in self.entries.items() if j not in fixed}

    def at(self, numbers: Sequence[int]) -> int:
        """Return the inner product with a vector of integers."""
        return sum(a * numbers[j] for j, a in self.entries.items())

    def holds(self, numbers: Sequence[int], below: int) -> bool:
        """Return whether the point `numbers` / `below` satisfies both bounds of the row."""
        value = self.at(numbers)
        above = self.low is None or value >= self.low * below
        return above and (self.high is None or value <= self.high * below)


def variable_sizes(table: Any, x: Vector, sides: Vector, otherwise: Vector) -> Vector:
    """Estimate the magnitude of each variable from the rows that contain it."""
    # A row of magnitude a = |row| |x| + |side| gives its variable j the magnitude a / |row_j|. The
    # least magnitude from all rows is used. If it is less than a thousandth of `otherwise`, it may
    # be noise, and is raised to that value. A variable in no row of positive magnitude has the
    # magnitude `otherwise`.
    entries = sparse.csr_array(abs(table)).tocoo()
    # Entries below rounding are noise and say nothing about the size of a variable.
    known = np.where(np.abs(x) > 1e-12 * np.abs(x).max(initial=0.0), np.abs(x), 0.0)
    rows = entries.tocsr() @ known + np.abs(sides)
    used = (rows[entries.row] > 0.0) & (entries.data > 0.0)
    sizes = np.full(x.size, math.inf)
    np.minimum.at(sizes, entries.col[used], rows[entries.row[used]] / entries.data[used])
    sizes = np.maximum(known, np.where(np.isfinite(sizes), sizes, 0.0))
    return np.where(sizes > 0.0, np.maximum(sizes, 2.0**-10 * otherwise), otherwise)
