"""The matrix K that the relaxation f adds to Newton's equations.

The unknowns of f are the Newton steps of the distribution d, of the further variables z of the
program that defines f, and of the multipliers of the equations of this program. The entries of d
are always first.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from relaxboost._core.arrays import Array, Vector
from relaxboost.matrices.bulk import Bulk


class Block(ABC):
    """The symmetric matrix K of those Newton equations `K t = h` that belong to the relaxation f.

    The vector t is the Newton step of the unknowns of f, and h is the right-hand side.
    """

    written = False
    """Whether the method `gram` of this class needs the game matrix as a dense array."""
    uncancelled: Vector | None = None
    """The diagonal of the last result of `gram`, before the constraints of f reduced its entries.
    The rounding error of each diagonal entry is proportional to this larger number. The attribute
    is None if no entry was reduced."""

    @abstractmethod
    def times(self, t: Vector) -> Vector:
        """Return the product of this matrix K and the vector `t`."""

    @abstractmethod
    def invert(self, h: Vector) -> Vector:
        """Return the solution t of the equations K t = h with this matrix K."""

    @abstractmethod
    def gram(self, bulk: Bulk) -> Array:
        """Return the lower triangle of the product Bᵀ K⁻¹ B for this matrix K.

        The matrix B is [A, −1] in the rows of the distribution d and 0 in all other rows. A is the
        game matrix, and −1 is a column in which all entries are −1.
        """

    @abstractmethod
    def reduce(self, h: Vector) -> Vector:
        """Return the right-hand side of the equations for d that remain after an elimination.

        The elimination removes all other unknowns from the equations K t = h, and changes `h`.
        """

    @abstractmethod
    def expand(self, t: Vector, h: Vector) -> Vector:
        """Return the solution x of the equations K x = h, given the first m entries of x.

        The argument `t` contains these entries, which are the step of the distribution d.
        """

    @abstractmethod
    def add_to(self, gram: Array) -> None:
        """Add the Schur complement of the matrix K to the lower triangle of `gram`.

        The Schur complement is the matrix that remains for the distribution d after all other
        unknowns are eliminated.
        """


class Diagonal(Block):
    """The diagonal matrix K of a relaxation f with only bounds on single variables.

    The entry of a variable is multiplier / slack, summed over its lower and its upper bound.

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
        """The reciprocals of the m diagonal entries of K that belong to the distribution d."""
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

    A is the game matrix, and −1 is a column in which all entries are −1. The vector `inverse` has a
    positive entry for each example.
    """
    n = bulk.n
    # The matrix is allocated once and filled in parts, since it may take most of the memory.
    gram = np.zeros((n + 1, n + 1))
    bulk.cross(inverse, gram[:n, :n])
    gram[n, :n] = -bulk.edges(inverse)
    gram[n, n] = inverse.sum()
    return gram
