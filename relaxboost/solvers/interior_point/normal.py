"""Newton's equations of a game, reduced to one matrix: of the columns, or of the examples.

The unknowns are t = (Δd, Δz, Δη), y = Δw, Δv for the largest edge and Δλ for the sum of d:

    K t + A y − 1 Δλ = h        Aᵀ t − D⁻¹ y − ε Δv = q
    κ Δv − εᵀ y      = s        1ᵀ t                = σ

docs/mathematics.md, "The interior point method", derives them and what is eliminated here. At a
vertex each side is singular in one direction: the columns' in (w, γ), the optimum itself, and the
examples' in d. The equation of the side not eliminated, κ Δv − εᵀ y = s or 1ᵀ t = σ, fixes that
direction, and is added with a weight ρ before the factorisation. So the accuracy is that of doubles
to the end (1e-14 in the tests).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost.matrices.bulk import Bulk
from relaxboost.solvers.interior_point.additive import Additive
from relaxboost.solvers.interior_point.block import Block, Diagonal
from relaxboost.solvers.interior_point.factor import Factor, add_outer

UNSOLVED = "Newton's equations have no solution in doubles"


class Move(NamedTuple):
    """A solution of Newton's equations, with its products with A."""

    t: Vector
    """The change of (d, z, η)."""
    y: Vector
    """The change of w."""
    v: float
    """The change of the bound on the edges."""
    total: float
    """The change of the multiplier λ of Σd = 1."""
    margins: Vector
    """A y."""
    edges: Vector
    """Aᵀ Δd."""


class Right(NamedTuple):
    """The right-hand sides of Newton's equations."""

    h: Vector
    q: Vector
    s: float
    sigma: float


class ColumnScaling(NamedTuple):
    """The diagonal that the columns contribute."""

    D: Vector
    """The sum of multiplier / slack over the signs of each column."""
    E: Vector
    """The difference of multiplier / slack of the two signs, ε D."""
    kappa: float
    floor: float = 0.0
    """The part of κ that is due to v >= 0."""


class Normal(ABC):
    """A factorisation of Newton's equations, for several right-hand sides."""

    def __init__(self, bulk: Bulk, block: Block, columns: ColumnScaling) -> None:
        self._bulk = bulk
        self._block = block
        self._columns = columns
        self._epsilon = columns.E / columns.D

    @abstractmethod
    def solve(self, right: Right) -> Move:
        """Return the solution as the factor gives it."""

    def refined(self, right: Right, first: Move) -> Move:
        """Return the solution after one step of iterative refinement."""
        # The residual uses A and K themselves, so that roundings in the matrix do not count.
        correction = self.solve(self._residual(right, first))
        pairs = zip(first, correction, strict=True)
        return Move(*(old + new for old, new in pairs))  # type: ignore[operator]

    def _residual(self, right: Right, first: Move) -> Right:
        """Return what a solution leaves of the right-hand side."""
        m, epsilon = self._bulk.m, self._epsilon
        h = right.h - self._block.times(first.t)
        h[:m] -= first.margins - first.total
        return Right(
            h,
            right.q - (first.edges - first.y / self._columns.D - epsilon * first.v),
            right.s - (self._columns.kappa * first.v - float(epsilon @ first.y)),
            right.sigma - float(first.t[:m].sum()),
        )

    @property
    def iterations(self) -> int:
        """The most iterations that a right-hand side took so far; 0 with a factor."""
        return 0


class ByColumns(Normal):
    """Equations with a matrix of order n + 1: everything but (y, Δλ) is eliminated."""

    def __init__(self, bulk: Bulk, block: Block, columns: ColumnScaling) -> None:
        super().__init__(bulk, block, columns)
        self._e = np.append(self._epsilon, 0.0)
        self._factor = self._factorised()
        # Where Δv is eliminated with less than its weight 1/κ, the rest of it is a border.
        self._ge = self._factor.solve(self._e)
        self._ee = float(self._e @ self._ge)

    def _factorised(self) -> Factor | Additive:
        gram = self._block.gram(self._bulk)
        self._rho = self._weight(float(gram[-1, -1]))
        add_outer(gram, self._rho * self._e, self._e)
        place = np.arange(self._bulk.n)
        gram[place, place] += 1.0 / self._columns.D
        return Factor(gram, self._block.uncancelled)

    def _weight(self, corner: float) -> float:
        """Return ρ, the weight of Δv's equation in the matrix.

        1/κ eliminates Δv. Where that is larger than the other entries it would swamp their
        digits, and the rest of the equation is a border.
        """
        kappa = self._columns.kappa
        return 1.0 / kappa if corner * kappa > 1.0 else corner

    def solve(self, right: Right) -> Move:
        # Eliminate t, then solve M z = r − (1 − ρ κ) e Δv with z = (y, Δλ).
        h, q, s, sigma = right
        m, bulk, rho, kappa = self._bulk.m, self._bulk, self._rho, self._columns.kappa
        inner = self._block.invert(h)[:m]
        reduced = np.append(bulk.edges(inner) - q, sigma - inner.sum())
        z = self._factor.solve(reduced - rho * s * self._e)
        # κ Δv − eᵀ z = s with z = M⁻¹r − (1 − ρ κ) Δv M⁻¹e determines Δv.
        rest = 1.0 - rho * kappa
        pivot = kappa + rest * self._ee
        if not pivot:  # multipliers near the least double, as of w in a ball of 1e-100
            raise np.linalg.LinAlgError(UNSOLVED)
        v = (s + float(self._e @ z)) / pivot
        z -= rest * v * self._ge
        y, total = z[:-1], float(z[-1])
        # Substitute back: K t = h − A y + 1 Δλ.
        margins = bulk.margins(y)
        left = h.copy()
        left[:m] -= margins - total
        t = self._block.invert(left)
        return Move(t, y, v, total, margins, bulk.edges(t[:m]))


class ByPasses(ByColumns):
    """The equations by columns without their matrix, for columns that are cuts and a diagonal K."""

    @property
    def iterations(self) -> int:
        assert isinstance(self._factor, Additive)
        return self._factor.iterations

    def _factorised(self) -> Additive:
        assert isinstance(self._block, Diagonal)
        inverse = self._block.inverse
        self._rho = self._weight(float(inverse.sum()))
        return Additive(self._bulk, inverse, self._columns.D, self._e, self._rho)


class ByExamples(Normal):
    """Equations with a matrix of order m: everything but Δd is eliminated."""

    def __init__(self, bulk: Bulk, block: Block, columns: ColumnScaling) -> None:
        super().__init__(bulk, block, columns)
        self._sum = float(columns.D.sum()) + columns.floor
        self._b = bulk.margins(columns.E)
        gram = bulk.gram(columns.D)
        # The weight of 1ᵀt = σ is of the size of the matrix, whose digits a larger one would cost.
        self._rho = float(gram.diagonal().max())
        add_outer(gram, self._b, self._b / -self._sum)
        gram += self._rho
        block.add_to(gram)
        self._factor = Factor(gram)
        self._g1 = self._factor.solve(np.ones(bulk.m))

    def solve(self, right: Right) -> Move:
        D, E = self._columns.D, self._columns.E
        h, q, s, sigma = right
        # Eliminate y and Δv; what is left are t on d, and Δλ.
        s = s - float(E @ q)
        reduced = self._block.reduce(h) + self._bulk.margins(D * q) + self._b * (s / self._sum)
        z = self._factor.solve(reduced + self._rho * sigma)
        # Δλ makes the sum of Δd what it should be.
        total = (sigma - float(z.sum())) / float(self._g1.sum())
        t = z + total * self._g1
        edges = self._bulk.edges(t)
        # Substitute back, with the edges of the final Δd.
        v = (s + float(self._b @ t)) / self._sum
        y = D * (edges - q) - E * v
        return Move(self._block.expand(t, h), y, v, total, self._bulk.margins(y), edges)
