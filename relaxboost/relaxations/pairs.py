"""Appendix B of SS09: its seven conjugate pairs, each with a check on random instances."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.lazy import cp
from relaxboost.relaxations.custom import Custom

Primal = Callable[[Any], Any]
Dual = Callable[[Vector], float]
_M = 4


class ConjugatePair(NamedTuple):
    """A row of the table: f and f* as formulas, and a maker of instances of both."""

    f: str
    conjugate: str
    make: Callable[[np.random.Generator], tuple[Primal, Dual]]
    """Return f as a function of a cvxpy variable of shape (4,), and f* as one of a vector."""

    def check(self, seed: int = 0, instances: int = 3) -> float:
        """Return the largest |f*(θ) − sup <d, θ> − f(d)| over random instances and θ.

        The supremum is found by cvxpy, so that about 1e-8 is agreement.
        """
        rng, worst = np.random.default_rng(seed), 0.0
        for _ in range(instances):
            f, conjugate = self.make(rng)
            custom = Custom(f)
            for _ in range(3):
                theta = rng.normal(size=_M)
                worst = max(worst, abs(conjugate(theta) - custom.conjugate(theta)))
        return worst


def _norm(rng: np.random.Generator) -> tuple[Primal, Dual]:
    """Return ‖Q d‖_p for a random Q and p, and the dual norm ‖Q^{-T} θ‖_q, 1/p + 1/q = 1."""
    p, q = [(1, math.inf), (2, 2), (math.inf, 1), (3, 1.5)][rng.integers(4)]
    Q = np.eye(_M) + 0.3 * rng.normal(size=(_M, _M))
    back = np.linalg.inv(Q).T
    return lambda d: cp.norm(Q @ d, p), lambda theta: float(np.linalg.norm(back @ theta, q))


def _ball(rng: np.random.Generator) -> tuple[Primal, Dual]:
    (norm, dual), nu = _norm(rng), rng.uniform(0.1, 2.0)
    return lambda d: (0.0, [norm(d) <= nu]), lambda theta: nu * dual(theta)


def _simplex(rng: np.random.Generator) -> tuple[Primal, Dual]:
    return lambda d: (0.0, [d >= 0, cp.sum(d) == 1]), lambda theta: float(np.max(theta))


def _entropy(rng: np.random.Generator) -> tuple[Primal, Dual]:
    def f(d: Any) -> Any:
        return cp.sum(cp.kl_div(d, 1.0 / _M)), [cp.sum(d) == 1]  # kl_div adds terms of sum 0

    return f, lambda theta: float(np.logaddexp.reduce(theta) - math.log(_M))


def _half_square(rng: np.random.Generator) -> tuple[Primal, Dual]:
    norm, dual = _norm(rng)
    return lambda d: 0.5 * cp.square(norm(d)), lambda theta: 0.5 * dual(theta) ** 2


def _multiple(rng: np.random.Generator) -> tuple[Primal, Dual]:
    (f, conjugate), c = _half_square(rng), rng.uniform(0.2, 3.0)
    return lambda d: c * f(d), lambda theta: c * conjugate(theta / c)


def _shift(rng: np.random.Generator) -> tuple[Primal, Dual]:
    (f, conjugate), d0 = _ball(rng), rng.normal(size=_M)
    return lambda d: f(d + d0), lambda theta: conjugate(theta) - float(theta @ d0)


def _dilation(rng: np.random.Generator) -> tuple[Primal, Dual]:
    (f, conjugate), c = _entropy(rng), rng.uniform(0.2, 3.0) * rng.choice([-1.0, 1.0])
    return lambda d: f(c * d), lambda theta: conjugate(theta / c)


_TABLE = (
    ConjugatePair("I_C(d) for C = {d : ‖d‖ <= ν}", "ν ‖θ‖_*", _ball),
    ConjugatePair("I_S(d), S the simplex", "max_i θ_i", _simplex),
    ConjugatePair("I_S(d) + Σ d_i log(d_i / (1/m))", "log((1/m) Σ e^{θ_i})", _entropy),
    ConjugatePair("½ ‖d‖²", "½ ‖θ‖_*²", _half_square),
    ConjugatePair("c f(d) for c > 0", "c f*(θ/c)", _multiple),
    ConjugatePair("f(d + d0)", "f*(θ) − <θ, d0>", _shift),
    ConjugatePair("f(c d) for c != 0", "f*(θ/c)", _dilation),
)


def appendix_b() -> tuple[ConjugatePair, ...]:
    """Return the seven rows of SS09's table of conjugate pairs, in its order; all of them hold.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Appendix B.
    """
    return _TABLE
