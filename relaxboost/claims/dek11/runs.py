"""Runs of the lecture's two algorithms, on many streams or on all possible samples from a law."""

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
"""The space of instances for online learning. An instance has examples A, numbers y whose signs are
the labels, weights w for comparison, the radius B, and a loss. The checks project w onto the ball
of radius B."""

LAWS = Space(
    sizes={"k": (1, 3), "n": (1, 2)},
    A=Matrix(axes=("k", "n")),
    y=Vector("k"),
    p=Distribution("k"),
    m=Whole(1, 6),
    B=Real(0.25, 2.0, log=True),
    loss=Choice(*LOSSES),
)
"""The space of probability laws with k examples. An instance also has the number m of examples in a
sample, the radius B of the ball of weights, and the loss."""

LINES = LAWS.but(sizes={"k": (1, 3), "n": (1, 1)})
"""The space of probability laws whose examples have one feature, so that the learner has one
weight. The method `Samples.best` needs this."""


def signs(y: Array) -> Array:
    """Return the label of each number in an array: −1 if the number is negative, and +1
    otherwise."""
    return np.where(y < 0.0, -1.0, 1.0)


def longest(A: Array, norm: float = 2) -> float:
    """Return the largest norm X of an example, which is a row of A. Instances with X <= 1e-6 are
    skipped."""
    size = float(np.linalg.norm(A, norm, axis=1).max())
    assume(size > 1e-6)
    return size


def project(v: Array, B: float) -> Array:
    """Project vectors onto the ball of radius B: return v/max(1, ‖v‖/B)."""
    return v / np.maximum(1.0, np.linalg.norm(v, axis=-1, keepdims=True) / B)


def rescale(v: Array, B: float) -> Array:
    """Return B v/‖v‖, the projection onto the ball of radius B as the lecture prints it. For v = 0,
    return 0."""
    size = np.linalg.norm(v, axis=-1, keepdims=True)
    return B * v / np.where(size > 0.0, size, 1.0)


def lipschitz(loss: str, reach: float) -> tuple[float, float]:
    """Return the Lipschitz constant λ and the maximum c of a loss for predictions in [−reach,
    reach]."""
    values, slopes = LOSSES[loss].pointwise(np.array([-reach, reach]), np.ones(2))
    return float(np.abs(slopes).max()), float(values[0])


@dataclass(frozen=True)
class Sequences:
    """A batch of streams for an online learner. Each stream has m examples with n features.

    The array `x` has the examples, in the shape (streams, m, n), and `y` has their labels, in the
    shape (streams, m).
    """

    x: Array
    y: Array
    loss: str

    def of(self, w: Array) -> tuple[Array, Array]:
        """Return the losses and the gradients of all examples at the weights w.

        The weights are one vector, or an array with the shape of `x`. The losses have the shape of
        `y`, and the gradients have the shape of `x`.
        """
        u = (self.x * w).sum(axis=-1)
        value, slope = LOSSES[self.loss].pointwise(u.ravel(), self.y.ravel())
        return value.reshape(u.shape), slope.reshape(u.shape)[..., None] * self.x

    def run(self, start: Array, step: Callable[[Array, Array], Array]) -> Passed:
        """Run an online learner on all streams of the batch, starting from the weights `start`.

        The function `step` computes the weights after a round from the weights before the round and
        the gradient of the loss in the round.
        """
        S, m, n = self.x.shape
        w = np.empty((S, m + 1, n))
        w[:, 0] = start
        for i in range(m):
            _, slope = Sequences(self.x[:, i], self.y[:, i], self.loss).of(w[:, i])
            w[:, i + 1] = step(w[:, i], slope)
        return Passed(w, *self.of(w[:, :-1]))

    def descended(self, B: float, eta: float, onto: Callable[..., Array] = project) -> Passed:
        """Return the run of Algorithm 1 of the lecture (gradient descent) on all streams of the
        batch."""
        return self.run(np.zeros(self.x.shape[2]), lambda w, g: onto(w - eta * g, B))

    def exponentiated(self, eta: float) -> Passed:
        """Return the run of Algorithm 2 of the lecture (exponentiated gradient) on all streams of
        the batch."""

        def step(w: Array, g: Array) -> Array:
            v = w * np.exp(eta * (g.min(axis=-1, keepdims=True) - g))
            return np.asarray(v / v.sum(axis=-1, keepdims=True))

        return self.run(np.full(self.x.shape[2], 1.0 / self.x.shape[2]), step)


@dataclass(frozen=True)
class Passed:
    """The weights, losses and gradients of an online learner on a batch of streams.

    Each stream has m examples with n features. `w` has the weights w_0, ..., w_m, in the shape
    (streams, m + 1, n). `losses` and `slopes` are the losses and the gradients at w_0, ...,
    w_{m−1}. Their shapes are (streams, m) and (streams, m, n).
    """

    w: Array
    losses: Array
    slopes: Array

    @property
    def before(self) -> Array:
        """The weights w_0, ..., w_{m−1} with which the online learner predicts the m examples of
        each stream."""
        return self.w[:, :-1]

    def linear(self) -> Array:
        """Return the sum of <∇l_i, w_{i−1}> over the rounds i, for each stream."""
        return np.asarray((self.slopes * self.before).sum(axis=(1, 2)))


def one(x: Instance) -> Sequences:
    """Return the stream of an instance of a claim, as a batch that contains only this stream."""
    return Sequences(x.A[None], signs(x.y)[None], x.loss)


def online(x: Instance, method: Any) -> Passed:
    """Run a method of `relaxboost.online` on the examples of an instance, and return the weights,
    losses and gradients of its rounds."""
    learner = method.start(x.A.shape[1])
    weights = [learner.w]
    for h, target in zip(x.A, signs(x.y), strict=True):
        learner.update(h, float(target))
        weights.append(learner.w)
    w = np.array(weights)[None]
    return Passed(w, *one(x).of(w[:, :-1]))


class Samples:
    """A probability law of examples with finitely many atoms, and the runs of an online algorithm
    on all samples of m examples."""

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
        """All possible samples of m examples from the law, as an array. Each row has the indices of
        the atoms in a sample."""
        k = len(self.p)
        assume(k**self.m <= 5000)  # More samples would take too long.
        return np.indices((k,) * self.m).reshape(self.m, -1).T

    @cached_property
    def chances(self) -> Array:
        """The probability of each possible sample of m examples, in the order of `samples`."""
        return np.asarray(self.p[self.samples].prod(axis=1))

    def drawn(self, samples: Array | None = None) -> Sequences:
        """Return the given samples from the law as streams of examples. By default all possible
        samples are returned."""
        at = self.samples if samples is None else samples
        return Sequences(self.A[at], self.y[at], self.loss)

    def run(self, samples: Array | None = None) -> Passed:
        """Run the online algorithm on the given samples from the law. By default it runs on all
        possible samples."""
        of = self.drawn(samples)
        return of.exponentiated(self.eta) if self.experts else of.descended(self.B, self.eta)

    def atoms(self, w: Array) -> Array:
        """Return the loss of weights on each atom of the law.

        The last axis of w has the weights, and the last axis of the result has the atoms.
        """
        u = w @ self.A.T
        y = np.broadcast_to(self.y, u.shape)
        return np.asarray(LOSSES[self.loss].pointwise(u.ravel(), y.ravel())[0].reshape(u.shape))

    def risk(self, w: Array) -> Array:
        """Return the risk l(w; D), which is the expected loss of w under the law D."""
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
    """Return the slack of the inequality P(deviation ≥ ε) ≤ allowed(ε) for the ε > 0 with the least
    relative slack.

    The array `deviation` has the deviation of each sample, and `chances` has the probability of
    each sample.
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
    """Return the function that maps a deviation ε to the bound δ of Azuma's inequality on its
    probability.

    The deviation is that of the mean of m losses, which lie in an interval of length c. The bound
    is the number δ with ε = c √(log(1/δ)/(2m)).
    """
    return lambda epsilon: np.exp(-2.0 * m * (epsilon / c) ** 2)


def tossed(m: int) -> Slack:
    """Check the function `azuma` for N = 200·m tosses of a fair coin, and return the slack.

    The inequality is log P(D ≥ 1/5) ≤ log δ. D is the fraction of heads minus 1/2, and δ is the
    bound of `azuma` on the probability. Since a loss is 0 or 1 here, the interval of the losses has
    the length c = 1.
    """
    N = 200 * m
    left = math.log(float(bdtrc(N * 7 // 10 - 1, N, 0.5)))
    right = float(np.log(azuma(1.0, N)(np.array([0.2])))[0])
    return at_most(left, right, f"log P(deviation ≥ c/5), {N} fair coins")
