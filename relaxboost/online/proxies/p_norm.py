"""Half the squared p-norm with p near 1: a proxy for the l1 norm without a logarithm."""

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
    """‖w‖_p²/(2λ²) less its minimum: strongly convex in l1 by α = (p − 1) M^{2/p − 2}/λ².

    ‖·‖_p²/2 is so by p − 1 in its own norm, and ‖x‖_1 <= M^{1 − 1/p} ‖x‖_p. Both are attained at
    equal weights for x = (±1, ..., ±1) with as many of either sign: for even M no α is larger. With
    the default p, V*/α is below λ² e^{2/p} log(M)/2, and e^{2/p} < 7.39. As p falls to 1 the
    ratio on the simplex falls to the entropy's, λ² log M.

    Parameters
    ----------
    p : float, optional
        In (1, 2]. By default 1 + 1/log M, which needs M >= 3: for M = 2 it is above 2.

    References
    ----------
    Juditsky et al. (2005), Eq. 35, for M >= 3; Ben-Tal, Margalit & Nemirovski (2001).
    """

    p: float | None = None
    name: ClassVar[str] = "p-norm"
    domains: ClassVar[tuple[type[Domain], ...]] = (Simplex, FullSimplex, L1Ball)

    def __post_init__(self) -> None:
        if self.p is not None and not 1.0 < exact("PNorm", "p", self.p) <= 2.0:
            raise InputError(f"PNorm needs 1 < p <= 2, got p={self.p!r}; others are no proxies")

    def check(self, domain: Domain, size: int) -> None:
        """Raise an InputError where V is no proxy, and for M = 2 unless p is given."""
        super().check(domain, size)
        if self.p is None and size < 3:
            raise InputError(f"PNorm() has p = 1 + 1/log M, above 2 for M = {size}; take PNorm(2)")

    def modulus(self, domain: Any, size: int) -> float:
        return self._s(size) * self._least(size) / float(domain.radius) ** 2

    def largest(self, domain: Domain, size: int) -> float:
        """Return 1/2, on the simplex less M^{2/p − 2}/2; at the vertices."""
        if not isinstance(domain, Simplex):
            return 0.5
        s = self._s(size)
        return -math.expm1(-2.0 * s / (1.0 + s) * math.log(size)) / 2.0

    def value(self, w: Vector, domain: Any) -> float:
        s, v = self._s(w.size), w / float(domain.radius)
        if not isinstance(domain, Simplex):
            return float(np.linalg.norm(v, 1.0 + s) ** 2) / 2.0
        # ‖v‖_p^p is M^{1 − p} times 1 + this.
        more = s * (1.0 + s) * float(above_tangent(np.maximum(v, 0.0) * w.size - 1.0, s).mean())
        return self._least(w.size) * math.expm1(2.0 / (1.0 + s) * math.log1p(more)) / 2.0

    def mirror(self, z: Vector, beta: float, domain: Any) -> Vector:
        """Return w_j in proportion to (ν − z_j)_+^{1/(p − 1)}, by a root ν."""
        unit = beta / float(domain.radius)
        return mirror_of_powers(z, domain, unit, self._s(z.size), normed=True)

    def gradient(self, w: Vector, domain: Any) -> Vector:
        """Return ‖w‖_p^{2 − p} |w_j|^{p − 1} sgn(w_j)/λ², on the simplex less ‖w‖_p/λ²."""
        s, v = self._s(w.size), w / float(domain.radius)
        norm = float(np.linalg.norm(v, 1.0 + s))
        if isinstance(domain, Simplex):  # where p is near 1, all are near ‖w‖_p/λ²
            with np.errstate(divide="ignore"):
                return np.asarray(np.expm1(s * np.log(v / norm)) * (norm / float(domain.radius)))
        slopes: Vector = norm * (np.abs(v) / (norm or 1.0)) ** s / float(domain.radius)
        return np.copysign(slopes, w)

    def expression(self, w: Any, domain: Any) -> tuple[Any, list[Any]]:
        """Return V as cvxpy has it: |w_j| <= t_j^{1/p} T^{1 − 1/p} and Σt = T say ‖w‖_p <= T."""
        size = w.shape[0]
        t, norm = cp.Variable(size), cp.Variable()
        cones = cp.constraints.PowCone3D(t, norm * np.ones(size), w, 1.0 / (1.0 + self._s(size)))
        square = cp.square(norm / float(domain.radius))
        least = self._least(size) * isinstance(domain, Simplex)
        return (square - least) / 2.0, [cones, cp.sum(t) == norm]

    def spread(self, domain: Domain, size: int) -> float:
        """Return 1, from one vertex to another; on the ball 2, from one to its opposite."""
        return 2.0 if isinstance(domain, L1Ball) else 1.0

    def _s(self, size: int) -> float:
        """Return p − 1."""
        return 1.0 / math.log(size) if self.p is None else float(self.p) - 1.0

    def _least(self, size: int) -> float:
        """Return M^{2/p − 2}, the least ‖w‖_p² of the simplex of total 1."""
        return float(size ** (2.0 / (1.0 + self._s(size)) - 2.0))
