"""Proxies between the entropy and the squared norm, as sums of powers of the weights."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import exact
from relaxboost.game.domains import Domain, FullSimplex, L1Ball, Simplex
from relaxboost.online.proxies.base import Proxy
from relaxboost.online.proxies.roots import above_tangent, mirror_of_powers


@dataclass(frozen=True)
class Power(Proxy):
    """The proxy λ² Σ |w_j/λ|^{s + 1}/(s(s + 1)) minus its minimum.

    Here λ is the radius of the domain and M the number of weights. For s > 0, the modulus of strong
    convexity in the l1 norm is α = M^{−s}, the minimum of 1/Σ |w_j/λ|^{1 − s}, because the Hessian
    is diag(|w_j/λ|^{s − 1}).

    Regret bounds contain the ratio V_max/α, where V_max is the maximum of the proxy. For s > 0 on
    the simplex, it is λ² (M^s − 1)/(s(s + 1)), which converges to λ² log M, the ratio of the
    entropy, as s decreases to 0. For M <= 7, some s have a smaller ratio than the entropy. Negative
    s are permitted only on the simplex, where α = 2^{−s}. The Tsallis entropy has s = −1/2.

    Parameters
    ----------
    s : float, optional
        A number in (−1, 1] other than 0. By default it is 1/log M, which requires M >= 3.

    References
    ----------
    Juditsky et al. (2005), Eq. 36; Zimmert & Seldin (2021) for s < 0.
    """

    s: float | None = None
    name: ClassVar[str] = "power"
    domains: ClassVar[tuple[type[Domain], ...]] = (Simplex, FullSimplex, L1Ball)

    def __post_init__(self) -> None:
        if self.s is not None and not -1.0 < (exact("Power", "s", self.s) or 2.0) <= 1.0:
            raise InputError(
                f"Power needs -1 < s <= 1 other than 0, got s={self.s!r}; use Entropy() for s = 0"
            )
        # For s < 0, ∇V is infinite at 0.
        if self.s is not None and self.s < 0.0:
            object.__setattr__(self, "steep", True)
            object.__setattr__(self, "domains", (Simplex,))

    def check(self, domain: Domain, size: int) -> None:
        super().check(domain, size)
        if self.s is None and size < 3:
            raise InputError(
                f"Power() has s = 1/log M, which is above 1 for M = {size}; use Power(1)"
            )

    def modulus(self, domain: Domain, size: int) -> float:
        s = self._s(size)
        return float((size if s > 0.0 else 2) ** -s)

    def largest(self, domain: Any, size: int) -> float:
        s = self._s(size)
        gap = -math.expm1(-s * math.log(size)) if isinstance(domain, Simplex) else 1.0
        return float(domain.radius) ** 2 * gap / (s * (s + 1.0))

    def value(self, w: Vector, domain: Any) -> float:
        s = self._s(w.size)
        radius = float(domain.radius)
        # The formula of `above_tangent` is used, because subtracting the minimum from the sum would
        # cancel most digits.
        if isinstance(domain, Simplex):
            e = np.maximum(w, 0.0) * (w.size / radius) - 1.0
            return float(radius**2 * w.size ** (-s - 1.0) * above_tangent(e, s).sum())
        return radius**2 * float(((np.abs(w) / radius) ** (s + 1.0)).sum()) / (s * (s + 1.0))

    def mirror(self, z: Vector, beta: float, domain: Any) -> Vector:
        # The weights are λ(s(ν − z_j)/(λβ))_+^{1/s}.
        s = self._s(z.size)
        return mirror_of_powers(z, domain, beta * float(domain.radius) / s, s)

    def gradient(self, w: Vector, domain: Any) -> Vector:
        # The gradient is λ|w_j/λ|^s sgn(w_j)/s.
        s = self._s(w.size)
        radius = float(domain.radius)
        # On the simplex, a constant does not change the mirror map. If λ/s is subtracted, a small s
        # loses no digits.
        if isinstance(domain, Simplex):
            with np.errstate(divide="ignore"):
                return np.asarray(np.expm1(s * np.log(w / radius)) * (radius / s))
        return np.copysign((np.abs(w) / radius) ** s * (radius / s), w)

    def expression(self, w: Any, domain: Any) -> tuple[Any, list[Any]]:
        # The constraints are |w_j| <= t_j^{1/(s + 1)}, or t_j <= w_j^{s + 1} for s < 0.
        size = w.shape[0]
        s = self._s(size)
        radius = float(domain.radius)
        # cvxpy has a cone of powers with exponents between 0 and 1, so the two signs of s differ.
        t = cp.Variable(size)
        shares = w / radius
        inner, outer, p = (shares, t, s + 1.0) if s < 0.0 else (t, shares, 1.0 / (s + 1.0))
        least = size**-s * isinstance(domain, Simplex)
        cone = cp.constraints.PowCone3D(inner, np.ones(size), outer, p)
        return radius**2 * (cp.sum(t) - least) / (s * (s + 1.0)), [cone]

    def spread(self, domain: Any, size: int) -> float:
        # On the ball, the divergence is largest from a vertex to its opposite.
        vertices = (1.0 + isinstance(domain, L1Ball)) * float(domain.radius) ** 2
        return math.inf if self.steep else vertices / self._s(size)

    def _s(self, size: int) -> float:
        return 1.0 / math.log(size) if self.s is None else float(self.s)
