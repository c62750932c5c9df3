"""The ball of distributions within a total variation distance of a prior."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.intervals import Interval
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import exact, spell
from relaxboost.relaxations._projections import capped_distribution, caps_distribution
from relaxboost.relaxations.balls import Ball
from relaxboost.relaxations.base import Traits, as_margins
from relaxboost.relaxations.bounds import Witness
from relaxboost.relaxations.linear import ZERO, ExactForm
from relaxboost.relaxations.priors import OverPrior, check_prior


@dataclass(frozen=True, repr=False)
class TotalVariationBall(Ball, OverPrior):
    """The indicator of ½ ‖d − π‖_1 <= radius on R^m: at most this much mass of π may move.

    The worst distribution takes the mass r = `radius` from the largest margins and gives it to the
    smallest one: F(u) is r · min u plus 1 − r times the mean of the smallest margins that hold the
    share 1 − r of π. An example whose prior is zero may gain weight. f*(θ) = <π, θ> + 2r ‖θ‖_inf.
    Condition (iii) fails if m > 1: take an example with π_i < 1, and let d exceed π there by 2r and
    be equal to π elsewhere. If another entry of d, with a prior, becomes zero, f becomes infinite.

    Parameters
    ----------
    radius : int, float or Fraction
        r in [1e-9, 1], kept exactly. With 1 the ball holds every distribution.
    prior : vector of m numbers >= 0, optional
        They sum to one within 1e-9 and are divided by their exact sum; by default uniform.

    Raises
    ------
    InputError
        If the radius is out of range, the prior is no distribution, or has no entry for each
        example (when the game is declared).

    Examples
    --------
    >>> import relaxboost as rb
    >>> rb.relaxations.TotalVariationBall(0.25).relaxed_margin([0.0, 1.0, 2.0, 3.0])
    (0.75, array([0.5 , 0.25, 0.25, 0.  ]))

    References
    ----------
    Jiang & Guan (2018), Risk-averse two-stage stochastic program with distributional ambiguity,
    Operations Research 66(5): the worst case mixes a CVaR and the essential supremum.
    """

    family = "relaxboost.TotalVariationBall"

    radius: Any
    prior: Any = None

    def __post_init__(self) -> None:
        name, radius = type(self).__name__, exact(type(self).__name__, "radius", self.radius)
        if not Fraction(1, 10**9) <= radius <= 1:  # a smaller one drowns in roundings of π
            raise InputError(f"{name} needs 1e-9 <= radius <= 1, got {spell(radius)}")
        object.__setattr__(self, "radius", radius)
        object.__setattr__(self, "prior", check_prior(name, self.prior))

    @property
    def traits(self) -> Traits:
        """Polyhedral; symmetric without a prior; (ii) if the origin, ½ away from π, is inside."""
        core = self.radius > Fraction(1, 2)
        return Traits(True, symmetric=self.prior is None, zero_minimum=True, zero_in_core=core)

    @property
    def bound(self) -> Fraction:
        return 2 * self.radius

    def gauge(self, d: Interval) -> Interval:
        return (d - self._enclosed(d.lower.size)).abs().sum()

    def conjugate(self, theta: Vector) -> float:
        mean = math.fsum((self.center(len(theta)) * theta).tolist())
        return mean + float(self.bound) * float(np.abs(theta).max())

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        """Return F(u) and its minimiser; among the smallest margins the first one gains mass."""
        u, r = as_margins(u, self), float(self.radius)
        order, d = np.argsort(-u, kind="stable"), np.empty(u.size)
        kept = np.maximum(np.cumsum(self.center(u.size)[order]) - r, 0.0)
        d[order] = np.diff(kept, prepend=0.0)
        d[np.argmin(u)] += r
        return math.fsum((d * u).tolist()), d

    def _distribution(self, u: Vector, beta: float) -> Vector:
        """Return max{x e, min{π, y e}} with e = exp(−u/β), x and y such that the mass r moves.

        The iteration of Michelot (1986) finds the examples that gain mass. It starts from all
        examples and drops those whose weight would be below π.
        """
        prior, r, d = self.center(u.size), float(self.radius), capped_distribution(u, beta, 1.0)
        if r == 1.0 or np.maximum(prior - d, 0.0).sum() <= r:  # the ball does not bind
            return d
        d = (1.0 - r) * caps_distribution(u, beta, prior / (1.0 - r))
        gains, above = np.arange(u.size), np.zeros(1, dtype=bool)
        while not above.all():
            more = (prior[gains].sum() + r) * capped_distribution(u[gains], beta, 1.0)
            above = more > prior[gains]
            gains, more = gains[above], more[above]
        d[gains] = more
        return d

    def witness(self, u: Vector) -> Witness:
        """Return γ midway between the least margin and b, the largest margin that keeps mass."""
        u = as_margins(u, self)
        kept = self.relaxed_margin(u)[1] > 0.0
        return Witness(0.5 * float(u[kept].max()) + 0.5 * float(u.min()))

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        """Return <π, min{u, b}> − r (b − min u) with b = 2γ − min u, valid for every b."""
        low = float(np.min(u))
        b = 2.0 * float(witness.gamma) - low
        with np.errstate(over="ignore", invalid="ignore"):
            rise = ((Interval(np.minimum(u, b)) - low) * self._enclosed(len(u))).sum()
            return (rise + low - (Interval(b) - low) * Interval(self.radius)).down

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        return 0.0, [cp.norm1(d - self.center(d.shape[0])) <= float(self.bound)]

    def exact_form(self, m: int) -> ExactForm:
        """Return d_i + z_i >= π_i and Σd + 2Σz <= 1 + 2r; z is the mass that d lacks."""
        one = Fraction(1)
        total = dict.fromkeys(range(m), one) | dict.fromkeys(range(m, 2 * m), 2 * one)
        return ExactForm.free(m, m)._replace(
            rows=[*({i: one, m + i: one} for i in range(m)), total],
            row_lower=[*self._exact(m), None],
            row_upper=[*[None] * m, 1 + self.bound],
        )

    def exact_multipliers(self, u: Sequence[Fraction]) -> tuple[Fraction, list[Fraction]]:
        """Return γ, then min{u, b} − min u for every d_i and (min u − b)/2; see `witness` for b."""
        order, low = sorted(range(len(u)), key=u.__getitem__, reverse=True), min(u)
        mass = accumulate(map(self._exact(len(u)).__getitem__, order))
        b = next((u[i] for i, above in zip(order, mass, strict=True) if above > self.radius), low)
        return (low + b) / 2, [*(min(x, b) - low for x in u), (low - b) / 2]

    def exact_auxiliaries(self, d: Sequence[Fraction]) -> list[Fraction]:
        return [max(p - x, ZERO) for p, x in zip(self._exact(len(d)), d, strict=True)]
