"""Domains of non-negative weights: the simplex, and the full simplex, which contains w = 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector, Whole
from relaxboost._core.errors import InputError
from relaxboost._core.lazy import cp
from relaxboost._core.rounding import UNIT, down, float_down, float_up, sum_bounds, up
from relaxboost.game.domains.atoms import AtomicSet
from relaxboost.matrices import Best, MarginMatrix


class OneSided(AtomicSet):
    """A base class of domains without negative weights.

    The size N(v) of edges v is the largest edge, which may be negative.
    """

    two_sided: ClassVar[bool] = False

    def prices(self, edges: Vector) -> Vector:
        return edges

    def best(self, matrix: MarginMatrix, d: Vector) -> Best:
        return self._best(matrix.edges(d))

    def priced(self, matrix: MarginMatrix, d: Vector, columns: Whole) -> tuple[Best, Vector]:
        edges = matrix.edges(d)
        return self._best(edges), edges[columns]

    def _best(self, edges: Vector) -> Best:
        j, sign = self.pick(edges)
        return Best(j, sign, float(edges[j]), 0.0) if sign else Best(0, 0, 0.0, 0.0)


@dataclass(frozen=True, repr=False)
class Simplex(OneSided):
    """The simplex of weights w >= 0 with Σw = radius.

    No hypothesis is negated. The support function is g(v) = radius · max_j v_j. Both g and the
    value ρ may be negative. The game with the matrix [A, −A] over this set has the same value as
    the game with A over `L1Ball(radius)`.

    Parameters
    ----------
    radius : int, float or Fraction
        The sum of the weights, > 0, which is stored exactly. The default 1 gives the probability
        simplex.

    Raises
    ------
    InputError
        If `radius` is not a number in [1e-100, 1e100].

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 2, where the hypotheses are closed under negation;
    Juditsky, Nazin, Tsybakov & Vayatis (2005), Sec. 2, for other radii.

    Examples
    --------
    >>> import relaxboost as rb
    >>> rb.exact_value(rb.Game([[-1, 0], [0, -1]], over=rb.Simplex(1)))
    Fraction(-1, 2)
    """

    radius: Any = 1

    kinds: ClassVar[tuple[str, str]] = "simplex", "simplex"
    holds_zero: ClassVar[bool] = False

    def __repr__(self) -> str:
        return "Simplex()" if self.radius == 1 else super().__repr__()

    def pick(self, edges: Vector) -> tuple[int, int]:
        return int(np.argmax(edges)), 1

    def value_above(self, size: float) -> float:
        if self.radius == 1:
            return size
        return up((float_up if size >= 0.0 else float_down)(self.radius) * size)

    def start(self, matrix: MarginMatrix, d: Vector) -> tuple[NDArray[np.int64], Vector]:
        # The set does not contain w = 0, so a run starts from a single column.
        return np.array([self.best(matrix, d).id], dtype=np.int64), np.array([self.scale])

    def repair(self, coefficients: Vector) -> Vector:
        radius = self.scale
        positive = np.maximum(coefficients, 0.0)
        largest = float(positive.max(initial=0.0))
        if largest <= 0.0:
            raise InputError(
                f"{self!r} cannot repair a w with no positive entry; start from a single column j, "
                f"with w = ([j], [{radius!r}])"
            )
        # After this scaling, the sum can neither overflow nor vanish.
        scaled = positive / largest
        total = float(scaled.sum())
        close = abs(total * largest - radius) <= 8.0 * UNIT * radius
        return positive if close else scaled / total * radius

    def describe(self) -> dict[str, str]:
        return {"kind": "simplex"} if self.radius == 1 else super().describe()

    def exact_weights(self, coefficients: Sequence[float]) -> list[Fraction]:
        # The largest weight is adjusted by the difference of the sum to the radius.
        unit = self.weight_denominator
        exact = [Fraction(max(0, int(Fraction(c) * unit)), unit) for c in coefficients]
        largest = max(range(len(exact)), key=exact.__getitem__)
        exact[largest] += self.radius - sum(exact)
        return exact

    def cost_above(self, coefficients: Vector) -> float:
        # This is |Σw − radius|, the l1 distance from w to w scaled to the radius.
        below, above = sum_bounds(coefficients)
        low, high = float_down(self.radius), float_up(self.radius)
        return max(0.0, up(above - low), up(high - down(below)))

    def cvxpy_support(self, A: Any, d: Any) -> tuple[Any, list[tuple[Any, float]]]:
        v = cp.Variable(name="v")
        return self.scale * v, [(A.T @ d <= v, 1.0)]

    def cvxpy_cost(self, w: Any) -> tuple[Any, list[Any]]:
        return 0.0, [w >= 0, cp.sum(w) == self.scale]

    def key(self) -> str:
        return "simplex" if self.radius == 1 else super().key()


@dataclass(frozen=True, repr=False)
class FullSimplex(OneSided):
    """The full simplex of weights w >= 0 with Σw <= radius.

    The support function is g(v) = radius · max(0, max_j v_j). A game over this set is equivalent to
    a game over `Simplex(radius)` with an additional column of zeros. The game with the matrix
    [A, −A] over this set has the same value as the game with A over `L1Ball(radius)`.

    Parameters
    ----------
    radius : int, float or Fraction
        The maximum sum of the weights, > 0, which is stored exactly.

    Raises
    ------
    InputError
        If `radius` is not a number in [1e-100, 1e100].

    References
    ----------
    Juditsky, Nazin, Tsybakov & Vayatis (2005), Sec. 6.2, the full-dimensional λ-simplex.

    Examples
    --------
    >>> import relaxboost as rb
    >>> rb.exact_value(rb.Game([[-1, 0], [0, -1]], over=rb.FullSimplex(1)))
    Fraction(0, 1)
    """

    radius: Any = 1

    kinds: ClassVar[tuple[str, str]] = "full-simplex", "full-simplex"

    def pick(self, edges: Vector) -> tuple[int, int]:
        j = int(np.argmax(edges))
        return j, int(edges[j] > 0.0)

    def value(self, size: float) -> float:
        return self.scale * max(0.0, size)

    def value_above(self, size: float) -> float:
        return super().value_above(max(0.0, size))

    def repair(self, coefficients: Vector) -> Vector:
        return super().repair(np.maximum(coefficients, 0.0))

    def exact_weights(self, coefficients: Sequence[float]) -> list[Fraction]:
        return super().exact_weights([max(0.0, c) for c in coefficients])

    def cvxpy_support(self, A: Any, d: Any) -> tuple[Any, list[tuple[Any, float]]]:
        v = cp.Variable(name="v", nonneg=True)
        return self.scale * v, [(A.T @ d <= v, 1.0)]

    def cvxpy_cost(self, w: Any) -> tuple[Any, list[Any]]:
        return 0.0, [w >= 0, cp.sum(w) <= self.scale]
