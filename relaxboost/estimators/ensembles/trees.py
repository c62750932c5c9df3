"""Sums of trees that other libraries trained: their splits as arrays, and rows led through them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError

NEVER, ZERO, NAN = 0, 1, 2
"""What counts as missing at a split: nothing, so that nan is 0; also what is nearly 0; nan."""
_NEARLY = 1e-35  # to LightGBM
_ROOM = 2**32  # for categories in the keys of sets


class Splits(NamedTuple):
    """A tree. A row goes left where its feature is at most the threshold, or in the set.

    What is missing goes as `missing_left` says. All but `values` and `sets` have an entry for each
    inner node, the root first; without any the tree is one leaf.
    """

    feature: Whole
    threshold: Array
    missing: Whole
    """NEVER, ZERO or NAN."""
    missing_left: Any
    category: Any
    """Whether the split is by a set of categories."""
    left: Whole
    """A node, or ~leaf."""
    right: Whole
    values: Array
    """Of the leaves."""
    sets: Whole
    """The members of all sets, as node · 2^32 + category."""

    def checked(self, width: int) -> Splits:
        """Return the tree, or raise a ValueError for one that rows get lost in."""
        below, size = np.concatenate([self.left, self.right]), self.feature.size
        # No node has two parents, and the root has none: so no way down comes back.
        once = np.unique(below).size == below.size and 0 not in below
        inside = ((below < size) & (below >= -self.values.size)).all() and self.values.size > 0
        known = ((self.feature >= 0) & (self.feature < width)).all()
        whole = all(field.shape == (size,) for field in self[:-2])
        if not (whole and once and inside and known and np.isfinite(self.values).all()):
            raise ValueError("its nodes make no tree")
        return self

    def __call__(self, X: Array) -> Array:
        """Return the value of the leaf of each row of X, shape (rows,)."""
        at = np.full(len(X), 0 if self.feature.size else -1)
        rows = np.flatnonzero(at == 0)
        while rows.size:
            node = at[rows]
            x = X[rows, self.feature[node]]
            kind, nan = self.missing[node], np.isnan(x)
            gone = np.where(kind == NAN, nan, (kind == ZERO) & (nan | (np.abs(x) <= _NEARLY)))
            x = np.where(nan, 0.0, x)
            goes = x <= self.threshold[node]
            if self.sets.size:
                code = np.clip(np.trunc(x), -1, _ROOM - 1).astype(np.int64)
                member = (code >= 0) & np.isin(node * _ROOM + code, self.sets)
                goes = np.where(self.category[node], member, goes)
            goes = np.where(gone, self.missing_left[node], goes)
            at[rows] = np.where(goes, self.left[node], self.right[node])
            rows = rows[at[rows] >= 0]
        return self.values[~at]


def keys(node: int, categories: Any) -> Whole:
    """Return the members of the set of one node, for `Splits.sets`."""
    return node * _ROOM + np.asarray(categories, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class TreeSum:
    """A model: the sum of its trees, and an intercept."""

    maker: str
    trees: tuple[Splits, ...]
    intercept: float
    features: tuple[str, ...]
    """Their names, or as many empty ones."""
    single: bool = False
    """Whether features are rounded to single precision."""
    categories: tuple[tuple[Any, ...], ...] = ()
    """Of the categorical columns of the frame that it was trained on, in their order."""
    absent: float = np.nan
    """What else stands for a missing value."""

    def __call__(self, X: Any) -> Array:
        """Return what each tree says of rows X, shape (rows, trees)."""
        given = self._numbers(X)
        return np.column_stack([tree(given) for tree in self.trees])

    def _numbers(self, X: Any) -> Array:
        if hasattr(X, "iloc"):
            X = self._coded(X)
        if hasattr(X, "tocsr"):
            raise InputError(
                f"X is sparse, and what {self.maker} takes an entry that is not stored for is "
                "not in the model; give X.toarray(), with nan where a value is missing"
            )
        given = np.asarray(X, dtype=np.float64)
        if given.ndim != 2 or given.shape[1] != len(self.features):
            raise InputError(
                f"X has shape {given.shape}, and this model takes {len(self.features)} features"
            )
        given = np.where(given == self.absent, np.nan, given)
        return given.astype(np.float32) if self.single else given

    def _coded(self, X: Any) -> Any:
        """Return a frame with categories as their codes, once its columns are those of training."""
        names = [str(name).replace(" ", "_") for name in X.columns]
        known = [name.replace(" ", "_") for name in self.features]
        if any(known) and names != known:
            raise InputError(
                f"X has the columns {', '.join(names[:6])}, and this model was trained on "
                f"{', '.join(known[:6])}; give those, in their order"
            )
        coded = [name for name, kind in X.dtypes.items() if hasattr(kind, "categories")]
        if len(coded) != len(self.categories):
            raise InputError(
                f"X has {len(coded)} categorical columns, and the model knows the categories of "
                f"{len(self.categories)}; train on, and give, codes: X[name].cat.codes"
            )
        codes = {
            name: X[name].cat.set_categories(list(levels)).cat.codes.replace(-1, np.nan)
            for name, levels in zip(coded, self.categories, strict=True)
        }
        return X.assign(**codes)
