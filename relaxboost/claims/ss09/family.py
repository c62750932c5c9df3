"""Penalties f for SS09's Theorem 7, with closed forms of the distributions and the relaxed margins.

The closed forms are computed without the projections of the package. Each row of an array u
contains the margins Aw of the examples in one round. For m examples, a number k from 1 to m
determines the strength s = 3k/(10m) of the penalty.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, softmax

from relaxboost._core.lazy import cp
from relaxboost.claims.language import *
from relaxboost.claims.ss09.exact import entropy
from relaxboost.relaxations import Capped, Custom, KLPenalty, NormPenalty, Relaxation


@dataclass(frozen=True)
class ClosedForms:
    """Closed forms for a penalty f: the distribution of a round, and the relaxed margin."""

    relaxation: Callable[[int, int], Relaxation]
    """A function of m and k that returns f as a relaxation, for comparisons with certified optima.
    """
    f: Callable[[Array, int], Array]
    distribution: Callable[[Array, int, float], Array]
    """A function of the margins u, of k and of β that returns the minimiser d_t of <u, d> + f(d) +
    βh(d). Here h is the relative entropy."""
    margin: Callable[[Array, int], Array]
    """A function of the margins u and of k that returns the relaxed margin, the minimum of <u, d> +
    f(d)."""


def _strength(m: int, k: int) -> float:
    return 0.3 * k / m


def _softmax(u: Array, beta: float) -> Array:
    return np.asarray(softmax(-u / beta, axis=-1))


def _soft_min(u: Array, beta: float) -> Array:
    # The soft minimum is −β log((1/m) Σ e^{−u_i/β}).
    return np.asarray(beta * (math.log(u.shape[-1]) - logsumexp(-u / beta, axis=-1)))


def _level(u: Array, total: Array | float) -> Array:
    # The solution q of Σ [q − u_i]_+ = total is the minimum over c of (total + the sum of the c
    # smallest u_i)/c.
    ranked = np.cumsum(np.sort(u, axis=-1), axis=-1) + total
    return np.asarray(np.min(ranked / np.arange(1, u.shape[-1] + 1), axis=-1, keepdims=True))


def _max_norm(u: Array, k: int, beta: float) -> Array:
    # By Lagrange multipliers, d_i = min(t, ξ e^{−u_i/β}), where t and ξ are such that Σ d_i = 1 and
    # Σ β [log(ξ e^{−u_i/β}/t)]_+ = s.
    q = _level(u / beta, _strength(u.shape[-1], k) / beta)
    return _softmax(np.maximum(u, beta * q), beta)


def _priced(u: Array, k: int) -> Array:
    # The coefficient s of |d_1| is added to u_1.
    found = np.array(u, dtype=np.float64)
    found[..., 0] += _strength(u.shape[-1], k)
    return found


def _capped(u: Array, k: int, beta: float) -> Array:
    # By Lagrange multipliers, d_i = min(1/k, ξ e^{−u_i/β}). So the entries with the least margins
    # are capped.
    order = np.argsort(u, axis=-1, kind="stable")
    logs = -(np.take_along_axis(u, order, -1) - np.min(u, axis=-1, keepdims=True)) / beta
    d = np.full_like(u, 1.0 / k)
    found = np.zeros(len(u), dtype=bool)
    for capped in range(min(k, u.shape[-1] - 1) + 1):
        free = (1.0 - capped / k) * _softmax(-logs[:, capped:], 1.0)
        new = ~found & (free[:, 0] <= (1.0 + 1e-14) / k)
        d[new, capped:] = free[new]
        found |= new
    back = np.empty_like(d)
    np.put_along_axis(back, order, d, -1)
    return back


FORMS: dict[str, ClosedForms] = {
    "caps": ClosedForms(
        lambda m, k: Capped(k),
        lambda d, k: np.zeros(d.shape[:-1]),
        _capped,
        lambda u, k: np.mean(np.sort(u, axis=-1)[..., :k], axis=-1),
    ),
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
    "first weight": ClosedForms(
        lambda m, k: Custom(f=lambda d: _strength(m, k) * cp.abs(d[0])),
        lambda d, k: _strength(d.shape[-1], k) * d[..., 0],
        lambda u, k, beta: _softmax(_priced(u, k), beta),
        lambda u, k: np.min(_priced(u, k), axis=-1),
    ),
}
"""The closed forms by name. The functions f are the indicator of ‖d‖_∞ ≤ 1/k, s h, s‖d‖_∞ and
s|d_1|. The last one is a user-defined relaxation."""
