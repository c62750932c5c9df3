"""The formulas of the paper on the λ-simplex, and laws for which all samples are enumerated."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy

from relaxboost.claims.language import *
from relaxboost.game.domains import Simplex
from relaxboost.online import hindsight

Mirror = Callable[[Array, float], Array]
"""A function of the rows z and of β that returns the rows −∇W_β(z)."""


def entropy(theta: Array, radius: float) -> float:
    """Return the entropy V(θ) of Eq. 8."""
    theta = np.maximum(theta, 0.0)
    return radius * math.log(theta.size / radius) + float(xlogy(theta, theta).sum())


def gibbs(Z: Array, beta: float, radius: float) -> Array:
    """Return −∇W_β for the entropy (Eq. 10), one row for each row of Z."""
    heights: Array = np.exp((Z.min(axis=-1, keepdims=True) - Z) / beta)
    result: Array = radius * heights / heights.sum(axis=-1, keepdims=True)
    return result


def free_energy(z: Array, beta: float, radius: float) -> float:
    """Return the β-conjugate W_β(z) of the entropy (Eq. 9)."""
    low = float(z.min())
    return radius * (beta * math.log(float(np.exp((low - z) / beta).mean())) - low)


def half_square(theta: Array, radius: float) -> float:
    """Return ‖θ‖_2²/2 minus its minimum on the simplex."""
    return float(theta @ theta) / 2.0 - radius**2 / (2.0 * theta.size)


def nearest(Z: Array, beta: float, radius: float) -> Array:
    """Return the point of the simplex nearest to −z/β for each row z, which is −∇W_β for ‖θ‖²/2."""
    X = np.atleast_2d(-Z / beta)
    steps = np.arange(1, X.shape[1] + 1)
    falling = -np.sort(-X, axis=1)
    levels = (np.cumsum(falling, axis=1) - radius) / steps
    last = (falling > levels).sum(axis=1) - 1
    found: Array = np.maximum(X - levels[np.arange(len(X)), last][:, None], 0.0)
    return found.reshape(Z.shape)


def p_norm(theta: Array, radius: float) -> float:
    """Return the proxy function of Eq. 35 at θ, which has M >= 2 entries."""
    p = 1.0 + 1.0 / math.log(theta.size)
    return float((np.abs(theta) ** p).sum()) ** (2.0 / p) / 2.0


def powers(theta: Array, radius: float) -> float:
    """Return the proxy function of Eq. 36 at θ, with s = 1/ln M."""
    s = 1.0 / math.log(theta.size)
    below = -(radius**2) / (math.e * s * (s + 1.0))
    total = float((np.maximum(theta, 0.0) ** (s + 1.0)).sum())
    return below + radius ** (1.0 - s) / (s * (s + 1.0)) * total


def tilted(theta: Array, radius: float) -> float:
    """Return λ²(1 − c)⁻² KL(g ‖ u) with g = (1 − c)θ/λ + cu and c = 1/(M − 1).

    For M = 2 it is ‖θ‖² − λ²/2.
    """
    size = theta.size
    if size == 2:
        return 2.0 * half_square(theta, radius)
    c = 1.0 / (size - 1.0)
    g = (1.0 - c) * theta / radius + c / size
    return (radius / (1.0 - c)) ** 2 * (math.log(size) + float(xlogy(g, g).sum()))


def modulus(proxy: str, size: int, radius: float) -> float:
    """Return a modulus of strong convexity in ℓ1 on the simplex, from the claims of Sec. 6.1."""
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
"""The values V(θ) of each proxy function, at a point θ of the simplex with sum λ."""
MIRRORS = {"entropy": gibbs, "squared": nearest}


def mirror_of(proxy: str, radius: float) -> Mirror:
    """Return the function −∇W_β of the proxy function "entropy" or "squared"."""
    return lambda Z, beta: MIRRORS[proxy](Z, beta, radius)


def iterates(U: Array, gamma: Array, beta: Array, mirror: Mirror) -> Array:
    """Return θ_0, ..., θ_t of Eq. 11. The gradients are the rows of U and do not depend on θ."""
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
"""The losses φ, each with its right derivative."""


@dataclass(frozen=True)
class FiniteLaw:
    """A law with few atoms of probabilities `p`, with the loss φ(θᵀS − y) on the λ-simplex.

    In classification the rows of `S` are the vectors Y H, and y = 0. The squared loss uses H
    and Y.
    """

    p: Array
    radius: float
    S: Array
    loss: str
    y: Array | float = 0.0

    def risk(self, theta: Array) -> Array:
        """Return the risk A(θ) for each row θ."""
        risks: Array = LOSSES[self.loss][0](theta @ self.S.T - self.y) @ self.p
        return risks

    def slopes(self, theta: Array) -> Array:
        """Return the gradients u(θ) of Eq. 4, shape (rows, k, M), for each row θ and each atom."""
        found: Array = LOSSES[self.loss][1](theta @ self.S.T - self.y)[..., None] * self.S
        return found

    @property
    def lipschitz(self) -> float:
        """The constant L = K sup |φ'| over [−Kλ, Kλ]; for the squared loss it is that of Eq. 32."""
        if self.loss == "squared":  # a sum of convex functions of θ is largest at a vertex
            sizes = np.abs(self.slopes(self.radius * np.eye(self.S.shape[1]))).max(axis=2)
            return math.sqrt(float((sizes**2 @ self.p).max()))
        K = float(np.abs(self.S).max())
        ends = LOSSES[self.loss][1](np.array([-K, K]) * self.radius)
        return K * float(np.abs(ends).max())  # φ' is monotone

    def least(self) -> tuple[Array, float]:
        """Return a point θ that nearly minimises A, and a certified lower bound on min A."""
        name, unit = ("logistic", math.log(2.0)) if self.loss == "logit" else (self.loss, 1.0)
        examples = self.S, np.ones(len(self.p)), self.p
        found = hindsight(name, Simplex(self.radius), examples, 1e-9)
        return found.w, math.nextafter(found.lower / unit, -math.inf)

    def samples(
        self, gamma: Array, beta: Array, mirror: Mirror, start: Array | None = None
    ) -> tuple[Array, Array]:
        """Return the probabilities of all samples of t − 1 examples, and θ̂_t of Eq. 12 for each.

        Samples are in lexicographic order of their atoms. t is the number of entries of
        gamma.
        """
        Z, P = np.zeros((1, self.S.shape[1])), np.ones(1)
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
"""The data of a law: H(X) at the atoms, y with the labels as its signs, p, λ and φ."""
RUNS = LAWS.but(t=Whole(1, 5))


STREAMS = Space(
    sizes={"t": (1, 6), "n": (2, 5)},
    U=Matrix(axes=("t", "n")),
    gamma=Vector("t", 0.1, 1),
    radius=Real(0.25, 2),
    beta=Real(0.1, 3),
)
"""The data of a stream: gradients of linear losses, steps γ_i, λ and β_0."""


def law(x: Instance) -> FiniteLaw:
    """Return the law of an instance of `LAWS`."""
    S = np.where(x.y >= 0.0, 1.0, -1.0)[:, None] * x.H
    return FiniteLaw(x.p, x.radius, S, x.loss)


def growing(first: float, t: int) -> Array:
    """Return β_0, ..., β_t as in Eq. 17."""
    return first * np.sqrt(np.arange(1.0, t + 2.0))
