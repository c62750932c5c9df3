"""The entropic projection for a penalty on the largest weight, c max_i a_i d_i.

The problem is to minimise <d, u> + c M + β Σ d_i log d_i over the simplex subject to a_i d_i <= M.
Let μ_i >= 0 be the multiplier of a_i d_i <= M. The optimality conditions are Σ μ_i = c, μ_i = 0 if
a_i d_i < M, and

    u_i + β (log d_i + 1) + a_i μ_i = λ.

Let s_i = u_i − β log a_i and d_i = K (1/a_i) exp(−max(s_i, η)/β). If s_i > η, the left side is
constant with μ_i = 0. Otherwise a_i d_i has its largest value, and a_i μ_i = η − s_i satisfies the
same equation. So η solves Σ [η − s_i]_+ / a_i = c, and K makes the sum of d equal to one. For
β -> 0, η tends to the threshold γ of the relaxed margin, which solves Σ [γ − u_i]_+ / a_i = c.
"""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.rounding import MAX_SUMMABLE
from relaxboost.relaxations._projections.capped import capped_distribution


def _level(v: Vector, inverse: Vector, c: float) -> tuple[float, float]:
    """Return the threshold y that solves Σ [y − v_i]_+ / a_i = c for c > 0.

    Also return the smallest v_i >= y, or inf if all v_i are below y. `inverse` contains the numbers
    1/a_i.
    """
    order = np.argsort(v)
    keys = v[order]
    slope = np.cumsum(inverse[order])
    with np.errstate(invalid="ignore", over="ignore"):
        # These are the sums for y = v_i. All terms are positive, so that no sum cancels.
        # A second infinite v_i gives nan, which NumPy sorts after all numbers.
        sums = np.append(0.0, np.cumsum(np.diff(keys) * slope[:-1]))
    n = int(np.searchsorted(sums, c))
    level = float(keys[n - 1]) + (c - float(sums[n - 1])) / float(slope[n - 1])
    return level, float(keys[n]) if n < v.size else math.inf


def max_penalty_margin(u: Vector, c: float, a: Vector | None = None) -> tuple[float, Vector]:
    """Return the minimum of <d, u> + c max_i a_i d_i over the simplex, and a minimiser d.

    The minimum is the γ with Σ [γ − u_i]_+ / a_i = c, for factors a > 0 that are 1 by default. If
    u_i < γ, the weight d_i is proportional to 1/a_i, and otherwise d_i is 0. For c = 0 the first
    example of smallest margin has all the weight. An example with the margin ``+inf`` gets weight
    0.
    """
    inverse = np.ones(u.size) if a is None else 1.0 / a
    low = float(u.min())
    if c == 0.0:
        d = np.zeros(u.size)
        d[np.argmin(u)] = 1.0
        return low, d
    gamma, bound = _level(u - low, inverse, c)
    d = np.where(u - low < bound, inverse, 0.0)
    return low + gamma, d / d.sum()


def max_penalty_distribution(u: Vector, beta: float, c: float, a: Vector | None = None) -> Vector:
    """Return the minimiser of <d, u> + c max_i a_i d_i + β Σ d_i log d_i over the simplex.

    The parameters are those of `max_penalty_margin`, and β > 0. For c = 0 the result is the softmax
    of −u/β.
    """
    inverse = np.ones(u.size) if a is None else 1.0 / a
    with np.errstate(over="ignore", under="ignore"):
        v = u - u.min()
        # The unit is β, so that log a_i is not lost in the margins. If c/β or the sum of all
        # margins over β would overflow, the unit is larger and the result is that of β -> 0.
        spread = float(v.max())
        spread = spread if spread < math.inf else float(v[v < math.inf].max())
        unit = max(float(beta), c / MAX_SUMMABLE, spread * float(inverse.sum()) / MAX_SUMMABLE)
        v /= unit
        if c / unit == 0.0:
            return capped_distribution(u, beta)
        if a is not None:
            v += np.log(inverse)
        level, _ = _level(v, inverse, c / unit)
        d = inverse * np.exp(np.minimum(level - v, 0.0))
    return np.asarray(d / d.sum())
