"""Positive multiples c * f of relaxations f (Shalev-Shwartz & Singer 2009, Appendix B)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.digits import number
from relaxboost._core.errors import InputError
from relaxboost._core.intervals import Interval
from relaxboost._core.parameters import exact, positive_size, spell
from relaxboost._core.rounding import float_down, float_up, up
from relaxboost.relaxations.base import (
    Relaxation,
    Traits,
    as_margins,
    asks_solver,
    makes,
    needs_solver,
    projector,
)
from relaxboost.relaxations.bounds import Bounds, bounds_of
from relaxboost.relaxations.cone_form import ConeForm
from relaxboost.relaxations.description import Description, cone_form_of, description_of
from relaxboost.relaxations.exact_points import Groups
from relaxboost.relaxations.hard_margin import HardMargin
from relaxboost.relaxations.linear import ExactForm, LinearForm
from relaxboost.relaxations.own import has_own_class, resolved


class ScaledWitness(NamedTuple):
    """A threshold γ and a witness of f, which together prove a lower bound for c * f."""

    gamma: float
    """The threshold γ of c * f at the margins u."""
    inner: Any
    """The witness of f at the margins u/c."""


@makes("times")
def times(f: Relaxation, c: object) -> Relaxation:
    """Return the relaxation c * f for a number c > 0.

    If f is a multiple b * g, the result is (c b) * g.
    """
    factor = exact("c * f", "c", c)
    if factor <= 0:
        raise InputError(f"c * f needs c > 0 to stay convex and proper, got c = {spell(factor)}")
    positive_size("c * f", "c", c)
    if isinstance(f, Scaled):
        return times(f.f, factor * f.c)
    zero = isinstance(f, HardMargin) and not has_own_class(f)
    return f if factor == 1 or zero else Scaled(f, factor)


class _BoundsOfMultiple(Relaxation, Bounds):
    f: Relaxation
    c: Any

    @property
    def is_proved(self) -> bool:
        return bounds_of(self.f).is_proved

    def _inner(self, u: Vector) -> Vector:
        """Return the margins u/c for the bounds on f, rounded downwards."""
        # Relaxed margins are non-decreasing, so bounds at smaller margins are valid too.
        with np.errstate(over="ignore"):
            return (Interval(as_margins(u, self)) / Interval(self.c)).lower

    def witness(self, u: Vector) -> ScaledWitness:
        inner = bounds_of(self.f).witness(self._inner(u))
        return ScaledWitness(float(self.c) * inner.gamma, inner)

    def reservation(self, witness: ScaledWitness, d: Vector) -> str:
        return bounds_of(self.f).reservation(witness.inner, d)

    def lower_bound(self, u: Vector, witness: ScaledWitness) -> float:
        below = bounds_of(self.f).lower_bound(self._inner(u), witness.inner)
        # The product would not be a double. Such a bound proves nothing of use anyway.
        if not abs(below) < 1e300 / float_up(self.c):
            return -math.inf
        return float_down(self.c * Fraction(below))

    def entropy_range(self, m: int) -> float:
        return bounds_of(self.f).entropy_range(m)

    def lipschitz(self, m: int) -> float:
        return up(float_up(self.c) * bounds_of(self.f).lipschitz(m))

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        value, distance = bounds_of(self.f).penalty_bound(d, total)
        return self._times_up(value), distance

    def penalty_near(self, d: Vector, total: tuple[float, float], distance: float) -> float:
        return self._times_up(bounds_of(self.f).penalty_near(d, total, distance))

    def _times_up(self, value: float) -> float:
        return float_up(self.c * Fraction(value)) if math.isfinite(value) else value


class _DescriptionOfMultiple(Description):
    f: Relaxation
    c: Any

    def exact_form(self, m: int) -> ExactForm | None:
        form = description_of(self.f).exact_form(m)
        if form is None:
            return None
        c: Fraction = self.c
        return form._replace(cost=[c * x for x in form.cost], constant=c * form.constant)

    def linear_form(self, m: int) -> LinearForm | None:
        form = description_of(self.f).linear_form(m)
        return None if form is None else replace(form, cost=float(self.c) * form.cost)

    def cone_form(self, m: int) -> ConeForm | None:
        # The cone program of the multiple is as large as that of f.
        return None if cone_form_of(self.f, m) is None else super().cone_form(m)

    def describe(self, m: int) -> dict[str, Any] | None:
        # A multiple of a linear program is a linear program again.
        of = description_of(self.f).describe(m)
        if of is None or of["kind"] == "polyhedral":
            return super().describe(m)
        return {"kind": "scaled", "factor": number(self.c), "of": of}

    def exact_caps(self, m: int) -> list[Groups]:
        return description_of(self.f).exact_caps(m)


@dataclass(frozen=True, repr=False)
class Scaled(_BoundsOfMultiple, _DescriptionOfMultiple):
    """The multiple c f of a relaxation f by a number c > 0, written ``c * f``.

    The conjugate is c f*(θ/c), and F(u) is c times the relaxed margin of f at the margins u/c. The
    multiple inherits the closed forms and the proof level of f.

    Parameters
    ----------
    f : Relaxation
        The relaxation that is multiplied.
    c : int, float or Fraction
        The factor c, from 1e-100 to 1e100, kept exactly.
    """

    family = "relaxboost.Scaled"

    f: Relaxation
    c: Any

    def __repr__(self) -> str:
        return f"{spell(self.c)} * {self.f!r}"

    def key(self) -> str:
        return f"{self.family}({self.c}, {self.f.key()})"

    @property
    def _operands(self) -> tuple[Relaxation, ...]:
        return (self.f,)

    @property
    def traits(self) -> Traits:
        return self.f.traits

    def resolve(self, m: int) -> Relaxation:
        return times(resolved(self.f, m), self.c)

    def _bind(self, m: int) -> Relaxation:
        return times(self.f._bind(m), self.c)

    def penalty(self, d: Vector) -> float:
        return float(self.c) * self.f.penalty(d)

    def conjugate(self, theta: Vector) -> float:
        return float(self.c) * self.f.conjugate(np.asarray(theta) / float(self.c))

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        value, d = self.f.relaxed_margin(as_margins(u, self) / float(self.c))
        return float(self.c) * value, d

    @property
    def _needs_solver(self) -> bool:
        return needs_solver(self.f)

    @property
    def _asks_solver(self) -> bool:
        return asks_solver(self.f)

    def _distribution(self, u: Vector, beta: float) -> Vector:
        c = float(self.c)
        return projector(self.f, beta / c)(u / c)

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        value, constraints = self.f.cvxpy_penalty(d)
        return float(self.c) * value, constraints

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        value, constraints = self.f.cvxpy_conjugate(x / float(self.c))
        return float(self.c) * value, constraints

    def cvxpy_relaxed_margin(self, u: Any, gamma: Any) -> tuple[Any, list[Any]]:
        c = float(self.c)
        value, constraints = self.f.cvxpy_relaxed_margin(u / c, gamma / c)
        return c * value, constraints

    def center(self, m: int) -> Vector:
        return self.f.center(m)

    def repair(self, d: Vector) -> Vector:
        return self.f.repair(d)

    def curvature(self, m: int) -> float:
        return float(self.c) * self.f.curvature(m)
