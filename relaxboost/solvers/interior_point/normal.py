"""Newton's equations of a game, reduced to the columns or to the examples.

The unknowns are four Newton steps: the step t of the unknowns of the relaxation f, the step y of
the weights w, the step Δv of the bound v on all edges, and the step Δλ of the multiplier λ of the
equation Σd = 1. They solve the equations

    K t + A y − 1 Δλ = h        Aᵀ t − D⁻¹ y − ε Δv = q
    κ Δv − εᵀ y      = s        1ᵀ t                = σ

K is the matrix of f, and A is the game matrix. A and the vector 1 of ones multiply only the entries
of t for the distribution d. The right-hand sides are h, q, s and σ.

The equations are the linearised conditions of the central path. For bounds on edges, column j of A
has the slacks s_j± = v ∓ ⟨a_j, d⟩ with the multipliers w_j±, and w = w⁺ − w⁻. On the central path
every slack times its multiplier is μ. With ϑ± = w±/s±, the elimination of all slacks and
multipliers leaves the equations above, where D = ϑ⁺ + ϑ⁻, ε = (ϑ⁺ − ϑ⁻)/D and κ = Σ D_j (1 −
ε_j²). Over a simplex the terms with the superscript − are missing: D = ϑ⁺, ε = 1 and κ = 0.
For `FullSimplex`, the bound v >= 0 adds its multiplier divided by v to κ.

Near a vertex optimum, the reduced matrix is nearly singular in one direction. One of the two
equations in the last line determines the solution in this direction, and is added to the matrix
with a weight ρ. The solutions then remain accurate until the end of the run.
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
    """A solution of Newton's equations, and its products with the game matrix A."""

    t: Vector
    """The step t of the unknowns of f. The first m entries are the step Δd."""
    y: Vector
    """The step y of the column weights."""
    v: float
    """The step Δv of the bound v on all edges."""
    total: float
    """The step Δλ of the multiplier of Σd = 1."""
    margins: Vector
    """The step A y of the margins."""
    edges: Vector
    """The step Aᵀ Δd of the edges."""


class Right(NamedTuple):
    """The four right-hand sides h, q, s and σ of Newton's equations; see the module docstring."""

    h: Vector
    q: Vector
    s: float
    sigma: float


class ColumnScaling(NamedTuple):
    """The terms D, ε and κ of Newton's equations; see the module docstring."""

    D: Vector
    """The diagonal of D. For bounded edges, an entry is the sum of multiplier / slack over its
    one or two bounds."""
    E: Vector
    """The products E_j = ε_j D_j. For bounded edges, an entry is multiplier / slack of the upper
    bound, minus that of any lower bound."""
    kappa: float
    """The number κ, the coefficient of Δv."""
    total: float
    """The number κ + Σ E_j²/D_j, by which `ByExamples` divides. It equals Σ D_j if all bounds are
    on the edges of columns."""
    has_sum: bool = True
    """Whether Σd = 1 is an equation of the program. Otherwise its multiplier stays 0."""


class Normal(ABC):
    """Newton's equations of one iteration, prepared for several right-hand sides."""

    def __init__(self, bulk: Bulk, block: Block, columns: ColumnScaling) -> None:
        self._bulk = bulk
        self._block = block
        self._columns = columns
        self._epsilon = columns.E / columns.D

    @abstractmethod
    def solve(self, right: Right) -> Move:
        """Return an approximate solution for the given right-hand sides."""

    def refined(self, right: Right, first: Move) -> Move:
        """Return the solution after one step of iterative refinement from `first`."""
        correction = self.solve(self._residual(right, first))
        pairs = zip(first, correction, strict=True)
        return Move(*(old + new for old, new in pairs))  # type: ignore[operator]

    def _residual(self, right: Right, first: Move) -> Right:
        # The residuals are computed from A and K, so a step removes the errors of the factor.
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
        # Without the equation Σd = 1 in the program, its residual is 0.
        return sigma - float(t.sum()) if self._columns.has_sum else 0.0

    @property
    def iterations(self) -> int:
        """The largest number of conjugate gradient iterations for a right-hand side.

        It is 0 for a factorisation.
        """
        return 0


class ByColumns(Normal):
    """Newton's equations reduced to a matrix of order n + 1 for n columns.

    The unknowns are z = (y, Δλ), the steps of the weights w and of the multiplier of Σd = 1.
    With B = [A, −1] and e = (ε, 0), the elimination of t leaves

        (Bᵀ K⁻¹ B + diag(D⁻¹, 0)) z + e Δv = (Aᵀ K⁻¹ h − q, σ − 1ᵀ K⁻¹ h).

    Subtracting ρ e times the equation κ Δv − eᵀ z = s adds ρ e eᵀ to the matrix, and leaves the
    term (1 − ρ κ) e Δv. With ρ = 1/κ, this term is 0.
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
        # If Σd = 1 is not an equation of the program, the last equation is Δλ = 0.
        if not self._columns.has_sum:
            gram[-1] = 0.0
            gram[-1, -1] = 1.0
        add_outer(gram, self._rho * self._e, self._e)
        place = np.arange(self._bulk.n)
        gram[place, place] += 1.0 / self._columns.D
        return Factor(gram, self._block.uncancelled)

    def _weight(self, corner: float) -> float:
        # With ρ = 1/κ, Δv is eliminated. But a ρ above `corner`, the last diagonal entry of the
        # matrix, would cause cancellation in other entries. κ is 0 over the simplices.
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
        # Back substitution solves K t = h − A y + 1 Δλ.
        margins = bulk.margins(y)
        left = h.copy()
        left[:m] -= margins - total
        t = self._block.invert(left)
        return Move(t, y, v, total, margins, bulk.edges(t[:m]))


class ByPasses(ByColumns):
    """Newton's equations for the columns, solved by matrix-free conjugate gradients.

    The columns must be stumps (cuts of a feature at a threshold), and the matrix K of f must be
    diagonal.
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
    """Newton's equations reduced to a matrix of order m for m examples.

    The unknown is the step Δd of the distribution d over the examples. With E = ε D and b = A E,
    the elimination of y = D (Aᵀ t − q) − E Δv and Δv = (s − Eᵀ q + bᵀ t)/ΣD leaves

        (S + A D Aᵀ − b bᵀ/ΣD + ρ 1 1ᵀ) Δd = h' + A D q + b (s − Eᵀ q)/ΣD + (Δλ + ρ σ) 1.

    S is the Schur complement of K in d, and h' is the right-hand side h reduced in the same way.
    The equation Σ Δd = σ determines Δλ. The field `ColumnScaling.total` replaces ΣD.
    """

    def __init__(self, bulk: Bulk, block: Block, columns: ColumnScaling) -> None:
        super().__init__(bulk, block, columns)
        self._sum = columns.total
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
        # The reciprocal of a matrix with entries near the largest double is 0.
        if not self._g1.sum():
            raise np.linalg.LinAlgError(UNSOLVED)

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
        # Back substitution starts with the edges of Δd.
        v = (s + float(self._b @ t)) / self._sum
        y = D * (edges - q) - E * v
        return Move(self._block.expand(t, h), y, v, total, self._bulk.margins(y), edges)
