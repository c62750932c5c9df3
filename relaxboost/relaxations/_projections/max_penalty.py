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
from relaxboost._core.compiled import njit
from relaxboost._core.rounding import MAX_SUMMABLE
from relaxboost.relaxations._projections.capped import capped_distribution
from relaxboost.relaxations._projections.targets import EntryKind, reaching
from relaxboost.relaxations._projections.vectorised import ENTRIES_PER_CHUNK, REORDER, exp


@njit(error_model="numpy", fastmath=REORDER)
def _hinge_sums(v: Vector, inverse: Vector, top: float) -> tuple[float, float]:
    slope = 0.0
    value = 0.0
    for i in range(v.shape[0]):
        slope += inverse[i] if v[i] <= top else 0.0
        value += (top - v[i]) * inverse[i] if v[i] <= top else 0.0
    return slope, value


@njit(error_model="numpy", fastmath={"nnan", "nsz", "reassoc"})
def _largest_below(v: Vector, bound: float) -> float:
    top = -math.inf
    for i in range(v.shape[0]):
        top = max(top, v[i] if v[i] < bound else -math.inf)
    return top


@njit(error_model="numpy")
def _level_below(v: Vector, inverse: Vector, bound: float, c: float) -> float:
    """Return the y with Σ [y − v_i]_+ / a_i = c, if the v_i < y are exactly the v_i < `bound`."""
    # The sums are relative to the largest of these v_i, so that they do not cancel.
    top = _largest_below(v, bound)
    slope = 0.0
    value = 0.0
    for start in range(0, v.shape[0], ENTRIES_PER_CHUNK):
        part = slice(start, start + ENTRIES_PER_CHUNK)
        slope_part, value_part = _hinge_sums(v[part], inverse[part], top)
        slope += slope_part
        value += value_part
    return top + (c - value) / slope if slope > 0.0 else bound


def _level(v: Vector, inverse: Vector, c: float) -> tuple[float, float]:
    """Return the y with Σ [y − v_i]_+ / a_i = c > 0, and the smallest v_i >= y, or inf."""
    bound = float(reaching(EntryKind.HINGES.value, v, inverse, c))
    return _level_below(v, inverse, bound, c), bound


@njit(error_model="numpy", fastmath={"contract"})
def _flatten(v: Vector, inverse: Vector, level: float) -> None:
    for i in range(v.shape[0]):
        v[i] = inverse[i] * exp(min(level - v[i], 0.0))


def max_penalty_margin(u: Vector, c: float, a: Vector | None = None) -> tuple[float, Vector]:
    """Return the minimum of <d, u> + c max_i a_i d_i over the simplex, and a minimiser d.

    The minimum is the γ with Σ [γ − u_i]_+ / a_i = c, for factors a > 0 that are 1 by default. If
    u_i < γ, the weight d_i is proportional to 1/a_i, and otherwise d_i is 0. For c = 0 the first
    example of smallest margin has all the weight. An example with the margin ``+inf`` gets weight
    0.
    """
    inverse = np.ones(u.size) if a is None else 1.0 / a
    low = float(u.min())
    gamma, bound = _level(u - low, inverse, c) if c > 0.0 else (0.0, 0.0)
    # c = 0, or c is too small to lift γ above min u in double precision.
    if not bound > 0.0:
        d = np.zeros(u.size)
        d[np.argmin(u)] = 1.0
        return low, d
    d = np.where(u - low < bound, inverse, 0.0)
    return low + gamma, d / d.sum()


def max_penalty_distribution(u: Vector, beta: float, c: float, a: Vector | None = None) -> Vector:
    """Return the d in the simplex that minimises <d, u> + c max_i a_i d_i + β Σ d_i log d_i.

    The penalty makes the largest products a_i d_i equal. The parameters are those of
    `max_penalty_margin`, and β > 0. For c = 0 the result is the softmax of −u/β.
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
    _flatten(v, inverse, level)
    v /= v.sum()
    return v
