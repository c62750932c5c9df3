"""The totally corrective update of games over Euclidean sets: it optimises d, not w."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost.game.domains import Dense
from relaxboost.game.domains.euclidean import EuclideanSet
from relaxboost.game.game import Game
from relaxboost.matrices.bulk import PASS
from relaxboost.solvers.dense import DensePoint
from relaxboost.solvers.reference import best_pair, fits
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.smoothing import Projector
from relaxboost.solvers.steps import Segment, Step, line_search
from relaxboost.solvers.warm_start import WarmStart

_POINT = 5e-9
"""Seconds on one core of a pairwise step, for each point of the hull."""
_ROUND, _ROW = 3e-4, 1e-6
"""Seconds of what else a round does: at all, and for each example."""
_ASKED, _ASKED_ROW = 5e-3, 5e-5
"""Seconds of a distribution that a cone solver makes: at all, and for each example."""
_CONIC, _CONIC_ROW = 0.1, 1e-4
"""Seconds of the cone program of the whole game: at all, and for each example."""
_MULTIPLY = 4e-8
"""Seconds of a cone solver for each multiplication in a factor of its matrix."""


class HullRun(Booster):
    """d_{t+1} minimises f(d) + g(Aᵀd) over the hull of the worst distributions seen so far.

    Over a Euclidean set every w is dense, so that there are no columns to re-weigh; but g is
    smooth (but for the origin of a ball, see below), and the best w follows from d. So the roles
    are exchanged: the d that attains F(A w_t) joins the hull, which is all Frank–Wolfe on the
    examples' side asks for, and the weights within the hull are optimised by pairwise steps on the
    Gram matrix of the edges, at no pass over A. For f = 0 this is the minimum norm point
    algorithm for the rows of A. f enters the hull by its values, an upper bound by convexity.

    For a ball g(v) = r sqrt(‖v‖² + δ²) stands in, with rδ = tol/2: smooth, at most tol/2 above g,
    and its w is within the ball, and not on its surface where A w = 0 is best.

    Where f is strongly convex, whose minimum over a hull is far off at first, w goes towards the
    answer only as far as F rises. Let Φ >= F be what the hull makes of F: it is concave, equal to F
    at w, since the worst d there is in the hull, and largest at the answer. So the slope is at
    least the gap, and a round gains what a step of Frank–Wolfe does.

    Where the worst distributions are many, or edges nearly depend on each other, weights in the
    hull take ever more steps. So once the rounds have cost what a cone solver would, that is asked
    for the whole game, once.

    Parameters
    ----------
    game : Game
    tol : float
    project : callable, optional
        Makes the worst d of margins, where f is strongly convex.

    References
    ----------
    Jaggi (2013), "Revisiting Frank–Wolfe", Sec. 2, fully corrective; Wolfe (1976).
    """

    inner = "hull"
    active: DensePoint

    def __init__(self, game: Game, tol: float, project: Projector | None = None) -> None:
        assert isinstance(game.over, EuclideanSet)
        self._game, self._relaxation, self._matrix = game, game.relaxation, game.matrix
        self._tol, self._project = tol, project
        self._curvature, self._stretch = game.relaxation.curvature(game.m), 1.0
        self._bent = game.over.smoothed_answer(tol)
        asked = _seconds_asked(game)
        self._left = asked + _seconds_of_program(game) if fits(game) else math.inf
        self._round = _ROUND + _ROW * game.m + 2.0 * PASS * game.matrix.entries + asked
        self.active = DensePoint(game.matrix, game.over)
        self._used = 0
        self._weights = np.zeros(16)
        self._costs = np.zeros(16)
        self._gram = np.zeros((16, 16))
        self._points = np.empty((game.m, 16), order="F")
        self._edges = np.empty((self.active.w.size, 16), order="F")
        self.d = game.relaxation.center(game.m)
        self._include(self.d)
        self._weights[0] = 1.0
        self._worst = self.d
        if project is not None:
            self._join(project(self.active.u))

    def warmed(self, start: WarmStart) -> Booster:
        """Give its d all weight in the hull, and let the worst d for its w join."""
        if start.w is not None:
            self.active.load(*start.w)
            self._join(self._relaxation.relaxed_margin(self.active.u)[1])
        if start.d is not None:
            self._include(start.d)
            self._weights[: self._used] = 0.0
            self._weights[self._used - 1] = 1.0
            self.d = start.d
        return self

    def advance(self, best: Dense) -> Booster | None:
        """Let w answer, add the worst distribution for it to the hull, and minimise over that."""
        if self._left <= 0.0:
            return self._program()
        if self.inner == "conic":
            self.inner = "hull"
            self.d, self.active.w, self.active.u, self.active.cost = self._before
            best = self.active.over.best(self._matrix, self.d)
        _, curve, base = self._bent
        bend = math.sqrt(curve * best.edge * best.edge + base)
        w = best.w if curve == 0.0 else best.w * (best.edge / bend)
        u = self.active.u
        self._towards(Dense(w, best.edge))
        used = self._used
        before = self._weights[:used].copy()
        goal = 0.02 * self._tol
        steps = reweigh(self._gram, self._costs, self._weights, used, self._bent, goal)
        self._left -= _POINT * steps * used + self._round
        if np.array_equal(before, self._weights[:used]):
            if not np.array_equal(u, self.active.u):
                return self  # the pair is new
            return None if self._left == math.inf else self._program()
        d = self._points[:, :used] @ self._weights[:used]
        self.d = self._relaxation.repair(d)
        return self

    def _program(self) -> Booster:
        """Show what a cone solver makes of the whole game, for a round.

        The hull goes on as it was: it would get nearer than the solver more slowly from there.
        """
        active = self.active
        self._before = self.d, active.w, active.u, active.cost
        self.d, w = best_pair(self._game, "CLARABEL", self._tol)
        active.load(*w)
        self._left, self.inner = math.inf, "conic"
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
        worst = self._relaxation.relaxed_margin(active.u)[1] if found.d is None else found.d
        self._join(worst)

    def _join(self, worst: Vector) -> None:
        """Let the worst d for w into the hull."""
        self._worst = worst
        self._include(self._relaxation.repair(worst))

    def _include(self, d: Vector) -> None:
        cost = self._relaxation.penalty(d)
        if not math.isfinite(cost):
            return  # an f of one's own that does not accept what it repaired
        if self._used == self._weights.size:
            self._make_room()
        slot = self._used
        edges = self._matrix.edges(d)
        self._points[:, slot] = d
        self._edges[:, slot] = edges
        self._costs[slot] = cost
        self._weights[slot] = 0.0
        self._used = slot + 1
        products = edges @ self._edges[:, : slot + 1]
        self._gram[slot, : slot + 1] = self._gram[: slot + 1, slot] = products

    def _make_room(self) -> None:
        """Drop the points without weight; if few are left over, double the room."""
        keep = np.flatnonzero(self._weights)
        size = self._weights.size * (1 if 2 * keep.size <= self._weights.size else 2)
        weights, costs, gram = np.zeros(size), np.zeros(size), np.zeros((size, size))
        weights[: keep.size], costs[: keep.size] = self._weights[keep], self._costs[keep]
        gram[: keep.size, : keep.size] = self._gram[np.ix_(keep, keep)]
        self._weights, self._costs, self._gram = weights, costs, gram
        self._points = _columns(self._points, keep, size)
        self._edges = _columns(self._edges, keep, size)
        self._used = keep.size


def _seconds_asked(game: Game) -> float:
    """Return about how many seconds a cone solver takes for f in a round, 0 where none is asked."""
    if not game.relaxation.from_solver:
        return 0.0
    form = game.cone_form
    return _ASKED + _ASKED_ROW * game.m + (_MULTIPLY * form.multiplications if form else 0.0)


def _seconds_of_program(game: Game) -> float:
    """Return about how many seconds a cone solver takes for the whole game, f set aside."""
    m, n = game.m, game.n or 0
    return _CONIC + _CONIC_ROW * m + _MULTIPLY * m * n * min(m, n)


def _columns(array: NDArray[np.float64], keep: NDArray[np.int64], size: int) -> Vector:
    wider = np.empty((array.shape[0], size), order="F")
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
    inner = np.zeros(used)
    for i in range(used):
        for j in range(used):
            inner[i] += gram[i, j] * weights[j]
    most = 1000 * (used + 1)
    for step in range(most):
        square = 0.0
        for i in range(used):
            square += weights[i] * inner[i]
        pull = top / np.sqrt(curve * max(square, 0.0) + base)
        best, worst, level = 0, -1, 0.0
        low, high = np.inf, -np.inf
        for i in range(used):
            slope = costs[i] + pull * inner[i]
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
            inner[i] += eta * (gram[i, best] - gram[i, worst])
    return most
