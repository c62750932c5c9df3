"""The cumulative loss L(w) = Σ s_i l_i(w) over a domain, and the only scorer of its least value.

For a loss φ(<w, h>, y) any slopes z_i with c_i + z_i F <= φ(F, y_i) for all F give

    min over W of L  >=  Σ s_i c_i − σ_W(−g),   g = Σ s_i z_i h_i,

σ_W the support function. What rounding may have done is charged on both sides, with Higham's
γ_n: predictions and g are sums of products, and a loss is believed to 64 roundings.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relaxboost._core.arrays import Matrix, Vector
from relaxboost._core.rounding import UNIT, down, norm_above, roundoff, sum_bounds, up
from relaxboost.functional.losses import Absolute, Hinge, PointwiseLoss, Quantile
from relaxboost.game.domains import AtomicSet, L2Ball
from relaxboost.online.comparators.replay import Replay
from relaxboost.online.losses import Inner, OfPrediction, OnlineLoss

LOSS = 64.0 * UNIT
"""By what part of itself a loss, or its slope, may be wrong."""
_NEAR, _FAR = 6e-6, 1e-9
"""The step of a difference of slopes, relative to the size of targets and of predictions."""
_SHORT = 256
"""Rows that are summed up at a time where roundings count."""


def is_kinked(loss: OnlineLoss) -> bool:
    """Return whether a loss is max of z (F − y) over an interval: hinge, absolute, quantile."""
    return isinstance(loss, OfPrediction) and type(loss.loss) in (Hinge, Absolute, Quantile)


class Sums(NamedTuple):
    """L at a w, with what a Newton step needs."""

    value: float
    gradient: Vector
    curvature: Vector
    """The second derivative of each loss in its prediction, shape (m,)."""


class Minorant(NamedTuple):
    """An affine function below L: offset + <slope, w> less at most `noise` on all of W."""

    offset: float
    slope: Vector
    noise: float


class Cumulative:
    """The cumulative loss of a stream as a function of w in a domain, atomic or an l2 ball."""

    def __init__(self, loss: OnlineLoss, over: AtomicSet | L2Ball, replay: Replay) -> None:
        self.loss, self.over, self.replay = loss, over, replay
        self.m, self.M = replay.m, replay.M

    @property
    def pointwise(self) -> PointwiseLoss | None:
        """φ where the loss is φ(<w, h>, y), else None."""
        return self.loss.loss if isinstance(self.loss, OfPrediction) else None

    @property
    def kinked(self) -> bool:
        """Whether φ is max of z (F − y) over the z of an interval: hinge, absolute, quantile."""
        return is_kinked(self.loss)

    @property
    def reach(self) -> float:
        """A bound of ‖w‖_1 over the domain."""
        return up(self.over.reach(self.M))

    def center(self) -> Vector:
        """Return a w inside the domain, the same for every column."""
        over = self.over
        if isinstance(over, L2Ball) or over.two_sided:
            return np.zeros(self.M)
        return self.feasible(np.full(self.M, over.scale / (self.M + over.holds_zero)))

    def feasible(self, w: Vector) -> Vector:
        """Return w moved into the domain, up to rounding."""
        return self.over.repair(np.asarray(w, dtype=np.float64))

    def support(self, v: Vector, error: float = 0.0) -> float:
        """Return σ_W at v, rounded up; each entry of v may be wrong by `error`."""
        over = self.over
        size = norm_above(v) if isinstance(over, L2Ball) else float(over.prices(v).max())
        if error > 0.0:
            size = up(size + up(over.spread(v.size) * error))
        return over.value_above(size)

    def sums(self, w: Vector) -> Sums:
        """Return L, its gradient and its curvature at w, from differences of slopes.

        Where a slope has a corner, the difference across it is as good as any.
        """
        loss = self.pointwise
        assert loss is not None
        value, gradient, curvature = 0.0, np.zeros(self.M), np.empty(self.m)
        for rows, H, y, weight in self.replay:
            F = H @ w
            step = _NEAR * (1.0 + np.abs(y)) + _FAR * np.abs(F)
            values, slopes = loss.pointwise(F, y)
            rise = loss.pointwise(F + step, y)[1] - loss.pointwise(F - step, y)[1]
            value += float(weight @ values)
            gradient += (weight * slopes) @ H
            curvature[rows] = weight * np.maximum(rise / (2.0 * step), 0.0)
        return Sums(value, gradient, curvature)

    def cut(self, w: Vector) -> tuple[float, Minorant]:
        """Return L(w) rounded up, and the affine function below L that touches it there.

        For losses of one's own both rest on the values and subgradients that these return.
        """
        total, size, slope, steep = 0.0, 0.0, np.zeros(self.M), np.zeros(self.M)
        for _, H, y, weight in self.replay:
            values, gradients = self._gradients(w, H, y)
            total += float(weight @ values)
            size += float(weight @ np.abs(values))
            slope += weight @ gradients
            steep += weight @ np.abs(gradients)
        noise = (roundoff(self.m + self.M + 8) + LOSS) * (size + 2.0 * self.reach * steep.max())
        offset = total - float(slope @ w)
        return up(total + noise), Minorant(offset, slope, up(noise))

    def _gradients(self, w: Vector, H: Matrix, y: Vector) -> tuple[Vector, Matrix]:
        """Return the losses of a block at w, and their subgradients as rows."""
        loss = self.pointwise
        if loss is not None:
            values, slopes = loss.pointwise(H @ w, y)
            return values, slopes[:, None] * H
        if isinstance(self.loss, Inner):
            return H @ w, H
        found = [self.loss.evaluate(w, h, t) for h, t in zip(H, y.tolist(), strict=True)]
        values = np.array([value for value, _ in found], dtype=np.float64)
        return values, np.array([slope for _, slope in found], dtype=np.float64)

    def upper(self, w: Vector) -> float:
        """Return a number not below L at a w' of the domain next to the stored w."""
        loss = self.pointwise
        if loss is None:
            value, cut = self.cut(w)
            return up(value + up(self.over.cost_above(w) * float(np.abs(cut.slope).max())))
        moved, near, sums = self.over.cost_above(w), roundoff(self.M + 3), []
        for _, H, y, weight in self.replay:
            F, size = H @ w, np.abs(H)
            error = (near * (size @ np.abs(w)) + moved * size.max(axis=1)) * (1.0 + LOSS)
            # A convex function on an interval is largest at an end.
            ends = [loss.pointwise(F + by, y)[0] for by in (-error, error)]
            values = weight * np.maximum(*ends)
            sums.append(sum_bounds(values + LOSS * np.abs(values))[1])
        return sum_bounds(np.array(sums))[1]

    def lower(self, at: Vector | None = None, z: Vector | None = None) -> float:
        """Return the bound on min L over W that lines below the losses prove, rounded down.

        These touch the losses at the predictions of the w `at`; or, for kinked losses, they are
        z (F − y) for any slopes z between the bounds, of shape (m,).
        """
        loss = self.pointwise
        assert loss is not None
        sums, g, size, added = [], np.zeros(self.M), np.zeros(self.M), 0
        for rows, H, y, weight in self.replay:
            if z is None:
                assert at is not None
                F = H @ at
                values, slopes = loss.pointwise(F, y)
                c = values - slopes * F
            else:
                F, slopes = y, z[rows]
                c = -slopes * y
            carried, terms = weight * slopes, weight * c
            # c is a difference of numbers of the size of |c| + 2|z F| at most.
            allowed = LOSS * (np.abs(terms) + 2.0 * np.abs(carried * F))
            sums.append(sum_bounds(terms - allowed)[0])
            for a in range(0, y.size, _SHORT):
                g += carried[a : a + _SHORT] @ H[a : a + _SHORT]
                added += 1
            size += np.abs(carried) @ np.abs(H)
        error = up(float(size.max()) * up(roundoff(_SHORT + added + 8) + 2.0 * LOSS))
        return down(sum_bounds(np.array(sums))[0] - self.support(-g, error))

    def answer(self, v: Vector) -> Vector:
        """Return the w of the domain that maximises <v, w>."""
        over = self.over
        if isinstance(over, L2Ball):
            return over.answer(v, norm_above(v))
        w = np.zeros(self.M)
        j, sign = over.pick(v)
        w[j] = sign * over.scale
        return w
