"""The entropy of a mixture with equal weights, a proxy on the simplex."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import exact
from relaxboost._core.roots import decreasing_root
from relaxboost.game.domains import Domain, Simplex
from relaxboost.online.proxies.base import Proxy
from relaxboost.online.proxies.roots import above_tangent


@dataclass(frozen=True)
class Tilted(Proxy):
    """The proxy λ(1 − c)^{−2} KL(g ‖ u) of the mixture g = (1 − c)w/λ + cu of w and equal weights.

    Here λ is the radius of the simplex, M the number of weights, and u has the entries 1/M. The
    modulus of strong convexity in the l1 norm is 1/λ, as for the entropy, because the Hessian is
    diag(1/g)/λ and g sums to 1.

    Regret bounds increase with the maximum V_max of the proxy, which is smallest for c = 1/(M − 1),
    where V_max = λ (M − 1)² log(M − 1)/(M(M − 2)). The maximum λ log M of the entropy is larger:
    1.099λ instead of 0.924λ for M = 3, and 2.303λ instead of 2.225λ for M = 10. For M = 2 the best
    c is 1, where the proxy is the limit M‖w − λu‖_2²/(2λ), and V_max is 0.5λ instead of 0.693λ.

    Parameters
    ----------
    c : float, optional
        A number with 0 < c <= 1. By default it is 1/(M − 1).

    References
    ----------
    Juditsky et al. (2005), Sec. 6.1, which conjectures that the entropy has the smallest V_max/α.
    """

    c: float | None = None
    name: ClassVar[str] = "tilted"
    domains: ClassVar[tuple[type[Domain], ...]] = (Simplex,)

    def __post_init__(self) -> None:
        if self.c is not None and not 0.0 < exact("Tilted", "c", self.c) <= 1.0:
            raise InputError(f"Tilted needs 0 < c <= 1, got c={self.c!r}; use Entropy() for c = 0")

    def modulus(self, domain: Any, size: int) -> float:
        return 1.0 / float(domain.radius)

    def largest(self, domain: Any, size: int) -> float:
        return self.value(float(domain.radius) * np.eye(1, size)[0], domain)

    def value(self, w: Vector, domain: Any) -> float:
        radius = float(domain.radius)
        a = 1.0 - self._c(w.size)
        x: Vector = w * (w.size / radius) - 1.0
        terms = above_tangent(a * x, 0.0) / a**2 if a else x * x / 2.0
        return radius / w.size * float(terms.sum())

    def mirror(self, z: Vector, beta: float, domain: Any) -> Vector:
        # The weights are (λ/M)(1 + (e^{ay} − 1)/a)_+ with y = (ν − z)/β.
        size = z.size
        c = self._c(size)
        a = 1.0 - c
        with np.errstate(over="ignore"):
            below: Vector = (z - z.min()) / beta

        def at(top: float) -> Vector:
            y = top - below
            # Each of the two formulas is accurate for some values of c only.
            if c < 0.5:
                return np.maximum(0.0, (np.exp(a * y) - c) / a)
            return np.maximum(0.0, 1.0 + (np.expm1(a * y) / a if a else y))

        def missing(top: float) -> tuple[float, float]:
            shares = at(top)
            slopes = a * shares + c
            return 1.0 - float(shares.mean()), -float(slopes[shares > 0.0].sum()) / size

        # At the highest ν, the largest weight is equal to the radius.
        highest = math.log1p(a * (size - 1.0)) / a if a else size - 1.0
        shares = at(decreasing_root(missing, highest, 1.0, 1e-15, 0.0, highest))
        # Scaling the sum to the radius removes the error of the root.
        return shares * (float(domain.radius) / float(shares.sum()))

    def gradient(self, w: Vector, domain: Any) -> Vector:
        c = self._c(w.size)
        shares = w * (w.size / float(domain.radius))
        a = 1.0 - c
        if c < 0.5:
            return np.asarray(np.log(c + a * shares) / a)
        return np.log1p(a * (shares - 1.0)) / a if a else shares - 1.0

    def expression(self, w: Any, domain: Any) -> tuple[Any, list[Any]]:
        size = w.shape[0]
        radius = float(domain.radius)
        a = 1.0 - self._c(size)
        x = w * (size / radius) - 1.0
        value = -cp.sum(cp.entr(1.0 + a * x)) / a**2 if a else cp.sum_squares(x) / 2.0
        return radius / size * value, []

    def spread(self, domain: Any, size: int) -> float:
        # The largest divergence is that of two vertices.
        c = self._c(size)
        a = 1.0 - c
        return float(domain.radius) * (math.log1p(size * a / c) / a if a else size)

    def _c(self, size: int) -> float:
        return 1.0 / (size - 1.0) if self.c is None else float(self.c)
