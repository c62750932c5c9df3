"""Norm balls and norm penalties (Examples 1 and 2), for 1 < p < inf; the ends are in `sum_norm` and
`max_norm`.

‖d‖ = (Σ (a_i |d_i|)^p)^{1/p} has the dual norm ‖θ‖_* = (Σ (|θ_i| / a_i)^{p'})^{1/p'} with
1/p + 1/p' = 1. It depends on |d_i| alone and grows with it, so that all of SS09 Thm 7 applies:

    ball of radius r:    F(u) = max over γ of γ − r ‖[γ − u]_+‖_*,
    penalty of weight c: F(u) = max γ subject to ‖[γ − u]_+‖_* <= c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from relaxboost.errors import InputError
from relaxboost.intervals import Interval
from relaxboost.parameters import exact, spell
from relaxboost.projections import power, power_margin
from relaxboost.relaxations.balls import Ball, fit
from relaxboost.relaxations.base import (
    Level,
    Relaxation,
    Traits,
    Vector,
    Witness,
    as_margins,
    onto_simplex,
)
from relaxboost.relaxations.p_norm import PNorm, Weights, check_range
from relaxboost.relaxations.vectors import (
    check_length,
    positive_size,
    positive_vector,
    spell_vector,
)


def _hinge(gamma: float, u: Vector) -> Interval:
    """Return [γ − u]_+."""
    return (Interval(gamma) - Interval(np.asarray(u, dtype=np.float64))).positive()


@dataclass(frozen=True, repr=False)
class NormBall(Ball):
    """The indicator of ‖d‖ <= radius for a p-norm, 1 <= p <= inf, weighted or not.

    F(u) = max over γ of γ − r ‖[γ − u]_+‖_* with the dual norm; f*(θ) = r ‖θ‖_*. p = 2 is the l2
    constraint of SS09 Sec. 6. On the simplex p = 1 without weights never binds, and p = inf is
    the cap: ``NormBall(inf, Fraction(1, k))`` returns ``Capped(k)`` (``Caps`` with weights).

    Parameters
    ----------
    p : int, float or Fraction
        1, ``math.inf``, or between 1.00001 and 10001.
    radius : int, float or Fraction
        > 0, and large enough for the ball to meet the simplex: at least m^{1/p − 1} without
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

    p: Any
    radius: Any
    weights: Any = None

    def __new__(cls, p: Any = 2, radius: Any = 1, weights: Any = None) -> Any:
        """Return the relaxation for this p."""
        return _at_ends(cls, NormBall, p, radius, weights)

    def __post_init__(self) -> None:
        _check(self, "radius", self.p, self.radius, self.weights)

    def __repr__(self) -> str:
        return _show("NormBall", self.p, self.radius, self.weights)

    @cached_property
    def norm(self) -> PNorm:
        """The norm."""
        return PNorm(self.p, self.weights)

    @property
    def bound(self) -> Fraction:
        """The radius."""
        return self.radius

    def gauge(self, d: Interval) -> Interval:
        """Return ‖d‖."""
        return self.norm.of(d)

    def size(self, d: Vector) -> float:
        """Return ‖d‖ in doubles."""
        return self.norm.size(d)

    @property
    def traits(self) -> Traits:
        """Meets (i)–(iii) of SS09 Thm 7; symmetric where all weights are equal."""
        return _traits(self.weights)

    @property
    def fixed_m(self) -> int | None:
        """The number of examples, if the parameters tell."""
        return None if self.weights is None else len(self.weights)

    def resolve(self, m: int) -> NormBall:
        """Return the ball for `m` examples; raises InputError if it misses the simplex."""
        check_length("NormBall", "weights", self.weights, m)
        radius = fit(self, self.radius, self.norm.extremes(m)[0])
        return self if radius == self.radius else NormBall(self.p, radius, self.weights)

    def center(self, m: int) -> Vector:
        """Return the d in the simplex of least norm."""
        return self.norm.flattest(m)

    def conjugate(self, theta: Vector) -> float:
        """Return r ‖θ‖_*."""
        return float(self.radius) * _middle(self.norm.dual_of(Interval(theta)))

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        """Return F(u) and its minimiser; γ is the root of a scalar equation."""
        gamma, d = self._minimise(u)
        return gamma - float(self.radius) * _middle(self.norm.dual_of(_hinge(gamma, u))), d

    def _minimise(self, u: Vector) -> tuple[float, Vector]:
        u = as_margins(u, self)
        norm = self.norm
        bound = float(self.p) * math.log(self.radius)
        gamma, _, d = power_margin.power_ball_margin(u, norm.kappa, norm.q, bound)
        return gamma, self.draw_in(d)

    def distribution(self, u: Vector, beta: float) -> Vector:
        """Return the minimiser of <d, u> + β Σ d log d in the ball, by two scalar roots."""
        u = as_margins(u, self)
        norm = self.norm
        bound = float(self.p) * math.log(self.radius)
        return self.draw_in(power.power_ball(u, beta, norm.kappa, norm.q, bound))

    def witness(self, u: Vector) -> Witness:
        """Return the γ that attains F(u)."""
        return Witness(self._minimise(u)[0])

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        """Return γ − r ‖[γ − u]_+‖_*, rounded downwards; valid for every γ."""
        if not math.isfinite(witness.gamma):
            return -math.inf
        dual = self.norm.dual_of(_hinge(witness.gamma, u))
        return (Interval(witness.gamma) - Interval(self.radius) * dual).down

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        """Return 0 subject to ‖d‖ <= r."""
        return 0.0, [self.norm.cvxpy(d) <= float(self.radius)]

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        """Return r ‖x‖_*."""
        return float(self.radius) * self.norm.cvxpy(x, dual=True), []

    def entropy_range(self, m: int) -> float:
        """Return log m + p' log(r / min a): the Rényi entropy of order p bounds Shannon's."""
        least = 1.0 if self.weights is None else float(min(self.weights))
        share = float(self.norm.dual) * math.log(float(self.radius) / least)
        return math.log(m) + min(0.0, max(share, -math.log(m)))


@dataclass(frozen=True, repr=False)
class NormPenalty(Relaxation):
    """f(d) = weight · ‖d‖ for a p-norm, 1 <= p <= inf, weighted or not.

    F(u) is the largest γ with ‖[γ − u]_+‖_* <= weight; f* is the indicator of ‖θ‖_* <= weight.

    Parameters
    ----------
    p : int, float or Fraction
        1, ``math.inf``, or between 1.00001 and 10001.
    weight : int, float or Fraction
        > 0.
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

    p: Any
    weight: Any
    weights: Any = None

    level: ClassVar[Level] = "enclosed"

    def __new__(cls, p: Any = 2, weight: Any = 1, weights: Any = None) -> Any:
        """Return the relaxation for this p."""
        return _at_ends(cls, NormPenalty, p, weight, weights)

    def __post_init__(self) -> None:
        _check(self, "weight", self.p, self.weight, self.weights)

    def __repr__(self) -> str:
        return _show("NormPenalty", self.p, self.weight, self.weights)

    @cached_property
    def norm(self) -> PNorm:
        """The norm."""
        return PNorm(self.p, self.weights)

    @property
    def traits(self) -> Traits:
        """Meets (i)–(iii) of SS09 Thm 7; symmetric where all weights are equal."""
        return _traits(self.weights)

    @property
    def fixed_m(self) -> int | None:
        """The number of examples, if the parameters tell."""
        return None if self.weights is None else len(self.weights)

    def resolve(self, m: int) -> NormPenalty:
        """Return itself; raises InputError if the weights do not fit `m`."""
        check_length("NormPenalty", "weights", self.weights, m)
        return self

    def penalty(self, d: Vector) -> float:
        """Return c ‖d‖."""
        return float(self.weight) * self.norm.size(d)

    def conjugate(self, theta: Vector) -> float:
        """Return 0 where ‖θ‖_* <= c (1 + 1e-12), else inf."""
        size = self.norm.dual_of(Interval(theta)).down
        return 0.0 if size <= float(self.weight) * (1.0 + 1e-12) else math.inf

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        """Return F(u) and its minimiser; γ is the root of a scalar equation."""
        u = as_margins(u, self)
        norm = self.norm
        return power_margin.norm_penalty_margin(u, norm.kappa, norm.q, float(self.weight))

    def distribution(self, u: Vector, beta: float) -> Vector:
        """Return the minimiser of <d, u> + c ‖d‖ + β Σ d log d, by two scalar roots."""
        u = as_margins(u, self)
        norm = self.norm
        return power.norm_penalty(u, beta, norm.kappa, norm.q, float(self.weight))

    def witness(self, u: Vector) -> Witness:
        """Return γ = F(u)."""
        return Witness(self.relaxed_margin(u)[0])

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        """Return a bound valid for every γ, rounded downwards.

        With x = [γ − u]_+: F(u) >= γ + min over d of c ‖d‖ − <d, x> >= γ + (c − ‖x‖_*) ‖d‖, and
        ‖d‖ lies between its extremes on the simplex.
        """
        if not math.isfinite(witness.gamma):
            return -math.inf
        spare = Interval(self.weight) - self.norm.dual_of(_hinge(witness.gamma, u))
        least, largest = self.norm.extremes(len(u))
        worth = min((spare * least).down, (spare * largest).down)
        return (Interval(witness.gamma) + worth).down

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        """Return c ‖d‖."""
        return float(self.weight) * self.norm.cvxpy(d), []

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        """Return 0 subject to ‖x‖_* <= c."""
        return 0.0, [self.norm.cvxpy(x, dual=True) <= float(self.weight)]

    def repair(self, d: Vector) -> Vector:
        """Return `d` clipped at zero and normalised."""
        return onto_simplex(d, repr(self))

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return (c ‖d / Σd‖, 0), rounded upwards."""
        size = self.norm.of(Interval(d) / Interval(*total))
        return (Interval(self.weight) * size).up, 0.0


def _middle(x: Interval) -> float:
    return 0.5 * (float(x.lower) + float(x.upper))


def _traits(weights: Weights) -> Traits:
    symmetric = weights is None or len(set(weights)) == 1
    return Traits(monotone=True, symmetric=symmetric, zero_minimum=True, zero_in_core=True)


def _exponent(owner: str, p: Any) -> Fraction | float:
    if p == math.inf:
        return math.inf
    if isinstance(p, str):
        raise InputError(f"{owner} needs p to be a number, or math.inf, got {p!r}")
    exponent = exact(owner, "p", p)
    if exponent < 1:
        raise InputError(f"{owner} needs 1 <= p <= inf, got p = {p!r}: below 1 it is not a norm")
    return exponent


def _check(owner: Any, name: str, p: Any, size: Any, weights: Any) -> None:
    """Check the parameters of `owner` and replace them by what they are exactly."""
    kind = type(owner).__name__
    exponent = _exponent(kind, p)
    number = positive_size(kind, name, size)
    object.__setattr__(owner, "p", exponent)
    object.__setattr__(owner, name, number)
    object.__setattr__(owner, "weights", positive_vector(kind, "weights", weights))
    check_range(kind, exponent, owner.weights)


def _show(kind: str, p: Any, size: Fraction, weights: Weights) -> str:
    exponent = "math.inf" if p == math.inf else spell(p)
    tail = "" if weights is None else f", weights={spell_vector(weights)}"
    return f"{kind}({exponent}, {spell(size)}{tail})"


def _at_ends(cls: type, kind: type, p: Any, size: Any, weights: Any) -> Any:
    """Return a new `kind` for 1 < p < inf, else the class that p = 1 or p = inf asks for."""
    if cls is kind and not isinstance(p, bool | np.bool_) and (p == 1 or p == math.inf):
        from relaxboost.relaxations import max_norm, sum_norm

        if p == 1:
            return (sum_norm.SumBall if kind is NormBall else sum_norm.SumPenalty)(size, weights)
        return (max_norm.max_ball if kind is NormBall else max_norm.MaxPenalty)(size, weights)
    return object.__new__(cls)
