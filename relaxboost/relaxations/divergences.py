"""Relaxations from the χ², Hellinger and power divergences."""

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


class ChiSquarePenalty(DivergencePenalty):
    """The penalty f(d) = c Σ (d − π)² / π on R^m, for a weight c and a prior distribution π.

    The conjugate is f*(θ) = Σ π θ (1 + θ / (4c)). The penalty is not monotone (condition (iii) of
    SS09 Thm 7), so its relaxed margin follows from the general formula of `Relaxation`.

    Parameters
    ----------
    weight : int, float or Fraction
        The weight c in [1e-100, 1e100].
    prior : vector of m numbers > 0, optional
        The prior π. The entries must sum to one within 1e-9. By default π is uniform.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 6 (l2 constraints on the distribution).
    """

    family = "relaxboost.ChiSquarePenalty"
    alpha = Fraction(2)
    scale = Fraction(2)


class ChiSquareBall(DivergenceBall):
    """The indicator of Σ (d − π)² / π <= r, for a radius r and a prior distribution π.

    With the uniform prior, a game has the same value as with ``NormBall(2, sqrt((1 + r) / m))``,
    since Σ (d − 1/m)² m = m ‖d‖² − 1 on the simplex. Outside the simplex the two balls differ, and
    only the norm ball is monotone (condition (iii) of SS09 Thm 7).

    Parameters
    ----------
    radius : int, float or Fraction
        The radius r in [1e-9, 1e100].
    prior : vector of m numbers > 0, optional
        The prior π. The entries must sum to one within 1e-9. By default π is uniform.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 6 (l2 constraints on the distribution).
    """

    family = "relaxboost.ChiSquareBall"
    alpha = Fraction(2)
    scale = Fraction(2)

    def conjugate(self, theta: Vector) -> float:
        """Return the conjugate <θ, π> + sqrt(r Σ π θ²) of the indicator of the χ² ball."""
        theta = np.asarray(theta, dtype=np.float64)
        pi = self.center(theta.size)
        return float(pi @ theta) + math.sqrt(float(self.radius) * float(pi @ np.square(theta)))


class HellingerPenalty(DivergencePenalty):
    """The penalty f(d) = c Σ (√d − √π)² on R^m_+, for a weight c and a prior distribution π.

    The minimiser of <d, u> + f(d) has only positive entries. The conjugate is
    f*(θ) = Σ π θ / (1 − θ/c). It is infinite if an entry of θ is at least c.

    Parameters
    ----------
    weight : int, float or Fraction
        The weight c in [1e-100, 1e100].
    prior : vector of m numbers > 0, optional
        The prior π. The entries must sum to one within 1e-9. By default π is uniform.
    """

    family = "relaxboost.HellingerPenalty"
    alpha = Fraction(1, 2)
    scale = Fraction(1, 2)


class HellingerBall(DivergenceBall):
    """The indicator of Σ (√d − √π)² <= r, for a radius r and a prior distribution π.

    If r >= 2 − 2 √(min π), the ball contains the simplex.

    Parameters
    ----------
    radius : int, float or Fraction
        The radius r in [1e-9, 1e100].
    prior : vector of m numbers > 0, optional
        The prior π. The entries must sum to one within 1e-9. By default π is uniform.
    """

    family = "relaxboost.HellingerBall"
    alpha = Fraction(1, 2)
    scale = Fraction(1, 2)


@dataclass(frozen=True, repr=False)
class _Power(PowerDivergence):
    order: Any

    def __post_init__(self) -> None:
        kind = type(self).__name__
        order = exact(kind, "order", self.order)
        if abs(order - 1) < Fraction(999, 10**6) or not Fraction(1, 20) <= order <= 20:
            raise InputError(
                f"{kind} needs an order in [0.05, 20] that differs from 1 by at least 0.001, got "
                f"{spell(order)}; use KLPenalty or KLBall for order 1"
            )
        object.__setattr__(self, "order", order)
        super().__post_init__()

    @property
    def alpha(self) -> Fraction:
        return self.order


@dataclass(frozen=True, repr=False)
class PowerPenalty(DivergencePenalty, _Power):
    """The penalty f(d) = c Σ π φ(d/π) with φ(t) = (t^α − α t + α − 1) / (α (α − 1)).

    For the order α = 2 the divergence is half of χ². For α = 1/2 it is twice the squared Hellinger
    distance.

    Parameters
    ----------
    order : int, float or Fraction
        The order α in [0.05, 20], which must differ from 1 by at least 0.001. For α = 1 use
        `KLPenalty`.
    weight : int, float or Fraction
        The weight c in [1e-100, 1e100].
    prior : vector of m numbers > 0, optional
        The prior π. The entries must sum to one within 1e-9. By default π is uniform.

    References
    ----------
    Cressie & Read (1984) for the family.
    """

    family = "relaxboost.PowerPenalty"


@dataclass(frozen=True, repr=False)
class PowerBall(DivergenceBall, _Power):
    """The indicator of Σ π φ(d/π) <= r, for a radius r and a prior distribution π.

    The function φ is that of `PowerPenalty`.

    Parameters
    ----------
    order : int, float or Fraction
        The order α of φ in [0.05, 20], which must differ from 1 by at least 0.001. For α = 1 use
        `KLBall`.
    radius : int, float or Fraction
        The radius r in [1e-9, 1e100].
    prior : vector of m numbers > 0, optional
        The prior π. The entries must sum to one within 1e-9. By default π is uniform.
    """

    family = "relaxboost.PowerBall"
