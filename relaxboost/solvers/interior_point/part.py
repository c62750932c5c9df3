"""The interface of the relaxation f: its variables, inequalities and equations.

The interior point method minimises f(d) plus other terms of the game over distributions d. In each
iteration it solves Newton's equations. One part of these equations is K t = h, where K is the
symmetric matrix of f, and the vector t is the Newton step of all unknowns of f.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from relaxboost._core.arrays import Vector
from relaxboost.relaxations.cone_bounds import ConeProof
from relaxboost.solvers.interior_point.block import Block


class Aim(NamedTuple):
    """The right-hand side h of Newton's equations K t = h of the relaxation f.

    K is the matrix of f, and t is the Newton step of the unknowns of f.
    """

    h: Vector
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
    """The variables of the program of f. The first m entries are the distribution d."""
    count: float
    """The number of inequalities of a linear program, or the sum of the degrees of the cones of a
    cone program. The complementarity of f divided by this number is its mean."""

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
        """The complementarity: the sum of slack times multiplier over the inequalities of f."""

    @abstractmethod
    def block(self) -> Block:
        """Return the matrix K that f adds to Newton's equations at the current point."""

    @abstractmethod
    def aim(self, pull: Vector, centre: Any, first: Any = None) -> Aim:
        """Return the right-hand side for which slack times multiplier becomes `centre`.

        Parameters
        ----------
        pull : array of shape (m,)
            The vector A w − λ, which is the gradient in d of the terms of the Lagrangian other than
            those of f. A is the game matrix, w contains the weights, and λ is the multiplier of the
            equation Σd = 1.
        centre : float or array
            The target for the product of each slack and its multiplier.
        first : direction, optional
            The predictor of Mehrotra's method. Its second-order terms correct the right-hand side.
        """

    @abstractmethod
    def change(self, aim: Aim, t: Vector) -> Any:
        """Return the direction in all variables of f that follows from the Newton step t.

        The vector t solves K t = h, where K is the matrix of f in Newton's equations and `aim`
        contains the right-hand side h. The steps of the slacks and multipliers follow from t.
        """

    @abstractmethod
    def product_after(self, step: float, dual_step: float, change: Any) -> float:
        """Return the sum of slack times multiplier of f after a step along `change`.

        The slacks move by `step` times their entries of the direction `change`, and the multipliers
        move by `dual_step` times their entries.
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
        in the multipliers. The target of a product is increased by its correction. The result is
        None for cones, because `aim` then accepts only one target for all products.
        """
        return None

    @abstractmethod
    def go(self, step: float, dual_step: float, change: Any) -> None:
        """Move along the direction `change`.

        The variables and slacks move by `step` times their entries of the direction. The
        multipliers move by `dual_step` times their entries.
        """
