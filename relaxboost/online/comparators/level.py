"""The level bundle method, for convex losses that are known by values and subgradients only.

The model of the loss is the maximum over all cuts of offset + <slope, w>, which is below the loss
L. An average of cuts is also below the loss, and it proves the lower bound

    min over W of L  >=  Σ α_k offset_k − σ_W(−Σ α_k slope_k),   α >= 0, Σα = 1,

where σ_W is the support function of the domain W. The multipliers of the master program are used as
α, and any α gives a valid bound. The minimisers of the model oscillate. The next query is therefore
the point nearest to the incumbent at which the model is below a level between the two bounds
(Lemaréchal, Nemirovskii & Nesterov 1995).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from relaxboost._core.arrays import Matrix, Vector
from relaxboost._core.loop import Clock
from relaxboost._core.rounding import down, roundoff
from relaxboost.game.domains import AtomicSet, L2Ball
from relaxboost.online.comparators.cumulative import Cumulative, Minorant
from relaxboost.online.comparators.newton import State


def linear(problem: Cumulative) -> Iterator[State]:
    """Yield the exact answer for a loss that is linear in w."""
    # The gradient is the same everywhere, so a single cut is exact.
    _, cut = problem.cut(problem.center())
    w = problem.answer(-cut.slope)
    yield State(w, problem.cut(w)[0], _proved(problem, [cut], np.ones(1)))


def level(problem: Cumulative, start: Vector | None, clock: Clock) -> Iterator[State]:
    """Yield the rounds of the level method, starting at the weights `start`.

    The method ends after 40 rounds in which rounding errors prevented any improvement.
    """
    w = problem.center() if start is None else problem.feasible(start)
    model = _Model(problem)
    best = w
    upper = math.inf
    lower = -math.inf
    idle = 0
    # Without rounding errors, every round moves a bound.
    while idle < 40:
        clock.check()
        value, cut = problem.cut(w)
        model.add(cut)
        before = (upper, lower)
        if value < upper:
            best = w
            upper = value
        least, bound = model.minimise()
        lower = max(lower, bound)
        yield State(best, upper, lower)
        idle = idle + 1 if (upper, lower) == before else 0
        # 0.3 is near 1 − 1/√2, the optimal level of Lemaréchal, Nemirovskii & Nesterov (1995).
        target = lower + 0.3 * (upper - lower)
        near = model.nearest(best, target) if math.isfinite(target) else None
        # If no level is known, the minimiser of the model is the next query.
        if near is None:
            near = least
        # Clarabel failed, or its answer consists of rounding errors.
        if near is None or not (problem.over.holds_zero or float(near.max()) > 0.0):
            return
        w = problem.feasible(near)


def _proved(problem: Cumulative, cuts: list[Minorant], alpha: Vector) -> float:
    """Return the lower bound that the average of the cuts with weights α proves, rounded down."""
    near = roundoff(alpha.size + 4)
    offsets = np.array([cut.offset - cut.noise for cut in cuts])
    slopes = np.array([cut.slope for cut in cuts])
    # The sum of α differs from 1 by rounding, and `near` includes this difference.
    alpha = alpha / alpha.sum()
    offset = float(alpha @ offsets) - 2.0 * near * float(alpha @ np.abs(offsets))
    error = 2.0 * near * float((alpha @ np.abs(slopes)).max())
    return down(down(offset) - problem.support(-(alpha @ slopes), error))


class _Model:
    """The cuts, and the two programs over the cuts, which Clarabel solves."""

    def __init__(self, problem: Cumulative) -> None:
        self._problem = problem
        self._cuts: list[Minorant] = []
        self._idle: list[int] = []
        """For each cut, the number of rounds since its multiplier was last positive."""
        over = problem.over
        one = sparse.eye_array(problem.M, format="csr")
        two_sided = isinstance(over, AtomicSet) and over.two_sided
        self._atoms: Any = sparse.hstack([one, -one], format="csr") if two_sided else one
        """The matrix E such that w = E x, where x is the variable of the programs."""

    def add(self, cut: Minorant) -> None:
        """Add a cut. If there are too many cuts, remove those that were inactive for longest."""
        self._cuts.append(cut)
        self._idle.append(0)
        # An optimum has at most M + 1 active cuts, so four per base function are enough.
        limit = 200 + 4 * self._problem.M
        if len(self._cuts) > limit:
            keep = np.sort(np.argsort(self._idle, kind="stable")[: 3 * limit // 4])
            self._cuts = [self._cuts[k] for k in keep]
            self._idle = [self._idle[k] for k in keep]

    def minimise(self) -> tuple[Vector | None, float]:
        """Return a minimiser of the model, or None, and the lower bound of its multipliers."""
        G, b, _ = self._scaled()
        K = G.shape[1]
        # The last variable is an upper bound on all cuts, which is minimised.
        rows = np.hstack([G, -np.ones((len(G), 1))])
        found = self._solve(sparse.csc_array((K + 1, K + 1)), np.append(np.zeros(K), 1.0), rows, -b)
        if found is None:
            return None, -math.inf
        x, alpha = found
        # Any nonnegative α is valid, so negative rounding errors are set to 0.
        alpha = np.maximum(alpha, 0.0)
        total = float(alpha.sum())
        if not (math.isfinite(total) and total > 0.0):
            return None, -math.inf
        # Clarabel's multipliers of inactive cuts are positive, but at most its tolerance.
        active = alpha > 1e-9 * total
        self._idle = [0 if used else n + 1 for n, used in zip(self._idle, active, strict=True)]
        return self._atoms @ x[:K], _proved(self._problem, self._cuts, alpha)

    def nearest(self, centre: Vector, target: float) -> Vector | None:
        """Return the w nearest to `centre` at which the model is at most `target`, or None."""
        G, b, size = self._scaled()
        E = self._atoms
        found = self._solve(E.T @ E, -(E.T @ centre), G, target / size - b)
        return None if found is None else E @ found[0]

    def _scaled(self) -> tuple[Matrix, Vector, float]:
        """Return the slopes in x and the offsets, divided by the largest of their entries."""
        slopes = np.array([cut.slope for cut in self._cuts])
        offsets = np.array([cut.offset for cut in self._cuts])
        # Clarabel needs numbers of moderate size.
        size = max(float(np.abs(offsets).max()), float(np.abs(slopes).max()), 1e-300)
        return (self._atoms.T @ slopes.T).T / size, offsets / size, size

    def _domain(self, columns: int) -> tuple[Any, Vector, list[Any]]:
        """Return the rows, right-hand sides and cones that describe the domain.

        The program has the given number of variables, of which the first ones are x.
        """
        import clarabel

        over = self._problem.over
        K = self._atoms.shape[1]
        total = np.zeros((1, columns))
        bounds = -sparse.eye_array(K, columns)
        if isinstance(over, L2Ball):
            right = np.append(float(over.radius), np.zeros(K))
            return sparse.vstack([total, bounds]), right, [clarabel.SecondOrderConeT(K + 1)]
        # The first row is Σx = radius, or Σx <= radius if the domain contains 0.
        total[0, :K] = 1.0
        rows = sparse.vstack([total, bounds])
        right = np.append(over.scale, np.zeros(K))
        if over.holds_zero:
            return rows, right, [clarabel.NonnegativeConeT(K + 1)]
        return rows, right, [clarabel.ZeroConeT(1), clarabel.NonnegativeConeT(K)]

    def _solve(
        self, P: Any, q: Vector, rows: Matrix, right: Vector
    ) -> tuple[Vector, Vector] | None:
        """Return the minimiser of xᵀPx/2 + <q, x> and the multipliers of rows · x <= right.

        The first variables lie in the domain. The result is None if Clarabel finds no solution.
        """
        import clarabel

        more, ends, cones = self._domain(rows.shape[1])
        # The bounds do not rely on the accuracy of Clarabel, but a low accuracy costs rounds.
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.max_threads = 1
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
        solver = clarabel.DefaultSolver(
            sparse.csc_matrix(sparse.triu(P)),
            q,
            sparse.csc_matrix(sparse.vstack([rows, more])),
            np.append(right, ends),
            [clarabel.NonnegativeConeT(len(rows)), *cones],
            settings,
        )
        found = solver.solve()
        x = np.array(found.x)
        z = np.array(found.z)
        # Clarabel reports some failures by numbers that are not finite.
        if not (np.isfinite(x).all() and np.isfinite(z).all()) or "nfeasible" in str(found.status):
            return None
        return x, z[: len(rows)]
