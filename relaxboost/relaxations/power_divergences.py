"""Penalties and balls from power divergences, such as χ² and Hellinger.

The divergence of weights d from a prior distribution π is D(d) = s Σ π_i φ(d_i / π_i) with a scale
s and the generator φ(t) = (t^α − α t + α − 1) / (α (α − 1)) of order α (Cressie & Read 1984). Since
φ >= 0 and φ(1) = 0, the minimum is D(π) = 0. Since D(t π) > 0 for t < 1, D is not monotone
(condition (iii) of SS09 Thm 7). On the simplex D(d) = s (Σ π^{1−α} d^α − 1) / (α (α − 1)), so the
functions of `_projections.power` compute the minimisers.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.digits import number, vector
from relaxboost._core.errors import InputError
from relaxboost._core.intervals import Interval
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import positive_size
from relaxboost.relaxations._projections import power, power_margin
from relaxboost.relaxations.balls import Ball
from relaxboost.relaxations.base import Traits, as_margins, box_around
from relaxboost.relaxations.bounds import Witness
from relaxboost.relaxations.priors import OverPrior, check_prior


class BallWitness(NamedTuple):
    """The threshold γ and the ball's multiplier λ >= 0, which prove a lower bound on F(u)."""

    gamma: float
    multiplier: float


class PowerDivergence(OverPrior):
    """The base class of the penalty and the ball of a power divergence D."""

    size_name: ClassVar[str]
    """The name of the size parameter: "radius" for a ball, "weight" for a penalty."""
    least: ClassVar[Fraction] = Fraction(1, 10**100)
    """The smallest allowed weight of a penalty, or radius of a ball."""

    def __post_init__(self) -> None:
        kind = type(self).__name__
        name = self.size_name
        size = positive_size(kind, name, getattr(self, name), self.least)
        object.__setattr__(self, name, size)
        object.__setattr__(self, "prior", check_prior(kind, self.prior))

    def describe(self, m: int) -> dict[str, Any]:
        return {
            "kind": "divergence",
            "order": number(self.alpha),
            "scale": number(self.scale),
            "prior": vector(self.prior),
            self.size_name: number(getattr(self, self.size_name)),
        }

    @property
    @abstractmethod
    def alpha(self) -> Fraction:
        """The order α > 0 of the power divergence."""

    @property
    def scale(self) -> Fraction:
        """The factor s > 0 of the power divergence."""
        return Fraction(1)

    def resolve(self, m: int) -> Any:
        if self.alpha != 1 and self.prior is not None and min(self.prior) == 0:
            i = self.prior.index(0)
            raise InputError(
                f"{type(self).__name__} needs prior > 0, but prior[{i}] is 0; "
                "leave that example out, or use KLPenalty or KLBall"
            )
        if self.alpha != 1 and self.prior is not None and not np.isfinite(self._powers).all():
            i = int(np.argmin(self._prior))
            raise InputError(
                f"{type(self).__name__} of order {float(self.alpha):g} has powers of prior[{i}] = "
                f"{self._prior[i]:g} that overflow; leave that example out, or use KLPenalty or "
                "KLBall"
            )
        return super().resolve(m)

    @cached_property
    def _q(self) -> float:
        return float(self.alpha - 1)

    @property
    def _curve(self) -> Fraction:
        return self.alpha * (self.alpha - 1) / self.scale

    def _kappa(self, m: int) -> Vector:
        """Return π^{1−α}, with a single entry if the prior π is uniform."""
        return np.power(np.full(1, 1.0 / m), -self._q) if self.prior is None else self._powers

    @cached_property
    def _powers(self) -> Vector:
        with np.errstate(over="ignore", divide="ignore"):
            powers = np.power(self._prior, -self._q)
        powers.flags.writeable = False
        return powers

    def divergence(self, d: Vector) -> float:
        """Return D(d) as a double, or inf if d is outside the domain of D."""
        d = np.asarray(d, dtype=np.float64)
        pi = self.center(d.size)
        if self.alpha == 2:
            return 0.5 * float(self.scale) * float((np.square(d - pi) / pi).sum())
        if not (d >= 0.0).all():
            return math.inf
        a = float(self.alpha)
        terms = np.power(d / pi, a) - a * (d / pi) + (a - 1.0)
        return max(0.0, float((pi * terms).sum()) / float(self._curve))

    def enclosed_divergence(self, d: Interval) -> Interval:
        """Return an interval that contains D at every point of the simplex in the box `d`."""
        pi = self._pi(d.lower.size)
        if self.alpha == 2:
            return ((d - pi).square() / pi).sum() * Interval(self.scale / 2)
        t = d / pi
        powers = t.power(self.alpha)
        whole = ((pi * powers).sum() - 1.0) / Interval(self._curve)
        # This relative width means that cancellation lost no more than half of the digits.
        if whole.up <= whole.down * (1.0 + 1e-9):
            return whole
        # By Taylor's theorem φ(t) = (t − 1)² / 2 · x^{α−2} for an x between 1 and t. This formula
        # does not cancel near π, where a large weight would multiply the roundings.
        with np.errstate(all="ignore"):
            bend = powers / t.square()
            hull = Interval(np.minimum(bend.lower, 1.0), np.maximum(bend.upper, 1.0))
            near = (pi * ((d - pi) / pi).square() * hull).sum() * Interval(self.scale / 2)
        return Interval(max(whole.down, near.down, 0.0), min(whole.up, near.up))

    def enclosed_conjugate(self, x: Interval, c: Interval) -> Interval:
        """Enclose c Σ π φ*(x / c) for c > 0.

        φ* is the conjugate of the generator φ on t >= 0.
        """
        s = x / c
        if self.alpha == 2:  # This is (1 + s)² − 1, or −1 below s = −1.
            s = Interval(np.maximum(s.lower, -1.0), np.maximum(s.upper, -1.0))
            grown = s * (s + 2.0)
        else:  # The formula (1 + (α − 1) s)^{α / (α − 1)} − 1 would cancel for a large c.
            base = s * Interval(self.alpha - 1)
            if self.alpha < 1 and not (base.lower > -1.0).all():
                return Interval(-math.inf, math.inf)
            grown = (base.log1p() * Interval(self.alpha / (self.alpha - 1))).expm1()
        total = (self._pi(s.lower.size) * grown).sum() if s.lower.ndim else grown
        return c * total / Interval(self.alpha)

    def _is_finite(self, u: Vector, found: Any) -> bool:
        # A double γ may be too coarse for a tiny weight or multiplier, and the bound is then −inf.
        # This depends on the smallest margin only. The threshold min u is always fine, as f >= 0.
        return self.lower_bound(u.min(keepdims=True), found) > -math.inf

    def _floor(self, c: Fraction) -> dict[str, str]:
        # For α = 2 the conjugate c φ*(x/c) decreases below its vertex, which certificates store.
        return {"floor": number(-c * self.scale)} if self.alpha == 2 else {}

    def _cvxpy_domain(self, d: Any) -> list[Any]:
        return [] if self.alpha == 2 else [d >= 0.0]

    def _cvxpy_divergence(self, d: Any) -> Any:
        pi = self.center(d.shape[0])
        a = float(self.alpha)
        if self.alpha == 2:
            return float(self.scale) / 2 * cp.sum(cp.multiply(1.0 / pi, cp.square(d - pi)))
        powers = pi @ cp.power(cp.multiply(1.0 / pi, d), a)
        return (powers - a * cp.sum(d) + (a - 1.0)) / float(self._curve)


@dataclass(frozen=True, repr=False)
class DivergencePenalty(PowerDivergence):
    """The penalty f = c D with a weight c and a power divergence D of scale s and generator φ.

    The relaxed margin at margins u is the maximum over γ of γ − c s Σ π φ*((γ − u)/(c s)).
    """

    size_name: ClassVar[str] = "weight"

    weight: Any
    prior: Any = None

    @property
    def _strength(self) -> float:
        return float(self.weight * self.scale)

    @property
    def traits(self) -> Traits:
        return Traits(
            smooth=self.alpha <= 2,
            symmetric=self.prior is None,
            zero_minimum=True,
            zero_in_core=self.alpha == 2,  # Otherwise the domain is d >= 0.
        )

    def curvature(self, m: int) -> float:
        # The Hessian is c s diag(π^{1−α} d^{α−2}), so the modulus is c s / max Σ π^{α−1} d^{2−α}.
        # By Hölder's inequality the sum is at most 1 for α >= 1. For α < 1 a vertex attains it.
        if self.alpha > 2:
            return 0.0
        least = 1.0 / m if self.prior is None else float(self._prior.min())
        return self._strength * least ** max(0.0, 1.0 - float(self.alpha))

    def penalty(self, d: Vector) -> float:
        return float(self.weight) * self.divergence(d)

    def conjugate(self, theta: Vector) -> float:
        # The conjugate is c Σ π φ*(θ / c).
        c = self._strength
        s = np.asarray(theta, dtype=np.float64) / c
        a = float(self.alpha)
        base = (a - 1.0) * s
        # φ is finite for negative t only if α = 2; otherwise t >= 0 cuts the conjugate.
        with np.errstate(over="ignore", divide="ignore"):
            if self.alpha == 2:
                grown = s * (s + 2.0)
            elif a > 1.0:
                grown = np.expm1(a / (a - 1.0) * np.log1p(np.maximum(base, -1.0)))
            elif (base <= -1.0).any():
                return math.inf
            else:
                grown = np.expm1(a / (a - 1.0) * np.log1p(base))
            return c * float(self.center(s.size) @ grown) / a

    def _minimise(self, u: Vector) -> tuple[float, Vector]:
        kappa = self._kappa(u.size)
        q = self._q
        mu = self._strength / abs(q)
        g, _, d = power_margin.power_penalty_margin(u, kappa, q, mu)
        # φ' is t^q / q − 1/q here, and without the constant in `power`.
        return g - self._strength / q, d

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        u = as_margins(u, self)
        _, d = self._minimise(u)
        return float(d @ u) + self.penalty(d), d

    def _distribution(self, u: Vector, beta: float) -> Vector:
        mu = self._strength / abs(self._q)
        return power.power_penalty(u, beta, self._kappa(u.size), self._q, mu)

    def witness(self, u: Vector) -> Witness:
        u = as_margins(u, self)
        found = Witness(self._minimise(u)[0])
        return found if self._is_finite(u, found) else Witness(float(u.min()))

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        # γ − c s Σ π φ*((γ − u)/(c s)) is a lower bound on F(u) for every γ.
        if not math.isfinite(witness.gamma):
            return -math.inf
        gamma = Interval(witness.gamma)
        with np.errstate(all="ignore"):
            x = gamma - Interval(np.asarray(u, dtype=np.float64))
            return (gamma - self.enclosed_conjugate(x, Interval(self.weight * self.scale))).down

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        return float(self.weight) * self._cvxpy_divergence(d), self._cvxpy_domain(d)

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        a = float(self.alpha)
        c = self._strength
        base = 1.0 + (a - 1.0) / c * x
        if self.alpha == 2:
            powers = cp.square(base)
        elif a > 1.0:
            powers = cp.power(cp.pos(base), a / (a - 1.0))
        else:
            powers = cp.power(base, a / (a - 1.0))
        return c / a * (self.center(x.shape[0]) @ powers - 1.0), []

    def describe_witness(self, found: Witness, u: Sequence[Fraction]) -> dict[str, Any]:
        return {"gamma": number(found.gamma), **self._floor(self.weight)}

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        point = Interval(d) / Interval(*total)
        return (Interval(self.weight) * self.enclosed_divergence(point)).up, 0.0

    def penalty_near(self, d: Vector, total: tuple[float, float], distance: float) -> float:
        divergence = self.enclosed_divergence(box_around(d, total, distance))
        return (Interval(self.weight) * divergence).up


@dataclass(frozen=True, repr=False)
class DivergenceBall(Ball, PowerDivergence):
    """The indicator of D(d) <= r for a power divergence D of scale s and generator φ.

    The relaxed margin is the maximum of γ − λ r − λ s Σ π φ*((γ − u)/(λ s)) over all numbers γ and
    all multipliers λ >= 0.
    """

    size_name: ClassVar[str] = "radius"
    least: ClassVar[Fraction] = Fraction(1, 10**9)
    """The smallest allowed radius of a divergence ball.

    Doubles cannot distinguish a smaller ball from its center.
    """

    radius: Any
    prior: Any = None

    def gauge(self, d: Interval) -> Interval:
        return self.enclosed_divergence(d)

    def size(self, d: Vector) -> float:
        return self.divergence(d)

    @property
    def traits(self) -> Traits:
        # D(0) = s/2 for α = 2. Other balls contain no negative entries, so 0 is not in their core.
        core = self.alpha == 2 and 2 * self.radius > self.scale
        return Traits(symmetric=self.prior is None, zero_minimum=True, zero_in_core=core)

    @property
    def _bound(self) -> float:
        """The logarithm of the bound on Σ π^{1−α} d^α, or −inf if there is none.

        It is an upper bound for α > 1, and a lower bound for α < 1.
        """
        share = self.radius * self._curve
        return math.log1p(float(share)) if share > -1 else -math.inf

    def _minimise(self, u: Vector) -> tuple[BallWitness, Vector]:
        kappa = self._kappa(u.size)
        q = self._q
        g, mu, d = power_margin.power_ball_margin(u, kappa, q, self._bound)
        strength = mu * abs(q)  # This is the multiplier λ times the scale s.
        multiplier = strength / float(self.scale)
        return BallWitness(g - strength / q, multiplier), self.draw_in(d)

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        u = as_margins(u, self)
        _, d = self._minimise(u)
        return float(d @ u), d

    def _distribution(self, u: Vector, beta: float) -> Vector:
        return self.draw_in(power.power_ball(u, beta, self._kappa(u.size), self._q, self._bound))

    def witness(self, u: Vector) -> BallWitness:
        u = as_margins(u, self)
        found = self._minimise(u)[0]
        return found if self._is_finite(u, found) else BallWitness(float(u.min()), 0.0)

    def lower_bound(self, u: Vector, witness: BallWitness) -> float:
        # γ − λ r − λ s Σ π φ*((γ − u)/(λ s)) is a lower bound on F(u) for every γ and λ >= 0.
        gamma, multiplier = witness
        if not (math.isfinite(gamma) and 0.0 <= multiplier < math.inf):
            return -math.inf
        u = np.asarray(u, dtype=np.float64)
        if multiplier == 0.0:
            return gamma if u.min() >= gamma else -math.inf
        c = Interval(multiplier) * Interval(self.scale)
        with np.errstate(all="ignore"):
            conjugate = self.enclosed_conjugate(Interval(gamma) - Interval(u), c)
            return (Interval(gamma) - Interval(multiplier) * Interval(self.radius) - conjugate).down

    def describe_witness(self, found: BallWitness, u: Sequence[Fraction]) -> dict[str, Any]:
        # Without a multiplier the smallest exact margin is the best threshold.
        if not found.multiplier:
            prior = self.prior or [1] * len(u)
            least = min(x for x, p in zip(u, prior, strict=True) if p)
            return {"gamma": number(least), "multiplier": "0", "floor": "0"}
        c = Fraction(found.multiplier)
        return {"gamma": number(found.gamma), "multiplier": number(c), **self._floor(c)}

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        inside = self._cvxpy_divergence(d) <= float(self.radius)
        return 0.0, [inside, *self._cvxpy_domain(d)]

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        # The conjugate uses a Euclidean norm for χ².
        if self.alpha != 2:
            return super().cvxpy_conjugate(x)
        pi = self.center(x.shape[0])
        factor = math.sqrt(2.0 * float(self.radius / self.scale))
        return pi @ x + factor * cp.norm2(cp.multiply(np.sqrt(pi), x)), []
