"""Regression trees, grown by LightGBM on histograms of features that are binned once."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import njit
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, natural
from relaxboost.functional.learners import nodes
from relaxboost.functional.learners.base import (
    Hypothesis,
    Pool,
    WeakLearner,
    check_width,
    dense,
    numbers,
)
from relaxboost.functional.learners.engine import Engine, tried
from relaxboost.functional.losses.leaves import means as leaf_means
from relaxboost.functional.measure import Empirical

_GAINS = ("features", "gains")
_LEAVES = 131_072


@dataclass(frozen=True, eq=False)
class Tree(Hypothesis):
    """A binary tree, or one for each output.

    A row goes left where its feature is at most the threshold, or in the set of the split; missing
    values go where they fitted better in training.

    Attributes
    ----------
    nodes : tuple of Nodes
        The splits, for each output where each has a tree of its own.
    leaves : array of shape (leaves,) or (leaves, K)
        Column k of the trees' leaves; what a tree has no leaf for is not used.
    width : int
        The number of features d of the rows it takes.
    """

    nodes: tuple[nodes.Nodes, ...]
    leaves: Array
    width: int

    @property
    def depth(self) -> int:
        """How many splits there are at most on the way to a leaf."""
        return max(tree.depth for tree in self.nodes)

    def __call__(self, X: Any) -> Array:
        X = rows_of(X, self.width)
        total = np.zeros((len(X), *self.leaves.shape[1:]))
        Tree.combined(np.ones(1), [self], X, total)
        return total

    def gains(self) -> tuple[Whole, Array]:
        found = [np.concatenate([getattr(tree, name) for tree in self.nodes]) for name in _GAINS]
        return found[0], found[1]

    def with_leaves(self, values: Array) -> Tree:
        return replace(self, leaves=values)

    def described(self) -> dict[str, Any]:
        (tree,) = self.nodes
        return nodes.described(tree) | {"leaves": self.leaves.tolist()}

    @classmethod
    def restored(cls, given: dict[str, Any], width: int) -> Tree:
        """Return the tree that was `described`; see `Hypothesis.described`."""
        tree = nodes.restored(given, width)
        return cls((tree,), numbers("leaves", given["leaves"], tree.leaves), width)

    @classmethod
    def combined(
        cls, weights: Array, hypotheses: Sequence[Hypothesis], X: Any, total: Array
    ) -> None:
        """Add Σ w h(X) to `total`, in place: a block of rows through all trees at a time."""
        X = rows_of(X, hypotheses[0].width)  # type: ignore[attr-defined]
        columns = total.reshape(len(total), -1)
        for k, (trees, values) in enumerate(_by_output(weights, hypotheses)):
            out = np.ascontiguousarray(columns[:, k])
            nodes.add(X, trees, values, out)
            columns[:, k] = out

    @classmethod
    def contributions(cls, weights: Array, hypotheses: Sequence[Hypothesis], X: Any) -> Array:
        X = rows_of(X, hypotheses[0].width)  # type: ignore[attr-defined]
        outputs = _by_output(weights, hypotheses)
        found = np.stack([nodes.contributions(X, *output) for output in outputs], axis=-1)
        return found if hypotheses[0].leaves.ndim == 2 else found[..., 0]  # type: ignore[attr-defined]


def _by_output(
    weights: Array, hypotheses: Sequence[Any]
) -> list[tuple[list[nodes.Nodes], list[Array]]]:
    """Return for each output its trees, and what their leaves hold, times the weights."""
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
    """Return rows as doubles, where nan is a missing value, or raise."""
    X = np.ascontiguousarray(dense(X))
    if width is not None:
        check_width(X, width, "the tree was")
    elif X.ndim != 2 or X.shape[1] == 0:
        raise InputError(f"X needs shape (N, d) with d >= 1, got {X.shape}")
    bad = np.argwhere(np.isinf(X))
    if bad.size:
        row, column = bad[0]
        raise InputError(
            f"features must be finite, or nan where they are missing; row {row}, column {column} "
            f"has {X[row, column]}"
        )
    return X


@dataclass(eq=False, repr=False)
class Trees(WeakLearner):
    """Least-squares regression trees, grown greedily by LightGBM (the extra ``lightgbm``).

    The leaves hold the weighted means of the target, so that h is the nearest function on its own
    leaves; which leaves is a matter of greed, and so no edge is promised. With several outputs each
    has a tree of its own. Missing values (nan) go where they fit better.

    Parameters
    ----------
    max_depth : int, optional
        None for no limit.
    max_leaf_nodes : int, optional
        From 2 to 131 072, the best splits first; by default 31, or as many as the depth allows if
        fewer.
    min_samples_leaf : int
        Rows in a leaf at least; with weights, about.
    bins : int
        At most so many bins of a feature, >= 2.
    subsample : float
        In (0, 1]: splits are found with the targets of such a share of the rows, drawn for each
        tree anew, and 0 for the others. What leaves hold is of all rows.
    categorical : sequence of int
        Columns that hold categories, as whole numbers >= 0; one unseen in training goes with the
        missing ones.
    monotone : mapping of int to int
        1 for columns in which f may not fall, −1 where it may not rise. Values of leaves that
        would are moved, also refitted ones; the risk may then rise.
    n_jobs : int, optional
        Threads of the growing; by default as many as OpenMP takes.

    Raises
    ------
    InputError
        For parameters out of range; in `prepare` for columns that are not there, and without
        LightGBM.

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
        for name in ("max_depth", "max_leaf_nodes", "n_jobs"):
            if getattr(self, name) is not None:
                setattr(self, name, count(name, getattr(self, name)))
        for name in ("min_samples_leaf", "bins"):
            setattr(self, name, count(name, getattr(self, name)))
        if self.max_leaf_nodes is not None and self.max_leaf_nodes > _LEAVES:
            raise InputError(
                f"max_leaf_nodes must be at most {_LEAVES}, LightGBM's limit, got "
                f"{self.max_leaf_nodes}"
            )
        if self.max_leaf_nodes == 1 or self.bins == 1:
            name = "bins" if self.bins == 1 else "max_leaf_nodes"
            raise InputError(f"{name} must be at least 2, got 1")
        if not 0.0 < self.subsample <= 1.0:
            raise InputError(f"subsample must lie in (0, 1], got {self.subsample!r}")
        self.categorical = tuple(natural("categorical", c) for c in self.categorical)
        for column, sign in self.monotone.items():
            natural("monotone", column)
            if sign not in (-1, 0, 1):
                raise InputError(f"monotone must be 1, 0 or −1 for a column, got {sign!r}")
            if sign and column in self.categorical:  # LightGBM would end the process
                raise InputError(
                    f"monotone names column {column}, which is categorical and has no order; leave "
                    "it out of one of them"
                )

    def prepare(
        self, X: Any, measure: Empirical, outputs: int | None, projection: str, rng: Generator
    ) -> Pool:
        X = rows_of(X)
        if X.shape[0] != measure.size:
            raise InputError(
                f"X has {X.shape[0]} rows, and there are {measure.size} targets; one each"
            )
        for name, columns in (("categorical", self.categorical), ("monotone", self.monotone)):
            wrong = [column for column in columns if column >= X.shape[1]]
            if wrong:
                raise InputError(
                    f"{name} names column {wrong[0]}, and X has {X.shape[1]} features, from 0 on"
                )
        tried()
        return _Grower(self, X, measure, outputs or 1, rng)

    def options(self, width: int) -> dict[str, Any]:
        """Return LightGBM's parameters: plain least squares."""
        leaves = self.max_leaf_nodes or min(31, 2 ** min(self.max_depth or 5, 16))
        return {
            "metric": "none",
            "num_leaves": leaves,
            "max_depth": self.max_depth or -1,
            # LightGBM counts rows by their weights; a light row of its own would count as none.
            "min_data_in_leaf": self.min_samples_leaf if self.min_samples_leaf > 1 else 0,
            "feature_pre_filter": False,
            "max_bin": self.bins,
            "min_data_in_bin": 1,
            "cat_smooth": 10.0,
            # Hypotheses are near the gradient, and subtracted from f.
            "monotone_constraints": [-self.monotone.get(j, 0) for j in range(width)]
            if any(self.monotone.values())
            else None,
            # For absurdly many OpenMP ends the process.
            "num_threads": min(self.n_jobs or 0, os.cpu_count() or 1),
            "force_col_wise": True,
            "deterministic": True,
            "verbosity": -1,
        }


class _Grower(Pool):
    """Grows trees for each target, in an engine that keeps the bins."""

    def __init__(
        self, learner: Trees, X: Array, measure: Empirical, outputs: int, rng: Generator
    ) -> None:
        self._X, self._rng, self._share, self._p = X, rng, learner.subsample, measure.p
        # Rows without weight would count as rows of leaves.
        self._held = None if (measure.p > 0.0).all() else np.flatnonzero(measure.p > 0.0)
        rows = X if self._held is None else X[self._held]
        weights = measure.p if self._held is None else measure.p[self._held]
        weights = weights / weights.mean()
        options = learner.options(X.shape[1])
        # Sums over no row at all are not 0 by rounding; a leaf has at least the lightest row.
        options["min_sum_hessian_in_leaf"] = max(0.5 * weights.min(), 1e-10 * len(weights))
        self._engine = Engine(rows, weights, options, list(learner.categorical), outputs)
        self._drawn = np.zeros(len(rows), dtype=np.float32)
        self._leaf: Whole | None = None
        self._signs = np.array([learner.monotone.get(j, 0) for j in range(X.shape[1])])

    def nearest(self, target: Array) -> tuple[Hypothesis, Array]:
        """Return the trees grown for a target, with the means of the target in their leaves."""
        columns = [np.ascontiguousarray(v) for v in target.reshape(len(target), -1).T]
        grown = self._grown(columns if self._held is None else [v[self._held] for v in columns])
        found = [nodes.leaf_of(self._X, tree) for tree in grown]
        most = max(tree.leaves for tree in grown)
        means, values = np.zeros((most, len(grown))), np.empty((len(target), len(grown)))
        for k, (tree, leaf) in enumerate(zip(grown, found, strict=True)):
            means[:, k] = leaf_means(leaf, self._p, columns[k], most)
            if self._signs.any():
                means[:, k] = nodes.ordered(tree, means[:, k], -self._signs)
            values[:, k] = means[:, k].take(leaf)
        self._leaf = found[0] if target.ndim == 1 else np.stack(found, axis=1)
        h = Tree(tuple(grown), means.reshape(most, *target.shape[1:]), self._X.shape[1])
        return h, values.reshape(target.shape)

    def leaves(self, h: Hypothesis) -> tuple[Whole, int]:
        assert isinstance(h, Tree)
        assert self._leaf is not None
        return self._leaf, len(h.leaves)

    def allowed(self, h: Hypothesis, values: Array) -> Array:
        """Return values that meet the monotone constraints; see `Pool.allowed`."""
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
        if self._share < 1.0:  # LightGBM's own bagging could not go on after a warm start
            self._rng.random(out=self._drawn, dtype=np.float32)
        grown = []
        for k, target in enumerate(targets):
            scale = _write(target, self._drawn, np.float32(self._share), self._engine.labels)
            grown.append(nodes.read(self._engine.grow(k), scale))
        return grown


@njit(nogil=True)
def _write(target: Array, drawn: Array, share: float, labels: Array) -> float:
    """Write the target over a power of two where drawn < share, else 0; return the power.

    Numbers are so scaled exactly: LightGBM takes single precision. The power returned is within
    2^±400, so that gains, in squares of it, are finite and not 0.
    """
    top = 0.0
    for n in range(target.size):
        if abs(target[n]) > top:
            top = abs(target[n])
    power = math.frexp(top)[1] - 1
    # In two factors: 2^1074 is no double.
    half, rest = 2.0 ** (-power // 2), 2.0 ** (-power - -power // 2)
    for n in range(target.size):
        labels[n] = target[n] * half * rest if drawn[n] < share else 0.0
    return 2.0 ** min(max(power, -400), 400)
