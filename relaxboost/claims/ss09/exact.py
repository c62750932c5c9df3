"""Distributions as fractions, and SS09's Eq. 14 computed without the algorithm of Fig. 2."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import logsumexp, rel_entr

from relaxboost.claims.language import *
from relaxboost.claims.sides import on_simplex


def distribution(values: Any) -> list[Fraction]:
    """Convert non-negative floats to fractions, and divide them by their sum."""
    return list(on_simplex(exactly(values)))


def log_mean_exp(theta: Array) -> float:
    """Return log((1/m) Σ e^{θ_i}), the logarithm of the mean of e^θ."""
    return float(logsumexp(theta)) - math.log(len(theta))


def projected(d0: Sequence[Fraction], nu: Fraction) -> list[Fraction] | None:
    """Return the distribution d ≤ ν with the least divergence from d0 (Eq. 14), as fractions.

    Return None if no distribution d ≤ ν has a finite divergence.
    """
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
    """Return the distribution d ≤ ν with the least divergence from the softmax of θ (Eq. 14).

    The cap ν must be at least 1/m for the m entries of θ.
    """
    # The solution is min(ν, e^{θ_i + s}), where bisection finds the s for which its sum is 1.
    low, high = math.log(nu) - np.max(theta) - 50.0, math.log(nu) - np.min(theta)
    for _ in range(200):
        middle = (low + high) / 2.0
        if np.exp(np.minimum(math.log(nu), theta + middle)).sum() < 1.0:
            low = middle
        else:
            high = middle
    return np.exp(np.minimum(math.log(nu), theta + high))


def divergence(d: Array, d0: Array) -> float:
    """Return the divergence Σ d log(d/d0), which is the Bregman divergence B_h of the paper."""
    return float(rel_entr(d, d0).sum())


def entropy(d: Array) -> Any:
    """Return the relative entropy h(d) = Σ d log(m d), for a vector d or for each row of d."""
    return rel_entr(d, 1.0 / d.shape[-1]).sum(axis=-1)
