"""The norm Σ a_i |d_i|, which is linear on the simplex, as a ball and as a penalty."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from operator import add
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.digits import number, vector
from relaxboost._core.intervals import Interval
from relaxboost._core.lazy import cp
from relaxboost._core.roots import decreasing_root
from relaxboost.relaxations._projections.capped import capped_distribution
from relaxboost.relaxations.base import as_margins
from relaxboost.relaxations.bounds import Witness
from relaxboost.relaxations.linear import ExactForm
from relaxboost.relaxations.norms import NormBall, NormPenalty, OfNorm


class _OfSumNorm(OfNorm):
    _is_polyhedral = True

    def gauge(self, d: Interval) -> Interval:
        return (d.abs() * self.enclosed).sum()

    def dual_of(self, x: Interval) -> Interval:
        return (x.abs() / self.enclosed).max()

    def cvxpy_norm(self, d: Any) -> Any:
        return (self.factors * np.ones(d.shape[0])) @ (d if d.is_nonneg() else cp.abs(d))

    def cvxpy_dual(self, x: Any) -> tuple[Any, list[Any]]:
        return cp.max(cp.multiply(1.0 / (self.factors * np.ones(x.shape[0])), cp.abs(x))), []

    def extremes(self, m: int) -> tuple[float, float]:
        return float(self.factors.min()), float(self.factors.max())

    def describe_norm(self) -> dict[str, Any]:
        return {"kind": "norm", "p": "1", "weights": vector(self.weights)}


@dataclass(frozen=True, repr=False)
class SumBall(_OfSumNorm, NormBall):
    """The indicator of Σ a_i |d_i| <= radius, which is ``NormBall(1, radius, weights)``.

    The relaxed margin is F(u) = max over λ >= 0 of min_i (u_i + λ a_i) − λ r, and the conjugate is
    f*(θ) = r max_i |θ_i| / a_i. Without weights the ball contains every distribution if r >= 1, and
    no distribution if r < 1.
    """

    family = "relaxboost.SumBall"

    p: Any = field(compare=False)

    def center(self, m: int) -> Vector:
        a = self.factors * np.ones(m)
        least = a == a.min()
        return least / np.count_nonzero(least)

    def _multiplier(self, u: Vector) -> tuple[float, float, Vector]:
        """Return the threshold γ = min_i (u_i + λ a_i), the multiplier λ, and the minimiser d.

        λ maximises γ − λ r for the radius r.
        """
        a = self.factors * np.ones(u.size)
        r = float(self.radius)
        i = int(np.lexsort((a, u))[0])
        j = int(np.lexsort((u, a))[0])
        d = np.zeros(u.size)
        # The vertex with the least margin is in the ball.
        if a[i] <= r or self.flat:
            d[i] = 1.0
            return float(u[i]), 0.0, d
        # This function of λ is concave and piecewise linear. A rising line i and a falling line j
        # bound it from above.
        before = math.inf
        while True:
            multiplier = max(0.0, (u[j] - u[i]) / (a[i] - a[j]))
            values = u + multiplier * a
            lowest = int(np.argmin(values))
            least = min(values[i], values[j])
            # If rounding lets the crossing of the lines rise, many lines meet at the maximum.
            crossing = least - r * multiplier
            if lowest in (i, j) or values[lowest] >= least or crossing >= before:
                break
            before = crossing
            # The lowest line at the crossing replaces the line with the same sign of the slope.
            if a[lowest] > r:
                i = lowest
            else:
                j = lowest
        share = min(1.0, max(0.0, (r - a[j]) / (a[i] - a[j])))
        d[i] = share
        d[j] = 1.0 - share
        return float(values.min()), multiplier, d

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        u = as_margins(u, self)
        gamma, multiplier, d = self._multiplier(u)
        return gamma - multiplier * float(self.radius), self.draw_in(d)

    # With equal weights the ball contains every distribution, whatever the roundings of a gauge.
    def draw_in(self, d: Vector, inside: Vector | None = None) -> Vector:
        return d if self.flat else super().draw_in(d, inside)

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        return (0.0, 0.0) if self.flat else super().penalty_bound(d, total)

    def penalty_near(self, d: Vector, total: tuple[float, float], distance: float) -> float:
        return 0.0 if self.flat else super().penalty_near(d, total, distance)

    def _distribution(self, u: Vector, beta: float) -> Vector:
        # d is proportional to exp(−(u + λ a)/β), where λ >= 0 solves Σ a_i d_i = r if the ball
        # binds.
        a = self.factors * np.ones(u.size)
        r = float(self.radius)
        outside = capped_distribution(u, beta)
        if self.flat or float(a @ outside) <= r:
            return outside
        inside = self.center(u.size)

        # Σ a_i d_i falls as λ = e^x grows, with the derivative −Var(a)/β in λ.
        def excess(x: float) -> tuple[float, float]:
            nonlocal inside, outside
            multiplier = math.exp(x)
            d = capped_distribution(u + multiplier * a, beta)
            mean = float(a @ d)
            if mean <= r:
                inside = d
            else:
                outside = d
            return mean / r - 1.0, -multiplier * float(d @ np.square(a - mean)) / beta / r

        start = math.log((beta + float(np.ptp(u))) / float(np.ptp(a)))
        decreasing_root(excess, start, 1.0, 1e-13)
        # For a small β, `inside` and `outside` differ although their multipliers are almost equal.
        return self.draw_in(outside, inside)

    def witness(self, u: Vector) -> Witness:
        return Witness(self._multiplier(as_margins(u, self))[0])

    def exact_form(self, m: int) -> ExactForm:
        row = dict(enumerate(self.exact_weights(m)))
        return ExactForm.free(m)._replace(rows=[row], row_lower=[None], row_upper=[self.radius])


@dataclass(frozen=True, repr=False)
class SumPenalty(_OfSumNorm, NormPenalty):
    """The penalty f(d) = c Σ a_i |d_i|, which is ``NormPenalty(1, c, weights)``.

    The relaxed margin is F(u) = min_i (u_i + c a_i), and the conjugate f* is the indicator of
    |θ_i| <= c a_i. Without weights f is the constant c on the simplex.
    """

    family = "relaxboost.SumPenalty"

    p: Any = field(compare=False)

    @property
    def _costs(self) -> Vector:
        return float(self.weight) * self.factors

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        value = as_margins(u, self) + self._costs
        i = int(np.argmin(value))
        return float(value[i]), np.eye(1, value.size, i)[0]

    def _distribution(self, u: Vector, beta: float) -> Vector:
        return capped_distribution(u + self._costs, beta)

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        # The bound does not depend on the witness.
        margins = Interval(np.asarray(u, dtype=np.float64))
        return (margins + Interval(self.weight) * self.enclosed).min().down

    def describe_witness(self, found: Witness, u: Sequence[Fraction]) -> dict[str, Any]:
        costs = [self.weight * a for a in self.exact_weights(len(u))]
        return {"gamma": number(min(map(add, u, costs))), "floor": "0"}

    def exact_form(self, m: int) -> ExactForm:
        return ExactForm.free(m)._replace(cost=[self.weight * a for a in self.exact_weights(m)])


NormBall.kinds[1] = SumBall
NormPenalty.kinds[1] = SumPenalty
