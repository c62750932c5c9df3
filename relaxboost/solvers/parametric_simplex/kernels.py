"""The compiled pivots of the parametric self-dual simplex method."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dgemm

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.compiled import njit

BLOCK = 32
"""The number of rank-one updates that are applied together. More of them would make each row and
each column slower to compute; fewer would read the tableau more often."""


class Tolerances(NamedTuple):
    """The tolerances of the simplex method, for a matrix with entries in [-1, 1]."""

    feasible: float = 1e-12
    """The kernels treat a smaller violation of a bound as rounding. A basis is accepted as optimal
    if no violation is more than ten times as large."""
    pivot: float = 1e-9
    """A pivot element that is smaller counts as zero, and so does a smaller weight."""
    relative: float = 1e-6
    """A number that is smaller, compared with others, is attributed to their rounding errors."""
    residual: float = 1e-13
    """A larger residual of the equations is removed by iterative refinement."""
    shift_x: float = 1e-3
    """The amount by which bounds are perturbed, as a fraction of the mean weight 1/m."""
    shift_z: float = 1e-5
    """The amount by which reduced costs, which are margins and weights, are perturbed."""


TOLERANCES = Tolerances()


class PivotOutcome(IntEnum):
    """The reason why `follow` returns."""

    DONE = 0
    """The parameter t has reached 0."""
    FULL = 1
    """The block of pending updates is full, and has to be applied before the next pivot."""
    NO_COLUMN = 2
    """No nonbasic variable of the tableau can replace the basic variable that leaves."""
    NO_ROW = 3
    """No basic variable of the tableau limits the nonbasic variable that enters."""
    SINGULAR = 4
    """The basis is singular, or rounding errors have grown too large."""


class Tableau(NamedTuple):
    """The dense tableau T, which expresses the basic variables as x_B = T x_N.

    Each pivot appends a rank-one update to `left` and `right`. With k = pending[0] updates, T is
    ``table + left[:k].T @ right[:k]``. `apply` adds the updates as one product, which reads and
    writes the table once.
    """

    table: Array
    left: Array
    right: Array
    pending: Whole

    @classmethod
    def of(cls, table: Array) -> Tableau:
        """Return a tableau without pending updates. The tableau modifies the array."""
        rows, columns = table.shape
        return cls(
            table=np.ascontiguousarray(table),
            left=np.empty((BLOCK, rows)),
            right=np.empty((BLOCK, columns)),
            pending=np.zeros(1, dtype=np.int64),
        )

    def apply(self) -> Array:
        """Apply the pending updates, and return the entries of the tableau."""
        k = int(self.pending[0])
        if k:
            # BLAS stores matrices by columns. It sees the transpose, and writes to it in place.
            dgemm(
                1.0,
                self.right[:k].T,
                self.left[:k].T,
                1.0,
                self.table.T,
                trans_b=1,
                overwrite_c=1,
            )
            self.pending[0] = 0
        return self.table


class SimplexState(NamedTuple):
    """The variables of the program by number, and the numbers of those in the tableau.

    Arrays of shape (2, variables) hold the value at t = 0 and the slope in t of each variable.
    """

    basic: Whole
    """The variable of each row of the tableau."""
    nonbasic: Whole
    """The variable of each column of the tableau."""
    side: Vector
    """1 for a nonbasic variable at its lower bound, -1 at its upper bound, 0 if it is fixed."""
    x: Array
    """The values of the variables."""
    z: Array
    """The reduced costs, which are 0 for basic variables."""
    lower: Array
    upper: Array


# Kernels copy arrays in loops. An assignment to a slice takes two seconds more to compile, since
# numba compiles the text of the error for unequal shapes with it.


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
    """Append the pivot on row r and column q to the pending updates.

    A pivot changes the tableau by the rank-one matrix (column + e_r)(e_q − row) / row[q], where
    e_r and e_q are unit vectors.
    """
    k = tableau.pending[0]
    for i in range(column.size):
        tableau.left[k, i] = column[i]
    tableau.left[k, r] += 1.0
    for i in range(row.size):
        tableau.right[k, i] = -row[i] / row[q]
    tableau.right[k, q] += 1.0 / row[q]
    tableau.pending[0] += 1


@njit()
def follow(tableau: Tableau, state: SimplexState, t: float) -> tuple[PivotOutcome, float]:
    """Pivot at each breakpoint below t, until t is 0 or the block of pending updates is full.

    Return the reason for the return, and the t that was reached. The arrays are modified.
    """
    while tableau.pending[0] < len(tableau.left):
        primal_t, r, to_upper = _primal_breakpoint(state)
        dual_t, q = _dual_breakpoint(state)
        # Without a breakpoint the basis is optimal for all t down to 0.
        if max(primal_t, dual_t) <= 0.0:
            return PivotOutcome.DONE, 0.0
        # Rounding may place a breakpoint above the present t, which never rises.
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
        if abs(row[q]) < TOLERANCES.pivot or error > TOLERANCES.relative:
            return PivotOutcome.SINGULAR, t
        _exchange(row, column, r, q, to_upper, state)
        append_update(tableau, r, q, row, column)
    return PivotOutcome.FULL, t


@njit()
def _breakpoint(value: float, slope: float, best: float) -> float:
    """Return the t at which value + t slope falls to 0, or `best` if that t is not larger.

    A number that is still feasible at t = 0 has no breakpoint.
    """
    if value < -TOLERANCES.feasible and slope > 0.0 and -value > best * slope:
        return -value / slope
    return best


@njit()
def _primal_breakpoint(state: SimplexState) -> tuple[float, int, bool]:
    """Return the largest t at which a basic variable reaches a bound.

    Return also the row of that variable, or -1 if there is none, and whether the bound is the
    upper one.
    """
    best = 0.0
    row = -1
    to_upper = False
    _, _, _, x, _, lower, upper = state
    for r in range(state.basic.size):
        j = state.basic[r]
        t = _breakpoint(x[0, j] - lower[0, j], x[1, j] - lower[1, j], best)
        if t > best:
            best = t
            row = r
            to_upper = False
        t = _breakpoint(upper[0, j] - x[0, j], upper[1, j] - x[1, j], best)
        if t > best:
            best = t
            row = r
            to_upper = True
    return best, row, to_upper


@njit()
def _dual_breakpoint(state: SimplexState) -> tuple[float, int]:
    """Return the largest t at which a reduced cost changes its sign, and its column, or -1."""
    best = 0.0
    column = -1
    for q in range(state.nonbasic.size):
        j = state.nonbasic[q]
        t = _breakpoint(state.side[j] * state.z[0, j], state.side[j] * state.z[1, j], best)
        if t > best:
            best = t
            column = q
    return best, column


@njit()
def _harris(rates: Vector, rooms: Vector) -> int:
    """Return the index whose room is used up first at these rates, or -1 if there is none.

    This is the ratio test of Harris (1973, Math. Programming 5). Each room is enlarged by the
    feasibility tolerance, so that several indices count as first. Among these the index with the
    largest rate is the safest pivot.
    """
    # The first pass finds the largest step that keeps every enlarged room.
    step = np.inf
    for i in range(rates.size):
        if rates[i] > TOLERANCES.pivot and rooms[i] < np.inf:
            step = min(step, (max(rooms[i], 0.0) + TOLERANCES.feasible) / rates[i])
    # The second pass chooses among the indices whose own room ends within this step.
    best = -1
    for i in range(rates.size):
        blocks = rates[i] > TOLERANCES.pivot and max(rooms[i], 0.0) <= step * rates[i] < np.inf
        if blocks and (best < 0 or rates[i] > rates[best]):
            best = i
    return best


@njit()
def _dual_ratio_test(row: Vector, to_upper: bool, state: SimplexState, t: float) -> int:
    """Return the column that enters so that all reduced costs stay feasible, or -1."""
    rates = np.empty(row.size)
    rooms = np.empty(row.size)
    # The variable that leaves moves up to its lower bound, or down to its upper bound.
    direction = -1.0 if to_upper else 1.0
    for q in range(row.size):
        j = state.nonbasic[q]
        rates[q] = direction * row[q] * state.side[j]
        rooms[q] = state.side[j] * (state.z[0, j] + t * state.z[1, j])
    return _harris(rates, rooms)


@njit()
def _primal_ratio_test(column: Vector, q: int, state: SimplexState, t: float) -> tuple[int, bool]:
    """Return the row that reaches a bound first as variable q moves, and whether it is the upper.

    The row is -1 if no bound is reached. It is one beyond the last row if variable q reaches its
    own other bound first.
    """
    size = column.size
    entering = state.nonbasic[q]
    # The first `size` entries are the lower bounds of the rows, and the next their upper bounds.
    rates = np.empty(2 * size + 1)
    rooms = np.empty(2 * size + 1)
    _, _, _, x, _, lower, upper = state
    for r in range(size):
        j = state.basic[r]
        rates[r] = -state.side[entering] * column[r]
        rates[size + r] = -rates[r]
        rooms[r] = x[0, j] - lower[0, j] + t * (x[1, j] - lower[1, j])
        rooms[size + r] = upper[0, j] - x[0, j] + t * (upper[1, j] - x[1, j])
    # The last entry is the distance between the two bounds of the entering variable itself.
    rates[2 * size] = 1.0
    rooms[2 * size] = upper[0, entering] - lower[0, entering]
    rooms[2 * size] += t * (upper[1, entering] - lower[1, entering])
    first = _harris(rates, rooms)
    if first < 0 or first == 2 * size:
        return min(first, size), False
    return first % size, first >= size


@njit()
def _move(k: int, step: float, column: Vector, entering: int, state: SimplexState) -> None:
    """Move the value (k = 0) or slope (k = 1) of a nonbasic variable, and the basic ones with it.

    `column` is the column of the nonbasic variable in the tableau.
    """
    for r in range(column.size):
        state.x[k, state.basic[r]] += step * column[r]
    state.x[k, entering] += step


@njit()
def _flip_bound(column: Vector, q: int, state: SimplexState) -> None:
    """Move the nonbasic variable of column q to its other bound."""
    j = state.nonbasic[q]
    bounds = state.upper if state.side[j] > 0.0 else state.lower
    for k in range(2):
        _move(k, bounds[k, j] - state.x[k, j], column, j, state)
        # The sum above is rounded, and a nonbasic variable lies on its bound exactly.
        state.x[k, j] = bounds[k, j]
    state.side[j] *= -1.0


@njit()
def _exchange(
    row: Vector, column: Vector, r: int, q: int, to_upper: bool, state: SimplexState
) -> None:
    """Let the variable of column q enter the basis, and that of row r leave to a bound."""
    leaving = state.basic[r]
    entering = state.nonbasic[q]
    bounds = state.upper if to_upper else state.lower
    for k in range(2):
        _move(k, (bounds[k, leaving] - state.x[k, leaving]) / row[q], column, entering, state)
        state.x[k, leaving] = bounds[k, leaving]
        # The reduced cost of the entering variable becomes 0 by a multiple of the pivot row.
        multiplier = state.z[k, entering] / row[q]
        for i in range(row.size):
            state.z[k, state.nonbasic[i]] -= multiplier * row[i]
        state.z[k, entering] = 0.0
        state.z[k, leaving] = multiplier
    state.basic[r] = entering
    state.nonbasic[q] = leaving
    state.side[leaving] = -1.0 if to_upper else 1.0
