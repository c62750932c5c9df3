"""Polytopes whose vertices are multiples of single columns, and the l1 ball, one of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from relaxboost._core.arrays import Vector, Whole
from relaxboost._core.lazy import cp
from relaxboost._core.rounding import UNIT, float_down, float_up, sum_bounds, up
from relaxboost.game.domains.base import BELOW, Sized
from relaxboost.matrices import Best, MarginMatrix, kernels


class AtomicSet(Sized):
    """The hull of finitely many atoms, each ± `radius` times a unit vector, or 0.

    Sparse w come from moving towards one atom at a time, and a w that uses few columns can be
    optimal, so columns can be priced.
    """

    radius: Any
    """The size of every atom but 0, exactly."""
    two_sided: ClassVar[bool]
    """Whether columns may be negated."""

    level: ClassVar[Literal["exact", "enclosed"]] = "exact"
    linear: ClassVar[bool] = True

    @cached_property
    def scale(self) -> float:
        """The radius, as a double."""
        return float(self.radius)

    @abstractmethod
    def prices(self, edges: Vector) -> Vector:
        """Return what each column is worth to the w player, up to the factor `scale`."""

    @abstractmethod
    def pick(self, edges: Vector) -> tuple[int, int]:
        """Return (index, sign) of the best atom, the lowest index among equals; sign 0 is w = 0."""

    @abstractmethod
    def priced(self, matrix: MarginMatrix, d: Vector, columns: Whole) -> tuple[Best, Vector | None]:
        """Return `best(matrix, d)`, and the edges of some columns where the pass tells them."""

    def spread(self, n: int | None) -> float:
        """Return 1: the largest edge moves as much as the edges do."""
        return 1.0

    def value(self, size: float) -> float:
        return self.scale * size

    def reach(self, n: int | None) -> float:
        """Return the size of the atoms, since entries of A are at most 1."""
        return self.scale


@dataclass(frozen=True, repr=False)
class L1Ball(AtomicSet):
    """‖w‖_1 <= radius: every hypothesis may be used or negated. g(v) = radius · ‖v‖_inf.

    With radius 1, the default of `Game`, this is the game of SS09. With f = 0 the value scales
    with the radius.

    Parameters
    ----------
    radius : int, float or Fraction
        Above 0, kept exactly.

    Raises
    ------
    InputError
        If `radius` is not a number in [1e-100, 1e100].

    References
    ----------
    Shalev-Shwartz & Singer (2009), Definition 6 and Thm 3; Sec. 6 for other radii.

    Examples
    --------
    >>> import relaxboost as rb
    >>> rb.exact_value(rb.Game([[-1, 0], [0, -1]], over=rb.L1Ball(2)))
    Fraction(1, 1)
    """

    radius: Any = 1

    kinds: ClassVar[tuple[str, str]] = "l1-ball", "l1"
    two_sided: ClassVar[bool] = True

    def prices(self, edges: Vector) -> Vector:
        return np.abs(edges)

    def pick(self, edges: Vector) -> tuple[int, int]:
        j, edge = kernels.first_largest(edges)
        return j, -1 if edge < 0 else 1

    def best(self, matrix: MarginMatrix, d: Vector) -> Best:
        """Return the answer of the matrix' own weak learner."""
        return matrix.best(d)

    def priced(self, matrix: MarginMatrix, d: Vector, columns: Whole) -> tuple[Best, Vector | None]:
        return matrix.priced(d, columns)

    def value_above(self, size: float) -> float:
        """Return radius · size, rounded up; `size` is not negative."""
        return size if self.radius == 1 else up(float_up(self.radius) * size)

    def repair(self, coefficients: Vector) -> Vector:
        return scaled_into(coefficients, self.scale)

    def exact_weights(self, coefficients: Sequence[float]) -> list[Fraction]:
        """Return the weights in fractions, what is too much taken from the largest."""
        return exactly_into(coefficients, self.radius)

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


def scaled_into(coefficients: Vector, radius: float) -> Vector:
    """Return the weights, scaled to an l1 norm of `radius` if theirs is larger."""
    largest = float(np.abs(coefficients).max(initial=0.0))
    if largest > radius:  # so that the norm cannot overflow
        coefficients = coefficients / largest * radius
    norm = float(np.abs(coefficients).sum())
    if norm > radius * (1.0 + 8.0 * UNIT):  # the bound accounts for what is left above
        coefficients = coefficients / (norm / radius)
    return coefficients


def exactly_into(coefficients: Sequence[float], radius: Fraction) -> list[Fraction]:
    """Return the weights in fractions of l1 norm `radius` at most, cutting from the largest."""
    exact = [int(Fraction(c) * BELOW) for c in coefficients]
    excess = sum(map(abs, exact)) - int(Fraction(radius) * BELOW)
    for i in sorted(range(len(exact)), key=lambda i: -abs(exact[i])) if excess > 0 else ():
        taken = min(abs(exact[i]), excess)
        exact[i], excess = exact[i] - (taken if exact[i] > 0 else -taken), excess - taken
    return [Fraction(c, BELOW) for c in exact]
