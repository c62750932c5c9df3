"""From the optimum of one game to that of a neighbour, vertex by vertex.

Where f is a cost and bounds for each example, a game is min cost·d + scale·v over Σd = 1 and
s = v − ±Aᵀd, with s >= 0, over a ball also s <= 2v, and the weights w for multipliers of s. Let
x = (d, v, s, Σd). At a vertex x_B = T x_N, and every x_N is at a bound; z_N = c_N + Tᵀc_B are the
reduced costs, those of s are ±w. As t goes from 1 to 0 the bounds of one game become those of the
other. Only they move where f is a cap, linear in 1/k: then w stays the same between breakpoints.

* At a breakpoint some x_r reaches a bound and leaves the basis. The x_q takes its place whose z_q
  is the first to reach 0 as that of x_r goes from 0 to where x_r may stay.
* Where costs move, some z_q reaches 0: then x_q goes from its bound, and the first x_r to reach one
  of its own leaves.

What a point lacks at t = 1 is added to its bounds and costs, and goes to zero with t; so does a
little more for each variable, against ties. At t = 0 nothing of it is left. This is the parametric
self-dual simplex method (Dantzig 1963, Ch. 11; Vanderbei 2020, Linear Programming, Ch. 7).
"""

from __future__ import annotations

import numpy as np

from relaxboost._core.arrays import Array, Vector
from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.game.solution import Solution
from relaxboost.relaxations import LinearForm
from relaxboost.solvers.tableau import Tableau

_TIE, _SLOPE, _PIVOT, _LIGHT = 1e-12, 1e-15, 1e-9, 1e-9
"""Violations and slopes that count as none, the least pivot, the least weight of a column."""
_STURDY, _DRIFT = 1e-6, 1e-6
"""The least pivot of a first basis, and how far a pivot's two values may be apart."""
_APART = 1e-3
"""The part of a mean weight, or of a margin a hundredth of it, by which ties are broken."""
_GOLDEN = 0.6180339887498949
"""Multiples of it, modulo 1, are all apart."""
_PASSES = 4
"""Walks to one game: what rounding missed in the first is walked again."""
_LARGEST, _WRITTEN = 10_000_000, 2_000_000
"""Entries of a tableau at most, 8 bytes each, and of an A that is written down for it."""
_CALL, _ENTRY = 1e-4, 1e-10
"""Seconds of a pivot on one core: those of its calls, and for each entry of the tableau."""


Lost = np.linalg.LinAlgError
"""A walk cannot go on."""


def form_of(game: Game) -> LinearForm:
    """Return the cost and the bounds of f, or raise Lost: walks know no other f, nor large A."""
    form, entries = game.linear_form, (game.n or _LARGEST) * game.m
    if form is None or form.rows is not None or not np.isfinite(form.upper).all():
        raise Lost
    if form.cost.size != game.m or not isinstance(game.over, AtomicSet) or entries > _LARGEST:
        raise Lost
    return form


class Walk:
    """A vertex of a matrix's game, and the way from there to those of other caps or costs.

    It begins near a solution of a game with as many examples and the same hypotheses. Raises Lost
    where the programs are of other forms or too large, or that takes more than `most` seconds.
    """

    def __init__(self, game: Game, near: Solution, most: float) -> None:
        self._form = form = form_of(near.game)
        form_of(game)
        assert isinstance(game.over, AtomicSet)
        if near.game.m != game.m or near.game.n != game.n or near.game.over != game.over:
            raise Lost
        self._matrix, self._over = game.matrix, game.over
        known = game.matrix.bulk().array
        if known is None and game.matrix.known * game.m > _WRITTEN:
            raise Lost
        self._A = A = np.asarray(game.matrix.toarray() if known is None else known, dtype=float)
        m, n = self._m, self._n = A.shape
        w, edges = near.w, near.d @ A
        sign = np.where(w == 0.0, edges, w) < 0.0
        self._sign = np.where(sign & self._over.two_sided, -1.0, 1.0)
        # x = (d, v, s, Σd), and at first (s, Σd) is basic.
        T = np.ones((n + 1, m + 1))
        T[:n, :m], T[n, m] = -(A * self._sign).T, 0.0
        self._tableau = Tableau(T)
        self._basic, self._others = np.arange(m + 1, m + n + 2), np.arange(m + 1)
        self._more = 1.0 + np.arange(1, m + n + 3) * _GOLDEN % 1.0
        self._cost = np.zeros(m + n + 2)
        self._cost[:m], self._cost[m] = form.cost, self._over.scale
        self._low, self._high = np.zeros((2, 2, m + n + 2))
        """Bounds of x, as (value, slope) in t; where s is at most 2v, what is added to that."""
        self._X, self._N = np.zeros((2, n + 1)), np.zeros((2, m + 1))
        """x_B and x_N, likewise; z_N too."""
        self._Z = np.stack([self._cost[: m + 1], np.zeros(m + 1)])
        self._side = np.ones(m + 1)
        """Of x_N: 1 at the lower bound, -1 at the upper; 0 for Σd, which stays."""
        self._v: tuple[int | None, int | None] = None, m
        """The row, or else the column, of v."""
        self._seconds = _CALL + _ENTRY * T.size
        """Of a pivot, on one core."""
        self._begin(form, near.d, w, edges, most)

    def _begin(self, form: LinearForm, d: Vector, w: Vector, edges: Vector, most: float) -> None:
        """Exchange for a basis of examples between bounds and of columns with weight."""
        m, n = self._m, self._n
        price = form.cost + self._A @ w
        rank = np.argsort(price, kind="stable")
        fill = form.lower.sum() + np.cumsum((form.upper - form.lower)[rank])
        away = price - price[rank[min(int(np.searchsorted(fill, 1.0)), m - 1)]]
        inside = np.minimum(d - form.lower, form.upper - d) / (np.abs(away) + _TIE)
        heavy = np.where(np.abs(w) > _LIGHT, np.abs(w), 0.0)
        count = max(1, min(int((heavy > 0.0).sum()), m))
        if count * self._seconds > most:
            raise Lost
        free = np.argsort(-inside, kind="stable")[:count]
        tight = np.lexsort((-self._sign * edges, -heavy))[:count]
        self._exchange(n, int(free[0]), 0)
        self._exchange(int(tight[0]), m, 0)
        free = free[1:]
        for r in tight[1:].tolist():
            if not free.size:
                break
            row = self._tableau.row(r)
            place = int(np.argmax(np.abs(row[free])))
            if abs(row[free[place]]) > _STURDY:
                self._exchange(r, int(free[place]), 0, row)
                free = np.delete(free, place)
        at = self._others < m
        self._side[at] = np.where(away < 0.0, -1.0, 1.0)[self._others[at]]
        self._side[self._others == m + n + 1] = 0.0

    def fits(self, game: Game) -> bool:
        """Whether it can go on to a game."""
        return game.matrix is self._matrix and game.over == self._over

    def to(self, game: Game, clock: Clock, most: float) -> tuple[Vector, Vector]:
        """Return (d, w) at an optimum of a game.

        Or raise Lost, and be good for nothing: a basis is singular, or the walk would take more
        than `most` seconds on one core.
        """
        old, new = self._form, form_of(game)
        for _ in range(_PASSES):
            self._set_out(old, new)
            self._run(clock, most)
            old = self._form = new
            self._polish()
            if min(self._rooms()[:, 0].min(), (self._side * self._Z[0]).min()) >= -10.0 * _TIE:
                break
        x, z = self._values(self._N[0], self._X[0]), self._values(self._Z[0])
        return x[: self._m], self._sign * z[self._m + 1 : -1]

    def _values(self, others: Vector, basic: Vector | None = None) -> Vector:
        """Return a value for each of x, by default 0 for the basic ones."""
        x = np.zeros(self._cost.size)
        x[self._others] = others
        if basic is not None:
            x[self._basic] = basic
        return x

    def _set_out(self, old: LinearForm, new: LinearForm) -> None:
        """Let bounds move from old to new ones, and make x and z feasible at t = 1."""
        m, T, ids, others = self._m, self._tableau.T, self._basic, self._others
        low, high = self._low, self._high = np.zeros((2, 2, self._cost.size))
        low[:, :m] = new.lower, old.lower - new.lower
        high[:, :m] = new.upper, old.upper - new.upper
        low[0, m] = 0.0 if self._over.holds_zero else -np.inf
        high[0, m:-1] = np.inf
        if self._over.two_sided:
            high[0, m + 1 : -1] = 0.0
        low[1] -= _APART / m * self._more
        high[1] += _APART / m * self._more
        low[:, -1] = high[:, -1] = 1.0, 0.0
        before, self._N = self._N[0], np.where(self._side < 0.0, high[:, others], low[:, others])
        moved = np.stack([self._N[0] - before, self._N[1]]) @ T.T
        self._X = np.stack([self._X[0] + moved[0], moved[1]])
        change = np.append(new.cost - self._cost[:m], np.zeros(self._n + 2))
        if change.any():
            self._cost = self._cost + change
            self._Z[0] += change[others] + change[ids] @ T
        # Each by another factor: else all meet their bounds at t = 0.
        lack = self._more[ids] * np.minimum(self._rooms().sum(axis=1), 0.0)
        low[1, ids] += lack[0]
        high[1, ids] -= lack[1]
        short = 0.01 * _APART - np.minimum(self._side * self._Z[0], 0.0)
        self._Z[1] = self._side * self._more[others] * short

    def _polish(self) -> None:
        """Mend x and z by what they miss of their equations in A, which T does not know of."""
        m, T, ids = self._m, self._tableau.T, self._basic
        x, z = self._values(self._N[0], self._X[0]), self._values(self._Z[0])
        miss = np.concatenate(
            [np.zeros(m + 1), x[m + 1 : -1] - self._slack(x), [1.0 - x[:m].sum()]]
        )
        x[ids] += T @ miss[self._others]
        x[m + 1 : -1] = self._slack(x)
        self._X[0] = x[ids]
        z[self._others] += self._reduced(z)[ids] @ T
        self._Z[0] = np.where(self._others <= m, self._reduced(z)[self._others], z[self._others])

    def _slack(self, x: Vector) -> Vector:
        """Return what s is to be by the definition."""
        return x[self._m] - self._sign * (x[: self._m] @ self._A)

    def _reduced(self, z: Vector) -> Vector:
        """Return what the z of d and v are to be, given those of s and of Σd; 0 for these."""
        w = z[self._m + 1 : -1]
        examples = self._cost[: self._m] + self._A @ (self._sign * w) - z[-1]
        return np.concatenate([examples, [self._over.scale - w.sum()], np.zeros(w.size + 1)])

    def _rooms(self) -> Array:
        """Return how far x_B is from its bounds, (lower or upper, value or slope, rows)."""
        ids = self._basic
        rooms = np.stack([self._X - self._low[:, ids], self._high[:, ids] - self._X])
        rooms[1] += self._twice() * self._value_of_v()[:, None]
        return rooms

    def _twice(self) -> Vector:
        """Return 2 where v bounds x_B, else 0."""
        return 2.0 * self._over.two_sided * (self._basic > self._m)

    def _value_of_v(self) -> Vector:
        row, column = self._v
        return self._X[:, row] if row is not None else self._N[:, column]

    def _run(self, clock: Clock, most: float) -> None:
        """Go from t = 1 to 0, unless that is foreseen to take more than so many seconds."""
        pivots, t = 0, 1.0
        while True:
            rooms = self._rooms()
            first, at = _hit(rooms[:, 0].ravel(), rooms[:, 1].ravel())
            other, q = _hit(*(self._side * self._Z))
            if max(first, other) <= 0.0:
                return
            t, pivots = min(t, max(first, other)), pivots + 1
            clock.check()
            if pivots / max(1.0 - t, 0.25) * self._seconds > most:
                raise Lost
            if first >= other:
                kind, r = divmod(at, self._basic.size)
                self._leave(r, kind, t)
            else:
                self._enter(q, t)

    def _leave(self, r: int, kind: int, t: float) -> None:
        """Let x_r go to a bound; what takes its place keeps all z feasible."""
        kind = self._nearer(r, kind)
        row = self._tableau.row(r)
        rates = row * self._side if kind == 0 else row * -self._side
        q = _first(rates, self._side * (self._Z[0] + t * self._Z[1]))
        self._exchange(r, q, kind, row)

    def _enter(self, q: int, t: float) -> None:
        """Let x_q go from its bound; what takes its place keeps all x between bounds."""
        rate = self._tableau.column(q) * self._side[q]
        row, column = self._v
        v = rate[row] if row is not None else self._side[q] * (q == column)
        rooms = self._rooms()
        own = self._others[q]
        width = self._high[:, own] - self._low[:, own]
        if own > self._m:
            width = np.array([np.inf, 0.0])  # 2v, which moves
        place = _first(
            np.concatenate([-rate, rate - self._twice() * v, [1.0]]),
            np.append(rooms[:, 0] + t * rooms[:, 1], width[0] + t * width[1]),
        )
        kind, r = divmod(place, rate.size)
        if kind == 2:  # it reaches its other bound first
            to = self._high[:, own] if self._side[q] > 0.0 else self._low[:, own]
            self._X += (to - self._N[:, q])[:, None] * (rate * self._side[q])
            self._N[:, q] = to
            self._side[q] *= -1.0
        else:
            self._exchange(r, q, self._nearer(r, kind))

    def _nearer(self, r: int, kind: int) -> int:
        """Return the bound that x_r goes to; an s at 2v becomes that of the other sign at 0."""
        own, m = self._basic[r], self._m
        if not (kind and self._over.two_sided and own > m):
            return kind
        T, (row, column) = self._tableau.T, self._v
        T[r] = 2.0 * (T[row] if row is not None else np.arange(m + 1) == column) - T[r]
        self._sign[own - m - 1] *= -1.0
        self._X[:, r] = 2.0 * self._value_of_v() - self._X[:, r]
        self._low[:, own], self._high[:, own] = -self._high[:, own], -self._low[:, own]
        return 0

    def _exchange(self, r: int, q: int, kind: int, row: Vector | None = None) -> None:
        """Let x_q become basic and x_r not, at its lower bound (kind 0) or its upper (1)."""
        row = self._tableau.row(r) if row is None else row
        column = self._tableau.column(q)
        pivot = row[q]
        if abs(pivot) < _PIVOT or abs(pivot - column[r]) > _DRIFT * (1.0 + abs(pivot)):
            raise Lost
        bound = (self._high if kind else self._low)[:, self._basic[r]]
        change = (bound - self._X[:, r]) / pivot
        self._X += change[:, None] * column
        self._X[:, r], self._N[:, q] = self._N[:, q] + change, bound
        z = self._Z[:, q] / pivot
        self._Z -= z[:, None] * row
        self._Z[:, q] = z
        enters, leaves = self._others[q], self._basic[r]
        self._basic[r], self._others[q] = enters, leaves
        self._side[q] = 1.0 - 2 * kind
        if self._m in (enters, leaves):
            self._v = (r, None) if enters == self._m else (None, q)
        self._tableau.exchange(r, q, row, column)


def _hit(room: Vector, slope: Vector) -> tuple[float, int]:
    """Return the first t at which a room ends as t falls, 0 where none does, and its place."""
    places = np.flatnonzero(room < -_TIE)
    places = places[slope[places] > _SLOPE]
    if not places.size:
        return 0.0, 0
    times = -room[places] / slope[places]
    first = int(np.argmax(times))
    return float(times[first]), int(places[first])


def _first(rates: Vector, room: Vector) -> int:
    """Return where the room ends first, at such rates; of near ties the largest rate."""
    places = np.flatnonzero((rates > _PIVOT) & (room < np.inf))
    if not places.size:
        raise Lost
    rate, room = rates[places], np.maximum(room[places], 0.0)
    ends = room / rate <= ((room + _TIE) / rate).min()
    return int(places[np.argmax(np.where(ends, rate, 0.0))])
