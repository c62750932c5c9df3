"""The matrix K that the relaxation f adds to Newton's equations.

The unknowns of f are the steps of the distribution d, of the other variables z of the program that
defines f, and of its multipliers, in this order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from relaxboost._core.arrays import Array, Vector
from relaxboost.matrices.bulk import Bulk


class Block(ABC):
    """The symmetric matrix K of the Newton equations `K t = h` of the relaxation f.

    The vector t is the Newton step of the unknowns of f, and h is the right-hand side.
    """

    written = False
    """Whether `gram` needs the game matrix as a dense array."""
    uncancelled: Vector | None = None
    """The diagonal of the last result of `gram` before constraints of f reduced it, or None.

    The rounding error of each diagonal entry is proportional to this larger number.
    """

    @abstractmethod
    def times(self, t: Vector) -> Vector:
        """Return the product K t."""

    @abstractmethod
    def invert(self, h: Vector) -> Vector:
        """Return the solution t of K t = h."""

    @abstractmethod
    def gram(self, bulk: Bulk) -> Array:
        """Return the lower triangle of Bᵀ K⁻¹ B.

        The matrix B is [A, −1] in the rows of d and 0 in all other rows, where A is the game matrix
        and −1 a column of entries −1.
        """

    @abstractmethod
    def reduce(self, h: Vector) -> Vector:
        """Reduce K t = h to the unknowns d, and return the reduced right-hand side."""

    @abstractmethod
    def expand(self, t: Vector, h: Vector) -> Vector:
        """Return the solution x of K x = h, given its first m entries `t`, the step of d."""

    @abstractmethod
    def add_to(self, gram: Array) -> None:
        """Add the Schur complement of K in d to the lower triangle of `gram`."""


class Diagonal(Block):
    """The diagonal matrix K of a relaxation with only bounds on single variables.

    An entry is multiplier / slack, summed over the lower and the upper bound of a variable.

    Parameters
    ----------
    theta : array
        The diagonal of K.
    m : int
        The number of entries of the distribution d.
    """

    def __init__(self, theta: Vector, m: int) -> None:
        self._theta = theta
        self._m = m

    @property
    def inverse(self) -> Vector:
        """The reciprocals of the m diagonal entries for d."""
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
    """Return the lower triangle of Bᵀ diag(inverse) B for the matrix B = [A, −1].

    A is the game matrix, and −1 a column of entries −1. `inverse` is positive.
    """
    n = bulk.n
    # The matrix is allocated once and filled in parts, since it may take most of the memory.
    gram = np.zeros((n + 1, n + 1))
    bulk.cross(inverse, gram[:n, :n])
    gram[n, :n] = -bulk.edges(inverse)
    gram[n, n] = inverse.sum()
    return gram
