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

The tableau holds the basis and what is in play beside it: the hypotheses of least slack and the
examples of least reduced cost. At the end of a walk products with A say what was missed among the
others. It enters, and what it lacks is walked again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.loop import Clock, seconds_left
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.game.solution import Solution
from relaxboost.matrices.bulk import PASS, Bulk
from relaxboost.relaxations import LinearForm
from relaxboost.solvers import pivots
from relaxboost.solvers.tableau import Tableau

_ROUNDING, _LIGHT = 1e-11, 1e-9
"""Violations that are rounding, the least weight of a column."""
_EXACT = 1e-13
"""What x and z may miss of their equations before they are mended."""
_STURDY, _CLOSE = 1e-6, 0.1
"""The least pivot of a first basis, and the part of the largest that will do."""
_APART = 1e-3
"""The part of a mean weight, or of a margin a hundredth of it, by which ties are broken."""
_GOLDEN = 0.6180339887498949
"""Multiples of it, modulo 1, are all apart."""
_TURNS = 200
"""Walks to one game: what the first missed is walked again."""
_BESIDE, _FEW, _FAR = 1, 50, 3
"""How many may be in play beside a basis, for each of it or at all, and how many times that before
the others of them leave."""
_FREE, _SMALL = 3, 500
"""How many examples between bounds, for each hypothesis in use or at all, are near a vertex."""
_SAMPLED = 16
"""One of so many scores is looked at for where the least of them end."""
_LARGEST = 10_000_000
"""Entries at most of a tableau, and of an A that is written down, 8 bytes each."""
_CALL, _ENTRY = 1e-5, 1e-10
"""Seconds of a pivot on one core: those of its vectors, and for each entry of the tableau."""

Lost = np.linalg.LinAlgError
"""A walk cannot go on."""


def form_of(game: Game) -> LinearForm | None:
    """Return the cost and the bounds of f; None for any other f, and for an A too large."""
    form, entries = game.linear_form, (game.n or 0) * game.m
    if form is None or form.rows is not None or not np.isfinite(form.upper).all():
        return None
    if form.cost.size != game.m or not isinstance(game.over, AtomicSet):
        return None
    return form if 0 < entries <= _LARGEST or game.matrix.implicit else None


def near_vertex(solution: Solution) -> bool:
    """Whether few enough examples are between bounds in a solution."""
    form, over = form_of(solution.game), solution.game.over
    if form is None or not isinstance(over, AtomicSet):
        return False
    away, inside = _sides(form, solution.d, form.cost + solution.margins)
    between = inside * over.scale > np.abs(away) * (form.upper - form.lower)
    return bool(between.sum() <= max(_FREE * solution.support.size, _SMALL))


def _sides(form: LinearForm, d: Vector, price: Vector) -> tuple[Vector, Vector]:
    """Return how far prices of examples are from where they are between bounds, and d from these.

    That is the price up to which the cheapest d is at its upper bounds.
    """
    rank = np.argsort(price, kind="stable")
    fill = form.lower.sum() + np.cumsum((form.upper - form.lower)[rank])
    level = price[rank[min(int(np.searchsorted(fill, 1.0)), d.size - 1)]]
    return price - level, np.minimum(d - form.lower, form.upper - d)


def _least(score: Vector, count: int) -> Whole:
    """Return where the `count` least scores are, sought among those up to what a sample says."""
    near, rank = np.arange(score.size), count // _SAMPLED + _SAMPLED
    if rank < score.size // _SAMPLED:
        near = np.flatnonzero(score <= np.partition(score[::_SAMPLED], rank)[rank])
        near = near if near.size > count else np.arange(score.size)
    return near[np.argpartition(score[near], count - 1)[:count]] if count else near[:0]


class Walk:
    """A vertex of a matrix's game, and the way from there to those of other caps or costs.

    It begins near a solution of a game with as many examples and the same hypotheses. Raises Lost
    where the programs are of other forms or too large, or that takes more than `most` seconds.
    """

    margins: Vector
    """Those of the weights that `to` returned."""

    def __init__(self, game: Game, near: Solution, most: float) -> None:
        form, over = form_of(near.game), game.over
        if form is None or form_of(game) is None or not isinstance(over, AtomicSet):
            raise Lost
        if near.game.m != game.m or near.game.n != game.n or near.game.over != over:
            raise Lost
        self._form, self._matrix, self._over = form, game.matrix, over
        self._spent = 0.0
        """About how many seconds this walk took, on one core."""
        self._bulk = bulk = game.matrix.bulk()
        m, n = self._m, self._n = bulk.m, bulk.n
        self._total = m + n + 1
        """The number of Σd among x = (d, v, s, Σd)."""
        self._more = 1.0 + np.arange(1, m + n + 3) * _GOLDEN % 1.0
        self._cost = form.cost
        self._low, self._high = np.zeros((2, 2, m + n + 2))
        """Bounds of x, as (value, slope) in t; where s is at most 2v, what is added to that."""
        self._low[0, m] = 0.0 if over.holds_zero else -np.inf
        self._high[0, m:] = np.inf
        if over.two_sided:
            self._high[0, m + 1 :] = 0.0
        self._low[0, -1] = self._high[0, -1] = 1.0
        self._begin(near, most)
        self._settle()

    def _begin(self, near: Solution, most: float) -> None:
        """Exchange for a basis of examples between bounds and of columns with weight."""
        m, d, w, form, bulk = self._m, near.d, near.w, self._form, self._bulk
        edges = self._for_a_pass().edges(d)
        price = form.cost + self._for_a_pass().margins(w)
        self._sign = np.where(
            self._over.two_sided & (np.where(w == 0.0, edges, w) < 0.0), -1.0, 1.0
        )
        away, inside = _sides(form, d, price)
        heavy = np.where(np.abs(w) > _LIGHT, np.abs(w), 0.0)
        count = max(1, min(int((heavy > 0.0).sum()), m))
        self._resize((count + 1) ** 2)
        if count * self._seconds > most or not near_vertex(near):
            raise Lost
        free = np.argsort(-inside / (np.abs(away) + pivots.TIE), kind="stable")[:count]
        tight = np.lexsort((-self._sign * edges, -heavy))[:count]
        T = np.ones((count + 1, count + 1))  # at first (s, Σd) is basic
        T[:count, :count] = -(bulk.part(free, tight) * self._sign[tight]).T
        T[count, count] = 0.0
        self._tableau = Tableau(T)
        self._rows, self._cols = np.append(m + 1 + tight, self._total), np.append(free, m)
        """The numbers of x_B and of x_N, those in play."""
        self._exchange(count, 0)
        self._exchange(0, count)
        left = np.arange(1, count)
        for r in range(1, count):
            seconds_left()  # or time is up
            row = self._tableau.row(r)
            sizes = np.abs(row[left])
            if sizes.max(initial=0.0) > _STURDY:
                place = int(np.argmax(sizes >= _CLOSE * sizes.max()))
                self._exchange(r, int(left[place]), row)
                left = np.delete(left, place)
        self._marks = np.array([0, -1, m, m + 1 if self._over.two_sided else self._total + 1])
        """The row, or else the column, of v, and -1; what else pivots are to know."""
        self._at = np.where(away < 0.0, -1.0, 1.0)
        """The bound that examples are at where they are not basic, as in `_side`."""
        known, cols = np.concatenate([d, np.zeros(self._n + 2)]), self._cols
        self._X = np.stack([known[self._rows], np.zeros(count + 1)])
        """x_B and x_N, (value, slope) in t; z_N too."""
        self._N, self._Z = np.zeros((2, 2, count + 1))
        self._N[0, cols == self._total] = 1.0
        known[m + 1 : -1] = np.abs(w)
        self._Z[0] = np.where(cols > m, known[cols], 0.0)
        self._side = np.where(cols < m, np.append(self._at, np.ones(self._n + 2))[cols], 1.0)
        """Of x_N: 1 at the lower bound, -1 at the upper; 0 for Σd, which stays."""
        self._side[cols == self._total] = 0.0
        self._stand(form, 0.0)

    def _exchange(self, r: int, q: int, row: Vector | None = None) -> None:
        """Let x_r and x_q change sides."""
        row = self._tableau.row(r) if row is None else row
        self._rows[r], self._cols[q] = self._cols[q], self._rows[r]
        self._tableau.exchange(r, q, row, self._tableau.column(q))

    def _resize(self, size: int) -> None:
        """Note the entries of the tableau, and what a pivot takes."""
        if size > _LARGEST:
            raise Lost
        self._seconds = _CALL + _ENTRY * size

    def _for_a_pass(self) -> Bulk:
        """Return the matrix, for one pass more; raise TimeUp where there is no time for it."""
        seconds_left()
        self._spent += PASS * self._matrix.entries
        return self._bulk

    def fits(self, game: Game) -> bool:
        """Whether it can go on to a game."""
        return game.matrix is self._matrix and game.over == self._over

    def to(self, game: Game, clock: Clock, most: float) -> tuple[Vector, Vector]:
        """Return (d, w) at an optimum of a game.

        Or raise Lost, and be good for nothing: a basis is singular, or the walk would take more
        than `most` seconds on one core.
        """
        old, new, short = self._form, form_of(game), False
        if new is None:
            raise Lost
        self._spent = 0.0
        for turn in range(_TURNS):
            entered = self._admit(turn == 0, short)
            if short and not entered:
                break
            self._set_out(old, new)
            t = self._run(clock, most)
            short = t > 0.0
            old = self._form = _between(old, new, t)
            self._stand(old, t)
            self._settle()
            if not short and self._worst() >= -_ROUNDING:
                return self._d, self._sign * self._w
            if self._spent > most:
                break
        raise Lost

    # What is in play

    def _worst(self) -> float:
        """Return the largest violation of all, negative."""
        s, z = self._scores
        own = (self._side * self._Z[0]).min()
        return float(min(s.min(), z.min(), self._rooms()[:, 0].min(), own))

    def _admit(self, fresh: bool, short: bool) -> bool:
        """Bring into play what is beyond its bounds, and near them; return whether anything came.

        At the beginning of a game what has got far leaves. Where what is in play was short, more
        enters.
        """
        m, rows, cols = self._m, self._rows, self._cols
        some = max(_FEW, int(_BESIDE * (cols > m).sum()))
        of_s = rows[(rows > m) & (rows < self._total)] - m - 1, cols[cols > m] - m - 1
        of_d = cols[cols < m], rows[rows < m]
        of_s = of_s[0], of_s[1][of_s[1] < self._n]
        new, gone = [], []
        for score, (loose, basis) in zip(self._scores, (of_s, of_d), strict=True):
            if fresh and loose.size > _FAR * some:
                gone.append(loose[np.argsort(score[loose], kind="stable")[some:]])
            else:
                gone.append(loose[:0])
            score = score.copy()
            score[loose] = score[basis] = np.inf
            bad = int(np.count_nonzero(score < -pivots.TIE))
            wanted = some - loose.size if fresh else 0
            if bad or short:
                wanted = max(wanted, min(max(bad, _FEW), some))
            wanted = max(0, min(wanted, score.size - loose.size - basis.size))
            new.append(np.sort(_least(score, wanted)))
        if gone[0].size or gone[1].size:
            self._drop(m + 1 + gone[0], gone[1])
        if new[1].size:
            self._add_examples(new[1])
        if new[0].size:
            self._add_hypotheses(new[0])
        self._resize(self._rows.size * self._cols.size)
        return bool(new[0].size or new[1].size)

    def _drop(self, rows: Whole, cols: Whole) -> None:
        """Take these x_B and x_N out of play."""
        stays = np.ones(self._total + 1, dtype=bool)
        stays[rows] = stays[cols] = False
        r, c = np.flatnonzero(stays[self._rows]), np.flatnonzero(stays[self._cols])
        self._tableau.renew(self._tableau.T[np.ix_(r, c)])
        self._rows, self._X = self._rows[r], self._X.take(r, axis=1)
        self._cols, self._side = self._cols[c], self._side[c]
        self._N, self._Z = self._N.take(c, axis=1), self._Z.take(c, axis=1)
        for k, ids in enumerate((self._rows, self._cols)):
            found = np.flatnonzero(ids == self._m)
            self._marks[k] = found[0] if found.size else -1

    def _signed(self, examples: Whole, hypotheses: Whole) -> Array:
        """Return entries of A with the signs of the hypotheses."""
        return self._bulk.part(examples, hypotheses) * self._sign[hypotheses]

    def _add_examples(self, new: Whole) -> None:
        """Bring examples into play, at their bounds: s and Σd would move, were they not basic."""
        m, T, total = self._m, self._tableau.T, self._total
        tight = np.flatnonzero((self._cols > m) & (self._cols < total))
        slack = np.flatnonzero((self._rows > m) & (self._rows < total))
        part = T[:, tight] @ self._signed(new, self._cols[tight] - m - 1).T
        part -= T[:, self._cols == total]
        part[slack] -= self._signed(new, self._rows[slack] - m - 1).T
        self._tableau.renew(np.hstack([T, part]))
        self._cols, self._side = np.append(self._cols, new), np.append(self._side, self._at[new])
        none = np.zeros(new.size)
        self._N = np.hstack([self._N, [self._d[new], none]])
        self._Z = np.hstack([self._Z, [self._z[new], none]])

    def _add_hypotheses(self, new: Whole) -> None:
        """Bring hypotheses into play, whose s are basic."""
        m, T = self._m, self._tableau.T
        if self._over.two_sided:
            self._sign[new] = np.where(self._edges[new] < 0.0, -1.0, 1.0)
        basic, other = np.flatnonzero(self._rows < m), np.flatnonzero(self._cols < m)
        entries = self._signed(np.append(self._rows[basic], self._cols[other]), new).T
        part = self._row_of_v() - entries[:, : basic.size] @ T[basic]
        part[:, other] -= entries[:, basic.size :]
        self._tableau.renew(np.vstack([T, part]))
        self._rows = np.append(self._rows, m + 1 + new)
        slack = self._value - self._sign[new] * self._edges[new]
        self._X = np.hstack([self._X, [slack, np.zeros(new.size)]])

    def _row_of_v(self) -> Vector:
        row, column = self._marks[:2]
        return self._tableau.T[row] if row >= 0 else 1.0 * (np.arange(self._cols.size) == column)

    # Points

    def _spread(self, kind: int) -> Vector:
        """Return (d, v) with what is out of play: values (0), or slopes (1)."""
        m = self._m
        x = np.append(np.where(self._at < 0.0, self._high[kind, :m], self._low[kind, :m]), 0.0)
        for ids, values in ((self._cols, self._N[kind]), (self._rows, self._X[kind])):
            at = ids <= m
            x[ids[at]] = values[at]
        return x

    def _missed(self, kind: int) -> Vector:
        """Make x_B of rough basic (d, v) and A; return what x_N then misses of its equations."""
        x = self._spread(kind)
        d, v = x[:-1], x[-1]
        edges = self._for_a_pass().edges(d)
        whole = np.concatenate([x, v - self._sign * edges, [d.sum()]])
        self._X[kind] = whole[self._rows]
        if kind == 0:
            self._d, self._value, self._edges = d, float(v), edges
        return np.where(self._cols > self._m, self._N[kind] - whole[self._cols], 0.0)

    def _stand(self, form: LinearForm, t: float) -> None:
        """Stay at t, between these bounds."""
        m, at = self._m, self._cols < self._m
        self._at[self._cols[at]] = self._side[at]
        self._low[0, :m], self._high[0, :m] = form.lower, form.upper
        bounds = np.where(self._side < 0.0, self._high[0, self._cols], self._low[0, self._cols])
        self._N[0, at] = bounds[at]
        self._X[0] += t * self._X[1]

    def _settle(self) -> None:
        """Mend x and z by what they miss of their equations in A, and make them for all."""
        miss = self._missed(0)
        if np.abs(miss).max() > _EXACT:
            self._X[0] += self._tableau.T @ miss
            self._missed(0)
        self._reduce()
        z = self._at * self._z[:-1]
        z[self._rows[self._rows < self._m]] = 0.0
        slack = np.abs(self._edges) if self._over.two_sided else self._sign * self._edges
        self._scores = self._value - slack, z
        """How far each hypothesis and each example is from entering, negative beyond."""

    def _reduce(self) -> None:
        """Mend the reduced costs, and make those of all examples."""
        own = self._rows <= self._m
        self._z = self._reduced()
        miss = np.where(own, self._z[np.where(own, self._rows, 0)], 0.0)
        if np.abs(miss).max() > _EXACT:
            self._Z[0] += miss @ self._tableau.T
            self._z = self._reduced()
        own = self._cols <= self._m
        self._Z[0, own] = self._z[self._cols[own]]

    def _reduced(self) -> Vector:
        """Return what those of d and v are to be, given those of s and of Σd."""
        own = self._cols > self._m
        z = np.zeros(self._n + 1)
        z[self._cols[own] - self._m - 1] = self._Z[0, own]
        self._w = z[:-1]
        self.margins = self._for_a_pass().margins(self._sign * self._w)
        return np.append(self._cost + self.margins - z[-1], self._over.scale - self._w.sum())

    def _rooms(self) -> Array:
        """Return how far x_B is from its bounds, (lower or upper, value or slope, rows)."""
        ids, (row, column) = self._rows, self._marks[:2]
        rooms = np.empty((2, *self._X.shape))
        rooms[0] = self._X - self._low.take(ids, axis=1)
        rooms[1] = self._high.take(ids, axis=1) - self._X
        if self._over.two_sided:
            v = self._X[:, row] if row >= 0 else self._N[:, column]
            rooms[1] += np.outer(2.0 * v, ids > self._m)
        return rooms

    # The way

    def _set_out(self, old: LinearForm, new: LinearForm) -> None:
        """Let bounds move from old to new ones, and make x and z feasible at t = 1."""
        m, rows, cols = self._m, self._rows, self._cols
        low, high = self._low, self._high
        for bound, to, was in ((low, new.lower, old.lower), (high, new.upper, old.upper)):
            bound[0, :m], bound[1, :m], bound[1, m:] = to, was - to, 0.0
        self._N = np.where(self._side < 0.0, high.take(cols, axis=1), low.take(cols, axis=1))
        self._X[1] = 0.0
        if old is not new:
            miss = self._missed(1)
            self._X[1] += self._tableau.T @ miss
            self._X[0] -= self._X[1]
        for ids in (rows, cols):
            tie = _APART / m * self._more[ids]
            low[1][ids] -= tie
            high[1][ids] += tie
        away = self._side * (_APART / m * self._more[cols])
        self._N[1] -= away
        self._X[1] -= self._tableau.T @ away
        if (new.cost != self._cost).any():
            self._cost = new.cost
            self._reduce()
        # Each by another factor: else all meet their bounds at t = 0.
        lack = self._more[rows] * np.minimum(self._rooms().sum(axis=1), 0.0)
        low[1][rows] += lack[0]
        high[1][rows] -= lack[1]
        short = 0.01 * _APART - np.minimum(self._side * self._Z[0], 0.0)
        self._Z[1] = self._side * self._more[cols] * short

    def _run(self, clock: Clock, most: float) -> float:
        """Go from t = 1 to 0, unless that is foreseen to take more than so many seconds.

        Return 0, or the t from which on what is in play does not do.
        """
        tableau, t, count = self._tableau, 1.0, 0
        while True:
            clock.check()
            before = tableau.waiting
            state, t = pivots.walk(
                tableau.parts,
                (self._X, self._N, self._Z),
                (self._rows, self._cols, self._side, self._marks),
                (self._low, self._high, self._sign),
                t,
            )
            count += tableau.waiting - before
            tired = self._spent + count / max(1.0 - t, 0.25) * self._seconds > most
            if state == pivots.LOST or (tired and state == pivots.FULL):
                raise Lost
            if state != pivots.FULL:
                self._spent += count * self._seconds
                return t
            tableau.apply()


def _between(old: LinearForm, new: LinearForm, t: float) -> LinearForm:
    """Return the bounds at t, with the new costs, to which what is missing has gone."""
    if t == 0.0:
        return new
    lower, upper = (b + t * (a - b) for a, b in ((old.lower, new.lower), (old.upper, new.upper)))
    return replace(new, lower=lower, upper=upper)
