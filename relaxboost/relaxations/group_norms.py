"""Penalty and ball of the group norm Σ_g a_g ‖d_g‖_p over disjoint groups of examples.

The chain rule of the entropy separates the groups. With d_g = s_g p_g, where s is a distribution
over the groups and p_g a distribution within the group g,

    <d, u> + λ Σ a_g ‖d_g‖ + β Σ d log d = Σ s_g [<p_g, u_g> + λ a_g ‖p_g‖ + β Σ p_g log p_g]
                                           + β Σ s_g log s_g.

So p_g is the minimiser for a norm penalty on the group g alone. If V_g is the minimum of the
bracket over p_g, then s is the softmax of −V/β. For the penalty, λ is the weight c of the penalty.
For the ball, λ is the multiplier at which Σ a_g ‖d_g‖ equals the radius r.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.digits import number, vector
from relaxboost._core.errors import InputError
from relaxboost._core.intervals import Interval
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import exact, positive_size, spell
from relaxboost._core.roots import decreasing_root
from relaxboost.relaxations._projections.capped import capped_distribution
from relaxboost.relaxations._projections.group_norm import (
    MIN_BETA_PER_SPREAD,
    Grouping,
    Spreading,
    group_norms,
)
from relaxboost.relaxations._projections.group_norm_margin import Levels
from relaxboost.relaxations.balls import fit
from relaxboost.relaxations.base import Traits, as_margins
from relaxboost.relaxations.bounds import Witness
from relaxboost.relaxations.hard_margin import CAP_TRAITS
from relaxboost.relaxations.norms import BallOfNorm, PenaltyOfNorm, WithNorm
from relaxboost.relaxations.p_norm import check_range, power_norm
from relaxboost.relaxations.vectors import (
    enclose_vector,
    exact_vector,
    positive_vector,
    spell_vector,
)


class GroupNorm(WithNorm):
    """The base class of the penalty and the ball of the group norm Σ_g a_g ‖d_g‖_p."""

    per_example: ClassVar[str] = "groups"

    groups: Any
    p: Any
    factors: Any

    def __post_init__(self) -> None:
        kind = type(self).__name__
        name = self.size_name
        labels = exact_vector(kind, "groups", self.groups)
        count = int(max(labels)) + 1
        # The labels must have no gaps, because they are indices into the factors.
        if any(g.denominator != 1 or g < 0 for g in labels) or len(set(labels)) != count:
            raise InputError(
                f"{kind} needs groups to contain one integer for each example, and each of the "
                "labels 0, 1, ..., max(groups) must occur at least once"
            )
        object.__setattr__(self, "groups", tuple(int(g) for g in labels))
        object.__setattr__(self, name, positive_size(kind, name, self.bound))
        p = exact(kind, "p", self.p)
        if p <= 1:
            raise InputError(f"{kind} needs 1 < p < inf for the groups, got p = {self.p!r}")
        check_range(kind, p, None, ends=False)
        object.__setattr__(self, "p", p)
        if self.factors is not None:
            factors = exact_vector(kind, "factors", self.factors)
            if len(factors) != count or min(factors) <= 0:
                raise InputError(f"{kind} needs a factor > 0 for each of the {count} groups")
            object.__setattr__(self, "factors", positive_vector(kind, "factors", factors))

    def __repr__(self) -> str:
        groups = list(self.groups) if len(self.groups) <= 8 else f"<{len(self.groups)} labels>"
        tail = "" if self.factors is None else f", factors={spell_vector(self.factors)}"
        size = f"{self.size_name}={spell(self.bound)}"
        return f"{type(self).__name__}({groups}, {size}, p={spell(self.p)}{tail})"

    def describe_norm(self) -> dict[str, Any]:
        return {
            "kind": "p-norm",
            "p": number(self.p),
            "groups": list(self.groups),
            "weights": "1",
            "factors": vector(self.factors),
        }

    @property
    def traits(self) -> Traits:
        return CAP_TRAITS._replace(polyhedral=False, symmetric=max(self.groups) == 0)

    @property
    def dual(self) -> Fraction:
        """The dual exponent p' = p / (p − 1)."""
        return self.p / (self.p - 1)

    @cached_property
    def members(self) -> list[NDArray[np.int64]]:
        """The indices of the examples of each group."""
        labels = np.array(self.groups)
        order = np.argsort(labels, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)

    @cached_property
    def enclosed(self) -> Interval:
        """Intervals around the factors a_g of the groups."""
        count = max(self.groups) + 1
        return Interval(np.ones(count)) if self.factors is None else enclose_vector(self.factors)

    @cached_property
    def _a(self) -> Vector:
        return np.asarray(self.enclosed.middle)

    def gauge(self, d: Interval) -> Interval:
        sizes = [power_norm(d[group].abs(), self.p) for group in self.members]
        return (_stack(sizes) * self.enclosed).sum()

    def dual_of(self, x: Interval) -> Interval:
        sizes = [power_norm(x[group].abs(), self.dual) for group in self.members]
        return (_stack(sizes) / self.enclosed).max()

    def extremes(self, m: int) -> tuple[Interval, Interval]:
        return self._flattest[1], self.enclosed.max()

    def size(self, d: Vector) -> float:
        d = np.ascontiguousarray(d, dtype=np.float64)
        return float(self._a @ group_norms(d, self._norm.order, self._norm.starts, float(self.p)))

    @cached_property
    def _flattest(self) -> tuple[int, Interval]:
        """A group whose uniform distribution has the smallest norm of all, and that norm."""
        sizes = Interval(np.array([float(len(group)) for group in self.members]))
        norms = self.enclosed / sizes.power(1 - 1 / self.p)
        return int(np.argmin(norms.lower)), norms.min()

    @cached_property
    def _norm(self) -> Grouping:
        ends = np.cumsum([len(group) for group in self.members])
        starts = np.append(0, ends).astype(np.int64)
        return Grouping(np.concatenate(self.members), starts, self._a, float(self.p - 1))

    def cvxpy_norm(self, d: Any) -> Any:
        p = float(self.p)
        terms = [a * cp.norm(d[g], p) for a, g in zip(self._a, self.members, strict=True)]
        return cp.sum(cp.hstack(terms))

    def cvxpy_dual(self, x: Any) -> tuple[Any, list[Any]]:
        p = float(self.dual)
        terms = [cp.norm(x[g], p) / a for a, g in zip(self._a, self.members, strict=True)]
        return cp.max(cp.hstack(terms)), []


@dataclass(frozen=True, repr=False)
class GroupNormPenalty(GroupNorm, PenaltyOfNorm):
    """The penalty f(d) = c Σ_g a_g ‖d_g‖_p for disjoint groups g of examples.

    Here c is the argument `weight`, a_g the factor of group g, and d_g the part of d in group g.

    The relaxed margin F(u) is the minimum over the groups g of the relaxed margin of the group
    under ``NormPenalty(p, c a_g)``. The conjugate f* is the indicator of ‖θ_g‖_* <= c a_g for all
    groups g.

    Parameters
    ----------
    groups : sequence of m integers
        The group of each example. The labels are 0, 1, ... without gaps.
    weight : int, float or Fraction
        The factor c of the norm, in [1e-100, 1e100].
    p : int, float or Fraction
        The exponent of the norm within a group, a number between 1.00001 and 10001.
    factors : sequence of numbers > 0, optional
        One factor a_g for each group, by default 1.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Example 2.
    """

    family = "relaxboost.GroupNormPenalty"

    groups: Any
    weight: Any
    p: Any = 2
    factors: Any = None

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        levels = Levels(as_margins(u, self), self._norm, float(self.weight))

        # At the threshold γ, the largest quotient of a group's dual norm of [γ − u]_+ and the
        # group's factor a_g is the weight c.
        def miss(x: float) -> tuple[float, float]:
            highest = levels.look(x)
            return levels.log_weight - highest.dual, -highest.dual_slope

        x = decreasing_root(miss, levels.start, 2.0, 1e-15)
        return levels.threshold(x), levels.distribution(x)

    def _distribution(self, u: Vector, beta: float) -> Vector:
        beta = max(beta, MIN_BETA_PER_SPREAD * float(np.ptp(u)))
        spreading = Spreading(u, beta, self._norm)
        spreading.move(math.log(float(self.weight)))
        return spreading.distribution()


@dataclass(frozen=True, repr=False)
class GroupNormBall(GroupNorm, BallOfNorm):
    """The indicator of Σ_g a_g ‖d_g‖_p <= radius for disjoint groups g of examples.

    The relaxed margin is F(u) = max over γ of γ − r max_g ‖x_g‖_* / a_g with x = [γ − u]₊. It is
    also the maximum over λ >= 0 of min_g V_g(λ) − λ r, where V_g(λ) is the relaxed margin of the
    group g under a norm penalty of weight λ a_g.

    Parameters
    ----------
    groups : sequence of m integers
        The group of each example. The labels are 0, 1, ... without gaps.
    radius : int, float or Fraction
        The radius r of the ball, in [1e-100, 1e100].
    p : int, float or Fraction
        The exponent of the norm within a group, a number between 1.00001 and 10001.
    factors : sequence of numbers > 0, optional
        One factor a_g for each group, by default 1.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Example 1.
    """

    family = "relaxboost.GroupNormBall"

    groups: Any
    radius: Any
    p: Any = 2
    factors: Any = None

    def resolve(self, m: int) -> GroupNormBall:
        super().resolve(m)
        radius = fit(self, self.radius, float(self._flattest[1].lower))
        if radius == self.radius:
            return self
        return GroupNormBall(self.groups, radius, self.p, self.factors)

    def center(self, m: int) -> Vector:
        group = self.members[self._flattest[0]]
        d = np.zeros(m)
        d[group] = 1.0 / len(group)
        return d

    def _minimise(self, u: Vector) -> tuple[float, Vector]:
        r = float(self.radius)
        levels = Levels(u, self._norm)
        # The ball contains a distribution over the smallest margins alone.
        face = levels.face(r)
        if face is not None:
            return levels.low, face
        self.resolve(u.size)
        log_r = math.log(r)
        # Σ a_g ‖d_g‖ falls through the radius at γ. If two groups tie there, d is a mean of a point
        # of the ball and a point outside of the ball.
        inside = math.inf
        outside = math.nan

        def excess(x: float) -> tuple[float, float]:
            nonlocal inside, outside
            highest = levels.look(x)
            if highest.size <= log_r:
                inside = x
            else:
                outside = x
            return highest.size - log_r, highest.size_slope

        gamma = levels.threshold(decreasing_root(excess, levels.start, 2.0, 1e-15))
        point = levels.distribution(inside) if inside < math.inf else self.center(u.size)
        if math.isnan(outside):
            return gamma, point
        return gamma, self.draw_in(levels.distribution(outside), point)

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        u = as_margins(u, self)
        _, d = self._minimise(u)
        return float(d @ u), d

    def _distribution(self, u: Vector, beta: float) -> Vector:
        beta = max(beta, MIN_BETA_PER_SPREAD * float(np.ptp(u)))
        free = capped_distribution(u, beta)
        r = float(self.radius)
        if self.size(free) <= r:
            return free
        # `resolve` raises the error for a ball that misses the simplex, for which no λ exists.
        self.resolve(u.size)
        spreading = Spreading(u, beta, self._norm)
        log_r = math.log(r)
        last = math.inf

        def excess(x: float) -> tuple[float, float]:
            nonlocal last
            size, slope = spreading.move(x)
            last = size - log_r
            return last, slope

        start = math.log(max(float(np.ptp(u)), beta))
        decreasing_root(excess, start, 2.0, 1e-13)
        # If groups tie, log λ may lie between two doubles. Then the groups are weighed again.
        if abs(last) > 1e-12:
            spreading.settle(log_r)
        return self.draw_in(spreading.distribution())

    def witness(self, u: Vector) -> Witness:
        return Witness(self._minimise(as_margins(u, self))[0])


def _stack(scalars: list[Interval]) -> Interval:
    return Interval([float(s.lower) for s in scalars], [float(s.upper) for s in scalars])
