"""The combined hypothesis w with its cached margins: as atoms in use, or as a dense vector."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.compiled import njit
from relaxboost.game.domains import AtomicSet, Dense, Domain
from relaxboost.matrices import Best, MarginMatrix, kernels


@njit()
def worst_in_use(
    weights: Vector, edges: Vector, scale: float, holds_zero: bool
) -> tuple[int, float, float]:
    """Return the slot with the least edge of those with weight, its edge, and its weight.

    The slot is -1 for w = 0, which has the weight up to `scale` that slots do not have.
    """
    slot, total = -1, 0.0
    for place in range(weights.shape[0]):
        total += weights[place]
        if weights[place] > 0.0 and (slot < 0 or edges[place] < edges[slot]):
            slot = place
    unused = scale - total
    if slot < 0 or (holds_zero and unused > 1e-12 * scale and edges[slot] >= 0.0):
        return -1, 0.0, unused
    return slot, edges[slot], weights[slot]


class CombinedHypothesis(ABC):
    """The combined hypothesis w of a run, what it costs, and its margins u = A w."""

    over: Domain
    u: Vector
    cost: float = 0.0
    """g*(w): zero on sets, positive for penalties."""
    product: tuple[Vector | None, Vector | None, float] = None, None, 0.0
    """d, u and <d, u>, for those that were asked for last."""

    @property
    @abstractmethod
    def used(self) -> int:
        """Number of columns with weight."""

    @abstractmethod
    def snapshot(self) -> Any:
        """Return what `coefficients` needs to rebuild the present w later."""

    @abstractmethod
    def coefficients(self, snapshot: Any) -> tuple[NDArray[np.int64], Vector]:
        """Return (support, signed coefficients) of a snapshot, by increasing column."""

    def gap(self, d: Vector, best: Best | Dense) -> float:
        """Return g(Aᵀd) + g*(w) − <d, Aw> >= 0, which for sets is <Aᵀd, best − w>."""
        if self.product[0] is not d or self.product[1] is not self.u:  # a round asks twice
            self.product = d, self.u, kernels.dot(d, self.u)
        return self.over.value(best.edge) + self.cost - self.product[2]


class MovingHypothesis(CombinedHypothesis):
    """One that steps move towards an answer of the weak learner."""

    @abstractmethod
    def direction(self, best: Any) -> tuple[Vector, float]:
        """Return v, the margins of the answer `best` less those of w, and ‖v‖_inf."""

    @abstractmethod
    def bend(self, best: Any) -> tuple[float, float]:
        """Return (a, b): η of the way to `best`, g* is `cost` + aη + bη²/2."""

    @abstractmethod
    def move(self, best: Any, eta: float, u: Vector) -> None:
        """Go η of the way to `best`, where the margins are `u`."""

    @abstractmethod
    def load(self, support: NDArray[np.int64], coefficients: Vector) -> None:
        """Become this w of the domain."""


class ActiveSet(MovingHypothesis):
    """The combined hypothesis w = Σ weight · sign · e_id.

    Weights are non-negative and sum to at most the size of the atoms; where w = 0 is in the
    domain, what is missing to it lies there. A run starts from w = 0, else from the atom that
    is best at the center. The signed columns are kept side by side once an update prices or
    re-weighs them.
    """

    over: AtomicSet

    def __init__(self, matrix: MarginMatrix, over: AtomicSet, center: Vector) -> None:
        self.matrix = matrix
        self.over = over
        self.u = np.zeros(matrix.m)
        self.keys: list[tuple[int, int]] = []
        self.weights = np.zeros(16)
        self._numbers, self._signs = np.zeros(16, dtype=np.int64), np.zeros(16)
        self._slots: dict[tuple[int, int], int] = {}
        self._H: NDArray[Any] | None = None
        self._made = 0  # how many columns stand in it
        self.load(*over.start(matrix, center))

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def used(self) -> int:
        """Number of atoms with weight, but w = 0."""
        zero = self._slots.get((0, 0))
        count = int(np.count_nonzero(self.weights))  # beyond len(self) are none
        return count if zero is None else count - int(self.weights[zero] > 0.0)

    @property
    def columns(self) -> NDArray[Any]:
        """The signed columns, Fortran-ordered; only the first len(self) are in use."""
        used = len(self)
        for slot in range(self._made, used):
            j, sign = self.keys[slot]
            column = self.matrix.column(j)
            if self._H is None or slot == self._H.shape[1]:
                size = max(16, 1 << (used - 1).bit_length())
                wider = np.empty((self.matrix.m, size), dtype=column.dtype, order="F")
                if self._H is not None:
                    wider[:, :slot] = self._H
                self._H = wider
            np.multiply(column, sign, out=self._H[:, slot], casting="same_kind")
        self._made = used
        assert self._H is not None
        return self._H

    def slot(self, best: Best) -> int:
        """Return the slot of the signed column of `best`, added with weight zero if it is new."""
        key = (best.id, best.sign) if best.sign else (0, 0)  # w = 0, a column of zeros
        slot = self._slots.get(key)
        if slot is not None:
            return slot
        slot = self._slots[key] = len(self.keys)
        self.keys.append(key)
        if slot == self.weights.size:
            self.weights = np.concatenate([self.weights, np.zeros(slot)])
            self._numbers = np.concatenate([self._numbers, np.zeros(slot, dtype=np.int64)])
            self._signs = np.concatenate([self._signs, np.zeros(slot)])
        self._numbers[slot], self._signs[slot] = key
        return slot

    def load(self, support: NDArray[np.int64], coefficients: Vector) -> None:
        """Become this w; columns that are known stay, without weight if it has none for them."""
        self.weights[:] = 0.0
        for j, c in zip(support.tolist(), coefficients.tolist(), strict=True):
            slot = self.slot(Best(j, 1 if c > 0 else -1, abs(c), 0.0))
            self.weights[slot] = abs(c)
        self.u = self.matrix.margins(support, coefficients)

    def column(self, slot: int) -> NDArray[Any]:
        """Return the signed column of a slot."""
        if self._H is not None and slot < self._made:
            return self._H[:, slot]
        j, sign = self.keys[slot]
        return sign * self.matrix.column(j)

    def between(self, slot: int, other: int | None) -> tuple[Vector, float]:
        """Return v, the signed column of a slot less that of another or nothing, and ‖v‖_inf."""
        j, sign = self.keys[slot]
        i, turn = (j, 0) if other is None else self.keys[other]
        v, column, worst = np.empty(self.u.size), self.matrix.column(j), self.matrix.column(i)
        return v, kernels.apart(column, float(sign), worst, float(turn), v)

    def direction(self, best: Best) -> tuple[Vector, float]:
        v, column = np.empty(self.u.size), self.matrix.column(best.id)
        return v, kernels.apart(column, best.sign * self.over.scale, self.u, 1.0, v)

    def bend(self, best: Best) -> tuple[float, float]:
        """Return zeros: g* is zero on the set."""
        return 0.0, 0.0

    def move(self, best: Best, eta: float, u: Vector) -> None:
        """Shrink all weights by 1 − η, and give the atom what that frees."""
        slot = self.slot(best)  # first: room for a new one replaces the weights
        self.weights *= 1.0 - eta
        self.weights[slot] += eta * self.over.scale
        self.u = u

    def exchange(self, best: Best, other: int | None, eta: float, u: Vector) -> None:
        """Move weight to an atom from that of another slot, or from w = 0."""
        slot = self.slot(best)
        self.weights[slot] += eta
        if other is not None:
            self.weights[other] -= eta
        self.u = u

    def edges(self, d: Vector) -> Vector:
        """Return the edges of the signed columns in use."""
        return kernels.dots(self.columns, len(self), d)

    def priced(self, d: Vector) -> tuple[Best, Vector | None]:
        """Return the best atom of all, and the edges of the signed columns in use, where the pass
        that found it tells them."""
        used = len(self)
        best, edges = self.over.priced(self.matrix, d, self._numbers[:used])
        return best, None if edges is None else self._signs[:used] * edges

    def best(self, edges: Vector) -> Best:
        """Return the best atom over the columns in use, which have these edges."""
        slot, turn = self.over.pick(edges)
        j, sign = self.keys[slot]
        return Best(j, sign * turn, turn * float(edges[slot]), 0.0)

    def set_weights(self, weights: Vector) -> None:
        """Replace all weights by the nearest the domain allows, and recompute the margins."""
        self.weights[: len(self)] = self.over.repair(weights)
        self.u = kernels.combine(self.columns, len(self), self.weights)

    def snapshot(self) -> tuple[int, Vector]:
        used = len(self)
        return used, self.weights[:used].copy()

    def coefficients(self, snapshot: tuple[int, Vector]) -> tuple[NDArray[np.int64], Vector]:
        used, weights = snapshot
        total: dict[int, float] = {}
        for (j, sign), weight in zip(self.keys[:used], weights.tolist(), strict=True):
            total[j] = total.get(j, 0.0) + sign * weight
        support = sorted(j for j, c in total.items() if c != 0.0)
        return np.array(support, dtype=np.int64), np.array([total[j] for j in support])


class FullWeights(CombinedHypothesis):
    """A combined hypothesis with a weight on each of some columns, as interior points have.

    `columns` has their numbers, increasing; `margins` is A w.
    """

    def __init__(
        self, over: AtomicSet, columns: NDArray[np.int64], w: Vector, margins: Vector
    ) -> None:
        self.over, self.columns, self.w, self.u = over, columns, w, margins

    @property
    def used(self) -> int:
        return int(np.count_nonzero(self.w))

    def snapshot(self) -> tuple[NDArray[np.int64], Vector]:
        """Return (columns, w), which are never written to."""
        return self.columns, self.w

    def coefficients(
        self, snapshot: tuple[NDArray[np.int64], Vector]
    ) -> tuple[NDArray[np.int64], Vector]:
        columns, w = snapshot
        used = np.flatnonzero(w)
        return columns[used], w[used]
