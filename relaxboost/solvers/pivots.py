"""Compiled pivots of a walk, as many as a tableau takes before it is brought up to date."""

from __future__ import annotations

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import njit

TIE, _SLOPE, _PIVOT, _DRIFT = 1e-12, 1e-15, 1e-9, 1e-6
"""Violations and slopes that count as none, the least pivot, and how far a pivot's two values may
be apart."""
DONE, FULL, SHORT, LOST = 0, 1, 2, 3
"""How `walk` ends: t is 0; exchanges are to be applied; nothing in play may enter or leave; a
basis is singular."""

Stale = tuple[Array, Array, Array, Whole]
"""T without the exchanges that wait, their factors, and how many these are, (1,): together
T + leftᵀ right of so many rows."""
Points = tuple[Array, Array, Array]
"""x_B, x_N and z_N, each (value, slope) in t."""
Sets = tuple[Whole, Whole, Array, Whole]
"""The numbers of x_B and of x_N, the side of x_N, and four marks: the row of v or −1, its column or
−1, its number, and the first number of those that are at most 2v."""
Bounds = tuple[Array, Array, Array]
"""Lower and upper bounds of x, (value, slope) in t, and the signs of the hypotheses."""


@njit()
def row_of(stale: Stale, r: int) -> Array:
    """Return row r with the exchanges that wait."""
    T, left, right, waiting = stale
    row = T[r].copy()
    for k in range(waiting[0]):
        factor = left[k, r]
        for q in range(row.size):
            row[q] += factor * right[k, q]
    return row


@njit()
def column_of(stale: Stale, q: int) -> Array:
    """Return column q with the exchanges that wait."""
    T, left, right, waiting = stale
    return row_of((T.T, right, left, waiting), q)


@njit()
def put(stale: Stale, r: int, q: int, row: Array, column: Array) -> None:
    """Let an exchange of x_r and x_q wait, whose row and column these are."""
    waiting = stale[3]
    left, right = stale[1][waiting[0]], stale[2][waiting[0]]
    for i in range(column.size):
        left[i] = column[i]
    left[r] += 1.0
    for j in range(row.size):
        right[j] = -row[j] / row[q]
    right[q] += 1.0 / row[q]
    waiting[0] += 1


@njit()
def walk(stale: Stale, points: Points, sets: Sets, bounds: Bounds, t: float) -> tuple[int, float]:
    """Go on until t is 0, or for as long as exchanges may wait; all that is given is written to.

    Return how it ended, and t.
    """
    rows = sets[0]
    while stale[3][0] < len(stale[1]):
        first, r, kind = _leaving(points, sets, bounds)
        other, q = _entering(points, sets)
        if max(first, other) <= 0.0:
            return DONE, 0.0
        t = min(t, max(first, other))
        if first >= other:
            kind = _nearer(stale, points, sets, bounds, r, kind)
            row = row_of(stale, r)
            q = _replacing(row, kind, points, sets, t)
            if q < 0:
                return SHORT, t
            column = column_of(stale, q)
        else:
            column = column_of(stale, q)
            r, kind = _blocking(column, q, points, sets, bounds, t)
            if r < 0:
                return SHORT, t
            if r == rows.size:
                _cross(column, q, points, sets, bounds)
                continue
            kind = _nearer(stale, points, sets, bounds, r, kind)
            row, column = row_of(stale, r), column_of(stale, q)
        pivot = row[q]
        if abs(pivot) < _PIVOT or abs(pivot - column[r]) > _DRIFT * (1.0 + abs(pivot)):
            return LOST, t
        _exchange((row, column), (r, q, kind), points, sets, bounds)
        put(stale, r, q, row, column)
    return FULL, t


@njit()
def _value_of_v(points: Points, sets: Sets) -> tuple[float, float]:
    X, N, marks = points[0], points[1], sets[3]
    if marks[0] >= 0:
        return X[0, marks[0]], X[1, marks[0]]
    return N[0, marks[1]], N[1, marks[1]]


@njit()
def _leaving(points: Points, sets: Sets, bounds: Bounds) -> tuple[float, int, int]:
    """Return the first t, as it falls, at which an x_B reaches a bound; which, and the bound."""
    X, rows, twice, (low, high, _) = points[0], sets[0], sets[3][3], bounds
    v, rise = _value_of_v(points, sets)
    first, at, kind = 0.0, -1, 0
    for r in range(rows.size):
        own = rows[r]
        room, slope = X[0, r] - low[0, own], X[1, r] - low[1, own]
        if room < -TIE and slope > _SLOPE and -room > first * slope:
            first, at, kind = -room / slope, r, 0
        room, slope = high[0, own] - X[0, r], high[1, own] - X[1, r]
        if own >= twice:
            room, slope = room + 2.0 * v, slope + 2.0 * rise
        if room < -TIE and slope > _SLOPE and -room > first * slope:
            first, at, kind = -room / slope, r, 1
    return first, at, kind


@njit()
def _entering(points: Points, sets: Sets) -> tuple[float, int]:
    """Return the first t, as it falls, at which a z_N reaches 0, and which."""
    Z, side = points[2], sets[2]
    first, at = 0.0, -1
    for q in range(side.size):
        room, slope = side[q] * Z[0, q], side[q] * Z[1, q]
        if room < -TIE and slope > _SLOPE and -room > first * slope:
            first, at = -room / slope, q
    return first, at


@njit()
def _first(rates: Array, room: Array) -> int:
    """Return where the room ends first, at such rates, or −1; of near ties the largest rate."""
    end, best = np.inf, -1
    for q in range(rates.size):
        if rates[q] > _PIVOT and room[q] < np.inf:
            end = min(end, (max(room[q], 0.0) + TIE) / rates[q])
    for q in range(rates.size):
        near = rates[q] > _PIVOT and max(room[q], 0.0) <= end * rates[q] < np.inf
        if near and (best < 0 or rates[q] > rates[best]):
            best = q
    return best


@njit()
def _replacing(row: Array, kind: int, points: Points, sets: Sets, t: float) -> int:
    """Return the x_q that takes the place of what leaves to a bound: all z stay feasible."""
    Z, side = points[2], sets[2]
    rates, room = np.empty(row.size), np.empty(row.size)
    for q in range(row.size):
        rates[q] = row[q] * side[q] * (1.0 - 2.0 * kind)
        room[q] = side[q] * (Z[0, q] + t * Z[1, q])
    return _first(rates, room)


@njit()
def _blocking(
    column: Array, q: int, points: Points, sets: Sets, bounds: Bounds, t: float
) -> tuple[int, int]:
    """Return the x_r that is first at a bound as x_q goes from its own, and which bound.

    Its number is −1 where none is, and one beyond the last where x_q reaches its other bound.
    """
    X, (rows, cols, side, marks), (low, high, _) = points[0], sets, bounds
    R, own, turn = rows.size, cols[q], side[q]
    v, rise = _value_of_v(points, sets)
    rate = turn * (column[marks[0]] if marks[0] >= 0 else (1.0 if q == marks[1] else 0.0))
    rates, room = np.empty(2 * R + 1), np.empty(2 * R + 1)
    for r in range(R):
        j = rows[r]
        rates[r], rates[R + r] = -turn * column[r], turn * column[r]
        room[r] = X[0, r] - low[0, j] + t * (X[1, r] - low[1, j])
        room[R + r] = high[0, j] - X[0, r] + t * (high[1, j] - X[1, r])
        if j >= marks[3]:
            rates[R + r] -= 2.0 * rate
            room[R + r] += 2.0 * (v + t * rise)
    # The width of an s, 2v, moves.
    width = high[0, own] - low[0, own] + t * (high[1, own] - low[1, own])
    rates[2 * R], room[2 * R] = 1.0, width if own <= marks[2] else np.inf
    at = _first(rates, room)
    if at < 0:
        return -1, 0
    return (R, 0) if at == 2 * R else (at % R, at // R)


@njit()
def _cross(column: Array, q: int, points: Points, sets: Sets, bounds: Bounds) -> None:
    """Let x_q go to its other bound."""
    (X, N, _), (_, cols, side, _) = points, sets
    for k in range(2):
        to = bounds[1][k, cols[q]] if side[q] > 0.0 else bounds[0][k, cols[q]]
        for r in range(column.size):
            X[k, r] += (to - N[k, q]) * column[r]
        N[k, q] = to
    side[q] *= -1.0


@njit()
def _nearer(stale: Stale, points: Points, sets: Sets, bounds: Bounds, r: int, kind: int) -> int:
    """Return the bound that x_r goes to; an s at 2v becomes that of the other sign at 0."""
    (T, left, _, waiting), X, (low, high, sign) = stale, points[0], bounds
    own, marks = sets[0][r], sets[3]
    row, column, twice = marks[0], marks[1], marks[3]
    if kind == 0 or own < twice:
        return kind
    for q in range(T.shape[1]):
        T[r, q] = 2.0 * (T[row, q] if row >= 0 else (1.0 if q == column else 0.0)) - T[r, q]
    for k in range(waiting[0]):
        left[k, r] = (2.0 * left[k, row] if row >= 0 else 0.0) - left[k, r]
    v, rise = _value_of_v(points, sets)
    X[0, r], X[1, r] = 2.0 * v - X[0, r], 2.0 * rise - X[1, r]
    sign[own - marks[2] - 1] *= -1.0
    for k in range(2):
        low[k, own], high[k, own] = -high[k, own], -low[k, own]
    return 0


@njit()
def _exchange(
    lines: tuple[Array, Array],
    at: tuple[int, int, int],
    points: Points,
    sets: Sets,
    bounds: Bounds,
) -> None:
    """Let x_q become basic and x_r not, at its lower bound (kind 0) or its upper (1)."""
    (row, column), (r, q, kind) = lines, at
    (X, N, Z), (rows, cols, side, marks) = points, sets
    leaves, enters = rows[r], cols[q]
    for k in range(2):
        bound = bounds[1][k, leaves] if kind == 1 else bounds[0][k, leaves]
        change, z = (bound - X[k, r]) / row[q], Z[k, q] / row[q]
        for i in range(column.size):
            X[k, i] += change * column[i]
        X[k, r], N[k, q] = N[k, q] + change, bound
        for j in range(row.size):
            Z[k, j] -= z * row[j]
        Z[k, q] = z
    rows[r], cols[q], side[q] = enters, leaves, 1.0 - 2.0 * kind
    if enters == marks[2]:
        marks[0], marks[1] = r, -1
    elif leaves == marks[2]:
        marks[0], marks[1] = -1, q
