"""The compiled pivots of the parametric self-dual simplex method."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dgemm

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.compiled import njit

BLOCK = 32
"""Rank-one updates that are applied together; more of them make each row and column slower."""


class Tolerances(NamedTuple):
    """The tolerances of the method, for a matrix with entries in [-1, 1]."""

    feasible: float = 1e-12
    """The kernels treat a smaller bound violation as rounding."""
    optimal: float = 1e-11
    """A basis is accepted as optimal if no bound is violated by more."""
    slope: float = 1e-15
    """The kernels treat a smaller slope in t as zero."""
    pivot: float = 1e-9
    """A smaller pivot, or weight of a hypothesis, counts as zero."""
    drift: float = 1e-6
    """The relative error at which the row and the column of a pivot contradict each other."""
    residual: float = 1e-13
    """A larger residual of the equations is removed by iterative refinement."""
    independent: float = 1e-6
    """The least diagonal entry of R in the QR factorisation that selects the first basis."""
    shift_x: float = 1e-3
    """The amount by which bounds are perturbed, as a fraction of the mean weight 1/m."""
    shift_z: float = 1e-5
    """The perturbation of reduced costs, which are margins and weights."""


TOLERANCES = Tolerances()


class PivotOutcome(IntEnum):
    """The reason why `follow` returns."""

    DONE = 0
    """t has reached 0."""
    FULL = 1
    """No further pivot can be stored before the pending ones are applied."""
    NO_COLUMN = 2
    """No nonbasic variable of the tableau can replace the basic one that leaves."""
    NO_ROW = 3
    """No basic variable of the tableau limits the nonbasic one that enters."""
    SINGULAR = 4
    """The basis is singular, or rounding errors have grown too large."""


class Tableau(NamedTuple):
    """The dense tableau T of x_B = T x_N: ``table + left[:k].T @ right[:k]`` for k = pending[0].

    Each pivot appends a rank-one update. `apply` adds them as one product, which reads T once.
    """

    table: Array
    left: Array
    right: Array
    pending: Whole

    @classmethod
    def of(cls, table: Array) -> Tableau:
        """Return a tableau without pending updates, which modifies the array."""
        rows, columns = table.shape
        left, right = np.empty((BLOCK, rows)), np.empty((BLOCK, columns))
        return cls(np.ascontiguousarray(table), left, right, np.zeros(1, dtype=np.int64))

    def apply(self) -> Array:
        """Apply the pending updates, and return the entries."""
        k = int(self.pending[0])
        if k:
            # BLAS sees the transpose of an array in the order of rows, and writes to it in place.
            left, right = self.left[:k].T, self.right[:k].T
            dgemm(1.0, right, left, 1.0, self.table.T, trans_b=1, overwrite_c=1)
            self.pending[0] = 0
        return self.table


class SimplexState(NamedTuple):
    """The variables of the program by number, and those that the tableau contains.

    Vectors over all variables have shape (2, variables): a value and a slope in t.
    """

    basic: Whole
    """The variable of each row of the tableau."""
    nonbasic: Whole
    """The variable of each column of the tableau."""
    side: Vector
    """1 for a nonbasic variable at its lower bound, -1 at its upper bound, 0 if it is fixed."""
    x: Array
    z: Array
    """The reduced costs; 0 for basic variables."""
    lower: Array
    upper: Array


@njit()
def row_of(tableau: Tableau, r: int) -> Array:
    """Return row r of the tableau, with the pending updates."""
    row = tableau.table[r].copy()
    for k in range(tableau.pending[0]):
        scale = tableau.left[k, r]
        for q in range(row.size):
            row[q] += scale * tableau.right[k, q]
    return row


@njit()
def column_of(tableau: Tableau, q: int) -> Array:
    """Return column q of the tableau, with the pending updates."""
    column = tableau.table[:, q].copy()
    for k in range(tableau.pending[0]):
        scale = tableau.right[k, q]
        for r in range(column.size):
            column[r] += scale * tableau.left[k, r]
    return column


@njit()
def append_update(tableau: Tableau, r: int, q: int, row: Array, column: Array) -> None:
    """Append the pivot on (r, q) to the pending updates.

    A pivot changes T by the rank-one matrix (column + e_r)(e_q − row) / row[q].
    """
    k = tableau.pending[0]
    tableau.left[k] = column
    tableau.left[k, r] += 1.0
    tableau.right[k] = -row / row[q]
    tableau.right[k, q] += 1.0 / row[q]
    tableau.pending[0] += 1


@njit()
def follow(tableau: Tableau, state: SimplexState, t: float) -> tuple[PivotOutcome, float]:
    """Pivot at each breakpoint below t, until t is 0 or the pending updates fill their block.

    Return the reason for the return, and the t that was reached. The arrays are modified.
    """
    while tableau.pending[0] < len(tableau.left):
        primal_t, r, to_upper = _primal_breakpoint(state)
        dual_t, q = _dual_breakpoint(state)
        if max(primal_t, dual_t) <= 0.0:
            return PivotOutcome.DONE, 0.0
        t = min(t, max(primal_t, dual_t))
        if primal_t >= dual_t:
            # A dual simplex step: basic variable r leaves to a bound, and q replaces it.
            row = row_of(tableau, r)
            q = _dual_ratio_test(row, to_upper, state, t)
            if q < 0:
                return PivotOutcome.NO_COLUMN, t
            column = column_of(tableau, q)
        else:
            # A primal simplex step: nonbasic variable q moves until some r reaches a bound.
            column = column_of(tableau, q)
            r, to_upper = _primal_ratio_test(column, q, state, t)
            if r < 0:
                return PivotOutcome.NO_ROW, t
            if r == column.size:
                # The variable q reaches its own other bound first, and the basis stays.
                _flip_bound(column, q, state)
                continue
            row = row_of(tableau, r)
        # The pivot was computed twice, by row and by column; a difference shows rounding errors.
        error = abs(row[q] - column[r]) / (1.0 + abs(row[q]))
        if abs(row[q]) < TOLERANCES.pivot or error > TOLERANCES.drift:
            return PivotOutcome.SINGULAR, t
        _exchange(row, column, r, q, to_upper, state)
        append_update(tableau, r, q, row, column)
    return PivotOutcome.FULL, t


@njit()
def _breakpoint(value: float, slope: float, best: float) -> float:
    """Return the t at which value + t slope falls to 0, if it is negative at 0 and t > best."""
    if value < -TOLERANCES.feasible and slope > TOLERANCES.slope and -value > best * slope:
        return -value / slope
    return best


@njit()
def _primal_breakpoint(state: SimplexState) -> tuple[float, int, bool]:
    """Return the largest t at which a basic variable reaches a bound, its row, and the bound."""
    best, row, to_upper = 0.0, -1, False
    for r in range(state.basic.size):
        j = state.basic[r]
        value, slope = state.x[0, j], state.x[1, j]
        t = _breakpoint(value - state.lower[0, j], slope - state.lower[1, j], best)
        if t > best:
            best, row, to_upper = t, r, False
        t = _breakpoint(state.upper[0, j] - value, state.upper[1, j] - slope, best)
        if t > best:
            best, row, to_upper = t, r, True
    return best, row, to_upper


@njit()
def _dual_breakpoint(state: SimplexState) -> tuple[float, int]:
    """Return the largest t at which a reduced cost changes its sign, and its column."""
    best, column = 0.0, -1
    for q in range(state.nonbasic.size):
        j = state.nonbasic[q]
        t = _breakpoint(state.side[j] * state.z[0, j], state.side[j] * state.z[1, j], best)
        if t > best:
            best, column = t, q
    return best, column


@njit()
def _harris(rates: Vector, rooms: Vector) -> int:
    """Return the index whose room is used up first at these rates, or -1 (Harris 1973).

    Rooms are relaxed by the feasibility tolerance, and of the indices that are then among the
    first, the one with the largest rate is the safest pivot.
    """
    step, best = np.inf, -1
    for i in range(rates.size):
        if rates[i] > TOLERANCES.pivot and rooms[i] < np.inf:
            step = min(step, (max(rooms[i], 0.0) + TOLERANCES.feasible) / rates[i])
    for i in range(rates.size):
        blocks = rates[i] > TOLERANCES.pivot and max(rooms[i], 0.0) <= step * rates[i] < np.inf
        if blocks and (best < 0 or rates[i] > rates[best]):
            best = i
    return best


@njit()
def _dual_ratio_test(row: Vector, to_upper: bool, state: SimplexState, t: float) -> int:
    """Return the column that enters so that all reduced costs stay feasible, or -1."""
    rates, rooms = np.empty(row.size), np.empty(row.size)
    direction = -1.0 if to_upper else 1.0
    for q in range(row.size):
        j = state.nonbasic[q]
        rates[q] = direction * row[q] * state.side[j]
        rooms[q] = state.side[j] * (state.z[0, j] + t * state.z[1, j])
    return _harris(rates, rooms)


@njit()
def _primal_ratio_test(column: Vector, q: int, state: SimplexState, t: float) -> tuple[int, bool]:
    """Return the row that reaches a bound first as variable q moves, and whether it is the upper.

    The row is -1 if no bound is reached, and one beyond the last if q reaches its own other bound.
    """
    size, entering = column.size, state.nonbasic[q]
    rates, rooms = np.empty(2 * size + 1), np.empty(2 * size + 1)
    x, lower, upper = state.x, state.lower, state.upper
    for r in range(size):
        j = state.basic[r]
        rates[r] = -state.side[entering] * column[r]
        rates[size + r] = -rates[r]
        rooms[r] = x[0, j] - lower[0, j] + t * (x[1, j] - lower[1, j])
        rooms[size + r] = upper[0, j] - x[0, j] + t * (upper[1, j] - x[1, j])
    rates[-1] = 1.0
    width = upper[:, entering] - lower[:, entering]
    rooms[-1] = width[0] + t * width[1]
    first = _harris(rates, rooms)
    if first < 0 or first == 2 * size:
        return min(first, size), False
    return first % size, first >= size


@njit()
def _flip_bound(column: Vector, q: int, state: SimplexState) -> None:
    """Move nonbasic variable q to its other bound."""
    j = state.nonbasic[q]
    for k in range(2):
        bound = state.upper[k, j] if state.side[j] > 0.0 else state.lower[k, j]
        for r in range(column.size):
            state.x[k, state.basic[r]] += (bound - state.x[k, j]) * column[r]
        state.x[k, j] = bound
    state.side[j] *= -1.0


@njit()
def _exchange(
    row: Vector, column: Vector, r: int, q: int, to_upper: bool, state: SimplexState
) -> None:
    """Let the variable of column q enter the basis, and that of row r leave to a bound."""
    leaving, entering = state.basic[r], state.nonbasic[q]
    for k in range(2):
        bound = state.upper[k, leaving] if to_upper else state.lower[k, leaving]
        step = (bound - state.x[k, leaving]) / row[q]
        for i in range(column.size):
            state.x[k, state.basic[i]] += step * column[i]
        state.x[k, leaving] = bound
        state.x[k, entering] += step
        multiplier = state.z[k, entering] / row[q]
        for i in range(row.size):
            state.z[k, state.nonbasic[i]] -= multiplier * row[i]
        state.z[k, entering] = 0.0
        state.z[k, leaving] = multiplier
    state.basic[r] = entering
    state.nonbasic[q] = leaving
    state.side[leaving] = -1.0 if to_upper else 1.0
