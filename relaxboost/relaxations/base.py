"""What a relaxation is: a closed convex f on R^m and what a game asks of it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.digits import number
from relaxboost._core.errors import InputError
from relaxboost._core.intervals import Interval
from relaxboost._core.lazy import cp
from relaxboost._core.parameters import positive
from relaxboost._core.rounding import UNIT, rounded_sum, up
from relaxboost.relaxations import numerical
from relaxboost.relaxations.cone_bounds import ConeProof
from relaxboost.relaxations.cone_form import ConeForm
from relaxboost.relaxations.dcp import support_of_epigraph
from relaxboost.relaxations.exact_points import Groups, within_caps
from relaxboost.relaxations.linear import ExactForm, LinearForm
from relaxboost.relaxations.numerical import DualWitness
from relaxboost.relaxations.own import resolved
from relaxboost.relaxations.vectors import spell_parameter

Level = Literal["exact", "enclosed", "numerical"]
LEVELS: tuple[Level, ...] = ("numerical", "enclosed", "exact")
"""Levels of proof, the weakest first."""

_MAKERS: dict[str, Callable[[Any, Any], Relaxation]] = {}
"""What operators on relaxations make, by name: `calculus` and `affine` put it here, since they
build on this file and it cannot import them."""


def makes(name: str) -> Callable[[Any], Any]:
    """Return a decorator for what the operator of this name makes of f and its argument."""

    def register(maker: Any) -> Any:
        _MAKERS[name] = maker
        return maker

    return register


class Witness(NamedTuple):
    """What proves a lower bound on F(u): the threshold γ of SS09 Thm 7.

    Families that need more give a named tuple of their own, whose first field is `gamma`.
    """

    gamma: float


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
    if owner.fixed_m not in (None, u.size):
        raise InputError(f"{owner!r} is one of m = {owner.fixed_m} examples, and u has {u.size}")
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
    """

    family: ClassVar[str]
    """The name that keys and digests know the class by, stored once and for all.

    Write it into the class, so that renaming the class changes no digest; by default the module
    and the name that the class has when it is made.
    """

    level: ClassVar[Level] = "numerical"
    """The level of the floating-point bounds. A certificate by `exact_form` may be stronger."""

    binary_entropy: ClassVar[bool] = False
    """Whether the family has `binary_distribution`, which ``smoothing="binary-entropy"`` asks for;
    set it where you write `_binary_distribution`."""

    per_example: ClassVar[str] = ""
    """The parameter that holds an entry for each example, if there is one; it may be None."""

    __array_ufunc__ = None  # so that a NumPy number times f comes to __rmul__

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "family" not in vars(cls):
            cls.family = f"{cls.__module__}.{cls.__qualname__}"

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
        kind = type(self)
        own = kind.distribution, kind._distribution
        return own == (Relaxation.distribution, Relaxation._distribution)

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
        if self.entropy_range(u.size) == 0.0:  # one distribution; no solver can scale such a β
            return self.center(u.size)
        return self.repair(numerical.programs(self, len(u)).distribution(u, beta))

    def binary_distribution(self, u: Vector, beta: float) -> Vector:
        """Return the d of least <d, u> + f(d) + β Σ d log d + (1 − d) log(1 − d).

        Families that set `binary_entropy` have it.
        """
        return self._binary_distribution(as_margins(u, self), positive("beta", beta))

    def _binary_distribution(self, u: Vector, beta: float) -> Vector:
        """Return `binary_distribution` at margins and a β that need no look."""
        raise InputError(f"{self!r} has no binary_distribution; it does not set binary_entropy")

    def projector(self, beta: float) -> Callable[[Vector], Vector]:
        """Return `distribution` at β, or what overrides it, as a function of finite margins.

        Line searches ask it, so it checks nothing, may begin where it ended, and may have a method
        `along(u, v, η)` that returns u + ηv, its d, <d, v> and <d, u + ηv>.
        """
        if type(self).distribution is not Relaxation.distribution:
            return lambda u: self.distribution(u, beta)
        return partial(self._distribution, beta=beta)

    def valuer(self) -> Callable[[Vector], float]:
        """Return F as a function of finite margins, for those of one round after another."""
        return lambda u: self.relaxed_margin(u)[0]

    def witness(self, u: Vector) -> Any:
        """Return a witness at which `lower_bound` attains F(u) up to rounding."""
        u = as_margins(u, self)
        programs = numerical.programs(self, len(u))
        _, _, gamma, x = programs.margin(u)
        return DualWitness(gamma, x, programs.proof(u))

    def near_witness(self, u: Vector, proof: ConeProof) -> Any:
        """Return the witness that multipliers of `cone_form` make, None where `witness` is quick.

        `lower_bound` is as near F(u) as they are to the optimum.
        """
        quick = type(self).witness is not Relaxation.witness
        return None if quick else numerical.programs(self, len(u)).near_witness(u, proof)

    def lower_bound(self, u: Vector, witness: Any) -> float:
        """Return a number not above F(u), for *every* witness; evaluates and never optimises.

        Where `level` is not numerical, the result is rounded downwards. The default is what the
        proof is worth, or takes the supremum in f* over 0 <= d <= 1 only, which is always finite.
        """
        u = np.asarray(u, dtype=np.float64)
        x = np.maximum(witness.x, witness.gamma - u)
        if not (math.isfinite(witness.gamma) and np.isfinite(x).all()):
            return -math.inf
        programs = numerical.programs(self, len(x))
        if getattr(witness, "proof", None) is not None:
            return programs.below(u, witness.proof)
        try:
            return float(witness.gamma) - programs.conjugate_above(x)
        except InputError:  # a witness too far off for the solver proves nothing
            return -math.inf

    def believed(self, witness: Any, d: Vector) -> str:
        """Return what of a bracket by this witness and d is a solver's word; "" for nothing."""
        if isinstance(witness, DualWitness) and witness.gamma == -math.inf:
            return numerical.UNPROVED
        evaluated = type(self).penalty is Relaxation.penalty
        return numerical.programs(self, d.size).unmet(d) if evaluated else ""

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

    def exact_form(self, m: int) -> ExactForm | None:
        """Return f as a linear program in fractions, or None where there is none.

        It has to hold for every d >= 0, not only on the simplex. Exact certificates and exact
        optima rest on it.
        """
        return None

    def linear_form(self, m: int) -> LinearForm | None:
        """Return f as a linear program in doubles, or None where f is not polyhedral.

        By default `exact_form` in doubles. Override it alone where no fractions are known: the
        solvers then use it, and nothing is proved by it.
        """
        form = self.exact_form(m)
        return None if form is None else form.doubles()

    def cone_form(self, m: int) -> ConeForm | None:
        """Return f as cvxpy's cone program, None where that has cones of matrices or powers."""
        form = numerical.programs(self, m).form
        return None if form is None or form.matrix else form

    def describe(self, m: int) -> dict[str, Any] | None:
        """Return f for m examples as certificates write it, or None if they cannot.

        By default the exact form, which every checker can evaluate; FORMAT.md lists the kinds. A
        relaxation without a description has numerical certificates only.
        """
        form = self.exact_form(m)
        return None if form is None else form.describe(m)

    def describe_witness(self, found: Any, u: Sequence[Fraction]) -> dict[str, Any]:
        """Return what `witness` found, made exact at the exact margins u, as certificates write it.

        A threshold that misses a constraint by a rounding is lowered afterwards. Not asked for
        where `describe` gives the exact form; `exact_multipliers` is.
        """
        return {"gamma": number(found.gamma), "floor": "0"}

    def exact_multipliers(self, u: Sequence[Fraction]) -> tuple[Fraction, list[Fraction]] | None:
        """Return γ and a multiplier y_r for each row of `exact_form` that prove F(u); None: solve.

        ``u_i + cost_i − Σ_r y_r rows[r][i] >= γ`` for each d_i without an upper bound, and
        ``cost_j − Σ_r y_r rows[r][j] >= 0`` for each such z_j; what an upper bound forgives is
        charged at that bound. y_r >= 0 where only `row_lower` bounds the row, <= 0 where only
        `row_upper` does.
        """
        return None

    def exact_auxiliaries(self, d: Sequence[Fraction]) -> list[Fraction] | None:
        """Return the z at which `exact_form` attains f(d); None: solve."""
        return None

    def exact_caps(self, m: int) -> list[Groups]:
        """Return groups of examples with the caps that f puts on their total weight."""
        return []

    def exact_point(self, d: Sequence[float]) -> list[Fraction]:
        """Return a point of the simplex near `d` in fractions, where f is finite if that is easy.

        By default within 2^-90 of d / Σd and within `exact_caps`. Certificates move it towards
        `center(m)` where that is not enough.
        """
        return within_caps(d, self.exact_caps(len(d)))

    def resolve(self, m: int) -> Relaxation:
        """Return the relaxation a game with `m` examples plays; raises InputError if none fits.

        By default this one, after a check of its entries and of what overridden methods return.
        """
        if self.fixed_m not in (None, m):
            raise InputError(
                f"{repr(self).partition('(')[0]} has {self.fixed_m} entries in {self.per_example}, "
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

    def entropy_range(self, m: int) -> float:
        """Return a bound on max h − min h over dom f in the simplex, h the relative entropy."""
        return math.log(m)

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

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return (value, distance) with f(d') <= value for some d' near d / Σd in the simplex.

        `d` is non-negative, `total` encloses its exact sum, and d' is at most `distance` from
        d / Σd in the l1 norm. It absorbs the roundings that keep a floating-point d from being
        exactly feasible. By default the penalty as computed, and no distance; where that is
        infinite, the penalty at `repair(d)` and the distance to it. What is left to cvxpy is taken
        at a point that breaks no constraint.
        """
        if type(self).penalty is Relaxation.penalty:  # cvxpy's
            return self._evaluated_bound(d, total)
        value = self.penalty(d)
        if math.isfinite(value):
            return value, 0.0
        repaired = self.repair(d)
        apart = math.fsum(np.abs(repaired - d / total[0]).tolist())
        return self.penalty(repaired), apart + 8.0 * UNIT

    def _evaluated_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return `penalty_bound` by what cvxpy evaluates."""
        return numerical.programs(self, d.size).above(d / (0.5 * (total[0] + total[1])))

    def penalty_near(self, d: Vector, total: tuple[float, float], distance: float) -> float:
        """Return a bound on f at every point of the simplex within `distance` of d / Σd.

        The distance is in the l1 norm, d and `total` are as for `penalty_bound`. By default the
        bound follows from `lipschitz`; inf means that none is known.
        """
        value, apart = self.penalty_bound(d, total)
        steepest = self.lipschitz(d.size)
        if steepest == math.inf:
            return math.inf
        return up(value + up(steepest * up(distance + apart)))

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
        given = getattr(self, self.per_example) if self.per_example else None
        if isinstance(given, tuple):
            return len(given)
        return next((f.fixed_m for f in self.parts if f.fixed_m is not None), None)

    def plus(self, other: Relaxation) -> Relaxation | None:
        """Return self + other in closed form, or None where no such rule is known."""
        return None

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
