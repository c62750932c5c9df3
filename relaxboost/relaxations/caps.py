"""Individual caps on the weights of the examples, for a weighted soft margin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost._core.digits import vector
from relaxboost._core.errors import InputError, number_of
from relaxboost._core.intervals import Interval
from relaxboost._core.lazy import cp
from relaxboost._core.names import MAX_ITEMS_SHOWN
from relaxboost._core.parameters import exact, spell
from relaxboost._core.rounding import UNIT, float_up, sum_bounds
from relaxboost.relaxations._projections.caps import caps_distribution, caps_threshold
from relaxboost.relaxations.base import Relaxation, Traits, as_margins, box_around, onto_simplex
from relaxboost.relaxations.bounds import Bounds, Witness
from relaxboost.relaxations.capped import ThresholdDescription, cut
from relaxboost.relaxations.exact_points import Groups
from relaxboost.relaxations.hard_margin import CAP_TRAITS
from relaxboost.relaxations.linear import ExactForm


class Doubles(NamedTuple):
    """The caps c_i as doubles."""

    near: Vector
    """The caps, each rounded to the nearest double."""
    enclosure: Interval
    single: bool
    """Whether the caps sum to exactly one, so that only one distribution satisfies them."""


def _surely_above_one(below: Vector) -> bool:
    """Return whether the sum of the numbers `below` >= 0 is certainly above one.

    The numbers are lower bounds of unknown numbers, whose sum is then above one, too.
    """
    return sum_bounds(np.minimum(below, 2.0))[0] > 1.0


def check_room(owner: str, caps: Sequence[Fraction], free: int = 0) -> None:
    """Raise InputError if no distribution satisfies the caps.

    `free` is the number of examples without a cap.
    """
    if free or any(q >= 1 for q in caps):
        return
    # The exact sum of many fractions is slow, so a sum of doubles is tried first.
    if len(caps) > 1000 and _surely_above_one(np.nextafter([float(q) for q in caps], 0.0)):
        return
    total = sum(caps, Fraction(0))
    if total < 1:
        short = f"{float(total):g}" if 1 - total > 1e-6 else f"1 - {float(1 - total):.3g}"
        raise InputError(
            f"{owner} needs caps that sum to at least 1, because the weights sum to 1, but these "
            f"{len(caps)} caps sum to {short}: raise some caps, or pass a Fraction, such as "
            "Fraction(1, 3), if a float was rounded down"
        )


def cap(owner: str, name: str, value: object) -> Fraction:
    """Return the exact value of a cap, or raise InputError unless it is finite and >= 0."""
    q = exact(owner, f"{name} (1 or more is no cap)", value)
    if q < 0:
        raise InputError(f"{owner} needs {name} to be >= 0, got {spell(q)}; 0 sets a weight to 0")
    return q


@njit()
def _fill(u: Vector, caps: Vector, gamma: float) -> tuple[float, Vector]:
    """Fill the caps c in increasing order of the margins; return γ − Σ c_i [γ − u_i]_+ and d."""
    d = np.zeros(u.shape[0])
    filled = 0.0
    shortfall = 0.0
    # Compensated summation (Kahan 1965) makes the errors of both sums independent of m.
    lost = 0.0
    missed = 0.0
    for i in range(u.shape[0]):
        if u[i] < gamma:
            d[i] = caps[i]
            y = caps[i] - lost
            new = filled + y
            lost = (new - filled) - y
            filled = new
            y = caps[i] * (gamma - u[i]) - missed
            new = shortfall + y
            missed = (new - shortfall) - y
            shortfall = new
    rest = (1.0 - filled) + lost
    # The tied margins share the rest, the lowest index first.
    for i in range(u.shape[0]):
        if rest <= 0.0:
            break
        if u[i] == gamma:
            d[i] = min(caps[i], rest)
            rest -= d[i]
    return gamma - shortfall, d


@dataclass(frozen=True)
class Caps(Relaxation, Bounds, ThresholdDescription):
    """The indicator of |d_i| <= c_i: the weight of example i is at most c_i.

    The relaxed margin is F(u) = max over γ of γ − Σ c_i [γ − u_i]_+, and the conjugate is
    f*(θ) = Σ c_i |θ_i|. The minimiser d fills the caps in increasing order of the margins until the
    weights sum to one. The caps of equal margins are filled in the order of the examples. The best
    γ is the last margin that gets weight. If all caps are 1/k, F is the same as for `Capped(k)`. If
    all caps are at least 1, F is the hard margin.

    Parameters
    ----------
    caps : sequence of shape (m,), or one number for all
        The caps c_i >= 0, int, float or Fraction, kept exactly, with Σ c_i >= 1. A cap of 0 forces
        a weight to 0, and a cap of 1 or more has no effect.

    Raises
    ------
    InputError
        If a cap is not a finite number >= 0, or if the caps sum to less than 1. A game raises
        InputError if the number of caps is not the number of examples.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 4.1 and Fig. 2 with the cap ν replaced by c_i.

    Examples
    --------
    >>> import numpy as np
    >>> import relaxboost as rb
    >>> margin, d = rb.Caps([0.25, 0.5, 1.0]).relaxed_margin(np.array([0.0, 1.0, 2.0]))
    >>> margin
    1.0
    >>> d.tolist()
    [0.25, 0.5, 0.25]
    """

    family = "relaxboost.Caps"
    per_example: ClassVar[str] = "caps"

    caps: Any

    def __post_init__(self) -> None:
        given = self.caps.tolist() if hasattr(self.caps, "tolist") else self.caps
        # One number is repeated when a game gives m.
        if not isinstance(given, list | tuple):
            object.__setattr__(self, "caps", cap("Caps", "caps", given))
            return
        if not given:
            raise InputError("Caps needs one cap for each example, but got none")
        caps = tuple(cap("Caps", f"caps[{i}]", value) for i, value in enumerate(given))
        check_room("Caps", caps)
        object.__setattr__(self, "caps", caps)

    def __repr__(self) -> str:
        if isinstance(self.caps, Fraction):
            return f"Caps({spell(self.caps)})"
        if len(self.caps) <= MAX_ITEMS_SHOWN:
            return f"Caps([{', '.join(map(spell, self.caps))}])"
        # The exact value of many caps would fill pages.
        near = self._doubles.near
        return f"Caps(<{near.size} caps from {near.min():g} to {near.max():g}>)"

    def key(self) -> str:
        each = self.caps if isinstance(self.caps, tuple) else (self.caps,)
        text = ", ".join(map(str, each))
        return f"{self.family}({text if each is not self.caps else f'[{text}]'})"

    def resolve(self, m: int) -> Caps:
        if isinstance(self.caps, Fraction):
            check_room(f"{self!r} on a game with m = {m} examples", (self.caps,) * m)
            return Caps((self.caps,) * m)
        if len(self.caps) != m:
            raise InputError(
                f"{self!r} has {len(self.caps)} caps, but this game has m = "
                f"{number_of(m, 'example')}; pass one cap for each example, or one "
                "number for all"
            )
        return self

    @cached_property
    def _doubles(self) -> Doubles:
        # A cap above 1 has no effect, and a huge cap might be no double.
        near = np.array([float(min(q, Fraction(10**300))) for q in self.caps])
        # A comparison of integers is faster than one of fractions.
        pairs = zip(near.tolist(), self.caps, strict=True)
        is_double = np.array([x.as_integer_ratio() == q.as_integer_ratio() for x, q in pairs])
        # A cap that is not a double lies between the neighbours of its rounded value.
        below = np.where(is_double, near, np.maximum(np.nextafter(near, -np.inf), 0.0))
        above = np.where(is_double, near, np.nextafter(near, np.inf))
        single = not _surely_above_one(below) and sum(self.caps) == 1
        return Doubles(near, Interval(below, above), single)

    def _doubles_for(self, m: int) -> Doubles:
        return self.resolve(m)._doubles

    @property
    def traits(self) -> Traits:
        each = self.caps if isinstance(self.caps, tuple) else (self.caps,)
        return CAP_TRAITS._replace(symmetric=len(set(each)) == 1, zero_in_core=min(each) > 0)

    def penalty(self, d: Vector) -> float:
        inside = np.abs(d) <= self._doubles_for(len(d)).near * (1.0 + 8.0 * UNIT)
        return 0.0 if inside.all() else math.inf

    def conjugate(self, theta: Vector) -> float:
        return math.fsum((np.abs(theta) * self._doubles_for(len(theta)).near).tolist())

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        u = as_margins(u, self)
        value, d = _fill(u, self._doubles_for(u.size).near, self.witness(u).gamma)
        return float(value), d

    def _distribution(self, u: Vector, beta: float) -> Vector:
        caps = self._doubles_for(u.size)
        return caps.near.copy() if caps.single else caps_distribution(u, beta, caps.near)

    def witness(self, u: Vector) -> Witness:
        u = as_margins(u, self)
        return Witness(caps_threshold(u, self._doubles_for(u.size).near))

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        # γ − Σ c_i [γ − u_i]_+ is a lower bound on F(u) for every γ.
        u = np.asarray(u, dtype=np.float64)
        gamma = float(witness.gamma)
        if not math.isfinite(gamma):
            return -math.inf
        below = u < gamma
        if not below.any():
            return gamma
        # Margins near the largest double overflow, and the bound is then −inf.
        with np.errstate(over="ignore", invalid="ignore"):
            hinge = Interval(gamma) - u[below]
            return (gamma - (hinge * self._doubles_for(u.size).enclosure[below]).sum()).down

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        return 0.0, [(d if d.is_nonneg() else cp.abs(d)) <= self._doubles_for(d.shape[0]).near]

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        return self._doubles_for(x.shape[0]).near @ cp.abs(x), []

    def exact_form(self, m: int) -> ExactForm:
        return ExactForm.free(m)._replace(upper=list(self.resolve(m).caps))

    def exact_caps(self, m: int) -> list[Groups]:
        return [([[i] for i in range(m)], list(self.resolve(m).caps))]

    def describe(self, m: int) -> dict[str, Any]:
        return {"kind": "caps", "caps": vector(self.resolve(m).caps)}

    def center(self, m: int) -> Vector:
        # At zero margins, this is the distribution with the largest entropy below the caps.
        return self.distribution(np.zeros(m), 1.0)

    def entropy_range(self, m: int) -> float:
        caps = self._doubles_for(m)
        return 0.0 if caps.single else negentropy_range(caps.near, self.center(m))

    def repair(self, d: Vector) -> Vector:
        d = onto_simplex(d, repr(self))
        return cut(d, self._doubles_for(d.size).near)

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        low = total[0]
        enclosure = self._doubles_for(len(d)).enclosure
        # All other entries are below their caps even after the roundings of the product.
        close = (d > 0.0) & (d >= low * enclosure.lower * (1.0 - 8.0 * UNIT))
        if not close.any():
            return 0.0, 0.0
        # Since Σ c_i >= 1, the mass e above the caps fits below them. Moving it changes the point
        # by 2e in the l1 norm.
        mass = (d[close] - low * enclosure[close]).positive().sum().up
        return 0.0, float_up(2 * Fraction(mass) / Fraction(low))

    def penalty_near(self, d: Vector, total: tuple[float, float], distance: float) -> float:
        caps = self._doubles_for(len(d)).enclosure.lower
        return 0.0 if (box_around(d, total, distance).upper <= caps).all() else math.inf


def negentropy_range(caps: Vector, center: Vector) -> float:
    """Return the range of the negative entropy h(d) = Σ d log d over the distributions d <= caps.

    h is smallest at the distribution `center`.
    """
    # The d that fills the largest caps first has the largest h. No feasible d has larger partial
    # sums of its sorted entries, and h is Schur-convex.
    caps = np.sort(np.minimum(caps, 1.0))[::-1]
    before = np.minimum(np.concatenate([[0.0], np.cumsum(caps)[:-1]]), 1.0)
    largest, least = (
        math.fsum((d[d > 0.0] * np.log(d[d > 0.0])).tolist())
        for d in (np.minimum(caps, 1.0 - before), center)
    )
    return min(max(largest - least, 0.0), math.log(center.size))
