"""Tools for the conformance checks of proxies: test points, and comparisons with tolerances."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost.game.domains import L1Ball, L2Ball, Simplex
from relaxboost.online.proxies import Proxy
from relaxboost.testing.core import ConformanceError, Judge


class ProxyCase(Judge):
    """A check of a proxy on a domain of `m` weights, with test points and tolerances."""

    def __init__(self, proxy: Proxy, domain: Any, m: int, seed: int, check: str) -> None:
        super().__init__()
        self.proxy = proxy
        self.domain = domain
        self.m = m
        self.check = check
        # The name of the check is a part of the seed, so that its points do not depend on other
        # checks. `hash` differs between processes, and crc32 does not.
        self.rng = np.random.default_rng([seed, m, zlib.crc32(check.encode())])
        self.radius = float(domain.radius)
        self.signed = isinstance(domain, L1Ball | L2Ball)
        self.alpha = float(proxy.modulus(domain, m))
        self.largest = float(proxy.largest(domain, m))
        self.loosest = math.inf
        """The smallest ratio left side / right side in the checks of strong convexity so far. The
        inequality is (V(x) + V(y))/2 − V((x + y)/2) >= α‖x − y‖²/8."""

    def error(
        self, promise: str, figure: float = 1.0, tolerance: float = 0.0, **instance: Any
    ) -> ConformanceError:
        shown = f"{self.proxy!r} over {self.domain!r}"
        again = f"check_proxy(..., [{self.domain!r}], sizes=({{m}},), only={{check!r}})"
        return ConformanceError(
            self.check, shown, self.m, promise, figure, tolerance, instance, again
        )

    def tol(self, z: Vector | float = 0.0, beta: float = 1.0) -> float:
        """Return an upper bound on the rounding error of <z, w> + βV(w) over the domain."""
        return 1e-12 * (float(np.abs(z).max()) * self.radius + beta * self.largest)

    def size(self, x: Vector) -> float:
        """Return the norm of x in which the proxy V is strongly convex."""
        return float(np.linalg.norm(x, 2 if self.proxy.norm == "l2" else 1))

    def dual(self, z: Vector) -> float:
        """Return the dual norm of z, which measures gradients of the proxy V."""
        return float(np.linalg.norm(z, 2 if self.proxy.norm == "l2" else np.inf))

    def held(self, w: Any, what: str, **instance: Any) -> None:
        """Check that w is a finite vector of m doubles in the domain.

        `what` is its name in messages.
        """
        # The form comes first: `repair` would raise its own error for other arrays.
        form = isinstance(w, np.ndarray) and w.dtype == np.float64 and w.shape == (self.m,)
        self.demand(form and bool(np.isfinite(w).all()), f"{what} is finite doubles of shape (m,)")
        away = float(np.abs(self.domain.repair(w.copy()) - w).max())
        self.at_most(away, 1e-12 * self.radius, f"{what} is in the domain", w=w, **instance)

    # The methods of the proxy get copies, so that they cannot change the test points.

    def value(self, w: Vector) -> float:
        """Return the value V(w) of the proxy."""
        return float(self.proxy.value(w.copy(), self.domain))

    def gradient(self, w: Vector) -> Vector:
        """Return the gradient ∇V(w) of the proxy."""
        with np.errstate(all="ignore"):
            return np.asarray(self.proxy.gradient(w.copy(), self.domain))

    def mirror(self, z: Vector, beta: float = 1.0) -> Vector:
        """Return the mirror image of z: the minimiser w of <z, w> + βV(w)."""
        return np.asarray(self.proxy.mirror(z.copy(), beta, self.domain))

    def conjugate(self, z: Vector, beta: float = 1.0) -> float:
        """Return the conjugate: the maximum of −<z, w> − βV(w) over the domain."""
        return float(self.proxy.conjugate(z.copy(), beta, self.domain))

    def objective(self, w: Vector, z: Vector, beta: float) -> float:
        """Return <z, w> + βV(w), which the mirror map minimises."""
        return math.fsum((z * w).tolist()) + beta * self.value(w)

    def vertices(self, most: int = 8) -> list[Vector]:
        """Return the domain vertices on at most `most` random axes, and 0 if it is a vertex."""
        chosen = self.rng.permutation(self.m)[:most]
        units = [self.radius * np.eye(1, self.m, int(j))[0] for j in chosen]
        if self.signed:
            return units + [-w for w in units]
        return units if isinstance(self.domain, Simplex) else [np.zeros(self.m), *units]

    def points(self, count: int = 8) -> list[Vector]:
        """Return test points of the domain: the start, vertices, points near vertices, and random
        points.
        """
        rng = self.rng
        start = self.proxy.start(self.domain, self.m)
        tried = [start, *self.vertices(3)]
        # An entropy has an infinite gradient at vertices, and a large one near them.
        tried += [w + c * (start - w) for w in tried[1:3] for c in (1e-9, 1e-3)]
        return tried + [
            self.within(rng.dirichlet(np.full(self.m, 10.0 ** rng.uniform(-1.0, 1.0))))
            for _ in range(count)
        ]

    def within(self, shares: Vector, most: float = 1.0) -> Vector:
        """Return a point of the domain proportional to `shares`, which sum to 1.

        If the domain allows negative weights, the signs are random. Unless it is the simplex, the
        size is random too.
        """
        w = self.radius * shares
        if not isinstance(self.domain, Simplex):
            w = w * self.rng.uniform(0.1, most)
        return w * self.rng.choice([-1.0, 1.0], self.m) if self.signed else w

    def inner(self, count: int = 4) -> list[Vector]:
        """Return random points in the interior of the domain."""
        rng = self.rng
        return [self.within(rng.dirichlet(np.full(self.m, 3.0)), 0.9) for _ in range(count)]

    def duals(self, count: int = 6) -> list[tuple[Vector, float]]:
        """Return pairs (z, β) for tests of the mirror map.

        The vectors z have various sizes, and some have ties.
        """
        rng = self.rng
        # With this size of z, <z, w> and βV(w) are comparable, and the mirror image is neither the
        # start nor a vertex.
        slope = self.largest / self.radius
        tried = [(np.zeros(self.m), 1.0)]
        for i in range(count):
            z = rng.normal(size=self.m)
            beta = 10.0 ** rng.uniform(-6.0, 6.0)
            z = np.round(z) if i % 3 == 2 else z
            tried.append((z * (slope * beta * 10.0 ** rng.uniform(-1.5, 1.5)), beta))
        return tried

    def pairs(self) -> Iterator[tuple[Vector, Vector]]:
        """Yield pairs of points in the domain, for tests of strong convexity."""
        points = self.points()
        m = self.m
        rng = self.rng
        # Index −1 pairs the first point with the last, so that each point is in two pairs.
        yield from ((x, points[i - 1]) for i, x in enumerate(points))
        vertices = self.vertices(3)
        yield from ((x, vertices[i - 1]) for i, x in enumerate(vertices) if i)
        # Strong convexity of V may be weakest where weight moves from one group of coordinates of
        # equal weights to another group that is at least as large.
        halves = {(1, 1), (1, m - 1), (m // 2, m // 2), (m // 2, m - m // 2)} if m > 1 else set()
        for few, many in sorted(halves):
            order = rng.permutation(m)
            one = np.zeros(m)
            one[order[:few]] = 1.0 / few
            other = np.zeros(m)
            other[order[m - many :]] = 1.0 / many
            sign = rng.choice([-1.0, 1.0], m) if self.signed else np.ones(m)
            for at in (0.03, 0.25, few / (few + many), 0.5, 2.0 / 3.0, 0.97):
                x = at * one + (1.0 - at) * other
                step = min(0.02, at / 2.0) * (one - other)
                tried = [(1.0, step)]
                # In the interior, each coordinate moves by the same amount.
                if not isinstance(self.domain, Simplex):
                    tried += [(part, np.sign(step) * 0.02 / (few + many)) for part in (0.98, 0.3)]
                for part, change in tried:
                    scale = part * self.radius * sign
                    yield scale * (x + change), scale * (x - change)
