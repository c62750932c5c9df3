"""The norm max_i a_i |d_i|: its balls are caps, its multiples penalise the largest weight."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.digits import number, vector
from relaxboost._core.errors import InputError
from relaxboost._core.intervals import Interval
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import positive_size
from relaxboost.relaxations._projections.max_penalty import (
    max_penalty_distribution,
    max_penalty_margin,
)
from relaxboost.relaxations.balls import MAX_RADIUS_ERROR
from relaxboost.relaxations.base import as_margins
from relaxboost.relaxations.bounds import Witness
from relaxboost.relaxations.capped import Capped
from relaxboost.relaxations.caps import Caps
from relaxboost.relaxations.k_or_fraction import near_integer
from relaxboost.relaxations.linear import ExactForm
from relaxboost.relaxations.norms import NormBall, NormPenalty, OfNorm, show_norm
from relaxboost.relaxations.vectors import positive_vector


class _OfMaxNorm(OfNorm):
    _is_polyhedral = True

    def gauge(self, d: Interval) -> Interval:
        return (d.abs() * self.enclosed).max()

    def dual_of(self, x: Interval) -> Interval:
        return (x.abs() / self.enclosed).sum()

    def cvxpy_norm(self, d: Any) -> Any:
        a = self.factors * np.ones(d.shape[0])
        return cp.max(cp.multiply(a, d if d.is_nonneg() else cp.abs(d)))

    def cvxpy_dual(self, x: Any) -> tuple[Any, list[Any]]:
        return (1.0 / (self.factors * np.ones(x.shape[0]))) @ cp.abs(x), []

    def extremes(self, m: int) -> tuple[Interval, Interval]:
        one = Interval(np.ones(m))
        return 1.0 / (one / self.enclosed).sum(), (one * self.enclosed).max()

    def describe_norm(self) -> dict[str, Any]:
        return {"kind": "norm", "p": "inf", "weights": vector(self.weights)}


class CappedBall(Capped, _OfMaxNorm, NormBall):  # type: ignore[misc]
    """The ball that ``NormBall(inf, radius)`` returns.

    It equals ``Capped(1/radius)``, or ``Capped(1)`` if the radius exceeds 1.
    """

    family = Capped.family

    def __init__(self, p: Any, radius: Any, weights: None = None) -> None:
        r = positive_size("NormBall", "radius", radius)
        k = 1 / r
        # The radius 1/57 as a float means the cap of Capped(57).
        if isinstance(radius, float):
            k = near_integer(k)
        # No entry exceeds 1, so a radius above 1 has the effect of 1.
        super().__init__(k=max(k, Fraction(1)))
        _remember(self, r, None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Capped) and self.key() == other.key()

    __hash__ = Capped.__hash__


class CapsBall(Caps, _OfMaxNorm, NormBall):  # type: ignore[misc]
    """The ball that ``NormBall(inf, radius, weights)`` returns.

    It equals ``Caps(radius / weights)``.
    """

    family = Caps.family

    def __init__(self, p: Any, radius: Any, weights: Any) -> None:
        r = positive_size("NormBall", "radius", radius)
        a = positive_vector("NormBall", "weights", weights) or ()
        least = 1 / sum((1 / each for each in a), Fraction(0))
        # A float that is meant to be the least radius may be rounded down.
        if r < least * (1 - MAX_RADIUS_ERROR):
            raise InputError(
                f"{show_norm('NormBall', math.inf, r, a)} does not meet the simplex: the "
                f"radius must be at least {float(least):.12g}"
            )
        super().__init__([max(r, least) / each for each in a])
        _remember(self, max(r, least), a)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Caps) and self.caps == other.caps

    __hash__ = Caps.__hash__


def _remember(ball: Any, radius: Fraction, weights: Any) -> None:
    """Set the fields of `NormBall` on `ball`, because `Capped` and `Caps` lack them."""
    for name, value in (("p", math.inf), ("radius", radius), ("weights", weights)):
        object.__setattr__(ball, name, value)


@dataclass(frozen=True, repr=False)
class MaxPenalty(_OfMaxNorm, NormPenalty):
    """The penalty f(d) = c max_i a_i |d_i|, or ``NormPenalty(math.inf, c, weights)``.

    The relaxed margin F(u) is the γ with Σ [γ − u_i]_+ / a_i = c, and the conjugate f* is the
    indicator of Σ |θ_i| / a_i <= c.
    """

    family = "relaxboost.MaxPenalty"

    p: Any = field(compare=False)

    @property
    def _given(self) -> Vector | None:
        return None if self.weights is None else self.factors

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        u = as_margins(u, self)
        return max_penalty_margin(u, float(self.weight), self._given)

    def _distribution(self, u: Vector, beta: float) -> Vector:
        return max_penalty_distribution(u, beta, float(self.weight), self._given)

    def describe_witness(self, found: Witness, u: Sequence[Fraction]) -> dict[str, Any]:
        return {"gamma": number(self._level(u)), "floor": "0"}

    def _level(self, u: Sequence[Fraction]) -> Fraction:
        """Return the relaxed margin F(u) as a fraction: the γ with Σ [γ − u_i]_+ / a_i = c."""
        slope = Fraction(0)
        weighted = Fraction(0)
        level = Fraction(0)
        # γ solves the equation over the smallest margins, up to the first margin above γ.
        for x, a in sorted(zip(u, self.exact_weights(len(u)), strict=True)):
            if slope and level <= x:
                break
            slope += 1 / a
            weighted += x / a
            level = (self.weight + weighted) / slope
        return level

    def exact_form(self, m: int) -> ExactForm:
        # The cost is c z, with the constraints a_i d_i <= z.
        return ExactForm.free(m, 1)._replace(
            cost=[Fraction(0)] * m + [self.weight],
            rows=[{i: a, m: Fraction(-1)} for i, a in enumerate(self.exact_weights(m))],
            row_lower=[None] * m,
            row_upper=[Fraction(0)] * m,
        )


NormBall.kinds |= {math.inf: CappedBall, (math.inf, True): CapsBall}
NormPenalty.kinds[math.inf] = MaxPenalty
