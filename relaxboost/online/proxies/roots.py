"""The mirror map and the values of power proxies, computed without cancellation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.roots import decreasing_root
from relaxboost.game.domains import L1Ball, Simplex


def mirror_of_powers(z: Vector, domain: Any, unit: float, s: float, normed: bool = False) -> Vector:
    """Return the mirror image of z for the proxy `Power` or `PNorm`.

    The weights are proportional to (ν − z_j)_+^{1/s}. On the simplex, ν is such that they sum to
    the radius. On other domains ν <= 0, and they sum to at most the radius. On the l1 ball, |z_j|
    replaces −z_j, and the weights have the signs of −z_j.

    Parameters
    ----------
    z : array
        The vector z.
    domain : Domain
        A simplex, a full simplex or an l1 ball.
    unit : float
        The divisor of ν − z_j in the vector b = ((ν − z)/unit)_+, with the sign of s.
    s : float
        A number in [−1, 1] other than 0. It must be positive unless the domain is a simplex.
    normed : bool
        If False, the weights are the radius times b^{1/s}, as `Power` requires. If True, they are
        the radius times the gradient of ‖b‖_q²/2 with q = 1 + 1/s, as `PNorm` requires.
    """
    # The heights are −z, or |z| on the ball. Let e^{su} be the largest b. Then r_j = b_j/e^{su} is
    # (1 − (max height − height_j)/(unit e^{su}))_+. The code divides differences of heights instead
    # of heights, and computes powers by logarithms. Therefore heights of 1e12 and an s of 1e-9 lose
    # no digits. If `normed`, the entries of the gradient have the sum Σb^{q−1} ‖b‖_q^{2−q}.
    ball = isinstance(domain, L1Ball)
    heights: Vector = np.abs(z) if ball else -z
    top = float(heights.max())
    # If a difference overflows, the weight is 0.
    with np.errstate(over="ignore"):
        below = (top - heights) / unit

    def at(u: float) -> tuple[Vector, float, float]:
        # The result is w/max w, log(Σw/radius), and the derivative of this logarithm.
        # A limit of the exponent prevents the product inf · 0.
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

    highest = 0.0
    scale = float(domain.radius)
    # Off the simplex ν <= 0, and ν = 0 if the weights then sum to less than the radius.
    if not isinstance(domain, Simplex):
        if top <= 0.0:
            return np.zeros_like(z)
        highest = min(0.0, (math.log(top) - math.log(unit)) / s)
    v, total, _ = at(highest)
    if highest < 0.0 and total <= 0.0:
        scale *= math.exp(total)
    else:
        # At the lowest u all weights are equal.
        lowest = -(2.0 / (1.0 + s) if normed else 1.0) * math.log(z.size)
        v = at(decreasing_root(missing, highest, 1.0, 1e-15, lowest, highest))[0]
    # Scaling the sum to the radius removes the error of the root.
    v *= scale / float(v.sum())
    return np.copysign(v, -z) if ball else v


def above_tangent(e: Vector, s: float) -> Vector:
    """Return ((1 + e)^{s + 1} − 1 − (s + 1)e)/(s(s + 1)) for e >= −1, or its limit for s = 0.

    Proxies are sums of such terms. The result is accurate even for e near 0, where the formula
    cancels. For s = 0 the limit is (1 + e) log(1 + e) − e, and for s = 1 the result is e²/2.
    """
    near = np.abs(e) < 0.05
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log1p(e)
        slopes = np.expm1(s * logs) / s if s else logs
        far = (np.where(e > -1.0, (1.0 + e) * slopes, 0.0) - e) / (s + 1.0)
    small = np.where(near, e, 0.0)
    series = np.zeros_like(small)
    # Newton's series is (s − 1)/3 e (1 + (s − 2)/4 e (1 + ...
    for k in range(14, 2, -1):
        series = (s + 2.0 - k) / k * small * (1.0 + series)
    return np.where(near, small * small / 2.0 * (1.0 + series), far)
