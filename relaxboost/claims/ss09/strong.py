"""Strongly convex functions with known modulus, conjugate and maximiser; dual norms."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from relaxboost.claims.arrays import normalised
from relaxboost.claims.language import *
from relaxboost.claims.ss09.exact import entropy, log_mean_exp, softmax

_P = 1.5


@dataclass(frozen=True)
class Strong:
    """A function σ-strongly convex on S in the norm ‖·‖_p."""

    sigma: float
    p: float
    point: Callable[[Array], Array]
    """Turn a vector of numbers in [−1, 1] into a point of S."""
    value: Callable[[Array], float]
    conjugate: Callable[[Array], float]
    argmax: Callable[[Array], Array]


def dual(p: float) -> float:
    """Return q with 1/p + 1/q = 1."""
    return math.inf if p == 1 else 1.0 if p == math.inf else p / (p - 1.0)


def norm(d: Array, p: float) -> float:
    """Return ‖d‖_p."""
    return float(np.linalg.norm(d, p))


def dual_vector(theta: Array, p: float) -> Array:
    """Return d with ‖d‖_p = 1 and <d, θ> = ‖θ‖_q."""
    if not np.any(theta):
        return np.eye(len(theta))[0]
    if p == 1:
        at = int(np.argmax(np.abs(theta)))
        return np.eye(len(theta))[at] * np.sign(theta[at])
    if p == math.inf:
        return np.where(theta >= 0.0, 1.0, -1.0)
    d = np.sign(theta) * (np.abs(theta) / np.max(np.abs(theta))) ** (dual(p) - 1.0)
    return d / norm(d, p)


KINDS: dict[str, Strong] = {
    "relative entropy": Strong(1.0, 1, normalised, entropy, log_mean_exp, softmax),
    "half square of the 1.5-norm": Strong(
        _P - 1.0,
        _P,
        lambda raw: 2.0 * raw,
        lambda d: 0.5 * norm(d, _P) ** 2,
        lambda t: 0.5 * norm(t, dual(_P)) ** 2,
        lambda t: dual_vector(t, _P) * norm(t, dual(_P)),
    ),
}
"""By the name that instances give."""
