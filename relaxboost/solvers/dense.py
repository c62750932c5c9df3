"""The combined hypothesis of a game over a Euclidean set: a dense vector of weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost.game.domains import Dense
from relaxboost.game.domains.euclidean import EuclideanSet
from relaxboost.matrices import MarginMatrix, kernels
from relaxboost.solvers.hypothesis import MovingHypothesis

_KEPT = 10_000_000
"""Entries up to which A is written down for the products A w, one a round."""


class DensePoint(MovingHypothesis):
    """w as a vector with an entry for each column, from w = 0."""

    over: EuclideanSet

    def __init__(self, matrix: MarginMatrix, over: EuclideanSet) -> None:
        assert matrix.n is not None
        self.over = over
        self.w = np.zeros(matrix.n)
        self.u = np.zeros(matrix.m)
        self._matrix = matrix
        self._all = np.arange(matrix.n)
        small = matrix.m * matrix.n <= _KEPT
        self._A = matrix.columns(self._all) if small else None

    @property
    def used(self) -> int:
        return int(np.count_nonzero(self.w))

    def direction(self, best: Dense) -> tuple[Vector, float]:
        if self._A is not None:
            v = kernels.combine(self._A, best.w.size, best.w) - self.u
        else:
            v = self._matrix.margins(self._all, best.w) - self.u
        return v, kernels.largest(v)

    def bend(self, best: Dense) -> tuple[float, float]:
        return self.over.bend(self.w, best.w - self.w)

    def move(self, best: Dense, eta: float, u: Vector) -> None:
        self.w = (1.0 - eta) * self.w + eta * best.w
        self.u = u
        self.cost = self.over.cost(self.w)

    def load(self, support: NDArray[np.int64], coefficients: Vector) -> None:
        self.w = np.zeros(self.w.size)
        self.w[support] = coefficients
        self.u = self._matrix.margins(support, coefficients)
        self.cost = self.over.cost(self.w)

    def snapshot(self) -> Vector:
        """Return w, which is never written to."""
        return self.w

    def coefficients(self, snapshot: Vector) -> tuple[NDArray[np.int64], Vector]:
        support = np.flatnonzero(snapshot)
        return support, snapshot[support]
