"""A pool of randomised trees, and the game that weights their votes.

Each tree is grown on a bootstrap sample, as in a random forest. The trees grown without an example
give its held-out vote. Held-out votes choose the fraction and calibrate the probabilities, so that
no games are solved for folds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.errors import InputError
from relaxboost.estimators.margin_columns import CutColumns
from relaxboost.game.domains import L2Ball
from relaxboost.matrices.dense import DenseMatrix

TREES_IN_POOL = 200
"""The number of trees in a pool. With 100 trees, the error on the data sets in docs/benchmarks.md
is about 0.2 % higher."""

MAX_DRAWN_COPIES = 1000
"""The maximum number of copies of an example that the bootstrap draws separately. More copies take
more time, but hardly change the share of copies in each sample."""

KINDS: tuple[tuple[type[DecisionTreeRegressor], int | None], ...] = (
    (DecisionTreeRegressor, 2),
    (DecisionTreeRegressor, 3),
    (DecisionTreeRegressor, 5),
    (DecisionTreeRegressor, None),
    (ExtraTreeRegressor, None),
)
"""The class and the maximum depth of each kind of tree. The kinds alternate in the pool. If the
depth is None, the tree grows until its leaves are pure."""


class RankedColumns(NamedTuple):
    """The columns that trees cut, in which a rank among the training values replaces each value.

    Ranks are interpolated linearly. Trees split ranks as they split values, and ranks fit the
    single precision in which scikit-learn grows trees.
    """

    columns: CutColumns
    values: tuple[Vector, ...]
    """The distinct training values of each column, in ascending order."""
    middle: Vector
    """The median rank of each column. It replaces missing values if no value was missing in
    training."""

    @classmethod
    def of(cls, columns: CutColumns, Z: Array) -> RankedColumns:
        """Return the rank columns for the training rows Z."""
        values = []
        middle = []
        for x in columns(Z).T:
            known, counts = np.unique(x[~np.isnan(x)], return_counts=True)
            # A column of a fold may have no values at all.
            values.append(known if known.size else np.zeros(1))
            half = np.searchsorted(np.cumsum(counts), counts.sum() / 2.0)
            middle.append(min(int(half), known.size - 1) if known.size else 0)
        return cls(columns, tuple(values), np.array(middle, dtype=np.float64))

    @property
    def source(self) -> Whole:
        """For each column, the index of the feature that it contains."""
        return self.columns.source

    def __call__(self, Z: Array) -> NDArray[Any]:
        """Return the rank columns for the rows of Z, in which categories are numbers."""
        pairs = zip(self.columns(Z).T, self.values, strict=True)
        # The values are halved, so that no difference of two values overflows.
        ranks = np.column_stack(
            [np.interp(x / 2.0, u / 2.0, np.arange(u.size), -1.0, u.size) for x, u in pairs]
        )
        return np.where(np.isnan(ranks), self.middle, ranks).astype(np.float32)


Columns = CutColumns | RankedColumns
"""The columns from which hypotheses predict: values for stumps, and ranks for trees."""


@dataclass(frozen=True)
class PooledTree:
    """A hypothesis that predicts with one tree of the pool."""

    tree: DecisionTreeRegressor

    def predict(self, E: NDArray[Any]) -> Vector:
        """Return the votes of the tree, in [−1, 1], for rows of ranks."""
        return np.clip(self.tree.predict(E, check_input=False), -1.0, 1.0)

    def importances(self) -> Vector:
        """Return the share of each column in the decrease in squared error."""
        return np.asarray(self.tree.feature_importances_)

    def __repr__(self) -> str:
        return f"tree of depth {self.tree.get_depth()}"


class TreePool(DenseMatrix):
    """The margin matrix of a pool of trees.

    Parameters
    ----------
    E : array of shape (m, columns)
        The columns that trees cut.
    signs, weights : arrays of shape (m,)
        The labels −1 and +1, and the weights of the examples.
    units : array of shape (m,)
        The unit of each example, as `Examples.units` returns them. The bootstrap draws whole units.
        In the unit −1, it draws single copies.
    copies : array of shape (m,)
        The number of copies of each example.
    seed : int
        The seed for the samples and trees.

    Raises
    ------
    InputError
        If all columns are constant.
    """

    def __init__(
        self,
        E: NDArray[Any],
        signs: Vector,
        weights: Vector,
        units: Whole,
        copies: Vector,
        seed: int = 0,
    ) -> None:
        if (E[0] == E).all():
            raise InputError(
                "X has only constant features, which no tree can split; add a feature that varies"
            )
        rng = np.random.default_rng(seed)
        size = int(units.max(initial=0)) + 1
        self._trees: list[PooledTree] = []
        margins = np.empty((signs.size, TREES_IN_POOL))
        single = np.flatnonzero(units < 0)
        # The copies of such an example are drawn separately, so that a tree may have been grown on
        # some of them only. The copies have one held-out vote, in which the weight of a tree is
        # multiplied by the share of the copies on which the tree was not grown.
        is_shared = single.size > 0
        self._unseen = np.empty(
            (signs.size, TREES_IN_POOL), dtype=np.float32 if is_shared else bool
        )
        numbers = np.clip(np.round(copies[single]), 1, MAX_DRAWN_COPIES).astype(np.int64)
        owner = np.repeat(np.arange(single.size), numbers)
        for j in range(TREES_IN_POOL):
            kind, depth = KINDS[j % len(KINDS)]
            drawn = np.bincount(rng.integers(0, size, size), minlength=size)
            times = drawn[units].astype(np.float64)
            self._unseen[:, j] = times == 0.0
            if is_shared:
                # In a large bootstrap sample the number of times a copy is drawn is Poisson(1).
                draws = rng.poisson(1.0, owner.size)
                times[single] = np.bincount(owner, draws) / numbers
                self._unseen[single, j] = np.bincount(owner, draws == 0) / numbers
            tree = kind(max_depth=depth, max_features="sqrt", random_state=int(rng.integers(2**31)))
            tree.fit(E, signs, sample_weight=weights * times, check_input=False)
            self._trees.append(PooledTree(tree))
            margins[:, j] = self._trees[-1].predict(E) * signs
        super().__init__(margins)
        self._signs = signs

    def hypothesis(self, j: int) -> PooledTree:
        """Return the tree of column j."""
        return self._trees[j]

    @property
    def over(self) -> L2Ball:
        """The domain of the weights: the l2 ball of radius 1/√n, which lies in the l1 ball.

        It spreads the weight over many trees. Unless the game value is 0, the optimal weights are
        unique.
        """
        return L2Ball(1.0 / math.sqrt(len(self._trees)))

    def unseen_votes(self, support: Whole, coefficients: Vector) -> Vector:
        """Return the vote of the trees grown without each example.

        Each vote is divided by the weight share of the voting trees, so that votes are comparable.
        If every tree was grown on an example, all trees vote for it.
        """
        votes = self._signs[:, None] * self.toarray()[:, support]
        unseen = self._unseen[:, support]
        unseen[~unseen.any(axis=1)] = 1
        size = np.abs(coefficients)
        share = unseen @ size / max(float(size.sum()), np.finfo(float).tiny)
        total: Vector = (votes * unseen) @ coefficients
        return total / np.where(share > 0.0, share, 1.0)
