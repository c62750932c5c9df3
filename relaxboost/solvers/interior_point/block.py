"""The part of Newton's matrix that belongs to f: the barrier of its bounds, and its rows.

It is K = [Θ, Rᵀ; R, −Θ_y⁻¹] on (x, η): x = (d, z) with the curvature Θ of its bounds, R the rows
of the linear form, η their multipliers, and Θ_y the curvature of the bounds on R x.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from relaxboost._core.arrays import Array, Vector
from relaxboost.matrices.bulk import Bulk


class Block(ABC):
    """K with d in front, which both sides of the normal equations solve with."""

    written = False
    """Whether `gram` needs A written down."""
    uncancelled: Vector | None = None
    """The diagonal of the last `gram` before something of its size was taken off it."""

    @abstractmethod
    def times(self, t: Vector) -> Vector:
        """Return K t."""

    @abstractmethod
    def invert(self, h: Vector) -> Vector:
        """Return K⁻¹ h."""

    @abstractmethod
    def gram(self, bulk: Bulk) -> Array:
        """Return Bᵀ K⁻¹ B for B = [A, −1] on the part in d, in its lower triangle."""

    @abstractmethod
    def reduce(self, h: Vector) -> Vector:
        """Return the right-hand side in d alone, all else eliminated."""

    @abstractmethod
    def expand(self, t: Vector, h: Vector) -> Vector:
        """Return the whole solution from the part in d."""

    @abstractmethod
    def add_to(self, gram: Array) -> None:
        """Add what is left of K in d alone, its Schur complement, to the lower triangle."""


class Diagonal(Block):
    """K of an f without rows, which is Θ."""

    def __init__(self, theta: Vector, m: int) -> None:
        self._theta, self._m = theta, m

    @property
    def inverse(self) -> Vector:
        """Θ⁻¹ of d, shape (m,)."""
        return 1.0 / self._theta[: self._m]

    def times(self, t: Vector) -> Vector:
        return self._theta * t

    def invert(self, h: Vector) -> Vector:
        return h / self._theta

    def gram(self, bulk: Bulk) -> Array:
        return diagonal_gram(bulk, self.inverse)

    def reduce(self, h: Vector) -> Vector:
        return h[: self._m]

    def expand(self, t: Vector, h: Vector) -> Vector:
        """Return it with the rest, which nothing ties to d."""
        return np.append(t, h[self._m :] / self._theta[self._m :])

    def add_to(self, gram: Array) -> None:
        """Add Θ."""
        place = np.arange(self._m)
        gram[place, place] += self._theta[: self._m]


def diagonal_gram(bulk: Bulk, inverse: Vector) -> Array:
    """Return Bᵀ diag(inverse) B for B = [A, −1], in its lower triangle."""
    n = bulk.n
    gram = np.zeros((n + 1, n + 1))
    bulk.cross(inverse, gram[:n, :n])
    gram[n, :n] = -bulk.edges(inverse)
    gram[n, n] = inverse.sum()
    return gram
