"""Any convex loss by its values and subgradients: the level method, whose lower bound is a cut's.

The model m(w) = max over cuts of offset + <slope, w> is below L. An average of cuts is a cut, and

    min over W of L  >=  Σ α_k offset_k − σ_W(−Σ α_k slope_k),   α >= 0, Σα = 1.

The multipliers of the master program are such an α, and need not be believed. The next query is the
point nearest to the best so far where the model is below a level between the bounds, since the
minimisers of the model jump about (Lemaréchal, Nemirovskii & Nesterov 1995).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from relaxboost._core.arrays import Matrix, Vector
from relaxboost._core.loop import Clock
from relaxboost._core.rounding import down, roundoff
from relaxboost.game.domains import AtomicSet, L2Ball
from relaxboost.online.comparators.cumulative import Cumulative, Minorant
from relaxboost.online.comparators.newton import State

_LEVEL = 0.3
"""Where between the bounds the level is."""
_STALLED = 40
"""Rounds that moved neither bound after which rounding is to blame."""
_MOST = 200
"""Cuts to keep, beside four for each base function; the longest inactive go first."""
_ACTIVE = 1e-9


def linear(problem: Cumulative) -> Iterator[State]:
    """Yield the answer for a loss that is linear in w, which its gradient tells."""
    _, cut = problem.cut(problem.center())
    w = problem.answer(-cut.slope)
    yield State(w, problem.cut(w)[0], _proved(problem, [cut], np.ones(1)))


def level(problem: Cumulative, start: Vector | None, clock: Clock) -> Iterator[State]:
    """Yield the rounds of the level method; see `newton.smooth`."""
    w = problem.center() if start is None else problem.feasible(start)
    model = _Model(problem)
    best, upper, lower, still = w, math.inf, -math.inf, 0
    while still < _STALLED:
        clock.check()
        value, cut = problem.cut(w)
        model.add(cut)
        before = upper, lower
        if value < upper:
            best, upper = w, value
        least, bound = model.minimise()
        lower = max(lower, bound)
        yield State(best, upper, lower)
        still = still + 1 if (upper, lower) == before else 0
        target = lower + _LEVEL * (upper - lower)
        near = model.nearest(best, target) if math.isfinite(target) else least
        if near is None:
            near = least
        if near is None or not (problem.over.holds_zero or float(near.max()) > 0.0):
            return  # Clarabel failed, or its answer is rounding alone
        w = problem.feasible(near)


def _proved(problem: Cumulative, cuts: list[Minorant], alpha: Vector) -> float:
    """Return the bound that an average of cuts proves, rounded down."""
    near = roundoff(alpha.size + 4)
    offsets = np.array([cut.offset - cut.noise for cut in cuts])
    slopes = np.array([cut.slope for cut in cuts])
    # Any α >= 0 of sum 1 will do: what is left of 1 by rounding is charged with the rest.
    alpha = alpha / alpha.sum()
    offset = float(alpha @ offsets) - 2.0 * near * float(alpha @ np.abs(offsets))
    error = 2.0 * near * float((alpha @ np.abs(slopes)).max())
    return down(down(offset) - problem.support(-(alpha @ slopes), error))


class _Model:
    """The cuts, and Clarabel's answers to the two programs over them."""

    def __init__(self, problem: Cumulative) -> None:
        self._problem, self._most = problem, _MOST + 4 * problem.M
        self._cuts: list[Minorant] = []
        self._idle: list[int] = []
        self._atoms = _atoms(problem.over, problem.M)

    def add(self, cut: Minorant) -> None:
        """Add a cut; let the longest inactive go where they are too many."""
        self._cuts.append(cut)
        self._idle.append(0)
        if len(self._cuts) > self._most:
            keep = np.sort(np.argsort(self._idle, kind="stable")[: 3 * self._most // 4])
            self._cuts = [self._cuts[k] for k in keep]
            self._idle = [self._idle[k] for k in keep]

    def minimise(self) -> tuple[Vector | None, float]:
        """Return a minimiser of the model, or None, and the bound its multipliers prove."""
        G, b, _ = self._scaled()
        K = G.shape[1]
        rows = np.hstack([G, -np.ones((len(G), 1))])
        found = _solve(np.zeros((K + 1, K + 1)), np.append(np.zeros(K), 1.0), (rows, -b), self)
        if found is None:
            return None, -math.inf
        x, alpha = found
        alpha = np.maximum(alpha, 0.0)
        total = float(alpha.sum())
        if not (math.isfinite(total) and total > 0.0):
            return None, -math.inf
        active = alpha > _ACTIVE * total
        self._idle = [0 if used else n + 1 for n, used in zip(self._idle, active, strict=True)]
        return self._atoms @ x[:K], _proved(self._problem, self._cuts, alpha)

    def nearest(self, centre: Vector, target: float) -> Vector | None:
        """Return the w nearest to a centre where the model is at most `target`, or None."""
        G, b, size = self._scaled()
        E = self._atoms
        found = _solve(E.T @ E, -(E.T @ centre), (G, target / size - b), self)
        return None if found is None else E @ found[0]

    def _scaled(self) -> tuple[Matrix, Vector, float]:
        """Return slopes in x and offsets, in units of the largest value a cut has on W."""
        slopes = np.array([cut.slope for cut in self._cuts])
        offsets = np.array([cut.offset for cut in self._cuts])
        size = max(float(np.abs(offsets).max()), float(np.abs(slopes).max()), 1e-300)
        return slopes @ self._atoms / size, offsets / size, size

    def domain(self, columns: int) -> tuple[Matrix, Vector, list[Any]]:
        """Return rows, right-hand sides and cones of x in the domain, for so many variables."""
        import clarabel

        over, K = self._problem.over, self._atoms.shape[1]
        if isinstance(over, L2Ball):
            rows = np.vstack([np.zeros((1, columns)), -np.eye(K, columns)])
            cones = [clarabel.SecondOrderConeT(K + 1)]
            return rows, np.append(float(over.radius), np.zeros(K)), cones
        total = np.zeros((1, columns))
        total[0, :K] = 1.0
        rows = np.vstack([total, -np.eye(K, columns)])
        right = np.append(over.scale, np.zeros(K))
        if over.holds_zero:
            return rows, right, [clarabel.NonnegativeConeT(K + 1)]
        return rows, right, [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(K)]


def _atoms(over: AtomicSet | L2Ball, M: int) -> Matrix:
    """Return E with w = E x."""
    if isinstance(over, AtomicSet) and over.two_sided:
        return np.hstack([np.eye(M), -np.eye(M)])
    return np.eye(M)


def _solve(
    P: Matrix, q: Vector, below: tuple[Matrix, Vector], model: _Model
) -> tuple[Vector, Vector] | None:
    """Return the minimiser of xᵀPx/2 + <q, x> and the multipliers of the rows; None if none."""
    import clarabel
    from scipy import sparse

    rows, right = below
    more, ends, cones = model.domain(rows.shape[1])
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(np.triu(P)),
        q,
        sparse.csc_matrix(np.vstack([rows, more])),
        np.append(right, ends),
        [clarabel.NonnegativeConeT(len(rows)), *cones],
        settings,
    )
    found = solver.solve()
    x, z = np.array(found.x), np.array(found.z)
    if not (np.isfinite(x).all() and np.isfinite(z).all()) or "nfeasible" in str(found.status):
        return None
    return x, z[: len(rows)]
