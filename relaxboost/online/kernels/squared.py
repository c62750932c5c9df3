"""The compiled mirror map of the squared Euclidean norm on the l2 ball."""

from __future__ import annotations

import math

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost.online.kernels.vectors import ENTRIES, inner, scale


@njit(fastmath=ENTRIES)
def squared_mirror(radius: float, z: Vector, beta: float, w: Vector) -> None:
    """Set w to the point of the l2 ball nearest to −z/β; see `SquaredL2.mirror`."""
    factor = 1.0 / beta
    for j in range(z.size):
        w[j] = -z[j] * factor
    square = inner(w, w)
    # A very small or very large square has lost digits.
    if not 1e-280 < square < 1e280:
        _extreme_mirror(radius, z, factor, w)
    elif math.sqrt(square) > radius:
        scale(w, radius / math.sqrt(square))


@njit()
def _extreme_mirror(radius: float, z: Vector, factor: float, w: Vector) -> None:
    """Set w to the point of the l2 ball nearest to −z · factor, without squares of entries."""
    peak = 0.0
    for j in range(z.size):
        peak = max(peak, abs(z[j]))
    if peak == 0.0:
        return
    square = 0.0
    for j in range(z.size):
        w[j] = -z[j] / peak
        square += w[j] * w[j]
    shrink = min(peak * factor, radius / math.sqrt(square))
    for j in range(z.size):
        w[j] *= shrink
