"""Newton's equations of a game, reduced to one matrix: of the columns, or of the examples.

The unknowns are t = (Δd, Δz, Δη), y = Δw, Δv for the largest edge and Δλ for the sum of d:

    K t + A y − 1 Δλ = h        Aᵀ t − D⁻¹ y − ε Δv = q
    κ Δv − εᵀ y      = s        1ᵀ t                = σ

with D and ε D the sum and the difference of multiplier over slack of a column's two signs, and
κ = Σ 4 D₊ D₋ / D, to which v >= 0 adds its own ratio where it is an inequality of its own. (A and 1
are on the part of t that is Δd.) At a vertex each side is singular in one direction: the columns'
in (w, γ), the optimum itself, and the examples' in d. The equation of the side not eliminated,
κ Δv − εᵀ y = s or 1ᵀ t = σ, fixes it, and is added with a weight before the factorisation. So the
accuracy is that of doubles to the end (1e-14 in the tests).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost.matrices.bulk import Bulk
from relaxboost.solvers.interior_point.additive import LEFT, TOL, Additive
from relaxboost.solvers.interior_point.block import Block, Diagonal
from relaxboost.solvers.interior_point.factor import (
    Factor,
    RoundedFactor,
    WiderFactor,
    add_outer,
    factor,
)

_POOR, _RATE = 1e-3, 0.05
"""The part of a solution that the last refinement of a rounded matrix may change; and the part that
each leaves of what the one before changed, where roundings are not too many."""

UNSOLVED = "Newton's equations have no solution in doubles"


class Move(NamedTuple):
    """What Newton's equations are solved for."""

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
    E: Vector
    """The difference of the two signs, ε D."""
    kappa: float
    floor: float = 0.0
    """The part of κ that is due to v >= 0."""


class Normal(ABC):
    """A factorisation of Newton's equations, for several right-hand sides."""

    _gram: Array | None = None
    """The matrix, until a factor that is not rounded takes its place."""
    _factor: Factor | Additive

    def __init__(self, bulk: Bulk, block: Block, columns: ColumnScaling) -> None:
        self._bulk, self._block, self._columns = bulk, block, columns
        self._signs = columns.E / columns.D
        self._m = bulk.m

    @abstractmethod
    def solve(self, right: Right) -> Move:
        """Return the solution as the factor gives it."""

    def refined(self, right: Right, first: Move) -> Move:
        """Return a solution refined once, or more often where the matrix is rounded.

        Where that does not converge fast, it is one of a matrix that is not rounded.
        """
        move, size = first, self._sizes(first)
        change = size
        while True:
            more = self.solve(self._missing(right, move))
            before, change = change, self._sizes(more)
            rough = self._gram is not None or self._bulk.single
            if rough and not (change <= _RATE * before).all():
                self._sharpen()
                return self.refined(right, self.solve(right))
            pairs: Any = zip(move, more, strict=True)
            move = Move(*(old + new for old, new in pairs))
            if not rough or (change <= _POOR * size).all():
                return move

    def _sizes(self, move: Move) -> Vector:
        """Return those of t, and of the changes of slacks, which are much smaller where ρ = 0."""
        return np.array([_norm(move.t), _norm(move.edges - self._signs * move.v)])

    def _sharpen(self) -> None:
        """Round a factor less, or else its matrix, from now on."""
        if self._gram is not None:
            self._bulk.rounded = False
        else:
            self._bulk.single = False
        self._factorise()

    def _factored(self, gram: Array, *sizes: Vector | None) -> Factor:
        """Return a factor, and keep the matrix where that is rounded."""
        made = factor(gram, self._bulk.rounded, *sizes)
        self._gram = gram if isinstance(made, RoundedFactor) else None
        return made

    def _missing(self, right: Right, first: Move) -> Right:
        """Return what a solution leaves of the right-hand side."""
        D, kappa = self._columns.D, self._columns.kappa
        h = right.h - self._block.times(first.t)
        h[: self._m] -= first.margins - first.total
        return Right(
            h,
            right.q - (first.edges - first.y / D - self._signs * first.v),
            right.s - (kappa * first.v - float(self._signs @ first.y)),
            right.sigma - float(first.t[: self._m].sum()),
        )

    @abstractmethod
    def _factorise(self) -> None:
        """Make the matrix where there is none, and its factor."""

    @property
    def iterations(self) -> int:
        """The most that a right-hand side took so far; 0 with a factor."""
        return 0


class ByColumns(Normal):
    """A matrix of order n + 1: everything but (y, Δλ) eliminated.

    With `before`, the same equations without some of the columns, and the places of the others,
    its factor is a part of this one.
    """

    def __init__(
        self,
        bulk: Bulk,
        block: Block,
        columns: ColumnScaling,
        before: tuple[ByColumns, Whole] | None = None,
    ) -> None:
        super().__init__(bulk, block, columns)
        self._e = np.append(self._signs, 0.0)
        self._factorise(before)

    def _factorise(self, before: tuple[ByColumns, Whole] | None = None) -> None:
        self._factor = self._factorised(before)
        self._ge = self._factor.solve(self._e)
        self._ee = float(self._e @ self._ge)

    def _factorised(self, before: tuple[ByColumns, Whole] | None) -> Factor | Additive:
        if before is not None:
            return self._widened(*before)
        if self._gram is None:
            gram, n = self._block.gram(self._bulk), self._bulk.n
            self._weigh(float(gram[n, n]))
            add_outer(gram, self._rho * self._e, self._e)
            place = np.arange(n)
            gram[place, place] += 1.0 / self._columns.D
            self._gram = gram
        whole = self._block.uncancelled
        return self._factored(self._gram, *(() if whole is None else (None, whole)))

    def _widened(self, before: ByColumns, old: Whole) -> WiderFactor:
        assert isinstance(before._factor, Factor)
        assert isinstance(self._block, Diagonal)
        bulk, inverse, e = self._bulk, self._block.inverse, self._e
        self._rho: float = before._rho  # hardly more than 1/κ
        old = np.append(old, bulk.n)
        new = np.setdiff1d(np.arange(bulk.n), old)
        rows = np.column_stack([bulk.beside(new, inverse), -bulk.edges(inverse)[new]])
        rows += np.outer(self._rho * e[new], e)
        rows[np.arange(new.size), new] += 1.0 / self._columns.D[new]
        return WiderFactor(before._factor, rows, old, new)

    def _weigh(self, corner: float) -> None:
        """Set ρ, never above 1/κ, at which Δv is eliminated: what is added beyond cancels."""
        kappa = self._columns.kappa
        self._rho = 1.0 / kappa if corner * kappa > 1.0 else corner

    def solve(self, right: Right) -> Move:
        h, q, s, sigma = right
        m, bulk, rho, kappa = self._m, self._bulk, self._rho, self._columns.kappa
        inner = self._block.invert(h)[:m]
        reduced = np.append(bulk.edges(inner) - q, sigma - inner.sum())
        z = self._factor.solve(reduced - rho * s * self._e)
        rest = 1.0 - rho * kappa
        pivot = kappa + rest * self._ee
        if not pivot:  # multipliers near the least double, as of w in a ball of 1e-100
            raise np.linalg.LinAlgError(UNSOLVED)
        v = (s + float(self._e @ z)) / pivot
        z -= rest * v * self._ge
        y, total = z[:-1], float(z[-1])
        margins = bulk.margins(y)
        left = h.copy()
        left[:m] -= margins - total
        t = self._block.invert(left)
        return Move(t, y, v, total, margins, bulk.edges(t[:m]))


class ByPasses(ByColumns):
    """The same equations without their matrix, where the columns are cuts and K is diagonal."""

    @property
    def iterations(self) -> int:
        assert isinstance(self._factor, Additive)
        return self._factor.iterations

    def refined(self, right: Right, first: Move) -> Move:
        """Return a solution refined once, to few digits of what is left."""
        assert isinstance(self._factor, Additive)
        self._factor.tol = LEFT
        move = super().refined(right, first)
        self._factor.tol = TOL
        return move

    def _factorised(self, before: object) -> Additive:
        assert isinstance(self._block, Diagonal)
        inverse = self._block.inverse
        self._weigh(float(inverse.sum()))
        return Additive(self._bulk, inverse, self._columns.D, self._e, self._rho)


class ByExamples(Normal):
    """A matrix of order m: everything but Δd eliminated."""

    def __init__(self, bulk: Bulk, block: Block, columns: ColumnScaling) -> None:
        super().__init__(bulk, block, columns)
        self._sum = float(columns.D.sum()) + columns.floor
        self._b = bulk.margins(columns.E)
        self._factorise()

    def _factorise(self) -> None:
        if self._gram is None:
            gram = self._bulk.gram(self._columns.D)
            # Of the size of A, whose digits a larger loses.
            self._rho = float(gram.diagonal().max())
            add_outer(gram, self._b, self._b / -self._sum, self._rho)
            self._block.add_to(gram)
            self._gram = gram
        self._factor = self._factored(self._gram)
        self._g1 = self._factor.solve(np.ones(self._m))

    def solve(self, right: Right) -> Move:
        D, E = self._columns.D, self._columns.E
        h, q, s, sigma = right
        s = s - float(E @ q)
        reduced = self._block.reduce(h) + self._bulk.margins(D * q) + self._b * (s / self._sum)
        z = self._factor.solve(reduced + self._rho * sigma)
        total = (sigma - float(z.sum())) / float(self._g1.sum())
        t = z + total * self._g1
        edges = self._bulk.edges(t)
        v = (s + float(self._b @ t)) / self._sum
        y = D * (edges - q) - E * v
        return Move(self._block.expand(t, h), y, v, total, self._bulk.margins(y), edges)


def _norm(x: Vector) -> float:
    return float(np.linalg.norm(x))
