"""The weights w of the hypotheses in a run, with their margins u = A w.

A is the margin matrix, with a row for each example and a column for each hypothesis. The edge of a
column for a distribution d over the examples is <column, d>. An atom is a vertex of the domain of
w. For the unit l1 ball the atoms are the signed unit vectors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost.game.domains import AtomicSet, Dense, Domain
from relaxboost.matrices import Best, MarginMatrix, kernels


class CombinedHypothesis(ABC):
    """The weights w of the hypotheses, with their margins and their penalty g*(w)."""

    over: Domain
    """The domain of w, such as an l1 ball or an l2 ball."""
    u: Vector
    """The margins u = A w."""
    cost: float = 0.0
    """The penalty g*(w), which is zero if the domain only restricts w."""
    product: tuple[Vector | None, Vector | None, float] = None, None, 0.0
    # A round needs this product more than once.
    """The distribution d, the margins u and the product <d, u> from the last call of `gap`."""

    @property
    @abstractmethod
    def used(self) -> int:
        """The number of hypotheses with nonzero weight."""

    @abstractmethod
    def snapshot(self) -> Any:
        """Return the current weights in a form that `coefficients` can expand."""

    @abstractmethod
    def coefficients(self, snapshot: Any) -> tuple[NDArray[np.int64], Vector]:
        """Return the weights of a snapshot as two arrays.

        The first array has the indices of the columns with nonzero weight, in increasing order. The
        second array has their signed weights.
        """

    def gap(self, d: Vector, best: Best | Dense) -> float:
        """Return g(Aᵀd) + g*(w) − <d, A w>, the duality gap of w for a fixed distribution d.

        g is the conjugate of g*. `best` is the weak learner's hypothesis for d: the atom or the
        dense weights that maximise <Aᵀd, w> − g*(w) over w.
        """
        # The state of a round and the booster's own test both need this product.
        if self.product[0] is not d or self.product[1] is not self.u:
            self.product = d, self.u, kernels.dot(d, self.u)
        return self.over.value(best.edge) + self.cost - self.product[2]


class MovingHypothesis(CombinedHypothesis):
    """Weights that a run moves towards the hypotheses of the weak learner."""

    @abstractmethod
    def direction(self, best: Any) -> tuple[Vector, float]:
        """Return the margin change v of a full step towards `best`, and the largest |v_i|.

        `best` is an atom or dense weights. v is the margins of `best` minus the margins of w.
        """

    @abstractmethod
    def bend(self, best: Any) -> tuple[float, float]:
        """Return the coefficients (a, b) of the penalty change along a step.

        A step of length η towards `best` changes the penalty g*(w) by a η + b η²/2. At η = 1 it
        reaches `best`.
        """

    @abstractmethod
    def move(self, best: Any, eta: float, u: Vector) -> None:
        """Move the weights w by a step of length η towards the hypothesis `best`.

        The new weights are (1 − η) w + η b, where b are the weights of `best` and η is `eta`. `u`
        contains their margins.
        """

    @abstractmethod
    def load(self, support: NDArray[np.int64], coefficients: Vector) -> None:
        """Replace the weights by feasible ones.

        `support` contains the indices of the columns with nonzero weight, and `coefficients` their
        weights.
        """


class ActiveSet(MovingHypothesis):
    """Weights w on signed columns, as a sum Σ weight · sign · e_j over pairs (j, sign).

    e_j is the unit vector of column j, and every weight is at least 0. The slot of a pair, its
    position in arrays such as `weights`, does not change during a run.

    The weights add up to at most the size of the atoms, such as the radius of an l1 ball. The point
    w = 0 has the rest of the weight. A run starts from w = 0 if the domain contains it, and
    otherwise from the best atom for the distribution `center`.

    Parameters
    ----------
    matrix : MarginMatrix
        The margin matrix A.
    over : AtomicSet
        The domain of w, a set with atoms such as an l1 ball.
    center : array of shape (m,)
        The distribution that selects the first atom.
    """

    over: AtomicSet

    def __init__(self, matrix: MarginMatrix, over: AtomicSet, center: Vector) -> None:
        self.matrix = matrix
        self.over = over
        self.u = np.zeros(matrix.m)
        self.keys: list[tuple[int, int]] = []
        """The pairs (j, sign) of the columns used so far. The pair (0, 0) is the point w = 0."""
        self.weights = np.zeros(0)
        self._numbers = np.zeros(0, dtype=np.int64)
        self._signs = np.zeros(0)
        self._slots: dict[tuple[int, int], int] = {}
        # The first `_made` signed columns are stored as an array. `columns` adds the others.
        self._H: NDArray[Any] | None = None
        self._made = 0
        self.load(*over.start(matrix, center))

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def used(self) -> int:
        # The pair (0, 0) stands for a point of the domain, but no column of A.
        zero = self._slots.get((0, 0))
        count = int(np.count_nonzero(self.weights))
        return count if zero is None else count - int(self.weights[zero] > 0.0)

    @property
    def columns(self) -> NDArray[Any]:
        """The signed columns of A in the order of `keys`, as a Fortran-ordered array.

        The array may be wider than needed. Only the first len(self) columns have meaningful
        entries.
        """
        used = len(self)
        for slot in range(self._made, used):
            column = self.column(slot)
            if self._H is None or slot == self._H.shape[1]:
                # The room doubles, so that each column is copied a few times at most.
                size = max(16, 1 << (used - 1).bit_length())
                wider = np.empty((self.matrix.m, size), dtype=column.dtype, order="F")
                if self._H is not None:
                    wider[:, :slot] = self._H
                self._H = wider
            np.copyto(self._H[:, slot], column, casting="same_kind")
        self._made = used
        assert self._H is not None
        return self._H

    def slot(self, best: Best) -> int:
        """Return the slot of the signed column `best`, and add one with the weight 0 if needed."""
        # A sign of zero means w = 0, whatever column the weak learner names with it.
        key = (best.id, best.sign) if best.sign else (0, 0)
        slot = self._slots.get(key)
        if slot is not None:
            return slot
        slot = len(self.keys)
        self._slots[key] = slot
        self.keys.append(key)
        self.weights = np.append(self.weights, 0.0)
        self._numbers = np.append(self._numbers, key[0])
        self._signs = np.append(self._signs, float(key[1]))
        return slot

    def load(self, support: NDArray[np.int64], coefficients: Vector) -> None:
        # All pairs and slots stay, because the rows of a restricted program refer to them.
        self.weights[:] = 0.0
        for j, c in zip(support.tolist(), coefficients.tolist(), strict=True):
            slot = self.slot(Best(j, 1 if c > 0 else -1, abs(c), 0.0))
            self.weights[slot] = abs(c)
        self.u = self.matrix.margins(support, coefficients)

    def column(self, slot: int) -> NDArray[Any]:
        """Return the signed column in a slot."""
        j, sign = self.keys[slot]
        return sign * self.matrix.column(j)

    def between(self, slot: int, other: int | None) -> tuple[Vector, float]:
        """Return the margin change v of a step between two signed columns, and the largest |v_i|.

        The step moves weight from the slot `other`, or from w = 0 if `other` is None, to `slot`.
        """
        j, sign = self.keys[slot]
        i, turn = (j, 0) if other is None else self.keys[other]
        # The kernel writes v and finds its norm in one loop.
        v = np.empty(self.u.size)
        column = self.matrix.column(j)
        return v, kernels.apart(column, float(sign), self.matrix.column(i), float(turn), v)

    def direction(self, best: Best) -> tuple[Vector, float]:
        v = np.empty(self.u.size)
        column = self.matrix.column(best.id)
        return v, kernels.apart(column, best.sign * self.over.scale, self.u, 1.0, v)

    def bend(self, best: Best) -> tuple[float, float]:
        # A domain with atoms puts no penalty on w.
        return 0.0, 0.0

    def move(self, best: Best, eta: float, u: Vector) -> None:
        # A new slot replaces the array of weights, so the slot is found first.
        slot = self.slot(best)
        self.weights *= 1.0 - eta
        self.weights[slot] += eta * self.over.scale
        self.u = u

    def exchange(self, best: Best, other: int | None, eta: float, u: Vector) -> None:
        """Move the weight `eta` to the signed column of `best`.

        The weight comes from the slot `other`, or from w = 0 if `other` is None. `u` contains the
        margins of the new weights.
        """
        slot = self.slot(best)
        self.weights[slot] += eta
        # The weight of w = 0 is not stored. It is the scale minus the weights of all slots.
        if other is not None:
            self.weights[other] -= eta
        self.u = u

    def edges(self, d: Vector) -> Vector:
        """Return the edge of each signed column for the distribution d, in the order of `keys`."""
        return kernels.dots(self.columns, len(self), d)

    def priced(self, d: Vector) -> tuple[Best, Vector | None]:
        """Return the best atom for a distribution d, and the edges in the order of `keys`.

        The edges are None if the search does not compute them.
        """
        best, edges = self.over.priced(self.matrix, d, self._numbers)
        return best, None if edges is None else self._signs * edges

    def best(self, edges: Vector) -> Best:
        """Return the used atom with the largest edge. `edges` is in the order of `keys`."""
        # Over a ball the best atom may be the negative of a slot's column.
        slot, turn = self.over.pick(edges)
        j, sign = self.keys[slot]
        return Best(j, sign * turn, turn * float(edges[slot]), 0.0)

    def set_weights(self, weights: Vector) -> None:
        """Replace the weights of all signed columns, and recompute the margins.

        The new weights, in the order of `keys`, are first moved to nearby feasible weights.
        """
        self.weights = self.over.repair(weights)
        self.u = kernels.combine(self.columns, len(self), self.weights)

    def snapshot(self) -> tuple[int, Vector]:
        used = len(self)
        return used, self.weights[:used].copy()

    def coefficients(self, snapshot: tuple[int, Vector]) -> tuple[NDArray[np.int64], Vector]:
        used, weights = snapshot
        # A column and its negative may both have weight, and count as one coefficient.
        total: dict[int, float] = {}
        for (j, sign), weight in zip(self.keys[:used], weights.tolist(), strict=True):
            total[j] = total.get(j, 0.0) + sign * weight
        support = sorted(j for j, c in total.items() if c != 0.0)
        return np.array(support, dtype=np.int64), np.array([total[j] for j in support])


@dataclass(eq=False)
class FullWeights(CombinedHypothesis):
    """Weights on a fixed list of columns, for methods that recompute all weights in each round."""

    over: Domain
    columns: NDArray[np.int64]
    """The indices of the columns that can have weight, in increasing order."""
    w: Vector
    """The signed weight of each column in `columns`."""
    u: Vector

    @property
    def used(self) -> int:
        return int(np.count_nonzero(self.w))

    def snapshot(self) -> tuple[NDArray[np.int64], Vector]:
        return self.columns, self.w

    def coefficients(
        self, snapshot: tuple[NDArray[np.int64], Vector]
    ) -> tuple[NDArray[np.int64], Vector]:
        columns, w = snapshot
        used = np.flatnonzero(w)
        return columns[used], w[used]
