"""The second of three interfaces of a relaxation: what proves bounds on F and f."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.rounding import UNIT, up
from relaxboost.relaxations import numerical
from relaxboost.relaxations.base import Relaxation, as_margins
from relaxboost.relaxations.description import Description
from relaxboost.relaxations.numerical import DualWitness

if TYPE_CHECKING:
    from relaxboost.relaxations.cone_bounds import ConeProof

Level = Literal["exact", "enclosed", "numerical"]
LEVELS: tuple[Level, ...] = ("numerical", "enclosed", "exact")
"""The levels of proof, the weakest first."""


class Witness(NamedTuple):
    """The threshold γ of SS09 Thm 7, which proves a lower bound on F(u).

    Families that need more give a named tuple of their own, whose first field is `gamma`.
    """

    gamma: float


class Bounds(ABC):
    """What proves bounds on the relaxed margin F and on f, with outward rounding.

    A family that derives from `Relaxation` and from this class writes `witness`, `lower_bound` and
    `penalty_bound`. A relaxation without these three has the bounds of `NumericalBounds`.
    """

    @property
    def is_proved(self) -> bool:
        """Whether the bounds hold for certain; False means that their level is numerical."""
        return True

    @abstractmethod
    def witness(self, u: Vector) -> Any:
        """Return a witness at which `lower_bound` attains F(u) up to rounding."""

    def near_witness(self, u: Vector, proof: ConeProof) -> Any:
        """Return the witness that multipliers of f's cone program give, at margins u.

        None means that `witness` is as quick; this is the default.
        """
        return None

    @abstractmethod
    def lower_bound(self, u: Vector, witness: Any) -> float:
        """Return a number not above F(u), for *every* witness, rounded downwards.

        The method evaluates a formula and never optimises.
        """

    @abstractmethod
    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return (value, distance) with f(d') <= value for some d' near d / Σd in the simplex.

        `d` is non-negative and `total` encloses its exact sum. The l1 distance between d' and
        d / Σd is at most `distance`. It absorbs the roundings that keep a floating-point d from
        being exactly feasible.
        """

    def penalty_near(self, d: Vector, total: tuple[float, float], distance: float) -> float:
        """Return a bound on f at every point of the simplex within `distance` of d / Σd.

        The distance is in the l1 norm; d and `total` are as for `penalty_bound`. By default the
        bound follows from `lipschitz`. The result inf means that no bound is known.
        """
        value, apart = self.penalty_bound(d, total)
        steepest = self.lipschitz(d.size)
        if steepest == math.inf:
            return math.inf
        return up(value + up(steepest * up(distance + apart)))

    def lipschitz(self, m: int) -> float:
        """Return a K with |f(d) − f(d')| <= K ‖d − d'‖_1 on the simplex, inf if none is known."""
        return math.inf

    def entropy_range(self, m: int) -> float:
        """Return a bound on max h − min h over dom f in the simplex, h the relative entropy."""
        return math.log(m)

    def reservation(self, witness: Any, d: Vector) -> str:
        """Return what the reader of a bracket by this witness and d has to know; "" if nothing."""
        return ""


class NumericalBounds(Bounds):
    """The bounds of an f that has no closed forms, evaluated through its cone program.

    They are as good as the doubles in which cvxpy evaluates f, and are not called proved.

    Parameters
    ----------
    f : Relaxation
    """

    is_proved = False

    def __init__(self, f: Relaxation) -> None:
        self._f = f

    def witness(self, u: Vector) -> DualWitness:
        u = as_margins(u, self._f)
        programs = numerical.programs(self._f, len(u))
        _, _, gamma, x = programs.margin(u)
        return DualWitness(gamma, x, programs.known("proof", u))

    def near_witness(self, u: Vector, proof: ConeProof) -> DualWitness | None:
        """Return the witness that multipliers of the cone program of f give, repaired."""
        return numerical.programs(self._f, len(u)).near_witness(u, proof)

    def lower_bound(self, u: Vector, witness: DualWitness) -> float:
        """Return the value of the multipliers in the witness.

        Without multipliers it is γ − sup <d, x> − f(d) over 0 <= d <= 1, which is always finite.
        """
        u = np.asarray(u, dtype=np.float64)
        x = np.maximum(witness.x, witness.gamma - u)
        if not (math.isfinite(witness.gamma) and np.isfinite(x).all()):
            return -math.inf
        programs = numerical.programs(self._f, len(x))
        if witness.proof is not None:
            return programs.below(u, witness.proof)
        try:
            return float(witness.gamma) - programs.conjugate_above(x)
        except InputError:  # a witness too far off for the solver proves nothing
            return -math.inf

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return the bound at a point that breaks no constraint of f.

        If f overrides `penalty`, its value at d is believed. If that value is infinite, the bound
        is the value at `repair(d)`.
        """
        f = self._f
        if type(f).penalty is Relaxation.penalty:  # cvxpy evaluates f
            return self.evaluated_bound(d, total)
        value = f.penalty(d)
        if math.isfinite(value):
            return value, 0.0
        repaired = f.repair(d)
        apart = math.fsum(np.abs(repaired - d / total[0]).tolist())
        return f.penalty(repaired), apart + 8.0 * UNIT

    def evaluated_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return `penalty_bound` from the cone program of f."""
        return numerical.programs(self._f, d.size).above(d / (0.5 * (total[0] + total[1])))

    def reservation(self, witness: Any, d: Vector) -> str:
        if isinstance(witness, DualWitness) and witness.gamma == -math.inf:
            return numerical.programs(self._f, d.size).unproved()
        evaluated = type(self._f).penalty is Relaxation.penalty
        return numerical.programs(self._f, d.size).unmet(d) if evaluated else ""


def bounds_of(f: Relaxation) -> Bounds:
    """Return what proves bounds on f: f itself if it is a `Bounds`, else `NumericalBounds(f)`."""
    return f if isinstance(f, Bounds) else NumericalBounds(f)


def level_of(f: Relaxation) -> Level:
    """Return the level of proof that the floating-point bounds of f reach.

    It is numerical if f has no proved bounds, exact if its `Description` is exact, and enclosed
    otherwise. A certificate by `exact_form` may be stronger.
    """
    if not bounds_of(f).is_proved:
        return "numerical"
    return "exact" if isinstance(f, Description) and f.is_exact else "enclosed"
