"""Mirrors of proxies with gradients like powers: a level above the entries, found as a root."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.roots import decreasing_root
from relaxboost.game.domains import L1Ball, Simplex

Total = Callable[[float, Vector, Vector], tuple[float, float]]
"""Of (u, r, v): the log of the total in radii, and its slope in u, which is positive."""


def mirror_of_powers(
    z: Vector, domain: Any, unit: float, s: float, law: Total, lowest: float
) -> Vector:
    """Return w >= 0 with w_j in proportion to (ν − z_j)_+^{1/s}; on the ball to −sgn(z_j) |z_j|.

    Let height be −z, on the ball |z|, and e^{su} how far ν is from the highest, in units. Then
    v = r^{1/s} with r_j = (1 − (max height − height_j)/(unit e^{su}))_+ is w/max w. Heights are
    subtracted before they are divided, and powers are logarithms, so that neither heights of 1e12
    nor an s of 1e-9 lose digits.

    Parameters
    ----------
    z : Vector
        Shape (M,).
    domain : Simplex, FullSimplex or L1Ball
    unit, s : float
        unit is not 0 and of the sign of s; s is in (-1, 1], > 0 but on the simplex.
    law : callable
        What (u, r, v) adds up to.
    lowest : float
        A u at which the total is at most the radius; at u = 0 it is at least that.
    """
    ball = isinstance(domain, L1Ball)
    heights: Vector = np.abs(z) if ball else -z
    top = float(heights.max())
    with np.errstate(over="ignore"):  # what is out of sight gets nothing
        below = (top - heights) / unit

    def at(u: float) -> tuple[Vector, float, float]:
        k = np.minimum(below * math.exp(min(-s * u, 700.0)), 1.0)
        with np.errstate(divide="ignore"):
            v: Vector = np.exp(np.log1p(-k) / s)
        return v, *law(u, 1.0 - k, v)

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
        v = at(decreasing_root(missing, highest, 1.0, 1e-15, lowest, highest))[0]
    v *= scale / float(v.sum())
    return np.copysign(v, -z) if ball else v


def ratios(r: Vector, v: Vector) -> float:
    """Return Σ v/r over r > 0."""
    return float(np.divide(v, r, out=np.zeros_like(v), where=r > 0.0).sum())
