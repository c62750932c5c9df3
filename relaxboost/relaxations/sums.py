"""Sums f1 + f2 of two relaxations."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError, SolverError
from relaxboost._core.intervals import Interval
from relaxboost._core.lazy import cp
from relaxboost._core.rounding import sum_bounds, up
from relaxboost.relaxations import numerical
from relaxboost.relaxations.base import (
    Relaxation,
    Traits,
    as_margins,
    asks_solver,
    makes,
    needs_solver,
    onto_simplex,
)
from relaxboost.relaxations.bounds import Bounds, NumericalBounds, bounds_of
from relaxboost.relaxations.cone_solver import POINT_ACCURACY, SOLVED, solve_problem
from relaxboost.relaxations.description import Description, description_of
from relaxboost.relaxations.exact_points import Groups
from relaxboost.relaxations.kl import KLPenalty
from relaxboost.relaxations.linear import ExactForm, LinearForm
from relaxboost.relaxations.multiples import Scaled
from relaxboost.relaxations.own import check_returns, has_own_class


class SumWitness(NamedTuple):
    """A split of the margins u into v and u − v, which proves a lower bound on F(u).

    The other fields prove bounds on the terms: f1 at v, and f2 at u − v.
    """

    gamma: float
    v: Vector
    first: Any
    second: Any


@makes("add")
def add(first: Relaxation, second: Relaxation) -> Relaxation:
    """Return the sum of two relaxations, a `Sum` unless a family represents the sum."""
    folded = first._plus(second)
    if folded is None:
        folded = second._plus(first)
    return Sum(first, second) if folded is None else folded


def _entropy(f: Relaxation) -> float:
    """Return c if f is c times the relative entropy to the uniform prior, or else 0."""
    c, of = (f.c, f.f) if isinstance(f, Scaled) else (1, f)
    plain = not has_own_class(of)
    weight = c * of.weight if plain and isinstance(of, KLPenalty) and of.prior is None else 0
    # A multiple of a `KLPenalty` may exceed 1e100, the largest weight of this class.
    return float(weight) if weight <= 1e100 else 0.0


def split(total: Any, u: Vector) -> Vector:
    """Return the margins v that maximise F1(v) + F2(u − v) for the sum `total` of f1 and f2."""
    # The program minimises <u, d1> + f1(d1) + f2(d2) over two copies d1, d2 of d. Let λ be the
    # multipliers of d1 = d2. Then v is u + λ: the minimum of <u + λ, d1> + f1(d1) over the simplex
    # is F1(u + λ), and F2(−λ) is at least the minimum of f2(d2) − <λ, d2> over R^m.
    cache = vars(total).setdefault("_programs", {})
    m = len(u)
    if ("split", m) not in cache:
        d1 = cp.Variable(m)
        d2 = cp.Variable(m)
        margins = cp.Parameter(m)
        first, constraints = total.first.cvxpy_penalty(d1)
        second, more = total.second.cvxpy_penalty(d2)
        equal = d1 == d2
        goal = cp.Minimize(margins @ d1 + first + second)
        problem = cp.Problem(goal, [equal, cp.sum(d1) == 1, d1 >= 0, *constraints, *more])
        cache["split", m] = problem, margins, equal
    problem, margins, equal = cache["split", m]
    margins.value = u
    status, _ = solve_problem(problem)
    if status not in SOLVED:
        raise SolverError(
            f"cvxpy ended with status {status} for the relaxed margin F(u) of {total!r}"
        )
    return u + np.asarray(equal.dual_value)


class _BoundsOfSum(Relaxation, Bounds):
    first: Relaxation
    second: Relaxation
    _proved: bool

    @property
    def is_proved(self) -> bool:
        return self._proved and self._has_proved_terms

    @property
    def _has_proved_terms(self) -> bool:
        return all(f.is_proved for f in self._bounds)

    @property
    def _bounds(self) -> tuple[Bounds, Bounds]:
        return bounds_of(self.first), bounds_of(self.second)

    def witness(self, u: Vector) -> SumWitness:
        u = as_margins(u, self)
        found = self._softened(u)
        try:
            v = split(self, u) if found is None else found[1]
        except SolverError:
            v = u  # Every splitting proves a bound, though a weaker one.
        one, other = self._bounds
        first = one.witness(v)
        second = other.witness(self._rest(u, v))
        return SumWitness(first.gamma + second.gamma, v, first, second)

    def _softened(self, u: Vector) -> tuple[Vector, Vector] | None:
        """Return the minimiser d for F(u) and the best split v, or None if they need a solver."""
        # For f = g + c KL, d is `g.distribution` at β = c. It also minimises <v, d> + g(d) at the
        # margins v = u + c log(m d), by the optimality conditions of d.
        for g, other in (self._operands, self._operands[::-1]):
            c = _entropy(other)
            if c and not needs_solver(g):
                d = g.repair(g._distribution(np.ascontiguousarray(u), c))
                left = c * np.log(np.maximum(u.size * d, 1e-300))
                return d, u + left if g is self.first else -left
        return None

    @staticmethod
    def _rest(u: Vector, v: Vector) -> Vector:
        """Return the margins u − v of the second term, rounded downwards."""
        # F2 is non-decreasing, so a bound at smaller margins is valid too.
        with np.errstate(over="ignore"):
            return (Interval(np.asarray(u, dtype=np.float64)) - v).lower

    def lower_bound(self, u: Vector, witness: SumWitness) -> float:
        if not np.isfinite(witness.v).all():
            return -math.inf
        one, other = self._bounds
        first = one.lower_bound(witness.v, witness.first)
        second = other.lower_bound(self._rest(u, witness.v), witness.second)
        with np.errstate(over="ignore", invalid="ignore"):
            return (Interval(first) + second).down

    def reservation(self, witness: SumWitness, d: Vector) -> str:
        one, other = self._bounds
        said = one.reservation(witness.first, d) or other.reservation(witness.second, d)
        if said or self.is_proved or math.isfinite(self._common(d, sum_bounds(d))[0]):
            return said
        return numerical.programs(self, d.size).unmet(d)

    def entropy_range(self, m: int) -> float:
        return min(f.entropy_range(m) for f in self._bounds)

    def lipschitz(self, m: int) -> float:
        one, other = self._bounds
        return up(one.lipschitz(m) + other.lipschitz(m))

    def _common(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return upper bounds on f1(d') + f2(d') and on ‖d' − d / Σd‖_1 for a d' near d / Σd.

        The first bound is inf if the terms have no bounds at a common point.
        """
        one, other = self._bounds
        a, r = one.penalty_bound(d, total)
        b, s = other.penalty_bound(d, total)
        if r == 0.0 == s:
            return up(a + b), 0.0
        # At the point at distance r where f1 <= a, f2 is at most its bound within distance r.
        return min(
            (up(a + other.penalty_near(d, total, r)), r),
            (up(b + one.penalty_near(d, total, s)), s),
        )

    def penalty_near(self, d: Vector, total: tuple[float, float], distance: float) -> float:
        bounds = [f.penalty_near(d, total, distance) for f in self._bounds]
        return up(bounds[0] + bounds[1])

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        # d' is near d / Σd if the terms have bounds there, and otherwise between d and `center`.
        value, distance = self._common(d, total)
        if math.isfinite(value):
            return value, distance
        if not self.is_proved:
            return NumericalBounds(self).evaluated_bound(d, total)
        center = self.center(d.size)
        # The first shares are roundings of d, and the last one is the center.
        for exponent in range(-50, 1, 2):
            point = np.maximum(d + 2.0**exponent * (center - d), 0.0)
            around = sum_bounds(point)
            value, distance = self._common(point, around)
            if math.isfinite(value):
                moved = Interval(d) / Interval(*total) - Interval(point) / Interval(*around)
                return value, up(distance + moved.abs().sum().up)
        return math.inf, 0.0


class _DescriptionOfSum(Description):
    first: Relaxation
    second: Relaxation

    @property
    def _descriptions(self) -> tuple[Description, Description]:
        return description_of(self.first), description_of(self.second)

    def exact_form(self, m: int) -> ExactForm | None:
        first, second = (of.exact_form(m) for of in self._descriptions)
        return None if first is None or second is None else first.plus(second, m)

    def linear_form(self, m: int) -> LinearForm | None:
        first, second = (of.linear_form(m) for of in self._descriptions)
        if first is None or second is None:
            return None
        return first.exactly().plus(second.exactly(), m).doubles()

    def describe(self, m: int) -> dict[str, Any] | None:
        first, second = (of.describe(m) for of in self._descriptions)
        if first is None or second is None:
            return None
        either = "polyhedral" in (first["kind"], second["kind"])
        whole = super().describe(m) if either else None
        return whole or {"kind": "sum", "first": first, "second": second}

    def exact_caps(self, m: int) -> list[Groups]:
        return [group for of in self._descriptions for group in of.exact_caps(m)]


@dataclass(frozen=True, repr=False)
class Sum(_BoundsOfSum, _DescriptionOfSum):
    """The sum of two relaxations, written ``f1 + f2``.

    The relaxed margin satisfies F(u) >= F1(v) + F2(u − v) for every v, with equality for the best
    v. Each split of the margins u into v and u − v therefore proves a lower bound. The proof level
    is the weaker level of the two terms. cvxpy computes distributions. It also computes F, unless
    one term is a relative entropy to the uniform prior and the other term needs no solver for its
    distributions. The conjugate is the infimal convolution of f1* and f2*.

    An upper bound requires a point near d, or between d and `center(m)`, where *both* terms have
    proved bounds. If no such point exists, the level is numerical.
    """

    family = "relaxboost.Sum"

    first: Relaxation
    second: Relaxation
    _proved: bool = field(default=True, compare=False, repr=False)

    def __repr__(self) -> str:
        return f"({self.first!r} + {self.second!r})"

    def key(self) -> str:
        return f"{self.family}({self.first.key()}, {self.second.key()})"

    @property
    def _operands(self) -> tuple[Relaxation, ...]:
        return self.first, self.second

    @property
    def traits(self) -> Traits:
        a = self.first.traits
        b = self.second.traits
        monotone = a.monotone and b.monotone
        return Traits(
            polyhedral=a.polyhedral and b.polyhedral,
            # One strongly convex term is enough.
            smooth=a.smooth or b.smooth,
            monotone=monotone,
            symmetric=a.symmetric and b.symmetric,
            # Monotone terms have their minima at d = 0. Other terms may have them at two points.
            zero_minimum=a.zero_minimum and b.zero_minimum and monotone,
            zero_in_core=a.zero_in_core and b.zero_in_core,
        )

    def resolve(self, m: int) -> Relaxation:
        both = self._bind(m)
        if not isinstance(both, Sum):
            return both.resolve(m)
        check_returns(both, m)
        center = both.center(m)
        bound, _ = both.penalty_bound(center, sum_bounds(center))
        return both if math.isfinite(bound) else replace(both, _proved=False)

    def _bind(self, m: int) -> Relaxation:
        return add(self.first._bind(m), self.second._bind(m))

    @property
    def _needs_solver(self) -> bool:
        return True

    @property
    def _asks_solver(self) -> bool:
        # With an entropy, `relaxed_margin` needs only distributions of the other term.
        pairs = self._operands, self._operands[::-1]
        return not any(_entropy(other) and not asks_solver(g) for g, other in pairs)

    def penalty(self, d: Vector) -> float:
        return self.first.penalty(d) + self.second.penalty(d)

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        u = as_margins(u, self)
        found = self._softened(u)
        if found is None:
            return super().relaxed_margin(u)
        return math.fsum((found[0] * u).tolist()) + self.penalty(found[0]), found[0]

    def _distribution(self, u: Vector, beta: float) -> Vector:
        # The domain has one point. The default β is then so large that a solver cannot scale it.
        if self.entropy_range(u.size) == 0.0:
            return self.center(u.size)
        return super()._distribution(u, beta)

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        first, some = self.first.cvxpy_penalty(d)
        second, more = self.second.cvxpy_penalty(d)
        return first + second, [*some, *more]

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        # The conjugate of the sum is the minimum of f1*(y) + f2*(x − y) over y.
        y = cp.Variable(x.shape[0])
        first, some = self.first.cvxpy_conjugate(y)
        second, more = self.second.cvxpy_conjugate(x - y)
        return first + second, [*some, *more]

    def cvxpy_relaxed_margin(self, u: Any, gamma: Any) -> tuple[Any, list[Any]]:
        # F(u) is the largest F1(v) + F2(u − v) over v.
        v = cp.Variable(u.shape[0], name="v")
        part = cp.Variable()  # This is the part of the threshold γ for the second term.
        first, some = self.first.cvxpy_relaxed_margin(v, gamma - part)
        second, more = self.second.cvxpy_relaxed_margin(u - v, part)
        return first + second, [*some, *more]

    def center(self, m: int) -> Vector:
        programs = numerical.programs(self, m)
        if programs.center is None:
            programs.center = self._find_center(m)
        return programs.center.copy()

    def _find_center(self, m: int) -> Vector:
        one = self.first.center(m)
        other = self.second.center(m)
        tries = [one, other, 0.5 * (one + other), np.full(m, 1.0 / m)]
        found = self._bounded(tries, 0.0)
        # The domain should contain all points near the center, up to the accuracy of solvers.
        roomy = [
            d for d in found if math.isfinite(self.penalty_near(d, sum_bounds(d), POINT_ACCURACY))
        ]
        # Points between d and a center at the boundary of the domain may have no bounds either.
        if not roomy and self._has_proved_terms:
            # Solvers raise this error if they find no point inside.
            with contextlib.suppress(InputError):
                tries += numerical.programs(self, m).inside
            roomy = self._bounded(tries[4:], 0.0)[:1]
        # Roundings may keep a center from being in the domain exactly.
        found = roomy or found or self._bounded(tries, 1e-12)
        found = found or [d for d in tries if math.isfinite(self.penalty(d))]
        return found[0] if found else numerical.programs(self, m).interior

    def _bounded(self, points: list[Vector], within: float) -> list[Vector]:
        """Return those `points` with upper bounds on both terms within the l1 distance `within`."""
        found = []
        for d in points:
            value, apart = self._common(d, sum_bounds(d))
            if math.isfinite(value) and apart <= within:
                found.append(d)
        return found

    def repair(self, d: Vector) -> Vector:
        d = onto_simplex(d, repr(self))
        towards = super().repair(d)
        far = float(np.abs(towards - d).sum())
        moved = d
        # If the domain has no interior, the segment to the center may enter it at its end only. If
        # the terms repair the point in turn, they may find a nearer point. If they find none in 30
        # rounds, they rarely find one later.
        for f in 30 * self._operands if far > POINT_ACCURACY else ():
            moved = f.repair(moved)
            if math.isfinite(self.penalty(moved)):
                return moved if float(np.abs(moved - d).sum()) < far else towards
        return towards

    def curvature(self, m: int) -> float:
        return self.first.curvature(m) + self.second.curvature(m)
