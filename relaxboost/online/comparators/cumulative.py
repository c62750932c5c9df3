"""The cumulative loss L(w) = Σ s_i l_i(w) over a domain W, and the bounds on its minimum.

Here s_i is the weight of example i and l_i is its loss. All reported bounds are computed in this
module. Let l_i(w) = φ(<w, h_i>, y_i), where h_i contains the values of the base functions and y_i
is the target. If c_i + z_i F <= φ(F, y_i) holds for all predictions F, then

    min over W of L  >=  Σ s_i c_i − σ_W(−g),   g = Σ s_i z_i h_i,

where σ_W is the support function of W. The bounds include all rounding errors. Predictions and g
are sums of products, whose errors are bounded by Higham's γ_n. The value and the slope of a loss
are assumed to be correct up to 64 units in the last place.
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
"""The assumed relative error of the computed value of a loss or of its slope. The computation takes
a few operations of the C library for mathematics, each with a small error."""


def has_corners(loss: OnlineLoss) -> bool:
    """Return whether a loss is piecewise linear with a corner where the prediction F equals the
    target y.

    Such a loss is the maximum of z (F − y) over an interval of slopes z.
    """
    return isinstance(loss, OfPrediction) and type(loss.loss) in (Hinge, Absolute, Quantile)


class Sums(NamedTuple):
    """The cumulative loss at some weights w, with the derivatives that a Newton step needs."""

    value: float
    gradient: Vector
    slopes: Vector
    """The derivative of the weighted loss of each example with respect to the prediction."""
    curvature: Vector
    """The second derivative of the weighted loss of each example with respect to the prediction."""


class Cumulative:
    """The cumulative loss on a stream of examples, as a function of the weights w in a domain."""

    def __init__(self, loss: OnlineLoss, over: AtomicSet | L2Ball, replay: Replay) -> None:
        self.loss = loss
        self.over = over
        self.replay = replay
        self.m = replay.m
        self.M = replay.M

    @property
    def pointwise(self) -> PointwiseLoss | None:
        """The loss function φ if every example has the loss φ(<w, h>, y), and None otherwise."""
        return self.loss.loss if isinstance(self.loss, OfPrediction) else None

    @property
    def reach(self) -> float:
        """An upper bound on ‖w‖_1 for all weights w in the domain of the cumulative loss."""
        return up(self.over.reach(self.M))

    def center(self) -> Vector:
        """Return weights with equal entries in the interior of the domain of the cumulative
        loss."""
        over = self.over
        # A simplex contains no zero weights in its interior.
        if isinstance(over, L2Ball) or over.two_sided:
            return np.zeros(self.M)
        return self.feasible(np.full(self.M, over.scale / (self.M + over.holds_zero)))

    def scale(self) -> float:
        """Return a typical cumulative loss. The tolerance of a minimum near 0 is a fraction of it.

        It is the weighted sum of the absolute losses for the prediction 0. If this sum is 0 or
        infinite, or if the loss is not a function of a prediction, it is the sum at the center of
        the domain instead. The result is 0 if neither sum is positive and finite.
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
        """Return the weights w after moving them into the domain of the cumulative loss, up to
        rounding."""
        return self.over.repair(np.asarray(w, dtype=np.float64))

    def support(self, v: Vector, error: float = 0.0) -> float:
        """Return an upper bound on the support function σ_W(v) of the domain W, rounded up.

        The argument `error` bounds the error of each entry of v.
        """
        over = self.over
        size = norm_above(v) if isinstance(over, L2Ball) else float(over.prices(v).max())
        if error > 0.0:
            size = up(size + up(over.spread(v.size) * error))
        return over.value_above(size)

    def sums(self, w: Vector) -> Sums:
        """Return the cumulative loss and its derivatives at the weights w."""
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
        """Return the cumulative loss at w, rounded up, and its tangent at w.

        The tangent is rounded down, so that it is below the loss everywhere on the domain. The
        values and subgradients of user-defined losses are not checked.
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
        """Return an upper bound on the cumulative loss at the point of the domain nearest to w."""
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
        """Return a lower bound on the minimum of the cumulative loss, rounded down.

        For each example, the loss is replaced by a line that is nowhere above it. The sum of these
        lines is a linear function of the weights, and its minimum is the bound. Pass one of the
        arguments, which determine the lines:

        * The weights `at`. The lines are the tangents of the losses at the predictions of these
          weights.
        * The slopes `z`, one for each example. The lines are z (F − y), where F is the prediction
          and y the target. The loss must be a hinge, absolute or quantile loss.
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
        """Return the weights w that maximise <v, w> over the domain of the cumulative loss."""
        over = self.over
        if isinstance(over, L2Ball):
            return over.answer(v, norm_above(v))
        w = np.zeros(self.M)
        j, sign = over.pick(v)
        w[j] = sign * over.scale
        return w
