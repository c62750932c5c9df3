"""The matrix K of f in Newton's equations, and K of an f without rows, which is diagonal.

The unknowns of K are those of f: the changes of d, of the further variables z of its program, and
of the multipliers of its equations. The entries of d are always first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from relaxboost._core.arrays import Array, Vector
from relaxboost.matrices.bulk import Bulk


class Block(ABC):
    """The symmetric matrix K, with the operations that both kinds of normal equations need."""

    written = False
    """Whether `gram` needs the game matrix A as an array."""
    uncancelled: Vector | None = None
    """The size that the diagonal of the last `gram` had before terms of this size cancelled."""

    @abstractmethod
    def times(self, t: Vector) -> Vector:
        """Return K t, without the roundings that a factor of K contains."""

    @abstractmethod
    def invert(self, h: Vector) -> Vector:
        """Return the solution t of K t = h."""

    @abstractmethod
    def gram(self, bulk: Bulk) -> Array:
        """Return Bᵀ K⁻¹ B in its lower triangle, for B = [A, −1] in the rows of d and 0 below."""

    @abstractmethod
    def reduce(self, h: Vector) -> Vector:
        """Return the right-hand side for d after all other unknowns are eliminated from K t = h."""

    @abstractmethod
    def expand(self, t: Vector, h: Vector) -> Vector:
        """Return the solution of K t = h from its first part `t`, the change of d."""

    @abstractmethod
    def add_to(self, gram: Array) -> None:
        """Add the Schur complement of K in d to the lower triangle of `gram`."""


class Diagonal(Block):
    """K of an f without rows: the diagonal Θ of multiplier over slack of its bounds."""

    def __init__(self, theta: Vector, m: int) -> None:
        self._theta = theta
        self._m = m

    @property
    def inverse(self) -> Vector:
        """The reciprocals of the first m entries of the diagonal matrix Θ, which belong to d."""
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
        # Nothing ties the further variables to d.
        return np.append(t, h[self._m :] / self._theta[self._m :])

    def add_to(self, gram: Array) -> None:
        place = np.arange(self._m)
        gram[place, place] += self._theta[: self._m]


def diagonal_gram(bulk: Bulk, inverse: Vector) -> Array:
    """Return the lower triangle of Bᵀ diag(inverse) B for B = [A, −1]; A is the game matrix."""
    n = bulk.n
    # The matrix is allocated once and filled in parts, since it may take most of the memory.
    gram = np.zeros((n + 1, n + 1))
    bulk.cross(inverse, gram[:n, :n])
    gram[n, :n] = -bulk.edges(inverse)
    gram[n, n] = inverse.sum()
    return gram
