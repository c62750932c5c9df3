"""The first of three interfaces of a relaxation: f as a convex function on R^m.

`relaxations/bounds.py` has the second one, which proves bounds on f and F, and
`relaxations/description.py` the third one, which writes f down for certificates. A user who gives
f to cvxpy needs the first interface alone.
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
from relaxboost._core.errors import InputError
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
"""The methods of the other two interfaces: a class that writes one of them derives from it."""

_MAKERS: dict[str, Callable[[Any, Any], Relaxation]] = {}
"""The function that each operator on relaxations calls, by the name of the operator.

The files `multiples`, `sums` and `affine` enter these functions, because they import this file."""


def makes(name: str) -> Callable[[Any], Any]:
    """Return a decorator for what the operator of this name makes of f and its argument."""

    def register(maker: Any) -> Any:
        _MAKERS[name] = maker
        return maker

    return register


class Traits(NamedTuple):
    """What is known of f on R^m. False means "not claimed", not "refuted"."""

    polyhedral: bool = False
    """f is a linear program; `linear_form` gives it."""
    smooth: bool = False
    """f is strongly convex on the simplex in the l1 norm, with modulus `curvature(m)` > 0, so that
    F has a Lipschitz gradient."""
    monotone: bool = False
    """Shrinking coordinates never costs: f(Dd) <= f(d) for diagonal D with entries in [0, 1]. For
    closed f this is condition (iii) of SS09 Thm 7, since conjugation preserves it."""
    symmetric: bool = False
    """f does not change when the examples are permuted."""
    zero_minimum: bool = False
    """min f = 0 over R^m, condition (i)."""
    zero_in_core: bool = False
    """0 lies in the core of dom f, condition (ii)."""


def as_margins(u: Any, owner: Relaxation) -> Vector:
    """Return `u` as a float64 vector.

    Raises
    ------
    InputError
        If `u` is not a non-empty vector of finite numbers, or not as long as `owner` asks for.
    """
    try:
        u = np.asarray(u)
        if u.dtype.kind == "c":
            raise TypeError("they are complex")
        u = u.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{owner!r} needs margins u that are numbers: {error}") from None
    if u.ndim != 1 or u.size == 0:
        raise InputError(f"{owner!r} needs margins u in a non-empty vector, got shape {u.shape}")
    if not (math.isfinite(u.min()) and math.isfinite(u.max())):  # nan is both
        raise InputError(f"{owner!r} needs margins u without nan or infinities")
    fixed = fixed_m(owner)
    if fixed not in (None, u.size):
        raise InputError(f"{owner!r} is one of m = {fixed} examples, and u has {u.size}")
    return u


def onto_simplex(d: NDArray[Any], owner: str) -> Vector:
    """Return the non-negative part of `d`, scaled to sum to one; what sums to one already stays.

    Raises
    ------
    InputError
        If `d` has an entry that is not finite, or none that is positive.
    """
    d = np.array(d, dtype=np.float64)
    if not np.isfinite(d).all():
        at = int(np.argmin(np.isfinite(d)))
        what = f"a d with nan or infinite entries, first d[{at}] = {d[at]}"
        raise InputError(f"{owner} cannot repair {what}")
    np.maximum(d, 0.0, out=d)
    largest = float(d.max(initial=0.0))
    if largest <= 0.0:
        remedy = "negate multipliers of the other sign, or start from center(m)"
        raise InputError(f"{owner} cannot repair a d with no positive entry; {remedy}")
    scaled = d / largest  # so that the sum can neither overflow nor vanish
    total = rounded_sum(scaled)
    return d if abs(total * largest - 1.0) <= 8.0 * UNIT else scaled / total


def box_around(d: Vector, total: tuple[float, float], distance: float) -> Interval:
    """Enclose the entries of all points of the simplex within `distance` of d / Σd (l1 norm)."""
    box = Interval(d) / Interval(*total) + Interval(-distance, distance)
    return Interval(np.maximum(box.lower, 0.0), np.minimum(box.upper, 1.0))


class Relaxation(ABC):
    """A closed convex f: R^m -> (−inf, inf]; the game adds the simplex, f never contains it.

    The relaxed margin is F(u) = min over d in the simplex of <d, u> + f(d) = sup over γ and
    x >= γ − u of γ − f*(x) (with conditions (i)–(iii) of SS09 Thm 7: γ − f*([γ − u]_+)). A
    subclass gives `cvxpy_penalty`; everything else follows from it through cvxpy, slowly and to
    the accuracy of a solver, until it is overridden with closed forms. It should be immutable and
    comparable; a frozen dataclass is.

    A relaxation that derives from `Bounds` too proves its bounds by closed forms. One that derives
    from `Description` too can be written into exact certificates.
    """

    family: ClassVar[str]
    """The name that keys and digests know the class by, stored once and for all.

    Write it into the class, so that renaming the class changes no digest; by default the module
    and the name that the class has when it is made.
    """

    per_example: ClassVar[str] = ""
    """The parameter that holds an entry for each example, if there is one; it may be None."""

    __array_ufunc__ = None  # so that a NumPy number times f comes to __rmul__

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "family" not in vars(cls):
            cls.family = f"{cls.__module__}.{cls.__qualname__}"
        for interface, names in _INTERFACES.items():
            written = sorted(names & vars(cls).keys())
            if written and interface not in {kind.__name__ for kind in cls.__mro__}:
                raise InputError(
                    f"{cls.__name__} has a method `{written[0]}`, which belongs to the interface "
                    f"`{interface}`; write class {cls.__name__}(rb.Relaxation, "
                    f"rb.relaxations.{interface})"
                )

    @abstractmethod
    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        """Return f as a cvxpy expression of the variable `d`, and the constraints it needs."""

    @property
    def traits(self) -> Traits:
        """What is known of f on R^m; by default nothing."""
        return Traits()

    @property
    def _operands(self) -> tuple[Relaxation, ...]:
        """The relaxations that this one is computed from, as c * f is from f; none by default."""
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

    def _plus(self, other: Relaxation) -> Relaxation | None:
        """Return self + other in closed form, or None where no such rule is known."""
        return None

    def penalty(self, d: Vector) -> float:
        """Return f(d), ``inf`` outside its domain (with a tolerance of a few roundings).

        `d` is any point of R^m, not only of the simplex.
        """
        return numerical.programs(self, len(d)).penalty(np.asarray(d, dtype=np.float64))

    def conjugate(self, theta: Vector) -> float:
        """Return f*(θ) = sup over d in R^m of <d, θ> − f(d), ``inf`` outside its domain."""
        return numerical.programs(self, len(theta)).conjugate(np.asarray(theta, dtype=np.float64))

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        """Return F(u) and a d in the simplex that attains it."""
        u = as_margins(u, self)
        d = self.repair(numerical.programs(self, len(u)).margin(u)[1])
        return math.fsum((d * u).tolist()) + self.penalty(d), d

    def distribution(self, u: Vector, beta: float) -> Vector:
        """Return the d in the simplex that minimises <d, u> + f(d) + β Σ d_i log d_i.

        This is d_t of SS09 Fig. 1; β > 0.
        """
        return self._distribution(np.ascontiguousarray(as_margins(u, self)), positive("beta", beta))

    def _distribution(self, u: Vector, beta: float) -> Vector:
        """Return `distribution` at margins and a β that need no look; families write this one."""
        return self.repair(numerical.programs(self, len(u)).distribution(u, beta))

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        """Return f* as a cvxpy expression of `x`, and the constraints it needs."""
        return support_of_epigraph(self.cvxpy_penalty, x, x.shape[0])

    def cvxpy_relaxed_margin(self, u: Any, gamma: Any) -> tuple[Any, list[Any]]:
        """Return F(u) as γ − f*(x) to be maximised over γ and x >= γ − u, and its constraints."""
        x = cp.Variable(u.shape[0], name="x")
        value, constraints = self.cvxpy_conjugate(x)
        return gamma - value, [x >= gamma - u, *constraints]

    def key(self) -> str:
        """Return what the digest of a game knows f by: its family and its exact parameters.

        By default the fields of a dataclass that are compared, or the instance's attributes.
        Override it where these are not numbers, strings or arrays.
        """
        own = [f.name for f in fields(self) if f.compare] if is_dataclass(self) else None
        names = sorted(vars(self)) if own is None else own
        values = {name: getattr(self, name) for name in names if name != "_programs"}
        spelled = [f"{name}={spell_parameter(value, self)}" for name, value in values.items()]
        return f"{self.family}({', '.join(spelled)})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_programs"}

    def resolve(self, m: int) -> Relaxation:
        """Return the relaxation a game with `m` examples plays; raises InputError if none fits.

        By default this one, after a check of its entries and of what overridden methods return.
        """
        if self._fixed_m not in (None, m):
            name = repr(self).partition("(")[0]
            raise InputError(
                f"{name} has {self._fixed_m} entries in {self.per_example}, "
                f"and this game has m = {m} examples; give one for each"
            )
        numerical.check(self, m)
        return self

    def _bind(self, m: int) -> Relaxation:
        """Return what `resolve` does, without asking that f be finite somewhere on the simplex.

        A term of a shift needs to be finite elsewhere.
        """
        return resolved(self, m)

    def center(self, m: int) -> Vector:
        """Return a point of the simplex where f is finite; by default the uniform distribution."""
        return np.full(m, 1.0 / m)

    def curvature(self, m: int) -> float:
        """Return the modulus of strong convexity of f on the simplex in the l1 norm, 0 if none.

        F is then 1/modulus-smooth in the sup-norm by itself, as β smooths others (SS09 Lemma 18).
        """
        return 0.0

    def repair(self, d: Vector) -> Vector:
        """Return a point of the simplex near `d` where f is finite.

        By default `d` is clipped and normalised and then, if f is infinite there, moved along
        the segment towards `center(m)`, the least distance that a bisection finds.
        """
        d = onto_simplex(d, repr(self))
        if numerical.is_inside(self, d):
            return d
        center = self.center(d.size)
        inside, outside = 1.0, 0.0
        for _ in range(60):
            middle = 0.5 * (inside + outside)
            if math.isfinite(self.penalty(d + middle * (center - d))):
                inside = middle
            else:
                outside = middle
        return d + inside * (center - d)

    def __add__(self, other: object) -> Relaxation:
        return _MAKERS["add"](self, other) if isinstance(other, Relaxation) else NotImplemented

    def __radd__(self, other: object) -> Relaxation:
        return self if isinstance(other, int) and other == 0 else NotImplemented  # sum([f, g])

    def __mul__(self, c: object) -> Relaxation:
        return _MAKERS["times"](self, c) if isinstance(c, Real) else NotImplemented

    __rmul__ = __mul__

    def shifted(self, d0: Any) -> Relaxation:
        """Return d -> f(d + d0), whose conjugate is f*(θ) − <θ, d0> (SS09, Appendix B).

        `d0` is a vector of shape (m,), or a number to be added to every entry.
        """
        return _MAKERS["shifted"](self, d0)

    def scaled(self, c: Any) -> Relaxation:
        """Return d -> f(c d) for a number c != 0; its conjugate is f*(θ/c) (SS09, Appendix B)."""
        return _MAKERS["scaled"](self, c)


class BinaryDistribution(ABC):
    """A relaxation that also has a closed form for the sum of binary entropies.

    ``smoothing="binary-entropy"`` asks for it.
    """

    def binary_distribution(self, u: Vector, beta: float) -> Vector:
        """Return the d in the simplex that minimises <d, u> + f(d) + β Σ h(d_i).

        The binary entropy is h(x) = x log x + (1 − x) log(1 − x), and β > 0.
        """
        assert isinstance(self, Relaxation)
        return self._binary_distribution(as_margins(u, self), positive("beta", beta))

    @abstractmethod
    def _binary_distribution(self, u: Vector, beta: float) -> Vector:
        """Return `binary_distribution` for margins u and a β that have been checked."""


def projector(f: Relaxation, beta: float) -> Callable[[Vector], Vector]:
    """Return `f.distribution` at β as a function of finite margins, for use in every round.

    The function does not check the margins.
    """
    if type(f).distribution is not Relaxation.distribution:
        return lambda u: f.distribution(u, beta)
    return partial(f._distribution, beta=beta)


def needs_solver(f: Relaxation) -> bool:
    """Return whether distributions of f come from a cone solver, to its accuracy and at its cost.

    They do if neither f nor the relaxation that f is a multiple of overrides `distribution`.
    """
    return f._needs_solver


def operands_of(f: Relaxation) -> tuple[Relaxation, ...]:
    """Return the relaxations that f is computed from, as c * g is from g; none by default."""
    return f._operands


def fixed_m(f: Relaxation) -> int | None:
    """Return the number m of examples that a parameter of f has entries for; None: any m."""
    return f._fixed_m
