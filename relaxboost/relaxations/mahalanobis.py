"""The norm ‖Q d‖_2 of Mahalanobis (1936), as a ball and as a penalty.

Since ‖Q d‖ = max over ‖v‖ <= 1 of <Qᵀv, d>, every v in R^r proves a lower bound on the relaxed
margin F:

    F(u) >= min_i (u + Qᵀv)_i − radius ‖v‖           (ball),
    F(u) >= min_i (u + Qᵀv)_i  if ‖v‖ <= weight       (penalty).

For the best v the bound equals F(u). If Q is not diagonal, ‖Q d‖ is in general not monotone
(condition (iii) of SS09 Thm 7). The hinge form of F and Examples 1 and 2 of SS09 are then not
valid, and `check_conditions` finds a counterexample. The bounds above do not need this condition.
"""

from __future__ import annotations

import contextlib
import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from operator import add, mul
from typing import Any, ClassVar, NamedTuple

import numpy as np

from relaxboost._core.arrays import Matrix, Vector
from relaxboost._core.digits import number, vector
from relaxboost._core.errors import InputError
from relaxboost._core.intervals import Interval
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import positive_size, spell
from relaxboost._core.rounding import price, roundoff, up
from relaxboost.relaxations import numerical
from relaxboost.relaxations._projections import mahalanobis
from relaxboost.relaxations._projections.capped import capped_distribution
from relaxboost.relaxations.balls import Ball, fit
from relaxboost.relaxations.base import Traits, as_margins, onto_simplex
from relaxboost.relaxations.cone_bounds import ConeProof
from relaxboost.relaxations.cone_solver import solve_problem
from relaxboost.relaxations.norms import BallOfNorm, PenaltyOfNorm, WithNorm


class EllipsoidWitness(NamedTuple):
    """The threshold γ and the vector v that prove a lower bound on F(u).

    The bound is min_i (u + Qᵀv)_i − f*(Qᵀv), and equals F(u) for the best v.
    """

    gamma: float
    v: Vector


class Mahalanobis(WithNorm):
    """The base class of the ball and the penalty of ‖Q d‖_2."""

    per_example: ClassVar[str] = "a row of Q"

    Q: Any

    def __post_init__(self) -> None:
        kind = type(self).__name__
        name = self.size_name
        try:
            given = np.asarray(self.Q)
        except ValueError as error:
            raise InputError(f"{kind} needs Q to be a matrix of numbers: {error}") from None
        if given.dtype.kind not in "iuf" or given.ndim != 2 or 0 in given.shape:
            raise InputError(f"{kind} needs Q to be a matrix of numbers with m columns")
        # The comparison is false for nan. Squares of larger entries could overflow.
        if not np.abs(given).max() <= 1e100:
            raise InputError(
                f"{kind} needs finite entries of Q in [-1e100, 1e100]; rescale Q and the {name}"
            )
        rows = tuple(tuple(row) for row in given.astype(np.float64).tolist())
        object.__setattr__(self, "Q", rows)
        object.__setattr__(self, name, positive_size(kind, name, self.bound))

    def __repr__(self) -> str:
        r, m = self.matrix.shape
        Q = [list(row) for row in self.Q] if r * m <= 16 else f"<{r} x {m} matrix>"
        return f"{type(self).__name__}({Q}, {self.size_name}={spell(self.bound)})"

    @cached_property
    def matrix(self) -> Matrix:
        """The matrix Q, with one column for each example."""
        return np.array(self.Q)

    @property
    def _fixed_m(self) -> int | None:
        return self.matrix.shape[1]

    @property
    def traits(self) -> Traits:
        # ‖Q d‖ depends on the |d_i| alone and grows with them if and only if QᵀQ is diagonal.
        gram = self.matrix.T @ self.matrix
        diagonal = not np.any(gram - np.diag(np.diag(gram)))
        return Traits(monotone=diagonal, zero_minimum=True, zero_in_core=True)

    def gauge(self, d: Interval) -> Interval:
        return _product(self.matrix, d).square().sum().sqrt()

    def size(self, d: Vector) -> float:
        return float(np.linalg.norm(self.matrix @ d))

    @property
    def limit(self) -> float:
        """The radius of the ball, or the weight of the penalty, as a double."""
        return float(self.bound)

    @property
    def _norm(self) -> mahalanobis.NormLimit:
        return mahalanobis.NormLimit(self.matrix, self.limit, isinstance(self, Ball))

    def _sharp(self, u: Vector) -> tuple[Vector, float, Vector]:
        """Return the minimiser d, the threshold γ and the vector v for F(u).

        They satisfy u + Qᵀv >= γ, with equality wherever d > 0.
        """
        # `relaxed_margin` and `witness` need the same solution, so it is kept.
        u = as_margins(u, self)
        programs = numerical.programs(self, u.size)
        found: tuple[Vector, float, Vector] | None = programs.known("sharp", u)
        if found is None:
            is_ball = isinstance(self, Ball)
            found = self._sharpest_in_ball(u) if is_ball else self._sharpened(u, *self._roughly(u))
            programs.keep("sharp", u, found)
        return found

    def _sharpest_in_ball(self, u: Vector) -> tuple[Vector, float, Vector]:
        """Return d, γ and v for F(u) under a ball. If the ball is slack, v is zero."""
        none = np.zeros(self.matrix.shape[0])
        # All d of the ball have the same value.
        if u.min() == u.max():
            return self.center(u.size), float(u[0]), none
        d, gamma, x = self._roughly(u)
        if self._is_inside(d):
            d, gamma, x = self._separate_ties(u, d, gamma, x)
        if not self._is_inside(d):
            return self._sharpened(u, d, gamma, x)
        # The solver spreads a little weight over all examples. If a vertex with the least margin is
        # in the ball, this vertex is a minimiser.
        i = int(np.argmin(u + 1e-9 * (d <= 0.5 * d.max())))
        vertex = np.eye(u.size)[i]
        if u[i] == u.min() and self.size(vertex) <= self.limit:
            return vertex, float(u[i]), none
        # In a small ball, a d at the boundary is inside by the tolerance of the solver. If the
        # multiplier v proves more than v = 0, the ball is active.
        sharp = self._sharpened(u, d, gamma, x)
        proved = self.lower_bound(u, EllipsoidWitness(*sharp[1:]))
        return sharp if proved > u.min() else (d, gamma, none)

    def _sharpened(
        self, u: Vector, d: Vector, gamma: float, x: Vector
    ) -> tuple[Vector, float, Vector]:
        """Refine the result (d, γ, x) of `_roughly` by Newton's method, and return d, γ and v.

        The relaxation is a penalty, or a ball whose constraint is active.
        """
        size = self.size(d)
        is_ball = isinstance(self, Ball)
        # At the kink of the norm, Q d = 0, the multiplier λ is unbounded.
        if size > 1e-9 * self._largest:
            # At the minimiser d, x = γ − u + slack is λ QᵀQ d.
            multiplier = max(0.0, float(d @ x)) / size**2 if is_ball else self.limit / size
            sharp = mahalanobis.sharpen(self._norm, u, d, gamma, multiplier)
            if sharp is not None:
                return sharp[0], sharp[1], sharp[2] * (self.matrix @ sharp[0])
        # Otherwise v comes from the x of the cone solver and is shrunk until it is feasible.
        v = self._shortest(x)
        length = float(np.linalg.norm(v))
        if length > self.limit and not is_ball:
            v = v * (self.limit / length)
        return d, gamma, v

    def _roughly(self, u: Vector) -> tuple[Vector, float, Vector]:
        """Return a cone solver's minimiser d, threshold γ, and subgradient x >= γ − u of f at d."""
        unit, scale = self._unit
        _, d, gamma, x = numerical.programs(unit, u.size).margin(u / scale)
        return onto_simplex(d, type(self).__name__), gamma * scale, x * scale

    def _is_inside(self, d: Vector) -> bool:
        return self.size(d) < self.limit * (1.0 - 1e-7)

    def _separate_ties(
        self, u: Vector, d: Vector, gamma: float, x: Vector
    ) -> tuple[Vector, float, Vector]:
        """Refine the result (d, γ, x) of `_roughly` by solving for the margins (u − min u) / s.

        The scale s is <d, u> − min u. If s is too small, the given (d, γ, x) is returned.
        """
        # A cone solver cannot separate margins whose differences are far below 1.
        least = float(u.min())
        unit = float(d @ u) - least
        if not unit > 1e-10 * float(np.abs(u).max()):
            return d, gamma, x
        # By Markov's inequality margins above 1000 units have at most a thousandth of the weight.
        d, gamma, x = self._roughly(np.minimum((u - least) / unit, 1e3))
        return d, least + unit * gamma, unit * x

    @cached_property
    def _unit(self) -> tuple[Mahalanobis, float]:
        """The relaxation, scaled for a cone solver, and the factor by which it was divided."""
        scale = self.limit * self._largest
        if isinstance(self, Ball) or price(scale) == 1.0:
            return self, 1.0
        return MahalanobisPenalty(self.Q, self.limit / scale), scale

    def _shortest(self, x: Vector) -> Vector:
        """Return the shortest v with Qᵀ v = x, or else the shortest least-squares solution."""
        Q = self.matrix
        # A square system that is well conditioned is solved to rounding.
        if Q.shape[0] == Q.shape[1]:
            with contextlib.suppress(np.linalg.LinAlgError):
                v = np.linalg.solve(Q.T, x)
                if np.max(np.abs(Q.T @ v - x)) <= 1e-14 * np.max(np.abs(x)):
                    return np.asarray(v)
        return np.asarray(np.linalg.lstsq(Q.T, x, rcond=None)[0])

    @cached_property
    def _largest(self) -> float:
        """The largest norm ‖Q d‖ of a point d of the simplex."""
        return float(np.max(np.linalg.norm(self.matrix, axis=0)))

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        d = self.repair(self._sharp(u)[0])
        return float(d @ np.asarray(u)) + self.penalty(d), d

    @property
    def _asks_solver(self) -> bool:
        return True

    def _distribution(self, u: Vector, beta: float) -> Vector:
        # Newton's method refines the result of a cone solver.
        unit, scale = self._unit
        d = numerical.programs(unit, u.size).distribution(u / scale, beta / scale)
        d = self.repair(d)
        # Newton's method fails at the kink of the norm, Q d = 0.
        if u.size == 1 or self.size(d) <= 1e-9 * self._largest:
            return d
        if isinstance(self, Ball):
            free = capped_distribution(u, beta)
            if self.size(free) <= self.limit:
                return free
        sharp = mahalanobis.sharpen_smoothed(self._norm, u, beta, d)
        return d if sharp is None else self.repair(sharp)

    def witness(self, u: Vector) -> EllipsoidWitness:
        _, gamma, v = self._sharp(u)
        return EllipsoidWitness(gamma, v)

    def near_witness(self, u: Vector, proof: ConeProof) -> EllipsoidWitness:
        # v is the multiplier of the cone constraint on Q d.
        v = np.asarray(proof.y[-self.matrix.shape[0] :]) / -self._scaled[1]
        return EllipsoidWitness(float((u + self.matrix.T @ v).min()), v)

    def describe_norm(self) -> dict[str, Any]:
        return {"kind": "ellipsoid", "matrix": [vector(row) for row in self.Q]}

    def describe_witness(self, found: EllipsoidWitness, u: Sequence[Fraction]) -> dict[str, Any]:
        v = self._allowed([Fraction(y) for y in np.asarray(found.v).tolist()])
        columns = zip(*([Fraction(q) for q in row] for row in self.Q), strict=True)
        x = [sum(map(mul, column, v), Fraction(0)) for column in columns]
        return {"gamma": number(min(map(add, u, x))), "x": vector(x), "v": vector(v)}

    def _allowed(self, v: list[Fraction]) -> list[Fraction]:
        """Return v, or if f*(Qᵀ v) is infinite, a multiple of v for which it is finite."""
        return v

    def lower_bound(self, u: Vector, witness: EllipsoidWitness) -> float:
        v = np.asarray(witness.v, dtype=np.float64)
        if v.shape != (len(self.matrix),) or not np.isfinite(v).all():
            return -math.inf
        length = Interval(v).square().sum().sqrt()
        margins = Interval(np.asarray(u, dtype=np.float64)) + _product(self.matrix.T, Interval(v))
        return (margins.min() - self._cost(length)).down

    @abstractmethod
    def _cost(self, length: Interval) -> Interval:
        """Return an interval whose upper end bounds <Qᵀv, d> − f(d) for all distributions d.

        The interval `length` contains the norm ‖v‖.
        """

    def dual_size(self, theta: Vector) -> float:
        """Return the smallest norm ‖v‖ with Qᵀ v = θ, or inf if the equation has no solution."""
        theta = np.asarray(theta, dtype=np.float64)
        v = self._shortest(theta)
        miss = float(np.max(np.abs(self.matrix.T @ v - theta)))
        largest = float(np.max(np.abs(theta)))
        return float(np.linalg.norm(v)) if miss <= 1e-12 * largest else math.inf

    @cached_property
    def _scaled(self) -> tuple[Matrix, float]:
        """The matrix Q divided by a number, and this number.

        The number is 1 unless the largest column norm of Q is huge or tiny.
        """
        size = self._largest
        if size == 0.0 or price(size) == price(1.0 / size) == 1.0:
            return self.matrix, 1.0
        return self.matrix / size, size

    def cvxpy_dual(self, x: Any) -> tuple[Any, list[Any]]:
        Q, size = self._scaled
        v = cp.Variable(len(Q))
        return cp.norm2(v) / size, [Q.T @ v == x]

    def cvxpy_norm(self, d: Any) -> Any:
        Q, size = self._scaled
        return size * cp.norm2(Q @ d)


def _product(matrix: Matrix, x: Interval) -> Interval:
    middle = 0.5 * (x.lower + x.upper)
    width = np.nextafter(np.maximum(x.upper - middle, middle - x.lower), np.inf)
    value = matrix @ middle
    size = np.abs(matrix)
    # The roundings of the product, and the width of x. Both sums are rounded themselves.
    slack = up(roundoff(matrix.shape[1] + 2)) * (size @ np.abs(middle)) + size @ width
    slack = slack * (1.0 + 4.0 * roundoff(matrix.shape[1] + 2)) + 1e-300
    return Interval(np.nextafter(value - slack, -np.inf), np.nextafter(value + slack, np.inf))


@dataclass(frozen=True, repr=False)
class MahalanobisPenalty(Mahalanobis, PenaltyOfNorm):
    """The penalty f(d) = weight · ‖Q d‖_2.

    The conjugate f* is the indicator of {Qᵀ v: ‖v‖ <= weight}. A cone solver computes
    distributions, which takes a few milliseconds for m = 200. The bounds are rigorous.

    Parameters
    ----------
    Q : array of shape (r, m)
        A matrix with entries in [-1e100, 1e100] and one column for each example. If Q is injective,
        f is a norm.
    weight : int, float or Fraction
        The factor c of the norm, in [1e-100, 1e100].

    References
    ----------
    Shalev-Shwartz & Singer (2009), Example 2, whose formula is wrong for most of these norms.
    """

    family = "relaxboost.MahalanobisPenalty"

    Q: Any
    weight: Any

    def _cost(self, length: Interval) -> Interval:
        # <Qᵀv, d> is at most ‖v‖ ‖Qd‖, and ‖Qd‖ at most the largest ‖Q e_i‖.
        return (length - Interval(self.weight)).positive() * self._longest

    @cached_property
    def _longest(self) -> float:
        """The largest norm ‖Q e_i‖ of a column of Q, rounded upwards."""
        square = float(np.square(self.matrix).sum(axis=0).max())
        # The last term is the loss of all squares together by underflow.
        most = square * (1.0 + 2.0 * roundoff(len(self.matrix) + 2)) + len(self.matrix) * 2.0**-1074
        return Interval(0.0, up(up(most))).sqrt().up

    def lipschitz(self, m: int) -> float:
        return (Interval(self.weight) * self._longest).up

    def _allowed(self, v: list[Fraction]) -> list[Fraction]:
        square = sum(x * x for x in v) / self.weight**2
        if square <= 1:
            return v
        # The last factor leaves room for the rounding errors of the checker.
        unit = 2**120
        quotient = Fraction(math.isqrt(math.ceil(square * unit**2)) + 1, unit)
        return [x / (quotient * (1 + Fraction(1, unit))) for x in v]


@dataclass(frozen=True, repr=False)
class MahalanobisBall(Mahalanobis, BallOfNorm):
    """The indicator of ‖Q d‖_2 <= radius.

    The conjugate is f*(θ) = radius · min ‖v‖ over the v with Qᵀ v = θ.

    Parameters
    ----------
    Q : array of shape (r, m)
        A matrix with entries in [-1e100, 1e100] and one column for each example. If Q is injective,
        ‖Q d‖_2 is a norm.
    radius : int, float or Fraction
        The radius of the ball, in [1e-100, 1e100]. The ball must meet the simplex.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Example 1, whose formula is wrong for most of these norms.
    """

    family = "relaxboost.MahalanobisBall"

    Q: Any
    radius: Any

    def resolve(self, m: int) -> MahalanobisBall:
        super().resolve(m)
        least = self.size(self.center(m))
        radius = fit(self, self.radius, least) if least > 0.0 else self.radius
        return self if radius == self.radius else MahalanobisBall(self.matrix, radius)

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        Q, size = self._scaled
        return 0.0, [cp.norm2(Q @ d) <= float(self.radius) / size]

    @cached_property
    def _flattest(self) -> Vector:
        # The solver minimises the square for a Q of size one, which is a well scaled problem.
        d = cp.Variable(self.matrix.shape[1], nonneg=True)
        scaled = self.matrix / self._largest if self._largest > 0.0 else self.matrix
        problem = cp.Problem(cp.Minimize(cp.sum_squares(scaled @ d)), [cp.sum(d) == 1])
        solve_problem(problem)
        if d.value is None:
            raise InputError(
                f"{self!r}: the solver failed to minimise the norm over the simplex; "
                "rescale Q and the radius"
            )
        flat = onto_simplex(d.value, "MahalanobisBall")
        # On its support, the solution is proportional to the x that minimises ‖Q x‖² + (Σx − 1)².
        # The x nearest to the point of the solver is taken. An entry below 0 leaves the support.
        better = np.where(flat > 1e-5 * flat.max(), flat, 0.0)
        lines = np.vstack([scaled, np.ones(flat.size)])
        target = np.append(np.zeros(len(scaled)), 1.0)
        while better.any():
            support = better > 0.0
            part = lines[:, support]
            miss = target - part @ better[support]
            better[support] += np.linalg.lstsq(part, miss, rcond=1e-14)[0]
            if better.min() >= 0.0:
                break
            better = np.maximum(better, 0.0)
        better /= max(better.sum(), 1e-300)
        return better if better.any() and self.size(better) <= self.size(flat) else flat

    def center(self, m: int) -> Vector:
        return self._flattest.copy()

    def _cost(self, length: Interval) -> Interval:
        return length * Interval(self.radius)
