"""The signed columns in use, their weights, and the cached margins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost.matrices import Best, MarginMatrix, kernels

Vector = NDArray[np.float64]


class ActiveSet:
    """The combined hypothesis w = Σ weight · sign · e_id, with its margins u = A w.

    Weights are non-negative and sum to at most one; what is missing to one lies on w = 0, the
    point every run starts from. With `store` the signed columns are kept side by side, for the
    updates that price or re-weigh them.
    """

    def __init__(self, matrix: MarginMatrix, store: bool) -> None:
        self.matrix = matrix
        self.u = np.zeros(matrix.m)
        self.keys: list[tuple[int, int]] = []
        self.weights = np.zeros(16)
        self._slots: dict[tuple[int, int], int] = {}
        self._store = store
        self._H: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def columns(self) -> NDArray[Any]:
        """The signed columns, Fortran-ordered; only the first len(self) are in use."""
        assert self._H is not None
        return self._H

    def slot(self, best: Best) -> int:
        """Return the slot of the signed column of `best`, added with weight zero if it is new."""
        key = (best.id, best.sign)
        slot = self._slots.get(key)
        if slot is not None:
            return slot
        slot = self._slots[key] = len(self.keys)
        self.keys.append(key)
        if slot == self.weights.size:
            self.weights = np.concatenate([self.weights, np.zeros(slot)])
        if self._store:
            column = self.matrix.column(best.id)
            if self._H is None:
                self._H = np.empty((self.matrix.m, 16), dtype=column.dtype, order="F")
            elif slot == self._H.shape[1]:
                wider = np.empty((self.matrix.m, 2 * slot), dtype=self._H.dtype, order="F")
                wider[:, :slot] = self._H
                self._H = wider
            np.multiply(column, best.sign, out=self._H[:, slot], casting="same_kind")
        return slot

    def signed_column(self, best: Best) -> NDArray[Any]:
        """Return sign · column of `best`, in the storage type or as float64."""
        if self._store:
            slot = self.slot(best)  # first: it may move the columns
            return self.columns[:, slot]
        column = self.matrix.column(best.id)
        return column if best.sign > 0 else np.negative(column)

    def edges(self, d: Vector) -> Vector:
        """Return the edges of the signed columns in use."""
        return kernels.dots(self.columns, len(self), d)

    def set_weights(self, weights: Vector) -> None:
        """Replace all weights and recompute the margins."""
        self.weights[: len(self)] = weights
        self.u = kernels.combine(self.columns, len(self), self.weights)

    def snapshot(self) -> tuple[int, Vector]:
        """Return what `coefficients` needs to rebuild the present w later."""
        used = len(self)
        return used, self.weights[:used].copy()

    def coefficients(self, snapshot: tuple[int, Vector]) -> tuple[NDArray[np.int64], Vector]:
        """Return (support, signed coefficients) of a snapshot, by increasing column."""
        used, weights = snapshot
        total: dict[int, float] = {}
        for (j, sign), weight in zip(self.keys[:used], weights.tolist(), strict=True):
            total[j] = total.get(j, 0.0) + sign * weight
        support = sorted(j for j, c in total.items() if c != 0.0)
        return np.array(support, dtype=np.int64), np.array([total[j] for j in support])
