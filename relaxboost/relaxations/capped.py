"""A cap of 1/k on every weight, and the same relaxation with the parameter of CVaR.

The relaxed margin AvgMin_k is the mean of the k smallest margins.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.digits import number
from relaxboost._core.errors import InputError
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import exact, spell
from relaxboost._core.rounding import UNIT, float_down, float_up, rounded_sum, sum_bounds, up
from relaxboost.matrices.kernels import within
from relaxboost.relaxations._projections.binary_entropy import binary_capped_distribution
from relaxboost.relaxations._projections.capped import capped_distribution
from relaxboost.relaxations.base import (
    BinaryDistribution,
    Relaxation,
    Traits,
    as_margins,
    box_around,
    onto_simplex,
)
from relaxboost.relaxations.bounds import Witness
from relaxboost.relaxations.description import Description
from relaxboost.relaxations.hard_margin import CAP_TRAITS
from relaxboost.relaxations.k_or_fraction import WithK, exact_share, resolve_k
from relaxboost.relaxations.linear import ExactForm
from relaxboost.relaxations.own import has_own_class


def cut(d: Vector, caps: Vector | float) -> Vector:
    """Cut the weights d to their caps in place, and return d.

    The excess moves to entries below their caps.
    """
    if (d <= caps).all():
        return d
    np.minimum(d, caps, out=d)
    # The mass that is cut fills the same share of the room below the cap of each entry. No weight
    # exceeds 1, so a larger cap leaves no more room than 1.
    room = np.minimum(caps, 1.0) - d
    total_room = rounded_sum(room)
    if total_room > 0.0:
        missing = max(0.0, 1.0 - rounded_sum(d))
        np.minimum(d + min(1.0, missing / total_room) * room, caps, out=d)
    return d


class ThresholdDescription(Description):
    """The description of relaxations whose best threshold γ is one of the margins.

    Their certificates contain the exact margin instead of a rounded threshold.
    """

    def describe_witness(self, found: Witness, u: Sequence[Fraction]) -> dict[str, Any]:
        # The margins are exact, but the witness γ is a double.
        return {"gamma": number(min(u, key=lambda x: abs(x - Fraction(found.gamma)))), "floor": "0"}


@dataclass(frozen=True)
class Capped(ThresholdDescription, WithK, BinaryDistribution):
    """The soft margin: F(u) is the mean of the k smallest margins.

    The relaxation f is the indicator of ‖d‖_inf <= 1/k, so no example has a weight above 1/k. The
    relaxed margin is

        F(u) = AvgMin_k(u) = max over γ of γ − (1/k) Σ [γ − u_i]_+,

    which is the mean of the k smallest margins. If k is not an integer, the ceil(k)-th smallest
    margin is counted with the weight k − floor(k). The conjugate is f*(θ) = ‖θ‖_1 / k, and the cap
    is ν = 1/k. `Capped(1)` is the hard margin, and `Capped(m)` allows only the uniform
    distribution.

    If several examples tie for the last of the k places, the remaining weight goes to them in order
    of index, up to the cap. `CVaR` is the same family with a level as its parameter.

    Parameters
    ----------
    k : int, float or Fraction, optional
        The number of smallest margins that are averaged, 1 <= k <= m, kept exactly.
    fraction : int, float or Fraction, optional
        An alternative to k: a game with m examples sets k = fraction · m. A float means the
        decimal number that Python prints: 0.1 is one tenth, and m = 569 gives 56.9 exactly. A k
        within a relative distance of 1e-12 of an integer is rounded to this integer, so 1/3 and
        m = 3 give 1.

    Raises
    ------
    InputError
        If k and fraction are both given or both missing, if k < 1, or if fraction is outside
        (0, 1]. A game raises InputError if k > m.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 4.1, Eqs. 2 and 3, Cor. 5, Example 1, Eq. 6.

    Examples
    --------
    >>> import numpy as np
    >>> import relaxboost as rb
    >>> margin, d = rb.Capped(k=2).relaxed_margin(np.array([0.0, 1.0, 2.0, 3.0]))
    >>> margin  # the mean of the two smallest margins
    0.5
    >>> d.tolist()
    [0.5, 0.5, 0.0, 0.0]
    """

    family = "relaxboost.Capped"

    k: Any = None
    fraction: Any = None

    def __repr__(self) -> str:
        if self.k is not None:
            return f"Capped(k={spell(self.k)})"
        return f"Capped(fraction={self.fraction!r})"

    def __str__(self) -> str:
        return f"Capped(k={self.k})" if self.k is not None else repr(self)

    def key(self) -> str:
        share = f"fraction={self.fraction!r}" if self.k is None else f"k={self.k}"
        return f"{self.family}({share})"

    def resolve(self, m: int) -> Capped:
        k = resolve_k(repr(self), self.k, self.fraction, m)
        return self if k == self.k else Capped(k=k)

    @cached_property
    def cap(self) -> float:
        """The cap ν = 1/k on a weight, rounded to the nearest double."""
        return float(1 / self.exact_k)

    @cached_property
    def _rank(self) -> int:
        """The index, in the sorted margins, of the last margin that AvgMin_k includes."""
        return math.ceil(self.exact_k) - 1

    def penalty(self, d: Vector) -> float:
        # A weight at the cap may exceed it by a few roundings.
        inside = within(np.asarray(d, dtype=np.float64), self.cap * (1.0 + 8.0 * UNIT))
        return 0.0 if inside else math.inf

    @property
    def traits(self) -> Traits:
        return CAP_TRAITS

    def conjugate(self, theta: Vector) -> float:
        return math.fsum(np.abs(theta).tolist()) * self.cap

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        gamma = self.witness(u).gamma
        u = np.asarray(u, dtype=np.float64)
        k = self.double_k
        below = u < gamma
        d = np.where(below, 1.0 / k, 0.0)
        # The rest of the weight, in units of the cap, fills the tied margins in their order.
        rest = k - int(np.count_nonzero(below))
        ties = np.flatnonzero(u == gamma)[: math.ceil(rest)]
        d[ties] = np.minimum(1.0, rest - np.arange(ties.size)) / k
        return gamma - float((gamma - u[below]).sum()) / k, d

    def _distribution(self, u: Vector, beta: float) -> Vector:
        k = self.double_k
        if k > u.size:
            self.resolve(u.size)  # This raises the error.
        return capped_distribution(u, beta, k)

    def _binary_distribution(self, u: Vector, beta: float) -> Vector:
        return binary_capped_distribution(u, beta, self.resolve(u.size).double_k)

    def witness(self, u: Vector) -> Witness:
        u = as_margins(u, self)
        if self._rank >= u.size:
            self.resolve(u.size)  # This raises the error.
        return Witness(float(np.partition(u, self._rank)[self._rank]))

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        # γ − (1/k) Σ [γ − u_i]_+ is a lower bound on F(u) for every γ.
        gamma = witness.gamma
        if not math.isfinite(gamma):
            return -math.inf
        hinge = np.maximum(gamma - np.asarray(u, dtype=np.float64), 0.0)
        # A γ far beyond all margins proves no useful bound, and its sum may overflow.
        if not np.isfinite(hinge).all() or hinge.max() > 1e300 / hinge.size:
            return -math.inf
        # Each difference has a relative error of one rounding.
        total = up(sum_bounds(hinge)[1] * (1.0 + 4.0 * UNIT)) if hinge.any() else 0.0
        return float_down(Fraction(gamma) - Fraction(total) / self.exact_k)

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        return 0.0, [(d if d.is_nonneg() else cp.abs(d)) <= self.cap]

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        return cp.norm1(x) * self.cap, []

    def cvxpy_relaxed_margin(self, u: Any, gamma: Any) -> tuple[Any, list[Any]]:
        # This is the problem of SS09 Eq. 6.
        x = cp.Variable(u.shape[0], name="x", nonneg=True)
        return gamma - cp.sum(x) * self.cap, [x >= gamma - u]

    def exact_form(self, m: int) -> ExactForm:
        return ExactForm.free(m)._replace(upper=[1 / self.resolve(m).exact_k] * m)

    def describe(self, m: int) -> dict[str, Any]:
        return {"kind": "caps", "caps": number(1 / self.exact_k)}

    def repair(self, d: Vector) -> Vector:
        return cut(onto_simplex(d, repr(self)), self.cap)

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        low, _ = total
        threshold = float_down(Fraction(low) / self.exact_k)
        excess = np.maximum(d - threshold, 0.0)
        if not excess.any():
            return 0.0, 0.0
        # Since k <= m, the mass e above the cap fits below it. Moving it changes the point by 2e in
        # the l1 norm.
        mass = Fraction(up(sum_bounds(excess)[1] * (1.0 + 4.0 * UNIT)))
        return 0.0, float_up(2 * mass / Fraction(low))

    def penalty_near(self, d: Vector, total: tuple[float, float], distance: float) -> float:
        cap = float_down(1 / self.exact_k)
        return 0.0 if (box_around(d, total, distance).upper <= cap).all() else math.inf

    def _plus(self, other: Relaxation) -> Relaxation | None:
        if not isinstance(other, Capped) or has_own_class(self) or has_own_class(other):
            return None
        if self.k is None or other.k is None:
            return None
        return self if self.k >= other.k else other


class CVaR(Capped):
    """The conditional value at risk: F(u) is the mean of the lowest share 1 − α of the margins.

    −F(u) is the conditional value at risk (expected shortfall) at level α of the losses −u_i, which
    all have probability 1/m. The level is defined as in `cvxpy.cvar`: 0.95 means the worst 5 %.

        −F(u) = min over t of t + Σ [−u_i − t]_+ / ((1 − α) m).

    `CVaR(α)` is `Capped(fraction=1 − α)`, which a game resolves to `Capped(k)` with
    k = (1 − α) m. For α = 0, F is the mean of all margins. The largest α is 1 − 1/m, for which F
    is the hard margin.

    Parameters
    ----------
    alpha : int, float or Fraction
        The level, 0 <= α < 1. A float means the decimal number that Python prints: 0.95 gives a
        share of exactly one twentieth.

    Raises
    ------
    InputError
        If α is outside [0, 1). A game raises InputError if α > 1 − 1/m.

    References
    ----------
    Rockafellar & Uryasev (2000), Thm 1, for the level α and the minimum over t.

    Examples
    --------
    >>> import numpy as np
    >>> import relaxboost as rb
    >>> margin, d = rb.CVaR(0.75).resolve(8).relaxed_margin(np.arange(8.0))
    >>> margin  # the mean of the two lowest of eight margins
    0.5
    """

    family = Capped.family

    def __init__(self, alpha: Any) -> None:
        level = exact("CVaR", "alpha", alpha)
        if not 0 <= level < 1:
            raise InputError(
                f"CVaR(alpha={spell(level)}) needs 0 <= alpha < 1, since F(u) is the mean of the "
                "lowest share 1 - alpha of the margins; for the k lowest margins use Capped(k)"
            )
        share = 1 - (Fraction(repr(alpha)) if isinstance(alpha, float) else level)
        # If α is a short decimal such as 0.6, then the share is kept as the short decimal 0.4.
        near = float(share)
        kept = near if isinstance(alpha, float) and Fraction(repr(near)) == share else share
        super().__init__(fraction=kept)

    @property
    def alpha(self) -> Fraction:
        """The level α as an exact fraction."""
        return 1 - exact_share(self.fraction)

    def __repr__(self) -> str:
        near = float(self.alpha)
        # A level given as Fraction(2, 5) is not shown as the float 0.4, which gives another share.
        short = near < 1.0 and CVaR(near) == self
        return f"CVaR({near if short else self.alpha!r})"
