"""What all indicators of a convex set {d: G(d) <= r} share: feasibility, repair, its proof."""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.intervals import Interval
from relaxboost.relaxations.base import Relaxation, box_around, onto_simplex
from relaxboost.relaxations.bounds import Bounds

_SLACK = 1e-12
_SLACK_EXACT = Fraction(1, 10**12)
"""Relative tolerance of feasibility; the bounds account for it."""


class Ball(Relaxation, Bounds):
    """The indicator of {d: G(d) <= bound} for a convex gauge G.

    A subclass gives `gauge`, in interval arithmetic and for any d of the right sign, the exact
    `bound`, and `center(m)`, the point of the simplex with the smallest gauge.
    """

    @abstractmethod
    def gauge(self, d: Interval) -> Interval:
        """Return an enclosure of G(d)."""

    @property
    @abstractmethod
    def bound(self) -> Fraction:
        """The right-hand side, exactly."""

    def size(self, d: Vector) -> float:
        """Return G(d) in doubles."""
        return float(self.gauge(Interval(np.asarray(d, dtype=np.float64))).middle)

    @property
    def _limit(self) -> float:
        bound = float(self.bound)
        return bound + _SLACK * max(bound, 1e-3)

    def penalty(self, d: Vector) -> float:
        """Return 0 inside the ball, up to a relative 1e-12, else inf."""
        return 0.0 if self.size(d) <= self._limit else math.inf

    def repair(self, d: Vector) -> Vector:
        """Return `d` clipped, normalised and moved towards the center until it is in the ball.

        G is convex, so the share (G − r) / (G − G(center)) of the way is enough.
        """
        return self.draw_in(onto_simplex(d, repr(self)))

    def draw_in(self, d: Vector) -> Vector:
        """Return the `d` of the simplex, moved towards the center if it is outside."""
        bound = float(self.bound)
        excess = self.size(d) - bound
        if excess <= 0.0:
            return d
        center = self.center(d.size)
        room = bound - self.size(center)
        share = 1.0 if room <= 0.0 else min(1.0, excess / (excess + room) * (1.0 + 1e-14))
        return center if share == 1.0 else d + share * (center - d)

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return (0, distance): d / Σd moved towards the center, as far as its gauge demands."""
        point = Interval(d) / Interval(*total)
        excess = (self.gauge(point) - Interval(self.bound)).up
        if excess <= 0.0:
            return 0.0, 0.0
        center = Interval(self.center(d.size))
        center = center / center.sum()
        room = (Interval(self.bound) - self.gauge(center)).down
        if room <= 0.0:
            return math.inf, 0.0  # resolve lets no such ball through
        share = Interval(excess) / (Interval(excess) + Interval(room))
        return 0.0, (share * (point - center).abs().sum()).up

    def penalty_near(self, d: Vector, total: tuple[float, float], distance: float) -> float:
        excess = self.gauge(box_around(d, total, distance)) - Interval(self.bound)
        return 0.0 if excess.up <= 0.0 else math.inf


def fit(owner: Ball, radius: Fraction, least: float, name: str = "radius") -> Fraction:
    """Return `radius`, or a little more than the `least` that meets the simplex if it is that.

    A user who writes 1 / sqrt(m) means the smallest ball, whichever way the quotient was rounded;
    it gets a radius of the least one and a relative 1e-12.

    Raises
    ------
    InputError
        If the ball misses the simplex.
    """
    floor = Fraction(least)
    if radius >= floor * (1 + _SLACK_EXACT):
        return radius
    if radius >= floor * (1 - _SLACK_EXACT):
        return floor * (1 + _SLACK_EXACT)
    raise InputError(
        f"{owner!r} misses the simplex: the smallest {name} that meets it here is {least:.12g}"
    )
