"""What a relaxation is: a closed convex f on R^m and what a game asks of it."""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields, is_dataclass
from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost.errors import InputError
from relaxboost.parameters import exact, positive
from relaxboost.relaxations import numerical
from relaxboost.rounding import UNIT

Vector = NDArray[np.float64]
Level = Literal["exact", "enclosed", "numerical"]


class Witness(NamedTuple):
    """What proves a lower bound on F(u): the threshold γ of SS09 Thm 7.

    Families that need more give a named tuple of their own, whose first field is `gamma`.
    """

    gamma: float


class DualWitness(NamedTuple):
    """A threshold γ and a vector x: F(u) >= γ − f*(x) wherever x >= γ − u."""

    gamma: float
    x: Vector


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


@dataclass(frozen=True)
class LinearForm:
    """A polyhedral f as a linear program: f(d) = min over z of cost·(d, z).

    subject to ``lower <= (d, z) <= upper`` and ``row_lower <= rows @ (d, z) <= row_upper``.
    The vectors `cost`, `lower` and `upper` have length m + (number of z); `rows` may be None.
    """

    cost: Vector
    lower: Vector
    upper: Vector
    rows: Any = None
    row_lower: Vector = field(default_factory=lambda: np.empty(0))
    row_upper: Vector = field(default_factory=lambda: np.empty(0))


def _spell(value: object, owner: object) -> str:
    """Return an exact, reproducible spelling of a parameter."""
    if value is None or isinstance(value, bool | str):
        return repr(value)
    if isinstance(value, Real):
        return str(exact(type(owner).__name__, "its parameter", value))
    if isinstance(value, tuple | list):
        return f"[{', '.join(_spell(v, owner) for v in value)}]"
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        content = np.ascontiguousarray(value, dtype="<f8").tobytes()
        return f"array {value.shape} {hashlib.sha256(content).hexdigest()}"
    raise InputError(
        f"{type(owner).__name__} has a parameter of type {type(value).__name__}, for which there "
        "is no exact spelling; override key()"
    )


def as_margins(u: Any, owner: object) -> Vector:
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
    except (TypeError, ValueError) as error:
        raise InputError(f"{owner!r} needs margins u that are numbers: {error}") from None
    if u.ndim != 1 or u.size == 0:
        raise InputError(f"{owner!r} needs margins u in a non-empty vector, got shape {u.shape}")
    if not (math.isfinite(u.min()) and math.isfinite(u.max())):  # nan is both
        raise InputError(f"{owner!r} needs margins u without nan or infinities")
    m = getattr(owner, "fixed_m", None)
    if m is not None and m != u.size:
        raise InputError(f"{owner!r} is one of m = {m} examples, and u has {u.size}")
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
        raise InputError(f"{owner} cannot repair a d with nan or infinite entries")
    np.maximum(d, 0.0, out=d)
    largest = d.max(initial=0.0)
    if largest <= 0.0:
        raise InputError(f"{owner} cannot repair a d with no positive entry; start from center(m)")
    scaled = d / largest  # so that the sum can neither overflow nor vanish
    total = math.fsum(scaled.tolist())
    return d if abs(total * largest - 1.0) <= 8.0 * UNIT else scaled / total


class Relaxation(ABC):
    """A closed convex f: R^m -> (−inf, inf]; the game adds the simplex, f never contains it.

    The relaxed margin is F(u) = min over d in the simplex of <d, u> + f(d) = sup over γ and
    x >= γ − u of γ − f*(x) (with conditions (i)–(iii) of SS09 Thm 7: γ − f*([γ − u]_+)). A
    subclass gives `cvxpy_penalty`; everything else follows from it through cvxpy, slowly and to
    the accuracy of a solver, until it is overridden with closed forms. It should be immutable and
    comparable; a frozen dataclass is.
    """

    level: ClassVar[Level] = "numerical"
    """The strongest proof its bounds allow: exact, enclosed or numerical."""

    __array_ufunc__ = None  # so that a NumPy number times f comes to __rmul__

    @abstractmethod
    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        """Return f as a cvxpy expression of the variable `d`, and the constraints it needs."""

    @property
    def traits(self) -> Traits:
        """What is known of f on R^m; by default nothing."""
        return Traits()

    @property
    def from_solver(self) -> bool:
        """Whether distributions come from a cone solver, to its accuracy and at its cost; True
        where `distribution` is not overridden."""
        return type(self).distribution is Relaxation.distribution

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
        u, beta = as_margins(u, self), positive("beta", beta)
        if u.size == 1:
            return np.ones(1)
        return self.repair(numerical.programs(self, len(u)).distribution(u, beta))

    def witness(self, u: Vector) -> Any:
        """Return a witness at which `lower_bound` attains F(u) up to rounding."""
        u = as_margins(u, self)
        _, _, gamma, x = numerical.programs(self, len(u)).margin(u)
        return DualWitness(gamma, x)

    def lower_bound(self, u: Vector, witness: Any) -> float:
        """Return a number not above F(u), for *every* witness; evaluates and never optimises.

        Where `level` is not numerical, the result is rounded downwards. The default takes the
        supremum in f* over 0 <= d <= 1 only, which is enough and always finite, through cvxpy.
        """
        x = np.maximum(witness.x, witness.gamma - np.asarray(u, dtype=np.float64))
        if not (math.isfinite(witness.gamma) and np.isfinite(x).all()):
            return -math.inf
        try:
            boxed = numerical.programs(self, len(x)).conjugate(x, everywhere=False)
        except InputError:  # a witness too far off for the solver proves nothing
            return -math.inf
        return float(witness.gamma) - boxed

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        """Return f* as a cvxpy expression of `x`, and the constraints it needs."""
        return numerical.support_of_epigraph(self.cvxpy_penalty, x, x.shape[0])

    def cvxpy_relaxed_margin(self, u: Any, gamma: Any) -> tuple[Any, list[Any]]:
        """Return F(u) as γ − f*(x) to be maximised over γ and x >= γ − u, and its constraints."""
        import cvxpy as cp

        x = cp.Variable(u.shape[0], name="x")
        value, constraints = self.cvxpy_conjugate(x)
        return gamma - value, [x >= gamma - u, *constraints]

    def key(self) -> str:
        """Return what the digest of a game knows f by: its class and its exact parameters.

        By default the fields of a dataclass, or the instance's attributes. Override it where these
        are not numbers, strings or arrays.
        """
        kind = type(self)
        names = [f.name for f in fields(self)] if is_dataclass(self) else sorted(vars(self))
        package = kind.__module__.split(".")[0]
        home = "relaxboost" if package == "relaxboost" else kind.__module__
        spelled = ", ".join(
            f"{name}={_spell(getattr(self, name), self)}" for name in names if name != "_programs"
        )
        return f"{home}.{kind.__qualname__}({spelled})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_programs"}

    def linear_form(self, m: int) -> LinearForm | None:
        """Return f as a linear program, or None where f is not polyhedral.

        It has to hold for every d >= 0, not only on the simplex.
        """
        return None

    def resolve(self, m: int) -> Relaxation:
        """Return the relaxation a game with `m` examples plays; raises InputError if none fits.

        By default this one, after a look at what `cvxpy_penalty` returns if all comes from there.
        """
        if self.level == "numerical":
            numerical.check(self, m)
        return self

    def _bind(self, m: int) -> Relaxation:
        """Return what `resolve` does, without asking that f be finite somewhere on the simplex.

        A term of a shift needs to be finite elsewhere.
        """
        return self.resolve(m)

    def center(self, m: int) -> Vector:
        """Return a point of the simplex where f is finite; by default the uniform distribution."""
        return np.full(m, 1.0 / m)

    def entropy_range(self, m: int) -> float:
        """Return a bound on max h − min h over dom f in the simplex, h the relative entropy."""
        return math.log(m)

    def curvature(self, m: int) -> float:
        """Return the modulus of strong convexity of f on the simplex in the l1 norm, 0 if none.

        F is then 1/modulus-smooth in the sup-norm by itself, as β smooths what is not (SS09 Lemma
        18).
        """
        return 0.0

    def repair(self, d: Vector) -> Vector:
        """Return a point of the simplex near `d` where f is finite.

        By default `d` is clipped and normalised and then, if f is infinite there, moved along
        the segment towards `center(m)`, the least distance that a bisection finds.
        """
        d = onto_simplex(d, repr(self))
        if math.isfinite(self.penalty(d)):
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

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return (value, distance) with f(d') <= value for some d' near d / Σd in the simplex.

        `d` is non-negative, `total` encloses its exact sum, and d' is at most `distance` from
        d / Σd in the l1 norm. It absorbs the roundings that keep a floating-point d from being
        exactly feasible. By default the penalty as computed, and no distance; where that is
        infinite, the penalty at `repair(d)` and the distance to it.
        """
        value = self.penalty(d)
        if math.isfinite(value):
            return value, 0.0
        repaired = self.repair(d)
        apart = math.fsum(np.abs(repaired - d / total[0]).tolist())
        return self.penalty(repaired), apart + 8.0 * UNIT

    def lipschitz(self, m: int) -> float:
        """Return a K with |f(d) − f(d')| <= K ‖d − d'‖_1 on the simplex, inf if none is known."""
        return math.inf

    @property
    def parts(self) -> tuple[Relaxation, ...]:
        """The relaxations that this one is computed from, as c * f is from f; none by default."""
        return ()

    @property
    def fixed_m(self) -> int | None:
        """The number of examples, where a parameter with an entry for each of them tells it."""
        return next((f.fixed_m for f in self.parts if f.fixed_m is not None), None)

    def plus(self, other: Relaxation) -> Relaxation | None:
        """Return self + other in closed form, or None where no such rule is known."""
        return None

    def __add__(self, other: object) -> Relaxation:
        from relaxboost.relaxations import calculus

        return calculus.add(self, other) if isinstance(other, Relaxation) else NotImplemented

    def __radd__(self, other: object) -> Relaxation:
        return self if isinstance(other, int) and other == 0 else NotImplemented  # sum([f, g])

    def __mul__(self, c: object) -> Relaxation:
        from relaxboost.relaxations import calculus

        return calculus.times(self, c) if isinstance(c, Real) else NotImplemented

    __rmul__ = __mul__

    def shifted(self, d0: Any) -> Relaxation:
        """Return d -> f(d + d0), whose conjugate is f*(θ) − <θ, d0> (SS09, Appendix B).

        `d0` is a vector of shape (m,), or a number to be added to every entry.
        """
        from relaxboost.relaxations import affine

        return affine.Shifted(self, d0)

    def scaled(self, c: Any) -> Relaxation:
        """Return d -> f(c d) for a number c != 0; its conjugate is f*(θ/c) (SS09, Appendix B)."""
        from relaxboost.relaxations import affine

        return affine.Dilated(self, c)
