"""The cumulative loss L(w) = Σ s_i l_i(w) over a domain W, and bounds on its minimum.

Here s_i is the weight of example i, and l_i(w) = φ(<w, h_i>, y_i) is its loss. If c_i + z_i F <=
φ(F, y_i) for all predictions F, then

    min over W of L  >=  Σ s_i c_i − σ_W(−g),   g = Σ s_i z_i h_i,

where σ_W is the support function of W. All reported bounds are computed here and include rounding
errors: Higham's γ_n for sums of products, and 64 ulps for loss values and slopes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from relaxboost._core.arrays import Matrix, Vector
from relaxboost._core.rounding import UNIT, down, norm_above, roundoff, sum_bounds, up
from relaxboost.functional.losses import Absolute, Hinge, PointwiseLoss, Quantile
from relaxboost.game.domains import AtomicSet, L2Ball
from relaxboost.online.comparators.replay import Replay
from relaxboost.online.losses import Inner, OfPrediction, OnlineLoss
from relaxboost.solvers.bundle.cuts import Cut

LOSS_ERROR = 64.0 * UNIT
"""The assumed relative error of computed loss values and slopes."""


def has_corners(loss: OnlineLoss) -> bool:
    """Return whether a loss is piecewise linear with a corner at F = y.

    Such a loss is the maximum of z (F − y) over an interval of slopes z.
    """
    return isinstance(loss, OfPrediction) and type(loss.loss) in (Hinge, Absolute, Quantile)


class Sums(NamedTuple):
    """The cumulative loss at some weights, with its derivatives for a Newton step."""

    value: float
    gradient: Vector
    slopes: Vector
    """The derivative of each weighted loss in the prediction."""
    curvature: Vector
    """The second derivative of each weighted loss in the prediction."""


class Cumulative:
    """The cumulative loss of a stream as a function of the weights."""

    def __init__(self, loss: OnlineLoss, over: AtomicSet | L2Ball, replay: Replay) -> None:
        self.loss = loss
        self.over = over
        self.replay = replay
        self.m = replay.m
        self.M = replay.M

    @property
    def pointwise(self) -> PointwiseLoss | None:
        """The function φ if every loss is φ(<w, h>, y), and None otherwise."""
        return self.loss.loss if isinstance(self.loss, OfPrediction) else None

    @property
    def reach(self) -> float:
        """An upper bound on ‖w‖_1 over the domain."""
        return up(self.over.reach(self.M))

    def center(self) -> Vector:
        """Return equal weights in the interior of the domain."""
        over = self.over
        # A simplex contains no zero weights in its interior.
        if isinstance(over, L2Ball) or over.two_sided:
            return np.zeros(self.M)
        return self.feasible(np.full(self.M, over.scale / (self.M + over.holds_zero)))

    def scale(self) -> float:
        """Return a typical cumulative loss, which scales the tolerance of minima near 0.

        It is the sum of the absolute values of the losses for the prediction 0. If this is 0,
        infinite or undefined, the center of the domain replaces the prediction 0. If that fails
        too, the result is 0.
        """
        # The center is only the second choice, because the loss is huge at the center of a large
        # simplex.
        points = [self.center()] if self.pointwise is None else [np.zeros(self.M), self.center()]
        # A user-defined loss may be infinite outside its domain, as −log is.
        with np.errstate(all="ignore"):
            sizes = (
                sum(float(p @ np.abs(self._gradients(w, H, y)[0])) for _, H, y, p in self.replay)
                for w in points
            )
            return next((size for size in sizes if 0.0 < size < math.inf), 0.0)

    def feasible(self, w: Vector) -> Vector:
        """Move w into the domain, up to rounding."""
        return self.over.repair(np.asarray(w, dtype=np.float64))

    def support(self, v: Vector, error: float = 0.0) -> float:
        """Return σ_W(v), rounded up.

        The argument `error` bounds the error of each entry of v.
        """
        over = self.over
        size = norm_above(v) if isinstance(over, L2Ball) else float(over.prices(v).max())
        if error > 0.0:
            size = up(size + up(over.spread(v.size) * error))
        return over.value_above(size)

    def sums(self, w: Vector) -> Sums:
        """Return the cumulative loss and its derivatives at w."""
        loss = self.pointwise
        assert loss is not None
        value = 0.0
        gradient = np.zeros(self.M)
        slopes = np.empty(self.m)
        curvature = np.empty(self.m)
        for rows, H, y, weight in self.replay:
            F = H @ w
            # A step of about the cube root of the machine epsilon balances the truncation errors
            # and the rounding errors of central differences.
            step = 6e-6 * (1.0 + np.abs(y)) + 1e-9 * np.abs(F)
            values, derivatives = loss.pointwise(F, y)
            rise = loss.pointwise(F + step, y)[1] - loss.pointwise(F - step, y)[1]
            value += float(weight @ values)
            slopes[rows] = weight * derivatives
            gradient += slopes[rows] @ H
            # At a corner of the loss, where the slope jumps, any nonnegative second derivative is
            # valid.
            curvature[rows] = weight * np.maximum(rise / (2.0 * step), 0.0)
        return Sums(value, gradient, slopes, curvature)

    def cut(self, w: Vector) -> tuple[float, Cut]:
        """Return the cumulative loss at w, rounded up, and a tangent that is rounded down.

        The tangent is below the loss on the whole domain. User-defined losses are not checked.
        """
        total = 0.0
        size = 0.0
        slope = np.zeros(self.M)
        steepness = np.zeros(self.M)
        for _, H, y, weight in self.replay:
            values, gradients = self._gradients(w, H, y)
            total += float(weight @ values)
            size += float(weight @ np.abs(values))
            slope += weight @ gradients
            steepness += weight @ np.abs(gradients)
        # The tangent is evaluated at any w of the domain, so ‖w‖_1 may be as large as `reach`.
        error = roundoff(self.m + self.M + 8) + LOSS_ERROR
        noise = error * (size + 2.0 * self.reach * steepness.max())
        offset = total - float(slope @ w)
        return up(total + noise), Cut(down(offset - up(noise)), slope, np.zeros(self.M))

    def _gradients(self, w: Vector, H: Matrix, y: Vector) -> tuple[Vector, Matrix]:
        loss = self.pointwise
        if loss is not None:
            values, slopes = loss.pointwise(H @ w, y)
            return values, slopes[:, None] * H
        if isinstance(self.loss, Inner):
            return H @ w, H
        # A user-defined loss evaluates one example at a time.
        found = [self.loss.evaluate(w, h, t) for h, t in zip(H, y.tolist(), strict=True)]
        values = np.array([value for value, _ in found], dtype=np.float64)
        return values, np.array([slope for _, slope in found], dtype=np.float64)

    def upper(self, w: Vector) -> float:
        """Return an upper bound on the cumulative loss at the domain's point nearest to w."""
        loss = self.pointwise
        # The weights w may be slightly outside the domain because of rounding. The loss changes by
        # at most the size of the subgradient times the distance to the nearest point.
        if loss is None:
            value, cut = self.cut(w)
            return up(value + up(self.over.cost_above(w) * float(np.abs(cut.slope).max())))
        moved = self.over.cost_above(w)
        near = roundoff(self.M + 3)
        sums = []
        for _, H, y, weight in self.replay:
            F = H @ w
            size = np.abs(H)
            error = (near * (size @ np.abs(w)) + moved * size.max(axis=1)) * (1.0 + LOSS_ERROR)
            # A convex function on an interval is largest at an end of the interval.
            ends = [loss.pointwise(F + by, y)[0] for by in (-error, error)]
            values = weight * np.maximum(*ends)
            sums.append(sum_bounds(values + LOSS_ERROR * np.abs(values))[1])
        return sum_bounds(np.array(sums))[1]

    def lower(self, at: Vector | None = None, z: Vector | None = None) -> float:
        """Return a lower bound on the minimum loss, rounded down.

        Each loss is replaced by a line below it, and the sum of the lines is minimised. Pass one of
        the arguments, which determine the lines:

        * The weights `at`: the lines are tangents at the predictions of these weights.
        * The slopes `z`: the lines are z (F − y), for hinge, absolute and quantile losses.
        """
        loss = self.pointwise
        assert loss is not None
        sums = []
        g = np.zeros(self.M)
        size = np.zeros(self.M)
        added = 0
        # The rows are gathered in one sum of products, so that rounding errors stay small.
        chunk = 256
        for rows, H, y, weight in self.replay:
            # A tangent at F has the value φ(F) − φ'(F) F at 0.
            if z is None:
                assert at is not None
                F = H @ at
                values, slopes = loss.pointwise(F, y)
                c = values - slopes * F
            else:
                F = y
                slopes = z[rows]
                c = -slopes * y
            carried = weight * slopes
            terms = weight * c
            # The number c is a difference of numbers of size at most |c| + 2 |z F|.
            allowed = LOSS_ERROR * (np.abs(terms) + 2.0 * np.abs(carried * F))
            sums.append(sum_bounds(terms - allowed)[0])
            for first in range(0, y.size, chunk):
                g += carried[first : first + chunk] @ H[first : first + chunk]
                added += 1
            size += np.abs(carried) @ np.abs(H)
        error = up(float(size.max()) * up(roundoff(chunk + added + 8) + 2.0 * LOSS_ERROR))
        return down(sum_bounds(np.array(sums))[0] - self.support(-g, error))

    def answer(self, v: Vector) -> Vector:
        """Return the weights that maximise <v, w> over the domain."""
        over = self.over
        if isinstance(over, L2Ball):
            return over.answer(v, norm_above(v))
        w = np.zeros(self.M)
        j, sign = over.pick(v)
        w[j] = sign * over.scale
        return w
