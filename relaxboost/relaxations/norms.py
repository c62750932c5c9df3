"""Norm balls and norm penalties (SS09, Examples 1 and 2) for all p; what they share.

‖d‖ = (Σ (a_i |d_i|)^p)^{1/p} has the dual norm ‖θ‖_* = (Σ (|θ_i| / a_i)^{p'})^{1/p'} with
1/p + 1/p' = 1. It depends on |d_i| alone and grows with it, so that all of SS09 Thm 7 applies:

    ball of radius r:    F(u) = max over γ of γ − r ‖[γ − u]₊‖_*,
    penalty of weight c: F(u) = max γ subject to ‖[γ − u]₊‖_* <= c.

The classes for p = 1, p = inf and what lies between are in `sum_norm`, `max_norm` and `p_norm`;
each enters itself in `kinds`, from which the calls here choose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.digits import number
from relaxboost._core.errors import InputError
from relaxboost._core.intervals import Interval
from relaxboost._core.parameters import exact, positive_size, spell
from relaxboost.relaxations.balls import Ball, fit
from relaxboost.relaxations.base import Relaxation, Traits
from relaxboost.relaxations.bounds import Bounds, NumericalBounds, Witness
from relaxboost.relaxations.description import Description
from relaxboost.relaxations.vectors import (
    enclose_vector,
    positive_vector,
    spell_vector,
)

Weights = tuple[Fraction, ...] | None


def hinge(gamma: float, u: Vector) -> Interval:
    """Return [γ − u]₊."""
    return (Interval(gamma) - Interval(np.asarray(u, dtype=np.float64))).positive()


def show_norm(kind: str, p: Any, size: Fraction, weights: Weights) -> str:
    """Return the call that makes a norm's ball or penalty."""
    exponent = "math.inf" if p == math.inf else spell(p)
    tail = "" if weights is None else f", weights={spell_vector(weights)}"
    return f"{kind}({exponent}, {spell(size)}{tail})"


class WithNorm(Relaxation, Bounds, Description):
    """A norm, in intervals and for cvxpy.

    The methods are not abstract, since type checkers would then refuse `NormBall(p, r)`, which
    makes an object of the class for its p. Each such class overrides them, but for the dual norm
    and the extremes where it has bounds of its own (`Mahalanobis`).
    """

    size_name: ClassVar[str]
    """What the parameter beside the norm is called, radius or weight."""

    def _open(self, name: str) -> str:
        return f"{type(self).__name__} has no {name}; a norm overrides it, see WithNorm.{name}"

    @property
    def bound(self) -> Fraction:
        """The radius or the weight, exactly."""
        size: Fraction = getattr(self, self.size_name)
        return size

    def gauge(self, d: Interval) -> Interval:
        """Return ‖d‖."""
        raise NotImplementedError(self._open("gauge"))

    def dual_of(self, x: Interval) -> Interval:
        """Return ‖x‖_*."""
        raise NotImplementedError(self._open("dual_of"))

    def size(self, d: Vector) -> float:
        """Return ‖d‖ in doubles."""
        return float(self.gauge(Interval(np.asarray(d, dtype=np.float64))).middle)

    def dual_size(self, theta: Vector) -> float:
        """Return ‖θ‖_* in doubles."""
        return float(self.dual_of(Interval(np.asarray(theta, dtype=np.float64))).middle)

    def cvxpy_norm(self, d: Any) -> Any:
        """Return ‖d‖ as a cvxpy expression."""
        raise NotImplementedError(self._open("cvxpy_norm"))

    def cvxpy_dual(self, x: Any) -> tuple[Any, list[Any]]:
        """Return ‖x‖_* as a cvxpy expression, and the constraints it needs."""
        raise NotImplementedError(self._open("cvxpy_dual"))

    def extremes(self, m: int) -> tuple[Any, Any]:
        """Return the least and the largest norm on the simplex, rounded outwards or enclosed."""
        raise NotImplementedError(self._open("extremes"))

    def describe_norm(self) -> dict[str, Any]:
        """Return the norm as certificates write it, without its size."""
        raise NotImplementedError(self._open("describe_norm"))

    def describe(self, m: int) -> dict[str, Any]:
        return self.describe_norm() | {self.size_name: number(self.bound)}


class BallOfNorm(WithNorm, Ball):
    """The indicator of ‖d‖ <= radius."""

    size_name: ClassVar[str] = "radius"

    radius: Any

    def conjugate(self, theta: Vector) -> float:
        return float(self.radius) * self.dual_size(theta)

    def lower_bound(self, u: Vector, witness: Any) -> float:
        """Return γ − r ‖[γ − u]₊‖_*, rounded downwards; valid for every γ."""
        if not math.isfinite(witness.gamma):
            return -math.inf
        dual = self.dual_of(hinge(witness.gamma, u))
        return (Interval(witness.gamma) - Interval(self.radius) * dual).down

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        return 0.0, [self.cvxpy_norm(d) <= float(self.radius)]

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        size, constraints = self.cvxpy_dual(x)
        return float(self.radius) * size, constraints


class PenaltyOfNorm(WithNorm):
    """f(d) = weight · ‖d‖."""

    size_name: ClassVar[str] = "weight"

    weight: Any
    enclosed: Any

    def penalty(self, d: Vector) -> float:
        return float(self.weight) * self.size(np.asarray(d, dtype=np.float64))

    def conjugate(self, theta: Vector) -> float:
        return 0.0 if self.dual_size(theta) <= float(self.weight) * (1.0 + 1e-12) else math.inf

    def witness(self, u: Vector) -> Any:
        return Witness(self.relaxed_margin(u)[0])

    def lower_bound(self, u: Vector, witness: Any) -> float:
        """Return a bound valid for every γ, rounded downwards.

        With x = [γ − u]₊: F(u) >= γ + min over d of c ‖d‖ − <d, x> >= γ + (c − ‖x‖_*) ‖d‖, and
        ‖d‖ lies between its extremes on the simplex.
        """
        if not math.isfinite(witness.gamma):
            return -math.inf
        spare = Interval(self.weight) - self.dual_of(hinge(witness.gamma, u))
        least, largest = self.extremes(len(u))
        worth = min((spare * least).down, (spare * largest).down)
        return (Interval(witness.gamma) + worth).down

    def describe_witness(self, found: Any, u: Sequence[Fraction]) -> dict[str, Any]:
        """Return the largest threshold γ with ‖[γ − u]₊‖_* <= c for certain, by bisection.

        It lies between that of `found` and the bound which that one proves.
        """
        margins, weight = np.array([float(x) for x in u]), Interval(self.weight).down
        low, high = self.lower_bound(margins, found), found.gamma
        while low < (middle := 0.5 * (low + high)) < high:
            inside = self.dual_of(hinge(middle, margins)).up <= weight
            low, high = (middle, high) if inside else (low, middle)
        return super().describe_witness(Witness(low) if math.isfinite(low) else found, u)

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        return float(self.weight) * self.cvxpy_norm(d), []

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        size, constraints = self.cvxpy_dual(x)
        return 0.0, [size <= float(self.weight), *constraints]

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        return (Interval(self.weight) * self.gauge(Interval(d) / Interval(*total))).up, 0.0

    def lipschitz(self, m: int) -> float:
        """Return c max a: no such norm of a vector exceeds max a times its l1 norm."""
        return (Interval(self.weight) * self.enclosed.max()).up


class OfNorm(WithNorm):
    """What balls and penalties share: a p, and weights a that may be absent."""

    kind: ClassVar[str]
    """What users call it."""
    per_example: ClassVar[str] = "weights"
    _is_polyhedral: ClassVar[bool] = False

    p: Any
    weights: Any

    def __post_init__(self) -> None:
        kept = {
            "p": _exponent(self.kind, self.p),
            self.size_name: positive_size(self.kind, self.size_name, self.bound),
            "weights": positive_vector(self.kind, "weights", self.weights),
        }
        for each, value in kept.items():
            object.__setattr__(self, each, value)

    def __repr__(self) -> str:
        return show_norm(self.kind, self.p, self.bound, self.weights)

    @cached_property
    def enclosed(self) -> Interval:
        """The weights, a vector of length m or 1."""
        return Interval(np.ones(1)) if self.weights is None else enclose_vector(self.weights)

    @cached_property
    def factors(self) -> Vector:
        """The weights in doubles, a vector of length m or 1."""
        middle: Vector = self.enclosed.middle
        return middle

    def exact_weights(self, m: int) -> list[Fraction]:
        """Return the weights of m examples as they were given."""
        return [Fraction(1)] * m if self.weights is None else list(self.weights)

    @property
    def flat(self) -> bool:
        """Whether all weights are equal."""
        return self.weights is None or len(set(self.weights)) == 1

    @property
    def traits(self) -> Traits:
        """Meets (i)–(iii) of SS09 Thm 7; symmetric where all weights are equal."""
        return Traits(
            polyhedral=self._is_polyhedral,
            monotone=True,
            symmetric=self.flat,
            zero_minimum=True,
            zero_in_core=True,
        )


@dataclass(frozen=True, repr=False)
class NormBall(OfNorm, BallOfNorm):
    """The indicator of ‖d‖ <= radius for a p-norm, 1 <= p <= inf, weighted or not.

    With the dual norm f*(θ) = r ‖θ‖ and F(u) = max over γ of γ − r ‖[γ − u]₊‖. p = 2 is the l2
    constraint of SS09 Sec. 6. On the simplex p = 1 without weights never binds, and p = inf is
    the cap: ``NormBall(inf, Fraction(1, k))`` is ``Capped(k)`` too (``Caps`` with weights).

    Parameters
    ----------
    p : int, float or Fraction
        1, ``math.inf``, or between 1.00001 and 10001.
    radius : int, float or Fraction
        Above 0, and large enough for the ball to meet the simplex: at least m^{1/p − 1} without
        weights.
    weights : sequence of m numbers > 0, optional
        ‖d‖ = (Σ (a_i |d_i|)^p)^{1/p}, or max a_i |d_i|.

    Raises
    ------
    InputError
        For p < 1, radius <= 0, weights <= 0 or with p-th powers that no double holds, or (when the
        game is declared) a ball that misses the simplex, with the smallest radius that meets it,
        or weights of another length than m.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Example 1 (which holds for these norms, not for an arbitrary
    one; see `check_conditions`), Sec. 6, Appendix B row 1.
    """

    family = "relaxboost.NormBall"
    kind: ClassVar[str] = "NormBall"
    kinds: ClassVar[dict[Any, type[NormBall]]] = {}
    """The classes by p, None for 1 < p < inf, and by (p, True) with weights where that differs."""

    p: Any
    radius: Any
    weights: Any = None

    def witness(self, u: Vector) -> Any:
        """Return the threshold γ that a cone solver finds; the families by p have closed forms."""
        return NumericalBounds(self).witness(u)

    def __new__(cls, p: Any = 2, radius: Any = 1, weights: Any = None) -> Any:
        """Return the ball for this p."""
        return object.__new__(_kind(NormBall, p, weights) if cls is NormBall else cls)

    def resolve(self, m: int) -> NormBall:
        super().resolve(m)
        radius = fit(self, self.radius, self.extremes(m)[0])
        return self if radius == self.radius else NormBall(self.p, radius, self.weights)


@dataclass(frozen=True, repr=False)
class NormPenalty(OfNorm, PenaltyOfNorm):
    """f(d) = weight · ‖d‖ for a p-norm, 1 <= p <= inf, weighted or not.

    With the dual norm F(u) is the largest γ with ‖[γ − u]₊‖ <= weight, and f* the indicator of
    ‖θ‖ <= weight.

    Parameters
    ----------
    p : int, float or Fraction
        1, ``math.inf``, or between 1.00001 and 10001.
    weight : int, float or Fraction
        Above 0.
    weights : sequence of m numbers > 0, optional
        Those of the norm, as in `NormBall`.

    Raises
    ------
    InputError
        For p < 1, weight <= 0, weights <= 0 or with p-th powers that no double holds, or weights of
        another length than m.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Example 2 (with w in the l1 ball of R^n, and for these norms,
    not for an arbitrary one).
    """

    family = "relaxboost.NormPenalty"
    kind: ClassVar[str] = "NormPenalty"
    kinds: ClassVar[dict[Any, type[NormPenalty]]] = {}
    """The classes by p, None for 1 < p < inf."""

    p: Any
    weight: Any
    weights: Any = None

    def __new__(cls, p: Any = 2, weight: Any = 1, weights: Any = None) -> Any:
        """Return the penalty for this p."""
        return object.__new__(_kind(NormPenalty, p, weights) if cls is NormPenalty else cls)


def _kind(base: Any, p: Any, weights: Any) -> Any:
    """Return the class for this p; what is no number is refused by its constructor."""
    if not isinstance(p, Real) or isinstance(p, bool) or not (p == 1 or p == math.inf):
        return base.kinds[None]
    return base.kinds.get((p, weights is not None), base.kinds[p])


def _exponent(owner: str, p: Any) -> Fraction | float:
    if isinstance(p, Real) and p == math.inf:
        return math.inf
    if isinstance(p, str):
        raise InputError(f"{owner} needs p to be a number, or math.inf, got {p!r}")
    exponent = exact(owner, "p", p)
    if exponent < 1:
        raise InputError(f"{owner} needs 1 <= p <= inf, got p = {p!r}: below 1 it is not a norm")
    return exponent
