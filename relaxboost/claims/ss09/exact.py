"""Vectors of fractions, and the entropic projection (SS09, Eq. 14), computed without Fig. 2."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.sides import on_simplex


def distribution(values: Any) -> list[Fraction]:
    """Convert non-negative floats to fractions, and divide them by their sum."""
    return list(on_simplex(exactly(values)))


def softmax(theta: Array) -> Array:
    """Return the softmax of θ, which is the distribution proportional to e^θ."""
    weights = np.exp(theta - np.max(theta))
    return weights / weights.sum()


def log_mean_exp(theta: Array) -> float:
    """Return log((1/m) Σ e^{θ_i}), the logarithm of the mean of e^θ."""
    return float(np.logaddexp.reduce(theta)) - math.log(len(theta))


def projected(d0: Sequence[Fraction], nu: Fraction) -> list[Fraction] | None:
    """Return the solution of Eq. 14 as fractions, or None if all divergences are infinite."""
    # The solution is d = min(ν, ξ d0). It is optimal if its sum is 1, ξ d0 ≥ ν for the capped
    # entries, and ξ d0 ≤ ν for the others.
    order = sorted((r for r in range(len(d0)) if d0[r] > 0), key=lambda r: -d0[r])
    for capped in range(len(order)):
        rest = 1 - nu * capped
        if rest < 0:
            return None
        xi = rest / sum(d0[r] for r in order[capped:])
        if xi * d0[order[capped]] <= nu and (capped == 0 or xi * d0[order[capped - 1]] >= nu):
            return [min(nu, xi * weight) for weight in d0]
    return None


def projected_softmax(theta: Array, nu: float) -> Array:
    """Return the solution of Eq. 14 as floats, for d0 proportional to e^θ and ν ≥ 1/m."""
    # The solution is min(ν, e^{θ_i + s}), where bisection finds the s for which its sum is 1.
    low, high = math.log(nu) - np.max(theta) - 50.0, math.log(nu) - np.min(theta)
    for _ in range(200):
        middle = (low + high) / 2.0
        if np.exp(np.minimum(math.log(nu), theta + middle)).sum() < 1.0:
            low = middle
        else:
            high = middle
    return np.exp(np.minimum(math.log(nu), theta + high))


def divergence(d: Iterable[Any], d0: Iterable[Any]) -> float:
    """Return Σ d log(d/d0), the Bregman divergence B_h on the simplex."""
    pairs = [(float(a), float(b)) for a, b in zip(d, d0, strict=True) if a > 0]
    if any(b == 0.0 for _, b in pairs):
        return math.inf
    return math.fsum(a * math.log(a / b) for a, b in pairs)


def entropy(d: Array) -> float:
    """Return the relative entropy h(d) = Σ d log(m d)."""
    return divergence(d, np.full(len(d), 1.0 / len(d)))
