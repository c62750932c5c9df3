"""JNTV05: formulas on the λ-simplex of non-negative vectors with sum λ, and finite probability
laws.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax, xlogy

from relaxboost.claims.language import *
from relaxboost.game.domains import Simplex
from relaxboost.online import hindsight

Mirror = Callable[[Array, float], Array]
"""The type of a mirror map: a function of an array and of the temperature β. For each row z of the
array, it returns −∇W_β(z), where W_β(z) is the supremum of −zᵀθ − βV(θ) over θ, and V is
the proxy function."""


def entropy(theta: Array, radius: float) -> float:
    """Return the entropy V(θ) of Eq. 8 on the simplex with sum `radius`."""
    theta = np.maximum(theta, 0.0)
    return radius * math.log(theta.size / radius) + float(xlogy(theta, theta).sum())


def gibbs(Z: Array, beta: float, radius: float) -> Array:
    """Return −∇W_β(z) for the entropy (Eq. 10), for each row z of Z."""
    return np.asarray(radius * softmax(-Z / beta, axis=-1))


def free_energy(z: Array, beta: float, radius: float) -> float:
    """Return the β-conjugate W_β(z) of the entropy (Eq. 9)."""
    return radius * beta * (float(logsumexp(-z / beta)) - math.log(z.size))


def half_square(theta: Array, radius: float) -> float:
    """Return the proxy function ‖θ‖_2²/2 minus its minimum on the simplex."""
    return float(theta @ theta) / 2.0 - radius**2 / (2.0 * theta.size)


def nearest(Z: Array, beta: float, radius: float) -> Array:
    """Return the point of the simplex nearest to −z/β, for each row z of Z.

    This point is −∇W_β(z) for the proxy function ‖θ‖²/2. Its entries sum to `radius`.
    """
    X = np.atleast_2d(-Z / beta)
    steps = np.arange(1, X.shape[1] + 1)
    falling = -np.sort(-X, axis=1)
    levels = (np.cumsum(falling, axis=1) - radius) / steps
    last = (falling > levels).sum(axis=1) - 1
    return np.maximum(X - levels[np.arange(len(X)), last][:, None], 0.0).reshape(Z.shape)


def p_norm(theta: Array, radius: float) -> float:
    """Return the proxy function of Eq. 35, half the squared p-norm.

    The point θ must have at least two entries.
    """
    p = 1.0 + 1.0 / math.log(theta.size)
    return float((np.abs(theta) ** p).sum()) ** (2.0 / p) / 2.0


def powers(theta: Array, radius: float) -> float:
    """Return the proxy function of Eq. 36 at a point θ with M entries: a sum of powers with the
    exponent s + 1, where s = 1/ln M."""
    s = 1.0 / math.log(theta.size)
    below = -(radius**2) / (math.e * s * (s + 1.0))
    total = float((np.maximum(theta, 0.0) ** (s + 1.0)).sum())
    return below + radius ** (1.0 - s) / (s * (s + 1.0)) * total


def tilted(theta: Array, radius: float) -> float:
    """Return the value at θ of a proxy function that is a multiple of a relative entropy.

    The value is λ²(1 − c)⁻² KL(g ‖ u), where u is the uniform distribution on the M entries of θ, g
    = (1 − c)θ/λ + cu is a mixture, and c = 1/(M − 1). The number λ is `radius`. For M = 2, the
    value is ‖θ‖² − λ²/2.
    """
    size = theta.size
    if size == 2:
        return 2.0 * half_square(theta, radius)
    c = 1.0 / (size - 1.0)
    g = (1.0 - c) * theta / radius + c / size
    return (radius / (1.0 - c)) ** 2 * (math.log(size) + float(xlogy(g, g).sum()))


def modulus(proxy: str, size: int, radius: float) -> float:
    """Return a modulus of strong convexity of a proxy function in the ℓ1 norm, from Sec. 6.1."""
    if proxy == "entropy":
        return 1.0 / radius
    if proxy == "squared":
        return 1.0 / (size - size % 2 / size)
    if proxy == "p-norm":
        p = 1.0 + 1.0 / math.log(size)
        return math.exp(-2.0 / p) / math.log(size)
    if proxy == "power":
        return 0.25 if size == 2 else 1.0 / math.e
    return 1.0


VALUES: dict[str, Callable[[Array, float], float]] = {
    "entropy": entropy,
    "squared": half_square,
    "p-norm": p_norm,
    "power": powers,
    "tilted": tilted,
}
"""The proxy functions V by name. They take a point θ of the simplex and its sum λ."""
MIRRORS = {"entropy": gibbs, "squared": nearest}


def mirror_of(proxy: str, radius: float) -> Mirror:
    """Return the function −∇W_β of the proxy function named "entropy" or "squared"."""
    return lambda Z, beta: MIRRORS[proxy](Z, beta, radius)


def iterates(U: Array, gamma: Array, beta: Array, mirror: Mirror) -> Array:
    """Return the iterates θ_0, ..., θ_t of mirror descent (Eq. 11) on linear losses.

    The rows of U are the gradients of the t losses.
    """
    Z = np.vstack([np.zeros(U.shape[1]), np.cumsum(gamma[:, None] * U, axis=0)])
    return np.array([mirror(z, b) for z, b in zip(Z, beta, strict=True)])


LOSSES: dict[str, tuple[Callable[[Array], Any], Callable[[Array], Any]]] = {
    "hinge": (lambda v: np.maximum(1.0 - v, 0.0), lambda v: -1.0 * (v < 1.0)),
    "exponential": (lambda v: np.exp(-v), lambda v: -np.exp(-v)),
    "logit": (
        lambda v: np.logaddexp(0.0, -v) / math.log(2.0),
        lambda v: -1.0 / (1.0 + np.exp(v)) / math.log(2.0),
    ),
    "squared": (np.square, lambda v: 2.0 * v),
}
"""The losses by name, as pairs of the function φ and its right derivative."""


@dataclass(frozen=True)
class FiniteLaw:
    """A probability law with few examples, and the risk of weights θ in the simplex with sum λ.

    The array `p` contains the probabilities of the examples. The loss of θ at an example is φ(θᵀs −
    y), where s is its row of `S`, and φ is the function `loss` in `LOSSES`. In classification, s is
    the vector Y H(X), and y = 0. With the squared loss, s is H(X), and y is the value of Y.
    """

    p: Array
    radius: float
    S: Array
    loss: str
    y: Array | float = 0.0

    def risk(self, theta: Array) -> Array:
        """Return the risk A(θ), the expected loss, for each row θ."""
        return np.asarray(LOSSES[self.loss][0](theta @ self.S.T - self.y) @ self.p)

    def slopes(self, theta: Array) -> Array:
        """Return the gradient of the loss (Eq. 4) for each row θ and each example of the law.

        The shape is (rows, examples, M), where M is the number of entries of θ.
        """
        return np.asarray(LOSSES[self.loss][1](theta @ self.S.T - self.y)[..., None] * self.S)

    @property
    def lipschitz(self) -> float:
        """The constant L, which bounds the gradients. It is K sup |φ'| over the interval [−Kλ, Kλ],
        where φ is the loss, K is the largest absolute entry of `S`, and λ is `radius`. For the
        squared loss, it is the constant L of Eq. 32."""
        if self.loss == "squared":  # A sum of convex functions of θ is largest at a vertex.
            sizes = np.abs(self.slopes(self.radius * np.eye(self.S.shape[1]))).max(axis=2)
            return math.sqrt(float((sizes**2 @ self.p).max()))
        K = float(np.abs(self.S).max())
        ends = LOSSES[self.loss][1](np.array([-K, K]) * self.radius)
        return K * float(np.abs(ends).max())  # The derivative φ' is monotone.

    def least(self) -> tuple[Array, float]:
        """Return a near-minimiser θ of the risk A(θ), and a certified lower bound on the least
        risk.
        """
        name, unit = ("logistic", math.log(2.0)) if self.loss == "logit" else (self.loss, 1.0)
        found = hindsight(name, Simplex(self.radius), (self.S, np.ones(len(self.p)), self.p), 1e-9)
        return found.w, math.nextafter(found.lower / unit, -math.inf)

    def samples(
        self, gamma: Array, beta: Array, mirror: Mirror, start: Array | None = None
    ) -> tuple[Array, Array]:
        """Return the probability and the estimate θ̂_t for each possible sample of t − 1 examples.

        The estimate is the weighted mean of the mirror descent iterates θ_0, ..., θ_{t−1} (Eq. 12).
        `gamma` contains the t weights, which are also the step sizes. `start` replaces θ_0.
        """
        Z = np.zeros((1, self.S.shape[1]))
        P = np.ones(1)
        W = mirror(Z, beta[0]) if start is None else start[None, :]
        total = gamma[0] * W
        for i in range(1, len(gamma)):
            Z = (Z[:, None, :] + gamma[i - 1] * self.slopes(W)).reshape(-1, Z.shape[1])
            P = np.multiply.outer(P, self.p).ravel()
            W = mirror(Z, beta[i])
            total = np.repeat(total, self.p.size, axis=0) + gamma[i] * W
        return P, total / gamma.sum()


LAWS = Space(
    sizes={"k": (1, 3), "n": (2, 4)},
    H=Matrix(axes=("k", "n")),
    y=Vector("k"),
    p=Distribution("k"),
    radius=Real(0.25, 2.0),
    loss=Choice("hinge", "exponential", "logit"),
)
"""The probability laws with k examples: the outputs H of the base functions, numbers y whose signs
are the labels, the probabilities p, the radius λ of the simplex, and the loss φ."""
RUNS = LAWS.but(t=Whole(1, 5))


STREAMS = Space(
    sizes={"t": (1, 6), "n": (2, 5)},
    U=Matrix(axes=("t", "n")),
    gamma=Vector("t", 0.1, 1),
    radius=Real(0.25, 2),
    beta=Real(0.1, 3),
)
"""The instances with t linear losses: their gradients U, the step sizes γ_i, the radius λ of the
simplex, and the first temperature β_0."""


def law(x: Instance) -> FiniteLaw:
    """Return the probability law of a `LAWS` instance."""
    S = np.where(x.y >= 0.0, 1.0, -1.0)[:, None] * x.H
    return FiniteLaw(x.p, x.radius, S, x.loss)


def growing(first: float, t: int) -> Array:
    """Return the increasing sequence β_0, ..., β_t of Eq. 17."""
    return first * np.sqrt(np.arange(1.0, t + 2.0))
