"""Proxies like powers: their values without cancellation, and mirrors, levels found as roots."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.roots import decreasing_root
from relaxboost.game.domains import L1Ball, Simplex


def mirror_of_powers(z: Vector, domain: Any, unit: float, s: float, normed: bool = False) -> Vector:
    """Return w >= 0 with w_j in proportion to (ν − z_j)_+^{1/s}; on the ball to −sgn(z_j) |z_j|.

    Let b be ν − z in units. The weights are b^{1/s} radii, or if `normed` the gradient of ‖b‖_q²/2,
    q = 1 + 1/s, with the sum Σb^{q−1} ‖b‖_q^{2−q}; ν is the root at which they fill the domain.
    The unit is not 0 and of the sign of s, which is in (-1, 1], > 0 but on the simplex.

    With height −z, on the ball |z|, and e^{su} the largest b, r_j = b_j/e^{su} is
    (1 − (max height − height_j)/(unit e^{su}))_+. Heights are subtracted before they are divided,
    and powers are logarithms, so that neither heights of 1e12 nor an s of 1e-9 lose digits.
    """
    ball = isinstance(domain, L1Ball)
    heights: Vector = np.abs(z) if ball else -z
    top = float(heights.max())
    with np.errstate(over="ignore"):  # what is out of sight gets nothing
        below = (top - heights) / unit

    def at(u: float) -> tuple[Vector, float, float]:
        """Return w/max w, the log of their sum in radii, and its slope in u."""
        k = np.minimum(below * math.exp(min(-s * u, 700.0)), 1.0)
        with np.errstate(divide="ignore"):
            v: Vector = np.exp(np.log1p(-k) / s)
        r = 1.0 - k
        one = float(v.sum())
        slope = float(np.divide(v, r, out=np.zeros_like(v), where=r > 0.0).sum()) / one
        if not normed:
            return v, u + math.log(one), slope
        two = float(v @ r)
        total = s * u + math.log(one) - (1.0 - s) / (1.0 + s) * math.log(two)
        return v, total, slope - (1.0 - s) * one / two

    def missing(u: float) -> tuple[float, float]:
        _, total, slope = at(u)
        return -total, -slope

    highest, scale = 0.0, float(domain.radius)
    if not isinstance(domain, Simplex):  # ν <= 0, and 0 if that adds up to less than the radius
        if top <= 0.0:
            return np.zeros_like(z)
        highest = min(0.0, (math.log(top) - math.log(unit)) / s)
    v, total, _ = at(highest)
    if highest < 0.0 and total <= 0.0:
        scale *= math.exp(total)
    else:
        lowest = -(2.0 / (1.0 + s) if normed else 1.0) * math.log(z.size)  # all weights equal
        v = at(decreasing_root(missing, highest, 1.0, 1e-15, lowest, highest))[0]
    v *= scale / float(v.sum())
    return np.copysign(v, -z) if ball else v


def above_tangent(e: Vector, s: float) -> Vector:
    """Return ((1 + e)^{s + 1} − 1 − (s + 1)e)/(s(s + 1)) for e >= −1; s = 0 is its limit.

    It is (1 + e) log(1 + e) − e for s = 0 and e²/2 for s = 1. Near 0, where the three terms cancel
    to about e²/2, it is Newton's series.
    """
    near = np.abs(e) < 0.05
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log1p(e)
        slopes = np.expm1(s * logs) / s if s else logs
        far = (np.where(e > -1.0, (1.0 + e) * slopes, 0.0) - e) / (s + 1.0)
    small = np.where(near, e, 0.0)
    series = np.zeros_like(small)
    for k in range(14, 2, -1):  # (s − 1)/3 e (1 + (s − 2)/4 e (1 + ...
        series = (s + 2.0 - k) / k * small * (1.0 + series)
    return np.where(near, small * small / 2.0 * (1.0 + series), far)
