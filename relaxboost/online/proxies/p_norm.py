"""Half the squared p-norm with p near 1, an l1 proxy without logarithms."""

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
class PNorm(Proxy):
    """The proxy ‖w‖_p²/(2λ²) minus its minimum.

    Here λ is the radius of the domain and M the number of weights. The modulus of strong convexity
    in the l1 norm is α = (p − 1) M^{2/p − 2}/λ², which is tight for even M. It follows from the
    modulus p − 1 of ‖·‖_p²/2 in the p-norm, and from ‖x‖_1 <= M^{1 − 1/p} ‖x‖_p.

    Regret bounds contain the ratio V_max/α, where V_max is the maximum of the proxy. With the
    default p, it is less than 3.7 λ² log M. On the simplex, it converges to the ratio of the
    entropy, λ² log M, as p decreases to 1. For p = 2 and M <= 3 it is smaller than for the entropy.

    Parameters
    ----------
    p : float, optional
        A number with 1 < p <= 2. By default it is 1 + 1/log M, which requires M >= 3.

    References
    ----------
    Juditsky et al. (2005), Eq. 35, for M >= 3; Ben-Tal, Margalit & Nemirovski (2001).
    """

    p: float | None = None
    name: ClassVar[str] = "p-norm"
    domains: ClassVar[tuple[type[Domain], ...]] = (Simplex, FullSimplex, L1Ball)

    def __post_init__(self) -> None:
        if self.p is not None and not 1.0 < exact("PNorm", "p", self.p) <= 2.0:
            raise InputError(f"PNorm needs 1 < p <= 2, got p={self.p!r}")

    def check(self, domain: Domain, size: int) -> None:
        super().check(domain, size)
        if self.p is None and size < 3:
            raise InputError(
                f"PNorm() has p = 1 + 1/log M, which is above 2 for M = {size}; use PNorm(2)"
            )

    def modulus(self, domain: Any, size: int) -> float:
        return self._s(size) * self._least(size) / float(domain.radius) ** 2

    def largest(self, domain: Domain, size: int) -> float:
        # The maximum is attained at the vertices.
        if not isinstance(domain, Simplex):
            return 0.5
        s = self._s(size)
        return -math.expm1(-2.0 * s / (1.0 + s) * math.log(size)) / 2.0

    def value(self, w: Vector, domain: Any) -> float:
        s = self._s(w.size)
        v = w / float(domain.radius)
        if not isinstance(domain, Simplex):
            return float(np.linalg.norm(v, 1.0 + s) ** 2) / 2.0
        # ‖v‖_p^p is M^{1 − p} (1 + more), where `more` is computed without cancellation.
        more = s * (1.0 + s) * float(above_tangent(np.maximum(v, 0.0) * w.size - 1.0, s).mean())
        return self._least(w.size) * math.expm1(2.0 / (1.0 + s) * math.log1p(more)) / 2.0

    def mirror(self, z: Vector, beta: float, domain: Any) -> Vector:
        # The weights are proportional to (ν − z_j)_+^{1/(p − 1)}.
        unit = beta / float(domain.radius)
        return mirror_of_powers(z, domain, unit, self._s(z.size), normed=True)

    def gradient(self, w: Vector, domain: Any) -> Vector:
        # The gradient is ‖w‖_p^{2 − p} |w_j|^{p − 1} sgn(w_j)/λ².
        s = self._s(w.size)
        v = w / float(domain.radius)
        norm = float(np.linalg.norm(v, 1.0 + s))
        # If p is near 1, all entries of ∇V are near the constant ‖w‖_p/λ², which is subtracted.
        if isinstance(domain, Simplex):
            with np.errstate(divide="ignore"):
                return np.asarray(np.expm1(s * np.log(v / norm)) * (norm / float(domain.radius)))
        slopes: Vector = norm * (np.abs(v) / (norm or 1.0)) ** s / float(domain.radius)
        return np.copysign(slopes, w)

    def expression(self, w: Any, domain: Any) -> tuple[Any, list[Any]]:
        # The constraint ‖w‖_p <= T is written as |w_j| <= t_j^{1/p} T^{1 − 1/p} and Σt = T.
        size = w.shape[0]
        t = cp.Variable(size)
        norm = cp.Variable()
        # The power cone of cvxpy describes each of the inequalities.
        cones = cp.constraints.PowCone3D(t, norm * np.ones(size), w, 1.0 / (1.0 + self._s(size)))
        square = cp.square(norm / float(domain.radius))
        least = self._least(size) * isinstance(domain, Simplex)
        return (square - least) / 2.0, [cones, cp.sum(t) == norm]

    def spread(self, domain: Domain, size: int) -> float:
        # The largest divergence is that of two vertices.
        return 2.0 if isinstance(domain, L1Ball) else 1.0

    def _s(self, size: int) -> float:
        # The exponent p is 1 + 1/log M by default, for M weights.
        return 1.0 / math.log(size) if self.p is None else float(self.p) - 1.0

    def _least(self, size: int) -> float:
        # The value is the minimum of ‖w‖_p² over the unit simplex.
        return float(size ** (2.0 / (1.0 + self._s(size)) - 2.0))
