"""The entropic projection for a penalty on the largest weight, c max_i a_i d_i.

Stationarity of <d, u> + c max a_i d_i + β Σ d_i log d_i on the simplex reads, with multipliers
μ_i >= 0 of a_i d_i <= M, Σ μ_i = c, μ_i = 0 where a_i d_i < M,

    u_i + β (log d_i + 1) + a_i μ_i = λ.

Put s_i = u_i − β log a_i and d_i = K (1/a_i) exp(−max(s_i, η)/β): below the plateau (s_i > η) the
left side is constant, and on it a_i μ_i = η − s_i satisfies the same equation. So η solves
Σ [η − s_i]_+ / a_i = c, whatever K, and K normalises. As β -> 0 this is the γ of the relaxed
margin, Σ [γ − u_i]_+ / a_i = c.
"""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost.relaxations._projections.capped import capped_distribution
from relaxboost.relaxations._projections.targets import HINGES, reaching
from relaxboost.relaxations._projections.vectorised import CHUNK, REORDER, exp


@njit(error_model="numpy", fastmath=REORDER)
def _hinges(v: Vector, inverse: Vector, top: float) -> tuple[float, float]:
    weight, water = 0.0, 0.0
    for i in range(v.shape[0]):
        weight += inverse[i] if v[i] <= top else 0.0
        water += (top - v[i]) * inverse[i] if v[i] <= top else 0.0
    return weight, water


@njit(error_model="numpy", fastmath={"nnan", "nsz", "reassoc"})
def _largest(v: Vector, edge: float) -> float:
    top = -math.inf
    for i in range(v.shape[0]):
        top = max(top, v[i] if v[i] < edge else -math.inf)
    return top


@njit(error_model="numpy")
def _pour(v: Vector, inverse: Vector, edge: float, c: float) -> float:
    """Return the y with Σ [y − v_i]_+ / a_i = c, which only v_i < `edge` are below."""
    top, weight, water = _largest(v, edge), 0.0, 0.0
    for start in range(0, v.shape[0], CHUNK):
        part = slice(start, start + CHUNK)
        x, y = _hinges(v[part], inverse[part], top)
        weight += x
        water += y
    return top + (c - water) / weight if weight > 0.0 else edge


def _level(v: Vector, inverse: Vector, c: float) -> tuple[float, float]:
    """Return the y with Σ [y − v_i]_+ / a_i = c > 0, and the least v_i not below it, or inf."""
    edge = float(reaching(HINGES, v, inverse, c))
    return _pour(v, inverse, edge, c), edge


@njit(error_model="numpy", fastmath={"contract"})
def _flatten(v: Vector, inverse: Vector, level: float) -> None:
    """Turn v into exp(−[v − level]_+) / a."""
    for i in range(v.shape[0]):
        v[i] = inverse[i] * exp(min(level - v[i], 0.0))


def max_penalty_margin(u: Vector, c: float, a: Vector | None = None) -> tuple[float, Vector]:
    """Return min over the simplex of <d, u> + c max_i a_i d_i and a d that attains it.

    The minimum is the γ with Σ [γ − u_i]_+ / a_i = c, or min u if c = 0, for c >= 0 and factors
    a_i > 0, by default 1. d_i is proportional to 1/a_i where u_i < γ; for c = 0 it is the first
    minimiser of u alone. Margins of ``+inf`` get weight 0.
    """
    inverse = np.ones(u.size) if a is None else 1.0 / a
    low = float(u.min())
    gamma, edge = _level(u - low, inverse, c) if c > 0.0 else (0.0, 0.0)
    if not edge > 0.0:  # c = 0, or too small to lift γ above min u in double precision
        d = np.zeros(u.size)
        d[np.argmin(u)] = 1.0
        return low, d
    d = np.where(u - low < edge, inverse, 0.0)
    return low + gamma, d / d.sum()


def max_penalty_distribution(u: Vector, beta: float, c: float, a: Vector | None = None) -> Vector:
    """Return the d in the simplex that minimises <d, u> + c max_i a_i d_i + β Σ d_i log d_i.

    The largest a_i d_i are cut to a plateau: d_i is proportional to (1/a_i) exp(−max(s_i, η)/β),
    s_i = u_i − β log a_i, where Σ [η − s_i]_+ / a_i = c. Arguments are those of
    `max_penalty_margin`; c = 0 is soft-max.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 5, whose Fig. 2 is the case of a hard cap.
    """
    inverse = np.ones(u.size) if a is None else 1.0 / a
    with np.errstate(over="ignore", under="ignore"):
        v = u - u.min()
        # In units of β, so that log a_i is not lost beside the margins; the limit where c/β or
        # the sum of all margins over β would overflow.
        spread = float(v.max())
        spread = spread if spread < math.inf else float(v[v < math.inf].max())
        unit = max(float(beta), c * 1e-300, spread * float(inverse.sum()) * 1e-300)
        v /= unit
        if c / unit == 0.0:
            return capped_distribution(u, beta)
        if a is not None:
            v += np.log(inverse)
        level, _ = _level(v, inverse, c / unit)
    _flatten(v, inverse, level)
    v /= v.sum()
    return v
