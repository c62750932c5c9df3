"""The rounds of fully corrective Frank–Wolfe over the hull of the worst distributions."""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import Clock
from relaxboost.game.domains import Dense
from relaxboost.game.domains.euclidean import EuclideanSet
from relaxboost.game.game import Game
from relaxboost.solvers import work
from relaxboost.solvers.boosters.accuracy import INNER_SHARE
from relaxboost.solvers.boosters.hull import Hull
from relaxboost.solvers.dense import DensePoint
from relaxboost.solvers.method import default_beta
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.smoothing import Projector, Unsmoothed
from relaxboost.solvers.steps import Segment, Step, line_search
from relaxboost.solvers.warm_start import WarmStart


class FullyCorrectiveRun(Booster):
    """Each round minimises f(d) + g(Aᵀd) over the hull of the worst distributions seen so far.

    Over a Euclidean set the support function g is smooth, and the best w follows from d. So the
    players exchange their roles: Frank–Wolfe moves d, and the distribution that attains the relaxed
    margin F(A w) of the present w is the new corner of the hull. Pairwise steps optimise the
    weights within the hull. Between the corners the hull replaces f by the mean of its values,
    which is an upper bound since f is convex.

    The support function g(v) = r ‖v‖ of a ball of radius r is not smooth at 0. The run replaces g
    by r sqrt(‖v‖² + δ²) with r δ = tol/2. The new function exceeds g by at most tol/2. Its best w
    may lie inside the ball. The optimal w also lies inside the ball if A w = 0 is optimal.

    If f is strongly convex, the first hulls approximate f badly, and the best w of the hull jumps.
    Then w moves towards this answer only as far as F(A w) rises. Let Φ(w) be the relaxed margin if
    d may only be a mean of the distributions in the hull. Φ is concave, at least F, equal to F at
    the present w, and largest at the answer. So the slope of F towards the answer is at least the
    gap, and a round gains at least as much as a step of Frank–Wolfe.
    """

    inner = "hull"
    active: DensePoint

    def __init__(self, game: Game, tol: float, clock: Clock) -> None:
        assert isinstance(game.over, EuclideanSet)
        self._game = game
        self._tol = tol
        self._clock = clock
        self._project = _unsmoothed_projector(game, tol)
        self._stretch = 1.0
        self._bent = game.over.smoothed_answer(tol)
        self.active = DensePoint(game.matrix, game.over)
        self.d = game.relaxation.center(game.m)
        self._hull = Hull(game)
        self._hull.include(self.d)
        self._hull.give_all_weight_to_last()
        # The slope of the first line search needs the distribution that is worst for the start.
        self._worst = self.d
        if self._project is not None:
            self._join(self._project(self.active.u))

    def warmed(self, start: WarmStart) -> Booster:
        """Add two distributions to the hull: the d of the start, and the worst d for its w."""
        if start.w is not None:
            self.active.load(*start.w)
            self._join(self._game.relaxation.relaxed_margin(self.active.u)[1])
        if start.d is not None:
            self._hull.include(start.d)
            self._hull.give_all_weight_to_last()
            self.d = start.d
        return self

    def advance(self, best: Dense) -> Booster | None:
        """Move w to its best answer, add the worst distribution to the hull, and optimise d.

        The method returns None if neither w nor the weights of the hull have changed.
        """
        self._clock.check()
        # `best` is the best w for g. Scaling it gives the best w for the smoothed g.
        _, curve, base = self._bent
        bend = math.sqrt(curve * best.edge * best.edge + base)
        w = best.w if curve == 0.0 else best.w * (best.edge / bend)
        margins = self.active.u
        self._towards(Dense(w, best.edge))
        hull = self._hull
        before = hull.weights[: hull.used].copy()
        steps = hull.optimise(self._bent, INNER_SHARE * self._tol)
        # The edges of the new distribution and the margins of the new w are two passes over A.
        self.work += 2.0 + steps * hull.used / work.entries(self._game)
        if np.array_equal(before, hull.weights[: hull.used]):
            # If d stays but w is new, another round is needed, since w may raise the lower bound.
            if np.array_equal(margins, self.active.u):
                self.why_ended = "its last round changed neither w nor the weights of the hull"
                return None
            return self
        # The mean of feasible distributions is feasible up to rounding.
        self.d = self._game.relaxation.repair(hull.point())
        return self

    def _towards(self, best: Dense) -> None:
        """Move w towards `best`, and add the distribution that is worst for the new w to the hull.

        If f is strongly convex, a line search finds the step. Otherwise `best` is the next w.
        """
        active = self.active
        v, size = active.direction(best)
        # Without strong convexity the best w of the hull is the next w, as in Wolfe's algorithm.
        found = Step(1.0)
        if self._project is not None:
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
        """Add the distribution that is worst for the present w to the hull."""
        self._worst = worst
        self._hull.include(self._game.relaxation.repair(worst))


def _unsmoothed_projector(game: Game, tol: float) -> Projector | None:
    """Return the function from margins u to the d that minimises <d, u> + f(d), or None.

    None means that f is less curved than the entropy with which smoothed methods would smooth it.
    Then the minimiser jumps, and a line search would gain nothing.
    """
    curvature = game.relaxation.curvature(game.m)
    if curvature < default_beta(game.relaxation.entropy_range(game.m), tol):
        return None
    return Unsmoothed(game.relaxation).projector(curvature)
