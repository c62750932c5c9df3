"""The interface between the interior point method and the relaxation f.

The relaxation is the optimal value of a program. Its unknowns are the variables and the multipliers
of this program. It adds to Newton's equations a symmetric matrix K and a right-hand side h for the
step t of its unknowns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from relaxboost._core.arrays import Vector
from relaxboost.relaxations.cone_bounds import ConeProof
from relaxboost.solvers.interior_point.block import Block


class Aim(NamedTuple):
    """The right-hand side of Newton's equations for the unknowns of the relaxation f."""

    h: Vector
    wanted: Any
    """The data from which `Part.change` computes the steps of the slacks and multipliers."""


class Part(ABC):
    """The variables of the relaxation f, with the slacks and multipliers of its constraints.

    The value f(d) is the minimum of a program over further variables z. A primal step moves its
    variables and slacks, and a dual step its multipliers, possibly by another length. The method
    `change` returns both directions as one object of the subclass, which the other methods accept
    as the argument `change`.
    """

    x: Vector
    """The variables of the program that defines f. The first m are the distribution d."""
    count: float
    """The divisor that turns `product` into a mean: the number of inequalities of a linear program,
    or the sum of the degrees of the cones."""

    @property
    def proof(self) -> ConeProof | None:
        """The variables and the row multipliers of the program of f, or None without rows.

        They prove bounds on the value of the program.
        """
        return None

    @property
    @abstractmethod
    def product(self) -> float:
        """The sum of slack times multiplier over all constraints of f."""

    @abstractmethod
    def block(self) -> Block:
        """Return the matrix K that f adds to Newton's equations at this point."""

    @abstractmethod
    def aim(self, pull: Vector, centre: float, first: Any = None) -> Aim:
        """Return the right-hand side of Newton's equations for the unknowns of f.

        Parameters
        ----------
        pull : array of shape (m,)
            The vector A w − λ, which is the gradient in d of all terms of the Lagrangian except f.
            λ is the multiplier of the equation Σd = 1.
        centre : float
            The target for each slack times multiplier.
        first : direction, optional
            The predictor, whose second-order terms are included in the right-hand side.
        """

    @abstractmethod
    def change(self, aim: Aim, t: Vector) -> Any:
        """Return the direction of a step for a solution of Newton's equations.

        `t` is the solution for the unknowns of f, and `aim` is its right-hand side.
        """

    @abstractmethod
    def product_after(self, step: float, dual_step: float, change: Any) -> float:
        """Return the sum of slack times multiplier after two steps along `change`.

        `step` is the length of the primal step, and `dual_step` that of the dual step.
        """

    @abstractmethod
    def longest(self, change: Any) -> tuple[float, float]:
        """Return the longest primal and dual steps along `change`, at most 1.

        After these steps, all slacks and multipliers are nonnegative or in their cones.
        """

    @abstractmethod
    def go(self, step: float, dual_step: float, change: Any) -> None:
        """Move the variables, slacks and multipliers along `change`.

        `step` is the length of the primal step, and `dual_step` that of the dual step.
        """
