"""Newton's method and an interior point method for losses φ(<w, h>, y).

For smooth losses, each Newton step minimises the quadratic model over the domain by the interior
point method that also solves games. Losses with one corner, such as the hinge, are minimised by
that method directly.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.blas import threads_for
from relaxboost._core.loop import Clock
from relaxboost.matrices.bulk import Bulk, DenseBulk
from relaxboost.online.comparators.cumulative import Cumulative, Sums
from relaxboost.online.comparators.replay import Replay
from relaxboost.solvers.interior_point.corner_losses import CornerLosses, LossIterate
from relaxboost.solvers.interior_point.progress import Progress
from relaxboost.solvers.interior_point.quadratic_losses import QuadraticIterate, QuadraticLosses

EPS = float(np.finfo(np.float64).eps)


class State(NamedTuple):
    """The weights after a round, with bounds on the minimum.

    The bounds are estimates. `Cumulative.lower` computes a proved lower bound from `at` or `z`. If
    both are None, `lower` is already proved.
    """

    w: Vector
    upper: float
    lower: float
    at: Vector | None = None
    """The weights whose tangents give the lower bound, or None."""
    z: Vector | None = None
    """The loss slopes that give the lower bound, one for each example, or None."""


def smooth(problem: Cumulative, start: Vector | None, clock: Clock) -> Iterator[State]:
    """Minimise a differentiable cumulative loss by Newton's method, and yield each round.

    The method ends if rounding errors or corners prevent progress.
    """
    w = problem.center() if start is None else start
    sums = problem.sums(w)
    progress = Progress(patience=30)
    while True:
        # The tangent at w is at most this much lower than the loss on the whole domain.
        gap = max(0.0, float(sums.gradient @ w) + problem.support(-sums.gradient))
        yield State(w, sums.value, sums.value - gap, at=w)
        # At a corner of a user-defined loss, steps become shorter and shorter.
        if gap <= EPS * abs(sums.value) or progress.is_stuck(gap, np.inf, np.inf):
            return
        clock.check()
        found = _line_search(problem, w, _newton_point(problem, w, sums, gap, clock), sums)
        if found is None:
            return
        w, sums = found


def _line_search(
    problem: Cumulative, w: Vector, target: Vector, sums: Sums
) -> tuple[Vector, Sums] | None:
    direction = target - w
    slope = float(sums.gradient @ direction)
    # Near the minimum, a step improves the gradient even if it decreases the loss by less than the
    # rounding error. An increase of the loss within this error is therefore accepted.
    rounding = 64.0 * EPS * abs(sums.value)
    step = 1.0
    # If no step above 1e-6 helps, the quadratic model is useless, as at a corner of the loss.
    while slope < 0.0 and step > 1e-6:
        # The projection removes rounding errors only, because a step between two points of the
        # convex domain stays inside.
        moved = problem.feasible(w + step * direction)
        found = problem.sums(moved)
        # The step is accepted by the rule of Armijo with the usual constant 1e-4.
        if found.value <= sums.value + 1e-4 * step * slope + rounding:
            return moved, found
        step /= 2.0
    return None


def _newton_point(problem: Cumulative, w: Vector, sums: Sums, gap: float, clock: Clock) -> Vector:
    rows, losses = _quadratic_model(problem, w, sums)
    # The interior point method for the model starts at weights that differ from w by about 1 %.
    start_gap = max(gap, 0.01 * problem.support(sums.gradient))
    run = QuadraticIterate(DenseBulk(rows), losses, w, problem.over, start_gap)
    rest = np.inf
    decrease = 0.0
    # A gap of the model below 1 % of the gap of the loss would hardly save Newton steps. Near a
    # minimum in the interior of the domain, a small gap does not imply that the model decreases.
    while (rest > 0.01 * gap or decrease <= 0.0) and run.advance(rest):
        clock.check()
        # The gap of the model follows from its gradient, like the gap of the loss.
        gradient = (losses.slope + losses.curvature * (rows @ run.w)) @ rows
        rest = float(gradient @ run.w) + problem.support(-gradient)
        # The decrease of a quadratic function is the mean of its two slopes along the step.
        decrease = float((sums.gradient + gradient) @ (w - run.w)) / 2.0
    return problem.feasible(run.w)


def _quadratic_model(problem: Cumulative, w: Vector, sums: Sums) -> tuple[Array, QuadraticLosses]:
    """Return the quadratic model of the cumulative loss near w.

    The model multiplies the returned matrix by the weights, and sums the returned quadratic
    functions of the entries of the product.
    """
    bulk = _Replayed(problem.replay)
    curvature = sums.curvature
    # If there are fewer examples than weights, a model with a row for each example is smaller than
    # one with a row for each weight.
    if problem.m < problem.M:
        rows = bulk.written()
        return rows, QuadraticLosses(sums.slopes - curvature * (rows @ w), curvature)
    hessian = np.empty((problem.M, problem.M))
    # The eigenvectors of the Hessian are rows whose losses have the eigenvalues as curvatures.
    with threads_for(problem.m, problem.M):
        bulk.cross(curvature, hessian)
        values, vectors = np.linalg.eigh(hessian)
    # The last row contains the linear part of the model, which has no curvature.
    rows = np.vstack([vectors.T, sums.gradient - hessian @ w])
    slope = np.append(np.zeros(problem.M), 1.0)
    return rows, QuadraticLosses(slope, np.append(np.maximum(values, 0.0), 0.0))


def with_corners(problem: Cumulative, start: Vector | None, clock: Clock) -> Iterator[State]:
    """Minimise a hinge, absolute or quantile loss by interior points, and yield each round."""
    pairs = [(block.y, block.weight) for block in problem.replay]
    y, weight = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    loss = problem.pointwise
    assert loss is not None
    # The slopes of the loss lie between these ends for every prediction.
    ends = loss.domain(y)
    assert ends is not None
    w = problem.center() if start is None else start
    losses = CornerLosses(weight, *ends, y)
    run = LossIterate(_Replayed(problem.replay), losses, w, problem.over)
    while True:
        upper = float(weight @ loss.pointwise(run.bounds.margins, y)[0])
        lower = float(run.d @ y) - problem.support(run.bounds.edges)
        # The bounds are estimates, because w and d may violate their equations. `Cumulative` proves
        # bounds from w and the slopes.
        yield State(run.w, upper, lower, z=run.slopes)
        clock.check()
        gap = upper - lower
        if gap <= EPS * abs(upper) or not run.advance(gap):
            return


class _Replayed(Bulk):
    """The matrix of base function values, read from a stream block by block."""

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
            # The product of a matrix with its own transpose takes half the time.
            scaled = H * np.sqrt(weights[rows])[:, None]
            out += scaled.T @ scaled

    def written(self) -> Array:
        """Return the whole matrix, with an example in each row."""
        return np.vstack([block.H for block in self._replay])

    def gram(self, scaling: Vector) -> Vector:
        return DenseBulk(self.written()).gram(scaling)

    def part(self, rows: Whole, columns: Whole) -> Array:
        return DenseBulk(self.written()).part(rows, columns)

    def restricted(self, columns: Whole) -> Bulk:
        return DenseBulk(self.written()).restricted(columns)
