"""Regression trees, grown by LightGBM."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError, install
from relaxboost._core.parameters import count, natural
from relaxboost.functional.learners import nodes
from relaxboost.functional.learners.base import (
    Hypothesis,
    Pool,
    WeakLearner,
    check_rows,
    check_width,
    dense,
    numbers,
)
from relaxboost.functional.losses.leaves import means as leaf_means
from relaxboost.functional.losses.leaves import sums
from relaxboost.functional.measure import Empirical

MAX_LIGHTGBM_LEAVES = 131_072
"""The maximum number of leaves that LightGBM accepts."""
NEGLIGIBLE_LEARNING_RATE = 2.0**-120
"""The learning rate that is passed to LightGBM, which treats numbers below 1e-35 as 0. Its own
predictions therefore stay 0, and each tree is fitted to the target instead of a remainder."""


@dataclass(frozen=True, eq=False)
class Tree(Hypothesis):
    """A binary regression tree, or one tree for each output.

    Attributes
    ----------
    nodes : tuple of Nodes
        The nodes of the tree for each output.
    leaves : array of shape (leaves,) or (leaves, K)
        The leaf values, with a column for each output. If another output has more leaves, the last
        entries of a column are unused.
    width : int
        The number d of features.
    """

    nodes: tuple[nodes.Nodes, ...]
    leaves: Array
    width: int

    @property
    def depth(self) -> int:
        """The maximum number of splits between a root and a leaf."""
        return max(tree.depth for tree in self.nodes)

    def __call__(self, X: Any) -> Array:
        total = np.zeros((len(X), *self.leaves.shape[1:]))
        Tree.combined(np.ones(1), [self], X, total)
        return total

    def gains(self) -> tuple[Whole, Array]:
        splits = np.concatenate([tree.table[:, :2] for tree in self.nodes])
        return splits[:, 0].astype(np.int64), splits[:, 1]

    def with_leaves(self, values: Array) -> Tree:
        return replace(self, leaves=values)

    def described(self) -> dict[str, Any]:
        (tree,) = self.nodes
        return nodes.described(tree) | {"leaves": self.leaves.tolist()}

    @classmethod
    def restored(cls, given: dict[str, Any], width: int) -> Tree:
        """Rebuild the tree from a dictionary that `described` returned, for `width` features."""
        tree = nodes.restored(given, width)
        return cls((tree,), numbers("leaves", given["leaves"], tree.leaves), width)

    @classmethod
    def combined(
        cls, weights: Array, hypotheses: Sequence[Hypothesis], X: Any, total: Array
    ) -> None:
        X = rows_of(X, hypotheses[0].width)  # type: ignore[attr-defined]
        columns = total.reshape(len(total), -1)
        # The compiled loop needs contiguous sums, one output at a time.
        for k, (trees, values) in enumerate(_trees_and_values(weights, hypotheses)):
            out = np.ascontiguousarray(columns[:, k])
            nodes.add(X, trees, values, out)
            columns[:, k] = out

    @classmethod
    def contributions(cls, weights: Array, hypotheses: Sequence[Hypothesis], X: Any) -> Array:
        # LightGBM computes the values, with expectations over the training rows.
        first: Any = hypotheses[0]
        X = rows_of(X, first.width)
        found = np.zeros((len(X), X.shape[1] + 1, len(first.nodes)))
        for k, (trees, values) in enumerate(_trees_and_values(weights, hypotheses)):
            # The value of a tree of one leaf belongs to the last column, and not to a feature.
            split = [i for i, tree in enumerate(trees) if tree.leaves > 1]
            if split:
                grown = [trees[i] for i in split], [values[i] for i in split]
                model = lightgbm().Booster(model_str=nodes.model_text(X.shape[1], *grown))
                found[:, :, k] = model.predict(X, pred_contrib=True)
            found[:, -1, k] += sum(v[0] for v in values if len(v) == 1)
        return found if first.leaves.ndim == 2 else found[..., 0]


def _trees_and_values(
    weights: Array, hypotheses: Sequence[Any]
) -> list[tuple[list[nodes.Nodes], list[Array]]]:
    outputs = []
    for k in range(len(hypotheses[0].nodes)):
        trees = [h.nodes[k] for h in hypotheses]
        values = [
            w * h.leaves.reshape(len(h.leaves), -1)[: tree.leaves, k]
            for w, h, tree in zip(weights, hypotheses, trees, strict=True)
        ]
        outputs.append((trees, values))
    return outputs


def rows_of(X: Any, width: int | None = None) -> Array:
    """Return the rows X as a contiguous array of doubles, finite or nan.

    If `width` is given, the rows must have this number of features.
    """
    X = np.ascontiguousarray(dense(X))
    if width is not None:
        check_width(X, width, "the tree was")
    elif X.ndim != 2 or X.shape[1] == 0:
        raise InputError(f"X must have shape (N, d) with d >= 1, got {X.shape}")
    bad = np.argwhere(np.isinf(X))
    if bad.size:
        row, column = bad[0]
        raise InputError(
            f"features must be finite, or nan if they are missing; row {row}, column {column} "
            f"has {X[row, column]}"
        )
    return X


@dataclass(eq=False, repr=False)
class Trees(WeakLearner):
    """Least-squares regression trees, grown greedily by LightGBM (the extra ``lightgbm``).

    Leaf values are weighted means of the target. The greedy search gives no guarantee on the edges.
    Each output of the loss has its own tree. At each split, missing values go to the side where
    they fit better in training.

    Parameters
    ----------
    max_depth : int, optional
        The maximum depth, or None for no limit.
    max_leaf_nodes : int, optional
        The maximum number of leaves, from 2 to 131 072. The default is 31, or 2^max_depth if that
        is less.
    min_samples_leaf : int
        The minimum number of rows in a leaf; approximate if the rows have weights.
    bins : int
        The maximum number of bins per feature, >= 2.
    subsample : float
        The probability, in (0, 1], that a row is used to choose the splits of a tree; the target of
        the other rows is set to 0. Leaf values are computed from all rows.
    categorical : sequence of int
        The indices of the categorical columns. Categories are integers >= 0, and unknown ones count
        as missing.
    monotone : mapping of int to int
        Maps a column index to 1 if f must not decrease in the column, and to −1 if f must not
        increase. Leaf values that violate a constraint are changed, even those from `Refitted`.
        This may increase the risk.
    n_jobs : int, optional
        The number of threads that grow a tree, or -1 for all processors. None means one thread,
        because OpenMP threads wait for each other on a busy machine. Splits do not depend on
        `n_jobs`.

    Raises
    ------
    InputError
        If a parameter is out of range. In `prepare`, if X lacks a column that a parameter names, or
        if LightGBM is not installed.

    References
    ----------
    Ke et al. (2017), LightGBM: a highly efficient gradient boosting decision tree.
    """

    name = "trees"
    leafy = True
    missing = True

    max_depth: int | None = 5
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 30
    bins: int = 255
    subsample: float = 0.5
    categorical: Sequence[int] = ()
    monotone: Mapping[int, int] = field(default_factory=dict)
    n_jobs: int | None = None

    def __post_init__(self) -> None:
        # These parameters have special values besides counts.
        open_: dict[str, tuple[Any, ...]] = {"n_jobs": (None, -1)}
        open_ |= {"max_depth": (None,), "max_leaf_nodes": (None,)}
        for name in ("min_samples_leaf", "bins", *open_):
            if getattr(self, name) not in open_.get(name, ()):
                setattr(self, name, count(name, getattr(self, name)))
        for name, sound, rule in (
            ("bins", self.bins >= 2, "be at least 2"),
            ("max_leaf_nodes", self.max_leaf_nodes != 1, "be at least 2"),
            (
                "max_leaf_nodes",
                (self.max_leaf_nodes or 2) <= MAX_LIGHTGBM_LEAVES,
                f"be at most {MAX_LIGHTGBM_LEAVES}, LightGBM's limit",
            ),
            ("subsample", 0.0 < self.subsample <= 1.0, "lie in (0, 1]"),
        ):
            if not sound:
                raise InputError(f"{name} must {rule}, got {getattr(self, name)!r}")
        self.categorical = tuple(natural("categorical", c) for c in self.categorical)
        for column, sign in self.monotone.items():
            natural("monotone", column)
            if sign not in (-1, 0, 1):
                raise InputError(f"monotone must be 1, 0 or −1 for each column, got {sign!r}")
            if sign and column in self.categorical:  # LightGBM would end the process.
                raise InputError(
                    f"monotone contains column {column}, which is categorical and has no order; "
                    "leave the column out of monotone or of categorical"
                )

    def prepare(
        self, X: Any, measure: Empirical, outputs: int | None, projection: str, rng: Generator
    ) -> Pool:
        X = rows_of(X)
        check_rows(X, measure)
        for name, columns in (("categorical", self.categorical), ("monotone", self.monotone)):
            wrong = [column for column in columns if column >= X.shape[1]]
            if wrong:
                raise InputError(
                    f"{name} contains column {wrong[0]}, but X has no such column; the last "
                    f"column is {X.shape[1] - 1}"
                )
        return _Grower(self, X, measure, outputs or 1, rng)

    def options(self, width: int) -> dict[str, Any]:
        """Return LightGBM's parameters for rows of `width` features."""
        leaves = self.max_leaf_nodes or min(31, 2 ** min(self.max_depth or 5, 16))
        signs = [-self.monotone.get(j, 0) for j in range(width)]
        processors = os.cpu_count() or 1
        threads = processors if self.n_jobs == -1 else self.n_jobs or 1
        return {
            "objective": "regression",
            "learning_rate": NEGLIGIBLE_LEARNING_RATE,
            "metric": "none",
            "num_leaves": leaves,
            "max_depth": self.max_depth or -1,
            # LightGBM counts rows by their weights, so that a row of small weight would not count.
            "min_data_in_leaf": self.min_samples_leaf if self.min_samples_leaf > 1 else 0,
            "feature_pre_filter": False,
            "max_bin": self.bins,
            "min_data_in_bin": 1,
            "cat_smooth": 10.0,
            # A tree approximates the gradient, which a step subtracts from f.
            "monotone_constraints": signs if any(signs) else None,
            # If OpenMP cannot start so many threads, it ends the process.
            "num_threads": min(threads, processors),
            "force_col_wise": True,
            "deterministic": True,
            "verbosity": -1,
        }


class _Grower(Pool):
    def __init__(
        self, learner: Trees, X: Array, measure: Empirical, outputs: int, rng: Generator
    ) -> None:
        self._X = X
        self._rng = rng
        self._p = measure.p
        self._subsample = learner.subsample
        # Rows of weight 0 must not count as rows of leaves.
        held = measure.p > 0.0
        self._held: Any = slice(None) if held.all() else held
        self._size = int(np.count_nonzero(held))
        self._is_weighted = measure.p[self._held].min() < measure.p.max()
        self._data, self._boosters = _boosters(
            X[self._held], measure.p[self._held], learner, outputs
        )
        self._leaf: Whole | None = None
        # The signs of the constraints on f, one for each feature.
        self._signs = np.array([learner.monotone.get(j, 0) for j in range(X.shape[1])])

    def nearest(self, target: Array) -> tuple[Hypothesis, Array]:
        columns = [np.ascontiguousarray(v) for v in target.reshape(len(target), -1).T]
        grown = self._grown(columns)
        found = [nodes.leaf_of(self._X, tree) for tree in grown]
        if self._is_weighted:
            # LightGBM's counts of rows leave out the weights.
            pairs = zip(grown, found, strict=True)
            grown = [tree.weighted(sums(leaf, self._p, tree.leaves)) for tree, leaf in pairs]
        most = max(tree.leaves for tree in grown)
        means = np.zeros((most, len(grown)))
        values = np.empty((len(target), len(grown)))
        for k, (tree, leaf) in enumerate(zip(grown, found, strict=True)):
            means[:, k] = leaf_means(leaf, self._p, columns[k], most)
            if self._signs.any():
                # A step subtracts h from f, and so h has the opposite constraints.
                means[:, k] = nodes.ordered(tree, means[:, k], -self._signs)
            values[:, k] = means[:, k].take(leaf)
        # `Refitted` asks for the leaves of the same tree next.
        self._leaf = found[0] if target.ndim == 1 else np.stack(found, axis=1)
        h = Tree(tuple(grown), means.reshape(most, *target.shape[1:]), self._X.shape[1])
        return h, values.reshape(target.shape)

    def leaves(self, h: Hypothesis) -> tuple[Whole, int]:
        assert isinstance(h, Tree)
        assert self._leaf is not None
        return self._leaf, len(h.leaves)

    def allowed(self, h: Hypothesis, values: Array) -> Array:
        assert isinstance(h, Tree)
        if not self._signs.any():
            return values
        columns = values.reshape(len(values), -1).T
        met = [
            nodes.ordered(tree, column, self._signs)
            for tree, column in zip(h.nodes, columns, strict=True)
        ]
        return np.stack(met, axis=1).reshape(values.shape)

    def _grown(self, targets: list[Array]) -> list[nodes.Nodes]:
        if not self._boosters:
            return [nodes.read("")] * len(targets)
        kept: Any = True
        # LightGBM's own bagging is not used, because it could not continue after a warm start.
        if self._subsample < 1.0:
            kept = self._rng.random(self._size, dtype=np.float32) < np.float32(self._subsample)
        grown = []
        for k, target in enumerate(targets):
            # The target divided by a power of two fits LightGBM's single precision. Gains have the
            # unit of its square; beyond 2^±400 the power is clipped to keep the square a double.
            power = max(math.frexp(float(np.abs(target).max()))[1] - 1, -1000)
            labels = np.zeros(self._data.num_data(), dtype=np.float32)
            labels[: self._size] = target[self._held] * 2.0**-power * kept
            grown.append(nodes.read(self._text(k, labels), 2.0 ** min(max(power, -400), 400)))
        return grown

    def _text(self, output: int, labels: Array) -> str:
        # The text of the next tree is empty if the tree has no split.
        # A booster reads its labels again in the first update after they were set.
        self._data.set_field("label", labels)
        booster = self._boosters[output]
        if booster.update():
            return ""
        # Only the text of the last tree is needed.
        last = booster.num_trees() - 1
        return str(booster.model_to_string(num_iteration=1, start_iteration=last))


def _boosters(rows: Array, weights: Array, learner: Trees, outputs: int) -> tuple[Any, list[Any]]:
    lgb = lightgbm()
    # The weights are scaled to mean 1, so that sums of weights are comparable to numbers of rows.
    weights = weights / weights.mean()
    options = learner.options(rows.shape[1])
    # The least sum of a leaf is that of the lightest row. A smaller sum is a rounding error.
    options["min_sum_hessian_in_leaf"] = max(0.5 * weights.min(), 1e-10 * len(weights))
    constant = np.isnan(rows[0]) & np.isnan(rows) | (rows == rows[0])
    # Without weights LightGBM is faster.
    same = weights.min() == weights.max()
    if not same:
        rows, weights, options = searched_both_ways(
            rows, weights, options, list(learner.categorical)
        )
    data = lgb.Dataset(
        rows,
        label=np.zeros(len(rows)),
        weight=None if same else weights,
        # Otherwise a first tree with a single leaf would contain the mean of the target.
        init_score=np.zeros(len(rows)),
        params=options,
        categorical_feature=list(learner.categorical) or "auto",
    )
    # LightGBM grows no trees without a feature that varies.
    return data, [lgb.Booster(options, data) for _ in range(0 if constant.all() else outputs)]


def searched_both_ways(
    rows: Array, weights: Array, options: dict[str, Any], categorical: list[int]
) -> tuple[Array, Array, dict[str, Any]]:
    """Append two rows of weight 0, so that LightGBM searches all splits.

    Return the rows, their weights, and LightGBM's options. Without the two rows, LightGBM may stop
    a search too early and miss splits at small values.
    """
    # LightGBM estimates the number of rows in a bin by round(weight · N / total). It searches the
    # cuts of a feature from the largest value down, and stops when the sum of these estimates
    # exceeds N. If estimates are rounded up, it stops too early and misses cuts at small values. If
    # the feature has missing values, it also searches from the smallest value up. An estimate is at
    # most twice the number before rounding. Therefore each search covers at least half of the
    # weight, and the two searches together cover all cuts.
    # The first new row contains only missing values. The second row contains negative values,
    # because LightGBM's sums leave out the bin of 0, which must not be the lowest bin. Categorical
    # columns and columns with two values need no second search, and are not changed.
    low, high = np.fmin.reduce(rows), np.fmax.reduce(rows)
    plain = ((rows == low) | (rows == high)).all(axis=0)
    plain[categorical] = True
    more = np.stack([np.where(plain, rows[0], v) for v in (np.nan, np.minimum(low, -1.0))])
    most = options["max_bin"]
    options = {
        **options,
        # Bins of a feature with more than 255 bins are stored in two bytes.
        "max_bin": max(most, min(most + 2, 255)),
        # Both rows must be in the sample for the bins.
        "bin_construct_sample_cnt": max(len(rows) + 2, 200_000),
    }
    return np.concatenate([rows, more]), np.append(weights, [0.0, 0.0]), options


def lightgbm() -> Any:
    """Return the module `lightgbm`, or raise an InputError if its version is not supported."""
    try:
        import lightgbm as lgb
    except ImportError as error:
        raise InputError(
            f"trees are grown by LightGBM: {install('lightgbm')}; without LightGBM, use "
            "scikit-learn's trees with Regressor(DecisionTreeRegressor(max_depth=3))"
        ) from error
    version = re.match(r"4\.(\d+)", lgb.__version__)
    if version is None or int(version[1]) < 3:
        raise InputError(
            f"LightGBM {lgb.__version__} is installed, but trees need a version >= 4.3 and < 5; "
            "pip install 'lightgbm>=4.3,<5'"
        )
    return lgb
