"""A relaxation that a user defines by a cvxpy expression."""

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
from relaxboost.relaxations.base import Traits
from relaxboost.relaxations.bounds import EvaluatedBounds, NumericalBounds
from relaxboost.relaxations.description import Description
from relaxboost.relaxations.linear import ExactForm, LinearForm


class Custom(EvaluatedBounds, Description):
    """A closed convex f, given as a function of a cvxpy variable or by its conjugate f*.

    ::

        rb.Custom(f=lambda d: 0.5 * cp.sum_squares(d))
        rb.Custom(f=lambda d: (0.0, [cp.norm2(d) <= 0.3]))
        rb.Custom(conjugate=lambda theta: 0.3 * cp.norm2(theta))

    cvxpy computes the relaxed margin, distributions, and f* from f or f from f*. Each distribution
    requires a cone program, which takes a few milliseconds for m = 200 examples. A subclass of
    `Relaxation` with closed forms is faster and yields better bounds.

    The bounds of games are *numerical*: they depend on rounding errors of cvxpy and are not treated
    as certified. Multipliers of the cone program of f prove the lower bound. If no proof is found,
    the bound is −inf, and the message of the solution gives the reason. The upper bound is the
    value at a point that satisfies the constraints of f up to 1e-13, or up to 1e-9 with a warning
    in the message. The message also warns of equations that follow from others up to rounding,
    since they may contradict each other in exact arithmetic.

    If f or f* is piecewise linear with linear constraints by cvxpy's rules, then f is polyhedral.
    `exact_value` and exact certificates then use cvxpy's linear program, whose coefficients are
    doubles.

    Parameters
    ----------
    f : callable, optional
        A function that takes a cvxpy variable d of shape (m,) and returns f(d) as a scalar
        expression, or a pair (expression, list of constraints). f(d) is the minimum over all
        other variables in the result. The function is called once for each m, and must define f on
        all of R^m, because the game adds the constraint that d is in the simplex.
    conjugate : callable, optional
        A function like `f` that returns the conjugate f* instead.
    traits : Traits, optional
        The known properties of f. Only `check_conditions` tests them. cvxpy determines whether f is
        polyhedral.
    name : str, optional
        The name of f in messages and reports.

    Raises
    ------
    InputError
        If f and conjugate are both given or both missing. The declaration of a game raises
        InputError if f or f* is not convex by cvxpy's rules, needs power cones, or has an exponent
        that cvxpy rounds. It also raises InputError if f is infinite on the whole simplex or not
        bounded below on it, or if no multipliers prove a lower bound for margins of zero.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Definition 6.

    Examples
    --------
    >>> import cvxpy as cp
    >>> import relaxboost as rb
    >>> f = rb.Custom(f=lambda d: 0.5 * cp.sum_squares(d), name="half the squares")
    >>> vote = rb.solve(rb.Game([[1, -1], [-1, 1], [1, 1]], f))
    >>> vote.status
    'optimal'
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
            raise InputError("Custom needs either f or conjugate, but not both")
        if not callable(f if conjugate is None else conjugate):
            raise InputError(
                "Custom needs a function of a cvxpy variable, such as lambda d: cp.norm2(d), "
                f"got {f if conjugate is None else conjugate!r}"
            )
        if traits is not None and not isinstance(traits, Traits):
            raise InputError(f"Custom needs traits to be relaxboost.relaxations.Traits(...), "
                             f"got {traits!r}")  # fmt: skip
        self._f = f
        # f* is a closed convex function too. So f is the conjugate of the relaxation `_mirror`.
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
        # cvxpy needs m for this, and before m is known nothing needs the answer.
        if self._m is None:
            return self._traits
        return self._traits._replace(polyhedral=self.linear_form(self._m) is not None)

    def linear_form(self, m: int) -> LinearForm | None:
        if m not in self._forms:
            if self._mirror is None:
                self._forms[m] = dcp.linear_form(self._checked(m))
            else:
                self._forms[m] = dcp.linear_form_of_conjugate(self._checked(m))
        return self._forms[m]

    def exact_form(self, m: int) -> ExactForm | None:
        form = self.linear_form(m)
        return None if form is None else form.exactly()

    @property
    def _fixed_m(self) -> int | None:
        return self._m

    def resolve(self, m: int) -> Custom:
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
            # cvxpy raises ValueError for the support function of an empty set, for example.
            except ValueError as error:
                raise InputError(
                    f"cvxpy cannot minimise {self!r} over the simplex for m = {m}: {error}"
                ) from error
            bound._feasible.add(m)
        return bound

    def _bind(self, m: int) -> Custom:
        if self._m == m:
            return self
        # A pickled relaxation has no caches. All relaxations that are bound from one `Custom`
        # share its caches.
        vars(self).setdefault("_programs", {})
        bound = copy.copy(self)
        vars(bound).update(vars(self), _m=m)
        bound._checked(m)
        return bound

    def _checked(self, m: int) -> dcp.Parts:
        """Call the user's function, once for each m, and check the result."""
        if self._mirror is not None:
            return self._mirror._checked(m)
        if m not in self._parts:
            self._parts[m] = dcp.parts(self._f, m, repr(self))
        return self._parts[m]

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        if self._mirror is not None:
            return self._mirror.cvxpy_conjugate(d)
        return self._checked(d.shape[0]).at(d)

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        if self._mirror is not None:
            return self._mirror.cvxpy_penalty(x)
        return super().cvxpy_conjugate(x)

    def penalty(self, d: Vector) -> float:
        return super().penalty(d) if self._mirror is None else self._mirror.conjugate(d)

    def conjugate(self, theta: Vector) -> float:
        return super().conjugate(theta) if self._mirror is None else self._mirror.penalty(theta)

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        if self._mirror is None:
            return super().penalty_bound(d, total)
        value, distance = NumericalBounds(self).penalty_bound(d, total)
        if not math.isfinite(value) or distance > 0.0:
            return value, distance
        programs = numerical.programs(self._mirror, d.size)
        # f is infinite if d is outside its domain by a rounding. Small moves put d inside again.
        for share in (0.0, 1e-15, 1e-12, 1e-9, 1e-6):
            moved = d + share * (self.center(d.size) - d)
            value = programs.free_conjugate_above(moved)
            if math.isfinite(value):
                apart = math.fsum(np.abs(moved - d).tolist())
                return value, apart + 8.0 * UNIT if apart else 0.0
        return value, 0.0

    def lower_bound(self, u: Vector, witness: Any) -> float:
        # If f* is given, then min (u + x) − f*(x) is a bound for every x, without any multipliers.
        if self._mirror is not None:
            x = np.maximum(witness.x, witness.gamma - u)
            programs = numerical.programs(self._mirror, x.size)
            found = programs.near(x) if np.isfinite(x).all() else None
            if found is not None:
                least = float((u + found[1]).min())
                return least - found[0] - 4.0 * UNIT * (abs(least) + abs(found[0]))
        return super().lower_bound(u, witness)

    def reservation(self, witness: Any, d: Vector) -> str:
        if self._mirror is None:
            return super().reservation(witness, d)
        # If f* has a value near x, both bounds are evaluations of f*.
        if numerical.programs(self._mirror, d.size).near(witness.x) is not None:
            return ""
        return NumericalBounds(self).reservation(witness, d)

    def key(self) -> str:
        # Functions with the same cone program have the same key, even if their names differ.
        if self._m is None:
            raise InputError(
                f"{self!r} has no key before the number of examples m is known; call resolve(m)"
            )
        given = "f" if self._mirror is None else "conjugate"
        return f"{self.family}(m={self._m}, {given}={dcp.digest(self._checked(self._m))})"
