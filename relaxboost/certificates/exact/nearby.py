"""Proved bounds of a polyhedral relaxation f without an exact linear program.

HiGHS solves a slightly tightened linear program in floats, and `feasible_point` makes the solution
exactly feasible. The functions raise the errors of `feasible_point`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy import sparse

from relaxboost._core.arrays import Vector
from relaxboost._core.highs import WarmProgram
from relaxboost.certificates.exact.feasible import feasible_point, variable_sizes
from relaxboost.certificates.exact.program import on_simplex
from relaxboost.relaxations.linear import Bound, ExactForm, LinearForm, Row

Point = tuple[list[Fraction], list[Fraction]]
"""A point (d, z) of the linear program of a relaxation: a distribution and auxiliary variables."""
HIGHS_TOLERANCE = 1e-10
"""The smallest tolerance that HiGHS accepts. It is absolute. Programs are therefore scaled, so that
their numbers are large compared with it."""


def near_point(form: ExactForm, d: Vector, price: float, seconds: float) -> Point:
    """Return a rational distribution near `d` at which f is finite.

    The result also contains the auxiliary variables of f there. It nearly minimises f plus `price`
    times the l1 distance from `d`.
    """
    whole = on_simplex(form, d.size)
    program = _Near(whole, d, price, seconds)
    point = feasible_point(whole, program.sizes, program.guess)
    return point[: d.size], point[d.size :]


def near_auxiliaries(form: ExactForm, d: Sequence[Fraction], seconds: float) -> list[Fraction]:
    """Return exactly feasible auxiliary variables z of nearly least cost for a rational d."""
    m = len(d)
    # The exact d is known, so its terms become constants on the right sides.
    of_d = [sum((a * d[j] for j, a in row.items() if j < m), Fraction(0)) for row in form.rows]
    rest = ExactForm(
        form.cost[m:],
        form.lower[m:],
        form.upper[m:],
        [{j - m: a for j, a in row.items() if j >= m} for row in form.rows],
        _less(form.row_lower, of_d),
        _less(form.row_upper, of_d),
    )
    program = _Near(rest, np.empty(0), 0.0, seconds)
    return feasible_point(rest, program.sizes, program.guess)


def _less(bounds: Sequence[Bound], amounts: Sequence[Fraction]) -> list[Bound]:
    return [None if b is None else b - a for b, a in zip(bounds, amounts, strict=True)]


def near_multipliers(
    form: ExactForm, u: Sequence[Fraction], seconds: float
) -> tuple[Fraction, list[Fraction]]:
    """Return γ and row multipliers that prove a lower bound of nearly F(u) on the relaxed
    margin."""
    m = len(u)
    # Multipliers that are feasible but not optimal still prove a bound. Only its quality depends on
    # doubles.
    program = _Dual(form, np.array([float(x) for x in u]), seconds)
    y = feasible_point(_multiplier_form(form, m), program.sizes, program.guess)
    prices = [a + b for a, b in zip(form.cost, u, strict=False)]
    for row, multiplier in zip(form.rows, y, strict=True):
        if multiplier:
            for j, a in row.items():
                if j < m:
                    prices[j] -= multiplier * a
    return _threshold(prices, form), y


def _threshold(prices: list[Fraction], form: ExactForm) -> Fraction:
    # The entries of d are raised to their upper bounds in the order of the prices, as in a
    # fractional knapsack. Then γ is the price of the example at which the sum of d reaches 1. The
    # bound charges (price_i − γ) d_i at the lower bound of d_i if price_i > γ, and otherwise at its
    # upper bound.
    one = Fraction(1)
    m = len(prices)
    low = [max(a or Fraction(0), Fraction(0)) for a in form.lower[:m]]
    high = [one if b is None else min(b, one) for b in form.upper[:m]]
    filled = sum(low, Fraction(0))
    threshold = Fraction(0)
    # The least prices are filled first, as in a fractional knapsack.
    for i in sorted(range(m), key=prices.__getitem__):
        threshold = prices[i]
        filled += high[i] - low[i]
        if filled >= 1:
            break
    # The threshold is rounded down, so that its fraction is short.
    grid = 1 << 96
    return Fraction(math.floor(threshold * grid), grid)


def _multiplier_form(form: ExactForm, m: int) -> ExactForm:
    # Each variable is charged at the bound that the sign of its reduced cost selects. Under these
    # conditions on the multipliers, all variables have finite costs.
    columns: list[Row] = [{} for _ in form.cost]
    for r, row in enumerate(form.rows):
        for j, a in row.items():
            columns[j][r] = a
    # A z with two finite bounds may have a price of any sign. d always has finite bounds, 0 and 1.
    one_sided = [j for j in range(m, len(form.cost)) if None in (form.lower[j], form.upper[j])]
    return ExactForm(
        [],
        _zero_if_missing(form.row_upper),
        _zero_if_missing(form.row_lower),
        [columns[j] for j in one_sided],
        [form.cost[j] if form.lower[j] is None else None for j in one_sided],
        [form.cost[j] if form.upper[j] is None else None for j in one_sided],
    )


def _zero_if_missing(bounds: Sequence[Bound]) -> list[Bound]:
    # A row that has no bound on a side has no multiplier for this side.
    return [Fraction(0) if b is None else None for b in bounds]


class _Near:
    """The linear program in floats for a point (d, z) near a given distribution d0.

    The program writes d = d0 + p − q with p, q >= 0, which cost `price` per unit. The solution
    therefore moves d only for feasibility, or if f decreases by more than the move costs.
    """

    def __init__(self, form: ExactForm, d: Vector, price: float, seconds: float) -> None:
        m = d.size
        self._d = d
        self._seconds = seconds
        self._form = doubled = _doubles(form)
        of_d = doubled.rows[:, :m]
        self._moved = of_d @ d
        self._scale = self._power_of_two()
        cost = doubled.cost
        self._program = WarmProgram(
            # The distance |d − d0| is linear in p and q, and d0 stays as it is where nothing moves.
            np.concatenate([cost[:m] + price, price - cost[:m], cost[m:]]),
            self._box(np.zeros(cost.size)),
            sparse.csr_array(sparse.hstack([of_d, -of_d, doubled.rows[:, m:]])),
            self._sides(np.zeros(self._moved.size)),
            tolerance=HIGHS_TOLERANCE,
        )
        self.sizes = np.ones(cost.size)
        x = self._solve()
        if x is not None:
            low = doubled.row_lower
            known = np.where(np.isfinite(low), low, doubled.row_upper)
            known = np.where(np.isfinite(known), known, 0.0)
            # This is the average entry of a distribution.
            otherwise = np.full(cost.size, 1.0 / max(m, 1))
            self.sizes = variable_sizes(doubled.rows, x, known, otherwise)

    def _power_of_two(self) -> float:
        # After scaling, an average entry of d is about 2^7, and the largest right-hand side or
        # bound is at most 2^24. The tolerance of HiGHS is then small compared with the entries of
        # d. Larger numbers would lose too many digits in floats.
        form = self._form
        sides = np.concatenate([form.row_lower, form.row_upper, form.lower, form.upper, [1.0]])
        largest = float(np.abs(sides[np.isfinite(sides)]).max())
        wish = 7 + math.frexp(self._d.size)[1]
        return float(2.0 ** min(wish, 24 - math.frexp(largest)[1]))

    def _box(self, slack: Vector) -> tuple[Vector, Vector]:
        """Return the bounds of the variables (p, q, z), moved inwards by `slack` and scaled."""
        lower, upper = _narrowed(self._form.lower, self._form.upper, slack)
        m = self._d.size
        # d = d0 + p − q, so the bounds of d become bounds of p and of q.
        least = lower[:m] - self._d
        most = upper[:m] - self._d
        low = np.concatenate([np.maximum(least, 0.0), np.maximum(-most, 0.0), lower[m:]])
        high = np.concatenate([np.maximum(most, 0.0), np.maximum(-least, 0.0), upper[m:]])
        return self._scale * low, self._scale * high

    def _sides(self, slack: Vector) -> tuple[Vector, Vector]:
        """Return the bounds of the rows, moved inwards by `slack` and scaled."""
        low, high = _narrowed(self._form.row_lower, self._form.row_upper, slack)
        return self._scale * (low - self._moved), self._scale * (high - self._moved)

    def guess(self, share: float) -> Vector | None:
        """Return a pair (d, z) in floats with some slack in all inequalities, or None.

        The slack is `share` times the magnitude of the row or variable.
        """
        highs = self._program.highs
        sides = self._sides(share * (abs(self._form.rows) @ self.sizes))
        # Only bounds change between guesses, so that HiGHS continues from its last basis.
        for i, (a, b) in enumerate(zip(*sides, strict=True)):
            highs.changeRowBounds(i, a, b)
        for j, (a, b) in enumerate(zip(*self._box(share * self.sizes), strict=True)):
            highs.changeColBounds(j, a, b)
        return self._solve()

    def _solve(self) -> Vector | None:
        if self._program.run(self._seconds) != "Optimal":
            return None
        found = np.array(self._program.highs.getSolution().col_value) / self._scale
        m = self._d.size
        return np.concatenate([self._d + found[:m] - found[m : 2 * m], found[2 * m :]])


class _Dual:
    """The linear program in floats for multipliers that prove the relaxed margin F(u)."""

    def __init__(self, form: ExactForm, u: Vector, seconds: float) -> None:
        m = u.size
        self._seconds = seconds
        doubled = _doubles(on_simplex(form, m))
        self._table = doubled.rows[1:]
        self._cost = doubled.cost.copy()
        self._cost[:m] += u
        # With the largest cost 2^10 the tolerance of HiGHS is small compared with the costs.
        self._scale = 2.0 ** (10 - np.frexp(np.abs(self._cost).max(initial=0.0))[1])
        self._cost *= self._scale
        self._signs = _signs(doubled.row_lower[1:], doubled.row_upper[1:])
        """The required sign of each row's multiplier, or 0 if both signs are allowed."""
        self._price_signs = _signs(doubled.lower, doubled.upper)
        """The required sign of each variable's reduced cost, or 0 if both signs are allowed."""
        self._price_signs[:m] = 0.0
        self._program = WarmProgram(
            self._cost,
            (doubled.lower, doubled.upper),
            doubled.rows,
            (doubled.row_lower, doubled.row_upper),
            tolerance=HIGHS_TOLERANCE,
        )
        self._sizes = np.ones(self._signs.size)
        y = self._solve()
        if y is not None and y.size:
            largest = abs(self._table).max(axis=1).toarray().ravel()
            otherwise = 2.0**10 / np.where(largest > 0.0, largest, 1.0)
            of_z = sparse.csr_array(self._table[:, m:].T)
            self._sizes = variable_sizes(of_z, y * self._scale, self._cost[m:], otherwise)
        self.sizes = self._sizes / self._scale

    def guess(self, share: float) -> Vector | None:
        """Return multipliers in floats that satisfy all sign conditions with some slack, or None.

        The slack is `share` times the magnitude of the multiplier or reduced cost.
        """
        # Let t be margins of `share` times the sizes, and R the matrix of the rows. If the cost is
        # changed by −Rᵀt, then y − t are the multipliers of the changed program.
        # The multipliers are moved away from 0 on the side that their sign requires.
        more = share * self._sizes * self._signs
        least = share * (abs(self._table).T @ self._sizes) * self._price_signs
        cost = self._cost - self._table.T @ more - least
        for j, c in enumerate(cost.tolist()):
            self._program.highs.changeColCost(j, c)
        y = self._solve()
        return None if y is None else y + more / self._scale

    def _solve(self) -> Vector | None:
        if self._program.run(self._seconds) != "Optimal":
            return None
        return np.array(self._program.highs.getSolution().row_dual)[1:] / self._scale


def _signs(lower: Vector, upper: Vector) -> Vector:
    return np.isfinite(lower) * 1.0 - np.isfinite(upper)


def _doubles(form: ExactForm) -> LinearForm:
    """Round the numbers of a linear program to floats, and drop its constant term."""
    found = form._replace(constant=Fraction(0)).doubles()
    rows = sparse.csr_array((0, len(form.cost))) if found.rows is None else found.rows
    sides = (found.lower, found.upper, found.row_lower, found.row_upper)
    # HiGHS takes 1e20 for infinity, and such sides would spoil the scale.
    lower, upper, row_lower, row_upper = (
        np.where(np.isfinite(side), np.clip(side, -1e19, 1e19), side) for side in sides
    )
    return LinearForm(found.cost, lower, upper, rows, row_lower, row_upper)


def _narrowed(lower: Vector, upper: Vector, slack: Vector) -> tuple[Vector, Vector]:
    """Move the lower and upper bounds inwards by `slack`, but at most by a quarter of their
    distance."""
    with np.errstate(invalid="ignore"):
        width = np.where(np.isfinite(lower) & np.isfinite(upper), upper - lower, math.inf)
    # Narrow intervals must not become empty.
    slack = np.minimum(slack, 0.25 * width)
    return lower + slack, upper - slack
