"""LightGBM's models as text: `Booster.save_model`, `model_to_string`."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost.estimators.ensembles.trees import NAN, Splits, TreeSum, keys

_CATEGORY, _LEFT = 1, 2
"""Bits of `decision_type`; the next two are what is missing."""


def read(text: str) -> list[TreeSum]:
    """Return the trees of a model of two classes, or of each class of one of several.

    The learning rate, the initial score and the weights of DART are in the leaves already. Of a
    random forest this is the sum, as its raw score is.
    """
    head, *blocks = text.partition("\nend of trees")[0].split("\nTree=")
    lines = _lines(head)
    objective = lines.get("objective", "a function of one's own")
    outputs = int(lines.get("num_tree_per_iteration", "1"))
    if objective.split()[0] not in ("binary", "multiclass", "multiclassova"):
        raise InputError(
            f"this LightGBM model has the objective {objective}, and a margin needs classes: "
            "train it with objective=binary or multiclass"
        )
    names = tuple(lines["feature_names"].split(" "))
    trees = tuple(_tree(_lines(block)).checked(len(names)) for block in blocks)
    if not trees or len(trees) % outputs:
        raise ValueError(f"it has {len(trees)} trees")
    told = text.partition("\npandas_categorical:")[2].partition("\n")[0]
    levels = tuple(map(tuple, (json.loads(told) if told else None) or ()))
    each = [trees[k::outputs] for k in range(outputs)]
    return [TreeSum("LightGBM", own, 0.0, names, categories=levels) for own in each]


def _lines(block: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in block.split("\n") if "=" in line)


def _tree(lines: dict[str, str]) -> Splits:
    if lines.get("is_linear", "0") != "0":
        raise InputError(
            "this LightGBM model has linear functions in its leaves, which have no largest value; "
            "train it without linear_tree"
        )

    def row(name: str, kind: Any = np.int64) -> Any:
        return np.array(lines.get(name, "").split(), dtype=kind)

    kind, threshold = row("decision_type"), row("threshold", np.float64)
    category = kind & _CATEGORY > 0
    ends, words = row("cat_boundaries"), row("cat_threshold")
    sets = [np.zeros(0, dtype=np.int64)]
    for node in np.flatnonzero(category).tolist():
        which = int(threshold[node])
        bits = words[ends[which] : ends[which + 1], None] >> np.arange(32) & 1
        sets.append(keys(node, np.flatnonzero(bits)))
    return Splits(
        feature=row("split_feature"),
        threshold=threshold,
        missing=np.where(category, NAN, kind >> 2 & 3),
        missing_left=(kind & _LEFT > 0) & ~category,
        category=category,
        left=row("left_child"),
        right=row("right_child"),
        values=row("leaf_value", np.float64),
        sets=np.concatenate(sets),
    )
