"""The splits of one tree as arrays, read from LightGBM's text, and rows led through them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import njit, thread_pool
from relaxboost._core.errors import InputError
from relaxboost.functional.learners.base import numbers
from relaxboost.functional.learners.engine import lightgbm

_CATEGORY, _MISSING_LEFT, _MISSING = 1, 2, 8
"""Bits of LightGBM's `decision_type`."""
_LINES = {
    "split_feature": "feature", "split_gain": "gain", "threshold": "threshold",
    "decision_type": "kind", "left_child": "left", "right_child": "right",
}  # fmt: skip
_KINDS = (0, 2, _MISSING, _MISSING | _MISSING_LEFT, _CATEGORY, _CATEGORY | _MISSING)
_DEEPEST = 4096  # LightGBM needs memory by its square for SHAP values, and ends the process
_ROWS = 4096  # of a block, whose features stay in the cache while trees pass over it


class Nodes(NamedTuple):
    """The inner nodes of a tree; without any it is one leaf.

    A row goes left where its feature is at most the threshold, or, for a category, in a set. A
    missing value goes as `missing` says, a missing category right.
    """

    table: Array
    """Feature, gain, threshold, kind, left and right child of each node, of shape (nodes, 6).

    A child is a node, or ~leaf. Gains are by how much splits lowered the squared error, times the
    number of rows.
    """
    sets: Whole
    """Where the set of a category split begins and ends in `words`, shape (nodes, 2); else 0."""
    words: Whole
    """Bits of the categories, 32 in a word."""
    rows: Whole
    """How many training rows each leaf has, for `contributions`; of one leaf nothing."""

    @property
    def leaves(self) -> int:
        """How many there are."""
        return len(self.table) + 1

    @property
    def features(self) -> Whole:
        """Where each split is."""
        return self.table[:, 0].astype(np.int64)

    @property
    def gains(self) -> Array:
        """Of each split."""
        return self.table[:, 1]

    @property
    def children(self) -> Whole:
        """Left and right, of shape (nodes, 2)."""
        return self.table[:, 4:].astype(np.int64)

    @property
    def depth(self) -> int:
        """How many splits there are at most on the way to a leaf."""
        deep = np.ones(self.leaves, dtype=np.int64)
        for node, pair in enumerate(self.children):  # children come after their parents
            deep[pair[pair >= 0]] = deep[node] + 1
        return int(deep[:-1].max(initial=0))


def read(text: str, scale: float = 1.0) -> Nodes:
    """Return the first tree of a model as LightGBM writes it; of "", the tree of one leaf.

    Its target was divided by `scale`.
    """
    block = text.partition("\nTree=0\n")[2].partition("\n\n")[0]
    lines = dict(line.split("=", 1) for line in block.split("\n") if "=" in line)
    splits = " ".join(lines[name] for name in _LINES if lines)  # read at once: quicker
    table = np.ascontiguousarray(np.fromstring(splits, sep=" ").reshape(len(_LINES), -1).T)
    table[:, 1] *= scale * scale
    sets, words = np.zeros((len(table), 2), dtype=np.int64), np.zeros(0, dtype=np.int64)
    if "cat_boundaries" in lines:
        ends = np.fromstring(lines["cat_boundaries"], np.int64, sep=" ")
        words = np.fromstring(lines["cat_threshold"], np.int64, sep=" ")
        split = table[:, 3].astype(np.int64) & _CATEGORY > 0
        which = table[split, 2].astype(np.int64)
        sets[split] = np.stack([ends[which], ends[which + 1]], axis=1)
    return Nodes(table, sets, words, np.fromstring(lines.get("leaf_count", ""), np.int64, sep=" "))


def described(nodes: Nodes) -> dict[str, Any]:
    """Return the tree as JSON holds it, for `restored`."""
    made: dict[str, Any] = {}
    for name, column in zip(_LINES.values(), nodes.table.T, strict=True):
        made[name] = (column if name in ("gain", "threshold") else column.astype(int)).tolist()
    made["sets"] = [nodes.words[a:b].tolist() for a, b in nodes.sets if b > a]
    return made | {"rows": nodes.rows.tolist()}


def restored(given: dict[str, Any], width: int) -> Nodes:
    """Return the tree that was `described`, or raise a ValueError for one that rows get lost in.

    Compiled code, here and in LightGBM, looks up what the arrays say: all of it must be there.
    """
    size = len(given["feature"])
    table = np.stack([numbers(name, given[name], size) for name in _LINES.values()], axis=1)
    rows = numbers("rows", given["rows"], size + 1 if size else 0)
    held = [numbers("sets", one, len(one)) for one in given["sets"]]
    words, ends = np.concatenate([*held, np.zeros(0)]), np.cumsum([0, *map(len, held)])
    feature, gain, threshold, kind = table[:, :4].T
    split, below = kind % 2.0 == _CATEGORY, table[:, 4:]
    each = np.arange(-size - 1 if size else 0, size)  # once, but for the root, which is 0
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
    """Return values of leaves that rise or fall with the features as `signs` say, 0 for neither.

    At each split on such a feature a number between both sides' means bounds them, as in LightGBM.
    Two rows that differ in one feature part at a split on it, so that this is enough.
    """
    values = values.copy()
    features, children = nodes.features, nodes.children.tolist()
    deep = range(len(features))  # parents come before their children
    below: dict[int, list[int]] = {}
    for node in reversed(deep):
        for child in children[node]:
            below.setdefault(node, []).extend(below[child] if child >= 0 else [~child])
    for node in deep:
        sign = signs[features[node]]
        if not sign:
            continue
        left, right = (below[child] if child >= 0 else [~child] for child in children[node])
        low, high = (left, right) if sign > 0 else (right, left)
        bound = (values[low].mean() + values[high].mean()) / 2.0
        values[low] = np.minimum(values[low], bound)
        values[high] = np.maximum(values[high], bound)
    return values


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
        parts.append(f"Tree={len(parts) - 1}\n{_text(tree, held)}\n\n\n")
    found = np.zeros((len(X), d + 1))
    if len(parts) > 1:
        model = lightgbm().Booster(model_str="".join([*parts, "end of trees\n"]))
        found += model.predict(X, pred_contrib=True)
    found[:, -1] += constant
    return found


def _text(nodes: Nodes, values: Array) -> str:
    """Return a tree as LightGBM reads it."""
    if nodes.leaves > _DEEPEST and nodes.depth > _DEEPEST:
        raise InputError(f"SHAP values are of trees up to {_DEEPEST} deep; boost with max_depth")
    held, inner, children = described(nodes), [0] * len(nodes.table), nodes.children.tolist()
    for node in reversed(range(len(inner))):  # children come after their parents
        inner[node] = sum(inner[c] if c >= 0 else held["rows"][~c] for c in children[node])
    ends = [0, *nodes.sets[nodes.sets[:, 1] > 0, 1].tolist()]
    lines = {"num_leaves": [nodes.leaves], "num_cat": [len(ends) - 1]}
    lines |= {line: held[name] for line, name in _LINES.items()}
    lines |= {"leaf_value": values.tolist(), "leaf_count": held["rows"], "internal_count": inner}
    lines |= {"cat_boundaries": ends, "cat_threshold": nodes.words.tolist()}
    return "\n".join(f"{name}={' '.join(map(repr, row))}" for name, row in lines.items())


def leaf_of(X: Array, nodes: Nodes) -> Whole:
    """Return the leaf of each row of X, of shape (N, d)."""
    out, arrays, size = np.empty(len(X), dtype=np.int64), nodes[:-1], len(nodes.table)
    _in_parts(len(X), lambda a, b: _route(X, arrays, 0, size, a, b, out[a:b]))
    return out


def add(X: Array, trees: list[Nodes], values: list[Array], total: Array) -> None:
    """Add the values of the leaves of all trees to `total`, of shape (N,), in place."""
    first = np.cumsum([0] + [len(tree.table) for tree in trees])
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
def _route(X: Array, nodes: Any, first: int, size: int, start: int, stop: int, out: Whole) -> None:
    """Write the leaf of each row in the tree of `size` nodes from `first` on; nodes without text.

    A row waits in its leaf, which leads to itself, for the three that are led along with it: no
    branch is to be guessed, and the processor works on four rows at a time.
    """
    table, sets, words = nodes
    leaf, last = np.uint32(size), stop - 1
    to = np.empty((2 * size + 1, 2), np.uint32)
    feature = np.zeros(2 * size + 1, np.uint32)
    threshold, nan = np.zeros(2 * size + 1), np.zeros(2 * size + 1, np.uint8)
    categories = False
    for i in range(size):
        j = first + i
        feature[i], threshold[i] = table[j, 0], table[j, 2]
        kind = int(table[j, 3])
        # Where none was missing in training a missing value counts as 0.
        nan[i] = kind & _MISSING_LEFT > 0 if kind & _MISSING else threshold[i] >= 0.0
        categories |= sets[j, 1] > sets[j, 0]
        for side in range(2):
            child = int(table[j, 5 - side])
            to[i, side] = child if child >= 0 else size + ~child
    for i in range(size, 2 * size + 1):
        to[i] = i
    if categories:
        for n in range(start, stop):
            node: Any = np.uint32(0)
            while node < leaf:
                goes, j = _left(X[n], node, feature, threshold, nan), first + node
                if sets[j, 1] > sets[j, 0]:
                    value, word = X[n, feature[node]], words[sets[j, 0] : sets[j, 1]]
                    c = int(value) if 0.0 <= value < 32.0 * word.size else -1
                    goes = np.uint32((word[c // 32] >> (c % 32)) & 1 if c >= 0 else 0)
                node = to[node, goes]
            out[n - start] = node - leaf
        return
    for n in range(start, stop, 4):
        n1, n2, n3 = min(n + 1, last), min(n + 2, last), min(n + 3, last)
        a: Any = np.uint32(0)
        b = c = d = a
        while min(a, b, c, d) < leaf:
            a = to[a, _left(X[n], a, feature, threshold, nan)]
            b = to[b, _left(X[n1], b, feature, threshold, nan)]
            c = to[c, _left(X[n2], c, feature, threshold, nan)]
            d = to[d, _left(X[n3], d, feature, threshold, nan)]
        out[n - start], out[n1 - start] = a - leaf, b - leaf
        out[n2 - start], out[n3 - start] = c - leaf, d - leaf


@njit(nogil=True)
def _left(x: Array, node: int, feature: Array, threshold: Array, nan: Array) -> Any:
    """Return 1 where a row goes left."""
    value = x[feature[node]]
    return np.uint32((value <= threshold[node]) | (nan[node] & (value != value)))


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
    out = np.empty(_ROWS, np.int64)
    for block in range(start, stop, _ROWS):
        end = min(block + _ROWS, stop)
        for t in range(first.size - 1):
            _route(X, nodes, first[t], first[t + 1] - first[t], block, end, out)
            for n in range(block, end):
                total[n] += leaves[held[t] + out[n - block]]
