"""The splits of one tree as arrays, read from LightGBM's text, and rows led through them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import njit, thread_pool
from relaxboost._core.errors import InputError

_CATEGORY, _MISSING_LEFT, _MISSING = 1, 2, 8
"""Bits of LightGBM's `decision_type`."""
_ROWS = 4096  # of a block, whose features stay in the cache while trees pass over it


class Nodes(NamedTuple):
    """The inner nodes of a tree; without any it is one leaf.

    A row goes left where its feature is at most the threshold, or, for a category, in a set. A
    missing value goes as `missing` says, a missing category right.
    """

    features: NDArray[np.int32]
    thresholds: Array
    missing: NDArray[np.uint8]
    """1 where a missing value goes left."""
    children: NDArray[np.int32]
    """Right and left, shape (nodes, 2): a node, or ~leaf."""
    gains: Array
    """By how much each split lowered the squared error, times the number of rows."""
    sets: Whole
    """Where the set of a category split begins and ends in `words`, shape (nodes, 2); else 0."""
    words: Whole
    """Bits of the categories, 32 in a word."""
    text: str
    """The tree as LightGBM writes it; for `contributions`."""

    @property
    def leaves(self) -> int:
        """How many there are."""
        return len(self.features) + 1

    @property
    def depth(self) -> int:
        """How many splits there are at most on the way to a leaf."""
        deep = np.ones(self.leaves, dtype=np.int64)
        for node, pair in enumerate(self.children):  # children come after their parents
            deep[pair[pair >= 0]] = deep[node] + 1
        return int(deep[:-1].max(initial=0))


def read(text: str) -> list[Nodes]:
    """Return the trees of a model as LightGBM writes it."""
    return [_read(block.split("\n\n")[0]) for block in text.split("\nTree=")[1:]]


def _read(block: str) -> Nodes:
    lines = dict(line.split("=", 1) for line in block.split("\n") if "=" in line)
    if int(lines["num_leaves"]) == 1:
        lines = {}

    def numbers(name: str, kind: Any) -> Any:
        return np.array(lines.get(name, "").split(), dtype=kind)

    kinds, thresholds = numbers("decision_type", np.int64), numbers("threshold", np.float64)
    sets = np.zeros((len(kinds), 2), dtype=np.int64)
    if "cat_boundaries" in lines:
        ends, category = numbers("cat_boundaries", np.int64), (kinds & _CATEGORY) > 0
        which = thresholds[category].astype(np.int64)
        sets[category, 0], sets[category, 1] = ends[which], ends[which + 1]
    # Where none was missing in training a missing value counts as 0.
    left = np.where(kinds & _MISSING, (kinds & _MISSING_LEFT) > 0, thresholds >= 0.0)
    return Nodes(
        features=numbers("split_feature", np.int32),
        thresholds=thresholds,
        missing=left.astype(np.uint8),
        children=np.stack(
            [numbers("right_child", np.int32), numbers("left_child", np.int32)], axis=1
        ),
        gains=numbers("split_gain", np.float64),
        sets=sets,
        words=numbers("cat_threshold", np.int64),
        text=block,
    )


def ordered(nodes: Nodes, values: Array, signs: Whole) -> Array:
    """Return values of leaves that rise or fall with the features as `signs` say, 0 for neither.

    At each split on such a feature a number between both sides' means bounds them, as in LightGBM.
    Two rows that differ in one feature part at a split on it, so that this is enough.
    """
    values = values.copy()
    deep = range(len(nodes.features))  # parents come before their children
    below: dict[int, list[int]] = {}
    for node in reversed(deep):
        for child in nodes.children[node].tolist():
            below.setdefault(node, []).extend(below[child] if child >= 0 else [~child])
    for node in deep:
        sign = signs[nodes.features[node]]
        if not sign:
            continue
        right, left = (
            below[child] if child >= 0 else [~child] for child in nodes.children[node].tolist()
        )
        low, high = (left, right) if sign > 0 else (right, left)
        bound = (values[low].mean() + values[high].mean()) / 2.0
        values[low] = np.minimum(values[low], bound)
        values[high] = np.maximum(values[high], bound)
    return values


SINGLE = _read("num_leaves=1")
"""The tree of one leaf."""


def contributions(X: Array, trees: list[Nodes], values: list[Array]) -> Array:
    """Return SHAP values by LightGBM, of shape (N, d + 1); the last column is the expected sum.

    Expectations are over training rows, each once. Every row sums to the sum over the trees.
    """
    d = X.shape[1]
    parts = [
        f"tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\n"
        f"max_feature_idx={d - 1}\nfeature_names={' '.join(f'x{j}' for j in range(d))}\n"
        f"feature_infos={' '.join(['none'] * d)}\n\n"
    ]
    constant = 0.0
    for tree, held in zip(trees, values, strict=True):
        if tree.leaves == 1:
            constant += held[0]
            continue
        lines = tree.text.split("\n")[1:]
        place = next(i for i, line in enumerate(lines) if line.startswith("leaf_value="))
        lines[place] = "leaf_value=" + " ".join(map(repr, held.tolist()))
        parts.append(f"Tree={len(parts) - 1}\n" + "\n".join(lines) + "\n\n\n")
    found = np.zeros((len(X), d + 1))
    if len(parts) > 1:
        model = lightgbm().Booster(model_str="".join([*parts, "end of trees\n"]))
        found += model.predict(X, pred_contrib=True)
    found[:, -1] += constant
    return found


def leaf_of(X: Array, nodes: Nodes) -> Whole:
    """Return the leaf of each row of X, of shape (N, d)."""
    out, arrays = np.empty(len(X), dtype=np.int64), nodes[:-1]
    _in_parts(len(X), lambda a, b: _route(X, arrays, a, b, out))
    return out


def add(X: Array, trees: list[Nodes], values: list[Array], total: Array) -> None:
    """Add the values of the leaves of all trees to `total`, of shape (N,), in place."""
    first = np.cumsum([0] + [len(tree.features) for tree in trees])
    held = np.cumsum([0] + [len(v) for v in values])
    words = np.cumsum([0] + [len(tree.words) for tree in trees])
    moved = [tree._replace(sets=tree.sets + word) for tree, word in zip(trees, words, strict=False)]
    together = tuple(np.concatenate(parts) for parts in zip(*(m[:-1] for m in moved), strict=True))
    leaves = np.concatenate(values)
    _in_parts(len(X), lambda a, b: _add(X, together, (first, held), leaves, a, b, total))


def _in_parts(rows: int, work: Any) -> None:
    """Do work(start, stop) for all rows, in the threads there are; small work in this one."""
    if rows < 16 * _ROWS:
        work(0, rows)
        return
    pool, threads = thread_pool()
    cuts = np.linspace(0, rows, threads + 1).astype(int).tolist()
    others = [pool.submit(work, cuts[i], cuts[i + 1]) for i in range(1, threads)]
    work(cuts[0], cuts[1])
    for other in others:
        other.result()


@njit(nogil=True)
def _leaf(x: Array, nodes: Any, first: int, size: int) -> int:
    """Return the leaf of a row in the tree of `size` nodes from `first` on; nodes without text."""
    features, thresholds, missing, children, _, sets, words = nodes
    node = 0 if size else -1
    while node >= 0:
        i = first + node
        value = x[features[i]]
        if sets[i, 1] > sets[i, 0]:
            left = 0
            if 0.0 <= value < 32.0 * (sets[i, 1] - sets[i, 0]):
                c = int(value)
                left = (words[sets[i, 0] + c // 32] >> (c % 32)) & 1
        else:
            left = int(value <= thresholds[i]) | (missing[i] & int(value != value))
        node = children[i, left]
    return ~node


@njit(nogil=True)
def _route(X: Array, nodes: Any, start: int, stop: int, out: Whole) -> None:
    size = nodes[0].size
    for n in range(start, stop):
        out[n] = _leaf(X[n], nodes, 0, size)


@njit(nogil=True)
def _add(
    X: Array,
    nodes: Any,
    trees: tuple[Whole, Whole],
    leaves: Array,
    start: int,
    stop: int,
    total: Array,
) -> None:
    first, held = trees
    for block in range(start, stop, _ROWS):
        end = min(block + _ROWS, stop)
        for t in range(first.size - 1):
            size = first[t + 1] - first[t]
            for n in range(block, end):
                total[n] += leaves[held[t] + _leaf(X[n], nodes, first[t], size)]


def lightgbm() -> Any:
    """Return the module, or raise with the remedy."""
    try:
        import lightgbm as lgb
    except ImportError as error:
        raise InputError(
            "trees are grown by LightGBM: pip install 'relaxboost[lightgbm]'; without it "
            "Regressor(DecisionTreeRegressor(max_depth=3)) grows those of scikit-learn"
        ) from error
    return lgb
