"""Small neural networks, fitted by least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from threadpoolctl import ThreadpoolController

from relaxboost._core.arrays import Array
from relaxboost._core.parameters import count
from relaxboost.functional.learners.base import (
    Hypothesis,
    Pool,
    WeakLearner,
    check_width,
    features,
    training,
)
from relaxboost.functional.measure import Empirical


@dataclass(frozen=True, eq=False)
class Scaling:
    """Features to mean 0 and variance 1 under the training weights; constant ones to 0.

    Attributes
    ----------
    size, centre, spread : arrays of shape (d,)
        z = (x / size − centre) / spread.
    """

    size: Array
    centre: Array
    spread: Array

    @classmethod
    def of(cls, X: Array, p: Array) -> Scaling:
        """Return the scaling of training rows."""
        size = np.abs(X).max(axis=0)
        size[size == 0.0] = 1.0
        centre = np.einsum("n,nd->d", p, X / size)
        spread = np.sqrt(np.einsum("n,nd->d", p, (X / size - centre) ** 2))
        varies = (X.min(axis=0) < X.max(axis=0)) & (spread > 0.0)
        return cls(size, centre, np.where(varies, spread, np.inf))

    def __call__(self, X: Array) -> Array:
        """Return the rows scaled."""
        return (X / self.size - self.centre) / self.spread


@dataclass(frozen=True, eq=False)
class Network(Hypothesis):
    """h(x) = tanh(z W + b) V + c with z the scaled features.

    Attributes
    ----------
    scaling : Scaling
        Shared by the networks of a run.
    inner : array of shape (d + 1, hidden)
        W, and b below it.
    outer : array of shape (hidden + 1,) or (hidden + 1, K)
        V, and c below it.
    """

    scaling: Scaling
    inner: Array
    outer: Array

    def __call__(self, X: Array) -> Array:
        """Return the outputs for rows X of shape (N, d), of shape (N,) or (N, K)."""
        X = features(X)
        check_width(X, self.scaling.size.size, "the network was")
        return _hidden(self.scaling(X), self.inner) @ self.outer[:-1] + self.outer[-1]


def _hidden(Z: Array, inner: Array) -> Array:
    return np.tanh(Z @ inner[:-1] + inner[-1])


class Networks(WeakLearner):
    """Networks with one layer of tanh units and a linear output; GB11's Figure 1 has five units.

    For each target, L-BFGS on Σ p ‖v − h‖² from random weights, then the output layer by linear
    least squares, so that ‖v − h‖ <= ‖v‖ always; of several restarts the nearest. The problem is
    not convex and no edge is promised. Scaling a feature or the target changes nothing but the
    scale of h.

    Parameters
    ----------
    hidden : int
        Units, >= 1.
    iterations : int
        Of L-BFGS at most, >= 1, for each start.
    restarts : int
        Random starts, >= 1.

    References
    ----------
    Grubb & Bagnell (2011), Sec. 5, Figure 1. The paper does not say how its networks are trained.
    """

    name = "networks"

    def __init__(self, hidden: int = 5, iterations: int = 100, restarts: int = 1) -> None:
        self.hidden = count("hidden", hidden)
        self.iterations = count("iterations", iterations)
        self.restarts = count("restarts", restarts)

    def prepare(
        self, X: Any, measure: Empirical, outputs: int | None, projection: str, rng: Generator
    ) -> Pool:
        """Return the pool; see `WeakLearner.prepare`."""
        return _Trainer(self, training(X, measure), measure, rng)


class _Trainer(Pool):
    """Fits a network to each target."""

    def __init__(self, learner: Networks, X: Array, measure: Empirical, rng: Generator) -> None:
        self._learner, self._measure, self._rng = learner, measure, rng
        self._libraries = ThreadpoolController()
        self._scaling = Scaling.of(X, measure.p)
        self._Z = self._scaling(X)

    def nearest(self, target: Array) -> tuple[Hypothesis, Array]:
        """Return the nearest of the networks found for a target."""
        scale = self._measure.norm(target) or 1.0
        V = (target / scale).reshape(len(target), -1)
        # Products as thin as these are slower on several threads; far slower where cores are busy.
        with self._libraries.limit(limits=1, user_api="blas"):
            found = [self._fit(V) for _ in range(self._learner.restarts)]
        inner, outer, _ = min(found, key=lambda f: f[2])
        outer = scale * outer.reshape(-1, *target.shape[1:])
        values = _hidden(self._Z, inner) @ outer[:-1] + outer[-1]
        return Network(self._scaling, inner, outer), values

    def _fit(self, V: Array) -> tuple[Array, Array, float]:
        """Return the weights of both layers, and the squared distance to the target."""
        from scipy.optimize import minimize

        units, d = self._learner.hidden, self._Z.shape[1]
        # Sums of d terms of variance 1/d: the units start where tanh bends but does not saturate.
        inner = self._rng.normal(scale=1.0 / np.sqrt(d), size=(d + 1, units))
        start = np.concatenate([inner.ravel(), self._outer(inner, V).ravel()])
        found = minimize(
            lambda w: error(w, self._Z, V, self._measure.p, units),
            start,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self._learner.iterations},
        )
        inner = found.x[: inner.size].reshape(inner.shape)
        outer = self._outer(inner, V)
        rest = V - _hidden(self._Z, inner) @ outer[:-1] - outer[-1]
        return inner, outer, self._measure.inner(rest, rest)

    def _outer(self, inner: Array, V: Array) -> Array:
        """Return the output layer of least weighted squares."""
        root = np.sqrt(self._measure.p)[:, None]
        A = np.column_stack([_hidden(self._Z, inner), np.ones(len(V))])
        return np.linalg.lstsq(root * A, root * V, rcond=None)[0]


def error(w: Array, Z: Array, V: Array, p: Array, units: int) -> tuple[float, Array]:
    """Return Σ p ‖v − h‖²/2 of a network, and its gradient in the weights.

    Parameters
    ----------
    w : array
        W, b, V and c, one after the other.
    Z : array of shape (N, d)
    V : array of shape (N, K)
        The target.
    p : array of shape (N,)
    units : int
    """
    split = (Z.shape[1] + 1) * units
    inner, outer = w[:split].reshape(-1, units), w[split:].reshape(units + 1, -1)
    A = _hidden(Z, inner)
    rest = A @ outer[:-1] + outer[-1] - V
    pulled = p[:, None] * rest
    back = (pulled @ outer[:-1].T) * (1.0 - A * A)
    gradient = np.concatenate(
        [
            (Z.T @ back).ravel(),
            back.sum(axis=0),
            (A.T @ pulled).ravel(),
            pulled.sum(axis=0),
        ]
    )
    return float((pulled * rest).sum()) / 2.0, gradient
