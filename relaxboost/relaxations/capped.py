"""Capped distributions and the soft margin AvgMin_k."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from relaxboost.compiled import njit
from relaxboost.errors import InputError
from relaxboost.parameters import spell
from relaxboost.projections import binary_capped_distribution, capped_distribution
from relaxboost.relaxations.base import (
    Level,
    LinearForm,
    Relaxation,
    Traits,
    Vector,
    Witness,
    as_margins,
    onto_simplex,
)
from relaxboost.relaxations.shares import check_share, resolve_share
from relaxboost.rounding import UNIT, float_down, float_up, sum_bounds, up


@njit()
def _worst_tail(u: Vector, k: float, gamma: float) -> tuple[float, Vector]:
    """Return AvgMin_k(u) and its minimising d, `gamma` being the ceil(k)-th smallest margin."""
    d = np.zeros(u.shape[0])
    below, shortfall = 0, 0.0
    for i in range(u.shape[0]):
        if u[i] < gamma:
            d[i] = 1.0 / k
            below += 1
            shortfall += gamma - u[i]
    rest = k - below  # in units of the cap; ties share it, the lowest index first
    for i in range(u.shape[0]):
        if rest <= 0.0:
            break
        if u[i] == gamma:
            d[i] = min(1.0, rest) / k
            rest -= 1.0
    return gamma - shortfall / k, d


@dataclass(frozen=True)
class Capped(Relaxation):
    """The indicator of ‖d‖_inf <= 1/k: no example may weigh more than 1/k.

    Its relaxed margin is the soft margin

        F(u) = AvgMin_k(u) = max over γ of γ − (1/k) Σ [γ − u_i]_+,

    the mean of the k smallest margins; for a k that is not an integer the ceil(k)-th smallest
    counts with the fraction k − floor(k). f*(θ) = ‖θ‖_1 / k, and ν = 1/k. `Capped(1)` is the hard
    margin, `Capped(m)` leaves the uniform distribution only.

    `CVaR` is another name of it: −F(u) is the conditional value at risk of the losses −u_i, each
    of probability 1/m, at level α = 1 − k/m, that is the mean of the worst 1 − α of them. The
    worst-case distribution is exact at ties too: where many margins equal the value at risk they
    share what is left one after the other, and none exceeds the cap.

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

    k: Any = None
    fraction: Any = None

    level: ClassVar[Level] = "exact"

    def __post_init__(self) -> None:
        k, fraction = check_share("Capped", self.k, self.fraction)
        object.__setattr__(self, "k", k)
        object.__setattr__(self, "fraction", fraction)

    def __repr__(self) -> str:
        if self.k is not None:
            return f"Capped(k={spell(self.k)})"
        return f"Capped(fraction={self.fraction!r})"

    def __str__(self) -> str:
        return f"Capped(k={self.k})" if self.k is not None else repr(self)

    def key(self) -> str:
        """Return the class and k, exactly."""
        return f"relaxboost.{self}"

    def resolve(self, m: int) -> Capped:
        """Return `Capped(k)` with 1 <= k <= m."""
        k = resolve_share(repr(self), self.k, self.fraction, m)
        return self if k == self.k else Capped(k=k)

    @property
    def cap(self) -> float:
        """The cap ν = 1/k, rounded to nearest."""
        return float(1 / self._resolved_k)

    @property
    def _resolved_k(self) -> Fraction:
        if self.k is None:
            raise InputError(f"{self!r} has no k before a game gives m; use resolve(m) first")
        return self.k

    def penalty(self, d: Vector) -> float:
        """Return 0 if no entry exceeds 1/k in size by more than four roundings, else inf."""
        return 0.0 if np.max(np.abs(d)) <= self.cap * (1.0 + 8.0 * UNIT) else math.inf

    @property
    def traits(self) -> Traits:
        """All but strong convexity."""
        return Traits(True, False, True, True, True, True)

    def conjugate(self, theta: Vector) -> float:
        """Return ‖θ‖_1 / k."""
        return math.fsum(np.abs(theta).tolist()) * self.cap

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        """Return AvgMin_k(u) and its minimiser; among ties the lowest index gets weight first."""
        u = as_margins(u, self)
        return _worst_tail(u, float(self._resolved_k), self.witness(u).gamma)

    def distribution(self, u: Vector, beta: float) -> Vector:
        """Return the entropic projection of SS09 Fig. 2 at (u, β)."""
        return capped_distribution(as_margins(u, self), beta, float(self._resolved_k))

    def binary_distribution(self, u: Vector, beta: float) -> Vector:
        """Return d_i = min{1/k, σ((γ − u_i)/β)}, smoothed by Σ d log d + (1 − d) log(1 − d)."""
        return binary_capped_distribution(u, beta, float(self._resolved_k))

    def witness(self, u: Vector) -> Witness:
        """Return γ, the ceil(k)-th smallest margin."""
        u = as_margins(u, self)
        rank = math.ceil(self._resolved_k) - 1
        self.resolve(u.size)
        return Witness(float(np.partition(u, rank)[rank]))

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
        return float_down(Fraction(gamma) - Fraction(total) / self._resolved_k)

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        """Return 0 subject to |d| <= 1/k."""
        import cvxpy as cp

        return 0.0, [(d if d.is_nonneg() else cp.abs(d)) <= self.cap]

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        """Return ‖x‖_1 / k."""
        import cvxpy as cp

        return cp.norm1(x) * self.cap, []

    def cvxpy_relaxed_margin(self, u: Any, gamma: Any) -> tuple[Any, list[Any]]:
        """Return γ − Σ x / k subject to x >= γ − u, x >= 0 (Eq. 6)."""
        import cvxpy as cp

        x = cp.Variable(u.shape[0], name="x", nonneg=True)
        return gamma - cp.sum(x) * self.cap, [x >= gamma - u]

    def linear_form(self, m: int) -> LinearForm:
        """Return 0 <= d <= 1/k and no cost."""
        return LinearForm(np.zeros(m), np.zeros(m), np.full(m, self.cap))

    def entropy_range(self, m: int) -> float:
        """Return log(m/k): no capped distribution has Σ d log d above −log k."""
        return math.log(m / float(self._resolved_k))

    def repair(self, d: Vector) -> Vector:
        """Return `d` clipped, normalised and cut at the cap, the cut mass spread over the
        headroom that the other entries leave, in proportion to it."""
        d = onto_simplex(d, repr(self))
        cap = self.cap
        if d.max() <= cap:
            return d
        np.minimum(d, cap, out=d)
        headroom = cap - d
        room = math.fsum(headroom.tolist())
        if room > 0.0:
            missing = max(0.0, 1.0 - math.fsum(d.tolist()))
            np.minimum(d + min(1.0, missing / room) * headroom, cap, out=d)
        return d

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return (0, distance): moving the mass above the cap into the headroom makes d feasible.

        The mass e above the cap of d / Σd fits below it since k <= m, and moving it changes
        the point by 2e in the l1 norm.
        """
        low, _ = total
        threshold = float_down(Fraction(low) / self._resolved_k)
        excess = np.maximum(d - threshold, 0.0)
        if not excess.any():
            return 0.0, 0.0
        mass = Fraction(up(sum_bounds(excess)[1] * (1.0 + 4.0 * UNIT)))
        return 0.0, float_up(2 * mass / Fraction(low))

    def plus(self, other: Relaxation) -> Relaxation | None:
        """Return the stricter of two caps."""
        if isinstance(other, Capped) and self.k is not None and other.k is not None:
            return self if self.k >= other.k else other
        return None


CVaR = Capped
"""The relaxed margin of `Capped(k)` is minus the CVaR at level 1 − k/m of the losses −u."""
