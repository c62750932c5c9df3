"""Readers for LightGBM and XGBoost models, which use only the libraries' public interfaces."""

from __future__ import annotations

import importlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError, few
from relaxboost._core.names import did_you_mean

# The objectives whose raw scores are sums of trees. The sign of the score or the largest score
# decides the class.
_OBJECTIVES = (
    "binary:logistic",
    "binary:logitraw",
    "binary:hinge",
    "multi:softprob",
    "multi:softmax",
)


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """The trees and prediction functions of a LightGBM or XGBoost model."""

    kind: str
    classes: list[Any] | None
    """The class labels. For a Booster, these are class numbers, or None for two classes."""
    values: list[Array]
    """The value of each node of each tree, nan for inner nodes. Trees have the library's order."""
    places: list[list[int]]
    """For each output of the model, the indices of the trees that are summed."""
    intercepts: list[float]
    """For each output of the model, the intercept that is added to the trees."""
    leaves: Callable[[Any], Any]
    """The library's function that maps X to the leaf of each row in each tree."""
    scores: Callable[[Any], Any]
    labels: Callable[[Any], Any] | None
    rounding: float = 1e-8
    """The largest allowed difference between the library's score and the sum of the leaf values,
    relative to the sum of the largest absolute leaf values."""

    def take(self, k: int) -> dict[str, Any]:
        """Return the arguments for `members.Members` that describe class k against the rest."""
        # For two classes there is one output, whose sign decides.
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
    """Return the scores of class k. For two classes, they are the scores of the second class."""
    found = scores(X)
    return found if found.ndim == 1 else found[:, k]


def other_columns(given: list[Any], known: list[Any]) -> str:
    """Return how the columns of X differ from those in `fit`, or an empty string."""
    if not given or not known or given == known:
        return ""
    missing = [name for name in known if name not in given]
    unknown = [name for name in given if name not in known]
    if unknown:
        near = did_you_mean(str(unknown[0]), map(str, missing), 0.6)
        return f"column {unknown[0]!r} was not in fit{near or '; leave it out'}"
    if missing:
        return f"column {missing[0]!r} from fit is missing; add it"
    return f"its columns are not in the order of fit ({few(known, 6, str)}); reorder them"


def comes_from(given: Any, package: str, name: str) -> bool:
    """Return whether an object is an instance of a library's class."""
    # The class is compared by name, because isinstance would have to import the package.
    classes = [(of.__module__.partition(".")[0], of.__name__) for of in type(given).__mro__]
    return (package, name) in classes


def is_classifier(given: Any) -> bool:
    """Return whether an object is an XGBoost or LightGBM model with scikit-learn's interface."""
    return comes_from(given, "xgboost", "XGBModel") or comes_from(given, "lightgbm", "LGBMModel")


def read(given: Any) -> BoostedTrees | None:
    """Return the trees of an XGBoost or LightGBM model, or None for other objects.

    Raises
    ------
    InputError
        If the model is not a classifier that sums trees.
    """
    if comes_from(given, "lightgbm", "Booster") or comes_from(given, "lightgbm", "LGBMModel"):
        found = _lightgbm(given)
    elif comes_from(given, "xgboost", "Booster") or comes_from(given, "xgboost", "XGBModel"):
        found = _xgboost(given)
    else:
        return None
    if len(found.places) == 2:
        raise InputError(
            f"this {found.kind} has one output for each of its two classes, but a margin needs a "
            "single output that separates the classes; train the model with a binary objective"
        )
    return found


def _classes(given: Any, outputs: int) -> list[Any] | None:
    if is_classifier(given):
        return list(given.classes_.tolist())
    # A Booster has no labels, and its classes are numbers.
    return list(range(outputs)) if outputs > 1 else None


def _checked(X: Any, names: list[str]) -> Any:
    # The libraries do not take lists. Frames keep their categories, and sparse tables stay sparse.
    X = X if hasattr(X, "iloc") or hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)
    # LightGBM does not compare names, so that columns in another order would give wrong scores
    # without an error. It replaces spaces in names by underscores.
    given = [str(name).replace(" ", "_") for name in getattr(X, "columns", ())]
    known = [name.replace(" ", "_") for name in names]
    numbered = [f"Column_{j}" for j in range(len(names))]
    if given and known not in (given, numbered):
        raise InputError(f"this model cannot predict on X, because {other_columns(given, known)}")
    if len(X.shape) != 2 or X.shape[1] != len(names):
        raise InputError(f"X has shape {X.shape}, but this model expects {len(names)} features")
    return X


def _lightgbm(given: Any) -> BoostedTrees:
    # A Booster ignores this option of its training, and a classifier predicts by it.
    if is_classifier(given) and given.get_params().get("pred_early_stop"):
        raise InputError(
            f"this {type(given).__name__} has pred_early_stop=True. For rows with large scores "
            "its predictions leave out the last trees; call set_params(pred_early_stop=False) and "
            "certify the model again"
        )
    dump = getattr(given, "booster_", given).dump_model()
    objective = dump.get("objective", "a function of the user")
    if objective.split()[0] not in ("binary", "multiclass", "multiclassova"):
        raise InputError(
            f"this LightGBM model has the objective {objective}, but a margin needs a classifier; "
            "train it with objective=binary or multiclass"
        )
    # The leaf values include the learning rate, the initial score and the weights of DART. The raw
    # score of a random forest is the sum of its trees.
    values = [_leaf_values(tree["tree_structure"]) for tree in dump["tree_info"]]
    outputs = dump["num_tree_per_iteration"]
    names = dump["feature_names"]
    return BoostedTrees(
        kind=type(given).__name__,
        classes=_classes(given, outputs),
        values=values,
        places=[list(range(k, len(values), outputs)) for k in range(outputs)],
        intercepts=[0.0] * outputs,
        leaves=partial(_ask_lightgbm, given, names, "pred_leaf"),
        scores=partial(_ask_lightgbm, given, names, "raw_score"),
        labels=given.predict if is_classifier(given) else None,
    )


def _ask_lightgbm(model: Any, names: list[str], output: str, X: Any) -> Any:
    return model.predict(_checked(X, names), **{output: True})


def _leaf_values(root: dict[str, Any]) -> Array:
    values = dict[int, float]()
    nodes = [root]
    # The dump is walked with a stack, because a deep tree would exceed Python's limit of recursion.
    while nodes:
        node = nodes.pop()
        if "leaf_coeff" in node:
            raise InputError(
                "this LightGBM model has linear trees, whose leaf values are unbounded; "
                "train it without linear_tree"
            )
        if "leaf_value" in node:
            values[node.get("leaf_index", 0)] = node["leaf_value"]
        else:
            nodes += [node["left_child"], node["right_child"]]
    return np.array([values[leaf] for leaf in range(len(values))])


def _xgboost(given: Any) -> BoostedTrees:
    booster = given
    if is_classifier(given):
        booster = given.get_booster()
        best = getattr(given, "best_iteration", None)
        # A classifier that stopped early predicts by the rounds up to the best one only.
        booster = booster if best is None else booster[: best + 1]
    # XGBoost documents this format. `trees_to_dataframe` lacks the weights of DART.
    learner = json.loads(bytes(booster.save_raw("json")))["learner"]
    model = _check_trees(booster, learner)
    shape = learner["learner_model_param"]
    outputs = max(1, int(shape["num_class"]))
    factors = learner["gradient_booster"].get("weight_drop", [1.0] * len(model["trees"]))
    names = learner["feature_names"] or [f"Column_{j}" for j in range(int(shape["num_feature"]))]
    return BoostedTrees(
        kind=type(given).__name__,
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
        # XGBoost adds trees in single precision, where each addition rounds by 2^-24 of the sum.
        rounding=max(1e-6, len(model["trees"]) / outputs * 2.0**-24),
    )


def _ask_xgboost(model: Any, names: list[str], output: str, X: Any) -> Any:
    X = _checked(X, names)
    if is_classifier(model):
        return model.apply(X) if output == "pred_leaf" else model.predict(X, output_margin=True)
    library: Any = importlib.import_module("xgboost")
    known: dict[str, Any] = {"enable_categorical": True}
    # The Booster compares names, and an array has none.
    if not hasattr(X, "iloc"):
        known |= {"feature_names": model.feature_names, "feature_types": model.feature_types}
    return model.predict(library.DMatrix(X, **known), **{output: True})


def _check_trees(booster: Any, learner: Any) -> Any:
    objective = learner["objective"]["name"]
    kind = learner["gradient_booster"]["name"]
    if objective not in _OBJECTIVES:
        raise InputError(
            f"this XGBoost model has the objective {objective}, but a margin needs a classifier; "
            "train it with binary:logistic or multi:softprob"
        )
    if kind not in ("gbtree", "dart"):
        raise InputError(
            f"this XGBoost model has the booster {kind}, but only gbtree and dart are sums of trees"
        )
    best = booster.attr("best_iteration")
    rounds = booster.num_boosted_rounds()
    # The user may mean the ensemble of the classifier or that of the Booster, which differ.
    if best is not None and int(best) + 1 < rounds:
        raise InputError(
            f"this XGBoost model has {rounds} rounds, and round {best} was the best. A classifier "
            "would predict with the rounds up to the best, but a Booster uses all rounds; pass "
            f"booster[: {int(best) + 1}], or call set_attr(best_iteration=None) to use all "
            "rounds"
        )
    gbtree = learner["gradient_booster"].get("gbtree", learner["gradient_booster"])
    if any(
        int(tree["tree_param"].get("size_leaf_vector") or 1) > 1
        for tree in gbtree["model"]["trees"]
    ):
        raise InputError(
            "this XGBoost model has leaves with several outputs, but a margin needs trees with "
            "one output; train the model with multi_strategy=one_output_per_tree"
        )
    return gbtree["model"]


def _intercepts(score: Any, objective: str, outputs: int) -> list[float]:
    given = json.loads(str(score))
    bases = [float(base) for base in (given if isinstance(given, list) else [given])]
    # For this objective the file contains the intercept as a probability, and for others as a raw
    # score.
    if objective == "binary:logistic":
        return [math.log(base / (1.0 - base)) for base in bases]
    return bases * outputs if len(bases) == 1 else bases


def _node_values(tree: dict[str, Any], factor: float) -> Array:
    """Return the value of each leaf at its node number, with nan at inner nodes."""
    values = np.array(tree["split_conditions"], dtype=np.float32).astype(np.float64)
    # XGBoost stores the value of a leaf in the array of thresholds.
    is_leaf = np.array(tree["left_children"]) == -1
    return np.where(is_leaf, values * float(np.float32(factor)), np.nan)
