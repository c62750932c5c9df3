"""Regression trees, grown by scikit-learn."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count
from relaxboost.functional.learners.base import (
    Hypothesis,
    Pool,
    WeakLearner,
    check_width,
    features,
    training,
)
from relaxboost.functional.measure import Empirical


@dataclass(frozen=True, eq=False)
class Tree(Hypothesis):
    """A binary tree; a row goes left where its feature, as a float32, is at most the threshold.

    Attributes
    ----------
    grown : sklearn.tree._tree.Tree
        The nodes, with values for a target divided by `scale`.
    scale : float
        A power of two.
    shape : tuple of int
        Of an output: () or (K,).
    width : int
        The number of features d of the rows it takes.
    """

    grown: Any
    scale: float
    shape: tuple[int, ...]
    width: int

    @property
    def depth(self) -> int:
        """How many splits there are at most on the way to a leaf."""
        return int(self.grown.max_depth)

    def __call__(self, X: Array) -> Array:
        """Return the outputs for rows X of shape (N, d), of shape (N,) or (N, K)."""
        return self.at(_single(features(X), self.width))

    def at(self, X: NDArray[np.float32]) -> Array:
        """Return the outputs for rows in single precision."""
        return np.asarray(self.grown.predict(X).reshape(-1, *self.shape) * self.scale)


def _single(X: Array, width: int) -> NDArray[np.float32]:
    """Return rows as scikit-learn's trees see them, in single precision."""
    check_width(X, width, "the tree was")
    with np.errstate(over="ignore"):
        single = X.astype(np.float32)
    bad = np.argwhere(~np.isfinite(single))
    if bad.size:
        row, column = bad[0]
        raise InputError(
            f"trees take features below 3.4e38 in size; row {row}, column {column} has "
            f"{X[row, column]:g}; rescale it"
        )
    return single


class Trees(WeakLearner):
    """Least-squares regression trees, grown greedily; of one output or several.

    The leaves hold the weighted means of the target, so that h is the nearest function on its own
    leaves; which leaves is a matter of greed, and so no edge is promised. Each target is scaled to
    a size of one first, since scikit-learn does not split nodes of a variance below 2e-16.

    Parameters
    ----------
    max_depth : int, optional
        None for no limit.
    max_leaf_nodes : int, optional
        >= 2; the best splits first.
    min_samples_leaf : int
        Rows of positive weight in a leaf at least.

    References
    ----------
    scikit-learn, `DecisionTreeRegressor`, which rounds features to single precision.
    """

    name = "trees"

    def __init__(
        self,
        max_depth: int | None = 3,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
    ) -> None:
        self.max_depth = None if max_depth is None else count("max_depth", max_depth)
        self.max_leaf_nodes = (
            None if max_leaf_nodes is None else count("max_leaf_nodes", max_leaf_nodes)
        )
        if self.max_leaf_nodes == 1:
            raise InputError("max_leaf_nodes must be at least 2, got 1; None sets no limit")
        self.min_samples_leaf = count("min_samples_leaf", min_samples_leaf)

    def prepare(
        self, X: Any, measure: Empirical, outputs: int | None, projection: str, rng: Generator
    ) -> Pool:
        """Return the pool; see `WeakLearner.prepare`."""
        X = training(X, measure)
        return _Grower(self, _single(X, X.shape[1]), measure, rng)


class _Grower(Pool):
    """Grows a tree for each target."""

    def __init__(
        self,
        learner: Trees,
        X: NDArray[np.float32],
        measure: Empirical,
        rng: Generator,
    ) -> None:
        self._learner, self._X, self._rng = learner, X, rng
        # Rows without weight would let leaves have no mean.
        self._held = None if (measure.p > 0.0).all() else np.flatnonzero(measure.p > 0.0)
        self._rows = X if self._held is None else X[self._held]
        p = measure.p if self._held is None else measure.p[self._held]
        self._weights = None if measure.uniform else p / p.max()

    def nearest(self, target: Array) -> tuple[Hypothesis, Array]:
        """Return the tree grown for a target."""
        from sklearn.tree import DecisionTreeRegressor

        held = target if self._held is None else target[self._held]
        # A power of two, by which numbers are scaled exactly.
        scale = 2.0 ** (math.frexp(float(np.abs(held).max()))[1] - 1)
        grown = DecisionTreeRegressor(
            max_depth=self._learner.max_depth,
            max_leaf_nodes=self._learner.max_leaf_nodes,
            min_samples_leaf=self._learner.min_samples_leaf,
            random_state=int(self._rng.integers(2**31)),
        ).fit(self._rows, held / scale, sample_weight=self._weights, check_input=False)
        tree = Tree(grown.tree_, scale, target.shape[1:], self._X.shape[1])
        return tree, tree.at(self._X)
