"""The relative entropy to a prior distribution π, as a penalty and as a ball.

Both use the generalised relative entropy D(d‖π) = Σ (d_i log(d_i/π_i) − d_i + π_i) on R^m_+, with 0
log 0 = 0. On the simplex D is KL(d‖π). The minimum is D(π‖π) = 0. The domain contains no negative
d, so 0 is not in its core. D is not monotone, since D(t π‖π) > 0 for t < 1. So conditions (ii) and
(iii) of Shalev-Shwartz & Singer (2009), Thm 7, fail.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.intervals import Interval
from relaxboost._core.lazy import cp
from relaxboost._core.rounding import UNIT
from relaxboost.relaxations._projections.binary_entropy import logistic_distribution
from relaxboost.relaxations._projections.kl_ball import kl_ball_distribution, tilt
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
    """The divergence D(d) = Σ (d log(d/π) − d + π) on R^m_+ from a prior π.

    Entries of π may be 0.
    """

    alpha = Fraction(1)
    repair = OverPrior.repair

    def divergence(self, d: Vector) -> float:
        d = np.asarray(d, dtype=np.float64)
        if not (d >= 0.0).all() or not self._outside_is_zero(d):
            return math.inf
        pi = 1.0 / d.size if self.prior is None else self._inside(self._prior)
        # In terms of t = d/π − 1 the sum is accurate near the prior, where it is tiny.
        with np.errstate(over="ignore"):
            t = (self._inside(d) - pi) / pi
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = (1.0 + t) * np.log1p(t) - t
        terms[t == -1.0] = 1.0  # This is the limit for d = 0.
        return float(np.sum(pi * terms))

    def enclosed_divergence(self, d: Interval) -> Interval:
        y = d if self._zeros is None else d[~self._zeros]
        return (y * (y / self._pi(d.lower.size)).log()).sum()

    def _divergence_bounds(self, d: Vector, total: tuple[float, float]) -> Interval:
        """Return bounds on KL(d/Σd ‖ π) for a d that is 0 wherever π is 0.

        The interval `total` contains the sum Σd.
        """
        x = self._inside(d)
        pi = self._pi(d.size)
        y = Interval(x) / Interval(*total)
        t = (y - pi) / pi
        # Far from π the terms are y log(y/π) − y + π. For y = (1 + t) π near π, this formula would
        # cancel. There the terms are π ((1 + t) log(1 + t) − t), which is π t²/2 (1 ± |t|) for
        # |t| < 1/2.
        far = y * (y / pi).log() - y + pi
        near = (1.0 + t) * t.log1p() - t
        half = 0.5 * t.square()
        size = t.abs()
        near = pi * Interval(
            np.maximum(near.lower, (half * (1.0 - size)).lower),
            np.minimum(near.upper, (half * (1.0 + size)).upper),
        )
        close = size.upper < 0.5
        zero = x == 0.0  # The term is then π.
        ends = [
            np.where(close, a, np.where(zero, b, c))
            for a, b, c in ((near.lower, pi.lower, far.lower), (near.upper, pi.upper, far.upper))
        ]
        return Interval(*(np.maximum(end, 0.0) for end in ends)).sum()

    def _largest_divergence(
        self, d: Vector, total: tuple[float, float], distance: float
    ) -> Interval:
        """Return an interval whose upper end bounds KL(y‖π) for all points y near d / Σd.

        Each entry of y differs from that of d / Σd by at most `distance`, and the interval `total`
        contains Σd. If the prior π has zeros, the bound is inf.
        """
        # A prior with zeros excludes points at any distance.
        if self._zeros is not None:
            return Interval(math.inf)
        box = box_around(d, total, distance)
        pi = self._pi(d.size)
        # A convex term is largest at an end of its interval.
        with np.errstate(all="ignore"):
            ends = [Interval(y) * (Interval(y) / pi).log() for y in (box.lower, box.upper)]
        at_zero = box.lower == 0.0  # At zero, y log y is 0.
        return Interval(np.maximum(np.where(at_zero, 0.0, ends[0].upper), ends[1].upper)).sum()

    def _log_partition(self, u: Vector, gamma: float, temperature: Interval) -> Interval:
        """Return bounds on log Σ π exp((γ − u)/T) for a threshold γ and a temperature T."""
        u = self._inside(u)
        x = (Interval(gamma) - u) / temperature
        pi = self._pi(u.size)
        # If the sum is near 1, its logarithm is more accurate from the difference to 1.
        if max(abs(x.lower.min()), abs(x.upper.max())) < 1.0:
            return (pi * x.expm1()).sum().log1p()
        return (pi * x.exp()).sum().log()

    def _cvxpy_divergence(self, d: Any) -> Any:
        pi = self._inside(self.center(d.shape[0]))
        return cp.sum(cp.kl_div(d if self._zeros is None else d[np.flatnonzero(~self._zeros)], pi))

    def _cvxpy_domain(self, d: Any) -> list[Any]:
        return [] if self._zeros is None else [d[np.flatnonzero(self._zeros)] == 0]


class KLPenalty(_Entropic, DivergencePenalty, BinaryDistribution):
    """The penalty f(d) = c Σ (d log(d/π) − d + π) on R^m_+ for a weight c and a prior π.

    On the simplex f is c times the relative entropy to π. The relaxed margin is the soft minimum

        F(u) = −c log Σ π_i exp(−u_i/c)

    of the margins u, and its minimiser d is proportional to π exp(−u/c). The conjugate is
    f*(θ) = c Σ π (exp(θ/c) − 1). If the weights w of a game with matrix A are in the unit l1 ball,
    the value of the game is −c times the logarithm of the smallest mean exponential loss
    Σ π_i exp(−(A v)_i) over ‖v‖_1 <= 1/c. For c -> 0 the value tends to the hard margin of the
    examples with π_i > 0. For c -> inf it tends to the largest edge under π.

    Parameters
    ----------
    weight : int, float or Fraction
        The weight c in [1e-100, 1e100].
    prior : vector of m numbers >= 0, optional
        The numbers must sum to one within 1e-9, and π is the vector divided by its exact sum. By
        default π is uniform. If π_i = 0, then d_i = 0.

    Raises
    ------
    InputError
        If the weight is out of range, or if the prior does not sum to one. The declaration of a
        game raises InputError if the prior does not have m entries.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 5 (soft-max as relaxation), Sec. 6, Appendix B.

    Examples
    --------
    >>> import numpy as np
    >>> import relaxboost as rb
    >>> u = np.array([0.0, 1.0])
    >>> margin, d = rb.KLPenalty(1).relaxed_margin(u)
    >>> bool(np.isclose(margin, -np.log(np.exp(-u).mean())))
    True
    >>> d.round(3).tolist()
    [0.731, 0.269]
    """

    family = "relaxboost.KLPenalty"

    def conjugate(self, theta: Vector) -> float:
        theta = np.asarray(theta, dtype=np.float64)
        with np.errstate(over="ignore"):
            grown = np.expm1(self._inside(theta) / self._strength)
            return self._strength * float(self._inside(self.center(theta.size)) @ grown)

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        d, value = tilt(self._inside(as_margins(u, self)), self._strength, self._log_prior)
        return value, self._spread_out(d)

    def _distribution(self, u: Vector, beta: float) -> Vector:
        # The minimiser is proportional to exp((c log π − u)/(c + β)).
        g = self._inside(u)
        temperature = self._strength + beta
        # `tilt` multiplies by π. This term leaves π to the power c/(c + β).
        if self._log_prior is not None:
            g = g + beta * (self._log_prior - self._log_prior.max())
        return self._spread_out(tilt(g, temperature, self._log_prior)[0])

    def _binary_distribution(self, u: Vector, beta: float) -> Vector:
        # The minimiser has (c + β) log d − β log(1 − d) = γ − u + c log π and Σd = 1.
        g = self._inside(u)
        temperature = self._strength + beta
        if self._log_prior is not None:
            g = g - self._strength * (self._log_prior - self._log_prior.max())
        share = max(beta / temperature, 1e-300)
        return self._spread_out(logistic_distribution(g, temperature, share=share)[0])

    def witness(self, u: Vector) -> Witness:
        # F(u) is the threshold γ with f*(γ − u) = 0.
        return Witness(self.relaxed_margin(u)[0])

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        # γ − c log Σ π exp((γ − u)/c) is F(u) for every γ. A γ near F(u) avoids overflow.
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
        # F(u) is the largest γ with log Σ exp(log π − u/c) <= −γ/c.
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
    """The indicator of Σ (d log(d/π) − d + π) <= r and d >= 0 for a radius r and a prior π.

    On the simplex this is the ball of relative entropy KL(d‖π) <= r. The relaxed margin of margins
    u is

        F(u) = max over λ >= 0 of −λ r − λ log Σ π_i exp(−u_i/λ),

    where the term for λ = 0 is min_i u_i. The minimiser d is proportional to π exp(−u/λ) for the λ
    with KL(d‖π) = r. If the constraint is slack, λ is 0. The conjugate is the infimum of
    λ r + λ Σ π (exp(θ/λ) − 1) over λ > 0. If r >= log(1/min π), the ball contains the simplex, and
    F is the hard margin. For r -> 0 the ball shrinks to the prior.

    Parameters
    ----------
    radius : int, float or Fraction
        The radius r in [1e-100, 1e100].
    prior : vector of m numbers >= 0, optional
        The prior π, as for `KLPenalty`.

    Raises
    ------
    InputError
        If the radius is out of range, or if the prior does not sum to one. The declaration of a
        game raises InputError if the prior does not have m entries.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 6 (additional constraints on d), Thm 7.

    Examples
    --------
    >>> import numpy as np
    >>> import relaxboost as rb
    >>> margin, d = rb.KLBall(0.1).relaxed_margin(np.array([0.0, 1.0]))
    >>> bool(np.isclose((d * np.log(2.0 * d)).sum(), 0.1))  # the constraint is active
    True
    >>> d.round(3).tolist()
    [0.72, 0.28]
    """

    family = "relaxboost.KLBall"
    least: ClassVar[Fraction] = Fraction(1, 10**100)

    @property
    def _r(self) -> float:
        return float(self.radius)

    def penalty(self, d: Vector) -> float:
        allowed = self._r + 64.0 * UNIT * (self._r + math.sqrt(self._r))
        return 0.0 if self.divergence(d) <= allowed else math.inf

    def conjugate(self, theta: Vector) -> float:
        # f*(θ) is the minimum of λ r + λ Σ π (exp(θ/λ) − 1), found by bisection on log 1/λ.
        theta = np.asarray(theta, dtype=np.float64)
        pi = self._inside(self.center(theta.size))
        theta = self._inside(theta)
        size = float(np.abs(theta).max(initial=0.0))
        if size == 0.0:
            return 0.0
        z = theta / size
        if z.max() <= 0.0 and float(pi[z < 0.0].sum()) <= self._r:
            return 0.0  # The ball contains π with zeros wherever θ < 0.

        # The derivative in λ is r − D(π exp(θ/λ)‖π), which increases with λ.
        def derivative(log_eta: float) -> float:
            with np.errstate(over="ignore", invalid="ignore"):
                x = math.exp(log_eta) * z
                grown = np.expm1(x)
                terms = np.where(np.abs(x) < 1.0, x * grown + (x - grown), x * np.exp(x) - grown)
                terms[grown == np.inf] = np.inf
            return self._r - float(pi @ terms)

        # For |x| <= 1 a term of D is at most x², so D <= r at the left end. The right end is the
        # largest 1/λ that is a double.
        left = min(0.0, 0.5 * math.log(self._r)) - 1.0
        right = 700.0
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
        return self._project(u, beta)[0]

    def witness(self, u: Vector) -> BallWitness:
        u = as_margins(u, self)
        multiplier = self._project(u, 0.0)[1]
        inside = self._inside(u)
        if multiplier == 0.0:
            return BallWitness(float(inside.min()), 0.0)
        return BallWitness(tilt(inside, multiplier, self._log_prior)[1], multiplier)

    def lower_bound(self, u: Vector, witness: BallWitness) -> float:
        # γ − λ r − λ log Σ π exp((γ − u)/λ) is a lower bound for every λ >= 0. It depends on γ only
        # by rounding, and is min u for λ = 0.
        gamma, multiplier = witness
        if not (math.isfinite(gamma) and 0.0 <= multiplier < math.inf):
            return -math.inf
        if multiplier == 0.0:
            return float(self._inside(u).min())
        scale = Interval(multiplier)
        with np.errstate(all="ignore"):
            cost = scale * (Interval(self.radius) + self._log_partition(u, gamma, scale))
            return (Interval(gamma) - cost).down

    def _cvxpy_divergence(self, d: Any) -> Any:
        # Clarabel fails on small balls if the entries are about 1/m instead of 1.
        pi = self._inside(self.center(d.shape[0]))
        inside = d if self._zeros is None else d[np.flatnonzero(~self._zeros)]
        return cp.sum(cp.kl_div(pi.size * inside, pi.size * pi)) / pi.size

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        # f*(x) is the least λ r + Σ π t − λ subject to λ exp(x/λ) <= t.
        scale, mean, constraints = self._exponential_cone(x)
        return self._r * scale + mean - scale, constraints

    def cvxpy_relaxed_margin(self, u: Any, gamma: Any) -> tuple[Any, list[Any]]:
        # F(u) is the largest γ − λ r subject to λ Σ π exp((γ − u)/λ) <= λ.
        scale, mean, constraints = self._exponential_cone(gamma - u)
        return gamma - self._r * scale, [mean <= scale, *constraints]

    def entropy_range(self, m: int) -> float:
        # Σ d log d = KL(d‖π) + Σ d log π <= r + log max π, and it is never below −log m', where m'
        # is the number of positive π_i.
        inside = self._positive(m)
        top = -math.log(m) if self._log_prior is None else float(self._log_prior.max())
        return min(math.log(inside), self._r + top + math.log(inside))

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        # KL is convex and zero at π. So d / Σd moved towards π by the share (KL − r)/KL of the way
        # is in the ball, and the whole way is at most min{2, √(2 KL)} (Pinsker's inequality).
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
        """Return the minimiser of <d, u> + β Σ d log d in the KL ball, and its multiplier λ."""
        u = self._inside(u)
        inside, multiplier = kl_ball_distribution(u, beta, self._r, self._log_prior)
        d = self._spread_out(inside)
        # The roundings of β log π may put d outside the ball by more than `penalty` allows.
        return (d if self.penalty(d) == 0.0 else self.repair(d)), multiplier

    def _exponential_cone(self, x: Any) -> tuple[Any, Any, list[Any]]:
        """Return the term λ Σ π exp(x/λ) of the conjugate as cvxpy expressions.

        The results are the variable λ >= 0, the expression Σ π t for new variables t, and the
        constraints λ exp(x/λ) <= t.
        """
        pi = self._inside(self.center(x.shape[0]))
        if self._zeros is not None:
            x = x[np.flatnonzero(~self._zeros)]
        scale = cp.Variable(nonneg=True, name="multiplier")
        t = cp.Variable(pi.size, name="t")
        return scale, pi @ t, [cp.ExpCone(x, scale * np.ones(pi.size), t)]
