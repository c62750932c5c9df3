"""Regression trees as arrays of nodes, and the search for the leaf of a row."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import ROWS_PER_BLOCK, Array, Whole
from relaxboost._core.compiled import njit, thread_pool
from relaxboost._core.errors import InputError
from relaxboost.functional.learners.base import numbers


class _Bit(IntEnum):
    """The bits of `decision_type` in LightGBM's text format."""

    CATEGORY = 1
    """The node compares categories instead of numbers."""
    MISSING_LEFT = 2
    """Rows with a missing number go to the left child, if MISSING is set too."""
    MISSING = 8
    """The feature had missing values in training."""


_LINES = {
    "split_feature": "feature", "split_gain": "gain", "threshold": "threshold",
    "decision_type": "kind", "left_child": "left", "right_child": "right",
}  # fmt: skip
"""The name of each column of `Nodes.table` in LightGBM's text format, and its name in JSON
files."""
_KINDS = tuple(
    int(missing | other)
    for missing in (0, _Bit.MISSING)
    for other in (0, _Bit.MISSING_LEFT, _Bit.CATEGORY)
)
"""The values that LightGBM writes into the field `decision_type` of a node."""
MAX_SHAP_LEVELS = 4096
"""The maximum number of tree levels for SHAP values. LightGBM's memory for them grows with the
square of the levels, and LightGBM kills the process if memory runs out."""


class Nodes(NamedTuple):
    """The inner nodes of a tree; a tree without inner nodes is one leaf.

    A row goes left if its feature is at most the threshold, or if its category is in the node's
    set. Missing numbers go to the side that LightGBM chose in training, and missing categories go
    right.
    """

    table: Array
    """A row for each node, with the columns feature, gain, threshold, kind, left and right child.

    The gain is the number of rows times the decrease in mean squared error, and the kind is
    LightGBM's code for the split type. A child >= 0 is the index of a later node, and −i − 1 is
    leaf i.
    """
    sets: Whole
    """The start and end of each node's category set in `words`, both 0 if there is none."""
    words: Whole
    """The category sets of all nodes as bit masks, 32 categories in each word."""
    rows: Whole
    """The number of training rows in each leaf, for SHAP values. For weighted rows, they are whole
    numbers proportional to the leaf weights. For a tree with one leaf, the array is empty."""

    def weighted(self, shares: Array) -> Nodes:
        """Return a copy with the leaf weights `shares`, which sum to 1, for SHAP values."""
        if self.leaves == 1:
            return self
        # LightGBM has 32 bits for the sum of all counts.
        return self._replace(rows=np.maximum(np.rint(shares * 2.0**30), 1.0).astype(np.int64))

    @property
    def leaves(self) -> int:
        """The number of leaves."""
        return len(self.table) + 1

    @property
    def children(self) -> Whole:
        """The left and right child of each inner node, as two columns."""
        return self.table[:, 4:].astype(np.int64)

    @property
    def depth(self) -> int:
        """The maximum number of splits between the root and a leaf."""
        deep = np.ones(self.leaves, dtype=np.int64)
        for node, pair in enumerate(self.children):
            deep[pair[pair >= 0]] = deep[node] + 1
        return int(deep[:-1].max(initial=0))


def read(text: str, scale: float = 1.0) -> Nodes:
    """Return the first tree of a model in LightGBM's text format.

    If the model has no tree, the result has one leaf. The target was divided by `scale` before the
    tree was fitted.
    """
    block = text.partition("\nTree=0\n")[2].partition("\n\n")[0]
    lines = dict(line.split("=", 1) for line in block.split("\n") if "=" in line)
    # One call of fromstring for all lines takes half the time of a call for each line. The text of
    # a tree with one leaf has no such lines.
    splits = " ".join(lines[name] for name in _LINES if lines)
    table = np.ascontiguousarray(np.fromstring(splits, sep=" ").reshape(len(_LINES), -1).T)
    table[:, 1] *= scale * scale
    sets = np.zeros((len(table), 2), dtype=np.int64)
    words = np.fromstring(lines.get("cat_threshold", ""), np.int64, sep=" ")
    if words.size:
        ends = np.fromstring(lines["cat_boundaries"], np.int64, sep=" ")
        split = table[:, 3].astype(np.int64) & _Bit.CATEGORY > 0
        which = table[split, 2].astype(np.int64)
        sets[split] = np.stack([ends[which], ends[which + 1]], axis=1)
    rows = np.fromstring(lines.get("leaf_count", ""), np.int64, sep=" ")
    return Nodes(table, sets, words, rows)


def described(nodes: Nodes) -> dict[str, Any]:
    """Return the nodes as a JSON dictionary."""
    made: dict[str, Any] = {}
    for name, column in zip(_LINES.values(), nodes.table.T, strict=True):
        made[name] = (column if name in ("gain", "threshold") else column.astype(int)).tolist()
    made["sets"] = [nodes.words[a:b].tolist() for a, b in nodes.sets if b > a]
    return made | {"rows": nodes.rows.tolist()}


def restored(given: dict[str, Any], width: int) -> Nodes:
    """Rebuild the nodes from a dictionary that `described` returned, for rows of `width` features.

    A damaged dictionary raises a ValueError, because the compiled code does not check nodes.
    """
    size = len(given["feature"])
    table = np.stack([numbers(name, given[name], size) for name in _LINES.values()], axis=1)
    rows = numbers("rows", given["rows"], size + 1 if size else 0)
    held = [numbers("sets", one, len(one)) for one in given["sets"]]
    words = np.concatenate([*held, np.zeros(0)])
    ends = np.cumsum([0, *map(len, held)])
    feature, gain, threshold, kind = table[:, :4].T
    split = kind % 2.0 == _Bit.CATEGORY
    below = table[:, 4:]
    # Every leaf and every node except the root, node 0, is a child exactly once.
    each = np.arange(-size - 1 if size else 0, size)
    once = np.array_equal(np.sort(below, axis=None), each[each != 0])
    deeper = ((below < 0) | (below > np.arange(size)[:, None])).all()
    filled = len(held) == split.sum() and all(map(len, held))
    whole = (words % 1.0 == 0.0) & (words >= 0.0) & (words < 2.0**32)
    for name, rule, sound in (
        ("feature", f"columns from 0 to {width - 1}", np.isin(feature, np.arange(width)).all()),
        ("gain", ">= 0", (gain >= 0.0).all()),
        ("kind", f"of {_KINDS}", np.isin(kind, _KINDS).all()),
        ("left and right", "each node and leaf once, after its parent", once and deeper),
        ("sets", "one of 32-bit words for each split of kind 1", filled and whole.all()),
        ("threshold", "0, 1, … at sets", np.array_equal(threshold[split], np.arange(len(held)))),
        ("rows", "counts >= 1", (rows >= 1.0).all() and rows.sum() < 2.0**31),
    ):
        if not sound:
            raise ValueError(f"{name} must be {rule}")
    sets = np.zeros((size, 2), dtype=np.int64)
    sets[split] = np.stack([ends[:-1], ends[1:]], axis=1)
    return Nodes(table, sets, words.astype(np.int64), rows.astype(np.int64))


def ordered(nodes: Nodes, values: Array, signs: Whole) -> Array:
    """Return leaf values that make the tree monotone.

    The tree does not decrease in feature j if signs[j] = 1, and does not increase if signs[j] = −1.
    """
    # Two rows that differ only in feature j take the same path until a split on feature j. Hence
    # the tree is monotone if, at each such split, some number separates the leaf values on the two
    # sides. As in LightGBM, it is halfway between the mean leaf values of the two sides.
    values = values.copy()
    features = nodes.table[:, 0].astype(np.int64)
    # Children have larger indices than their parents.
    below: dict[int, list[int]] = {~leaf: [leaf] for leaf in range(nodes.leaves)}
    children = nodes.children.tolist()
    for node in reversed(range(len(children))):
        left, right = children[node]
        below[node] = below[left] + below[right]
    for node in np.flatnonzero(signs[features]).tolist():
        left, right = children[node]
        rising = signs[features[node]] > 0
        low, high = (below[left], below[right]) if rising else (below[right], below[left])
        bound = (values[low].mean() + values[high].mean()) / 2.0
        values[low] = np.minimum(values[low], bound)
        values[high] = np.maximum(values[high], bound)
    return values


def model_text(width: int, trees: list[Nodes], values: list[Array]) -> str:
    """Return trees with the given leaf values as a model in LightGBM's text format.

    The model has `width` features.

    Raises
    ------
    InputError
        If a tree is too deep for LightGBM's SHAP values.
    """
    parts = [
        f"tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\n"
        f"max_feature_idx={width - 1}\nfeature_names={' '.join(f'x{j}' for j in range(width))}\n"
        f"feature_infos={' '.join(['none'] * width)}\n"
    ]
    for place, (nodes, leaves) in enumerate(zip(trees, values, strict=True)):
        if nodes.depth > MAX_SHAP_LEVELS:
            raise InputError(
                f"SHAP values need trees of at most {MAX_SHAP_LEVELS} levels; boost with max_depth"
            )
        held = described(nodes)
        # SHAP values weight both sides of a split by their numbers of training rows.
        inner = [0] * len(nodes.table)
        children = nodes.children.tolist()
        for node in reversed(range(len(inner))):
            inner[node] = sum(inner[c] if c >= 0 else held["rows"][~c] for c in children[node])
        # The threshold of a node for categories is the index of its set.
        ends = [0, *nodes.sets[nodes.sets[:, 1] > 0, 1].tolist()]
        lines = {"num_leaves": [nodes.leaves], "num_cat": [len(ends) - 1]}
        lines |= {line: held[name] for line, name in _LINES.items()}
        lines |= {"leaf_value": leaves.tolist(), "leaf_count": held["rows"]}
        lines |= {"internal_count": inner}
        lines |= {"cat_boundaries": ends, "cat_threshold": nodes.words.tolist()}
        text = [f"{name}={' '.join(map(repr, row))}" for name, row in lines.items()]
        parts.append("\n".join([f"Tree={place}", *text, "", ""]))
    return "\n".join([*parts, "end of trees\n"])


def leaf_of(X: Array, nodes: Nodes) -> Whole:
    """Return the leaf index of each row of X, shape (N, d)."""
    out = np.empty(len(X), dtype=np.int64)
    _route(X, nodes.table, nodes.sets, nodes.words, out)
    return out


def add(X: Array, trees: list[Nodes], values: list[Array], total: Array) -> None:
    """Add the predictions of all trees for the rows of X to `total`, in place."""

    def work(start: int, stop: int) -> None:
        leaf = np.empty(ROWS_PER_BLOCK, dtype=np.int64)
        for first in range(start, stop, ROWS_PER_BLOCK):
            rows = slice(first, min(first + ROWS_PER_BLOCK, stop))
            for tree, held in zip(trees, values, strict=True):
                _route(X[rows], tree.table, tree.sets, tree.words, leaf)
                total[rows] += held.take(leaf[: rows.stop - first])

    # Threads take longer to start than few rows take.
    pool, threads = thread_pool()
    if threads == 1 or len(X) < 16 * ROWS_PER_BLOCK:
        work(0, len(X))
    else:
        cuts = np.linspace(0, len(X), threads + 1).astype(int)
        list(pool.map(work, cuts[:-1], cuts[1:]))


@njit(nogil=True)
def _route(X: Array, table: Array, sets: Whole, words: Whole, out: Whole) -> None:
    size = np.uint32(len(table))
    feature, threshold, nan, to = _layout(table)
    if words.size > 0:
        for n in range(len(X)):
            node: Any = np.uint32(0)
            while node < size:
                left = _goes_left(X[n], node, feature, threshold, nan)
                if sets[node, 1] > sets[node, 0]:
                    left = _holds(words[sets[node, 0] : sets[node, 1]], X[n, feature[node]])
                node = to[node, left]
            out[n] = node - size
        return
    # Four rows descend together until all are in leaves; the child of a leaf is the leaf. Since the
    # processor overlaps their steps, this takes 0.55 times as long as row by row.
    last = len(X) - 1
    for n in range(0, len(X), 4):
        rows = (n, min(n + 1, last), min(n + 2, last), min(n + 3, last))
        a: Any = np.uint32(0)
        b = c = d = a
        while min(a, b, c, d) < size:
            a = to[a, _goes_left(X[rows[0]], a, feature, threshold, nan)]
            b = to[b, _goes_left(X[rows[1]], b, feature, threshold, nan)]
            c = to[c, _goes_left(X[rows[2]], c, feature, threshold, nan)]
            d = to[d, _goes_left(X[rows[3]], d, feature, threshold, nan)]
        out[rows[0]] = a - size
        out[rows[1]] = b - size
        out[rows[2]] = c - size
        out[rows[3]] = d - size


@njit(nogil=True)
def _layout(table: Array) -> Any:
    # Leaf i has the index size + i, after all inner nodes, and both of its children are itself.
    size = np.uint32(len(table))
    feature = np.zeros(2 * size + 1, np.uint32)
    threshold = np.zeros(2 * size + 1)
    nan = np.zeros(2 * size + 1, np.uint8)
    to = np.empty((2 * size + 1, 2), np.uint32)
    for i in range(size, 2 * size + 1):
        to[i] = i
    for i in range(size):
        feature[i] = table[i, 0]
        threshold[i] = table[i, 2]
        kind = int(table[i, 3])
        # LightGBM reads a missing value as 0 if the feature had none in training.
        nan[i] = kind & _Bit.MISSING_LEFT > 0 if kind & _Bit.MISSING else threshold[i] >= 0.0
        for side in range(2):
            child = int(table[i, 5 - side])
            to[i, side] = child if child >= 0 else size + ~child
    return feature, threshold, nan, to


@njit(nogil=True)
def _goes_left(x: Array, node: int, feature: Array, threshold: Array, nan: Array) -> Any:
    value = x[feature[node]]
    return np.uint32((value <= threshold[node]) | (nan[node] & (value != value)))


@njit(nogil=True)
def _holds(words: Whole, value: float) -> Any:
    if not 0.0 <= value < 32.0 * words.size:
        return np.uint32(0)
    c = int(value)
    return np.uint32((words[c // 32] >> (c % 32)) & 1)
