"""The margin matrix of document pairs, for ranking."""

from __future__ import annotations

import numpy as np

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost.matrices.bulk import Bulk, DenseBulk
from relaxboost.matrices.dense import DenseMatrix


class PairMatrix(DenseMatrix):
    """The dense margin matrix of document pairs, for ranking.

    The entry of a pair (i, i') and hypothesis j is (H[i, j] − H[i', j]) / 2, where H[i, j] in [−1,
    1] is the prediction for document i. The arrays `better` and `worse` contain the indices of the
    better and the worse document of each pair. Interior point methods use products with H, because
    there are fewer documents than pairs.
    """

    def __init__(self, H: Array, better: Whole, worse: Whole) -> None:
        A = (H[better] - H[worse]) / 2
        whole = A.astype(np.int8)
        super().__init__(whole if (whole == A).all() else A)
        self._documents = H / 2, better, worse

    def bulk(self) -> Bulk:
        return _PairBulk(self._A, *self._documents)


class _PairBulk(DenseBulk):
    def __init__(self, A: Array, H: Array, better: Whole, worse: Whole) -> None:
        super().__init__(A)
        self._H = H
        self._better = better
        self._worse = worse

    def edges(self, d: Vector) -> Vector:
        N = len(self._H)
        return (np.bincount(self._better, d, N) - np.bincount(self._worse, d, N)) @ self._H

    def edges_of(self, D: Array) -> Array:
        return Bulk.edges_of(self, D)

    def margins(self, w: Vector) -> Vector:
        votes = self._H @ w
        return votes[self._better] - votes[self._worse]

    def cross(self, weights: Vector, out: Array) -> None:
        # Aᵀ diag(weights) A = Hᵀ L H / 4, with the Laplacian L of the pairs as a graph.
        from scipy import sparse

        H = self._H
        N = len(H)
        pairs = sparse.csr_array((weights, (self._better, self._worse)), (N, N))
        degrees = np.bincount(self._better, weights, N) + np.bincount(self._worse, weights, N)
        out[:] = H.T @ (degrees[:, None] * H - (pairs + pairs.T) @ H)
