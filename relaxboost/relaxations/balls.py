"""The base class of ball constraints {d: G(d) <= r} on the weights d."""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError, brief
from relaxboost._core.intervals import Interval
from relaxboost.relaxations.base import Relaxation, box_around, onto_simplex
from relaxboost.relaxations.bounds import Bounds

MAX_RADIUS_ERROR = Fraction(1, 10**12)
"""The relative rounding error that is accepted in a user's radius.

A ball that misses the simplex by at most this fraction of its radius is enlarged. Otherwise an
error is raised.
"""


class Ball(Relaxation, Bounds):
    """The indicator of {d: G(d) <= bound} for a convex gauge G.

    A subclass defines `gauge` in interval arithmetic, the exact `bound`, and `center(m)`, the point
    of the simplex with the smallest gauge.
    """

    radius: Any

    @abstractmethod
    def gauge(self, d: Interval) -> Interval:
        """Return an interval that contains G at every point of the box `d`."""

    @property
    def bound(self) -> Fraction:
        """The exact bound r of the ball, by default the field `radius`."""
        return Fraction(self.radius)

    def size(self, d: Vector) -> float:
        """Return the gauge of the weights `d` as a double."""
        return float(self.gauge(Interval(np.asarray(d, dtype=np.float64))).middle)

    def penalty(self, d: Vector) -> float:
        bound = float(self.bound)
        # A relative excess of 1e-12 counts as rounding. The gauge of a tiny ball has an absolute
        # error, so a bound below 1e-3 counts as 1e-3.
        return 0.0 if self.size(d) <= bound + 1e-12 * max(bound, 1e-3) else math.inf

    def repair(self, d: Vector) -> Vector:
        return self.draw_in(onto_simplex(d, brief(self)))

    def draw_in(self, d: Vector, inside: Vector | None = None) -> Vector:
        """Return the weights `d` if they are in the ball.

        Otherwise return a point of the ball on the segment from `d` to `inside`, by default the
        center of the ball.
        """
        bound = float(self.bound)
        excess = self.size(d) - bound
        if excess <= 0.0:
            return d
        inside = self.center(d.size) if inside is None else inside
        room = bound - self.size(inside)
        # G is convex, so the share (G(d) − r) / (G(d) − G(inside)) of the way is enough. The factor
        # 1 + 1e-14 compensates the rounding errors of this quotient.
        share = 1.0 if room <= 0.0 else min(1.0, excess / (excess + room) * (1.0 + 1e-14))
        return inside if share == 1.0 else d + share * (inside - d)

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        # d' is d / Σd, moved towards the center until it is in the ball, where f is 0.
        point = Interval(d) / Interval(*total)
        excess = (self.gauge(point) - Interval(self.bound)).up
        if excess <= 0.0:
            return 0.0, 0.0
        center = Interval(self.center(d.size))
        center = center / center.sum()
        room = (Interval(self.bound) - self.gauge(center)).down
        # `resolve` raises an error for a ball without room around its center.
        if room <= 0.0:
            return math.inf, 0.0
        share = Interval(excess) / (Interval(excess) + Interval(room))
        return 0.0, (share * (point - center).abs().sum()).up

    def penalty_near(self, d: Vector, total: tuple[float, float], distance: float) -> float:
        excess = self.gauge(box_around(d, total, distance)) - Interval(self.bound)
        return 0.0 if excess.up <= 0.0 else math.inf


def fit(owner: Ball, radius: Fraction, least: float) -> Fraction:
    """Return the radius, enlarged if the ball misses the simplex only by rounding errors.

    `least` is the smallest radius that meets the simplex. If the radius is clearly smaller, raise
    InputError.
    """
    # A user who writes 1 / sqrt(m) means the smallest ball that meets the simplex, whether the
    # quotient is rounded upwards or downwards.
    floor = Fraction(least)
    if radius >= floor * (1 - MAX_RADIUS_ERROR):
        return max(radius, floor * (1 + MAX_RADIUS_ERROR))
    raise InputError(
        f"{brief(owner)} does not meet the simplex: the radius must be at least {least:.12g}"
    )
