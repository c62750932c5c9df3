"""Strongly convex functions with known modulus, conjugate and maximiser; norms and their duals."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from relaxboost.claims.arrays import normalised
from relaxboost.claims.language import *
from relaxboost.claims.ss09.exact import entropy, level, log_mean_exp, projected_softmax, softmax

_P = 1.5


@dataclass(frozen=True)
class Strong:
    """A function σ-strongly convex on S in a p-norm, with what is known of its conjugate."""

    sigma: float
    norm: float
    """The p of the norm."""
    point: Callable[[Array], Array]
    """Turn a vector of numbers in [−1, 1] into a point of S."""
    value: Callable[[Array], float]
    conjugate: Callable[[Array], float]
    argmax: Callable[[Array], Array]

    def size(self, d: Array) -> float:
        """Return ‖d‖."""
        return float(np.linalg.norm(d, self.norm))

    def dual_size(self, theta: Array) -> float:
        """Return ‖θ‖_*."""
        return float(np.linalg.norm(theta, dual(self.norm)))


def dual(p: float) -> float:
    """Return q with 1/p + 1/q = 1."""
    return math.inf if p == 1 else 1.0 if p == math.inf else p / (p - 1.0)


def _cap(m: int) -> float:
    return min(1.0, 1.5 / m)


def _under_cap(raw: Array) -> Array:
    """Return a point of the simplex moved towards its centre until it is below the cap."""
    d, m = normalised(raw), len(raw)
    above = float(np.max(d)) - 1.0 / m
    share = 1.0 if above <= 0.0 else min(1.0, (_cap(m) - 1.0 / m) / above)
    return 1.0 / m + share * (d - 1.0 / m)


def _capped_conjugate(theta: Array) -> float:
    """Return the value of the Lagrangian dual: log-mean-exp of θ − μ, plus ν Σ μ."""
    nu = _cap(len(theta))
    mu = np.maximum(theta + level(theta, nu) - math.log(nu), 0.0)
    return log_mean_exp(theta - mu) + nu * math.fsum(mu.tolist())


def _nearest_on_simplex(theta: Array) -> Array:
    """Return the Euclidean projection: [θ − τ]_+ of sum 1."""
    ordered = np.sort(theta)[::-1]
    excess = (np.cumsum(ordered) - 1.0) / np.arange(1, len(theta) + 1)
    last = int(np.flatnonzero(ordered > excess)[-1])
    return np.maximum(theta - excess[last], 0.0)


def _square(d: Array) -> float:
    return 0.5 * float(d @ d)


def _square_conjugate(theta: Array) -> float:
    """Return the value of the Lagrangian dual, ½‖[θ − τ]_+‖² + τ."""
    tau = float(np.max(theta - _nearest_on_simplex(theta)))
    return _square(np.maximum(theta - tau, 0.0)) + tau


def dual_vector(theta: Array, p: float) -> Array:
    """Return d with ‖d‖_p = 1 and <d, θ> = ‖θ‖_q."""
    if not np.any(theta):
        return np.eye(len(theta))[0]
    if p == 1:
        at = int(np.argmax(np.abs(theta)))
        return np.eye(len(theta))[at] * np.sign(theta[at])
    if p == math.inf:
        return np.where(theta >= 0.0, 1.0, -1.0)
    scaled = np.abs(theta) / np.max(np.abs(theta))
    d = np.sign(theta) * scaled ** (dual(p) - 1.0)
    return d / np.linalg.norm(d, p)


KINDS: dict[str, Strong] = {
    "relative entropy": Strong(1.0, 1, normalised, entropy, log_mean_exp, softmax),
    "relative entropy under a cap": Strong(
        1.0, 1, _under_cap, entropy, _capped_conjugate, lambda t: projected_softmax(t, _cap(len(t)))
    ),
    "half square on the simplex": Strong(
        1.0, 2, normalised, _square, _square_conjugate, _nearest_on_simplex
    ),
    "half square of the 1.5-norm": Strong(
        _P - 1.0,
        _P,
        lambda raw: 2.0 * raw,
        lambda d: 0.5 * float(np.linalg.norm(d, _P)) ** 2,
        lambda t: 0.5 * float(np.linalg.norm(t, dual(_P))) ** 2,
        lambda t: dual_vector(t, _P) * float(np.linalg.norm(t, dual(_P))),
    ),
    "binary entropy": Strong(
        4.0,
        2,
        lambda raw: (raw + 1.0) / 2.0,
        lambda d: math.fsum(t * math.log(t) for x in d.tolist() for t in (x, 1.0 - x) if t > 0.0),
        lambda t: float(np.sum(np.logaddexp(0.0, t))),
        lambda t: 1.0 / (1.0 + np.exp(-t)),
    ),
}
"""By the name that instances give."""

ORDERS = {"1": 1.0, "1.5": 1.5, "2": 2.0, "3": 3.0, "inf": math.inf}
NORMED = Space(
    sizes={"m": (1, 5)},
    p=Choice(*ORDERS),
    Q=Matrix(axes=("m", "m")),
    theta=Vector("m", -3.0, 3.0),
    d=Vector("m"),
    nu=Real(0.05, 3.0, log=True),
)


def normed(x: Instance) -> tuple[Array, float, Array]:
    """Return Q, p, and a vector ψ: the norm ‖Q d‖_p has the dual norm ‖ψ‖_q, ψ = Q^{-T} θ.

    Q is unit lower triangular, so that it can be inverted.
    """
    Q = np.eye(len(x.theta)) + np.tril(x.Q, -1)
    return Q, ORDERS[x.p], np.linalg.solve(Q.T, x.theta)
