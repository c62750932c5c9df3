"""The hard margin, f = 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.digits import number
from relaxboost.relaxations._projections.binary_entropy import binary_capped_distribution
from relaxboost.relaxations._projections.capped import capped_distribution
from relaxboost.relaxations.base import BinaryDistribution, Relaxation, Traits, as_margins
from relaxboost.relaxations.bounds import Bounds, Witness
from relaxboost.relaxations.description import Description
from relaxboost.relaxations.linear import ExactForm
from relaxboost.relaxations.own import has_own_class

CAP_TRAITS = Traits(
    polyhedral=True, monotone=True, symmetric=True, zero_minimum=True, zero_in_core=True
)
"""The traits of the hard margin and `Capped`, tested by `check_relaxation`."""


@dataclass(frozen=True)
class HardMargin(Relaxation, Bounds, Description, BinaryDistribution):
    """The hard margin F(u) = min_i u_i, for which f = 0 on all of R^m.

    The value of the game is the largest l1 margin. By SS09 Thm 4 it is also the largest γ such
    that, for every distribution, some hypothesis has an edge of at least γ. The conjugate f* is 0
    at the origin and infinite elsewhere.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Definitions 1 and 2, Thm 4.

    Examples
    --------
    >>> import numpy as np
    >>> import relaxboost as rb
    >>> rb.HardMargin().relaxed_margin(np.array([0.5, 0.25, 1.0]))[0]
    0.25
    """

    family = "relaxboost.HardMargin"

    @property
    def traits(self) -> Traits:
        return CAP_TRAITS

    def penalty(self, d: Vector) -> float:
        return 0.0

    def conjugate(self, theta: Vector) -> float:
        return np.inf if np.any(theta) else 0.0

    def relaxed_margin(self, u: Vector) -> tuple[float, Vector]:
        u = as_margins(u, self)
        i = int(np.argmin(u))
        d = np.zeros(u.size)
        d[i] = 1.0
        return float(u[i]), d

    def _distribution(self, u: Vector, beta: float) -> Vector:
        return capped_distribution(u, beta)

    def _binary_distribution(self, u: Vector, beta: float) -> Vector:
        return binary_capped_distribution(u, beta)

    def witness(self, u: Vector) -> Witness:
        return Witness(float(as_margins(u, self).min()))

    def lower_bound(self, u: Vector, witness: Witness) -> float:
        return witness.gamma if np.min(u) >= witness.gamma else -np.inf

    def penalty_bound(self, d: Vector, total: tuple[float, float]) -> tuple[float, float]:
        return 0.0, 0.0

    def cvxpy_penalty(self, d: Any) -> tuple[Any, list[Any]]:
        return 0.0, []

    def cvxpy_conjugate(self, x: Any) -> tuple[Any, list[Any]]:
        return 0.0, [x == 0]

    def cvxpy_relaxed_margin(self, u: Any, gamma: Any) -> tuple[Any, list[Any]]:
        return gamma, [u >= gamma]

    def exact_form(self, m: int) -> ExactForm:
        # f = 0 adds no row and no cost to the simplex.
        return ExactForm.free(m)

    def describe(self, m: int) -> dict[str, Any]:
        return {"kind": "hard-margin"}

    def describe_witness(self, found: Witness, u: Sequence[Fraction]) -> dict[str, Any]:
        return {"gamma": number(min(u)), "floor": "0"}

    def lipschitz(self, m: int) -> float:
        return 0.0

    def _plus(self, other: Relaxation) -> Relaxation | None:
        return None if has_own_class(self) else other
