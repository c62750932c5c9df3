"""Bounds of a polyhedral f that are proved without an exact linear program.

HiGHS solves the program in doubles, a little tightened, and its answer is made exactly feasible.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from relaxboost._core.arrays import Vector
from relaxboost._core.highs import WarmProgram
from relaxboost.certificates.exact.feasible import (
    Constraints,
    feasible_point,
    variable_sizes,
)
from relaxboost.relaxations.linear import Bound, ExactForm, Row

Point = tuple[list[Fraction], list[Fraction]]
"""d and z."""

_TOLERANCE = 1e-10
"""The least that HiGHS takes."""
_COST = 10
"""log2 of the largest cost in the program of multipliers."""
_POINT = 7
"""log2 of an average entry of d in the program of a point."""
_LARGEST = 24
"""log2 of the largest side there, which doubles resolve to less than the tolerance."""
_GRID = 1 << 96
"""Thresholds are rounded down to multiples of one over this."""


def near_point(form: ExactForm, d: Vector, price: float, seconds: float) -> Point:
    """Return (d, z), exactly feasible for f and the simplex, near the given d.

    Parameters
    ----------
    form : ExactForm
    d : array of shape (m,)
        A point of the simplex where f is finite, up to rounding.
    price : float
        What a unit of movement of d may cost, in units of f: the Lipschitz constant of g(Aᵀd).
    seconds : float
        Time limit of HiGHS.

    Raises
    ------
    NoPoint, Contradiction
        As for `feasible_point`.
    """
    m = len(d)
    program = _Near(form, d, price, seconds)
    zero = Fraction(0)
    lower: list[Bound] = [zero if a is None else max(a, zero) for a in form.lower[:m]]
    constraints = Constraints(
        lower + form.lower[m:],
        form.upper,
        [*form.rows, dict.fromkeys(range(m), Fraction(1))],
        [*form.row_lower, Fraction(1)],
        [*form.row_upper, Fraction(1)],
    )
    point = feasible_point(constraints, program.sizes, program.guess)
    return point[:m], point[m:]


def near_auxiliaries(form: ExactForm, d: Sequence[Fraction], seconds: float) -> list[Fraction]:
    """Return z, exactly feasible for f at exactly this d, where the cost is nearly f(d).

    Raises
    ------
    NoPoint, Contradiction
        As for `feasible_point`.
    """
    m = len(d)
    fixed: list[Row] = [{j: a for j, a in row.items() if j < m} for row in form.rows]
    known = [sum((a * d[j] for j, a in row.items()), Fraction(0)) for row in fixed]
    low = [None if a is None else a - b for a, b in zip(form.row_lower, known, strict=True)]
    high = [None if a is None else a - b for a, b in zip(form.row_upper, known, strict=True)]
    rest = ExactForm(
        form.cost[m:],
        form.lower[m:],
        form.upper[m:],
        [{j - m: a for j, a in row.items() if j >= m} for row in form.rows],
        low,
        high,
    )
    program = _Near(rest, np.empty(0), 0.0, seconds)
    return feasible_point(Constraints(*rest[1:6]), program.sizes, program.guess)


def near_multipliers(
    form: ExactForm, u: Sequence[Fraction], seconds: float
) -> tuple[Fraction, list[Fraction]]:
    """Return γ and multipliers of the rows that prove nearly F(u).

    Raises
    ------
    NoPoint, Contradiction
        As for `feasible_point`.
    """
    m = len(u)
    program = _Dual(form, np.array([float(x) for x in u]), seconds)
    y = feasible_point(program.constraints(), program.sizes, program.guess)
    prices = [a + b for a, b in zip(form.cost, u, strict=False)]
    for row, multiplier in zip(form.rows, y, strict=True):
        if multiplier:
            for j, a in row.items():
                if j < m:
                    prices[j] -= multiplier * a
    return _threshold(prices, form), y


def _threshold(prices: list[Fraction], form: ExactForm) -> Fraction:
    """Return the γ at which the bound is largest: that of the example that fills d up to one.

    The bound charges (price_i − γ) d_i at the lower bound of d_i where that is positive, and at the
    upper bound otherwise, so that the examples of the least prices are at their upper bounds.
    """
    zero, one = Fraction(0), Fraction(1)
    m = len(prices)
    low = [zero if a is None else max(a, zero) for a in form.lower[:m]]
    high = [one if b is None else min(b, one) for b in form.upper[:m]]
    filled = sum(low, zero)
    threshold = zero
    for i in sorted(range(m), key=prices.__getitem__):
        threshold = prices[i]
        filled += high[i] - low[i]
        if filled >= 1:
            break
    return Fraction(math.floor(threshold * _GRID), _GRID)


class _Near:
    """The program whose solution is (d, z) near a d, in doubles.

    d = d0 + p − q with p and q at the same price: the solution moves d only if that is needed, or
    lowers f by more than the movement costs.
    """

    def __init__(self, form: ExactForm, d: Vector, price: float, seconds: float) -> None:
        m = d.size
        self._d, self._seconds = d, seconds
        lower, upper = _doubles(form.lower, -math.inf), _doubles(form.upper, math.inf)
        lower[:m] = np.maximum(lower[:m], 0.0)
        table = _table(form.rows, len(form.cost))
        low, high = _doubles(form.row_lower, -math.inf), _doubles(form.row_upper, math.inf)
        if m:
            ones = sparse.csr_array(np.where(np.arange(lower.size) < m, 1.0, 0.0)[None, :])
            table = sparse.csr_array(sparse.vstack([table, ones]))
            low, high = np.append(low, 1.0), np.append(high, 1.0)
        self._table, self._m = table, m
        self._box, self._sides = (lower, upper), (low, high)
        cost = _doubles(form.cost, math.inf)
        of_d = table[:, :m]
        columns = sparse.csr_array(sparse.hstack([of_d, -of_d, table[:, m:]]))
        self._moved = of_d @ d
        # HiGHS's tolerance is absolute, and shall be small beside the entries of d.
        sides = np.concatenate([low, high, lower, upper, [1.0]])
        largest = float(np.abs(sides[np.isfinite(sides)]).max())
        wish = _POINT + math.frexp(m)[1]
        self._scale = 2.0 ** min(wish, _LARGEST - math.frexp(largest)[1])
        self._program = WarmProgram(
            np.concatenate([cost[:m] + price, price - cost[:m], cost[m:]]),
            self._shifted(np.zeros(lower.size)),
            columns,
            (self._scale * (low - self._moved), self._scale * (high - self._moved)),
            tolerance=_TOLERANCE,
        )
        x = self._solve()
        self.sizes = np.ones(lower.size)
        if x is not None:
            known = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high, 0.0))
            otherwise = np.full(lower.size, 1.0 / max(m, 1))
            self.sizes = variable_sizes(table, x, known, otherwise)

    def _shifted(self, margin: Vector) -> tuple[Vector, Vector]:
        """Return bounds of (p, q, z), scaled, that leave d and z a margin."""
        lower, upper = _narrowed(*self._box, margin)
        m, d = self._m, self._d
        least, most = lower[:m] - d, upper[:m] - d
        low = np.concatenate([np.maximum(least, 0.0), np.maximum(-most, 0.0), lower[m:]])
        high = np.concatenate([np.maximum(most, 0.0), np.maximum(-least, 0.0), upper[m:]])
        return self._scale * low, self._scale * high

    def guess(self, part: float) -> Vector | None:
        """Return (d, z) that leaves every inequality this part of its size, None if none does."""
        table = abs(self._table)
        low, high = _narrowed(*self._sides, part * (table @ self.sizes))
        low, high = self._scale * (low - self._moved), self._scale * (high - self._moved)
        highs = self._program.highs
        for i, (a, b) in enumerate(zip(low, high, strict=True)):
            highs.changeRowBounds(i, a, b)
        for j, (a, b) in enumerate(zip(*self._shifted(part * self.sizes), strict=True)):
            highs.changeColBounds(j, a, b)
        return self._solve()

    def _solve(self) -> Vector | None:
        if self._program.run(self._seconds) != "Optimal":
            return None
        found = np.array(self._program.highs.getSolution().col_value) / self._scale
        m = self._m
        return np.concatenate([self._d + found[:m] - found[m : 2 * m], found[2 * m :]])


class _Dual:
    """The program of F(u) in doubles; its multipliers are the point."""

    def __init__(self, form: ExactForm, u: Vector, seconds: float) -> None:
        m = u.size
        self._form, self._m, self._seconds = form, m, seconds
        size = len(form.cost)
        lower, upper = _doubles(form.lower, -math.inf), _doubles(form.upper, math.inf)
        lower[:m] = np.maximum(lower[:m], 0.0)
        low, high = _doubles(form.row_lower, -math.inf), _doubles(form.row_upper, math.inf)
        self._table = _table(form.rows, size)
        self._cost = _doubles(form.cost, math.inf)
        self._cost[:m] += u
        # HiGHS's tolerance is absolute, and shall be small beside the largest cost.
        self._scale = 2.0 ** (_COST - np.frexp(np.abs(self._cost).max(initial=0.0))[1])
        self._cost *= self._scale
        # The sign that a multiplier, and the price of a z, must have; 0 where both are possible.
        self._signs = np.isfinite(low) * 1.0 - np.isfinite(high)
        self._price_signs = np.isfinite(lower) * 1.0 - np.isfinite(upper)
        self._price_signs[:m] = 0.0
        ones = sparse.csr_array(np.where(np.arange(size) < m, 1.0, 0.0)[None, :])
        self._program = WarmProgram(
            self._cost,
            (lower, upper),
            sparse.csr_array(sparse.vstack([self._table, ones])),
            (np.append(low, 1.0), np.append(high, 1.0)),
            tolerance=_TOLERANCE,
        )
        y = self._solve()
        self._sizes = np.ones(low.size)
        if y is not None:
            largest = abs(self._table).max(axis=1).toarray().ravel() if low.size else low
            otherwise = 2.0**_COST / np.where(largest > 0.0, largest, 1.0)
            of_z = sparse.csr_array(self._table[:, m:].T)
            self._sizes = variable_sizes(of_z, y * self._scale, self._cost[m:], otherwise)
        self.sizes = self._sizes / self._scale

    def constraints(self) -> Constraints:
        """Return what multipliers must meet so that every price is charged at a finite bound."""
        form, m = self._form, self._m
        zero = Fraction(0)
        lower: list[Bound] = [zero if b is None else None for b in form.row_upper]
        upper: list[Bound] = [zero if a is None else None for a in form.row_lower]
        columns: list[Row] = [{} for _ in form.cost]
        for r, row in enumerate(form.rows):
            for j, a in row.items():
                columns[j][r] = a
        one_sided = [j for j in range(m, len(form.cost)) if None in (form.lower[j], form.upper[j])]
        return Constraints(
            lower,
            upper,
            [columns[j] for j in one_sided],
            [form.cost[j] if form.lower[j] is None else None for j in one_sided],
            [form.cost[j] if form.upper[j] is None else None for j in one_sided],
        )

    def guess(self, part: float) -> Vector | None:
        """Return multipliers that leave every sign this part of its size; None if there are none.

        With the cost changed by −Rᵀt the multipliers y − t are those of the changed program.
        """
        more = part * self._sizes * self._signs
        least = part * (abs(self._table).T @ self._sizes) * self._price_signs
        cost = self._cost - self._table.T @ more - least
        for j, c in enumerate(cost.tolist()):
            self._program.highs.changeColCost(j, c)
        y = self._solve()
        return None if y is None else y + more / self._scale

    def _solve(self) -> Vector | None:
        if self._program.run(self._seconds) != "Optimal":
            return None
        return np.array(self._program.highs.getSolution().row_dual)[:-1] / self._scale


def _table(rows: Sequence[Row], size: int) -> Any:
    """Return rows in doubles."""
    ends = np.cumsum([0, *map(len, rows)]).astype(np.int32)
    places = np.array([j for row in rows for j in row], dtype=np.int32)
    values = _doubles([a for row in rows for a in row.values()], math.inf)
    return sparse.csr_array((values, places, ends), shape=(len(rows), size))


def _narrowed(lower: Vector, upper: Vector, margin: Vector) -> tuple[Vector, Vector]:
    """Return bounds moved inwards, by at most a quarter of the distance between them."""
    with np.errstate(invalid="ignore"):
        width = np.where(np.isfinite(lower) & np.isfinite(upper), upper - lower, math.inf)
    margin = np.minimum(margin, 0.25 * width)
    return lower + margin, upper - margin


def _doubles(numbers: Sequence[Bound], none: float) -> Vector:
    """Return the nearest doubles; what is beyond 1e20 is no bound to HiGHS."""
    most = Fraction(10**19)
    return np.array([none if x is None else float(max(-most, min(x, most))) for x in numbers])
