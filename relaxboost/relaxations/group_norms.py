"""The penalty and the ball of a group norm; `group_norm` has what they share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from relaxboost.intervals import Interval
from relaxboost.parameters import positive
from relaxboost.projections.capped import capped_distribution
from relaxboost.projections.roots import decreasing_root
from relaxboost.relaxations.balls import Ball, fit
from relaxboost.relaxations.base import Level, Vector, Witness, as_margins, onto_simplex
from relaxboost.relaxations.group_norm import GroupNorm
from relaxboost.relaxations.sum_norm import hinge
from relaxboost.relaxations.vectors import check_length


@dataclass(frozen=True, repr=False)
class GroupNormPenalty(GroupNorm):
    """f(d) = weight · Σ_g a_g ‖d_g‖_p: examples of a group share a price for being singled out.

    F(u) is the least of the groups' own relaxed margins under `NormPenalty`; f* is the indicator
    of ‖θ_g‖_* <= c a_g for all g.

    Parameters
    ----------
    groups : sequence of m whole numbers
        The group of each example, 0, 1, ... without gaps.
    weight : int, float or Fraction
        c > 0.
    p : int, float or Fraction
        The norm within a group, 1 < p < inf.
    factors : sequence of numbers > 0, optional
        a_g, one for each group; 1 by default.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Example 2.
    """

    groups: Any
    weight: Any
    p: Any = 2
    factors: Any = None

    def __post_init__(self) -> None:
        self._prepare("weight")

    def __repr__(self) -> str:
        return self._show("weight")

    def penalty(self, d: Vector) -> float:
        """Return c Σ a_g ‖d_g‖."""
        return float(self.weight) * self.norm_size(np.asarray(d, dtype=np.float64))

    def conjugate(self, theta: Vector) -> float:
        """Return 0 where max_g ‖θ_g‖_* / a_g <= c (1 + 1e-12), else inf."""
        return 0.0 if self._dual_size(theta) <= float(self.weight) * (1.0 + 1e-12) else math.inf

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        """Return F(u) = min_g V_g and a minimiser on one group."""
        levels, log_c = self.levels(as_margins(u, self)), math.log(float(self.weight))

        def miss(x: float) -> tuple[float, float]:
            highest = levels.look(x)
            return log_c - highest.dual, -highest.dual_slope

        x = decreasing_root(miss, levels.start, 2.0, 1e-15)
        return levels.low + math.exp(x), levels.distribution(x)

    def distribution(self, u: Vector, beta: float) -> Vector:
        """Return the minimiser of <d, u> + f(d) + β Σ d log d, two scalar roots a group."""
        spreading = self.spreading(as_margins(u, self), positive("beta", beta))
        spreading.move(math.log(float(self.weight)))
        return spreading.distribution()

    def witness(self, u: Vector) -> Witness:
        """Return γ = F(u)."""
        return Witness(self.relaxed_margin(u)[0])

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        """Return γ + (c − ‖[γ − u]_+‖_*) ‖d‖ at the worse extreme of ‖d‖, rounded downwards."""
        if not math.isfinite(witness.gamma):
            return -math.inf
        spare = Interval(self.weight) - self.dual_of(hinge(witness.gamma, u))
        least, largest = self._flattest[1], self.enclosed.max()
        worth = min((spare * least).down, (spare * largest).down)
        return (Interval(witness.gamma) + worth).down

    def repair(self, d: Vector) -> Vector:
        """Return `d` clipped at zero and normalised."""
        return onto_simplex(d, repr(self))

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return (f(d / Σd), 0), rounded upwards."""
        return (Interval(self.weight) * self.of(Interval(d) / Interval(*total))).up, 0.0

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        """Return c Σ a_g ‖d_g‖."""
        return float(self.weight) * self.cvxpy_norm(d), []

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        """Return 0 subject to ‖x_g‖_* <= c a_g."""
        return 0.0, [self.cvxpy_dual(x) <= float(self.weight)]


@dataclass(frozen=True, repr=False)
class GroupNormBall(Ball, GroupNorm):
    """The indicator of Σ_g a_g ‖d_g‖_p <= radius.

    F(u) = max over γ of γ − r max_g ‖[γ − u]_+ on g‖_* / a_g = max over λ >= 0 of
    min_g V_g(λ) − λ r, with V_g the relaxed margin of the group under a norm penalty of weight
    λ a_g. Parameters as for `GroupNormPenalty`, with radius > 0 in place of weight.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Example 1.
    """

    groups: Any
    radius: Any
    p: Any = 2
    factors: Any = None

    level: ClassVar[Level] = "enclosed"

    def __post_init__(self) -> None:
        self._prepare("radius")

    def __repr__(self) -> str:
        return self._show("radius")

    @property
    def bound(self) -> Fraction:
        """The radius."""
        return self.radius

    def gauge(self, d: Interval) -> Interval:
        """Return Σ a_g ‖d_g‖."""
        return self.of(d)

    def size(self, d: Vector) -> float:
        """Return Σ a_g ‖d_g‖ in doubles."""
        return self.norm_size(np.asarray(d, dtype=np.float64))

    def resolve(self, m: int) -> GroupNormBall:
        """Return the ball for `m` examples; raises InputError if it misses the simplex."""
        check_length(type(self).__name__, "groups", self.groups, m)
        radius = fit(self, self.radius, float(self._flattest[1].lower))
        if radius == self.radius:
            return self
        return GroupNormBall(self.groups, radius, self.p, self.factors)

    def center(self, m: int) -> Vector:
        """Return the uniform distribution on the group where it has the least norm."""
        g, _ = self._flattest
        size = len(self.members[g])
        return self.place(g, np.full(size, 1.0 / size))

    def conjugate(self, theta: Vector) -> float:
        """Return r max_g ‖θ_g‖_* / a_g."""
        return float(self.radius) * self._dual_size(theta)

    def _minimise(self, u: Vector) -> tuple[float, Vector]:
        """Return γ and d: the level at which Σ a_g ‖d_g‖ falls through the radius.

        Where two groups tie there, d mixes a point of the ball with one outside of it.
        """
        r, levels = float(self.radius), self.levels(u)
        face = levels.face(r)
        if face is not None:
            return levels.low, face
        self.resolve(u.size)
        log_r = math.log(r)
        inside, outside = math.inf, math.nan

        def excess(x: float) -> tuple[float, float]:
            nonlocal inside, outside
            highest = levels.look(x)
            if highest.size <= log_r:
                inside = x
            else:
                outside = x
            return highest.size - log_r, highest.size_slope

        gamma = levels.low + math.exp(decreasing_root(excess, levels.start, 2.0, 1e-15))
        point = levels.distribution(inside) if inside < math.inf else self.center(u.size)
        if math.isnan(outside):
            return gamma, point
        return gamma, self.draw_in(self._mix(point, levels.distribution(outside)))

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        """Return F(u) and its minimiser, by a scalar root around those of the groups."""
        u = as_margins(u, self)
        _, d = self._minimise(u)
        return float(d @ u), d

    def distribution(self, u: Vector, beta: float) -> Vector:
        """Return the minimiser of <d, u> + β Σ d log d in the ball."""
        u, beta = as_margins(u, self), positive("beta", beta)
        free = capped_distribution(u, beta)
        r = float(self.radius)
        if self.size(free) <= r:
            return free
        self.resolve(u.size)  # no λ would do for a ball that misses the simplex
        spreading, log_r = self.spreading(u, beta), math.log(r)
        last = math.inf

        def excess(x: float) -> tuple[float, float]:
            nonlocal last
            size, slope = spreading.move(x)
            last = size - log_r
            return last, slope

        start = math.log(max(float(np.ptp(u)), beta))
        decreasing_root(excess, start, 2.0, 1e-13)
        if abs(last) > 1e-12:
            spreading.settle(log_r)
        return self.draw_in(spreading.distribution())

    def _mix(self, point: Vector, beyond: Vector) -> Vector:
        """Return the point on the way out of the ball where the norm is the radius, nearly."""
        below, above, r = self.size(point), self.size(beyond), float(self.radius)
        share = 0.0 if above <= below else min(1.0, max(0.0, (r - below) / (above - below)))
        return point + share * (beyond - point)

    def witness(self, u: Vector) -> Witness:
        """Return the γ that attains F(u)."""
        return Witness(self._minimise(as_margins(u, self))[0])

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        """Return γ − r max_g ‖[γ − u]_+ on g‖_* / a_g, rounded downwards; valid for every γ."""
        if not math.isfinite(witness.gamma):
            return -math.inf
        dual = self.dual_of(hinge(witness.gamma, u))
        return (Interval(witness.gamma) - Interval(self.radius) * dual).down

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        """Return 0 subject to Σ a_g ‖d_g‖ <= r."""
        return 0.0, [self.cvxpy_norm(d) <= float(self.radius)]

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        """Return r max_g ‖x_g‖_* / a_g."""
        return float(self.radius) * self.cvxpy_dual(x), []
