"""A relaxation of the user's own, written as a cvxpy expression."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.rounding import UNIT
from relaxboost.relaxations import dcp, numerical
from relaxboost.relaxations.base import Relaxation, Traits, onto_simplex
from relaxboost.relaxations.bounds import Bounds, NumericalBounds
from relaxboost.relaxations.cone_bounds import ConeProof
from relaxboost.relaxations.description import Description
from relaxboost.relaxations.linear import ExactForm, LinearForm
from relaxboost.relaxations.numerical import DualWitness


class Custom(Relaxation, Bounds, Description):
    """A closed convex f given by a function of a cvxpy variable, or by its conjugate.

    ::

        rb.Custom(f=lambda d: 0.5 * cp.sum_squares(d))
        rb.Custom(f=lambda d: (0.0, [cp.norm2(d) <= 0.3]))
        rb.Custom(conjugate=lambda theta: 0.3 * cp.norm2(theta))

    Everything else (F, the witnesses, the distributions of a booster, the other of f and f*) is
    derived through cvxpy. That costs one cone solve for each distribution, some milliseconds at
    m = 200, and its brackets are *numerical*: as good as the doubles that cvxpy works with, and
    never called certified. A lower bound is proved by multipliers of the cone program that cvxpy
    makes of f, moved into their cones; if they prove nothing, it is −inf and the message of the
    solution says why. An upper bound is taken at a point that no constraint excludes. If no point
    is found inside the constraints, f is taken at one that breaks them by 1e-9, and the message
    says so. Write a subclass of `Relaxation` with closed forms if that is not enough.

    Where cvxpy knows f (or f*) to be piecewise linear, with linear constraints, it is polyhedral:
    its linear program is read from cvxpy, and `exact_value` and exact certificates follow. Their
    data are the doubles that cvxpy works with.

    Parameters
    ----------
    f : callable, optional
        Takes a cvxpy variable d of shape (m,) and returns f(d) as a scalar expression, or a pair
        (expression, list of constraints). It may use auxiliary variables, over which it is then
        minimised. It is called once for each m, and must give f on all of R^m: the simplex is
        the game's to add.
    conjugate : callable, optional
        In place of f: the same for f*.
    traits : Traits, optional
        What you know of f. It is believed, except by `check_conditions`, which attacks it;
        whether f is polyhedral is read from cvxpy instead.
    name : str, optional
        For messages and reports.

    Raises
    ------
    InputError
        If not exactly one of f and conjugate is given; and when a game is declared, if what it
        returns is not convex by cvxpy's rules, is +inf on the whole simplex, or is not bounded
        below there; if it needs power cones, or cvxpy rounds one of its exponents; or if no
        multipliers prove a lower bound at margins of zero.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Definition 6.
    """

    family = "relaxboost.Custom"

    def __init__(
        self,
        f: Callable[[Any], Any] | None = None,
        *,
        conjugate: Callable[[Any], Any] | None = None,
        traits: Traits | None = None,
        name: str | None = None,
    ) -> None:
        if (f is None) == (conjugate is None):
            raise InputError("Custom needs either f or conjugate, and not both")
        if not callable(f if conjugate is None else conjugate):
            raise InputError(
                "Custom needs a function of a cvxpy variable, such as lambda d: cp.norm2(d), "
                f"got {f if conjugate is None else conjugate!r}"
            )
        if traits is not None and not isinstance(traits, Traits):
            raise InputError(f"Custom needs traits to be relaxboost.relaxations.Traits(...), "
                             f"got {traits!r}")  # fmt: skip
        self._f = f
        # f* is a closed convex function like any other, and f the conjugate of it.
        self._mirror = None if conjugate is None else Custom(conjugate, name=name)
        self._traits = Traits() if traits is None else traits
        self._name = name
        self._m: int | None = None
        self._parts: dict[int, dcp.Parts] = {}
        self._feasible: set[int] = set()
        self._forms: dict[int, LinearForm | None] = {}

    def __repr__(self) -> str:
        if self._name is not None:
            return f"Custom({self._name})"
        given, function = ("f", self._f) if self._mirror is None else ("conjugate", self._mirror._f)
        return f"Custom({given}={getattr(function, '__qualname__', function)})"

    def _identity(self) -> tuple[Any, ...]:
        return self._f, self._mirror, self._traits, self._name, self._m

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Custom) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_parts": {}, "_feasible": set(), "_forms": {}}

    @property
    def traits(self) -> Traits:
        """The traits that the user declared. Once m is known, cvxpy says if f is polyhedral."""
        if self._m is None:
            return self._traits
        return self._traits._replace(polyhedral=self.linear_form(self._m) is not None)

    def linear_form(self, m: int) -> LinearForm | None:
        """Return f as the linear program that cvxpy makes of it, None where it makes none."""
        if m not in self._forms:
            if self._mirror is None:
                self._forms[m] = dcp.linear_form(self._checked(m))
            else:
                self._forms[m] = dcp.linear_form_of_conjugate(self._checked(m))
        return self._forms[m]

    def exact_form(self, m: int) -> ExactForm | None:
        """Return `linear_form` in fractions: the doubles that cvxpy works with are its data."""
        form = self.linear_form(m)
        return None if form is None else form.exactly()

    @property
    def _fixed_m(self) -> int | None:
        return self._m

    def resolve(self, m: int) -> Custom:
        """Return this relaxation bound to m, after checking that it fits.

        The checks are those of the class, in its docstring.
        """
        bound = self._bind(m)
        if m not in bound._feasible:
            try:
                programs = numerical.programs(bound, m)
                if bound._mirror is None:
                    programs.require()
                else:
                    numerical.programs(bound._mirror, m).require_form()
                    programs.margin(np.zeros(m))
            except InputError:
                raise
            except ValueError as error:  # such as cvxpy's on the support of an empty set
                raise InputError(
                    f"cvxpy cannot minimise {self!r} over the simplex for m = {m}: {error}"
                ) from error
            bound._feasible.add(m)
        return bound

    def _bind(self, m: int) -> Custom:
        if self._m == m:
            return self
        bound = copy.copy(self)
        bound._parts, bound._feasible, bound._m = self._parts, self._feasible, m
        bound._forms = self._forms
        vars(bound)["_programs"] = vars(self).setdefault("_programs", {})
        bound._checked(m)
        return bound

    def _checked(self, m: int) -> dcp.Parts:
        """Return what the user's function gave for this m; called once for each m."""
        if self._mirror is not None:
            return self._mirror._checked(m)
        if m not in self._parts:
            self._parts[m] = dcp.parts(self._f, m, repr(self))
        return self._parts[m]

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        """Return what the user's function gave, with `d` in place of its variable."""
        if self._mirror is not None:
            return self._mirror.cvxpy_conjugate(d)
        return self._checked(d.shape[0]).at(d)

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        """Return f* as given, or as the support function of the epigraph of f."""
        if self._mirror is not None:
            return self._mirror.cvxpy_penalty(x)
        return super().cvxpy_conjugate(x)

    def penalty(self, d: Vector) -> float:
        """Return f(d), ``inf`` outside its domain (with a tolerance of 1e-9)."""
        return super().penalty(d) if self._mirror is None else self._mirror.conjugate(d)

    def conjugate(self, theta: Vector) -> float:
        return super().conjugate(theta) if self._mirror is None else self._mirror.penalty(theta)

    is_proved = False

    def witness(self, u: Vector) -> DualWitness:
        return NumericalBounds(self).witness(u)

    def near_witness(self, u: Vector, proof: ConeProof) -> DualWitness | None:
        return NumericalBounds(self).near_witness(u, proof)

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        numerical_bounds = NumericalBounds(self)
        if self._mirror is None:
            return numerical_bounds.evaluated_bound(d, total)
        value, distance = numerical_bounds.penalty_bound(d, total)
        if not math.isfinite(value) or distance > 0.0:
            return value, distance
        programs = numerical.programs(self._mirror, d.size)
        # At a d that is outside dom f by a rounding f is infinite, and nearby it is not.
        for share in (0.0, 1e-15, 1e-12, 1e-9, 1e-6):
            moved = d + share * (self.center(d.size) - d)
            value = programs.free_conjugate_above(moved)
            if math.isfinite(value):
                apart = math.fsum(np.abs(moved - d).tolist())
                return value, apart + 8.0 * UNIT if apart else 0.0
        return value, 0.0

    def lower_bound(self, u: Vector, witness: Any) -> float:
        """Return what `NumericalBounds.lower_bound` does; for f* as given, min (u + x) − f*(x) near
        the x of the witness, which needs no proof."""
        if self._mirror is not None:
            x = np.maximum(witness.x, witness.gamma - u)
            programs = numerical.programs(self._mirror, x.size)
            found = programs.near(x) if np.isfinite(x).all() else None
            if found is not None:
                least = float((u + found[1]).min())
                return least - found[0] - 4.0 * UNIT * (abs(least) + abs(found[0]))
        return NumericalBounds(self).lower_bound(u, witness)

    def reservation(self, witness: Any, d: Vector) -> str:
        """Return what `Bounds.reservation` does; for f* as given both bounds are by f* alone."""
        said = NumericalBounds(self).reservation(witness, d)
        if self._mirror is not None:
            near = numerical.programs(self._mirror, d.size).near(witness.x)
            return "" if near is not None else said
        return said or numerical.programs(self, d.size).unmet(d)

    def center(self, m: int) -> Vector:
        return numerical.programs(self, m).interior()

    def repair(self, d: Vector) -> Vector:
        """Return `d` clipped, normalised, and moved towards the center until f is finite.

        The point of a solver is only slightly outside the domain, so small moves are tried first.
        """
        d = onto_simplex(d, repr(self))
        if numerical.is_inside(self, d):
            return d
        towards, inside = self.center(d.size) - d, 1.0
        for inside in 10.0 ** np.arange(-12.0, 1.0):
            if math.isfinite(self.penalty(d + inside * towards)):
                break
        outside = 0.1 * inside
        for _ in range(40 if inside > 1e-8 else 0):
            middle = 0.5 * (inside + outside)
            if math.isfinite(self.penalty(d + middle * towards)):
                inside = middle
            else:
                outside = middle
        return d + inside * towards

    def key(self) -> str:
        """Return a digest of the cone program that cvxpy makes of f, or of f*.

        Equal mathematics gives equal keys, whatever the functions are called.

        Raises
        ------
        InputError
            Before `resolve` has given m.
        """
        if self._m is None:
            raise InputError(f"{self!r} has no key before a game gives m; use resolve(m) first")
        given = "f" if self._mirror is None else "conjugate"
        return f"{self.family}(m={self._m}, {given}={dcp.digest(self._checked(self._m))})"
