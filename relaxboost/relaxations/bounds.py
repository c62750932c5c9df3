"""The second interface of a relaxation: proved bounds on f and its relaxed margin F."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.intervals import Interval as Interval
from relaxboost._core.rounding import UNIT, up
from relaxboost.relaxations import numerical
from relaxboost.relaxations.base import Relaxation, as_margins
from relaxboost.relaxations.description import Description
from relaxboost.relaxations.numerical import DualWitness

if TYPE_CHECKING:
    from relaxboost.relaxations.cone_bounds import ConeProof

Level = Literal["exact", "enclosed", "numerical"]
LEVELS: tuple[Level, ...] = ("numerical", "enclosed", "exact")
"""The proof levels of a bound, from the weakest to the strongest."""


class Witness(NamedTuple):
    """The threshold γ of SS09 Thm 7, which proves a lower bound on F(u).

    A family that needs more than γ defines its own named tuple with `gamma` as the first field.
    """

    gamma: float


class Bounds(ABC):
    """Bounds on f and on its relaxed margin F, rounded outwards.

    A family with closed forms derives from this class and defines `witness`, `lower_bound` and
    `penalty_bound`. `NumericalBounds` serves all other relaxations.
    """

    @property
    def is_proved(self) -> bool:
        """Whether the bounds hold in spite of rounding errors.

        If this is False, `level_of` returns "numerical".
        """
        return True

    @abstractmethod
    def witness(self, u: Vector) -> Any:
        """Return the witness that proves the best lower bound on F(u).

        For this witness, `lower_bound` equals F(u) up to rounding.
        """

    def near_witness(self, u: Vector, proof: ConeProof) -> Any:
        """Convert multipliers of the cone program of f into a witness.

        The result is None if the method `witness` of the family needs no multipliers.
        """
        return None

    @abstractmethod
    def lower_bound(self, u: Vector, witness: Any) -> float:
        """Return the lower bound on F(u) that a witness proves.

        The bound is valid for *every* witness, even a bad one.
        """

    @abstractmethod
    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Return an upper bound on f at a point near d / Σd, and the distance of this point.

        The point is in the simplex and in the domain of f, even if rounding moves d / Σd outside.
        The second result bounds the l1 distance between the two. The weights `d` are non-negative,
        and the interval `total` contains the sum Σd.
        """

    def penalty_near(self, d: Vector, total: tuple[float, float], distance: float) -> float:
        """Return an upper bound on f at every point of the simplex within `distance` of d / Σd.

        The distance is in the l1 norm, and the interval `total` contains the sum Σd. By default the
        bound follows from `lipschitz`. It is inf if no bound is known.
        """
        value, apart = self.penalty_bound(d, total)
        steepest = self.lipschitz(d.size)
        if steepest == math.inf:
            return math.inf
        return up(value + up(steepest * up(distance + apart)))

    def lipschitz(self, m: int) -> float:
        """Return a Lipschitz constant of f on the simplex in the l1 norm, or inf if unknown."""
        return math.inf

    def entropy_range(self, m: int) -> float:
        """Return an upper bound on the range of the negative entropy h(d) = Σ d_i log d_i.

        The range is max h − min h over the points of the simplex where f is finite.
        """
        return math.log(m)

    def reservation(self, witness: Any, d: Vector) -> str:
        """Return a warning about the bounds from `witness` and `d`, or "".

        The witness proves the lower bound, and the weights `d` give the upper bound.
        """
        return ""


class NumericalBounds(Bounds):
    """Bounds of a relaxation without closed forms, from its cone program.

    The bounds are not treated as proved, because cvxpy rounds numbers when it compiles or evaluates
    f.
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
        return numerical.programs(self._f, len(u)).near_witness(u, proof)

    def lower_bound(self, u: Vector, witness: DualWitness) -> float:
        u = np.asarray(u, dtype=np.float64)
        x = np.maximum(witness.x, witness.gamma - u)
        if not (math.isfinite(witness.gamma) and np.isfinite(x).all()):
            return -math.inf
        programs = numerical.programs(self._f, len(x))
        if witness.proof is not None:
            return programs.below(u, witness.proof)
        # Without multipliers, γ − M is a bound, where M = max <d, x> − f(d) over 0 <= d <= 1.
        try:
            return float(witness.gamma) - programs.conjugate_above(x)
        except InputError:  # If the solver fails, the witness proves nothing.
            return -math.inf

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        f = self._f
        # Only the cone program shows by how much cvxpy's value of f breaks constraints.
        if type(f).penalty is Relaxation.penalty:
            return self.evaluated_bound(d, total)
        value = f.penalty(d)
        if math.isfinite(value):
            return value, 0.0
        repaired = f.repair(d)
        apart = math.fsum(np.abs(repaired - d / total[0]).tolist())
        return f.penalty(repaired), apart + 8.0 * UNIT

    def evaluated_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        """Compute `penalty_bound` from the cone program of f."""
        return numerical.programs(self._f, d.size).above(d / (0.5 * (total[0] + total[1])))

    def reservation(self, witness: Any, d: Vector) -> str:
        if isinstance(witness, DualWitness) and witness.gamma == -math.inf:
            return numerical.programs(self._f, d.size).unproved()
        evaluated = type(self._f).penalty is Relaxation.penalty
        return numerical.programs(self._f, d.size).unmet(d) if evaluated else ""


class EvaluatedBounds(Relaxation, Bounds):
    """The base class of relaxations with numerical bounds from a cone program."""

    is_proved = False

    def witness(self, u: Vector) -> DualWitness:
        return NumericalBounds(self).witness(u)

    def near_witness(self, u: Vector, proof: ConeProof) -> DualWitness | None:
        return NumericalBounds(self).near_witness(u, proof)

    def lower_bound(self, u: Vector, witness: DualWitness) -> float:
        return NumericalBounds(self).lower_bound(u, witness)

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        return NumericalBounds(self).evaluated_bound(d, total)

    def reservation(self, witness: Any, d: Vector) -> str:
        said = NumericalBounds(self).reservation(witness, d)
        return said or numerical.programs(self, d.size).unmet(d)

    def center(self, m: int) -> Vector:
        return numerical.programs(self, m).interior.copy()


def bounds_of(f: Relaxation) -> Bounds:
    """Return the object that computes the bounds of a relaxation.

    Parameters
    ----------
    f : Relaxation
        A relaxation. The result is f itself if its class derives from `Bounds`, and otherwise
        `NumericalBounds(f)`.
    """
    return f if isinstance(f, Bounds) else NumericalBounds(f)


def level_of(f: Relaxation) -> Level:
    """Return the proof level of the floating-point bounds of f, one of `LEVELS`.

    The level is numerical if the bounds are not proved, exact if the `Description` of f is exact,
    and enclosed otherwise. A certificate from `exact_form` can have a stronger level.

    Parameters
    ----------
    f : Relaxation
        A relaxation, which may be user-defined.
    """
    if not bounds_of(f).is_proved:
        return "numerical"
    return "exact" if isinstance(f, Description) and f.is_exact else "enclosed"
