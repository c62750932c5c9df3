"""The interface of f to the interior point method: its variables, inequalities and equations.

K is the matrix of f in Newton's equations, and t a change of all variables that K multiplies.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from relaxboost._core.arrays import Vector
from relaxboost.relaxations.cone_bounds import ConeProof
from relaxboost.solvers.interior_point.block import Block


class Aim(NamedTuple):
    """The right-hand side of the equations of f in Newton's equations."""

    h: Vector
    """The right-hand side of K t = h."""
    wanted: Any
    """The targets from which `Part.change` recovers the changes of the multipliers."""


class Part(ABC):
    """The variables of f, with the slacks and multipliers of its inequalities and equations.

    f(d) is the minimum of a program over further variables z. A direction has a type that each
    subclass defines; it is the result of `change` and an argument of the methods after it.
    """

    x: Vector
    """The variables of f in one vector. Its first m entries are d."""
    count: float
    """The degree of the barrier, which is the number of inequalities in a linear program."""

    @property
    def proof(self) -> ConeProof | None:
        """The multipliers of the rows of f and its point, or None if f has no rows."""
        return None

    @property
    @abstractmethod
    def product(self) -> float:
        """The complementarity, which is the sum of slack · multiplier."""

    @abstractmethod
    def block(self) -> Block:
        """Return the matrix K at the present point."""

    @abstractmethod
    def aim(self, pull: Vector, centre: Any, first: Any = None) -> Aim:
        """Return the right-hand side for a direction to products of `centre`.

        `pull`, shape (m,), is A w − λ, the gradient in d of the terms that do not belong to f, with
        the weights w and the multiplier λ of Σd = 1. The direction `first` is the predictor, whose
        second-order terms correct the right-hand side.
        """

    @abstractmethod
    def change(self, aim: Aim, t: Vector) -> Any:
        """Return the direction of all variables of f that belongs to the solution t of K t = h."""

    @abstractmethod
    def product_after(self, step: float, dual_step: float, change: Any) -> float:
        """Return the complementarity after one step in the slacks and one in the multipliers."""

    @abstractmethod
    def longest(self, change: Any) -> tuple[float, float]:
        """Return the steps to the boundary in slacks and in multipliers, each at most 1."""

    def outliers(self, change: Any, step: float, dual_step: float, centre: float) -> Any:
        """Return the corrections of products that two steps bring far from `centre`.

        The result is None if `aim` accepts only one number for all products, as for cones.
        """
        return None

    @abstractmethod
    def go(self, step: float, dual_step: float, change: Any) -> None:
        """Take one step in the slacks and one in the multipliers."""
