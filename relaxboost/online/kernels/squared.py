"""The compiled mirror map of the squared Euclidean norm on the l2 ball."""

from __future__ import annotations

import math

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost.online.kernels.vectors import ENTRIES, inner, scale


@njit(fastmath=ENTRIES)
def squared_mirror(radius: float, z: Vector, top: float, beta: float, w: Vector) -> None:
    """Set w to the point of the l2 ball nearest to −z/β.

    The argument `top` is the largest absolute entry of z.
    """
    # The entries of z/peak are at most 1, so that no square overflows, and none that counts is 0.
    peak = max(top, 1e-300)
    for j in range(z.size):
        w[j] = -z[j] / peak
    length = math.sqrt(inner(w, w))
    scale(w, peak / beta if length * peak <= radius * beta else radius / length)
