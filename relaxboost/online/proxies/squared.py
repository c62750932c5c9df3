"""Half the squared Euclidean norm, the proxy of gradient descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.lazy import cp
from relaxboost.game.domains import Domain, FullSimplex, L1Ball, L2Ball, Simplex
from relaxboost.online.proxies.base import Proxy


@dataclass(frozen=True)
class SquaredL2(Proxy):
    """The proxy ‖w‖_2²/2 minus its minimum, with the modulus 1 in the l2 norm.

    The mirror image of z is the point of the domain nearest to −z/β.

    References
    ----------
    Dekel (2011), Sec. 2; Juditsky et al. (2005), Secs. 3.5 and 6.1.
    """

    name: ClassVar[str] = "squared-l2"
    norm: ClassVar[str] = "l2"
    domains: ClassVar[tuple[type[Domain], ...]] = (L2Ball, L1Ball, Simplex, FullSimplex)

    def modulus(self, domain: Domain, size: int) -> float:
        return 1.0

    def largest(self, domain: Any, size: int) -> float:
        return float(domain.radius) ** 2 / 2.0 - self._least(domain, size)

    def value(self, w: Vector, domain: Domain) -> float:
        # This is ‖w‖²/2 minus its minimum, without cancellation.
        if isinstance(domain, Simplex):
            w = w - float(domain.radius) / w.size
        return float(w @ w) / 2.0

    def mirror(self, z: Vector, beta: float, domain: Any) -> Vector:
        radius = float(domain.radius)
        if isinstance(domain, L2Ball):
            # Without scaling by the largest entry, squares may underflow or overflow.
            peak = float(np.abs(z).max()) or 1.0
            scaled = z / peak
            return -scaled * min(peak / beta, radius / (float(np.linalg.norm(scaled)) or 1.0))
        if isinstance(domain, Simplex):
            return _on_simplex(-z, beta, radius)
        # In the other domains, −z/β stays as it is if its sum is at most the radius.
        heights: Vector = np.abs(z) if isinstance(domain, L1Ball) else np.maximum(-z, 0.0)
        if float(heights.sum()) > radius * beta:
            size = _on_simplex(heights, beta, radius)
        else:
            size = heights / beta
        return np.copysign(size, -z) if isinstance(domain, L1Ball) else size

    def gradient(self, w: Vector, domain: Domain) -> Vector:
        return w

    def expression(self, w: Any, domain: Domain) -> tuple[Any, list[Any]]:
        return cp.sum_squares(w) / 2.0 - self._least(domain, w.shape[0]), []

    def spread(self, domain: Any, size: int) -> float:
        # This is half the squared diameter of the domain.
        radius = float(domain.radius)
        return radius**2 * (2.0 if isinstance(domain, L1Ball | L2Ball) else 1.0)

    def _least(self, domain: Any, size: int) -> float:
        return float(domain.radius) ** 2 / (2.0 * size) if isinstance(domain, Simplex) else 0.0


def _on_simplex(heights: Vector, beta: float, total: float) -> Vector:
    """Project `heights`/β onto the simplex of all w >= 0 with Σw = `total`."""
    # For x = heights/β the projection is max(0, x − ν). The sorted entries of x determine ν.
    with np.errstate(over="ignore"):
        # Adding a constant to x does not change the projection, and prevents cancellation.
        x: Vector = (heights - heights.max()) / beta
    order = np.sort(x)[::-1]
    levels = (np.cumsum(order) - total) / np.arange(1, x.size + 1)
    return np.maximum(x - levels[np.flatnonzero(order > levels)[-1]], 0.0)
