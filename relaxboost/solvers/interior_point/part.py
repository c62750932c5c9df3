"""The interface through which the interior point method uses the relaxation f.

The relaxation is the optimal value of a program. The unknowns of f are the variables of this
program and the multipliers of its equations. The relaxation adds to Newton's equations a symmetric
matrix K and a right-hand side h for the Newton step t of the unknowns.
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
    """The data from which the method `change` of the class `Part` computes the steps of the slacks
    and multipliers."""


class Part(ABC):
    """The variables of the relaxation f, with the slacks and multipliers of its constraints.

    The value f(d) is the minimum of a program over further variables z. A primal step moves the
    variables and slacks of this program, and a dual step moves the multipliers. The two steps may
    have different lengths, but their directions are computed together: the method `change` returns
    them as one object. The type of this object depends on the subclass. The other methods accept
    the object as the argument `change`.
    """

    x: Vector
    """The variables of the program that defines the relaxation f. The first m variables are the
    distribution d over the m examples."""
    count: float
    """The number by which the sum of all products of slack and multiplier (`product`) is divided to
    get their mean. For a linear program it is the number of inequalities. For a cone program it is
    the sum of the degrees of the cones."""

    @property
    def proof(self) -> ConeProof | None:
        """The variables x and the multipliers of the rows of the program that defines f.

        They prove bounds on the value of this program. The property is None if the program has no
        rows.
        """
        return None

    @property
    @abstractmethod
    def product(self) -> float:
        """The sum of slack times multiplier over all constraints of the relaxation f."""

    @abstractmethod
    def block(self) -> Block:
        """Return the matrix K that the relaxation f adds to Newton's equations at this point."""

    @abstractmethod
    def aim(self, pull: Vector, centre: float, first: Any = None) -> Aim:
        """Return the right-hand side of Newton's equations for the unknowns of the relaxation f.

        Parameters
        ----------
        pull : array of shape (m,)
            The vector A w − λ, which is the gradient in d of all terms of the Lagrangian except f.
            λ is the multiplier of the equation Σd = 1.
        centre : float
            The target of the step for the product of each slack and its multiplier.
        first : direction, optional
            The predictor, whose second-order terms are included in the right-hand side.
        """

    @abstractmethod
    def change(self, aim: Aim, t: Vector) -> Any:
        """Return the direction of a step, which follows from a solution of Newton's equations.

        `t` is the solution for the unknowns of the relaxation f, and `aim` is the right-hand side.
        """

    @abstractmethod
    def product_after(self, step: float, dual_step: float, change: Any) -> float:
        """Return the sum of the products of slack and multiplier after two steps along `change`.

        `step` is the length of the primal step, and `dual_step` is the length of the dual step.
        """

    @abstractmethod
    def longest(self, change: Any) -> tuple[float, float]:
        """Return the longest primal step and the longest dual step along `change`, at most 1.

        After these steps, all slacks and multipliers are nonnegative or in their cones.
        """

    @abstractmethod
    def go(self, step: float, dual_step: float, change: Any) -> None:
        """Move the variables, slacks and multipliers of the relaxation f along `change`.

        `step` is the length of the primal step, and `dual_step` is the length of the dual step.
        """
