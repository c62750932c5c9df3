"""From the optimum of one game to that of a neighbour, vertex by vertex.

Where f is a cost and bounds for each example, a game is min cost·d + r v over Σd = 1, Aᵀd + s = v,
s >= 0, with the weights w for multipliers of s. At a vertex with c examples between bounds and c
tight columns both d and w solve equations with M = [A', −1; 1', 0], A' those columns of those
examples. From game to game bounds and costs change as t goes from 1 to 0. X = (d, s) and its
multipliers Z = (z, w) are affine in t, until one of them reaches its bound: one of the other kind
takes its place, and M⁻¹ changes by a matrix of rank one. What a point near an optimum lacks is
added to its bounds and costs, and goes to zero with t. This is the parametric self-dual simplex
method (Dantzig 1963, Ch. 11; Vanderbei 2020, Linear Programming, Ch. 7).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.blas import dger

from relaxboost._core.arrays import Array, Vector
from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.game.solution import Solution
from relaxboost.relaxations import LinearForm

_TIE, _SLOPE, _PIVOT, _LIGHT, _LARGEST = 1e-11, 1e-13, 1e-8, 1e-9, 1e8
"""Differences of values and slopes in t that count as none, the least pivot, the least weight of a
tight column, and what entries of M⁻¹ are below."""
_WATCHED = 2.5
"""Examples whose margins are followed, for each between bounds: those next to the threshold."""
_GOLDEN = 0.6180339887498949
"""Multiples of it, modulo 1, are all apart."""
_CALL, _ENTRY = 1e-4, 2.4e-10
"""Seconds of a pivot on one core: those of its calls, and for each entry it reads."""


Lost = np.linalg.LinAlgError
"""A walk cannot go on."""


def walked(game: Game, near: Solution, clock: Clock, most: float) -> tuple[Vector, Vector]:
    """Return (d, w) at an optimum of a game, from a solution of a neighbour.

    Or raise Lost: their programs are of other forms, a vertex is degenerate, or the walk would take
    more than `most` seconds on one core.
    """
    A, forms = game.matrix.bulk().array, [near.game.linear_form, game.linear_form]
    known = [f for f in forms if f is not None and f.rows is None and np.isfinite(f.upper).all()]
    over, m = game.over, game.m
    if A is None or over != near.game.over or not isinstance(over, AtomicSet):
        raise Lost
    if near.game.m != m or [f.cost.size for f in known] != [m, m]:
        raise Lost
    return Walk(A, over, known, near.d, near.w).end(clock, most)


class Walk:
    """A vertex between the first game of two, near whose optimum (d, w) is, and the second.

    A has shape (m, n); over a ball each column stands for two, the second with the other sign.
    """

    def __init__(
        self, A: Array, over: AtomicSet, forms: list[LinearForm], d: Vector, w: Vector
    ) -> None:
        old, new = forms
        price = old.cost + A @ w
        rank = np.argsort(price, kind="stable")
        fill = old.lower.sum() + np.cumsum((old.upper - old.lower)[rank])
        away = price - price[rank[min(int(np.searchsorted(fill, 1.0)), rank.size - 1)]]
        self._two_sided = over.two_sided
        both = self._both(w)
        self._tight = np.flatnonzero(both > _LIGHT)
        count = self._tight.size
        if count > rank.size:  # what is near is no vertex
            raise Lost
        inside = np.minimum(d - old.lower, old.upper - d) / (np.abs(away) + _TIE)
        free = np.argsort(-inside, kind="stable")[:count]
        near = np.argsort(np.abs(away), kind="stable")[: int(_WATCHED * count)]
        rows = self._rows = np.union1d(free, near)
        self._free, self._m = np.searchsorted(rows, free), rows.size
        self._A, self._own = A[rows], A[free]
        self._side = np.append(np.where(away < 0.0, -1.0, 1.0)[rows], np.zeros(both.size))
        """1 at the lower bound, -1 at the upper, 0 between."""
        self._side[self._m + self._tight], self._side[self._free] = 1.0, 0.0
        matrix = np.ones((count + 1, count + 1))
        matrix[:-1, :-1], matrix[:-1, -1] = self._both(self._own)[:, self._tight].T, -1.0
        matrix[-1, -1] = 0.0
        self._inverse = np.asfortranarray(np.linalg.inv(matrix))
        if not np.abs(self._inverse).max() < _LARGEST:
            raise Lost
        low, high = (
            np.stack([b, a - b]) for a, b in ((old.lower, new.lower), (old.upper, new.upper))
        )
        D = np.where(away < 0.0, high, low)
        D[:, free] = 0.0
        rest = [[1.0], [0.0]] - D.sum(axis=1, keepdims=True)
        solved = np.hstack([-self._both(D @ A)[:, self._tight], rest]) @ self._inverse.T
        D[:, free] = solved[:, :-1]
        slack = solved[:, -1:] - self._both(D @ A)
        slack[:, self._tight] = 0.0
        self._d, self._low = D[0], low[0, rows]
        above = np.full_like(slack, [[np.inf], [0.0]])
        self._room = np.stack(
            [np.hstack([(D - low)[:, rows], slack]), np.hstack([(high - D)[:, rows], above])]
        )
        """How far X is from its lower bounds and from its upper ones, (2, 2, size)."""
        # More than what lacks, each by another factor: else all meet their bounds at t = 1.
        more = 1.0 + np.arange(1, self._side.size + 1) * _GOLDEN % 1.0
        lack = more * np.minimum(self._room.sum(axis=1), 0.0)
        self._room[:, 1] -= np.where(self._side == 0.0, lack, 0.0)
        y = -np.append(new.cost[free], over.scale) @ self._inverse
        Z = self._priced(y, np.zeros(self._side.size), new.cost[rows])
        self._Z = np.stack([Z, -more * np.minimum(Z * self._side, 0.0) * self._side])

    def _both(self, edges: Array) -> Array:
        """Return what stands for each column as one for each of its signs."""
        return np.concatenate([edges, -edges], axis=-1) if self._two_sided else edges

    def _weights(self, Z: Vector) -> Vector:
        """Return w of multipliers."""
        w, n = Z[self._m :], self._A.shape[1]
        return w[:n] - w[n:] if self._two_sided else w

    def _priced(self, y: Vector, Z: Vector, cost: Vector | float) -> Vector:
        """Return Z where tight columns have the multipliers y, in place."""
        Z[self._m + self._tight] = y[:-1]
        Z[: self._m] = cost + self._A @ self._weights(Z) + y[-1]
        Z[self._free] = 0.0
        return Z

    def end(self, clock: Clock, most: float) -> tuple[Vector, Vector]:
        """Return (d, w) at t = 0, unless that is foreseen to take more than so many seconds."""
        entries = self._A.size + self._own.size + 3 * self._inverse.size
        pivots, t = 0, 1.0
        while True:
            basic = self._side == 0.0
            hits = np.concatenate([*_hit(self._room, basic), _hit(self._side * self._Z, ~basic)])
            place = int(np.argmax(hits))
            if hits[place] <= 0.0:
                d = self._d.copy()
                d[self._rows] = self._low + self._room[0, 0, : self._m]
                return d, self._weights(self._Z[0])
            t, pivots = min(t, float(hits[place])), pivots + 1
            clock.check()
            if pivots / max(1.0 - t, 0.05) * (_CALL + _ENTRY * entries) > most:
                raise Lost
            kind, p = divmod(place, basic.size)
            if kind == 2:
                self._enter(p, t)
            else:
                self._leave(p, kind, t)

    def _leave(self, p: int, kind: int, t: float) -> None:
        """Let p go to a bound; what takes its place keeps all multipliers feasible."""
        row, side = self._row(p), self._side
        rates = row[0] * side if kind else row[0] * -side
        q = _first(rates, side * (self._Z[0] + t * self._Z[1]))
        self._exchange(q, p, kind, self._column(q), row)

    def _enter(self, q: int, t: float) -> None:
        """Let q go from its bound; what takes its place keeps all else between bounds."""
        column, side = self._column(q), float(self._side[q])
        rate = side * np.where(self._side == 0.0, column[0], 0.0)
        rates, across = np.stack([-rate, rate]), int(side > 0.0)
        rates[across, q] = 1.0  # it may reach its other bound first
        room = self._room[:, 0] + t * self._room[:, 1]
        kind, p = divmod(_first(rates.ravel(), room.ravel()), rate.size)
        if p == q:
            raise Lost
        self._exchange(q, p, kind, column, self._row(p))

    def _column(self, q: int) -> tuple[Vector, Vector]:
        """Return how X changes as q goes up by one, and how (d, v) of the basis do."""
        if q < self._m:
            solved = -(self._inverse @ np.append(self._both(self._A[q])[self._tight], 1.0))
            edges = solved[:-1] @ self._own + self._A[q]
        else:
            solved = -self._inverse[:, int(np.flatnonzero(self._tight == q - self._m)[0])]
            edges = solved[:-1] @ self._own
        dX = np.append(np.zeros(self._m), solved[-1] - self._both(edges))
        dX[self._m + self._tight] = 0.0
        dX[self._free], dX[q] = solved[:-1], 1.0
        return dX, solved

    def _row(self, p: int) -> tuple[Vector, Vector]:
        """Return how Z changes as that of p goes up by one, and how its equations' y do."""
        dZ, n, j = np.zeros(self._side.size), self._A.shape[1], p - self._m
        dZ[p] = 1.0
        if j < 0:
            y = self._inverse[int(np.flatnonzero(self._free == p)[0])].copy()
        else:
            edge = self._own[:, j] if j < n else -self._own[:, j - n]
            y = -(np.append(edge, -1.0) @ self._inverse)
        self._priced(y, dZ, 0.0)
        dZ[p] = 1.0
        return dZ, y

    def _exchange(
        self, q: int, p: int, kind: int, column: tuple[Vector, Vector], row: tuple[Vector, Vector]
    ) -> None:
        """Let q become basic and p not, at its lower bound (kind 0) or its upper (1)."""
        (dX, solved), (dZ, y), m = column, row, self._m
        if min(abs(dX[p]), abs(dZ[q])) < _PIVOT:
            raise Lost
        change = (self._room[kind, :, p] * ((2 * kind - 1) / dX[p]))[:, None] * dX
        self._room += np.stack([change, -change])
        self._Z -= (self._Z[:, q] / dZ[q])[:, None] * dZ
        self._room[kind, :, p], self._Z[:, q] = 0.0, 0.0
        self._side[q], self._side[p] = 0.0, 1.0 - 2 * kind
        if q < m <= p:  # M grows
            solved, y = np.append(1.0, solved), np.append(1.0, y)
            self._inverse = np.asfortranarray(np.pad(self._inverse, ((1, 0), (1, 0))))
            self._free, self._tight = np.append(q, self._free), np.append(p - m, self._tight)
            self._own = np.vstack([self._A[q], self._own])
        elif q < m:
            place = int(np.flatnonzero(self._free == p)[0])
            solved[place] += 1.0
            self._free[place], self._own[place] = q, self._A[q]
        elif p >= m:
            place = int(np.flatnonzero(self._tight == q - m)[0])
            y[place] += 1.0
            self._tight[place] = p - m
        self._inverse = dger(-1.0 / dX[p], solved, y, a=self._inverse, overwrite_a=1)
        if p < m <= q:  # M shrinks
            place, other = (
                int(np.flatnonzero(self._free == p)[0]),
                int(np.flatnonzero(self._tight == q - m)[0]),
            )
            smaller = np.delete(np.delete(self._inverse, place, axis=0), other, axis=1)
            self._inverse = np.asfortranarray(smaller)
            self._free, self._tight = np.delete(self._free, place), np.delete(self._tight, other)
            self._own = np.delete(self._own, place, axis=0)


def _hit(room: Array, where: Any) -> Array:
    """Return the t at which rooms end as t falls; 0 where they do not."""
    slope = room[..., 1, :]
    ends = where & (slope > _SLOPE)
    return np.where(ends, -room[..., 0, :] / np.where(ends, slope, 1.0), 0.0)


def _first(rates: Vector, room: Vector) -> int:
    """Return where the room ends first, at such rates; of near ties the largest rate."""
    places = np.flatnonzero(rates > _PIVOT)
    if not places.size:
        raise Lost
    rate, room = rates[places], np.maximum(room[places], 0.0)
    ends = room / rate <= ((room + _TIE) / rate).min()
    return int(places[np.argmax(np.where(ends, rate, 0.0))])
