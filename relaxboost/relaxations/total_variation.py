"""The total-variation ball around a prior distribution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.intervals import Interval
from relaxboost._core.lazy import cp
from relaxboost.relaxations._projections.caps import (
    variation_ball_distribution,
    variation_ball_margin,
)
from relaxboost.relaxations.balls import Ball
from relaxboost.relaxations.base import Traits, as_margins
from relaxboost.relaxations.bounds import Witness
from relaxboost.relaxations.k_or_fraction import exact_between
from relaxboost.relaxations.linear import ExactForm
from relaxboost.relaxations.priors import OverPrior, check_prior


@dataclass(frozen=True, repr=False)
class TotalVariationBall(Ball, OverPrior):
    """The indicator of ½ ‖d − π‖_1 <= r on R^m for a radius r and a prior distribution π.

    A distribution d in the ball is obtained from π by moving a total weight of at most r between
    examples. The worst distribution moves the weight r from the largest margins to the smallest
    margin (Jiang & Guan 2018). So the relaxed margin is F(u) = r min u + (1 − r) M, where M is the
    mean under π of the smallest margins, whose weights in π sum to 1 − r. An example with π_i = 0
    can gain weight. The conjugate is f*(θ) = <π, θ> + 2r ‖θ‖_inf. For m > 1, f is not monotone
    (condition (iii) of SS09 Thm 7): if another entry of d = π + 2r e_1 is set to 0, f becomes
    infinite.

    Parameters
    ----------
    radius : int, float or Fraction
        The radius r in [1e-9, 1], kept exactly. With r = 1 the ball contains every distribution.
    prior : vector of m numbers >= 0, optional
        The prior π. The numbers must sum to one within 1e-9, and they are divided by their exact
        sum. By default π is uniform.

    Raises
    ------
    InputError
        If r is out of range, or if the prior is not a distribution. A game raises InputError if the
        prior does not have m entries.

    Examples
    --------
    >>> import relaxboost as rb
    >>> rb.relaxations.TotalVariationBall(0.25).relaxed_margin([0.0, 1.0, 2.0, 3.0])
    (0.75, array([0.5 , 0.25, 0.25, 0.  ]))
    """

    family = "relaxboost.TotalVariationBall"

    radius: Any
    prior: Any = None

    def __post_init__(self) -> None:
        name = type(self).__name__
        # A smaller radius would not be far above the rounding errors of π.
        radius = exact_between(name, "radius", self.radius, Fraction(1, 10**9), 1)
        object.__setattr__(self, "radius", radius)
        object.__setattr__(self, "prior", check_prior(name, self.prior))

    @property
    def traits(self) -> Traits:
        # The origin is at the distance ½ from π. It is in the core of the ball if r exceeds ½.
        core = 2 * self.radius > 1
        return Traits(True, symmetric=self.prior is None, zero_minimum=True, zero_in_core=core)

    def gauge(self, d: Interval) -> Interval:
        distance = (d - self._enclosed(d.lower.size)).abs().sum()
        return Interval(0.5 * distance.lower, 0.5 * distance.upper)

    def conjugate(self, theta: Vector) -> float:
        return float(self.center(len(theta)) @ theta + 2 * float(self.radius) * np.abs(theta).max())

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        return variation_ball_margin(as_margins(u, self), self.center(len(u)), float(self.radius))

    def _distribution(self, u: Vector, beta: float) -> Vector:
        return variation_ball_distribution(u, beta, self.center(u.size), float(self.radius))

    def witness(self, u: Vector) -> Witness:
        # γ is midway between min u and b, the largest margin with a positive weight in the
        # minimiser.
        u = as_margins(u, self)
        kept = self.relaxed_margin(u)[1] > 0.0
        return Witness(0.5 * float(u[kept].max()) + 0.5 * float(u.min()))

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        # <π, min{u, b}> − r (b − min u) is a lower bound on F(u) for every b.
        low = float(np.min(u))
        b = 2.0 * float(witness.gamma) - low
        with np.errstate(over="ignore", invalid="ignore"):
            rise = ((Interval(np.minimum(u, b)) - low) * self._enclosed(len(u))).sum()
            return (rise + low - (Interval(b) - low) * Interval(self.radius)).down

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        return 0.0, [cp.norm1(d - self.center(d.shape[0])) <= 2.0 * float(self.radius)]

    def exact_form(self, m: int) -> ExactForm:
        # z_i is at least the decrease π_i − d_i, and Σd + 2 Σz <= 1 + 2r.
        total = {i: Fraction(1 if i < m else 2) for i in range(2 * m)}
        return ExactForm.free(m, m)._replace(
            rows=[*({i: Fraction(1), m + i: Fraction(1)} for i in range(m)), total],
            row_lower=[*self._exact(m), None],
            row_upper=[*[None] * m, 1 + 2 * self.radius],
        )

    def exact_multipliers(self, u: Sequence[Fraction]) -> tuple[Fraction, list[Fraction]]:
        low = min(u)
        order = sorted(range(len(u)), key=u.__getitem__, reverse=True)
        mass = accumulate(map(self._exact(len(u)).__getitem__, order))
        b = next((u[i] for i, above in zip(order, mass, strict=True) if above > self.radius), low)
        return (low + b) / 2, [*(min(x, b) - low for x in u), (low - b) / 2]

    def exact_auxiliaries(self, d: Sequence[Fraction]) -> list[Fraction]:
        return [max(p - x, Fraction(0)) for p, x in zip(self._exact(len(d)), d, strict=True)]
