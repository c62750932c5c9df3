"""The entropic projection onto the simplex with a cap for each example, in the log domain.

The minimiser of <d, u> + β Σ d_i log(d_i / a_i) with d <= c is d_i = min(c_i, x e_i), where
e_i = a_i exp(−(u_i − γ)/β) for any reference γ and x solves Σ min(c_i, x e_i) = 1. With
b_i = c_i / e_i in increasing order the first r entries are at their caps for the first r with

    R_r = 1 − Σ_{i <= r} c_i <= b_{r+1} Σ_{i > r} e_i,

which is Fig. 2 of Shalev-Shwartz & Singer (2009) with ν replaced by c_i; then
x = R_r / Σ_{i > r} e_i. As reference serves the γ at which the caps are filled at β = 0,
Σ_{u_i < γ} c_i < 1 <= Σ_{u_i <= γ} c_i. It makes x <= 1 and x >= R / Σ_{u_i >= γ} e_i (a = 1),
where R is what the caps below γ leave, so that an entry whose e_i overflows is at its cap and one
whose e_i underflows has no weight.
"""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost.relaxations._projections.capped import uncapped
from relaxboost.relaxations._projections.selection import compensated_sum
from relaxboost.relaxations._projections.targets import (
    RAMPS,
    STEPS,
    SURELY_ENDED,
    ramp_end,
    reaching,
)
from relaxboost.relaxations._projections.vectorised import REORDER


def caps_threshold(u: Vector, caps: Vector) -> float:
    """Return the smallest γ among the u_i with Σ_{u_i <= γ} c_i >= 1.

    It maximises γ − Σ c_i [γ − u_i]_+. Where the caps reach one only up to rounding it is the
    largest margin with a cap above zero. `u` and `caps` have shape (m,), caps >= 0.
    """
    gamma = reaching(STEPS, u, caps, 1.0)
    if gamma == math.inf:
        gamma = u[(caps > 0.0) & (u < math.inf)].max()
    return float(gamma)


@njit(inline="always", error_model="numpy")
def _at_cap(e: float, c: float, best: float) -> bool:
    b = ramp_end(e, c)
    return (b < best) | (b < SURELY_ENDED)


@njit(error_model="numpy", fastmath=REORDER)
def _few_sums(e: Vector, c: Vector, best: float) -> tuple[float, float]:
    capped, free = 0.0, 0.0
    for i in range(e.shape[0]):
        at_cap = _at_cap(e[i], c[i], best)
        capped += c[i] if at_cap else 0.0
        free += 0.0 if at_cap else e[i]
    return capped, free


@njit(error_model="numpy")
def _cut(e: Vector, c: Vector, best: float) -> None:
    """Turn e into min{c, x e}, x being such that it sums to one, if x >= b at the caps only."""
    capped, free = np.empty(e.shape[0] // 64 + 1), np.empty(e.shape[0] // 64 + 1)
    for r in range(capped.shape[0]):
        part = slice(64 * r, 64 * r + 64)
        capped[r], free[r] = _few_sums(e[part], c[part], best)
    rest, total = max(0.0, 1.0 - compensated_sum(capped)), compensated_sum(free)
    x = rest / total if total > 0.0 else 0.0
    for i in range(e.shape[0]):
        e[i] = c[i] if _at_cap(e[i], c[i], best) else min(c[i], x * e[i])


def caps_distribution(u: Vector, beta: float, c: Vector, prior: Vector | None = None) -> Vector:
    """Return the d in the simplex with d <= c that minimises <d, u> + β Σ d_i log(d_i / a_i).

    Margins of ``+inf`` get weight 0. The caps c of shape (m,) are >= 0, with a sum of at least one
    up to rounding; 1 and more is no cap. `prior` has the a_i > 0, by default 1, none of them far
    beyond 1e±50: a whole number stands for as many examples of one margin under one cap.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Fig. 2, Lemmas 15 and 16, where all caps are equal.
    """
    if c.max() > 1.0:
        c = np.minimum(c, 1.0)  # so that their sum cannot overflow
    d = np.empty(u.size)
    cap_exponentials(u, caps_threshold(u, c), beta, c, d, prior)
    return d


def cap_exponentials(
    u: Vector, gamma: float, beta: float, c: Vector, d: Vector, prior: Vector | None = None
) -> None:
    """Set d = min{c, x a exp(−(u − γ)/β)} with Σ d = 1, γ being what `caps_threshold` returns."""
    uncapped(u, gamma, beta, d)
    if prior is not None:
        with np.errstate(over="ignore", under="ignore"):
            d *= prior
    _cut(d, c, reaching(RAMPS, d, c, 1.0))
