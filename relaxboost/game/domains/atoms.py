"""Polytopes whose vertices are multiples of single columns: the l1 ball and the simplex."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.lazy import cp
from relaxboost._core.rounding import UNIT, down, float_down, float_up, sum_bounds, up
from relaxboost.game.domains.base import BELOW, Domain, Sized
from relaxboost.matrices import Best, MarginMatrix, kernels


class AtomicSet(Domain):
    """The hull of finitely many atoms, each ± `scale` times a unit vector.

    Sparse w come from moving towards one atom at a time, and a w that uses few columns can be
    optimal, so columns can be priced.
    """

    level: ClassVar[Literal["exact", "enclosed"]] = "exact"
    linear: ClassVar[bool] = True

    @property
    @abstractmethod
    def scale(self) -> float:
        """The size of every atom."""

    @abstractmethod
    def prices(self, edges: Vector) -> Vector:
        """Return what each column is worth to the w player, up to the factor `scale`."""

    @abstractmethod
    def pick(self, edges: Vector) -> tuple[int, int]:
        """Return (index, sign) of the best atom, the lowest index among equals."""

    def spread(self, n: int | None) -> float:
        """Return 1: the largest edge moves as much as the edges do."""
        return 1.0

    def value(self, size: float) -> float:
        """Return scale · size."""
        return self.scale * size

    def reach(self, n: int | None) -> float:
        """Return the size of the atoms, since entries of A are at most 1."""
        return self.scale


@dataclass(frozen=True, repr=False)
class L1Ball(Sized, AtomicSet):
    """‖w‖_1 <= radius: every hypothesis may be used or negated. g(v) = radius · ‖v‖_inf.

    With radius 1, the default of `Game`, this is the game of SS09. With f = 0 the value scales
    with the radius.

    Parameters
    ----------
    radius : int, float or Fraction
        > 0, kept exactly.

    Raises
    ------
    InputError
        If `radius` is not a number in [1e-100, 1e100].

    References
    ----------
    Shalev-Shwartz & Singer (2009), Definition 6 and Thm 3; Sec. 6 for other radii.
    """

    radius: Any = 1

    kinds: ClassVar[tuple[str, str]] = "l1-ball", "l1"

    @property
    def scale(self) -> float:
        """The radius, as a double."""
        return float(self.radius)

    def prices(self, edges: Vector) -> Vector:
        """Return the absolute edges."""
        return np.abs(edges)

    def pick(self, edges: Vector) -> tuple[int, int]:
        """Return the edge of largest absolute value and its sign."""
        j, edge = kernels.first_largest(edges)
        return j, -1 if edge < 0 else 1

    def best(self, matrix: MarginMatrix, d: Vector) -> Best:
        """Return the answer of the matrix' own weak learner."""
        return matrix.best(d)

    def value_above(self, size: float) -> float:
        """Return radius · size, rounded up; `size` is not negative."""
        return size if self.radius == 1 else up(float_up(self.radius) * size)

    def repair(self, coefficients: Vector) -> Vector:
        """Return the weights scaled into the ball."""
        radius = self.scale
        largest = float(np.abs(coefficients).max(initial=0.0))
        if largest > radius:  # so that the norm cannot overflow
            coefficients = coefficients / largest * radius
        norm = float(np.abs(coefficients).sum())
        if norm > radius * (1.0 + 8.0 * UNIT):  # the bound accounts for what is left above
            coefficients = coefficients / (norm / radius)
        return coefficients

    def exact_weights(self, coefficients: Sequence[float]) -> list[Fraction]:
        """Return the weights in fractions, what is too much taken from the largest."""
        exact = [int(Fraction(c) * BELOW) for c in coefficients]
        excess = sum(map(abs, exact)) - int(Fraction(self.radius) * BELOW)
        for i in sorted(range(len(exact)), key=lambda i: -abs(exact[i])) if excess > 0 else ():
            taken = min(abs(exact[i]), excess)
            exact[i], excess = exact[i] - (taken if exact[i] > 0 else -taken), excess - taken
        return [Fraction(c, BELOW) for c in exact]

    def cost_above(self, coefficients: Vector) -> float:
        """Return a bound on ‖w‖_1 − radius, what scaling w into the ball moves it by."""
        norm = sum_bounds(np.abs(coefficients))[1]
        return max(0.0, up(norm - float_down(self.radius)))

    def cvxpy_support(self, A: Any, d: Any) -> tuple[Any, list[tuple[Any, float]]]:
        """Return radius · v with −v <= Aᵀd <= v, the form every solver takes."""
        v = cp.Variable(name="v")
        edges = A.T @ d
        return self.scale * v, [(edges <= v, 1.0), (-edges <= v, -1.0)]

    def cvxpy_cost(self, w: Any) -> tuple[Any, list[Any]]:
        """Return 0 on ‖w‖_1 <= radius."""
        return 0.0, [cp.norm1(w) <= self.scale]

    def check(self, matrix: MarginMatrix) -> None:
        """Accept every matrix: this is what weak learners answer for."""


@dataclass(frozen=True)
class Simplex(AtomicSet):
    """w in the probability simplex: a mixture of the hypotheses as they are, none negated.

    g(v) = max_j v_j, which may be negative, and so may ρ. Played with [A, −A] it is `L1Ball(1)`
    on A.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 2, where the hypotheses are closed under negation.
    """

    holds_zero: ClassVar[bool] = False

    def __repr__(self) -> str:
        return "Simplex()"

    @property
    def scale(self) -> float:
        """1."""
        return 1.0

    def prices(self, edges: Vector) -> Vector:
        """Return the edges."""
        return edges

    def pick(self, edges: Vector) -> tuple[int, int]:
        """Return the largest edge, with sign 1."""
        return int(np.argmax(edges)), 1

    def best(self, matrix: MarginMatrix, d: Vector) -> Best:
        """Return the column with the largest edge; its sign is 1 and its edge may be negative."""
        edges = matrix.edges(d)
        j, sign = self.pick(edges)
        return Best(j, sign, float(edges[j]), 0.0)

    def value_above(self, size: float) -> float:
        """Return `size`."""
        return size

    def start(self, matrix: MarginMatrix, d: Vector) -> tuple[NDArray[np.int64], Vector]:
        """Return the vertex that is best against d: w = 0 is not in the set."""
        return np.array([self.best(matrix, d).id], dtype=np.int64), np.ones(1)

    def repair(self, coefficients: Vector) -> Vector:
        """Return the non-negative part of the weights, scaled to sum to one.

        Raises
        ------
        InputError
            If no weight is positive.
        """
        positive = np.maximum(coefficients, 0.0)
        largest = float(positive.max(initial=0.0))
        if largest <= 0.0:
            raise InputError(
                "Simplex() cannot repair a w with no positive entry; start from a single column, "
                "([j], [1.0])"
            )
        scaled = positive / largest  # so that the sum can neither overflow nor vanish
        total = float(scaled.sum())
        close = abs(total * largest - 1.0) <= 8.0 * UNIT
        return positive if close else scaled / total

    def describe(self) -> dict[str, str]:
        """Return the kind."""
        return {"kind": "simplex"}

    def exact_weights(self, coefficients: Sequence[float]) -> list[Fraction]:
        """Return the weights in fractions, what is missing given to the largest."""
        exact = [max(0, int(Fraction(c) * BELOW)) for c in coefficients]
        largest = max(range(len(exact)), key=exact.__getitem__)
        exact[largest] += BELOW - sum(exact)
        return [Fraction(c, BELOW) for c in exact]

    def cost_above(self, coefficients: Vector) -> float:
        """Return a bound on |Σw − 1|, what scaling w to sum to one moves it by."""
        below, above = sum_bounds(coefficients)
        return max(0.0, up(above - 1.0), up(1.0 - down(below)))

    def cvxpy_support(self, A: Any, d: Any) -> tuple[Any, list[tuple[Any, float]]]:
        """Return v with Aᵀd <= v."""
        v = cp.Variable(name="v")
        return v, [(A.T @ d <= v, 1.0)]

    def cvxpy_cost(self, w: Any) -> tuple[Any, list[Any]]:
        """Return 0 on w >= 0, Σw = 1."""
        return 0.0, [w >= 0, cp.sum(w) == 1]

    def key(self) -> str:
        """Return the kind."""
        return "simplex"
