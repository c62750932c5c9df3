"""The end p = 1 of the norms: a ball and a penalty that are linear in d on the simplex."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from relaxboost.intervals import Interval
from relaxboost.parameters import spell
from relaxboost.projections.capped import capped_distribution
from relaxboost.projections.roots import decreasing_root
from relaxboost.relaxations.balls import Ball, fit
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
from relaxboost.relaxations.vectors import (
    check_length,
    enclose_vector,
    positive_size,
    positive_vector,
    spell_vector,
)


class Weighted(Relaxation):
    """What the three have in common: a size, and weights a that may be absent."""

    level: ClassVar[Level] = "exact"
    weights: Any

    @cached_property
    def enclosed(self) -> Interval:
        """The weights, a vector of length m or 1."""
        return Interval(np.ones(1)) if self.weights is None else enclose_vector(self.weights)

    @property
    def fixed_m(self) -> int | None:
        """The number of examples, if the parameters tell."""
        return None if self.weights is None else len(self.weights)

    @property
    def factors(self) -> Vector:
        """The weights in doubles, a vector of length m or 1."""
        return 0.5 * (self.enclosed.lower + self.enclosed.upper)

    @property
    def traits(self) -> Traits:
        """Meets (i)–(iii) of SS09 Thm 7; symmetric where all weights are equal."""
        symmetric = self.weights is None or len(set(self.weights)) == 1
        return Traits(True, False, True, symmetric, True, True)


def prepare(owner: Any, kind: str, name: str) -> None:
    """Check the size `name` and the weights of `owner`, and keep them exactly."""
    object.__setattr__(owner, name, positive_size(kind, name, getattr(owner, name)))
    object.__setattr__(owner, "weights", positive_vector(kind, "weights", owner.weights))


def show(kind: str, p: str, size: Fraction, weights: Any) -> str:
    """Return the call that makes a norm's ball or penalty."""
    tail = "" if weights is None else f", weights={spell_vector(weights)}"
    return f"{kind}({p}, {spell(size)}{tail})"


def hinge(gamma: float, u: Vector) -> Interval:
    """Return [γ − u]_+."""
    return (Interval(gamma) - Interval(np.asarray(u, dtype=np.float64))).positive()


@dataclass(frozen=True, repr=False)
class SumBall(Weighted, Ball):
    """The indicator of Σ a_i |d_i| <= radius, which is ``NormBall(1, radius, weights)``.

    F(u) = max over λ >= 0 of min_i (u_i + λ a_i) − λ r; f*(θ) = r max_i |θ_i| / a_i. Without
    weights it leaves every distribution for r >= 1, and none below.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Example 1.
    """

    radius: Any
    weights: Any = None

    level: ClassVar[Level] = "exact"

    def __post_init__(self) -> None:
        prepare(self, "NormBall", "radius")

    def __repr__(self) -> str:
        return show("NormBall", "1", self.radius, self.weights)

    @property
    def bound(self) -> Fraction:
        """The radius."""
        return self.radius

    def gauge(self, d: Interval) -> Interval:
        """Return Σ a_i |d_i|."""
        return (d.abs() * self.enclosed).sum()

    @property
    def _flat(self) -> bool:
        """Whether all weights are equal, so that the ball holds all of the simplex or nothing."""
        return self.weights is None or len(set(self.weights)) == 1

    def resolve(self, m: int) -> SumBall:
        """Return the ball for `m` examples; raises InputError if it misses the simplex."""
        check_length("NormBall", "weights", self.weights, m)
        radius = fit(self, self.radius, float(self.factors.min()))
        return self if radius == self.radius else SumBall(radius, self.weights)

    def center(self, m: int) -> Vector:
        """Return the uniform distribution on the examples of least weight."""
        a = self.factors * np.ones(m)
        least = a == a.min()
        return least / np.count_nonzero(least)

    def conjugate(self, theta: Vector) -> float:
        """Return r max_i |θ_i| / a_i."""
        return float(self.radius) * float(np.max(np.abs(theta) / self.factors))

    def _multiplier(self, u: Vector) -> tuple[float, float, Vector]:
        """Return (γ, λ, d): the maximum of a concave piecewise linear function of λ.

        Two lines bound it from above, one rising and one falling; their crossing either is the
        maximum or shows a lower line there, which replaces one of the two.
        """
        a = self.factors * np.ones(u.size)
        r = float(self.radius)
        order = np.lexsort((a, u))
        i, j = int(order[0]), int(np.lexsort((u, a))[0])
        d = np.zeros(u.size)
        if a[i] <= r or self._flat:
            d[i] = 1.0
            return float(u[i]), 0.0, d
        while True:
            multiplier = max(0.0, (u[j] - u[i]) / (a[i] - a[j]))
            values = u + multiplier * a
            lowest = int(np.argmin(values))
            if lowest in (i, j) or values[lowest] >= min(values[i], values[j]):
                break
            if a[lowest] > r:
                i = lowest
            else:
                j = lowest
        share = min(1.0, max(0.0, (r - a[j]) / (a[i] - a[j])))
        d[i], d[j] = share, 1.0 - share
        return float(values.min()), multiplier, d

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        """Return F(u) and a minimiser with at most two positive entries."""
        u = as_margins(u, self)
        gamma, multiplier, d = self._multiplier(u)
        return gamma - multiplier * float(self.radius), self.draw_in(d)

    def draw_in(self, d: Vector) -> Vector:
        """Return the `d` of the simplex, moved towards the center if it is outside."""
        return d if self._flat else super().draw_in(d)

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return (0, distance), as for every ball; equal weights leave all of the simplex."""
        return (0.0, 0.0) if self._flat else super().penalty_bound(d, total)

    def distribution(self, u: Vector, beta: float) -> Vector:
        """Return d proportional to exp(−(u + λ a)/β), λ >= 0 the root of Σ a_i d_i = r."""
        u = as_margins(u, self)
        a, r = self.factors * np.ones(u.size), float(self.radius)
        d = capped_distribution(u, beta)
        if self._flat or float(a @ d) <= r:
            return d
        inside, outside = self.center(u.size), d

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
        # For a small β the two differ although their multipliers are next to each other.
        low, high = float(a @ inside), float(a @ outside)
        share = min(1.0, max(0.0, (r - low) / (high - low)))
        return self.draw_in(inside + share * (outside - inside))

    def witness(self, u: Vector) -> Witness:
        """Return the γ that attains F(u)."""
        return Witness(self._multiplier(as_margins(u, self))[0])

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        """Return γ − r max_i [γ − u_i]_+ / a_i, rounded downwards; valid for every γ."""
        if not math.isfinite(witness.gamma):
            return -math.inf
        dual = (hinge(witness.gamma, u) / self.enclosed).max()
        return (Interval(witness.gamma) - Interval(self.radius) * dual).down

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        """Return 0 subject to Σ a_i |d_i| <= r."""
        import cvxpy as cp

        a = self.factors * np.ones(d.shape[0])
        return 0.0, [a @ (d if d.is_nonneg() else cp.abs(d)) <= float(self.radius)]

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        """Return r max_i |x_i| / a_i."""
        import cvxpy as cp

        a = self.factors * np.ones(x.shape[0])
        return float(self.radius) * cp.max(cp.multiply(1.0 / a, cp.abs(x))), []

    def linear_form(self, m: int) -> LinearForm:
        """Return d >= 0 and one row."""
        free, row = np.full(m, np.inf), (self.factors * np.ones(m))[None, :]
        top = np.array([float(self.radius)])
        return LinearForm(np.zeros(m), np.zeros(m), free, row, np.array([-np.inf]), top)


class FinitePenalty(Weighted):
    """A penalty that is finite everywhere: any d of the simplex will do."""

    weight: Any

    def repair(self, d: Vector) -> Vector:
        """Return `d` clipped at zero and normalised."""
        return onto_simplex(d, repr(self))

    @abstractmethod
    def norm(self, d: Interval) -> Interval:
        """Return the norm without its weight."""

    def penalty(self, d: Vector) -> float:
        """Return the weight times the norm."""
        enclosed = self.norm(Interval(np.asarray(d, dtype=np.float64)))
        return float(self.weight) * 0.5 * (float(enclosed.lower) + float(enclosed.upper))

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return (f(d / Σd), 0), rounded upwards."""
        return (Interval(self.weight) * self.norm(Interval(d) / Interval(*total))).up, 0.0


@dataclass(frozen=True, repr=False)
class SumPenalty(FinitePenalty):
    """f(d) = c Σ a_i |d_i|, which is ``NormPenalty(1, c, weights)``: margins count c a_i more.

    F(u) = min_i (u_i + c a_i); f* is the indicator of |θ_i| <= c a_i. Without weights f is the
    constant c on the simplex.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Example 2.
    """

    weight: Any
    weights: Any = None

    def __post_init__(self) -> None:
        prepare(self, "NormPenalty", "weight")

    def __repr__(self) -> str:
        return show("NormPenalty", "1", self.weight, self.weights)

    def resolve(self, m: int) -> SumPenalty:
        """Return itself; raises InputError if the weights do not fit `m`."""
        check_length("NormPenalty", "weights", self.weights, m)
        return self

    @property
    def _costs(self) -> Vector:
        return float(self.weight) * self.factors

    def norm(self, d: Interval) -> Interval:
        """Return Σ a_i |d_i|."""
        return (d.abs() * self.enclosed).sum()

    def conjugate(self, theta: Vector) -> float:
        """Return 0 where |θ_i| <= c a_i (1 + 1e-12) for all i, else inf."""
        return 0.0 if np.all(np.abs(theta) <= self._costs * (1.0 + 1e-12)) else math.inf

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        """Return min_i (u_i + c a_i) and the unit vector at its first minimiser."""
        value = as_margins(u, self) + self._costs
        i = int(np.argmin(value))
        d = np.zeros(value.size)
        d[i] = 1.0
        return float(value[i]), d

    def distribution(self, u: Vector, beta: float) -> Vector:
        """Return d proportional to exp(−(u + c a)/β)."""
        return capped_distribution(as_margins(u, self) + self._costs, beta)

    def witness(self, u: Vector) -> Witness:
        """Return γ = F(u)."""
        return Witness(self.relaxed_margin(u)[0])

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        """Return min_i (u_i + c a_i), rounded downwards, whatever the witness."""
        margins = Interval(np.asarray(u, dtype=np.float64))
        return (margins + Interval(self.weight) * self.enclosed).min().down

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        """Return c Σ a_i |d_i|."""
        import cvxpy as cp

        return (self._costs * np.ones(d.shape[0])) @ (d if d.is_nonneg() else cp.abs(d)), []

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        """Return 0 subject to |x_i| <= c a_i."""
        import cvxpy as cp

        return 0.0, [cp.abs(x) <= self._costs * np.ones(x.shape[0])]

    def linear_form(self, m: int) -> LinearForm:
        """Return d >= 0 at costs c a_i."""
        return LinearForm(self._costs * np.ones(m), np.zeros(m), np.full(m, np.inf))
