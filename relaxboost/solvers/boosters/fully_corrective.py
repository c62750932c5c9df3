"""Fully corrective Frank–Wolfe for games over Euclidean sets, such as an l2 ball."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.game.domains import Dense
from relaxboost.game.domains.euclidean import EuclideanSet
from relaxboost.game.game import Game
from relaxboost.solvers import work
from relaxboost.solvers.boosters.accuracy import INNER_ACCURACY_RATIO
from relaxboost.solvers.boosters.hull import Hull, prepare_reweigh
from relaxboost.solvers.dense import DensePoint
from relaxboost.solvers.method import Method, default_beta
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.smoothing import Projector
from relaxboost.solvers.steps import Segment, Step, line_search
from relaxboost.solvers.stopping import Tolerance
from relaxboost.solvers.warm_start import WarmStart


@dataclass(frozen=True)
class FullyCorrective(Method):
    """Fully corrective Frank–Wolfe for games over Euclidean sets (`L2Ball`, `SquaredNorm`).

    The worst distribution for weights w is the distribution d that attains the relaxed margin
    F(Aw), where A is the margin matrix. A round computes the worst distribution for the current w,
    and then optimises d over the convex hull of all distributions found so far. Over a Euclidean
    set the best w is dense, so the method optimises d instead of the weights of single columns. For
    the hard margin this is the minimum-norm-point algorithm for the rows of A.

    References
    ----------
    Jaggi (2013), Revisiting Frank–Wolfe, Sec. 2, the fully corrective variant; Wolfe (1976),
    Finding the nearest point in a polytope.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, -1], [0.5, 1]], over=rb.L2Ball(1))
    >>> rb.solve(game, tol=1e-9, method="fully-corrective").status
    'optimal'
    """

    name = "fully-corrective"

    def check(self, game: Game) -> None:
        """Raise an InputError if the domain of the weights is not a Euclidean set."""
        if not isinstance(game.over, EuclideanSet):
            raise InputError(
                f"FullyCorrective() is for games over Euclidean sets, but this game is over "
                f'{game.over!r}; use method="auto"'
            )

    def prepare(self) -> None:
        """Compile the kernel `reweigh`."""
        prepare_reweigh()

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        return FullyCorrectiveRun(game, goal.tol, clock).named("fully-corrective")


class FullyCorrectiveRun(Booster):
    """A run of fully corrective Frank–Wolfe, which minimises f(d) + g(Aᵀd) over distributions d.

    Here f is the relaxation, A is the margin matrix, and g is the support function of the ball of
    w, or the conjugate of the penalty on w. The worst distribution for w attains the relaxed margin
    F(Aw), which is the minimum of <d, Aw> + f(d) over the distributions d.

    A round first moves w to the best weights for the current d, and adds the worst distribution for
    the new w to a list. Pairwise steps then minimise the objective over the convex combinations d =
    Σ λ_i d_i of the distributions d_i in the list. The steps replace f(d) by its upper bound Σ λ_i
    f(d_i).

    If the domain is a ball of radius r, then g(v) = r ‖v‖ is not smooth at 0. The run replaces g by
    r sqrt(‖v‖² + δ²) with r δ = tol/2. The new function exceeds g by at most tol/2. Its best w may
    lie inside the ball, as it must if w = 0 is optimal.

    If f is strongly convex, Σ λ_i f(d_i) is far above f(d) in the first rounds, and the best w
    changes considerably from round to round. A round then moves w only part of the way, by a line
    search on F(Aw). Such a round increases F(Aw) at least as much as a Frank–Wolfe step.
    """

    inner = "hull"
    active: DensePoint

    def __init__(self, game: Game, tol: float, clock: Clock) -> None:
        assert isinstance(game.over, EuclideanSet)
        self._game = game
        self._tol = tol
        self._clock = clock
        self._project: Projector | None = None
        # If f is less strongly convex than the entropy that smoothed methods add, small changes of
        # the margins can cause large changes of d, and a line search would not help.
        if game.relaxation.curvature(game.m) >= default_beta(game.entropy_range, tol):
            self._project = lambda u: game.relaxation.relaxed_margin(u)[1]
        self._stretch = 1.0
        self._smoothed_support = game.over.smoothed_answer(tol)
        self.active = DensePoint(game.matrix, game.over)
        self.d = game.relaxation.center(game.m)
        self._hull = Hull(game)
        self._hull.start_at(self.d)
        # The slope of the first line search needs the distribution that is worst for the start.
        self._worst = self.d
        if self._project is not None:
            self._join(self._project(self.active.u))

    @staticmethod
    def unfit(game: Game) -> str:
        """Return why fully corrective steps cannot solve a game, or "" if they can."""
        if isinstance(game.over, EuclideanSet):
            return ""
        return f"they are for L2Ball and SquaredNorm, and w ranges over {game.over!r}"

    def warmed(self, start: WarmStart) -> Booster:
        """Start the run from the points d and w of a warm start, and return this booster.

        The convex hull starts with d and the worst distribution for w.
        """
        if start.w is not None:
            self.active.load(*start.w)
            self._join(self._game.relaxation.relaxed_margin(self.active.u)[1])
        if start.d is not None:
            self._hull.start_at(start.d)
            self.d = start.d
        return self

    def advance(self, best: Dense) -> Booster | None:
        """Move the weights w towards `best`, and optimise the distribution d over the hull.

        The worst distribution for the new w is added first. Return None if neither w nor the
        weights of the distributions have changed.
        """
        self._clock.check()
        # `best` is the best w for g. Scaling it gives the best w for the smoothed g.
        _, curve, base = self._smoothed_support
        bend = math.sqrt(curve * best.edge * best.edge + base)
        w = best.w if curve == 0.0 else best.w * (best.edge / bend)
        margins = self.active.u
        self._towards(Dense(w, best.edge))
        hull = self._hull
        before = hull.weights[: hull.used].copy()
        steps = hull.optimise(self._smoothed_support, INNER_ACCURACY_RATIO * self._tol)
        # The edges of the new distribution and the margins of the new w are two passes over A.
        self.work += 2.0 + steps * hull.used / work.entries(self._game)
        if np.array_equal(before, hull.weights[: hull.used]):
            # If only w has changed, another round is needed, because w may raise the lower bound.
            if np.array_equal(margins, self.active.u):
                self.end("the last round changed neither w nor the weights of the hull")
                return None
            return self
        # The mean of feasible distributions is feasible up to rounding.
        self.d = self._game.relaxation.repair(hull.point())
        return self

    def _towards(self, best: Dense) -> None:
        active = self.active
        v, size = active.direction(best)
        # Without strong convexity the best w of the hull is the next w, as in Wolfe's algorithm.
        found = Step(1.0)
        if self._project is not None:
            # The slope of F(Aw) towards the best w is at least the gap, so F(Aw) increases enough.
            # The reason is a concave function Φ(w): the minimum over the hull of <d, Aw> plus the
            # weighted mean of the values of f. It is largest at the best w, at least F(Aw), and
            # equal to F(Aw) at the current w.
            bend = active.bend(best)
            segment = Segment(active.u, v, float(self._worst @ v) - bend[0], bend=bend, size=size)
            curvature = self._game.relaxation.curvature(self._game.m)
            found = line_search(self._project, curvature, segment, stretch=self._stretch)
            self._stretch = found.stretch or self._stretch
        active.move(best, found.eta, active.u + found.eta * v)
        # The line search usually knows the distribution at its end; if not, f finds it.
        worst = found.d
        if worst is None:
            worst = self._game.relaxation.relaxed_margin(active.u)[1]
        self._join(worst)

    def _join(self, worst: Vector) -> None:
        self._worst = worst
        self._hull.include(self._game.relaxation.repair(worst))
