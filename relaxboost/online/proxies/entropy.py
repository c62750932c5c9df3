"""The entropy as a proxy on the simplex, on the full simplex and on the l1 ball."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.lazy import cp
from relaxboost._core.roots import decreasing_root
from relaxboost.game.domains import Domain, FullSimplex, L1Ball, Simplex
from relaxboost.online.proxies.base import Proxy
from relaxboost.online.proxies.roots import above_tangent


@dataclass(frozen=True)
class Entropy(Proxy):
    """The entropy λ log(N/λ) + Σ v_j log v_j of a vector v >= 0 that represents the weights w.

    Here λ is the radius of the domain, and v has N entries with the sum λ. The modulus of strong
    convexity is 1/λ, and the maximum V_max is λ log N. The vector v depends on the domain:

    * On the simplex, v = w (Juditsky et al. 2005, Eq. 8).
    * On the full simplex, v has the additional entry λ − Σw.
    * On the l1 ball, v = (v⁺, v⁻) with w = v⁺ − v⁻ and the least entropy. This is the proxy of EG±
      (Kivinen & Warmuth 1997).

    References
    ----------
    Juditsky et al. (2005), Eqs. 8 to 10, Appendix; Kivinen & Warmuth (1997).
    """

    name: ClassVar[str] = "entropy"
    steep: ClassVar[bool] = True
    domains: ClassVar[tuple[type[Domain], ...]] = (Simplex, FullSimplex, L1Ball)

    def modulus(self, domain: Any, size: int) -> float:
        return 1.0 / float(domain.radius)

    def largest(self, domain: Any, size: int) -> float:
        entries = 2 * size if isinstance(domain, L1Ball) else size + isinstance(domain, FullSimplex)
        return float(domain.radius) * math.log(entries)

    def value(self, w: Vector, domain: Any) -> float:
        # The formula (λ/N) Σ ((1 + e) log(1 + e) − e) with e = Nv/λ − 1 has no cancellation.
        v = _entries(w, domain)
        mean = float(domain.radius) / v.size
        return mean * float(above_tangent(v / mean - 1.0, 0.0).sum())

    def mirror(self, z: Vector, beta: float, domain: Any) -> Vector:
        # The vector v of w is a Gibbs distribution times the radius λ of the domain (Juditsky et
        # al. 2005, Eq. 10).
        radius = float(domain.radius)
        size: Vector = np.abs(z) if isinstance(domain, L1Ball) else -z
        # The largest exponent is subtracted from all exponents, so that nothing overflows.
        top = float(size.max())
        if isinstance(domain, FullSimplex):
            top = max(0.0, top)
        # If an exponent overflows to −inf, its exponential is 0, as it should be.
        with np.errstate(over="ignore"):
            heights: Vector = np.exp((size - top) / beta)
            total = float(heights.sum())
            # The additional entry of v has the gradient sum z = 0.
            if isinstance(domain, FullSimplex):
                total += math.exp(-top / beta)
            elif isinstance(domain, L1Ball):
                # For each weight, the smaller of v⁺ and v⁻ is exp(−2|z|/β) times the larger.
                smaller = -2.0 * size / beta
                total += float((heights * np.exp(smaller)).sum())
                heights = np.copysign(heights * -np.expm1(smaller), -z)
        return heights * (radius / total)

    def gradient(self, w: Vector, domain: Any) -> Vector:
        v = _entries(w, domain)
        with np.errstate(divide="ignore"):
            logs: Vector = np.log(v)
        if isinstance(domain, L1Ball):
            return (logs[: w.size] - logs[w.size :]) / 2.0
        return logs[: w.size] - logs[-1] if isinstance(domain, FullSimplex) else logs

    def expression(self, w: Any, domain: Any) -> tuple[Any, list[Any]]:
        # On the l1 ball, the vectors v⁺ and v⁻ are additional variables.
        radius = float(domain.radius)
        constraints: list[Any] = []
        parts = [w]
        if isinstance(domain, FullSimplex):
            parts = [w, cp.reshape(radius - cp.sum(w), (1,), order="C")]
        elif isinstance(domain, L1Ball):
            parts = [cp.Variable(w.shape[0], nonneg=True) for _ in range(2)]
            constraints = [parts[0] - parts[1] == w, cp.sum(parts[0] + parts[1]) == radius]
        v = cp.hstack(parts)
        return radius * math.log(v.shape[0] / radius) - cp.sum(cp.entr(v)), constraints


def _entries(w: Vector, domain: Any) -> Vector:
    """Return the vector v that represents the weights w; see `Entropy`."""
    radius = float(domain.radius)
    if isinstance(domain, Simplex):
        return np.maximum(w, 0.0)
    if isinstance(domain, FullSimplex):
        return np.append(np.maximum(w, 0.0), max(0.0, radius - float(w.sum())))
    sizes = np.abs(w)
    # For the v of least entropy, the product v⁺_j v⁻_j is the same number c² for all j. The sum of
    # v is λ if the gap λ − Σ|w| is Σ (hypot(w, 2c) − |w|), which increases with c.
    gap = radius - float(sizes.sum())
    c = 0.0

    def short(log: float) -> tuple[float, float]:
        square = 4.0 * math.exp(2.0 * log)
        whole = np.hypot(w, 2.0 * math.exp(log))
        taken = float((square / (whole + sizes)).sum())
        return math.log(gap / taken), -float((square / whole).sum()) / taken

    # If the gap is 0, then c is 0.
    if gap > 0.0:
        low, high = (math.log(part / (2.0 * w.size)) for part in (gap, radius))
        c = math.exp(decreasing_root(short, high, 1.0, 1e-15, low, high))
    # The smaller of v⁺ and v⁻ is c² divided by the larger, without cancellation.
    large = (np.hypot(w, 2.0 * c) + sizes) / 2.0
    small = np.divide(c * c, large, out=np.zeros_like(w), where=large > 0.0)
    return np.concatenate([np.where(w >= 0.0, large, small), np.where(w >= 0.0, small, large)])
