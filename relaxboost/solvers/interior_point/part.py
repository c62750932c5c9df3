"""The interface of f to the interior point method: its variables, inequalities and equations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

from relaxboost._core.arrays import Vector
from relaxboost.relaxations.cone_bounds import ConeProof
from relaxboost.solvers.interior_point.block import Block


class Aim(NamedTuple):
    """The right-hand side of f's part of Newton's equations."""

    h: Vector
    """The right-hand side of K t = h."""
    wanted: Any
    """The targets of the multipliers, for `change` to recover them."""


class Part(ABC):
    """An x = (d, z), with the slacks and the multipliers of f's own inequalities and equations."""

    x: Vector
    """The variables of f in one vector. Its first m entries are d."""
    count: float
    """The degree of the barrier, for half lines their number: Σ slack · multiplier / count is μ."""

    @property
    def proof(self) -> ConeProof | None:
        """The multipliers of the rows of the form, and its point; None where it has no rows."""
        return None

    @property
    @abstractmethod
    def product(self) -> float:
        """The complementarity Σ slack · multiplier."""

    @abstractmethod
    def block(self) -> Block:
        """Return K at the present point."""

    @abstractmethod
    def aim(self, pull: Vector, centre: Any, first: Any = None) -> Aim:
        """Return the equations for products of `centre`, corrected by the predictor `first`.

        `pull`, shape (m,), is A w − λ, the gradient in d of the terms that do not belong to f.
        """

    @abstractmethod
    def change(self, aim: Aim, t: Vector) -> Any:
        """Return the direction of all variables of f whose part in (d, z, η) is t."""

    @abstractmethod
    def product_after(self, step: float, dual_step: float, change: Any) -> float:
        """Return the complementarity after a step in slacks and a step in multipliers."""

    @abstractmethod
    def longest(self, change: Any) -> tuple[float, float]:
        """Return the steps to the boundary, of slacks and of multipliers, 1 at most."""

    def outliers(self, change: Any, step: float, dual_step: float, centre: float) -> Any:
        """Return what to add to products that two steps bring far from `centre`.

        None if `aim` takes a single number for all products, as the targets of cones do.
        """
        return None

    @abstractmethod
    def go(self, step: float, dual_step: float, change: Any) -> None:
        """Take the two steps."""
