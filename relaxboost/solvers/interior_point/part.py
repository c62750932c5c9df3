"""The interface of the relaxation f: its variables, inequalities and equations.

The interior point method minimises f(d) plus other terms of the game over distributions d. Each
iteration solves Newton's equations. The part K t = h of these equations comes from f. K is a
symmetric matrix, and the vector t is the Newton step of all unknowns of f.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from relaxboost._core.arrays import Vector
from relaxboost.relaxations.cone_bounds import ConeProof
from relaxboost.solvers.interior_point.block import Block


class Aim(NamedTuple):
    """The right-hand side of the part K t = h of Newton's equations for the relaxation f.

    The vector t is the Newton step of the unknowns of f.
    """

    h: Vector
    """The right-hand side h of the equations K t = h."""
    wanted: Any
    """The numbers from which `Part.change` computes the steps of the eliminated slacks and
    multipliers."""


class Part(ABC):
    """The variables of f, with the slacks and multipliers of its inequalities and equations.

    The value f(d) of the relaxation is the minimum of a program over further variables z. A
    direction is a step in all variables, slacks and multipliers of this program. Each subclass
    defines its own type for directions. The method `change` returns a direction, and the methods
    `product_after`, `longest`, `outliers` and `go` accept it.
    """

    x: Vector
    """The variables of the program of f in one vector. Its first m entries are the distribution
    d."""
    count: float
    """The number by which the complementarity of f is divided to get its mean. In a linear program
    it is the number of inequalities. In a cone program it is the sum of the degrees of the
    cones."""

    @property
    def proof(self) -> ConeProof | None:
        """The multipliers of the constraints of the program of f, and its point (d, z).

        Bounds on single variables do not count as constraints here. The value is None if the
        program has no other constraints. The vector z contains the variables other than d.
        """
        return None

    @property
    @abstractmethod
    def product(self) -> float:
        """The complementarity of f.

        It is the sum of slack times multiplier over all inequalities and cones of f.
        """

    @abstractmethod
    def block(self) -> Block:
        """Return the matrix K that f adds to Newton's equations at the current point."""

    @abstractmethod
    def aim(self, pull: Vector, centre: Any, first: Any = None) -> Aim:
        """Return the right-hand side for which slack times multiplier becomes `centre`.

        Parameters
        ----------
        pull : array of shape (m,)
            The vector A w − λ. A is the game matrix, w contains the weights of the columns, and λ
            is the multiplier of the equation Σd = 1. The vector is the gradient in d of the
            Lagrangian without the terms of f.
        centre : float or array
            The target for the product of each slack and its multiplier.
        first : direction, optional
            The predictor of Mehrotra's method. Its second-order terms correct the right-hand side.
        """

    @abstractmethod
    def change(self, aim: Aim, t: Vector) -> Any:
        """Return the direction in all variables, slacks and multipliers of f.

        The vector t solves K t = h, where K is the matrix of f in Newton's equations and `aim`
        contains the right-hand side h. The steps of the slacks and multipliers follow from t.
        """

    @abstractmethod
    def product_after(self, step: float, dual_step: float, change: Any) -> float:
        """Return the complementarity of f after two steps along the direction `change`.

        The complementarity is the sum of slack times multiplier. The slacks move by `step` times
        their entries of the direction, and the multipliers move by `dual_step` times their entries.
        """

    @abstractmethod
    def longest(self, change: Any) -> tuple[float, float]:
        """Return the longest step of the slacks and that of the multipliers, each at most 1.

        In a linear program, all slacks and multipliers remain nonnegative after these steps. In a
        cone program, they remain in their cones.
        """

    def outliers(self, change: Any, step: float, dual_step: float, centre: float) -> Any:
        """Return corrections of the products of slack and multiplier that are far from `centre`.

        The products are those after a step of length `step` in the slacks and of length `dual_step`
        in the multipliers. Each correction is added to the target of a product. The result is None
        for cones, because `aim` then accepts only one number as the target of all products.
        """
        return None

    @abstractmethod
    def go(self, step: float, dual_step: float, change: Any) -> None:
        """Move along the direction `change`.

        The variables and slacks move by `step` times their entries of the direction. The
        multipliers move by `dual_step` times their entries.
        """
