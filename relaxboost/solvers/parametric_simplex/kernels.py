"""The tableau of the parametric self-dual simplex method, and its compiled pivots."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dgemm

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.compiled import njit

UPDATES_PER_BLOCK = 32
# With a larger number, the rows and columns of the tableau take longer to compute. With a smaller
# number, the whole tableau is read and written more often.
"""The number of rank-one updates that are collected before one product adds them to the tableau."""


class Tolerances(NamedTuple):
    """The tolerances of the simplex method, for margin matrices with entries in [-1, 1]."""

    feasible: float = 1e-12
    """The largest violation of a bound that pivots treat as a rounding error. An optimal basis has
    violations of at most ten times this number."""
    pivot: float = 1e-9
    """The smallest accepted pivot element. Smaller hypothesis weights count as zero."""
    relative: float = 1e-6
    """The largest accepted relative rounding error.

    A pivot element is computed from its row and from its column. If the results differ by more than
    this fraction, the basis counts as singular. In a QR factorisation, diagonal entries of R below
    this number count as zero.
    """
    residual: float = 1e-13
    """The largest accepted residual of the equations between basic and nonbasic variables. A larger
    residual is reduced by iterative refinement."""
    shift_x: float = 1e-3
    """The smallest perturbation of the variables' bounds, as a fraction of the mean weight 1/m."""
    shift_z: float = 1e-5
    """The smallest perturbation of the reduced costs.

    The reduced cost of an example is its cost plus its margin, minus the multiplier of Σd = 1. That
    of a hypothesis slack is the weight of the hypothesis.
    """


TOLERANCES = Tolerances()


class PivotOutcome(IntEnum):
    """The reason why the kernel `follow` stopped pivoting."""

    DONE = 0
    """The optimal basis has been found at t = 0."""
    FULL = 1
    """There is no space for another update. Call `Tableau.apply` before the next pivot."""
    NO_COLUMN = 2
    """A variable has to leave the basis, but no nonbasic variable in the tableau can enter it."""
    NO_ROW = 3
    """A variable has to enter the basis, but no basic variable in the tableau reaches a bound."""
    SINGULAR = 4
    """The basis is singular, or the rounding errors of a pivot are too large."""


class Tableau(NamedTuple):
    """The dense tableau T, which expresses the basic variables as x_B = T x_N.

    Each pivot adds a rank-one update to T. `left` and `right` collect the k = pending[0] updates
    that are not yet part of `table`: T is ``table + left[:k].T @ right[:k]``. `apply` adds them to
    `table` in one product.
    """

    table: Array
    left: Array
    right: Array
    pending: Whole

    @classmethod
    def of(cls, table: Array) -> Tableau:
        """Return a tableau without pending updates.

        Later pivots write to `table` if it is C-contiguous.
        """
        rows, columns = table.shape
        return cls(
            table=np.ascontiguousarray(table),
            left=np.empty((UPDATES_PER_BLOCK, rows)),
            right=np.empty((UPDATES_PER_BLOCK, columns)),
            pending=np.zeros(1, dtype=np.int64),
        )

    def apply(self) -> Array:
        """Add the pending updates to `table`, and return `table`."""
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
    """The basis, and the values and bounds of all variables.

    Arrays of shape (2, variables) change linearly with the parameter t. Row 0 has the numbers at t
    = 0, and row 1 their slopes in t.
    """

    basic: Whole
    """The basic variable of each row of the tableau."""
    nonbasic: Whole
    """The nonbasic variable of each column of the tableau."""
    side: Vector
    """The bound of each nonbasic variable: 1 for lower, −1 for upper, and 0 for the fixed sum Σd.
    The entries of basic variables are unused."""
    x: Array
    """The values of all variables, linear in t."""
    z: Array
    """The reduced costs of all variables, linear in t. They are 0 for basic variables."""
    lower: Array
    upper: Array


# Kernels copy arrays in loops. An assignment to a slice takes two seconds more to compile, since
# numba compiles the text of the error for unequal shapes with it.


@njit()
def row_of(tableau: Tableau, r: int) -> Array:
    """Return row `r` of the tableau, including pending updates."""
    row = tableau.table[r].copy()
    for k in range(tableau.pending[0]):
        scale = tableau.left[k, r]
        for q in range(row.size):
            row[q] += scale * tableau.right[k, q]
    return row


@njit()
def column_of(tableau: Tableau, q: int) -> Array:
    """Return column `q` of the tableau, including pending updates."""
    column = tableau.table[:, q].copy()
    for k in range(tableau.pending[0]):
        scale = tableau.right[k, q]
        for r in range(column.size):
            column[r] += scale * tableau.left[k, r]
    return column


@njit()
def append_update(tableau: Tableau, r: int, q: int, row: Array, column: Array) -> None:
    """Append the update of a pivot on row r and column q, given this row and this column.

    The update is the rank-one matrix (column + e_r)(e_q − row) / row[q], where e_r and e_q are unit
    vectors.
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
    """Follow the optimum from the parameter t down to 0, with a pivot at each breakpoint.

    Return the reason why the kernel stopped, and the last t. The arrays of `tableau` and `state`
    are modified. A breakpoint is a value of t at which a basic variable reaches a bound or a
    reduced cost changes its sign.
    """
    while tableau.pending[0] < len(tableau.left):
        primal_t, r, to_upper = _primal_breakpoint(state)
        dual_t, q = _dual_breakpoint(state)
        # Without a breakpoint the basis is optimal for all t down to 0.
        if max(primal_t, dual_t) <= 0.0:
            return PivotOutcome.DONE, 0.0
        # Rounding may place a breakpoint above the current t, but t must not increase.
        t = min(t, max(primal_t, dual_t))
        if primal_t >= dual_t:
            # A dual simplex step: the variable of row r leaves the basis, and that of q enters.
            row = row_of(tableau, r)
            q = _dual_ratio_test(row, to_upper, state, t)
            if q < 0:
                return PivotOutcome.NO_COLUMN, t
            column = column_of(tableau, q)
        else:
            # A primal simplex step: the variable of q moves until that of some row reaches a bound.
            column = column_of(tableau, q)
            r, to_upper = _primal_ratio_test(column, q, state, t)
            if r < 0:
                return PivotOutcome.NO_ROW, t
            if r == column.size:
                # The variable of q reaches its other bound first, and the basis does not change.
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
    # The result is the t at which value + t · slope becomes negative while t decreases to 0, or
    # `best`, the largest breakpoint so far, if there is no such t above it.
    if value < -TOLERANCES.feasible and slope > 0.0 and -value > best * slope:
        return -value / slope
    return best


@njit()
def _primal_breakpoint(state: SimplexState) -> tuple[float, int, bool]:
    # The row is −1 if no basic variable reaches a bound at a t above 0.
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
    # The column is −1 if no reduced cost changes its sign at a t above 0.
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
    # The ratio test of Harris (1973, Math. Programming 5) enlarges the distance of each variable
    # from its bound by the feasibility tolerance. Among the variables that may then be the first at
    # their bounds, the one with the largest rate is selected, because large pivot elements cause
    # small rounding errors.
    # The first pass finds the largest step within all enlarged distances.
    step = np.inf
    for i in range(rates.size):
        if rates[i] > TOLERANCES.pivot and rooms[i] < np.inf:
            step = min(step, (max(rooms[i], 0.0) + TOLERANCES.feasible) / rates[i])
    # The second pass chooses among the variables that reach their bounds in this step.
    best = -1
    for i in range(rates.size):
        blocks = rates[i] > TOLERANCES.pivot and max(rooms[i], 0.0) <= step * rates[i] < np.inf
        if blocks and (best < 0 or rates[i] > rates[best]):
            best = i
    return best


@njit()
def _dual_ratio_test(row: Vector, to_upper: bool, state: SimplexState, t: float) -> int:
    # After the step, all reduced costs have valid signs at the current t.
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
    # The variable of column q moves away from its bound, until that of some row reaches a bound.
    # The first result is −1 if there is no such row, and the number of rows if the variable of
    # column q reaches its other bound first.
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
    # If k is 0, the values at t = 0 change. If k is 1, the slopes in t change.
    for r in range(column.size):
        state.x[k, state.basic[r]] += step * column[r]
    state.x[k, entering] += step


@njit()
def _flip_bound(column: Vector, q: int, state: SimplexState) -> None:
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
    # The variable of row r leaves the basis, and the variable of column q enters it.
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
