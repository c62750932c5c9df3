"""A relaxation with closed forms and proved bounds: the soft cap, in full.

`prototype_a_relaxation.py` defines f(d) = price/2 · Σ [d_i − 1/k]_+² in one method, and a cone
solver does the rest. Here formulas replace the solver, and the bounds are rounded outwards, so that
brackets are proved instead of numerical.

Run it: python examples/prove_a_relaxation.py
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import wrightomega

import relaxboost as rb
from relaxboost.relaxations import Interval, as_margins

Vector = Any


@dataclass(frozen=True)
class FastSoftCap(rb.Relaxation):
    """The soft cap with its closed forms."""

    k: float
    price: float

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        """Return f(d), and the constraints it needs: none."""
        return self.price / 2 * cp.sum_squares(cp.pos(d - 1 / self.k)), []

    @property
    def traits(self) -> Any:
        """Properties of f that `check_conditions` reports as declared."""
        return rb.relaxations.Traits(
            monotone=True, symmetric=True, zero_minimum=True, zero_in_core=True
        )

    def penalty(self, d: Vector) -> float:
        """Return f(d)."""
        excess = np.maximum(d - 1 / self.k, 0.0)
        return self.price / 2 * float(np.sum(excess**2))

    def conjugate(self, theta: Vector) -> float:
        """Return f*(θ) = Σ θ_i/k + θ_i²/(2 price), or inf if an entry of θ is negative."""
        if np.min(theta) < 0.0:
            return np.inf
        return float(np.sum(theta / self.k + theta**2 / (2 * self.price)))

    def _distribution(self, u: Vector, beta: float) -> Vector:
        """Return the d in the simplex that minimises <d, u> + f(d) + β Σ d_i log d_i.

        For a threshold γ, d_i solves u_i + price·[d_i − 1/k]_+ + β log(k d_i) = γ. Below 1/k this
        is an exponential, and above it Wright's omega function. The weights sum to 1 at one γ.
        """
        ratio = self.price / beta
        offset = ratio / self.k + np.log(ratio / self.k)

        # at the best d, the derivatives of the objective in all d_i have the same value gamma
        def weights(gamma: float) -> Vector:
            z = (gamma - u) / beta
            cheap = np.exp(np.minimum(z, 0.0)) / self.k
            return np.where(z > 0.0, wrightomega(z + offset) / ratio, cheap)

        # the sum is less than 1 at `low`, and more than 1 at `high`
        shift = np.log(self.k / u.size)
        low = u.min() + beta * shift - beta
        high = u.max() + beta * (shift + 1) + self.price / u.size
        root = brentq(lambda g: weights(g).sum() - 1, low, high, xtol=1e-15)
        d = weights(root)
        return d / d.sum()

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        """Return F(u), and the d that attains it."""
        d = self.distribution(u, 1e-10)  # a smaller beta would lose digits
        return float(d @ u) + self.penalty(d), d


@dataclass(frozen=True)
class ProvedSoftCap(FastSoftCap, rb.relaxations.Bounds):
    """The soft cap with proved bounds: F(u) >= γ − f*([γ − u]_+) for every γ."""

    def f_star(self, x: Any) -> Any:
        """Return f*(x) for x >= 0, where x is an array or an `Interval`."""
        return (x / self.k + x * x / (2 * self.price)).sum()

    def witness(self, u: Vector) -> Any:
        """Return a γ at which the lower bound is nearly largest."""
        u = as_margins(u, self)  # raises an error if u is no vector of finite numbers

        def loss(gamma: float) -> Any:  # minus the bound; it is convex
            return self.f_star(np.maximum(gamma - u, 0.0)) - gamma

        near = (u.min(), u.max() + 1)  # where the search begins
        best = minimize_scalar(loss, bracket=near, tol=1e-12)
        return rb.relaxations.Witness(best.x)

    def lower_bound(self, u: Vector, witness: Any) -> float:
        """Return γ − f*([γ − u]_+), rounded down. Intervals enclose each intermediate result."""
        if not np.isfinite(witness.gamma):
            return -np.inf
        gamma = Interval(witness.gamma)
        x = (gamma - u).positive()
        return float((gamma - self.f_star(x)).lower)

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return f at d / total, rounded up, and the number 0, because f is finite there."""
        shares = Interval(d) / Interval(*total)
        above = (shares - Interval(1.0) / self.k).positive()
        return float((above.square() * (self.price / 2)).sum().upper), 0.0


def main() -> int:
    """Solve a game of a booster and of a general solver, and check everything f promises."""
    data = rb.matrices.datasets.breast_cancer()
    stumps = rb.matrices.stumps(data.X[:60], data.y[:60], data.feature_names, max_cuts=10)
    game = rb.Game(stumps, ProvedSoftCap(k=60, price=20))
    booster, reference = rb.solve(game, tol=0.02), rb.reference(game)
    print(f"{booster.lower:.4f} <= rho <= {booster.upper:.4f}, {game.level}")
    print(f"the general solver agrees: {rb.compare(booster, reference).agree}")
    report = rb.testing.check_relaxation(ProvedSoftCap(k=5, price=3), sizes=(1, 3))
    print(f"{sum(row.status == 'passed' for row in report.rows)} checks passed, none failed")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
