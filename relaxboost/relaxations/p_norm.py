"""The p-norm ball and penalty for 1 < p < inf."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.digits import number, vector
from relaxboost._core.errors import InputError
from relaxboost._core.intervals import Interval
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import spell
from relaxboost.relaxations._projections import power, power_margin
from relaxboost.relaxations.base import as_margins
from relaxboost.relaxations.bounds import Witness
from relaxboost.relaxations.norms import NormBall, NormPenalty, OfNorm, Weights, hinge


def power_norm(size: Interval, p: Fraction) -> Interval:
    """Enclose the p-norm of a vector without overflow or underflow.

    The intervals `size` contain the absolute values of the entries.
    """
    largest = float(size.upper.max())
    if not largest < math.inf:
        return Interval(0.0, math.inf)
    # Quotients by a subnormal number are inaccurate. No p-norm exceeds the sum of the entries.
    if largest < 1e-290:
        return Interval(0.0, size.sum().upper)
    # A division by a power of two is exact. But the largest quotient is then between ½ and 1, and
    # its power underflows for a large p.
    exact_scale = largest < 1e300 and p < 100
    scale = Interval(2.0 ** math.frexp(largest)[1]) if exact_scale else Interval(largest)
    return (size / scale).power(p).sum().power(1 / p) * scale


def check_range(kind: str, exponent: Fraction | float, weights: Weights, ends: bool = True) -> None:
    """Raise InputError if the exponent p or the weights of a p-norm are out of range.

    The exponent must be between 1.00001 and 10001, or with `ends` also 1 or inf. Powers of the
    weights must not overflow or underflow. Messages call the relaxation `kind`.
    """
    if exponent == 1 or exponent == math.inf:
        return
    end = "1" if exponent < 2 else "math.inf"
    if not Fraction(1.00001) <= exponent <= 10001:
        range_ = f"{kind} needs 1.00001 <= p <= 10001"
        raise InputError(f"{range_}, or p = 1 or inf; use p = {end}" if ends else range_)
    if weights is None:
        return
    p = float(exponent)
    low = min(weights)
    high = max(weights)
    logs = [math.log(a.numerator) - math.log(a.denominator) for a in (low, high)]
    # e^600, times a number of examples or a margin, is a double.
    if max(p * abs(logs[0]), p * abs(logs[1]), p / (p - 1.0) * (logs[1] - logs[0])) > 600.0:
        raise InputError(
            f"{kind} with weights from {spell(low)} to {spell(high)} has powers of order "
            f"p = {p:g} that overflow or underflow; use p = {end}, or weights closer to 1"
        )


class _OfPNorm(OfNorm):
    def __post_init__(self) -> None:
        super().__post_init__()
        check_range(self.kind, self.p, self.weights)

    @property
    def dual(self) -> Fraction:
        """The exponent p' = p / (p − 1) of the dual norm."""
        return self.p / (self.p - 1)

    @cached_property
    def kappa(self) -> Vector:
        """The p-th powers of the norm weights a, as a vector of length m or 1."""
        return np.ascontiguousarray(self.enclosed.lower ** float(self.p))

    @property
    def q(self) -> float:
        """The exponent p − 1 of the derivative of d^p, as a double."""
        return float(self.p - 1)

    def gauge(self, d: Interval) -> Interval:
        return power_norm(d.abs() if self.weights is None else d.abs() * self.enclosed, self.p)

    def dual_of(self, x: Interval) -> Interval:
        return power_norm(x.abs() if self.weights is None else x.abs() / self.enclosed, self.dual)

    def size(self, d: Vector) -> float:
        largest = float(np.max(np.abs(d)))
        if largest == 0.0:
            return 0.0
        powers = self.kappa * np.power(np.abs(d) / largest, float(self.p))
        return largest * float(np.sum(powers)) ** (1.0 / float(self.p))

    def cvxpy_norm(self, d: Any) -> Any:
        d = d if self.weights is None else cp.multiply(self.enclosed.lower, d)
        return cp.norm(d, float(self.p))

    def cvxpy_dual(self, x: Any) -> tuple[Any, list[Any]]:
        x = x if self.weights is None else cp.multiply(1.0 / self.enclosed.lower, x)
        return cp.norm(x, float(self.dual)), []

    def extremes(self, m: int) -> tuple[float, float]:
        # The least ‖d‖ is 1 / ‖1‖_*, and the largest is attained at a vertex.
        least = self.dual_of(Interval(np.ones(m)))
        return 1.0 / float(least.upper) * (1.0 - 1e-15), float(self.enclosed.upper.max())

    def describe_norm(self) -> dict[str, Any]:
        weights = vector(self.weights)
        return {"kind": "p-norm", "p": number(self.p), "weights": weights, "factors": "1"}


@dataclass(frozen=True, repr=False)
class PNormBall(_OfPNorm, NormBall):
    """The ball that ``NormBall(p, radius, weights)`` returns for 1 < p < inf."""

    family = NormBall.family

    def center(self, m: int) -> Vector:
        # The point of smallest norm is proportional to a^{−p'}.
        if self.kappa.size == 1:
            return np.full(m, 1.0 / m)
        d = np.power(self.kappa / self.kappa.min(), -1.0 / self.q) * np.ones(m)
        return d / math.fsum(d.tolist())

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        gamma, d = self._minimise(u)
        return gamma - float(self.radius) * float(self.dual_of(hinge(gamma, u)).middle), d

    def _minimise(self, u: Vector) -> tuple[float, Vector]:
        u = as_margins(u, self)
        bound = float(self.p) * math.log(self.radius)
        gamma, _, d = power_margin.power_ball_margin(u, self.kappa, self.q, bound)
        return gamma, self.draw_in(d)

    def _distribution(self, u: Vector, beta: float) -> Vector:
        bound = float(self.p) * math.log(self.radius)
        return self.draw_in(power.power_ball(u, beta, self.kappa, self.q, bound))

    def witness(self, u: Vector) -> Witness:
        return Witness(self._minimise(u)[0])

    def entropy_range(self, m: int) -> float:
        # Rényi's entropy of order p is at most Shannon's entropy.
        least = 1.0 if self.weights is None else float(min(self.weights))
        share = float(self.dual) * math.log(float(self.radius) / least)
        return math.log(m) + min(0.0, max(share, -math.log(m)))


@dataclass(frozen=True, repr=False)
class PNormPenalty(_OfPNorm, NormPenalty):
    """The penalty that ``NormPenalty(p, weight, weights)`` returns for 1 < p < inf."""

    family = NormPenalty.family

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        u = as_margins(u, self)
        return power_margin.norm_penalty_margin(u, self.kappa, self.q, float(self.weight))

    def _distribution(self, u: Vector, beta: float) -> Vector:
        return power.norm_penalty(u, beta, self.kappa, self.q, float(self.weight))


NormBall.kinds[None] = PNormBall
NormPenalty.kinds[None] = PNormPenalty
