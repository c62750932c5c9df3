"""Newton's equations of a game, reduced to one matrix for the columns or for the examples.

The unknowns are the Newton steps of four variables. t is the step of the variables of the
relaxation f, y is the step of the weights w, Δv is the step of the bound v on all edges, and Δλ is
the step of the multiplier λ of the equation Σd = 1. The page Mathematics, "Newton's equations",
derives

    K t + A y − 1 Δλ = h        Aᵀ t − D⁻¹ y − ε Δv = q
    κ Δv − εᵀ y      = s        1ᵀ t                = σ

and the matrices of this file, with the same symbols. K is the matrix of f. The diagonal matrix D,
the vector ε and the number κ belong to the bounds on edges. Near a vertex each matrix would be
singular in one direction. One of the equations in the last line fixes this direction. It is added
to the matrix with a weight ρ. The solutions therefore keep the accuracy of double precision until
the end of a run.
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

UNSOLVED = "Newton's equations have no solution in double precision"


class Move(NamedTuple):
    """A solution of Newton's equations, and the products of its parts with the game matrix A."""

    t: Vector
    """The step of the variables of the relaxation f. Its first m entries are the step of d."""
    y: Vector
    """The step of the weights w."""
    v: float
    """The step of the bound v on all edges."""
    total: float
    """The step of the multiplier λ of the equation Σd = 1."""
    margins: Vector
    """The change A y of the margins, where y is the step of the weights."""
    edges: Vector
    """The change Aᵀ Δd of the edges, where Δd is the step of the distribution."""


class Right(NamedTuple):
    """The four right-hand sides h, q, s and σ of Newton's equations.

    The vector h belongs to the variables of the relaxation f, q to the weights, s to the bound v on
    all edges, and σ to the equation Σd = 1.
    """

    h: Vector
    q: Vector
    s: float
    sigma: float


class ColumnScaling(NamedTuple):
    """The terms of Newton's equations that the bounds on edges contribute."""

    D: Vector
    """The sum of multiplier / slack over the signs of each column."""
    E: Vector
    """The difference of multiplier / slack of the two signs of each column. The vector ε of
    Newton's equations is E / D."""
    kappa: float
    """The coefficient κ of the step Δv of the bound on all edges."""
    total: float | None = None
    """The sum κ + Σ ε² D. By default it is ΣD, the value for columns of two signs."""
    has_sum: bool = True
    """Whether 1ᵀ t = σ, the linearised equation Σd = 1, is one of Newton's equations. If it is not,
    the step of its multiplier is zero."""


class Normal(ABC):
    """Newton's equations in a form that can be solved for several right-hand sides."""

    def __init__(self, bulk: Bulk, block: Block, columns: ColumnScaling) -> None:
        self._bulk = bulk
        self._block = block
        self._columns = columns
        self._epsilon = columns.E / columns.D

    @abstractmethod
    def solve(self, right: Right) -> Move:
        """Return the solution, which contains the rounding errors of a factor."""

    def refined(self, right: Right, first: Move) -> Move:
        """Return the solution after one step of iterative refinement of the solution `first`."""
        # The residual is computed from A and K. So the step removes the errors of the factor.
        correction = self.solve(self._residual(right, first))
        pairs = zip(first, correction, strict=True)
        return Move(*(old + new for old, new in pairs))  # type: ignore[operator]

    def _residual(self, right: Right, first: Move) -> Right:
        """Return the right-hand side minus the left-hand side of Newton's equations at `first`."""
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
        """Return σ minus the sum of t, or 0 if the sum of d has no equation."""
        return sigma - float(t.sum()) if self._columns.has_sum else 0.0

    @property
    def iterations(self) -> int:
        """The largest number of conjugate gradient iterations that a right-hand side took so far.

        The number is 0 if a factor solves the equations.
        """
        return 0


class ByColumns(Normal):
    """Newton's equations with a matrix of order n + 1, for the steps (y, Δλ).

    The vector y is the step of the weights of the n columns, and Δλ is the step of the multiplier
    of the equation Σd = 1.
    """

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
        """Return the weight ρ with which the equation κ Δv − εᵀ y = s is added to the matrix.

        In this equation, Δv is the step of the bound v on all edges, y is the step of the weights,
        and κ and ε are coefficients. The weight 1/κ eliminates Δv. If 1/κ is greater than `corner`,
        the last entry of the diagonal of the matrix, it would cancel digits of other entries. In
        this case ρ is `corner`.
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
    """Newton's equations for the columns, solved by conjugate gradients without a matrix.

    The columns must be stumps (cuts of a feature at a threshold), and the matrix K of the
    relaxation f must be diagonal.
    """

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
    """Newton's equations with a matrix of order m, for the step of the distribution d."""

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
