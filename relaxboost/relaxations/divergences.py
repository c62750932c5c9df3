"""The divergences by name; `power_divergences` has what they share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import exact, spell
from relaxboost.relaxations.power_divergences import (
    DivergenceBall,
    DivergencePenalty,
    PowerDivergence,
)


class _ChiSquare:
    """χ²(d, π) = Σ (d − π)² / π, on all of R^m."""

    alpha = Fraction(2)
    scale = Fraction(2)


class _Hellinger:
    """The squared Hellinger distance Σ (√d − √π)²."""

    alpha = Fraction(1, 2)
    scale = Fraction(1, 2)


class ChiSquarePenalty(_ChiSquare, DivergencePenalty):
    """f(d) = weight · Σ (d − π)² / π on R^m.

    f*(θ) = Σ π θ (1 + θ / (4c)). Meets conditions (i) and (ii) of SS09 Thm 7 and breaks (iii):
    its hinge form is wrong, the package's ρ is right.

    Parameters
    ----------
    weight : int, float or Fraction
        c, in [1e-100, 1e100].
    prior : vector of m numbers > 0, optional
        They sum to one within 1e-9; by default uniform.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 6 (l2 constraints on the distribution).
    """

    family = "relaxboost.ChiSquarePenalty"


class ChiSquareBall(_ChiSquare, DivergenceBall):
    """The indicator of Σ (d − π)² / π <= radius.

    About the uniform prior it plays the same game as ``NormBall(2, sqrt((1 + r) / m))``, since
    Σ (d − 1/m)² m = m ‖d‖² − 1 on the simplex; but off it the two differ, and of the two only
    the norm ball meets condition (iii) of SS09 Thm 7.

    Parameters
    ----------
    radius : int, float or Fraction
        r, in [1e-9, 1e100].
    prior : vector of m numbers > 0, optional
        They sum to one within 1e-9; by default uniform.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 6 (l2 constraints on the distribution).
    """

    family = "relaxboost.ChiSquareBall"

    def conjugate(self, theta: Vector) -> float:
        """Return <θ, π> + sqrt(r Σ π θ²)."""
        theta = np.asarray(theta, dtype=np.float64)
        pi = self.center(theta.size)
        return float(pi @ theta) + math.sqrt(float(self.radius) * float(pi @ np.square(theta)))


class HellingerPenalty(_Hellinger, DivergencePenalty):
    """f(d) = weight · Σ (√d − √π)² on R^m_+; every weight stays positive.

    f*(θ) = Σ π θ / (1 − θ/c), infinite where a θ reaches c. Parameters as for `ChiSquarePenalty`.
    """

    family = "relaxboost.HellingerPenalty"


class HellingerBall(_Hellinger, DivergenceBall):
    """The indicator of Σ (√d − √π)² <= radius; it binds for radius < 2 − 2 √(min π) at most.

    Parameters as for `ChiSquareBall`.
    """

    family = "relaxboost.HellingerBall"


@dataclass(frozen=True, repr=False)
class _Power(PowerDivergence):
    """The divergence of an order that is a parameter."""

    order: Any

    def __post_init__(self) -> None:
        kind = type(self).__name__
        order = exact(kind, "order", self.order)
        if abs(order - 1) < Fraction(999, 10**6) or not Fraction(1, 20) <= order <= 20:
            raise InputError(
                f"{kind} needs an order in [0.05, 20] that differs from 1 by 0.001 at least, got "
                f"{spell(order)}; order 1 is KLPenalty or KLBall"
            )
        object.__setattr__(self, "order", order)
        super().__post_init__()

    @property
    def alpha(self) -> Fraction:
        return self.order


@dataclass(frozen=True, repr=False)
class PowerPenalty(DivergencePenalty, _Power):
    """f(d) = weight · Σ π φ(d/π) with φ(t) = (t^α − α t + α − 1) / (α (α − 1)).

    α = 2 is half of χ², α = 1/2 twice the squared Hellinger distance.

    Parameters
    ----------
    order : int, float or Fraction
        α in [0.05, 20], and not within 0.001 of 1 (which is `KLPenalty`).
    weight, prior
        As for `ChiSquarePenalty`.

    References
    ----------
    Cressie & Read (1984) for the family.
    """

    family = "relaxboost.PowerPenalty"


@dataclass(frozen=True, repr=False)
class PowerBall(DivergenceBall, _Power):
    """The indicator of Σ π φ(d/π) <= radius; φ and the parameters are those of `PowerPenalty`."""

    family = "relaxboost.PowerBall"
