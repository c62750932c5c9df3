"""Interior point methods for Σ s_i φ(<w, h_i>, y_i): M x M equations, passes over the examples.

Smooth φ: a primal barrier method whose Hessian of the barrier is the primal-dual one; every
direction descends, and steps are searched by Armijo's rule. Slopes at a w, and the lines that touch
there, prove the lower bound; on the central path its gap is at most (number of slacks)·μ.

φ = max of z (F − y) over a <= z <= b: the primal-dual method of `functional.corners`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import Clock
from relaxboost.functional.corners import CornerRun, Corners
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


def kinked(problem: Cumulative, start: Vector | None, clock: Clock) -> Iterator[State]:
    """Yield the rounds for hinge, absolute and quantile losses; see `smooth`.

    It keeps some ten numbers an example, beside the blocks.
    """
    point = inside(problem.over, problem.M, start, 1e-2)
    y, weight = np.empty(problem.m), np.empty(problem.m)
    for rows, _, targets, weights in problem.replay:
        y[rows], weight[rows] = targets, weights
    loss = problem.pointwise
    assert loss is not None
    ends = loss.domain(y)
    assert ends is not None
    run = CornerRun(problem, Corners(weight, *ends, y), point)
    point.begin(run.product / run.count)
    best, still = math.inf, 0
    while still < _STALLED:
        upper = float(weight @ loss.pointwise(run.F, y)[0])
        carried = weight * run.z
        lower = -float(carried @ y) - problem.support(-problem.back(carried))
        yield State(point.w, upper, lower, z=run.z)
        clock.check()
        gap = upper - lower
        still = 0 if gap < 0.9 * best else still + 1
        best = min(best, gap)
        if gap <= _LEAST * abs(upper) or not run.advance():
            return
