"""Interior point methods for Σ s_i φ(<w, h_i>, y_i): M x M equations, passes over the examples.

Smooth φ: a primal barrier method whose Hessian of the barrier is the primal-dual one; every
direction descends, and steps are searched by Armijo's rule. Slopes at a w, and the lines that touch
there, prove the lower bound; on the central path its gap is at most (number of slacks)·μ.

φ = max of z (F − y) over a <= z <= b: `solvers.interior_point`, as a game without Σd = 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.blas import threads_for
from relaxboost._core.loop import Clock
from relaxboost.matrices.bulk import Bulk, DenseBulk
from relaxboost.online.comparators.cumulative import Cumulative, Sums
from relaxboost.online.comparators.inside import Inside, Turn, inside
from relaxboost.online.comparators.replay import Replay
from relaxboost.solvers.interior_point.corner_losses import CornerLosses, LossIterate

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
    bulk, sums = _Replayed(problem.replay), problem.sums(point.w)
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
            with threads_for(problem.m, problem.M):
                point.prepare(bulk, sums.curvature)
                turn = point.turn(sums.gradient, mu)
        except np.linalg.LinAlgError:
            return
        step, dual_step = point.longest(turn)
        found = _searched(problem, point, turn, step, (sums, mu), clock)
        if found is None:
            return
        step, sums = found
        point = point.moved(turn, step, dual_step)


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
    y, weight = np.empty(problem.m), np.empty(problem.m)
    for rows, _, targets, weights in problem.replay:
        y[rows], weight[rows] = targets, weights
    loss = problem.pointwise
    assert loss is not None
    ends = loss.domain(y)
    assert ends is not None
    w = problem.center() if start is None else start
    run = LossIterate(_Replayed(problem.replay), CornerLosses(weight, *ends, y), w, problem.over)
    while True:
        upper = float(weight @ loss.pointwise(run.bounds.margins, y)[0])
        lower = float(run.d @ y) - problem.support(run.bounds.edges)
        yield State(run.w, upper, lower, z=run.slopes)
        clock.check()
        if upper - lower <= _LEAST * abs(upper) or not run.advance(upper - lower):
            return


class _Replayed(Bulk):
    """The outputs of the base functions as a matrix, read block by block."""

    array = None

    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self.m = replay.m
        self.n = replay.M

    def edges(self, d: Vector) -> Vector:
        out = np.zeros(self.n)
        for rows, H, _, _ in self._replay:
            out += d[rows] @ H
        return out

    def margins(self, w: Vector) -> Vector:
        out = np.empty(self.m)
        for rows, H, _, _ in self._replay:
            out[rows] = H @ w
        return out

    def cross(self, weights: Vector, out: Array) -> None:
        out[:] = 0.0
        for rows, H, _, _ in self._replay:
            scaled = H * np.sqrt(weights[rows])[:, None]
            out += scaled.T @ scaled

    def _written(self) -> DenseBulk:
        return DenseBulk(np.vstack([block.H for block in self._replay]))

    def gram(self, scaling: Vector) -> Vector:
        return self._written().gram(scaling)

    def part(self, rows: Whole, columns: Whole) -> Array:
        return self._written().part(rows, columns)

    def restricted(self, columns: Whole) -> Bulk:
        return self._written().restricted(columns)
