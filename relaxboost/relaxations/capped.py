"""Capped distributions and the soft margin AvgMin_k."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.digits import number
from relaxboost._core.errors import InputError
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import exact, spell
from relaxboost._core.rounding import UNIT, float_down, float_up, rounded_sum, sum_bounds, up
from relaxboost.matrices.kernels import within
from relaxboost.relaxations._projections import binary_capped_distribution, capped_distribution
from relaxboost.relaxations.base import (
    Level,
    Relaxation,
    Traits,
    Witness,
    as_margins,
    box_around,
    onto_simplex,
)
from relaxboost.relaxations.k_or_fraction import WithK, exact_share, resolve_k
from relaxboost.relaxations.linear import ExactForm
from relaxboost.relaxations.own import changes


def _worst_tail(u: Vector, k: float, gamma: float) -> tuple[float, Vector]:
    """Return AvgMin_k(u) and its minimising d, `gamma` being the ceil(k)-th smallest margin."""
    below = u < gamma
    d = np.where(below, 1.0 / k, 0.0)
    rest = k - int(np.count_nonzero(below))  # in units of the cap; ties share it, in their order
    ties = np.flatnonzero(u == gamma)[: math.ceil(rest)]
    d[ties] = np.minimum(1.0, rest - np.arange(ties.size)) / k
    return gamma - float((gamma - u[below]).sum()) / k, d


def cut(d: Vector, caps: Vector | float) -> Vector:
    """Return the `d` of the simplex cut at the caps, in place, the cut mass spread over the
    headroom that the other entries leave, in proportion to it."""
    if (d <= caps).all():
        return d
    np.minimum(d, caps, out=d)
    headroom = np.minimum(caps, 1.0) - d
    room = rounded_sum(headroom)
    if room > 0.0:
        missing = max(0.0, 1.0 - rounded_sum(d))
        np.minimum(d + min(1.0, missing / room) * headroom, caps, out=d)
    return d


@dataclass(frozen=True)
class Capped(WithK):
    """The indicator of ‖d‖_inf <= 1/k: no example may weigh more than 1/k.

    Its relaxed margin is the soft margin

        F(u) = AvgMin_k(u) = max over γ of γ − (1/k) Σ [γ − u_i]_+,

    the mean of the k smallest margins; for a k that is not an integer the ceil(k)-th smallest
    counts with the fraction k − floor(k). f*(θ) = ‖θ‖_1 / k, and ν = 1/k. `Capped(1)` is the hard
    margin, `Capped(m)` leaves the uniform distribution only.

    Where many margins equal the last one that counts they share what is left one after the other,
    so that no weight exceeds the cap. `CVaR` is the same family by its level.

    Parameters
    ----------
    k : int, float or Fraction, optional
        1 <= k <= m, kept exactly.
    fraction : int, float or Fraction, optional
        In place of k: k = fraction · m once the game gives m. A float means the decimal it
        prints as (0.1 is one tenth, so that m = 569 gives 56.9 exactly), and a k within 1e-12 of
        a whole number, relatively, is that number (1/3 and m = 3 give 1).

    Raises
    ------
    InputError
        If not exactly one of the two is given, or it is out of range: k < 1, k > m (when the
        game is declared), fraction outside (0, 1].

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 4.1, Eqs. 2 and 3, Cor. 5, Example 1, Eq. 6.
    """

    family = "relaxboost.Capped"

    k: Any = None
    fraction: Any = None

    level: ClassVar[Level] = "exact"
    binary_entropy: ClassVar[bool] = True

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
        """The cap ν = 1/k, rounded to nearest."""
        return float(1 / self.exact_k)

    @cached_property
    def _most(self) -> float:
        """The largest weight that counts as one within the cap."""
        return self.cap * (1.0 + 8.0 * UNIT)

    @cached_property
    def _rank(self) -> int:
        """The number, from 0, of the last margin in order that counts."""
        return math.ceil(self.exact_k) - 1

    def penalty(self, d: Vector) -> float:
        d = np.asarray(d, dtype=np.float64)
        return 0.0 if within(d, self._most) else math.inf

    @property
    def traits(self) -> Traits:
        return Traits(
            polyhedral=True, monotone=True, symmetric=True, zero_minimum=True, zero_in_core=True
        )

    def conjugate(self, theta: Vector) -> float:
        return math.fsum(np.abs(theta).tolist()) * self.cap

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        """Return AvgMin_k(u) and its minimiser; among ties the lowest index gets weight first."""
        gamma = self.witness(u).gamma
        return _worst_tail(np.asarray(u, dtype=np.float64), self.double_k, gamma)

    def _distribution(self, u: Vector, beta: float) -> Vector:
        """Return the entropic projection of SS09 Fig. 2 at (u, β)."""
        k = self.double_k
        if k > u.size:
            self.resolve(u.size)  # which says what is wrong
        return capped_distribution(u, beta, k)

    def _binary_distribution(self, u: Vector, beta: float) -> Vector:
        """Return d_i = min{1/k, σ((γ − u_i)/β)}."""
        return binary_capped_distribution(u, beta, self.resolve(u.size).double_k)

    def witness(self, u: Vector) -> Witness:
        u = as_margins(u, self)
        if self._rank >= u.size:
            self.resolve(u.size)  # which says what is wrong
        return Witness(float(np.partition(u, self._rank)[self._rank]))

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        """Return γ − (1/k) Σ [γ − u_i]_+, rounded downwards; valid for every γ."""
        gamma = witness.gamma
        if not math.isfinite(gamma):
            return -math.inf
        hinge = np.maximum(gamma - np.asarray(u, dtype=np.float64), 0.0)
        # Each difference carries one rounding, relative to itself.
        if not np.isfinite(hinge).all() or hinge.max() > 1e300 / hinge.size:
            return -math.inf  # a γ beyond all margins proves nothing worth computing
        total = up(sum_bounds(hinge)[1] * (1.0 + 4.0 * UNIT)) if hinge.any() else 0.0
        return float_down(Fraction(gamma) - Fraction(total) / self.exact_k)

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        return 0.0, [(d if d.is_nonneg() else cp.abs(d)) <= self.cap]

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        return cp.norm1(x) * self.cap, []

    def cvxpy_relaxed_margin(self, u: Any, gamma: Any) -> tuple[Any, list[Any]]:
        """Return γ − Σ x / k subject to x >= γ − u, x >= 0 (Eq. 6)."""
        x = cp.Variable(u.shape[0], name="x", nonneg=True)
        return gamma - cp.sum(x) * self.cap, [x >= gamma - u]

    def exact_form(self, m: int) -> ExactForm:
        return ExactForm.free(m)._replace(upper=[1 / self.resolve(m).exact_k] * m)

    def describe(self, m: int) -> dict[str, Any]:
        return {"kind": "caps", "caps": number(1 / self.exact_k)}

    def describe_witness(self, found: Witness, u: Sequence[Fraction]) -> dict[str, Any]:
        """Return the margin that γ stands for."""
        return {"gamma": number(min(u, key=lambda x: abs(x - Fraction(found.gamma)))), "floor": "0"}

    def repair(self, d: Vector) -> Vector:
        return cut(onto_simplex(d, repr(self)), self.cap)

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return (0, distance): moving the mass above the cap into the headroom makes d feasible.

        The mass e above the cap of d / Σd fits below it since k <= m, and moving it changes
        the point by 2e in the l1 norm.
        """
        low, _ = total
        threshold = float_down(Fraction(low) / self.exact_k)
        excess = np.maximum(d - threshold, 0.0)
        if not excess.any():
            return 0.0, 0.0
        mass = Fraction(up(sum_bounds(excess)[1] * (1.0 + 4.0 * UNIT)))
        return 0.0, float_up(2 * mass / Fraction(low))

    def penalty_near(self, d: Vector, total: tuple[float, float], distance: float) -> float:
        cap = float_down(1 / self.exact_k)
        return 0.0 if (box_around(d, total, distance).upper <= cap).all() else math.inf

    def plus(self, other: Relaxation) -> Relaxation | None:
        if not isinstance(other, Capped) or changes(self) or changes(other):
            return None
        if self.k is None or other.k is None:
            return None
        return self if self.k >= other.k else other


class CVaR(Capped):
    """CVaR(α): F(u) is the mean of the lowest share 1 − α of the margins; 0.95 is the worst 5 %.

    −F(u) is the conditional value at risk (expected shortfall) at level α of the losses −u_i, each
    of probability 1/m, with α as `cvxpy.cvar` and most of finance count it:

        −F(u) = min over t of t + Σ [−u_i − t]_+ / ((1 − α) m).

    It is `Capped(fraction=1 − α)`, which a game resolves to `Capped(k)` with k = (1 − α) m. α = 0
    is the mean of all margins; the hard margin is the limit α = 1 − 1/m, and no α may exceed it.

    Parameters
    ----------
    alpha : int, float or Fraction
        0 <= α < 1. A float means the decimal it prints as: 0.95 leaves one twentieth exactly.

    Raises
    ------
    InputError
        If α is outside [0, 1), or (when the game is declared) above 1 − 1/m.

    References
    ----------
    Rockafellar & Uryasev (2000), Thm 1, for the level α and the minimum over t.
    """

    family = Capped.family

    def __init__(self, alpha: Any) -> None:
        level = exact("CVaR", "alpha", alpha)
        if not 0 <= level < 1:
            raise InputError(
                f"CVaR(alpha={spell(level)}) needs 0 <= alpha < 1, for the share 1 - alpha of the "
                "margins counts; the mean of the k lowest of them is Capped(k)"
            )
        share = 1 - (Fraction(repr(alpha)) if isinstance(alpha, float) else level)
        near = float(share)  # as short as α itself: 0.6 leaves 0.4
        kept = near if isinstance(alpha, float) and Fraction(repr(near)) == share else share
        super().__init__(fraction=kept)

    @property
    def alpha(self) -> Fraction:
        """The level α, exactly."""
        return 1 - exact_share(self.fraction)

    def __repr__(self) -> str:
        near = float(self.alpha)
        short = near < 1.0 and CVaR(near) == self  # a float leaves a float, which is not 2/5
        return f"CVaR({near if short else self.alpha!r})"
