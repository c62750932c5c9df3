"""The first interface of a relaxation: f as a convex function on R^m.

The second, in `relaxations/bounds.py`, proves bounds on f and its relaxed margin F. The third, in
`relaxations/description.py`, writes f into certificates. A relaxation given by a cvxpy expression
needs only the first.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError, brief
from relaxboost._core.intervals import Interval
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import positive
from relaxboost._core.rounding import UNIT, rounded_sum
from relaxboost.relaxations import numerical
from relaxboost.relaxations.dcp import support_of_epigraph
from relaxboost.relaxations.own import resolved
from relaxboost.relaxations.vectors import spell_parameter

_INTERFACES = {
    "Bounds": {"witness", "near_witness", "lower_bound", "penalty_bound", "penalty_near",
               "lipschitz", "entropy_range", "is_proved"},
    "Description": {"exact_form", "linear_form", "describe", "describe_witness",
                    "exact_multipliers", "exact_auxiliaries", "exact_caps", "exact_point",
                    "cone_form", "is_exact"},
}  # fmt: skip
"""The optional interfaces of a relaxation, each with the names of its methods.

A class that defines one of these methods must derive from the interface that contains it.
"""

_MAKERS: dict[str, Callable[[Any, Any], Relaxation]] = {}
"""The functions that implement the operators on relaxations, by operator name.

The files `multiples`, `sums` and `affine` register their functions here, because importing them
would be circular.
"""


def makes(name: str) -> Callable[[Any], Any]:
    """Register a function as the implementation of the operator `name`."""

    def register(maker: Any) -> Any:
        _MAKERS[name] = maker
        return maker

    return register


class Traits(NamedTuple):
    """Properties that a relaxation f on R^m claims to have.

    False means that the property is not claimed, although f may have it.
    """

    polyhedral: bool = False
    """Whether f is piecewise linear, so that `linear_form` returns it as a linear program."""
    smooth: bool = False
    """Whether f is strongly convex on the simplex in the l1 norm.

    The modulus is `curvature(m)` > 0. The gradient of the relaxed margin is then Lipschitz
    continuous.
    """
    monotone: bool = False
    """Whether f(Dd) <= f(d) for every d and every diagonal matrix D with entries in [0, 1].

    For a closed f this is condition (iii) of SS09 Thm 7, since f* then has the property too.
    """
    symmetric: bool = False
    """Whether f(d) is invariant under permutations of d."""
    zero_minimum: bool = False
    """Whether the minimum of f over R^m is 0 (SS09 Thm 7, condition (i))."""
    zero_in_core: bool = False
    """Whether 0 is in the core of the domain of f (SS09 Thm 7, condition (ii))."""


def as_margins(u: Any, owner: Relaxation) -> Vector:
    """Validate margins, and return them as a float64 vector.

    Parameters
    ----------
    u : array_like of shape (m,)
        The finite margins of the m examples.
    owner : Relaxation
        The relaxation to evaluate, named in error messages.

    Raises
    ------
    InputError
        If `u` is not a non-empty vector of finite numbers, or if `owner` has parameters for another
        number of examples.
    """
    try:
        u = np.asarray(u)
        if u.dtype.kind == "c":
            raise TypeError("they are complex")
        u = u.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{brief(owner)} needs margins u to be numbers: {error}") from None
    if u.ndim != 1 or u.size == 0:
        raise InputError(
            f"{brief(owner)} needs margins u to be a non-empty vector, got shape {u.shape}"
        )
    # If an entry is nan, then so are the minimum and the maximum.
    if not (math.isfinite(u.min()) and math.isfinite(u.max())):
        raise InputError(f"{brief(owner)} needs finite margins u, but some are nan or infinite")
    fixed = fixed_m(owner)
    if fixed not in (None, u.size):
        raise InputError(
            f"{brief(owner)} has parameters for m = {fixed} examples, but u has {u.size} entries; "
            "pass one margin for each example"
        )
    return u


def onto_simplex(d: NDArray[Any], owner: str) -> Vector:
    """Set negative entries of `d` to zero, and scale the sum to one.

    A sum that is already one up to rounding is kept. If `d` has no positive entry or a non-finite
    one, raise InputError.
    """
    d = np.array(d, dtype=np.float64)
    if not np.isfinite(d).all():
        at = int(np.argmin(np.isfinite(d)))
        what = f"a d with nan or infinite entries, first d[{at}] = {d[at]}"
        raise InputError(f"{owner} cannot repair {what}")
    np.maximum(d, 0.0, out=d)
    largest = float(d.max(initial=0.0))
    if largest <= 0.0:
        remedy = "negate d if its entries are negative weights, or use center(m)"
        raise InputError(f"{owner} cannot repair a d with no positive entry; {remedy}")
    scaled = d / largest  # The sum of these entries neither overflows nor underflows.
    total = rounded_sum(scaled)
    return d if abs(total * largest - 1.0) <= 8.0 * UNIT else scaled / total


def box_around(d: Vector, total: tuple[float, float], distance: float) -> Interval:
    """Return a box around the points of the simplex within l1 distance `distance` of d / Σd.

    The interval `total` contains the sum Σd.
    """
    box = Interval(d) / Interval(*total) + Interval(-distance, distance)
    return Interval(np.maximum(box.lower, 0.0), np.minimum(box.upper, 1.0))


class Relaxation(ABC):
    """A closed convex function f: R^m -> (−inf, inf] of the weights d of m examples.

    The relaxed margin of margins u is F(u) = min of <d, u> + f(d) over d in the simplex. By duality
    F(u) is the supremum of γ − f*(x) over γ and x >= γ − u. Under the three conditions of SS09 Thm
    7 (see `Traits`) the best x is [γ − u]_+. The game adds the constraint that d is in the simplex,
    so f must not contain this constraint.

    A subclass defines `cvxpy_penalty`. By default the other methods solve problems with this
    expression through cvxpy, which is slow and only as accurate as the solver. Override these
    methods if f has closed forms. A subclass should be immutable and comparable, like a frozen
    dataclass. Derive it also from `Bounds` if closed forms prove its bounds, and from `Description`
    if exact certificates should contain it.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import cvxpy as cp
    >>> import relaxboost as rb
    >>> @dataclass(frozen=True)
    ... class HalfSquares(rb.Relaxation):
    ...     def cvxpy_penalty(self, d):
    ...         return 0.5 * cp.sum_squares(d), []
    >>> rb.solve(rb.Game([[1, -1], [-1, 1], [1, 1]], HalfSquares())).status
    'optimal'
    """

    family: ClassVar[str]
    """The name of the class in `key` and in the digests of games.

    The default is the qualified class name. A class that defines `family` can be renamed without
    changing its digests.
    """

    per_example: ClassVar[str] = ""
    """The name of the parameter with one entry for each example, or ""."""

    # With None, NumPy leaves the product of a NumPy number and f to `__rmul__`.
    __array_ufunc__ = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "family" not in vars(cls):
            cls.family = f"{cls.__module__}.{cls.__qualname__}"
        for interface, names in _INTERFACES.items():
            written = sorted(names & vars(cls).keys())
            if written and interface not in {kind.__name__ for kind in cls.__mro__}:
                raise InputError(
                    f"{cls.__name__} has a method `{written[0]}`, which belongs to the interface "
                    f"`{interface}`; declare the class as "
                    f"`class {cls.__name__}(rb.Relaxation, rb.relaxations.{interface})`"
                )

    @abstractmethod
    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        """Return f as a cvxpy expression of the variable `d`, and its list of constraints."""

    @property
    def traits(self) -> Traits:
        """The known properties of f on R^m. By default no property is claimed."""
        return Traits()

    @property
    def _operands(self) -> tuple[Relaxation, ...]:
        """The relaxations that this relaxation is built from, such as f for c * f."""
        return ()

    @property
    def _fixed_m(self) -> int | None:
        given = getattr(self, self.per_example) if self.per_example else None
        if isinstance(given, tuple):
            return len(given)
        return next((m for f in self._operands if (m := f._fixed_m) is not None), None)

    @property
    def _needs_solver(self) -> bool:
        kind = type(self)
        own = kind.distribution, kind._distribution
        return own == (Relaxation.distribution, Relaxation._distribution)

    @property
    def _asks_solver(self) -> bool:
        return self._needs_solver

    def _plus(self, other: Relaxation) -> Relaxation | None:
        """Return this relaxation plus `other`, or None if no family represents the sum."""
        return None

    def penalty(self, d: Vector) -> float:
        """Return f(d) for any d in R^m.

        The value is inf if d is outside the domain of f by more than rounding errors.
        """
        return numerical.programs(self, len(d)).penalty(np.asarray(d, dtype=np.float64))

    def conjugate(self, theta: Vector) -> float:
        """Return the conjugate f*(θ), the supremum of <d, θ> − f(d) over d in R^m.

        The value may be inf.
        """
        return numerical.programs(self, len(theta)).conjugate(np.asarray(theta, dtype=np.float64))

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        """Return the relaxed margin F(u) and a distribution d that attains it.

        The distribution satisfies <d, u> + f(d) = F(u).
        """
        u = as_margins(u, self)
        d = self.repair(numerical.programs(self, len(u)).margin(u)[1])
        return math.fsum((d * u).tolist()) + self.penalty(d), d

    def distribution(self, u: Vector, beta: float) -> Vector:
        """Return the minimiser of <d, u> + f(d) + β Σ d_i log d_i over the simplex, for β > 0.

        At the margins u of round t this is the distribution d_t of SS09 Fig. 1.
        """
        return self._distribution(np.ascontiguousarray(as_margins(u, self)), positive("beta", beta))

    def _distribution(self, u: Vector, beta: float) -> Vector:
        """Compute the distribution for validated arguments.

        Families with closed forms override this method instead of `distribution`.
        """
        return self.repair(numerical.programs(self, len(u)).distribution(u, beta))

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        """Return f* as a cvxpy expression of `x`, and its list of constraints."""
        return support_of_epigraph(self.cvxpy_penalty, x, x.shape[0])

    def cvxpy_relaxed_margin(self, u: Any, gamma: Any) -> tuple[Any, list[Any]]:
        """Return the cvxpy expression γ − f*(x) and its constraints, which include x >= γ − u.

        The maximum over γ and x is the relaxed margin F(u).
        """
        x = cp.Variable(u.shape[0], name="x")
        value, constraints = self.cvxpy_conjugate(x)
        return gamma - value, [x >= gamma - u, *constraints]

    def key(self) -> str:
        """Return a string with the family of f and its exact parameters.

        The string is part of the game's digest. The parameters are the compared fields of a
        dataclass, or the attributes of any other object. Override this method if a parameter is not
        a number, a string or an array.
        """
        itself: Any = self  # Most subclasses are dataclasses.
        own = [f.name for f in fields(itself) if f.compare] if is_dataclass(itself) else None
        names = sorted(vars(self)) if own is None else own
        values = {name: getattr(self, name) for name in names if name != "_programs"}
        spelled = [f"{name}={spell_parameter(value, self)}" for name, value in values.items()]
        return f"{self.family}({', '.join(spelled)})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_programs"}

    def resolve(self, m: int) -> Relaxation:
        """Return the relaxation for a game with `m` examples, by default f itself.

        Raises
        ------
        InputError
            If f has parameters for another number of examples, or if a user-defined method returns
            a value of the wrong type or shape.
        """
        if self._fixed_m not in (None, m):
            name = repr(self).partition("(")[0]
            raise InputError(
                f"{name} has {self._fixed_m} entries in {self.per_example}, "
                f"but this game has m = {m} examples; pass one entry for each example"
            )
        numerical.check(self, m)
        return self

    def _bind(self, m: int) -> Relaxation:
        """Return the relaxation for m examples, without the last check of `resolve`.

        That check finds out whether f is infinite on the whole simplex, so that no lower bound can
        be proved.
        """
        # The operand f of `f.shifted(d0)` only has to be finite on the shifted simplex.
        return resolved(self, m)

    def center(self, m: int) -> Vector:
        """Return a point of the simplex where f is finite, by default the uniform distribution."""
        return np.full(m, 1.0 / m)

    def curvature(self, m: int) -> float:
        """Return a modulus of strong convexity of f on the simplex in the l1 norm, by default 0.

        A positive modulus makes the gradient of the relaxed margin Lipschitz in the sup norm with
        constant 1/modulus. Other relaxations need an entropy term for this (SS09 Lemma 18).
        """
        return 0.0

    def repair(self, d: Vector) -> Vector:
        """Return a point of the simplex near `d` where f is finite.

        By default `d` is clipped at 0, normalised, and then moved towards `center(m)` until f is
        finite.
        """
        d = onto_simplex(d, brief(self))
        if numerical.is_inside(self, d):
            return d
        center = self.center(d.size)
        towards = center - d
        inside = 1.0
        # The point of a solver is only slightly outside the domain, so small moves come first.
        for inside in 10.0 ** np.arange(-12.0, 1.0):
            if math.isfinite(self.penalty(d + inside * towards)):
                break
        # If only a large move is enough, bisection searches for the smallest one.
        outside = 0.1 * inside
        for _ in range(40 if inside > 1e-8 else 0):
            middle = 0.5 * (inside + outside)
            if math.isfinite(self.penalty(d + middle * towards)):
                inside = middle
            else:
                outside = middle
        moved = d + inside * towards
        # If f forces an entry to 0, the segment may enter the domain only at its end. A segment
        # that starts without this entry may enter earlier.
        kept = np.where(center > 0.0, d, 0.0)
        if inside > 1e-8 and kept.any() and (kept < d).any():
            other = Relaxation.repair(self, kept)
            return min(moved, other, key=lambda point: float(np.abs(point - d).sum()))
        return moved

    def __add__(self, other: object) -> Relaxation:
        if isinstance(other, Relaxation):
            return _MAKERS["add"](self, other)
        # `sum([f, g])` starts with 0 + f.
        if isinstance(other, int) and other == 0:
            return self
        if isinstance(other, Real):
            raise InputError(
                f"{other} cannot be added to {brief(self)}, because a sum of relaxations has no "
                f"constant; leave it out, and add {other} to the bounds on the value of the game"
            )
        return NotImplemented

    __radd__ = __add__

    def __mul__(self, c: object) -> Relaxation:
        return _MAKERS["times"](self, c) if isinstance(c, Real) else NotImplemented

    __rmul__ = __mul__

    def shifted(self, d0: Any) -> Relaxation:
        """Return the relaxation d -> f(d + d0) for a vector or number d0.

        Its conjugate is f*(θ) − <θ, d0>.
        """
        return _MAKERS["shifted"](self, d0)

    def scaled(self, c: Any) -> Relaxation:
        """Return the relaxation d -> f(c d) for a number c != 0.

        Its conjugate is f*(θ/c).
        """
        return _MAKERS["scaled"](self, c)


class BinaryDistribution(ABC):
    """A relaxation that supports ``smoothing="binary-entropy"`` in boosters."""

    def binary_distribution(self, u: Vector, beta: float) -> Vector:
        """Return the minimiser of <d, u> + f(d) + β Σ h(d_i) over the simplex, for β > 0.

        The binary entropy is h(x) = x log x + (1 − x) log(1 − x).
        """
        assert isinstance(self, Relaxation)
        return self._binary_distribution(as_margins(u, self), positive("beta", beta))

    @abstractmethod
    def _binary_distribution(self, u: Vector, beta: float) -> Vector:
        """Compute the binary distribution for validated arguments by a closed form."""


def projector(f: Relaxation, beta: float) -> Callable[[Vector], Vector]:
    """Return a function that maps margins u to `f.distribution(u, beta)`.

    The function may skip the check that the margins are finite.
    """
    if type(f).distribution is not Relaxation.distribution:
        return lambda u: f.distribution(u, beta)
    return partial(f._distribution, beta=beta)


def needs_solver(f: Relaxation) -> bool:
    """Return whether a cone solver computes `f.distribution`, to the solver's accuracy."""
    return f._needs_solver


def asks_solver(f: Relaxation) -> bool:
    """Return whether `f.relaxed_margin` calls a cone solver, even if its result is then refined."""
    return f._asks_solver


def operands_of(f: Relaxation) -> tuple[Relaxation, ...]:
    """Return the relaxations that f is built from, such as (g,) for f = c * g."""
    return f._operands


def fixed_m(f: Relaxation) -> int | None:
    """Return the number of examples that the parameters of f require, or None for any number."""
    return f._fixed_m
