"""Weight domains that are polytopes with sparse vertices, such as the l1 ball."""

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
from relaxboost.game.domains.base import Sized
from relaxboost.matrices import Best, MarginMatrix, kernels


class AtomicSet(Sized):
    """A base class of domains that are convex hulls of finitely many atoms.

    An atom is `radius` times a unit vector. Some sets also contain the negated atoms or the zero
    vector. Some optimal weights are sparse.
    """

    radius: Any
    """The radius of the set as an exact number. It is the absolute value of the only nonzero entry
    of an atom."""
    two_sided: ClassVar[bool]
    """Whether hypotheses may have negative weights, as in an l1 ball."""

    level: ClassVar[Literal["exact", "enclosed"]] = "exact"
    linear: ClassVar[bool] = True

    @cached_property
    def scale(self) -> float:
        """The radius of the set as a double."""
        return float(self.radius)

    @abstractmethod
    def prices(self, edges: Vector) -> Vector:
        """Return the price of each column of the margin matrix.

        The price is the edge or, if negative weights are allowed, the absolute edge. The column
        with the largest price is the best one.
        """

    def edge_size(self, edges: Vector) -> float:
        """Return the largest price of a column with the given edges."""
        return float(self.prices(edges).max())

    @abstractmethod
    def pick(self, edges: Vector) -> tuple[int, int]:
        """Return the column index and the sign of the best atom for the given edges.

        Ties go to the first column. The sign 0 stands for the atom w = 0.
        """

    @abstractmethod
    def priced(self, matrix: MarginMatrix, d: Vector, columns: Whole) -> tuple[Best, Vector | None]:
        """Return the best response `best(matrix, d)` and the edges of the given columns.

        The edges are None if the search for the best response does not compute them.
        """

    def spread(self, n: int | None) -> float:
        # The largest edge changes by at most the largest change of an edge.
        return 1.0

    def value(self, size: float) -> float:
        return self.scale * size

    def reach(self, n: int | None) -> float:
        # The entries of A are at most 1 in absolute value.
        return self.scale

    # The following methods hold for sets that contain all weights with an l1 norm of at most the
    # radius, up to the signs that they allow.

    def value_above(self, size: float) -> float:
        return size if self.radius == 1 else up(float_up(self.radius) * size)

    def repair(self, coefficients: Vector) -> Vector:
        largest = float(np.abs(coefficients).max(initial=0.0))
        # The weights are scaled first by their largest entry, so that the norm cannot overflow.
        if largest > self.scale:
            coefficients = coefficients / largest * self.scale
        norm = float(np.abs(coefficients).sum())
        # A tiny excess of the norm is allowed, because `cost_above` accounts for it.
        if norm > self.scale * (1.0 + 8.0 * UNIT):
            coefficients = coefficients / (norm / self.scale)
        return coefficients

    def exact_weights(self, coefficients: Sequence[float]) -> list[Fraction]:
        # If the l1 norm is too large, the largest weights are reduced.
        unit = self.weight_denominator
        exact = [int(Fraction(c) * unit) for c in coefficients]
        excess = sum(map(abs, exact)) - int(Fraction(self.radius) * unit)
        for i in sorted(range(len(exact)), key=lambda i: -abs(exact[i])) if excess > 0 else ():
            taken = min(abs(exact[i]), excess)
            exact[i] -= taken if exact[i] > 0 else -taken
            excess -= taken
        return [Fraction(c, unit) for c in exact]

    def cost_above(self, coefficients: Vector) -> float:
        # This is the l1 distance from w to w scaled to the radius.
        norm = sum_bounds(np.abs(coefficients))[1]
        return max(0.0, up(norm - float_down(self.radius)))


@dataclass(frozen=True, repr=False)
class L1Ball(AtomicSet):
    """The l1 ball ‖w‖_1 <= radius, in which hypotheses may have negative weights.

    The support function is g(v) = radius · ‖v‖_inf. Radius 1 is the default of `Game` and gives the
    game of SS09. If f = 0, the value is proportional to the radius.

    Parameters
    ----------
    radius : int, float or Fraction
        The radius of the ball, > 0, which is stored exactly.

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
        return matrix.best(d)

    def priced(self, matrix: MarginMatrix, d: Vector, columns: Whole) -> tuple[Best, Vector | None]:
        return matrix.priced(d, columns)

    def cvxpy_support(self, A: Any, d: Any) -> tuple[Any, list[tuple[Any, float]]]:
        # The constraints −v <= Aᵀd <= v are linear, so all solvers accept them.
        v = cp.Variable(name="v")
        edges = A.T @ d
        return self.scale * v, [(edges <= v, 1.0), (-edges <= v, -1.0)]

    def cvxpy_cost(self, w: Any) -> tuple[Any, list[Any]]:
        return 0.0, [cp.norm1(w) <= self.scale]

    def check(self, matrix: MarginMatrix) -> None:
        """Accept every matrix, because every weak learner returns a vertex of the l1 ball."""
