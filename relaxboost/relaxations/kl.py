"""The entropic kin: relative entropy to a prior, as a penalty and as a ball.

Both rest on the generalised relative entropy D(d‖π) = Σ d_i log(d_i/π_i) − d_i + π_i on R^m_+,
with 0 log 0 = 0. On the simplex it is KL(d‖π), and min D = 0 at d = π, so that condition (i) of
SS09 Thm 7 holds; (ii) and (iii) fail: the domain has no negative points, and shrinking d = π costs.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.intervals import Interval
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import exact
from relaxboost._core.rounding import UNIT
from relaxboost.relaxations._projections import kl_ball_distribution, logistic_distribution, tilt
from relaxboost.relaxations.base import BinaryDistribution, as_margins, box_around
from relaxboost.relaxations.bounds import Witness
from relaxboost.relaxations.power_divergences import (
    BallWitness,
    DivergenceBall,
    DivergencePenalty,
    PowerDivergence,
)
from relaxboost.relaxations.priors import OverPrior


class _Entropic(PowerDivergence):
    """The divergence of order one, D(d) = Σ d log(d/π) − d + π on R^m_+; entries of π may be 0."""

    alpha = Fraction(1)
    repair = OverPrior.repair

    def divergence(self, d: Vector) -> float:
        """Return Σ d log(d/π) − d + π, inf outside its domain, accurate also where it is tiny."""
        d = np.asarray(d, dtype=np.float64)
        if not (d >= 0.0).all() or not self._outside_is_zero(d):
            return math.inf
        pi = 1.0 / d.size if self.prior is None else self._inside(self._prior)
        with np.errstate(over="ignore"):
            t = (self._inside(d) - pi) / pi
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = (1.0 + t) * np.log1p(t) - t
        terms[t == -1.0] = 1.0
        return float(np.sum(pi * terms))

    def enclosed_divergence(self, d: Interval) -> Interval:
        y = d if self._zeros is None else d[~self._zeros]
        return (y * (y / self._pi(d.lower.size)).log()).sum()

    def _divergence_bounds(self, d: Vector, total: tuple[float, float]) -> Interval:
        """Enclose KL(d/Σd ‖ π), for d that is zero where π is.

        Its terms y log(y/π) − y + π are π ((1 + t) log(1 + t) − t) for y = (1 + t) π, which does
        not cancel near π.
        """
        x, pi = self._inside(d), self._pi(d.size)
        y = Interval(x) / Interval(*total)
        t = (y - pi) / pi
        near, far = (1.0 + t) * t.log1p() - t, y * (y / pi).log() - y + pi
        half, size = 0.5 * t.square(), t.abs()  # t²/2 is off by |t| of it at most where |t| < 1/2
        near = pi * Interval(
            np.maximum(near.lower, (half * (1.0 - size)).lower),
            np.minimum(near.upper, (half * (1.0 + size)).upper),
        )
        close, zero = size.upper < 0.5, x == 0.0
        ends = [
            np.where(close, a, np.where(zero, b, c))
            for a, b, c in ((near.lower, pi.lower, far.lower), (near.upper, pi.upper, far.upper))
        ]
        return Interval(*(np.maximum(end, 0.0) for end in ends)).sum()

    def _largest_divergence(
        self, d: Vector, total: tuple[float, float], distance: float
    ) -> Interval:
        """Enclose the sum of the largest d_i log(d_i / π_i) near d / Σd, which are at an end."""
        if self._zeros is not None:
            return Interval(math.inf)
        box, pi = box_around(d, total, distance), self._pi(d.size)
        with np.errstate(all="ignore"):
            ends = [Interval(y) * (Interval(y) / pi).log() for y in (box.lower, box.upper)]
        at_zero = box.lower == 0.0  # where y log y is 0
        return Interval(np.maximum(np.where(at_zero, 0.0, ends[0].upper), ends[1].upper)).sum()

    def _log_partition(self, u: Vector, gamma: float, temperature: Interval) -> Interval:
        """Enclose log Σ π exp((γ − u)/T), by what it differs from one where that is little."""
        u = self._inside(u)
        x, pi = (Interval(gamma) - u) / temperature, self._pi(u.size)
        if max(abs(x.lower.min()), abs(x.upper.max())) < 1.0:
            return (pi * x.expm1()).sum().log1p()
        return (pi * x.exp()).sum().log()

    def _cvxpy_divergence(self, d: Any) -> Any:
        pi = self._inside(self.center(d.shape[0]))
        return cp.sum(cp.kl_div(d if self._zeros is None else d[np.flatnonzero(~self._zeros)], pi))

    def _cvxpy_domain(self, d: Any) -> list[Any]:
        return [] if self._zeros is None else [d[np.flatnonzero(self._zeros)] == 0]


class KLPenalty(_Entropic, DivergencePenalty, BinaryDistribution):
    """c times the relative entropy to a prior: f(d) = c Σ d log(d/π) − d + π on R^m_+.

    Its relaxed margin is the soft minimum

        F(u) = −c log Σ π_i exp(−u_i/c),

    attained by d proportional to π exp(−u/c), and f*(θ) = c Σ π (exp(θ/c) − 1). Since w -> w/c maps
    the unit l1 ball to that of radius 1/c, the value of the game is −c times the logarithm of the
    least mean exponential loss Σ π_i exp(−(A v)_i) over ‖v‖_1 <= 1/c. For c -> 0 it tends to the
    hard margin (over π > 0), for c -> inf to the largest edge under π.

    Parameters
    ----------
    weight : int, float or Fraction
        c, in [1e-100, 1e100].
    prior : vector of m numbers >= 0, optional
        Kept exactly; they sum to one within 1e-9, and π is the prior divided by its exact sum. By
        default uniform. Where π_i = 0, d_i is 0.

    Raises
    ------
    InputError
        If the weight is out of range, priors do not sum to one, or their number is not m (when the
        game is declared).

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 5 (soft-max as relaxation), Sec. 6, Appendix B.
    """

    family = "relaxboost.KLPenalty"

    def conjugate(self, theta: Vector) -> float:
        """Return c Σ π (exp(θ/c) − 1); inf if that exceeds all doubles."""
        theta = np.asarray(theta, dtype=np.float64)
        with np.errstate(over="ignore"):
            grown = np.expm1(self._inside(theta) / self._strength)
            return self._strength * float(self._inside(self.center(theta.size)) @ grown)

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        """Return −c log Σ π exp(−u/c) and d proportional to π exp(−u/c)."""
        d, value = tilt(self._inside(as_margins(u, self)), self._strength, self._log_prior)
        return value, self._spread_out(d)

    def _distribution(self, u: Vector, beta: float) -> Vector:
        """Return d proportional to exp((c log π − u)/(c + β))."""
        g, temperature = self._inside(u), self._strength + beta
        if self._log_prior is not None:
            g = g + beta * (self._log_prior - self._log_prior.max())
        return self._spread_out(tilt(g, temperature, self._log_prior)[0])

    def _binary_distribution(self, u: Vector, beta: float) -> Vector:
        """Return d with (c + β) log d − β log(1 − d) = γ − u + c log π."""
        g, temperature = self._inside(u), self._strength + beta
        if self._log_prior is not None:
            g = g - self._strength * (self._log_prior - self._log_prior.max())
        share = max(beta / temperature, 1e-300)
        return self._spread_out(logistic_distribution(g, temperature, share=share)[0])

    def witness(self, u: Vector) -> Witness:
        """Return γ = F(u), at which f*(γ − u) = 0."""
        return Witness(self.relaxed_margin(u)[0])

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        """Return γ − c log Σ π exp((γ − u)/c), rounded downwards.

        It equals F(u) for every γ; γ only keeps the exponentials within the range of doubles.
        """
        gamma = witness.gamma
        if not math.isfinite(gamma):
            return -math.inf
        c = Interval(self.weight)
        with np.errstate(all="ignore"):
            return (Interval(gamma) - c * self._log_partition(u, gamma, c)).down

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        pi = self.center(x.shape[0])
        return self._strength * (pi @ cp.exp(x / self._strength) - 1.0), []

    def cvxpy_relaxed_margin(self, u: Any, gamma: Any) -> tuple[Any, list[Any]]:
        """Return γ subject to log Σ exp(log π − u/c) <= −γ/c."""
        m = u.shape[0]
        if self._zeros is not None:
            u = u[np.flatnonzero(~self._zeros)]
        logs = -math.log(m) if self._log_prior is None else self._log_prior
        return gamma, [self._strength * cp.log_sum_exp(logs - u / self._strength) <= -gamma]

    def entropy_range(self, m: int) -> float:
        return math.log(self._positive(m))

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        if not self._outside_is_zero(d):
            return math.inf, 0.0
        with np.errstate(all="ignore"):
            return (Interval(self.weight) * self._divergence_bounds(d, total)).up, 0.0

    def penalty_near(self, d: Vector, total: tuple[float, float], distance: float) -> float:
        return (Interval(self.weight) * self._largest_divergence(d, total, distance)).up


class KLBall(_Entropic, DivergenceBall):
    """The distributions near a prior: the indicator of Σ d log(d/π) − d + π <= r, d >= 0.

    Its relaxed margin is

        F(u) = max over λ >= 0 of −λ r − λ log Σ π_i exp(−u_i/λ),

    with min_i u_i for λ = 0, attained by d proportional to π exp(−u/λ) with KL(d‖π) = r, or by
    λ = 0 if the ball does not bind. f*(θ) = inf over λ > 0 of λ r + λ Σ π (exp(θ/λ) − 1). A radius
    of log(1/min π) or more never binds and gives the hard margin; for r -> 0 the prior alone is
    left.

    Parameters
    ----------
    radius : int, float or Fraction
        r, in [1e-100, 1e100].
    prior : vector of m numbers >= 0, optional
        As for `KLPenalty`.

    Raises
    ------
    InputError
        If the radius is not positive (a ball of radius 0 is the prior alone) or out of range,
        priors do not sum to one, or their number is not m (when the game is declared).

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 6 (additional constraints on d), Thm 7.
    """

    family = "relaxboost.KLBall"
    least: ClassVar[Fraction] = Fraction(1, 10**100)

    def __post_init__(self) -> None:
        if exact("KLBall", "radius", self.radius) <= 0:
            raise InputError(
                f"KLBall needs radius > 0, got {self.radius!r}: a ball of radius 0 is the prior "
                "alone, whose value is its largest edge"
            )
        super().__post_init__()

    @property
    def _r(self) -> float:
        return float(self.radius)

    def penalty(self, d: Vector) -> float:
        """Return 0 if Σ d log(d/π) − d + π <= r up to a few roundings, else inf."""
        allowed = self._r + 64.0 * UNIT * (self._r + math.sqrt(self._r))
        return 0.0 if self.divergence(d) <= allowed else math.inf

    def conjugate(self, theta: Vector) -> float:
        """Return the least λ r + λ Σ π (exp(θ/λ) − 1), by bisection in log λ.

        Its derivative in λ is r − D(π exp(θ/λ)‖π), which increases with λ.
        """
        theta = np.asarray(theta, dtype=np.float64)
        pi, theta = self._inside(self.center(theta.size)), self._inside(theta)
        size = float(np.abs(theta).max(initial=0.0))
        if size == 0.0:
            return 0.0
        z = theta / size
        if z.max() <= 0.0 and float(pi[z < 0.0].sum()) <= self._r:
            return 0.0  # the ball contains π restricted to θ = 0

        def derivative(log_eta: float) -> float:
            with np.errstate(over="ignore", invalid="ignore"):
                x = math.exp(log_eta) * z
                grown = np.expm1(x)
                terms = np.where(np.abs(x) < 1.0, x * grown + (x - grown), x * np.exp(x) - grown)
                terms[grown == np.inf] = np.inf
            return self._r - float(pi @ terms)

        # For |x| <= 1 a term is at most x²; 1/λ far beyond doubles has r at most its limit.
        left, right = min(0.0, 0.5 * math.log(self._r)) - 1.0, 700.0
        for _ in range(100):
            middle = 0.5 * (left + right)
            left, right = (middle, right) if derivative(middle) > 0.0 else (left, middle)
        eta = math.exp(left)
        return size / eta * (self._r + float(pi @ np.expm1(eta * z)))

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        u = as_margins(u, self)
        d = self._project(u, 0.0)[0]
        return float(d @ u), d

    def _distribution(self, u: Vector, beta: float) -> Vector:
        """Return d proportional to exp((λ log π − u)/(λ + β)), λ >= 0 such that KL(d‖π) <= r."""
        return self._project(u, beta)[0]

    def witness(self, u: Vector) -> BallWitness:
        """Return γ and λ; F(u) = γ − λ r and f*(γ − u) = λ r."""
        u = as_margins(u, self)
        multiplier = self._project(u, 0.0)[1]
        inside = self._inside(u)
        if multiplier == 0.0:
            return BallWitness(float(inside.min()), 0.0)
        return BallWitness(tilt(inside, multiplier, self._log_prior)[1], multiplier)

    def lower_bound(self, u: Vector, witness: BallWitness) -> float:
        """Return γ − λ r − λ log Σ π exp((γ − u)/λ), rounded downwards; min u for λ = 0.

        It is valid for every λ >= 0, and does not depend on γ but for rounding.
        """
        gamma, multiplier = witness
        if not (math.isfinite(gamma) and 0.0 <= multiplier < math.inf):
            return -math.inf
        if multiplier == 0.0:
            return float(self._inside(u).min())
        scale = Interval(multiplier)
        with np.errstate(all="ignore"):
            cost = scale * (Interval(self.radius) + self._log_partition(u, gamma, scale))
            return (Interval(gamma) - cost).down

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        """Return λ r + Σ π t − λ subject to λ exp(x/λ) <= t."""
        scale, mean, constraints = self._exponential_cone(x)
        return self._r * scale + mean - scale, constraints

    def cvxpy_relaxed_margin(self, u: Any, gamma: Any) -> tuple[Any, list[Any]]:
        """Return γ − λ r subject to λ Σ π exp((γ − u)/λ) <= λ."""
        scale, mean, constraints = self._exponential_cone(gamma - u)
        return gamma - self._r * scale, [mean <= scale, *constraints]

    def entropy_range(self, m: int) -> float:
        """Return min{log m', r + log max π + log m'}, m' the number of positive π.

        Σ d log d = KL(d‖π) + Σ d log π <= r + log max π, and it is never below −log m'.
        """
        inside = self._positive(m)
        top = -math.log(m) if self._log_prior is None else float(self._log_prior.max())
        return min(math.log(inside), self._r + top + math.log(inside))

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return (0, distance): d / Σd moved towards π by t = (KL − r)/KL lies in the ball.

        KL is convex and zero at π; and ‖d/Σd − π‖_1 <= min{2, √(2 KL)} (Pinsker).
        """
        if not self._outside_is_zero(d):
            return 0.0, 2.0
        with np.errstate(all="ignore"):
            divergence = Interval(self._divergence_bounds(d, total).up)
            excess = divergence - Interval(self.radius)
            if excess.up <= 0.0:
                return 0.0, 0.0
            share = excess.positive() / divergence
            return 0.0, min(2.0, (share * (2.0 * divergence).sqrt()).up)

    def penalty_near(self, d: Vector, total: tuple[float, float], distance: float) -> float:
        excess = self._largest_divergence(d, total, distance) - Interval(self.radius)
        return 0.0 if excess.up <= 0.0 else math.inf

    def _project(self, u: Vector, beta: float) -> tuple[Vector, float]:
        given = self._inside(u), beta, self._r, self._log_prior
        inside, multiplier = kl_ball_distribution(*given)
        d = self._spread_out(inside)
        # β log π may carry more roundings than the ball forgives.
        return (d if self.penalty(d) == 0.0 else self.repair(d)), multiplier

    def _exponential_cone(self, x: Any) -> tuple[Any, Any, list[Any]]:
        """Return λ, Σ π t and the constraints λ exp(x/λ) <= t."""
        pi = self._inside(self.center(x.shape[0]))
        if self._zeros is not None:
            x = x[np.flatnonzero(~self._zeros)]
        scale, t = cp.Variable(nonneg=True, name="multiplier"), cp.Variable(pi.size, name="t")
        return scale, pi @ t, [cp.ExpCone(x, scale * np.ones(pi.size), t)]
