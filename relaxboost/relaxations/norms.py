"""The base classes of norm balls and norm penalties (SS09, Examples 1 and 2) for all p.

The norm ‖d‖ = (Σ (a_i |d_i|)^p)^{1/p} has the dual norm ‖θ‖_* = (Σ (|θ_i| / a_i)^{p'})^{1/p'} with
1/p + 1/p' = 1. The norm depends only on the |d_i| and does not decrease in any of them. So SS09 Thm
7 gives the relaxed margin:

    ball of radius r:    F(u) = max over γ of γ − r ‖[γ − u]₊‖_*,
    penalty of weight c: F(u) = max γ subject to ‖[γ − u]₊‖_* <= c.

The subclasses in `sum_norm` (p = 1), `max_norm` (p = inf) and `p_norm` register themselves in
`kinds`, from which `NormBall(p, r)` and `NormPenalty(p, c)` choose.
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
from relaxboost.relaxations.hard_margin import CAP_TRAITS
from relaxboost.relaxations.vectors import (
    enclose_vector,
    positive_vector,
    spell_vector,
)

Weights = tuple[Fraction, ...] | None


def hinge(gamma: float, u: Vector) -> Interval:
    """Return intervals around the positive part [γ − u]₊."""
    return (Interval(gamma) - Interval(np.asarray(u, dtype=np.float64))).positive()


def show_norm(kind: str, p: Any, size: Fraction, weights: Weights) -> str:
    """Return the source text of the call that creates a norm ball or penalty."""
    exponent = "math.inf" if p == math.inf else spell(p)
    tail = "" if weights is None else f", weights={spell_vector(weights)}"
    return f"{kind}({exponent}, {spell(size)}{tail})"


class WithNorm(Relaxation, Bounds, Description):
    """The base class of the balls and penalties of a norm.

    Subclasses override the methods that raise NotImplementedError. These methods are not abstract,
    because type checkers would reject `NormBall(p, r)` if its class had abstract methods. That call
    returns an object of a subclass.
    """

    size_name: ClassVar[str]
    """The name of the size parameter: "radius" for a ball, "weight" for a penalty."""

    @property
    def bound(self) -> Fraction:
        """The exact radius of the ball, or weight of the penalty."""
        return getattr(self, self.size_name)

    def gauge(self, d: Interval) -> Interval:
        """Return an interval that contains the norm ‖d‖ at every point of the box `d`."""
        raise NotImplementedError("gauge")

    def dual_of(self, x: Interval) -> Interval:
        """Return an interval that contains the dual norm ‖x‖_* at every point of the box `x`."""
        raise NotImplementedError("dual_of")

    def size(self, d: Vector) -> float:
        """Return the norm ‖d‖ of the weights `d` as a double."""
        return float(self.gauge(Interval(np.asarray(d, dtype=np.float64))).middle)

    def dual_size(self, theta: Vector) -> float:
        """Return the dual norm ‖θ‖_* of the vector `theta` as a double."""
        return float(self.dual_of(Interval(np.asarray(theta, dtype=np.float64))).middle)

    def cvxpy_norm(self, d: Any) -> Any:
        """Return the norm ‖d‖ as a cvxpy expression of the variable `d`."""
        raise NotImplementedError("cvxpy_norm")

    def cvxpy_dual(self, x: Any) -> tuple[Any, list[Any]]:
        """Return the dual norm ‖x‖_* as a cvxpy expression of `x`, and its constraints."""
        raise NotImplementedError("cvxpy_dual")

    def extremes(self, m: int) -> tuple[Any, Any]:
        """Return the smallest and the largest norm of a distribution, as intervals or doubles."""
        raise NotImplementedError("extremes")

    def describe_norm(self) -> dict[str, Any]:
        """Return the certificate entry of the norm, without the radius or weight."""
        raise NotImplementedError("describe_norm")

    def describe(self, m: int) -> dict[str, Any]:
        return self.describe_norm() | {self.size_name: number(self.bound)}


class BallOfNorm(WithNorm, Ball):
    """The base class of norm balls, the indicators of ‖d‖ <= radius."""

    size_name: ClassVar[str] = "radius"

    radius: Any

    def conjugate(self, theta: Vector) -> float:
        return float(self.radius) * self.dual_size(theta)

    def lower_bound(self, u: Vector, witness: Any) -> float:
        # γ − r ‖[γ − u]₊‖_* is a lower bound on F(u) for every γ.
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
    """The base class of norm penalties f(d) = weight · ‖d‖."""

    size_name: ClassVar[str] = "weight"

    weight: Any
    enclosed: Any

    def penalty(self, d: Vector) -> float:
        return float(self.weight) * self.size(np.asarray(d, dtype=np.float64))

    def conjugate(self, theta: Vector) -> float:
        # The tolerance covers the roundings of the dual norm.
        return 0.0 if self.dual_size(theta) <= float(self.weight) * (1.0 + 1e-12) else math.inf

    def witness(self, u: Vector) -> Any:
        return Witness(self.relaxed_margin(u)[0])

    def lower_bound(self, u: Vector, witness: Any) -> float:
        if not math.isfinite(witness.gamma):
            return -math.inf
        # With x = [γ − u]₊, F(u) is at least the minimum over d of γ + c ‖d‖ − <d, x>, which is at
        # least γ + (c − ‖x‖_*) ‖d‖. On the simplex ‖d‖ lies between its extremes.
        spare = Interval(self.weight) - self.dual_of(hinge(witness.gamma, u))
        least, largest = self.extremes(len(u))
        worth = min((spare * least).down, (spare * largest).down)
        return (Interval(witness.gamma) + worth).down

    def describe_witness(self, found: Any, u: Sequence[Fraction]) -> dict[str, Any]:
        # γ is the largest threshold that is proved to satisfy ‖[γ − u]₊‖_* <= c. It lies between
        # the lower bound that `found` proves and the γ of `found`.
        margins = np.array([float(x) for x in u])
        weight = Interval(self.weight).down
        low = self.lower_bound(margins, found)
        high = found.gamma
        # Bisection ends when no double lies between the two thresholds.
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
        # A norm ‖d‖ is at most (max a) ‖d‖_1.
        return (Interval(self.weight) * self.enclosed.max()).up


OMITTED: Any = object()
"""The default of the required arguments of `NormBall` and `NormPenalty`.

If one is omitted, the error names `NormBall` or `NormPenalty` instead of a private subclass.
"""


class OfNorm(WithNorm):
    """The base class of `NormBall` and `NormPenalty`, with an exponent p and weights a."""

    kind: ClassVar[str]
    """The name of the public class, "NormBall" or "NormPenalty"."""
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
        """Intervals around the norm weights a, with one entry per example or a single entry."""
        return Interval(np.ones(1)) if self.weights is None else enclose_vector(self.weights)

    @cached_property
    def factors(self) -> Vector:
        """The norm weights a as doubles, with one entry per example or a single entry."""
        return np.asarray(self.enclosed.middle)

    def exact_weights(self, m: int) -> list[Fraction]:
        """Return the norm weights a as fractions, one for each of m examples."""
        return [Fraction(1)] * m if self.weights is None else list(self.weights)

    @property
    def flat(self) -> bool:
        """Whether the norm has the same weight for all examples."""
        return self.weights is None or len(set(self.weights)) == 1

    @property
    def traits(self) -> Traits:
        return CAP_TRAITS._replace(polyhedral=self._is_polyhedral, symmetric=self.flat)


@dataclass(frozen=True, repr=False)
class NormBall(OfNorm, BallOfNorm):
    """The indicator of ‖d‖ <= radius for a p-norm, 1 <= p <= inf, with or without weights.

    With the dual norm, the conjugate is f*(θ) = r ‖θ‖_*, and the relaxed margin is
    F(u) = max over γ of γ − r ‖[γ − u]₊‖_*. The ball for p = 2 is the l2 constraint of SS09 Sec. 6.
    For p = 1 without weights every distribution satisfies ‖d‖ = 1.
    ``NormBall(inf, Fraction(1, k))`` is equal to ``Capped(k)``. With weights the ball for p = inf
    is equal to a ``Caps``.

    Parameters
    ----------
    p : int, float or Fraction
        The exponent of the norm: 1, ``math.inf``, or a number between 1.00001 and 10001.
    radius : int, float or Fraction
        The radius r in [1e-100, 1e100]. The ball must meet the simplex, so without weights
        r >= m^{1/p − 1}.
    weights : sequence of m numbers > 0, optional
        The weights a_i of the norm ‖d‖ = (Σ (a_i |d_i|)^p)^{1/p}, or ‖d‖ = max a_i |d_i| for
        p = inf. By default all weights are 1.

    Raises
    ------
    InputError
        If p < 1, if the radius or a weight is not positive, or if a p-th power of the weights
        overflows or underflows. A game raises InputError if the number of weights is not m, or if
        the ball does not meet the simplex. The message then contains the smallest possible radius.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 6, Appendix B row 1, and Example 1, which is wrong for some
    other norms (see `check_conditions`).

    Examples
    --------
    >>> import numpy as np
    >>> import relaxboost as rb
    >>> margin, d = rb.NormBall(2, 0.8).relaxed_margin(np.array([0.0, 1.0]))
    >>> round(float(np.linalg.norm(d)), 6)
    0.8
    """

    family = "relaxboost.NormBall"
    kind: ClassVar[str] = "NormBall"
    kinds: ClassVar[dict[Any, type[NormBall]]] = {}
    """The subclasses of norm balls by the exponent p.

    The key None means 1 < p < inf, and the key (p, True) means the exponent p with weights.
    """

    p: Any
    radius: Any
    weights: Any = None

    def witness(self, u: Vector) -> Any:
        # A cone solver finds γ. The subclasses override this with closed forms.
        return NumericalBounds(self).witness(u)

    def __new__(cls, p: Any = OMITTED, radius: Any = OMITTED, weights: Any = None) -> Any:
        return object.__new__(_kind(NormBall, p, radius, weights) if cls is NormBall else cls)

    def resolve(self, m: int) -> NormBall:
        super().resolve(m)
        radius = fit(self, self.radius, self.extremes(m)[0])
        return self if radius == self.radius else NormBall(self.p, radius, self.weights)


@dataclass(frozen=True, repr=False)
class NormPenalty(OfNorm, PenaltyOfNorm):
    """The penalty f(d) = weight · ‖d‖ for a p-norm, 1 <= p <= inf, with or without weights.

    With the dual norm, the relaxed margin F(u) is the largest γ with ‖[γ − u]₊‖_* <= weight, and
    the conjugate f* is the indicator of ‖θ‖_* <= weight.

    Parameters
    ----------
    p : int, float or Fraction
        The exponent of the norm: 1, ``math.inf``, or a number between 1.00001 and 10001.
    weight : int, float or Fraction
        The factor c of the norm, in [1e-100, 1e100].
    weights : sequence of m numbers > 0, optional
        The weights a_i of the norm ‖d‖ = (Σ (a_i |d_i|)^p)^{1/p}, as in `NormBall`.

    Raises
    ------
    InputError
        As for `NormBall`, except that the condition on the simplex does not apply.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Example 2 with w in the l1 ball, which is wrong for some other
    norms.

    Examples
    --------
    >>> import numpy as np
    >>> import relaxboost as rb
    >>> margin, d = rb.NormPenalty(2, 1).relaxed_margin(np.array([0.0, 3.0]))
    >>> round(margin, 6), d.round(6).tolist()
    (1.0, [1.0, 0.0])
    """

    family = "relaxboost.NormPenalty"
    kind: ClassVar[str] = "NormPenalty"
    kinds: ClassVar[dict[Any, type[NormPenalty]]] = {}
    """The subclasses of norm penalties by the exponent p. The key None means 1 < p < inf."""

    p: Any
    weight: Any
    weights: Any = None

    def __new__(cls, p: Any = OMITTED, weight: Any = OMITTED, weights: Any = None) -> Any:
        return object.__new__(_kind(NormPenalty, p, weight, weights) if cls is NormPenalty else cls)


def _kind(base: Any, p: Any, size: Any, weights: Any) -> Any:
    if p is OMITTED or size is OMITTED:
        raise InputError(f"{base.kind} needs p and {base.size_name}, as in {base.kind}(2, 0.5)")
    # The constructor of the class for 1 < p < inf raises the error for a p that is no number.
    if isinstance(p, bool) or not isinstance(p, Real) or not (p == 1 or p == math.inf):
        return base.kinds[None]
    return base.kinds.get((p, weights is not None), base.kinds[p])


def _exponent(owner: str, p: Any) -> Fraction | float:
    # `exact` has no rational for infinity, and would accept a text.
    if isinstance(p, Real) and p == math.inf:
        return math.inf
    if isinstance(p, str):
        raise InputError(f"{owner} needs p to be a number, or math.inf, got {p!r}")
    exponent = exact(owner, "p", p)
    if exponent < 1:
        raise InputError(
            f"{owner} needs 1 <= p <= inf, got p = {p!r}, which does not define a norm"
        )
    return exponent
