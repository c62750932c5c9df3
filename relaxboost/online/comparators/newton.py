"""Interior point methods for Σ s_i φ(<w, h_i>, y_i): M x M equations, passes over the examples.

Smooth φ: a primal barrier method whose Hessian of the barrier is the primal-dual one; every
direction descends, and steps are searched by Armijo's rule. Slopes at a w, and the lines that touch
there, prove the lower bound; on the central path its gap is at most (number of slacks)·μ.

φ = max of z (F − y) over a <= z <= b: a primal-dual method with z_i and two multipliers for each
example, F_i − y_i + ξ_i − ζ_i = 0, ξ(z − a) = ζ(b − z) = μ/s. Eliminated, they are a slope z + Dρ
and a curvature D = 1/(ξ/(z − a) + ζ/(b − z)) with ρ = F − y + μ/(s(z − a)) − μ/(s(b − z)).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import Clock
from relaxboost.online.comparators.cumulative import Cumulative, Sums
from relaxboost.online.comparators.inside import Inside, Turn, inside

_ARMIJO = 1e-4
_CENTRAL, _FALL = 5.0, 0.1
"""μ falls where the gap is near its own, to this part of what the gap says."""
_HALVINGS = 40
_LEAST = 1e-15
"""Relative gap that doubles cannot make smaller."""
_STALLED = 30
"""Rounds without progress after which rounding, or a corner, is to blame."""


class State(NamedTuple):
    """A round: a w, estimates of L there and of a lower bound, and what proves that bound.

    Without `at` and `z` the lower bound is rounded and proved already.
    """

    w: Vector
    upper: float
    lower: float
    at: Vector | None = None
    """Where tangents prove it; see `Cumulative.lower`."""
    z: Vector | None = None
    """Slopes that do."""


def smooth(problem: Cumulative, start: Vector | None, clock: Clock) -> Iterator[State]:
    """Yield the rounds for a φ with a continuous slope, until nothing moves any more.

    It begins near `start`, a w of the domain.
    """
    point = inside(problem.over, problem.M, start, 1e-2)
    sums = problem.sums(point.w)
    mu = _gap(problem, point.w, sums) / point.count
    point.begin(mu)
    still = 0
    while still < _STALLED:
        w = point.w
        gap = _gap(problem, w, sums)
        yield State(w, sums.value, sums.value - gap, at=w)
        if gap <= _LEAST * abs(sums.value):
            return
        still += 1
        if gap <= _CENTRAL * mu * point.count:
            mu, still = min(mu, _FALL * gap / point.count), 0
        point.guard(mu)
        try:
            point.prepare(sums.curved)
        except np.linalg.LinAlgError:
            return
        turn = point.turn(sums.gradient, mu)
        step, dual_step = point.longest(turn)
        found = _searched(problem, point, turn, step, (sums, mu), clock)
        if found is None:
            return
        step, sums = found
        point.go(turn, step, dual_step)


def _gap(problem: Cumulative, w: Vector, sums: Sums) -> float:
    """Return <g, w> + σ(−g), by how much the tangent at w may be lower on W."""
    return max(0.0, float(sums.gradient @ w) + problem.support(-sums.gradient))


def _searched(
    problem: Cumulative,
    point: Inside,
    turn: Turn,
    step: float,
    here: tuple[Sums, float],
    clock: Clock,
) -> tuple[float, Sums] | None:
    """Return a step that lowers L + μ · barrier enough with the sums there, None if none does."""
    sums, mu = here
    value = sums.value + mu * point.barrier
    slope = float(sums.gradient @ turn.w) + mu * point.rise(turn)
    noise = 1e-13 * (abs(sums.value) + abs(mu * point.barrier))
    for _ in range(_HALVINGS):
        clock.check()
        moved = point.moved(turn, step)
        found = problem.sums(moved.w)
        after = found.value + mu * moved.barrier
        if math.isfinite(after) and after <= value + _ARMIJO * step * min(slope, 0.0) + noise:
            return step, found
        step *= 0.5
    return None


class _Slopes:
    """z_i of every example with its bounds, and their multipliers."""

    def __init__(self, problem: Cumulative, w: Vector) -> None:
        m = problem.m
        self._problem = problem
        self.y, self.weight, self.F = np.empty(m), np.empty(m), np.empty(m)
        for rows, H, y, weight in problem.replay:
            self.y[rows], self.weight[rows], self.F[rows] = y, weight, H @ w
        loss = problem.pointwise
        assert loss is not None
        ends = loss.domain(self.y)
        assert ends is not None
        self.low, self.high = ends
        self.live = self.weight > 0.0
        self.share = np.where(self.live, self.weight, 1.0)
        self.z = 0.5 * (self.low + self.high)
        t = self.F - self.y
        base = float(self.weight @ np.abs(t)) / problem.replay.total + 1e-300
        # F − y + ξ − ζ = 0 from the start on.
        self.xi, self.zeta = np.maximum(-t, 0.0) + base, np.maximum(t, 0.0) + base
        self.count = 2 * int(self.live.sum())

    @property
    def room(self) -> tuple[Vector, Vector]:
        """(z − a, b − z)."""
        return self.z - self.low, self.high - self.z

    @property
    def product(self) -> float:
        """Σ s (ξ(z − a) + ζ(b − z))."""
        below, above = self.room
        return float(self.weight @ (self.xi * below + self.zeta * above))

    def curvature(self) -> Vector:
        """Return D."""
        below, above = self.room
        return 1.0 / (self.xi / below + self.zeta / above)

    def rho(self, first: Vector, second: Vector) -> Vector:
        """Return ρ for products of `first` and `second`."""
        below, above = self.room
        return self.F - self.y + first / below - second / above

    def turn(self, dF: Vector, first: Vector, second: Vector) -> tuple[Vector, Vector, Vector]:
        """Return (dz, dξ, dζ)."""
        below, above = self.room
        dz = self.curvature() * (dF + self.rho(first, second))
        dxi = (first - self.xi * dz) / below - self.xi
        dzeta = (second + self.zeta * dz) / above - self.zeta
        return dz, dxi, dzeta

    def longest(self, turn: tuple[Vector, Vector, Vector]) -> tuple[float, float]:
        """Return the steps to the boundary, of (ξ, ζ) and of z."""
        dz, dxi, dzeta = turn
        below, above = self.room
        primal = min(_reach(self.xi, dxi), _reach(self.zeta, dzeta))
        return primal, min(_reach(below, dz), _reach(above, -dz))


def _reach(x: Vector, dx: Vector) -> float:
    ratio = float(np.min(np.divide(dx, x)))
    return 1.0 if ratio >= -0.995 else -0.995 / ratio


def kinked(problem: Cumulative, start: Vector | None, clock: Clock) -> Iterator[State]:
    """Yield the rounds for hinge, absolute and quantile losses; see `smooth`.

    It keeps six numbers an example, beside the blocks.
    """
    point = inside(problem.over, problem.M, start, 1e-2)
    slopes = _Slopes(problem, point.w)
    point.begin(slopes.product / slopes.count)
    best, still = math.inf, 0
    while still < _STALLED:
        state = _bounds(problem, point, slopes)
        yield state
        clock.check()
        gap = state.upper - state.lower
        still = 0 if gap < 0.9 * best else still + 1
        best = min(best, gap)
        with np.errstate(all="ignore"):
            moved = gap > _LEAST * abs(state.upper) and _advance(problem, point, slopes)
        if not moved:
            return


def _bounds(problem: Cumulative, point: Inside, slopes: _Slopes) -> State:
    loss = problem.pointwise
    assert loss is not None
    w = point.w
    upper = float(slopes.weight @ loss.pointwise(slopes.F, slopes.y)[0])
    carried = slopes.weight * slopes.z
    g = np.zeros(problem.M)
    for rows, H, _, _ in problem.replay:
        g += carried[rows] @ H
    lower = -float(carried @ slopes.y) - problem.support(-g)
    return State(w, upper, lower, z=slopes.z)


def _advance(problem: Cumulative, point: Inside, slopes: _Slopes) -> bool:
    """Take a step of Mehrotra's predictor and corrector; return whether anything moved."""
    count = point.count + slopes.count
    mu = (point.product + slopes.product) / count
    curved, D = problem.curved(), slopes.curvature()
    for rows, H, _, weight in problem.replay:
        problem.bend(curved, rows, H, weight * D[rows])
    try:
        point.prepare(curved)
    except np.linalg.LinAlgError:
        return False
    nothing = np.zeros(problem.m)
    turn, own = _direction(problem, point, slopes, (0.0, nothing, nothing))
    primal, dual = _steps(point, turn, slopes, own)
    after = _after(point, turn, slopes, own, (primal, dual)) / count
    centre = mu * min(1.0, max(after / mu, 0.0)) ** 3
    dz, dxi, dzeta = own
    aim = centre / slopes.share
    target = (centre - point.correction(turn), aim - dz * dxi, aim + dz * dzeta)
    turn, own = _direction(problem, point, slopes, target)
    primal, dual = _steps(point, turn, slopes, own)
    if not max(primal, dual) > 1e-8 or not all(np.isfinite(x).all() for x in (*own, turn.w)):
        return False
    point.go(turn, primal, dual)
    dz, dxi, dzeta = own
    slopes.z = slopes.z + dual * dz
    slopes.xi, slopes.zeta = slopes.xi + primal * dxi, slopes.zeta + primal * dzeta
    w = point.w
    for rows, H, _, _ in problem.replay:
        slopes.F[rows] = H @ w
    return True


def _direction(
    problem: Cumulative,
    point: Inside,
    slopes: _Slopes,
    target: tuple[Vector | float, Vector, Vector],
) -> tuple[Turn, tuple[Vector, Vector, Vector]]:
    domain, first, second = target
    effective = slopes.weight * (slopes.z + slopes.curvature() * slopes.rho(first, second))
    g, dF = np.zeros(problem.M), np.empty(problem.m)
    for rows, H, _, _ in problem.replay:
        g += effective[rows] @ H
    turn = point.turn(g, domain)
    for rows, H, _, _ in problem.replay:
        dF[rows] = H @ turn.w
    return turn, slopes.turn(dF, first, second)


def _steps(
    point: Inside, turn: Turn, slopes: _Slopes, own: tuple[Vector, Vector, Vector]
) -> tuple[float, float]:
    primal, dual = point.longest(turn)
    of_xi, of_z = slopes.longest(own)
    primal, dual = min(primal, of_xi), min(dual, of_z)
    return (primal, dual) if point.linear else (min(primal, dual),) * 2


def _after(
    point: Inside,
    turn: Turn,
    slopes: _Slopes,
    own: tuple[Vector, Vector, Vector],
    steps: tuple[float, float],
) -> float:
    """Return the sum of all products after the steps."""
    primal, dual = steps
    dz, dxi, dzeta = own
    below, above = slopes.room
    total = (slopes.xi + primal * dxi) * (below + dual * dz)
    total += (slopes.zeta + primal * dzeta) * (above - dual * dz)
    moved = point.moved(turn, primal).slacks @ (point.mult + dual * turn.mult)
    return float(slopes.weight @ total) + float(moved)
