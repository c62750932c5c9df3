"""Models of trees that LightGBM and XGBoost trained, read through their public interfaces.

Both libraries return the leaf of each row and a dump with the values of all leaves. A tree is
therefore a vector of leaf values, and its predictions are the entries at the leaves of the rows.
"""

from __future__ import annotations

import importlib
import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError

_OBJECTIVES = (
    "binary:logistic",
    "binary:logitraw",
    "binary:hinge",
    "multi:softprob",
    "multi:softmax",
)

MAKERS = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}
"""The libraries by the names of their packages."""


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """A model as its trees. A tree is the vector of its leaf values, with nan for inner nodes."""

    kind: str
    classes: list[Any] | None
    """The labels, or the numbers from 0; None for two classes whose labels only y knows."""
    values: list[Array]
    """The leaf values of each tree, in the order in which the library numbers its trees."""
    places: list[list[int]]
    """For each output the numbers of its trees."""
    intercepts: list[float]
    """For each output the number that the model adds to its trees."""
    leaves: Callable[[Any], Any]
    """Maps X to the leaf of each row in each tree, as LightGBM or XGBoost predicts it."""
    scores: Callable[[Any], Any]
    """Maps X to the raw scores, as LightGBM or XGBoost predicts them."""
    labels: Callable[[Any], Any] | None
    rounding: float = 1e-8
    """How far `scores` may be from the sum of the trees, relative to the sum of their sizes."""

    def take(self, k: int) -> dict[str, Any]:
        """Return the arguments of `members.Members` for the class k against the rest."""
        at = k if len(self.places) > 1 else 0
        trees = self.places[at]
        return {
            "names": tuple(f"tree {i}" for i in range(len(trees))),
            "weights": np.ones(len(trees)),
            "predict": partial(self._predict, trees),
            "intercept": self.intercepts[at] or None,
            "decision": partial(column, self.scores, k),
            "labels": self.labels,
            "bounds": np.array([np.nanmax(np.abs(self.values[t])) for t in trees]),
            "rounding": self.rounding,
        }

    def _predict(self, trees: list[int], X: Any) -> Array:
        found = np.asarray(self.leaves(X), dtype=np.int64)
        found = found.reshape(-1, len(self.values))
        return np.column_stack([self.values[t][found[:, t]] for t in trees])


def column(scores: Any, k: int, X: Any) -> Any:
    """Return the scores of class k, or of the second of two classes."""
    found = scores(X)
    return found if found.ndim == 1 else found[:, k]


def comes_from(given: Any, package: str, name: str) -> bool:
    """Return whether an object has a class of this package and name, or a subclass of it."""
    classes = [(of.__module__.partition(".")[0], of.__name__) for of in type(given).__mro__]
    return (package, name) in classes


def is_classifier(given: Any) -> bool:
    """Return whether an object is a model of either library in scikit-learn's interface."""
    return comes_from(given, "xgboost", "XGBModel") or comes_from(given, "lightgbm", "LGBMModel")


def read(given: Any) -> BoostedTrees | None:
    """Return a model of either library, in memory or saved, as its trees; None for anything else.

    Raises
    ------
    InputError
        If the library cannot load the model, or the model is not a sum of trees for classes.
    """
    kind = type(given).__name__
    package = _package(given)
    if package is None:
        content = _content(given)
        if content is None:
            return None
        package = _package_of(content)
        given = _load(content, package)
        kind = f"{MAKERS[package]} model"
    found = _lightgbm(given, kind) if package == "lightgbm" else _xgboost(given, kind)
    if len(found.places) == 2:
        raise InputError(
            f"this {MAKERS[package]} model has an output for each of two classes, and a margin "
            "needs one output that separates them; train it with the objective binary"
        )
    return found


def _package(given: Any) -> str | None:
    """Return the library that an object in memory belongs to."""
    names = {"lightgbm": ("Booster", "LGBMModel"), "xgboost": ("Booster", "XGBModel")}
    owners = (p for p, kinds in names.items() if any(comes_from(given, p, kind) for kind in kinds))
    return next(owners, None)


def _content(given: Any) -> bytes | None:
    """Return the bytes of a saved model, given as bytes, text or a path; None for other objects."""
    if isinstance(given, (bytes, bytearray)):
        return bytes(given)
    if isinstance(given, str) and given.lstrip().startswith(("{", "tree\n")):
        return given.encode()
    if not isinstance(given, (str, os.PathLike)):
        return None
    try:
        return Path(given).read_bytes()
    except OSError as error:
        raise InputError(
            f"{given} cannot be read: {error.strerror}; give the path of a model that XGBoost "
            "or LightGBM saved, its text, or the model"
        ) from None


def _package_of(content: bytes) -> str:
    """Return the library that saved a model, by its first bytes."""
    if content.startswith((b"tree\n", b"tree\r")):
        return "lightgbm"
    if content.lstrip().startswith(b"{"):
        return "xgboost"
    raise InputError(
        "this is neither a model of LightGBM as text nor a model of XGBoost as JSON or UBJSON; "
        "save it with save_model, for XGBoost to .json or .ubj"
    )


def _load(content: bytes, package: str) -> Any:
    """Return the Booster that the library loads from a saved model."""
    maker = MAKERS[package]
    try:
        library: Any = importlib.import_module(package)
    except ImportError:
        raise InputError(
            f"{maker} reads its own models and is not installed; run pip install {package}, or "
            "give (predictions, weights)"
        ) from None
    try:
        if package == "lightgbm":
            return library.Booster(model_str=content.decode())
        return library.Booster(model_file=bytearray(content))
    except Exception as error:  # each library raises a class of its own
        raise InputError(
            f"{maker} cannot load this model: {first_line(error)}; save it again with save_model"
        ) from error


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, without a full stop at the end."""
    return (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")


def _classes(given: Any, outputs: int) -> list[Any] | None:
    if is_classifier(given):
        return list(given.classes_.tolist())
    return list(range(outputs)) if outputs > 1 else None


def _checked(X: Any, names: list[str], maker: str) -> Any:
    """Return X as the library takes it, with one column for each feature of the model."""
    # The libraries do not take lists.
    X = X if hasattr(X, "iloc") or hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)
    # LightGBM does not compare names, so that columns in another order would pass unnoticed.
    given = [str(name).replace(" ", "_") for name in getattr(X, "columns", ())]
    known = [name.replace(" ", "_") for name in names]
    numbered = [f"Column_{j}" for j in range(len(names))]
    if given and known not in (given, numbered):
        raise InputError(
            f"X has the columns {', '.join(given[:6])}, and this model was trained on "
            f"{', '.join(known[:6])}; give those, in their order"
        )
    if len(X.shape) != 2 or X.shape[1] != len(names):
        raise InputError(
            f"X has shape {X.shape}, and this {maker} model takes {len(names)} features"
        )
    return X


def _lightgbm(given: Any, kind: str) -> BoostedTrees:
    """Read a model of LightGBM. Its leaves include the rate, the initial score and DART's weights.

    A random forest is read as the sum of its trees, because its raw score is that sum.
    """
    # A Booster ignores this option of its training, and a classifier predicts by it.
    if is_classifier(given) and given.get_params().get("pred_early_stop"):
        raise InputError(
            f"this {kind} has pred_early_stop, so its predictions leave out the last trees for "
            "rows with large scores, and are not the sum of all trees; call "
            "set_params(pred_early_stop=False) and certify it again"
        )
    dump = getattr(given, "booster_", given).dump_model()
    objective = dump.get("objective", "a function of the user")
    if objective.split()[0] not in ("binary", "multiclass", "multiclassova"):
        raise InputError(
            f"this LightGBM model has the objective {objective}, and a margin needs classes: "
            "train it with objective=binary or multiclass"
        )
    values = [_leaf_values(tree["tree_structure"]) for tree in dump["tree_info"]]
    outputs = dump["num_tree_per_iteration"]
    names = dump["feature_names"]
    return BoostedTrees(
        kind=kind,
        classes=_classes(given, outputs),
        values=values,
        places=[list(range(k, len(values), outputs)) for k in range(outputs)],
        intercepts=[0.0] * outputs,
        leaves=partial(_ask_lightgbm, given, names, "pred_leaf"),
        scores=partial(_ask_lightgbm, given, names, "raw_score"),
        labels=given.predict if is_classifier(given) else None,
    )


def _ask_lightgbm(model: Any, names: list[str], output: str, X: Any) -> Any:
    return model.predict(_checked(X, names, "LightGBM"), **{output: True})


def _leaf_values(root: dict[str, Any]) -> Array:
    """Return the values of the leaves of a tree in LightGBM's dump, by their numbers."""
    values = dict[int, float]()
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if "leaf_coeff" in node:
            raise InputError(
                "this LightGBM model has linear functions in its leaves, which have no largest "
                "value; train it without linear_tree"
            )
        if "leaf_value" in node:
            values[node.get("leaf_index", 0)] = node["leaf_value"]
        else:
            nodes += [node["left_child"], node["right_child"]]
    return np.array([values[leaf] for leaf in range(len(values))])


def _xgboost(given: Any, kind: str) -> BoostedTrees:
    """Read a model of XGBoost. The weights of DART are multiplied into the leaves."""
    booster = given
    if is_classifier(given):
        booster = given.get_booster()
        best = getattr(given, "best_iteration", None)
        # A classifier that stopped early predicts by its best rounds only.
        booster = booster if best is None else booster[: best + 1]
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    model = _check_trees(booster, learner)
    shape = learner["learner_model_param"]
    outputs = max(1, int(shape["num_class"]))
    factors = learner["gradient_booster"].get("weight_drop", [1.0] * len(model["trees"]))
    names = learner["feature_names"] or [f"Column_{j}" for j in range(int(shape["num_feature"]))]
    return BoostedTrees(
        kind=kind,
        classes=_classes(given, outputs),
        values=list(map(_node_values, model["trees"], factors)),
        places=[
            [t for t, output in enumerate(model["tree_info"]) if output == k]
            for k in range(outputs)
        ],
        intercepts=_intercepts(shape["base_score"], learner["objective"]["name"], outputs),
        leaves=partial(_ask_xgboost, given, names, "pred_leaf"),
        scores=partial(_ask_xgboost, given, names, "output_margin"),
        labels=given.predict if is_classifier(given) else None,
        # XGBoost adds in single precision; each addition may be off by the size of the sum.
        rounding=max(1e-6, len(model["trees"]) / outputs * 2.0**-24),
    )


def _ask_xgboost(model: Any, names: list[str], output: str, X: Any) -> Any:
    X = _checked(X, names, "XGBoost")
    if is_classifier(model):
        return model.apply(X) if output == "pred_leaf" else model.predict(X, output_margin=True)
    library: Any = importlib.import_module("xgboost")
    known: dict[str, Any] = {"enable_categorical": True}
    # An array has no names of features, and the Booster compares names.
    if not hasattr(X, "iloc"):
        known |= {"feature_names": model.feature_names, "feature_types": model.feature_types}
    return model.predict(library.DMatrix(X, **known), **{output: True})


def _check_trees(booster: Any, learner: Any) -> Any:
    """Return the trees of a saved XGBoost model, or raise unless they are a sum for classes."""
    objective = learner["objective"]["name"]
    kind = learner["gradient_booster"]["name"]
    if objective not in _OBJECTIVES:
        raise InputError(
            f"this XGBoost model has the objective {objective}, and a margin needs classes: "
            "train it with binary:logistic or multi:softprob"
        )
    if kind not in ("gbtree", "dart"):
        raise InputError(
            f"this XGBoost model is a {kind}, and only gbtree and dart are sums of trees"
        )
    best = booster.attr("best_iteration")
    rounds = booster.num_boosted_rounds()
    # It is not known whether the user means the classifier or the Booster.
    if best is not None and int(best) + 1 < rounds:
        raise InputError(
            f"this XGBoost model was best in round {best} and has {rounds} rounds: a classifier "
            f"predicts by the best, a Booster by all; give booster[: {int(best) + 1}], or all with "
            "set_attr(best_iteration=None)"
        )
    gbtree = learner["gradient_booster"].get("gbtree", learner["gradient_booster"])
    if any(
        int(tree["tree_param"].get("size_leaf_vector") or 1) > 1
        for tree in gbtree["model"]["trees"]
    ):
        raise InputError(
            "this XGBoost model has leaves of several outputs, and a margin needs one of two "
            "classes; train it with multi_strategy=one_output_per_tree"
        )
    return gbtree["model"]


def _intercepts(score: Any, objective: str, outputs: int) -> list[float]:
    """Return the base score of each output, as XGBoost adds it to the trees."""
    given = json.loads(str(score))
    bases = [float(base) for base in (given if isinstance(given, list) else [given])]
    # The base score of this objective is a probability, and that of the others a raw score.
    if objective == "binary:logistic":
        return [math.log(base / (1.0 - base)) for base in bases]
    return bases * outputs if len(bases) == 1 else bases


def _node_values(tree: dict[str, Any], factor: float) -> Array:
    """Return the leaf values of a tree of XGBoost by the numbers of its nodes."""
    values = np.array(tree["split_conditions"], dtype=np.float32).astype(np.float64)
    # A node without children keeps its leaf value in the place of a threshold.
    is_leaf = np.array(tree["left_children"]) == -1
    return np.where(is_leaf, values * float(np.float32(factor)), np.nan)
