"""Functions f of SS09's Theorem 7 other than caps, for Sec. 5.1: d_t and −f̃*(−u) by hand.

Nothing here uses the projections of the package. Arguments u are margins Aw along the last axis,
one row a round. The number k in [m] sets how strong f is; s = 3k/(10m).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from relaxboost._core.lazy import cp
from relaxboost.claims.language import *
from relaxboost.relaxations import (
    ChiSquarePenalty,
    Custom,
    KLPenalty,
    NormBall,
    NormPenalty,
    Relaxation,
)

_NEWTON_STEPS = 40
_HALVINGS = 55


@dataclass(frozen=True)
class ClosedForms:
    """f, the argmin of <u, d> + f(d) + βh(d) over the simplex, and the minimum without βh."""

    relaxation: Callable[[int, int], Relaxation]
    """From m and k, for the certified optima."""
    f: Callable[[Array, int], Array]
    distribution: Callable[[Array, int, float], Array]
    margin: Callable[[Array, int], Array]


def entropy(d: Array) -> Array:
    """Return h(d) = Σ d log d + log m."""
    logs = np.log(d, out=np.zeros_like(d), where=d > 0.0)
    found: Array = np.sum(d * logs, axis=-1) + math.log(d.shape[-1])
    return found


def _strength(m: int, k: int) -> float:
    return 0.3 * k / m


def radius(k: int) -> float:
    """Return the radius of the ball, which has (1/k, ..., 1/k, 0, ..., 0) in its interior."""
    return 1.05 / math.sqrt(k)


def _softmax(u: Array, beta: float) -> Array:
    with np.errstate(under="ignore"):
        shares = np.exp((np.min(u, axis=-1, keepdims=True) - u) / beta)
    found: Array = shares / np.sum(shares, axis=-1, keepdims=True)
    return found


def _soft_min(u: Array, beta: float) -> Array:
    """Return −β log((1/m) Σ e^{−u_i/β})."""
    least = np.min(u, axis=-1, keepdims=True)
    found: Array = least[..., 0] - beta * np.log(np.mean(np.exp((least - u) / beta), axis=-1))
    return found


def _level(u: Array, total: Array | float) -> Array:
    """Return the q with Σ [q − u_i]_+ = total: the least of (total + Σ_{i ≤ c} u_(i))/c."""
    ranked = np.cumsum(np.sort(u, axis=-1), axis=-1) + total
    found: Array = np.min(ranked / np.arange(1, u.shape[-1] + 1), axis=-1, keepdims=True)
    return found


def _max_norm(u: Array, k: int, beta: float) -> Array:
    """Lagrange: d_i = min(t, ξ e^{−u_i/β}), where Σ β [log(ξ e^{−u_i/β}/t)]_+ is the strength."""
    q = _level(u / beta, _strength(u.shape[-1], k) / beta)
    return _softmax(np.maximum(u, beta * q), beta)


def _squared(u: Array, mu: Array | float) -> Array:
    """Return the argmin of <u, d> + μ‖d‖²/2, which is [q − u]_+/μ."""
    d = np.maximum(_level(u, mu) - u, 0.0)
    found: Array = d / np.sum(d, axis=-1, keepdims=True)
    return found


def _squared_entropic(u: Array, beta: float, mu: Array | float) -> Array:
    """Return the argmin of <u, d> + μ‖d‖²/2 + βh(d), by Newton's method on Lagrange's conditions.

    They say β log d_i + μ d_i = c − u_i, so that μ d_i/β is the ω with ω + log ω = (c − u_i)/β +
    log(μ/β). The sum of the d_i is convex in c, and at least 1 for c = min u + μ.
    """
    from scipy.special import wrightomega

    c = np.min(u, axis=-1, keepdims=True) + mu
    for _ in range(_NEWTON_STEPS):
        omega = wrightomega((c - u) / beta + np.log(mu / beta))
        excess = beta / mu * np.sum(omega, axis=-1, keepdims=True) - 1.0
        if np.max(np.abs(excess)) < 1e-14:
            break
        c = c - excess * mu / np.sum(omega / (1.0 + omega), axis=-1, keepdims=True)
    found: Array = omega / np.sum(omega, axis=-1, keepdims=True)
    return found


def _in_ball(u: Array, k: int, plain: Array, squared: Callable[[Array], Array]) -> Array:
    """Return `plain` where that is in the ball, else `squared(μ)` with μ such that it just is."""
    inside = np.linalg.norm(plain, axis=-1, keepdims=True) <= radius(k)
    if np.all(inside):
        return plain
    shape = (*u.shape[:-1], 1)
    low, high = np.full(shape, math.log(1e-6)), np.full(shape, math.log(1e4))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        outside = np.linalg.norm(squared(np.exp(middle)), axis=-1, keepdims=True) > radius(k)
        low, high = np.where(outside, middle, low), np.where(outside, high, middle)
    found: Array = np.where(inside, plain, squared(np.exp(high)))
    return found


def _ball(u: Array, k: int, beta: float) -> Array:
    return _in_ball(u, k, _softmax(u, beta), lambda mu: _squared_entropic(u, beta, mu))


def _ball_margin(u: Array, k: int) -> Array:
    vertex = np.eye(u.shape[-1])[np.argmin(u, axis=-1)]
    found: Array = np.sum(u * _in_ball(u, k, vertex, lambda mu: _squared(u, mu)), axis=-1)
    return found


def _square_margin(u: Array, k: int) -> Array:
    d = _squared(u, 2.0 * u.shape[-1] * _strength(u.shape[-1], k))
    found: Array = np.sum(u * d, axis=-1) + _square(d, k)
    return found


def _square(d: Array, k: int) -> Array:
    m = d.shape[-1]
    found: Array = _strength(m, k) * (m * np.sum(d * d, axis=-1) - 1.0)
    return found


def _priced(u: Array, k: int) -> Array:
    """Return u with the price of d_1 added to u_1."""
    found = np.array(u, dtype=np.float64)
    found[..., 0] += _strength(u.shape[-1], k)
    return found


REGULARISERS: dict[str, ClosedForms] = {
    "entropic": ClosedForms(
        lambda m, k: KLPenalty(_strength(m, k)),
        lambda d, k: _strength(d.shape[-1], k) * entropy(d),
        lambda u, k, beta: _softmax(u, beta + _strength(u.shape[-1], k)),
        lambda u, k: _soft_min(u, _strength(u.shape[-1], k)),
    ),
    "max norm": ClosedForms(
        lambda m, k: NormPenalty(math.inf, _strength(m, k)),
        lambda d, k: _strength(d.shape[-1], k) * np.max(d, axis=-1),
        _max_norm,
        lambda u, k: _level(u, _strength(u.shape[-1], k))[..., 0],
    ),
    "Euclidean ball": ClosedForms(
        lambda m, k: NormBall(2, radius(k)),
        lambda d, k: np.zeros(d.shape[:-1]),
        _ball,
        _ball_margin,
    ),
    "square": ClosedForms(
        lambda m, k: ChiSquarePenalty(_strength(m, k)),
        _square,
        lambda u, k, beta: _squared_entropic(
            u, beta, 2.0 * u.shape[-1] * _strength(u.shape[-1], k)
        ),
        _square_margin,
    ),
    "first weight": ClosedForms(
        lambda m, k: Custom(f=lambda d: _strength(m, k) * cp.abs(d[0])),
        lambda d, k: _strength(d.shape[-1], k) * d[..., 0],
        lambda u, k, beta: _softmax(_priced(u, k), beta),
        lambda u, k: np.min(_priced(u, k), axis=-1),
    ),
}
"""By name: s h, s‖d‖_∞, the ball ‖d‖_2 ≤ 1.05/√k, s(m‖d‖_2² − 1), and s|d_1| as a user's own f."""
