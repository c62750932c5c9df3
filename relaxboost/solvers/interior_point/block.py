"""The matrix K that the relaxation f contributes to Newton's equations.

The unknowns of K are the Newton steps of d, of the further variables z of the program of f, and of
the multipliers of its equations. The entries of d are always first. If the program of f has no
rows, K is a diagonal matrix.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from relaxboost._core.arrays import Array, Vector
from relaxboost.matrices.bulk import Bulk


class Block(ABC):
    """The symmetric matrix K of f, with the operations by which Newton's equations are reduced."""

    written = False
    """Whether `gram` needs the game matrix A as a dense array."""
    uncancelled: Vector | None = None
    """The size of the terms that cancelled in each diagonal entry of the last result of `gram`. It
    is None if no terms cancelled."""

    @abstractmethod
    def times(self, t: Vector) -> Vector:
        """Return K t from the data of f, without the rounding errors of a factor of K."""

    @abstractmethod
    def invert(self, h: Vector) -> Vector:
        """Return the solution t of K t = h."""

    @abstractmethod
    def gram(self, bulk: Bulk) -> Array:
        """Return the lower triangle of Bᵀ K⁻¹ B.

        The matrix B is [A, −1] in the rows of d and 0 in all other rows. A is the game matrix.
        """

    @abstractmethod
    def reduce(self, h: Vector) -> Vector:
        """Return the right-hand side for d after all other unknowns are eliminated from K t = h."""

    @abstractmethod
    def expand(self, t: Vector, h: Vector) -> Vector:
        """Return the full solution of K t = h from its first m entries `t`, the step of d."""

    @abstractmethod
    def add_to(self, gram: Array) -> None:
        """Add the Schur complement of K for the unknowns of d to the lower triangle of `gram`."""


class Diagonal(Block):
    """The diagonal matrix K of a relaxation f whose program bounds its variables and has no rows.

    The diagonal entry Θ of a variable is the sum of multiplier divided by slack over its bounds.
    """

    def __init__(self, theta: Vector, m: int) -> None:
        self._theta = theta
        self._m = m

    @property
    def inverse(self) -> Vector:
        """The reciprocals of the entries of the diagonal that belong to d, shape (m,)."""
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
    """Return the lower triangle of Bᵀ diag(inverse) B, for the game matrix A and B = [A, −1]."""
    n = bulk.n
    # The matrix is allocated once and filled in parts, since it may take most of the memory.
    gram = np.zeros((n + 1, n + 1))
    bulk.cross(inverse, gram[:n, :n])
    gram[n, :n] = -bulk.edges(inverse)
    gram[n, n] = inverse.sum()
    return gram
