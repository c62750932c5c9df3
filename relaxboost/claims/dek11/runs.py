"""Runs of the lecture's two algorithms on many streams at once, and on all samples of a law."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp

from relaxboost.claims.language import *
from relaxboost.functional.losses import Absolute, Exponential, Hinge, Logistic

LOSSES: dict[str, Any] = {
    "hinge": Hinge(),
    "absolute": Absolute(),
    "logistic": Logistic(),
    "exponential": Exponential(),
}
"""Convex losses φ(<w, x>, y) of predictions, Lipschitz and bounded where |<w, x>| is."""

STREAMS = Space(
    sizes={"m": (1, 9), "n": (1, 3)},
    A=Matrix(),
    y=Vector("m"),
    w=Vector("n"),
    B=Real(0.25, 4.0, log=True),
    loss=Choice(*LOSSES),
)
"""A stream: the rows of A and the signs of y; a comparator, brought into the class."""

LAWS = Space(
    sizes={"k": (1, 3), "n": (1, 2)},
    A=Matrix(axes=("k", "n")),
    y=Vector("k"),
    p=Distribution("k"),
    m=Whole(1, 6),
    B=Real(0.25, 2.0, log=True),
    loss=Choice(*LOSSES),
)
"""A law of k examples, of which m are drawn."""

LINES = LAWS.but(sizes={"k": (1, 3), "n": (1, 1)})
"""Laws on the line, where the least risk has a closed form."""

LEMMA = Space(sizes={"k": (1, 4)}, p=Distribution("k"), v=Vector("k"), s=Real(0.05, 5.0, log=True))
"""A random variable: values v with probabilities p; and a factor s."""


def hoeffdings_lemma(x: Instance) -> Slack:
    """Measure Hoeffding's lemma on a distribution of numbers."""
    logs = logsumexp(x.s * (x.v - x.p @ x.v), b=x.p)
    return at_most(float(logs), (x.s * float(np.ptp(x.v))) ** 2 / 8.0, "log E exp(s(V − E V))")


_SAMPLES = 5000
"""More are not enumerated."""


def signs(y: Array) -> Array:
    """Return labels: −1 where y < 0, else +1."""
    return np.where(y < 0.0, -1.0, 1.0)


def longest(A: Array) -> float:
    """Return X, the largest Euclidean norm of a row; no instance if it is next to nothing."""
    size = float(np.linalg.norm(A, axis=1).max())
    assume(size > 1e-6)
    return size


def largest(A: Array) -> float:
    """Return X, the largest entry in size; no instance if it is next to nothing."""
    size = float(np.abs(A).max())
    assume(size > 1e-6)
    return size


def project(v: Array, B: float) -> Array:
    """Return the nearest points of the ball: v/max(1, ‖v‖/B)."""
    size = np.linalg.norm(v, axis=-1, keepdims=True)
    return v / np.maximum(1.0, size / B)


def rescale(v: Array, B: float) -> Array:
    """Return B v/‖v‖, the projection as printed; 0 for 0, of which it says nothing."""
    size = np.linalg.norm(v, axis=-1, keepdims=True)
    return B * v / np.where(size > 0.0, size, 1.0)


def steepest(loss: str, reach: float) -> float:
    """Return λ: φ is λ-Lipschitz in predictions up to `reach`."""
    ends = LOSSES[loss].pointwise(np.array([-reach, reach]), np.array([1.0, 1.0]))[1]
    return float(np.abs(ends).max())


def highest(loss: str, reach: float) -> float:
    """Return c: φ is in [0, c] for predictions up to `reach`."""
    return float(LOSSES[loss].pointwise(np.array([-reach]), np.array([1.0]))[0][0])


@dataclass(frozen=True)
class Sequences:
    """S streams of m examples each, in one class of predictors.

    Attributes
    ----------
    x : array of shape (S, m, n)
    y : array of shape (S, m)
    loss : str
    """

    x: Array
    y: Array
    loss: str

    def of(self, w: Array) -> tuple[Array, Array]:
        """Return l_i and ∇l_i, (S, m) and (S, m, n), at weights of shape (n,) or (S, m, n)."""
        u = (self.x * w).sum(axis=-1)
        value, slope = LOSSES[self.loss].pointwise(u.ravel(), self.y.ravel())
        return value.reshape(u.shape), slope.reshape(u.shape)[..., None] * self.x

    def run(self, start: Array, step: Callable[[Array, Array], Array]) -> Passed:
        """Return the weights w_0, ..., w_m where `step` makes w_i of w_{i−1} and ∇l_i(w_{i−1})."""
        S, m, n = self.x.shape
        w = np.empty((S, m + 1, n))
        w[:, 0] = start
        for i in range(m):
            _, slope = Sequences(self.x[:, i], self.y[:, i], self.loss).of(w[:, i])
            w[:, i + 1] = step(w[:, i], slope)
        return Passed(w, *self.of(w[:, :-1]))

    def descended(self, B: float, eta: float, onto: Callable[..., Array] = project) -> Passed:
        """Return a run of Algorithm 1."""
        return self.run(np.zeros(self.x.shape[2]), lambda w, g: onto(w - eta * g, B))

    def exponentiated(self, eta: float) -> Passed:
        """Return a run of Algorithm 2."""

        def step(w: Array, g: Array) -> Array:
            v = w * np.exp(eta * (g.min(axis=-1, keepdims=True) - g))
            return np.asarray(v / v.sum(axis=-1, keepdims=True))

        n = self.x.shape[2]
        return self.run(np.full(n, 1.0 / n), step)


@dataclass(frozen=True)
class Passed:
    """The weights w_0, ..., w_m of S streams, (S, m + 1, n), with l_i and ∇l_i at w_{i−1}."""

    w: Array
    losses: Array
    slopes: Array

    @property
    def before(self) -> Array:
        """w_0, ..., w_{m−1}, which predict."""
        return self.w[:, :-1]

    def linear(self) -> Array:
        """Return Σ <∇l_i, w_{i−1}>, shape (S,)."""
        return np.asarray((self.slopes * self.before).sum(axis=(1, 2)))


def one(x: Instance) -> Sequences:
    """Return the stream of an instance."""
    return Sequences(x.A[None], signs(x.y)[None], x.loss)


class Samples:
    """A finite law of examples, and all samples of m of them with their probabilities.

    The instance is of a space such as `LAWS`; with "EG" for its `learner` it is of Algorithm 2.
    """

    def __init__(self, x: Any) -> None:
        self.A, self.y, self.p, self.loss = x.A, signs(x.y), x.p, x.loss
        self.experts = getattr(x, "learner", "GD") == "EG"
        self.m, self.B = x.m, 1.0 if self.experts else x.B
        self.X = largest(x.A) if self.experts else longest(x.A)
        reach = self.B * self.X
        self.lam, self.c = steepest(x.loss, reach), highest(x.loss, reach)
        size = math.sqrt(2.0 * math.log(x.A.shape[1])) if self.experts else x.B
        self.eta = size / (self.lam * self.X * math.sqrt(x.m))

    @property
    def regret(self) -> float:
        """λXB√m, what Theorem 1 promises."""
        return self.lam * self.X * self.B * math.sqrt(self.m)

    @cached_property
    def samples(self) -> Array:
        """The atoms of each sample, in its order, shape (k^m, m)."""
        k = len(self.p)
        assume(k**self.m <= _SAMPLES)
        return np.indices((k,) * self.m).reshape(self.m, -1).T

    @cached_property
    def chances(self) -> Array:
        """The probability of each sample."""
        return np.asarray(self.p[self.samples].prod(axis=1))

    def drawn(self, samples: Array | None = None) -> Sequences:
        """Return the streams of samples, by default all in their order."""
        at = self.samples if samples is None else samples
        return Sequences(self.A[at], self.y[at], self.loss)

    def run(self, samples: Array | None = None) -> Passed:
        """Return the run of the law's algorithm on samples, by default all in their order."""
        streams = self.drawn(samples)
        if self.experts:
            return streams.exponentiated(self.eta)
        return streams.descended(self.B, self.eta)

    def sorted_by_label(self) -> Array:
        """Return the samples, those of label +1 first."""
        order = np.argsort(-self.y[self.samples], axis=1, kind="stable")
        return np.take_along_axis(self.samples, order, axis=1)

    def atoms(self, w: Array) -> Array:
        """Return φ(<w, x_a>, y_a) of each atom, for w of shape (..., n)."""
        u = w @ self.A.T
        y = np.broadcast_to(self.y, u.shape)
        return np.asarray(LOSSES[self.loss].pointwise(u.ravel(), y.ravel())[0].reshape(u.shape))

    def risk(self, w: Array) -> Array:
        """Return l(w; D)."""
        return np.asarray(self.atoms(w) @ self.p)

    def best(self) -> Array:
        """Return the weight of least risk on the line: an end, a kink, or where the slope is 0."""
        assume(self.A.shape[1] == 1)
        points = self.A[:, 0]
        kinks = [y / a for y, a in zip(self.y, points, strict=True) if abs(a) * self.B > 1.0]
        low, high = -self.B, self.B
        for _ in range(60):
            middle = (low + high) / 2.0
            slope = LOSSES[self.loss].pointwise(middle * points, self.y)[1]
            low, high = (low, middle) if (slope * points) @ self.p > 0.0 else (middle, high)
        tried = np.array([0.0, -self.B, self.B, low, *kinks])[:, None]
        return np.asarray(tried[int(np.argmin(self.risk(tried)))])


def never_more(
    deviation: Array, chances: Array, allowed: Callable[[Array], Array], where: str
) -> Slack:
    """Measure P(deviation >= ε) <= allowed(ε) at the ε > 0 where it is worst.

    For allowed(ε) = δ it is what "with probability at least 1 − δ, for every δ" says; the
    deviation is what is left over beside the term in δ.
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
    """Return ε -> δ with ε = c √(log(1/δ)/(2m))."""
    return lambda epsilon: np.exp(-2.0 * m * (epsilon / c) ** 2)


def fair(m: int) -> Samples:
    """Return the law of a fair coin, which one expert has to predict: losses are 0 and c."""
    A, y, p = np.ones((2, 1)), np.array([1.0, -1.0]), np.array([0.5, 0.5])
    return Samples(SimpleNamespace(A=A, y=y, p=p, m=m, B=1.0, loss="hinge", learner="EG"))


def tossed(m: int) -> Slack:
    """Measure the same bound of `azuma` for 200 m fair coins, m <= 40, and ε = c/5: nearly tight.

    The tail is P(at least .7 of them show 1), and the two sides are logarithms.
    """
    N = 200 * m
    heads = np.arange(N * 7 // 10, N + 1)
    logs = gammaln(N + 1) - gammaln(heads + 1) - gammaln(N - heads + 1) - N * math.log(2.0)
    right = float(np.log(azuma(1.0, N)(np.array([0.2])))[0])
    return at_most(float(logsumexp(logs)), right, f"log P(deviation ≥ c/5), {N} fair coins")
