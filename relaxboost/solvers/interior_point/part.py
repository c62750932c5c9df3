"""The interface through which the interior point method uses the relaxation f.

The interior point method minimises f(d) plus other terms of the game over distributions d. In each
iteration it solves Newton's equations. To these equations, the relaxation adds a symmetric matrix K
and a right-hand side h for the Newton step t of the unknowns of f: its variables and the
multipliers of its equations.
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
    """The numbers from which `Part.change` computes the steps of the slacks and multipliers that
    are not unknowns of Newton's equations."""


class Part(ABC):
    """The variables of the relaxation f, with the slacks and multipliers of its constraints.

    The value f(d) is the minimum of a program over further variables z. A direction is a step in
    all variables, slacks and multipliers of this program. Each subclass defines its own type for
    directions. The method `change` returns a direction, and the methods `product_after`, `longest`,
    `outliers` and `go` accept a direction as the argument `change`.
    """

    x: Vector
    """The variables of the program that defines the relaxation f. The first m variables are the
    distribution d over the m examples."""
    count: float
    """The divisor that turns the sum of the products of slack and multiplier into their mean. For a
    linear program, `count` is the number of inequalities. For a cone program, it is the sum of the
    degrees of the cones."""

    @property
    def proof(self) -> ConeProof | None:
        """The variables of the program that defines f, and the multipliers of its rows.

        f is the relaxation. The property is None if the program has only bounds on variables.
        """
        return None

    @property
    @abstractmethod
    def product(self) -> float:
        """The sum of the products of slack and multiplier over the constraints of f."""

    @abstractmethod
    def block(self) -> Block:
        """Return the matrix that the relaxation adds to Newton's equations at this point."""

    @abstractmethod
    def aim(self, pull: Vector, centre: Any, first: Any = None) -> Aim:
        """Return the right-hand side of Newton's equations for the unknowns of the relaxation f.

        Parameters
        ----------
        pull : array of shape (m,)
            The vector A w − λ, which is the gradient, with respect to the distribution d, of all
            terms of the Lagrangian except f. A is the game matrix, w contains the weights, and λ is
            the multiplier of the equation Σd = 1.
        centre : float or array
            The target of the step for the product of each slack and its multiplier.
        first : direction, optional
            The predictor of Mehrotra's method. If the predictor is passed, its second-order terms
            are included in the right-hand side.
        """

    @abstractmethod
    def change(self, aim: Aim, t: Vector) -> Any:
        """Return the step in all variables, slacks and multipliers of the relaxation f.

        The vector `t` is the step of the unknowns of f, as a solution of Newton's equations with
        the right-hand side `aim`. The remaining steps of slacks and multipliers are computed from
        `t`.
        """

    @abstractmethod
    def product_after(self, step: float, dual_step: float, change: Any) -> float:
        """Return the sum of the products of slack and multiplier of f after a step.

        The slacks move by `step` times their entries in the direction `change`, and the
        multipliers move by `dual_step` times their entries.
        """

    @abstractmethod
    def longest(self, change: Any) -> tuple[float, float]:
        """Return the longest step of the slacks and the longest step of the multipliers.

        Each step is a fraction of the direction `change`, and is at most 1. After these steps, all
        slacks and multipliers of a linear program are nonnegative. The slacks and multipliers of a
        cone program are in their cones.
        """

    def outliers(self, change: Any, step: float, dual_step: float, centre: float) -> Any:
        """Return corrections for the products of slack and multiplier that are far from `centre`.

        The corrections apply to the products after a step along the direction `change`. This step
        has the length `step` in the slacks and the length `dual_step` in the multipliers. The
        caller adds each correction to the target of the product. The result is None for cones,
        whose products all have the same target.
        """
        return None

    @abstractmethod
    def go(self, step: float, dual_step: float, change: Any) -> None:
        """Move the current point along the direction `change`.

        The variables and slacks move by `step` times their entries in the direction. The
        multipliers move by `dual_step` times their entries.
        """
