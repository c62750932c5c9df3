"""Vectors of fractions, and the entropic projection of SS09, Eq. 14, without Fig. 2."""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from relaxboost.claims.language import *
from relaxboost.claims.sides import on_simplex

Fractions: TypeAlias = list[Fraction]

_HALVINGS = 200


def distribution(values: Any) -> Fractions:
    """Return non-negative doubles as fractions of sum 1."""
    return list(on_simplex(exactly(values)))


def softmax(theta: Array) -> Array:
    """Return the distribution proportional to e^θ."""
    weights = np.exp(theta - np.max(theta))
    return weights / weights.sum()


def log_mean_exp(theta: Array) -> float:
    """Return log((1/m) Σ e^{θ_i})."""
    return float(np.logaddexp.reduce(theta)) - math.log(len(theta))


def projected(d0: Sequence[Fraction], nu: Fraction) -> Fractions | None:
    """Return the solution of Eq. 14 in fractions; None if none has a finite divergence.

    Of d = min(ν, ξ d0) all numbers of capped entries are tried, for the one that satisfies the
    optimality conditions of Eq. 14: its sum is 1, what is capped has ξ d0 ≥ ν, the rest ≤ ν.
    """
    order = sorted((r for r in range(len(d0)) if d0[r] > 0), key=lambda r: -d0[r])
    for capped in range(len(order)):
        rest = 1 - nu * capped
        if rest < 0:
            return None
        xi = rest / sum(d0[r] for r in order[capped:])
        if xi * d0[order[capped]] <= nu and (capped == 0 or xi * d0[order[capped - 1]] >= nu):
            return [min(nu, xi * weight) for weight in d0]
    return None


def level(theta: Array, nu: float) -> float:
    """Return the s with Σ min(ν, e^{θ_i + s}) = 1, by bisection; ν ≥ 1/m."""
    low, high = math.log(nu) - np.max(theta) - 50.0, math.log(nu) - np.min(theta)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if np.exp(np.minimum(math.log(nu), theta + middle)).sum() < 1.0:
            low = middle
        else:
            high = middle
    return float(high)


def projected_softmax(theta: Array, nu: float) -> Array:
    """Return the solution of Eq. 14 for d0 proportional to e^θ, in doubles and for any spread."""
    return np.exp(np.minimum(math.log(nu), theta + level(theta, nu)))


def divergence(d: Iterable[Any], d0: Iterable[Any]) -> float:
    """Return Σ d log(d/d0), which is B_h on the simplex."""
    pairs = [(float(a), float(b)) for a, b in zip(d, d0, strict=True) if a > 0]
    if any(b == 0.0 for _, b in pairs):
        return math.inf
    return math.fsum(a * math.log(a / b) for a, b in pairs)


def entropy(d: Array) -> float:
    """Return h(d) = Σ d log(m d)."""
    return divergence(d, np.full(len(d), 1.0 / len(d)))
