"""Newton's equations of a game, reduced to one matrix: of the columns, or of the examples.

The unknowns are the changes t of the variables of f, y of the weights w, Δv of the bound v on all
edges, and Δλ of the multiplier of Σd = 1. The page Mathematics, "Newton's equations", derives

    K t + A y − 1 Δλ = h        Aᵀ t − D⁻¹ y − ε Δv = q
    κ Δv − εᵀ y      = s        1ᵀ t                = σ

and the matrices below, with the symbols of this code. Near a vertex each matrix would be singular
in one direction. One of the equations in the last line fixes this direction, and is added to the
matrix with a weight ρ. The solutions therefore keep the accuracy of doubles until the end.
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
    """A solution of Newton's equations, with the products of its parts and A."""

    t: Vector
    """The change of the variables of f, whose first m entries are that of d."""
    y: Vector
    """The change of the weights w."""
    v: float
    """The change of v, the upper bound that holds for all edges."""
    total: float
    """The change of the multiplier λ of Σd = 1."""
    margins: Vector
    """The change A y of the margins."""
    edges: Vector
    """The change Aᵀ Δd of the edges."""


class Right(NamedTuple):
    """The four right-hand sides of Newton's equations."""

    h: Vector
    q: Vector
    s: float
    sigma: float


class ColumnScaling(NamedTuple):
    """The terms of Newton's equations that the bounds on edges contribute."""

    D: Vector
    """The sum of multiplier / slack over the signs of each column."""
    E: Vector
    """The difference of multiplier / slack of the two signs. ε is E / D."""
    kappa: float
    """The coefficient κ of Δv."""
    total: float | None = None
    """κ + Σ ε² D; by default ΣD, as for columns of two signs."""
    has_sum: bool = True
    """Whether 1ᵀ t = σ is an equation. Without it Δλ is zero."""


class Normal(ABC):
    """Newton's equations in a form that is solved for several right-hand sides."""

    def __init__(self, bulk: Bulk, block: Block, columns: ColumnScaling) -> None:
        self._bulk = bulk
        self._block = block
        self._columns = columns
        self._epsilon = columns.E / columns.D

    @abstractmethod
    def solve(self, right: Right) -> Move:
        """Return the solution with the roundings of the factor."""

    def refined(self, right: Right, first: Move) -> Move:
        """Return the solution after one step of iterative refinement."""
        # The residual is computed from A and K. So the step removes the errors of the factor.
        correction = self.solve(self._residual(right, first))
        pairs = zip(first, correction, strict=True)
        return Move(*(old + new for old, new in pairs))  # type: ignore[operator]

    def _residual(self, right: Right, first: Move) -> Right:
        """Return the right-hand side minus the left-hand side at a solution."""
        m = self._bulk.m
        epsilon = self._epsilon
        h = right.h - self._block.times(first.t)
        h[:m] -= first.margins - first.total
        return Right(
            h,
            right.q - (first.edges - first.y / self._columns.D - epsilon * first.v),
            right.s - (self._columns.kappa * first.v - float(epsilon @ first.y)),
            self._lacking(right.sigma, first.t[:m]),
        )

    def _lacking(self, sigma: float, t: Vector) -> float:
        """Return what the sum of t lacks of σ."""
        return sigma - float(t.sum()) if self._columns.has_sum else 0.0

    @property
    def iterations(self) -> int:
        """The largest number of iterations of a right-hand side so far, or 0 with a factor."""
        return 0


class ByColumns(Normal):
    """Equations with a matrix of order n + 1, for the unknowns z = (y, Δλ)."""

    def __init__(self, bulk: Bulk, block: Block, columns: ColumnScaling) -> None:
        super().__init__(bulk, block, columns)
        self._e = np.append(self._epsilon, 0.0)
        self._factor = self._factorised()
        # If ρ is less than 1/κ, Δv is not eliminated. It then follows from one more solution.
        self._ge = self._factor.solve(self._e) if self._e.any() else self._e
        self._ee = float(self._e @ self._ge)

    def _factorised(self) -> Factor | Additive:
        gram = self._block.gram(self._bulk)
        self._rho = self._weight(float(gram[-1, -1]))
        if not self._columns.has_sum:  # the last equation is Δλ = 0
            gram[-1] = 0.0
            gram[-1, -1] = 1.0
        add_outer(gram, self._rho * self._e, self._e)
        place = np.arange(self._bulk.n)
        gram[place, place] += 1.0 / self._columns.D
        return Factor(gram, self._block.uncancelled)

    def _weight(self, corner: float) -> float:
        """Return the weight ρ of the equation κ Δv − εᵀ y = s in the matrix.

        The weight 1/κ eliminates Δv. If 1/κ is larger than the last entry of the diagonal, the
        `corner`, then it would cancel digits of other entries, and ρ is the corner.
        """
        # κ is 0 over the simplices, where 1/κ is no weight.
        kappa = self._columns.kappa
        return 1.0 / kappa if corner * kappa > 1.0 else corner

    def solve(self, right: Right) -> Move:
        # Eliminate t, then solve M z = r − (1 − ρ κ) e Δv with z = (y, Δλ).
        h, q, s, sigma = right
        bulk = self._bulk
        m = bulk.m
        rho = self._rho
        kappa = self._columns.kappa
        inner = self._block.invert(h)[:m]
        reduced = np.append(bulk.edges(inner) - q, self._lacking(sigma, inner))
        z = self._factor.solve(reduced - rho * s * self._e)
        # κ Δv − eᵀ z = s with z = M⁻¹r − (1 − ρ κ) Δv M⁻¹e determines Δv.
        rest = 1.0 - rho * kappa
        pivot = kappa + rest * self._ee
        # Multipliers near the least double, as in a ball of radius 1e-100, determine no Δv.
        if not pivot:
            raise np.linalg.LinAlgError(UNSOLVED)
        v = (s + float(self._e @ z)) / pivot
        z -= rest * v * self._ge
        y = z[:-1]
        total = float(z[-1])
        # Substitute back: K t = h − A y + 1 Δλ.
        margins = bulk.margins(y)
        left = h.copy()
        left[:m] -= margins - total
        t = self._block.invert(left)
        return Move(t, y, v, total, margins, bulk.edges(t[:m]))


class ByPasses(ByColumns):
    """The equations by columns without their matrix, if the columns are cuts and K is diagonal."""

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
    """Equations with a matrix of order m, for the unknown Δd."""

    def __init__(self, bulk: Bulk, block: Block, columns: ColumnScaling) -> None:
        super().__init__(bulk, block, columns)
        self._sum = float(columns.D.sum()) if columns.total is None else columns.total
        # Eliminating Δv adds an outer product of the vector b = A E to the matrix.
        self._b = bulk.margins(columns.E)
        gram = bulk.gram(columns.D)
        # ρ, the weight of 1ᵀt = σ, is of the size of the matrix. A larger one would cancel digits.
        self._rho = float(gram.diagonal().max()) if columns.has_sum else 0.0
        add_outer(gram, self._b, self._b / -self._sum)
        gram += self._rho
        block.add_to(gram)
        self._factor = Factor(gram)
        self._g1 = self._factor.solve(np.ones(bulk.m))

    def solve(self, right: Right) -> Move:
        D = self._columns.D
        E = self._columns.E
        h, q, s, sigma = right
        # Eliminate y and Δv, and solve for Δd as a function of Δλ.
        s = s - float(E @ q)
        reduced = self._block.reduce(h) + self._bulk.margins(D * q) + self._b * (s / self._sum)
        z = self._factor.solve(reduced + self._rho * sigma)
        # The equation 1ᵀt = σ determines Δλ.
        total = self._lacking(sigma, z) / float(self._g1.sum())
        t = z + total * self._g1
        edges = self._bulk.edges(t)
        # Substitute back, starting with the edges of Δd.
        v = (s + float(self._b @ t)) / self._sum
        y = D * (edges - q) - E * v
        return Move(self._block.expand(t, h), y, v, total, self._bulk.margins(y), edges)
