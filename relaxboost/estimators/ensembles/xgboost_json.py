"""XGBoost's models as JSON and UBJSON: `Booster.save_model`, `save_raw`."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost.estimators.ensembles.trees import NAN, Splits, TreeSum, keys

_TWO = ("binary:logistic", "binary:logitraw", "binary:hinge")
_SEVERAL = ("multi:softprob", "multi:softmax")
_NUMBERS = {"i": "i1", "U": "u1", "I": ">i2", "l": ">i4", "L": ">i8", "d": ">f4", "D": ">f8"}
"""UBJSON's types of numbers, the first byte first."""


def read(content: bytes) -> list[TreeSum]:
    """Return the trees of a model of two classes, or of each class of one of several.

    Weights of DART go into the leaves.
    """
    # A document of JSON goes on with a quote, one of UBJSON with the type of a length.
    plain = content.lstrip()[1:].lstrip()[:1] == b'"'
    learner = (json.loads(content) if plain else _ubjson(content))["learner"]
    found, objective = learner["gradient_booster"], learner["objective"]["name"]
    if objective not in _TWO + _SEVERAL:
        raise InputError(
            f"this XGBoost model has the objective {objective}, and a margin needs classes: "
            "train it with binary:logistic or multi:softprob"
        )
    if found["name"] not in ("gbtree", "dart"):
        raise InputError(
            f"this XGBoost model is a {found['name']}, and only gbtree and dart are sums of trees"
        )
    model = found.get("gbtree", found)["model"]
    if model.get("cats", {}).get("enc"):
        raise InputError(
            "this XGBoost model was trained on a frame with categories, and has numbered them "
            "anew; train it on their codes, X[name].cat.codes, with feature_types"
        )
    given = learner["learner_model_param"]
    outputs = int(given["num_class"]) if objective in _SEVERAL else 1
    _check_rounds(learner, model, outputs)
    width = int(given["num_feature"])
    factors = found.get("weight_drop", [1.0] * len(model["trees"]))
    trees = tuple(
        _tree(tree, factor).checked(width)
        for tree, factor in zip(model["trees"], factors, strict=True)
    )
    pairs = list(zip(trees, model["tree_info"], strict=True))
    each = [tuple(tree for tree, of in pairs if of == k) for k in range(outputs)]
    if not all(each) or sum(map(len, each)) < len(trees):
        raise ValueError("its trees are not those of its classes")
    names = tuple(map(str, learner["feature_names"])) or ("",) * width
    bases = _bases(given["base_score"], objective, outputs)
    sums = zip(each, bases, strict=True)
    return [TreeSum("XGBoost", own, base, names, single=True) for own, base in sums]


def _check_rounds(learner: Any, model: Any, outputs: int) -> None:
    """Raise where the classifier that was saved uses fewer trees than are there."""
    best = learner.get("attributes", {}).get("best_iteration")
    per = (int(model["gbtree_model_param"].get("num_parallel_tree", 1)) or 1) * outputs
    if best is not None and (int(best) + 1) * per < len(model["trees"]):
        raise InputError(
            f"this XGBoost model was best in round {best} and has {len(model['trees']) // per} "
            f"rounds: a classifier predicts by the best, a Booster by all; give "
            f"booster[: {int(best) + 1}], or all with set_attr(best_iteration=None)"
        )


def _bases(score: Any, objective: str, outputs: int) -> list[float]:
    """Return the scores that sums begin with, one for each class or one for all."""
    given = json.loads(str(score))
    bases = [float(base) for base in (given if isinstance(given, list) else [given])]
    if objective == "binary:logistic":  # of this alone it is a probability
        return [math.log(base / (1.0 - base)) for base in bases]
    return bases * (outputs if len(bases) == 1 else 1)


def _tree(given: dict[str, Any], factor: float) -> Splits:
    if int(given["tree_param"].get("size_leaf_vector") or 1) > 1:
        raise InputError(
            "this XGBoost model has leaves of several outputs, and a margin needs one of two "
            "classes; train it with multi_strategy=one_output_per_tree"
        )
    left, right = np.array(given["left_children"]), np.array(given["right_children"])
    inner = left != -1
    # Nodes and leaves are numbered together; here each by themselves, a leaf as ~number.
    number = np.where(inner, np.cumsum(inner) - 1, ~(np.cumsum(~inner) - 1))
    if not ((left[inner] < left.size) & (right[inner] < left.size)).all():
        raise ValueError("its nodes make no tree")
    condition = np.array(given["split_conditions"], dtype=np.float32)
    kinds = np.array(given.get("split_type", []), dtype=np.int64)
    category = (kinds[inner] if kinds.size else np.zeros(inner.sum(), dtype=np.int64)) == 1
    members = np.array(given.get("categories", []), dtype=np.int64)
    lists = (given.get(f"categories_{name}", []) for name in ("nodes", "segments", "sizes"))
    sets = [np.zeros(0, dtype=np.int64)]
    for node, begin, size in zip(*lists, strict=True):
        sets.append(keys(int(number[node]), members[begin : begin + size]))
    # Categories of the set go right there, and left here.
    below = np.where(category, (right[inner], left[inner]), (left[inner], right[inner]))
    default = np.array(given["default_left"], dtype=np.int64)[inner] == 1
    return Splits(
        feature=np.array(given["split_indices"], dtype=np.int64)[inner],
        # Below the condition, which is single as x is: at most the number before it.
        threshold=np.nextafter(condition[inner], np.float32(-np.inf)),
        missing=np.full(inner.sum(), NAN),
        missing_left=default ^ category,
        category=category,
        left=number[below[0]],
        right=number[below[1]],
        values=condition[~inner].astype(np.float64) * float(np.float32(factor)),
        sets=np.concatenate(sets),
    )


def _ubjson(content: bytes) -> Any:
    """Return what a document of Universal Binary JSON holds, of what XGBoost writes of it."""
    at = 0

    def take(size: int) -> bytes:
        nonlocal at
        at += size
        if size < 0 or at > len(content):
            raise ValueError("it is cut short")
        return content[at - size : at]

    def numbers(kind: str, count: int) -> list[Any]:
        form = np.dtype(_NUMBERS[kind])
        return np.frombuffer(take(count * form.itemsize), form).tolist()

    def sees(mark: bytes) -> bool:
        nonlocal at
        seen = content[at : at + 1] == mark
        at += seen
        return seen

    def value() -> Any:
        kind = take(1).decode("latin-1")
        if kind in _NUMBERS:
            return numbers(kind, 1)[0]
        if kind == "S":
            return take(value()).decode()
        if kind == "{":
            found = {}
            while not sees(b"}"):
                name = take(value()).decode()
                found[name] = value()
            return found
        if kind == "[" and sees(b"$"):  # numbers of one kind
            kind = take(2).decode("latin-1")[0]
            return numbers(kind, value())
        if kind == "[":
            items: list[Any] = []
            count = value() if sees(b"#") else -1
            while len(items) != count and not (count < 0 and sees(b"]")):
                items.append(value())
            return items
        return {"Z": None, "T": True, "F": False}[kind]

    return value()
