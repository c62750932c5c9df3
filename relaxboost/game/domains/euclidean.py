"""Euclidean weight domains: the l2 ball, and the squared norm as a penalty."""

from __future__ import annotations

import math
import sys
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.lazy import cp
from relaxboost._core.rounding import UNIT, float_down, float_up, norm_above, sum_bounds, up
from relaxboost.game.domains.base import WEIGHT_BITS, Dense, Domain, Sized
from relaxboost.matrices import MarginMatrix


class EuclideanSet(Domain):
    """A base class of domains defined by the Euclidean norm of the weights.

    The support function depends on the edges v only through N(v) = ‖v‖_2. The best response to a
    distribution d is dense, because it is proportional to Aᵀd.
    """

    linear: ClassVar[bool] = False

    @abstractmethod
    def answer(self, edges: Vector, size: float) -> Vector:
        """Return the weights w that maximise <v, w> − g*(w) for edges v of norm `size`."""

    @abstractmethod
    def smoothed_answer(self, tol: float) -> tuple[float, float, float]:
        """Return three numbers (a, b, c) that define the smoothed best response to edges.

        The smoothed best response to edges v is v · a / sqrt(b ‖v‖_2² + c) with c > 0. It is the
        gradient of a smooth function of v whose values lie between g(v) and g(v) + tol/2.
        """

    def edge_size(self, edges: Vector) -> float:
        """Return the Euclidean norm of the edges, rounded upwards."""
        return norm_above(edges)

    def bend(self, w: Vector, change: Vector) -> tuple[float, float]:
        """Return (a, b) with g*(w + η·change) = g*(w) + aη + bη²/2 for every step η.

        Both numbers are 0 for a set.
        """
        return 0.0, 0.0

    def best(self, matrix: MarginMatrix, d: Vector) -> Dense:
        edges = matrix.edges(d)
        size = self.edge_size(edges)
        return Dense(self.answer(edges, size), size)

    def spread(self, n: int | None) -> float:
        assert n is not None
        return up(math.sqrt(n))


@dataclass(frozen=True, repr=False)
class L2Ball(Sized, EuclideanSet):
    """The l2 ball ‖w‖_2 <= radius, with the support function g(v) = radius · ‖v‖_2.

    If f = 0, the value is the radius times the distance from the origin to the convex hull of the
    rows of A. For separable data, this distance is the margin of a bias-free support vector
    machine.

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
    Shalev-Shwartz & Singer (2009), Sec. 6.

    Examples
    --------
    >>> import relaxboost as rb
    >>> vote = rb.solve(rb.Game([[1, 0], [0, 1]], over=rb.L2Ball(1)), tol=1e-6)
    >>> round(vote.lower, 4)  # the distance of the hull of the rows from the origin
    0.7071
    """

    radius: Any = 1

    kinds: ClassVar[tuple[str, str]] = "l2-ball", "l2"
    level: ClassVar[Literal["exact", "enclosed"]] = "enclosed"

    def answer(self, edges: Vector, size: float) -> Vector:
        return edges / size * float(self.radius) if size > 0.0 else np.zeros_like(edges)

    def smoothed_answer(self, tol: float) -> tuple[float, float, float]:
        # The response is the gradient of radius · sqrt(‖v‖_2² + δ²) with radius · δ = tol/2.
        radius = float(self.radius)
        # The limits keep the square of δ in the range of doubles.
        delta = min(max(0.5 * tol / radius, 1e-150), 1e150)
        return radius, 1.0, delta * delta

    def value(self, size: float) -> float:
        return float(self.radius) * size

    def value_above(self, size: float) -> float:
        return up(float_up(self.radius) * size)

    def reach(self, n: int | None) -> float:
        # The norms of the rows of A are at most √n.
        return float(self.radius) * self.spread(n)

    def repair(self, coefficients: Vector) -> Vector:
        radius = float(self.radius)
        largest = float(np.abs(coefficients).max(initial=0.0))
        # The weights are scaled first by their largest entry, so that the norm cannot overflow.
        if largest > radius:
            coefficients = coefficients / largest * radius
        norm = norm_above(coefficients)
        # A tiny excess of the norm is allowed, because `cost_above` accounts for it.
        if norm > radius * (1.0 + 16.0 * UNIT):
            coefficients = coefficients / norm * radius
        return coefficients

    def exact_weights(self, coefficients: Sequence[float]) -> list[Fraction]:
        unit = self.weight_denominator
        exact = [int(Fraction(c) * unit) for c in coefficients]
        limit = (Fraction(self.radius) * unit) ** 2
        while (square := sum(c * c for c in exact)) > limit:
            ratio = Fraction(math.sqrt(float(limit / square))) * (1 - Fraction(1, 2**50))
            exact = [int(c * ratio) for c in exact]
        return [Fraction(c, unit) for c in exact]

    def cost_above(self, coefficients: Vector) -> float:
        # This is the l1 distance (1 − radius/‖w‖_2)‖w‖_1 from w to w scaled into the ball.
        radius = float_down(self.radius)
        excess = up(norm_above(coefficients) - radius)
        if excess <= 0.0:
            return 0.0
        return up(up(excess / radius) * sum_bounds(np.abs(coefficients))[1])

    def cvxpy_support(self, A: Any, d: Any) -> tuple[Any, list[tuple[Any, float]]]:
        v = cp.Variable(A.shape[1], name="v")
        return float(self.radius) * cp.norm2(v), [(A.T @ d == v, 1.0)]

    def cvxpy_cost(self, w: Any) -> tuple[Any, list[Any]]:
        return 0.0, [cp.norm2(w) <= float(self.radius)]


@dataclass(frozen=True, repr=False)
class SquaredNorm(Sized, EuclideanSet):
    """The penalty g*(w) = weight · ‖w‖_2² on the weights w, instead of a constraint.

    The conjugate of g* is g(v) = ‖v‖_2² / (4 weight). The penalty grows faster than the margins, so
    ρ is finite and optimal weights are bounded. If f = 0, the value is r²/(4 weight), where r >= 0
    is the value over `L2Ball(1)`.

    Parameters
    ----------
    weight : int, float or Fraction
        The factor of the penalty, > 0, which is stored exactly.

    Raises
    ------
    InputError
        If `weight` is not a number in [1e-100, 1e100].

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 6.

    Examples
    --------
    >>> import relaxboost as rb
    >>> vote = rb.solve(rb.Game([[1, 0], [0, 1]], over=rb.SquaredNorm(0.5)), tol=1e-6)
    >>> round(vote.lower, 4), vote.w.round(2).tolist()
    (0.25, [0.5, 0.5])
    """

    weight: Any

    size_name: ClassVar[str] = "weight"
    kinds: ClassVar[tuple[str, str]] = "squared-norm", "squared-norm"
    level: ClassVar[Literal["exact", "enclosed"]] = "exact"

    @property
    def weight_denominator(self) -> int:
        # The larger the penalty, the smaller the best weights.
        return 1 << (WEIGHT_BITS + (math.ceil(self.weight) - 1).bit_length())

    def answer(self, edges: Vector, size: float) -> Vector:
        return edges / (2.0 * float(self.weight))

    def smoothed_answer(self, tol: float) -> tuple[float, float, float]:
        # The gradient v / (2 weight) of g is already smooth.
        return 0.5 / float(self.weight), 0.0, 1.0

    def cost(self, w: Vector) -> float:
        return float(self.weight) * float(w @ w)

    def bend(self, w: Vector, change: Vector) -> tuple[float, float]:
        double = 2.0 * float(self.weight)
        return double * float(w @ change), double * float(change @ change)

    def value(self, size: float) -> float:
        return size * size / (4.0 * float(self.weight))

    def value_above(self, size: float) -> float:
        return up(up(size * size) / (4.0 * float_down(self.weight)))

    def reach(self, n: int | None) -> float:
        # A best response is w = Aᵀd / (2 weight), and edges are at most 1 in absolute value.
        assert n is not None
        return n / (2.0 * float(self.weight))

    def repair(self, coefficients: Vector) -> Vector:
        # The sum of the squares of larger weights would overflow.
        limit = math.sqrt(sys.float_info.max) / (1.0 + coefficients.size)
        largest = float(np.abs(coefficients).max(initial=0.0))
        return coefficients / largest * limit if largest > limit else coefficients

    def cost_above(self, coefficients: Vector) -> float:
        norm = norm_above(coefficients)
        return up(float_up(self.weight) * up(norm * norm)) if norm > 0.0 else 0.0

    def rounds_bound(self, spread: float, n: int | None, tol: float, certified: bool) -> float:
        # The bound is of the order 1/tol, up to a logarithm, because the penalty is strongly
        # convex. Let q = weight / (weight + n/(2β)). The initial suboptimality is at most n/(4
        # weight), and each round multiplies it by at most 1 − q. The tested gap is at most the
        # suboptimality divided by q.
        assert n is not None
        weight = float(self.weight)
        # This number is 1/q at β = tol / (2 spread).
        inverse = 1.0 + n * spread / tol / weight
        if not math.isfinite(inverse):
            return math.inf
        tested = tol / 2.0 if certified else tol
        halt = math.log(n / (4.0 * weight)) + math.log(inverse) - math.log(tested)
        return 1.0 + max(1.0, math.ceil(halt * inverse))

    def cvxpy_support(self, A: Any, d: Any) -> tuple[Any, list[tuple[Any, float]]]:
        v = cp.Variable(A.shape[1], name="v")
        return cp.sum_squares(v) / (4.0 * float(self.weight)), [(A.T @ d == v, 1.0)]

    def cvxpy_cost(self, w: Any) -> tuple[Any, list[Any]]:
        return float(self.weight) * cp.sum_squares(w), []
