"""Fully corrective Frank–Wolfe for games over Euclidean sets: it optimises d, not w."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.game.domains import Dense
from relaxboost.game.domains.euclidean import EuclideanSet
from relaxboost.game.game import Game
from relaxboost.solvers import work
from relaxboost.solvers.dense import DensePoint
from relaxboost.solvers.method import Method, default_beta
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.smoothing import Projector, Unsmoothed
from relaxboost.solvers.steps import Segment, Step, line_search
from relaxboost.solvers.stopping import Tolerance
from relaxboost.solvers.warm_start import WarmStart

INNER_PART = 0.02
"""The part of the requested gap to which weights within the hull are optimised."""


@dataclass(frozen=True)
class FullyCorrective(Method):
    """Each round optimises d over the hull of the worst distributions seen so far.

    This is for games over Euclidean sets (`L2Ball`, `SquaredNorm`), where every best w is dense, so
    that there are no columns to re-weigh. For f = 0 it is the minimum norm point algorithm for the
    rows of A.

    References
    ----------
    Jaggi (2013), Revisiting Frank–Wolfe, Sec. 2, the fully corrective variant; Wolfe (1976),
    Finding the nearest point in a polytope.
    """

    name = "fully-corrective"

    def check(self, game: Game) -> None:
        """Raise an InputError for a domain with atoms."""
        if not isinstance(game.over, EuclideanSet):
            raise InputError(
                f"FullyCorrective() is for games over Euclidean sets, and this one is over "
                f'{game.over!r}; use method="auto"'
            )

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        return FullyCorrectiveRun(game, goal.tol, clock).named("fully-corrective")


class FullyCorrectiveRun(Booster):
    """d_{t+1} minimises f(d) + g(Aᵀd) over the hull of the worst distributions seen so far.

    Over a Euclidean set g is smooth (except at the origin of a ball, see below), and the best w
    follows from d. So the roles are exchanged: the d that attains F(A w_t) joins the hull, which is
    all that Frank–Wolfe on the examples' side asks for. The weights within the hull are optimised
    by pairwise steps on the Gram matrix of the edges, without a pass over A. f enters the hull by
    its values, an upper bound by convexity.

    For a ball, g(v) = r sqrt(‖v‖² + δ²) stands in, with rδ = tol/2. It is smooth and at most tol/2
    above g, and its w lies within the ball, and not on its surface where A w = 0 is best.

    The minimum of a strongly convex f over a hull is far off at first. Then w goes towards the
    answer only as far as F rises. Let Φ >= F be what the hull makes of F: it is concave, equal to F
    at w, since the worst d there is in the hull, and largest at the answer. So the slope is at
    least the gap, and a round gains what a step of Frank–Wolfe does.
    """

    inner = "hull"
    active: DensePoint

    def __init__(self, game: Game, tol: float, clock: Clock) -> None:
        assert isinstance(game.over, EuclideanSet)
        self._game = game
        self._tol = tol
        self._clock = clock
        self._curvature = game.relaxation.curvature(game.m)
        self._project = _unsmoothed_projector(game, tol)
        self._stretch = 1.0
        self._bent = game.over.smoothed_answer(tol)
        self.active = DensePoint(game.matrix, game.over)
        self.d = game.relaxation.center(game.m)
        self._hull = Hull(game)
        self._hull.include(self.d)
        self._hull.give_all_weight_to_last()
        self._worst = self.d
        if self._project is not None:
            self._join(self._project(self.active.u))

    def warmed(self, start: WarmStart) -> Booster:
        """Give the d of a start all weight in the hull, and let the worst d for its w join."""
        if start.w is not None:
            self.active.load(*start.w)
            self._join(self._game.relaxation.relaxed_margin(self.active.u)[1])
        if start.d is not None:
            self._hull.include(start.d)
            self._hull.give_all_weight_to_last()
            self.d = start.d
        return self

    def advance(self, best: Dense) -> Booster | None:
        """Let w answer, add the worst distribution for it to the hull, and minimise over that."""
        self._clock.check()
        _, curve, base = self._bent
        bend = math.sqrt(curve * best.edge * best.edge + base)
        w = best.w if curve == 0.0 else best.w * (best.edge / bend)
        margins = self.active.u
        self._towards(Dense(w, best.edge))
        hull = self._hull
        before = hull.weights[: hull.used].copy()
        steps = hull.optimise(self._bent, INNER_PART * self._tol)
        self.work += 2.0 + steps * hull.used / work.entries(self._game)
        if np.array_equal(before, hull.weights[: hull.used]):
            # If w is new, its pair with the old d is worth a round; else nothing can change.
            return None if np.array_equal(margins, self.active.u) else self
        self.d = self._game.relaxation.repair(hull.point())
        return self

    def _towards(self, best: Dense) -> None:
        """Go to the answer, or towards it where f is strongly convex; the worst d there joins."""
        active = self.active
        v, size = active.direction(best)
        found = Step(1.0)
        if self._project is not None:
            bend = active.bend(best)
            segment = Segment(active.u, v, float(self._worst @ v) - bend[0], bend=bend, size=size)
            found = line_search(self._project, self._curvature, segment, stretch=self._stretch)
            self._stretch = found.stretch or self._stretch
        active.move(best, found.eta, active.u + found.eta * v)
        is_known = found.d is not None
        worst = found.d if is_known else self._game.relaxation.relaxed_margin(active.u)[1]
        assert worst is not None
        self._join(worst)

    def _join(self, worst: Vector) -> None:
        """Let the worst d for w into the hull."""
        self._worst = worst
        self._hull.include(self._game.relaxation.repair(worst))


def _unsmoothed_projector(game: Game, tol: float) -> Projector | None:
    """Return what makes the worst d of margins if f is curved enough to need no smoothing."""
    curvature = game.relaxation.curvature(game.m)
    if curvature < default_beta(game.relaxation.entropy_range(game.m), tol):
        return None
    return Unsmoothed(game.relaxation).projector(curvature)


class Hull:
    """Distributions with weights, their values of f, and the Gram matrix of their edges."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self.used = 0
        """How many distributions are in use; arrays have room for more."""
        self.weights = np.zeros(16)
        self._costs = np.zeros(16)
        self._gram = np.zeros((16, 16))
        self._points = np.empty((game.m, 16), order="F")
        self._edges = np.empty((game.n or 0, 16), order="F")

    def give_all_weight_to_last(self) -> None:
        """Put all weight on the distribution that came last."""
        self.weights[: self.used] = 0.0
        self.weights[self.used - 1] = 1.0

    def point(self) -> Vector:
        """Return the weighted mean of the distributions."""
        return np.asarray(self._points[:, : self.used] @ self.weights[: self.used])

    def optimise(self, bent: tuple[float, float, float], goal: float) -> int:
        """Optimise the weights to a gap of `goal`; return the number of steps."""
        steps: int = reweigh(self._gram, self._costs, self.weights, self.used, bent, goal)
        return steps

    def include(self, d: Vector) -> None:
        """Add a distribution without weight."""
        cost = self._game.relaxation.penalty(d)
        if not math.isfinite(cost):
            return  # a user-defined f that does not accept what it repaired
        if self.used == self.weights.size:
            self._make_room()
        slot = self.used
        edges = self._game.matrix.edges(d)
        self._points[:, slot] = d
        self._edges[:, slot] = edges
        self._costs[slot] = cost
        self.weights[slot] = 0.0
        self.used = slot + 1
        products = edges @ self._edges[:, : slot + 1]
        self._gram[slot, : slot + 1] = products
        self._gram[: slot + 1, slot] = products

    def _make_room(self) -> None:
        """Drop the distributions without weight; if many are left, double the room."""
        keep = np.flatnonzero(self.weights)
        size = self.weights.size * (1 if 2 * keep.size <= self.weights.size else 2)
        gram = np.zeros((size, size))
        gram[: keep.size, : keep.size] = self._gram[np.ix_(keep, keep)]
        self._gram = gram
        self.weights = _widen(self.weights[None, :], keep, size)[0]
        self._costs = _widen(self._costs[None, :], keep, size)[0]
        self._points = _widen(self._points, keep, size)
        self._edges = _widen(self._edges, keep, size)
        self.used = keep.size


def _widen(array: NDArray[np.float64], keep: NDArray[np.int64], size: int) -> NDArray[np.float64]:
    """Return the columns to keep, followed by room up to `size` columns."""
    wider = np.zeros((array.shape[0], size), order="F")
    wider[:, : keep.size] = array[:, keep]
    return wider


@njit()
def reweigh(
    gram: NDArray[np.float64],
    costs: Vector,
    weights: Vector,
    used: int,
    bent: tuple[float, float, float],
    goal: float,
) -> int:
    """Minimise <costs, λ> + G(λᵀ gram λ) over the simplex, in place, to a gap of `goal`.

    With (top, curve, base) = `bent`, G has the derivative top / (2 sqrt(curve · s + base)), so
    that the gradient is costs + p · gram λ with p = top / sqrt(curve λᵀ gram λ + base). As G is
    concave, the quadratic with the present p lies above it, and its minimiser along a pairwise
    direction never overshoots.
    Returns the number of steps, at most 1000 for each point and 1000 more.
    """
    top, curve, base = bent
    products = np.zeros(used)
    for i in range(used):
        for j in range(used):
            products[i] += gram[i, j] * weights[j]
    most = 1000 * (used + 1)
    for step in range(most):
        square = 0.0
        for i in range(used):
            square += weights[i] * products[i]
        pull = top / np.sqrt(curve * max(square, 0.0) + base)
        best = 0
        worst = -1
        level = 0.0
        low = np.inf
        high = -np.inf
        for i in range(used):
            slope = costs[i] + pull * products[i]
            level += weights[i] * slope
            if slope < low:
                best, low = i, slope
            if weights[i] > 0.0 and slope > high:
                worst, high = i, slope
        if level - low <= goal or worst < 0 or high <= low:
            return step
        bend = pull * (gram[best, best] - 2.0 * gram[best, worst] + gram[worst, worst])
        eta = weights[worst]
        if bend > 0.0 and high - low < bend * eta:
            eta = (high - low) / bend
            weights[worst] -= eta
        else:
            weights[worst] = 0.0
        weights[best] += eta
        for i in range(used):
            products[i] += eta * (gram[i, best] - gram[i, worst])
    return most
