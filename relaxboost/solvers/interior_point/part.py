"""The interface of the relaxation f: its variables, inequalities and equations.

The interior point method minimises f(d) over distributions d, plus terms of the game. Newton's
equations contain a symmetric matrix K for f. The vector t contains the Newton step in all unknowns
of f, and K multiplies t.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from relaxboost._core.arrays import Vector
from relaxboost.relaxations.cone_bounds import ConeProof
from relaxboost.solvers.interior_point.block import Block


class Aim(NamedTuple):
    """The right-hand side of the equations K t = h, which Newton's equations contain for f."""

    h: Vector
    """The right-hand side h."""
    wanted: Any
    """The numbers from which `Part.change` computes the steps of the eliminated variables."""


class Part(ABC):
    """The variables of f, with the slacks and multipliers of its inequalities and equations.

    The value f(d) is the minimum of a program over further variables z. A direction is a step in
    all variables of f. Each subclass defines its own type for directions. The method `change`
    returns a direction, and the methods `product_after`, `longest`, `outliers` and `go` accept it.
    """

    x: Vector
    """The variables of f in one vector. Its first m entries are the distribution d."""
    count: float
    """The degree of the barrier of f. In a linear program it is the number of inequalities."""

    @property
    def proof(self) -> ConeProof | None:
        """The multipliers of the rows of f and the point (d, z), or None if f has no rows."""
        return None

    @property
    @abstractmethod
    def product(self) -> float:
        """The complementarity of f.

        It is the sum of slack times multiplier over all inequalities and cones of f.
        """

    @abstractmethod
    def block(self) -> Block:
        """Return the matrix K of f in Newton's equations at the present point."""

    @abstractmethod
    def aim(self, pull: Vector, centre: Any, first: Any = None) -> Aim:
        """Return the right-hand side for a direction towards slack times multiplier = `centre`.

        Parameters
        ----------
        pull : array of shape (m,)
            The vector A w − λ, with the weights w and the multiplier λ of the equation Σd = 1. It
            is the gradient in d of the terms of the Lagrangian that do not belong to f.
        centre : float or array
            The target for the product of each slack and its multiplier.
        first : direction, optional
            The predictor of Mehrotra's method. Its second-order terms correct the right-hand side.
        """

    @abstractmethod
    def change(self, aim: Aim, t: Vector) -> Any:
        """Return the direction in all variables of f, computed from the solution t of K t = h."""

    @abstractmethod
    def product_after(self, step: float, dual_step: float, change: Any) -> float:
        """Return the complementarity of f after two steps along the direction `change`.

        The slacks move by `step`, and the multipliers move by `dual_step`.
        """

    @abstractmethod
    def longest(self, change: Any) -> tuple[float, float]:
        """Return the longest step of the slacks and that of the multipliers, each at most 1.

        A step is at most so long that no slack, or no multiplier, leaves its cone. In a linear
        program all of them remain nonnegative.
        """

    def outliers(self, change: Any, step: float, dual_step: float, centre: float) -> Any:
        """Return corrections of the products of slack and multiplier that are far from `centre`.

        The products are those after a step of length `step` in the slacks and of length `dual_step`
        in the multipliers. The result is None if `aim` accepts only one number as the target of all
        products, as for cones.
        """
        return None

    @abstractmethod
    def go(self, step: float, dual_step: float, change: Any) -> None:
        """Move the variables and slacks by `step`, and the multipliers by `dual_step`."""
