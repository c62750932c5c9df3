"""Runs of the lecture's two algorithms, on many streams or on all samples from a law."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import bdtrc

from relaxboost.claims.language import *
from relaxboost.functional.losses import Absolute, Exponential, Hinge, Logistic

LOSSES: dict[str, Any] = {
    "hinge": Hinge(),
    "absolute": Absolute(),
    "logistic": Logistic(),
    "exponential": Exponential(),
}

STREAMS = Space(
    sizes={"m": (1, 9), "n": (1, 3)},
    A=Matrix(),
    y=Vector("m"),
    w=Vector("n"),
    B=Real(0.25, 4.0, log=True),
    loss=Choice(*LOSSES),
)
"""The instances for online learning: examples A, numbers y whose signs are the labels, comparison
weights w, a radius B, and a loss. The checks project w onto the ball of radius B."""

LAWS = Space(
    sizes={"k": (1, 3), "n": (1, 2)},
    A=Matrix(axes=("k", "n")),
    y=Vector("k"),
    p=Distribution("k"),
    m=Whole(1, 6),
    B=Real(0.25, 2.0, log=True),
    loss=Choice(*LOSSES),
)
"""The probability laws with k examples, together with the sample size m, the radius B of the weight
ball, and the loss."""

LINES = LAWS.but(sizes={"k": (1, 3), "n": (1, 1)})
"""The probability laws with one feature, and therefore one weight, as `Samples.best` requires."""


def signs(y: Array) -> Array:
    """Return the labels: −1 for negative numbers, and +1 for all others."""
    return np.where(y < 0.0, -1.0, 1.0)


def longest(A: Array, norm: float = 2) -> float:
    """Return the largest norm X of a row of A. Instances with X <= 1e-6 are skipped."""
    size = float(np.linalg.norm(A, norm, axis=1).max())
    assume(size > 1e-6)
    return size


def project(v: Array, B: float) -> Array:
    """Project vectors onto the ball of radius B: v/max(1, ‖v‖/B)."""
    return v / np.maximum(1.0, np.linalg.norm(v, axis=-1, keepdims=True) / B)


def rescale(v: Array, B: float) -> Array:
    """Return B v/‖v‖, the projection as printed in the lecture. For v = 0, return 0."""
    size = np.linalg.norm(v, axis=-1, keepdims=True)
    return B * v / np.where(size > 0.0, size, 1.0)


def lipschitz(loss: str, reach: float) -> tuple[float, float]:
    """Return the Lipschitz constant λ and the maximum c of a loss on [−reach, reach]."""
    values, slopes = LOSSES[loss].pointwise(np.array([-reach, reach]), np.ones(2))
    return float(np.abs(slopes).max()), float(values[0])


@dataclass(frozen=True)
class Sequences:
    """A batch of streams for an online learner.

    The array `x` contains the examples, in the shape (streams, m, n), and `y` their labels, in the
    shape (streams, m).
    """

    x: Array
    y: Array
    loss: str

    def of(self, w: Array) -> tuple[Array, Array]:
        """Return the losses and the gradients of all examples at the weights w.

        The weights are one vector, or an array with the shape of `x`. The losses have the shape of
        `y`, and the gradients that of `x`.
        """
        u = (self.x * w).sum(axis=-1)
        value, slope = LOSSES[self.loss].pointwise(u.ravel(), self.y.ravel())
        return value.reshape(u.shape), slope.reshape(u.shape)[..., None] * self.x

    def run(self, start: Array, step: Callable[[Array, Array], Array]) -> Passed:
        """Run an online learner on all streams, starting from the weights `start`.

        `step` computes the weights after a round from the weights before it and the gradient of the
        loss.
        """
        S, m, n = self.x.shape
        w = np.empty((S, m + 1, n))
        w[:, 0] = start
        for i in range(m):
            _, slope = Sequences(self.x[:, i], self.y[:, i], self.loss).of(w[:, i])
            w[:, i + 1] = step(w[:, i], slope)
        return Passed(w, *self.of(w[:, :-1]))

    def descended(self, B: float, eta: float, onto: Callable[..., Array] = project) -> Passed:
        """Run Algorithm 1 of the lecture (gradient descent) on all streams."""
        return self.run(np.zeros(self.x.shape[2]), lambda w, g: onto(w - eta * g, B))

    def exponentiated(self, eta: float) -> Passed:
        """Run Algorithm 2 of the lecture (exponentiated gradient) on all streams."""

        def step(w: Array, g: Array) -> Array:
            v = w * np.exp(eta * (g.min(axis=-1, keepdims=True) - g))
            return np.asarray(v / v.sum(axis=-1, keepdims=True))

        return self.run(np.full(self.x.shape[2], 1.0 / self.x.shape[2]), step)


@dataclass(frozen=True)
class Passed:
    """The weights, losses and gradients of an online learner on a batch of streams.

    `w` contains w_0, ..., w_m, in the shape (streams, m + 1, n). `losses` and `slopes` are the
    losses and gradients at w_0, ..., w_{m−1}, in the shapes (streams, m) and (streams, m, n).
    """

    w: Array
    losses: Array
    slopes: Array

    @property
    def before(self) -> Array:
        """The weights w_0, ..., w_{m−1} with which the learner predicts the m examples."""
        return self.w[:, :-1]

    def linear(self) -> Array:
        """Return the sum of <∇l_i, w_{i−1}> over the rounds i, for each stream."""
        return np.asarray((self.slopes * self.before).sum(axis=(1, 2)))


def one(x: Instance) -> Sequences:
    """Return the stream of an instance as a batch of one."""
    return Sequences(x.A[None], signs(x.y)[None], x.loss)


def online(x: Instance, method: Any) -> Passed:
    """Run a `relaxboost.online` method on an instance.

    Return the weights, losses and gradients of its rounds.
    """
    learner = method.start(x.A.shape[1])
    weights = [learner.w]
    for h, target in zip(x.A, signs(x.y), strict=True):
        learner.update(h, float(target))
        weights.append(learner.w)
    w = np.array(weights)[None]
    return Passed(w, *one(x).of(w[:, :-1]))


class Samples:
    """A finite probability law of examples, with runs of an online algorithm on all samples."""

    def __init__(self, x: Any) -> None:
        self.A = x.A
        self.y = signs(x.y)
        self.p = x.p
        self.loss = x.loss
        self.experts = getattr(x, "learner", "GD") == "EG"
        self.m = x.m
        self.B = 1.0 if self.experts else x.B
        self.X = longest(x.A, math.inf if self.experts else 2)
        self.lam, self.c = lipschitz(x.loss, self.B * self.X)
        self.regret = self.lam * self.X * self.B * math.sqrt(self.m)  # as Theorem 1 has it
        size = math.sqrt(2.0 * math.log(x.A.shape[1])) if self.experts else x.B
        self.eta = size / (self.lam * self.X * math.sqrt(x.m))

    @cached_property
    def samples(self) -> Array:
        """All samples of m examples, with a row of atom indices for each sample."""
        k = len(self.p)
        assume(k**self.m <= 5000)  # More samples would take too long.
        return np.indices((k,) * self.m).reshape(self.m, -1).T

    @cached_property
    def chances(self) -> Array:
        """The probability of each sample, in the order of `samples`."""
        return np.asarray(self.p[self.samples].prod(axis=1))

    def drawn(self, samples: Array | None = None) -> Sequences:
        """Return samples as streams of examples, by default all possible samples."""
        at = self.samples if samples is None else samples
        return Sequences(self.A[at], self.y[at], self.loss)

    def run(self, samples: Array | None = None) -> Passed:
        """Run the online algorithm on samples, by default on all possible samples."""
        of = self.drawn(samples)
        return of.exponentiated(self.eta) if self.experts else of.descended(self.B, self.eta)

    def atoms(self, w: Array) -> Array:
        """Return the loss of weights on each atom of the law.

        The last axis of w contains the weights, and the last axis of the result the atoms.
        """
        u = w @ self.A.T
        y = np.broadcast_to(self.y, u.shape)
        return np.asarray(LOSSES[self.loss].pointwise(u.ravel(), y.ravel())[0].reshape(u.shape))

    def risk(self, w: Array) -> Array:
        """Return the risk l(w; D), the expected loss of w under the law D."""
        return np.asarray(self.atoms(w) @ self.p)

    def best(self) -> Array:
        """Return the minimiser of the risk in [−B, B].

        Skip laws whose weights have more than one dimension.
        """
        assume(self.A.shape[1] == 1)
        from scipy.optimize import minimize_scalar  # It loads slowly.

        points = self.A[:, 0]
        kinks = [y / a for y, a in zip(self.y, points, strict=True) if abs(a) * self.B > 1.0]
        inside = minimize_scalar(
            lambda w: float(self.risk(np.array([w]))), bounds=(-self.B, self.B), method="bounded"
        )
        # The minimiser is an end, a kink, or a point at which the derivative of the risk is 0.
        tried = np.array([0.0, -self.B, self.B, inside.x, *kinks])[:, None]
        return np.asarray(tried[int(np.argmin(self.risk(tried)))])


def never_more(
    deviation: Array, chances: Array, allowed: Callable[[Array], Array], where: str
) -> Slack:
    """Return the slack of P(deviation ≥ ε) ≤ allowed(ε) for the ε > 0 with the least relative
    slack.

    `deviation` contains the deviation of each sample, and `chances` its probability.
    """
    order = np.argsort(-deviation, kind="stable")
    order = order[deviation[order] > 1e-9]
    if not order.size:
        return at_most(0, 1, where)
    tails = np.minimum(np.cumsum(chances[order]), 1.0)
    right = np.minimum(allowed(deviation[order]), 1.0)
    at = int(np.argmin((right - tails) / np.maximum(right + tails, 1e-300)))
    return at_most(float(tails[at]), float(right[at]), where)


def azuma(c: float, m: float) -> Callable[[Array], Array]:
    """Return Azuma's bound δ on the probability of a deviation ε, as a function of ε.

    The deviation is that of the mean of m losses from its expectation. The losses lie in an
    interval of length c, and ε = c √(log(1/δ)/(2m)).
    """
    return lambda epsilon: np.exp(-2.0 * m * (epsilon / c) ** 2)


def tossed(m: int) -> Slack:
    """Return the slack of the bound `azuma` for N = 200·m tosses of a fair coin.

    The inequality is log P(D ≥ 1/5) ≤ log δ, where D is the fraction of heads minus 1/2. The losses
    are 0 or 1, so c = 1.
    """
    N = 200 * m
    left = math.log(float(bdtrc(N * 7 // 10 - 1, N, 0.5)))
    right = float(np.log(azuma(1.0, N)(np.array([0.2])))[0])
    return at_most(left, right, f"log P(deviation ≥ c/5), {N} fair coins")
