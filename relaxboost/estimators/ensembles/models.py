"""Models of XGBoost and LightGBM, alive, as text, or in a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost.estimators.ensembles import lightgbm_text, xgboost_json
from relaxboost.estimators.ensembles.readers import column
from relaxboost.estimators.ensembles.trees import TreeSum


def comes_from(given: Any, package: str, name: str) -> bool:
    """Return whether an object is of a class of a package, or of a subclass; nothing is loaded."""
    classes = [(of.__module__.partition(".")[0], of.__name__) for of in type(given).__mro__]
    return (package, name) in classes


class TreeModel(NamedTuple):
    """A model of theirs."""

    kind: str
    classes: list[Any] | None
    """None of two that are known to y only."""
    sums: list[TreeSum]
    """One of two classes, else one of each."""
    scores: Callable[[Any], Any] | None
    labels: Callable[[Any], Any] | None

    def take(self, k: int) -> dict[str, Any]:
        """Return what `members.Members` is made of, as the readers do."""
        found = self.sums[k if len(self.sums) > 1 else 0]
        return {
            "names": tuple(f"tree {i}" for i in range(len(found.trees))),
            "weights": np.ones(len(found.trees)),
            "predict": found,
            "intercept": found.intercept or None,
            "decision": self.scores and partial(column, self.scores, k),
            "labels": self.labels,
            "bounds": np.array([np.abs(tree.values).max() for tree in found.trees]),
            # So many additions in single precision, of at most the sum of the sizes.
            "rounding": max(1e-6, len(found.trees) * 2.0**-24) if found.single else 1e-8,
        }


def model(given: Any) -> TreeModel | None:
    """Return a model of theirs; None for what is none."""
    content, scores, labels = _content(given), None, None
    if content is None:
        return None
    sums = parse(content)
    classes = list(range(len(sums))) if len(sums) > 1 else None
    if is_classifier(given):
        is_xgboost = comes_from(given, "xgboost", "XGBModel")
        asked = {"output_margin" if is_xgboost else "raw_score": True}
        scores, labels = partial(given.predict, **asked), given.predict
        classes = given.classes_.tolist()
        sums = [replace(one, absent=getattr(given, "missing", np.nan)) for one in sums]
    elif comes_from(given, "xgboost", "Booster"):
        scores = partial(given.inplace_predict, predict_type="margin")
    elif comes_from(given, "lightgbm", "Booster"):
        scores = partial(given.predict, raw_score=True)
    kind = type(given).__name__ if scores else f"{sums[0].maker} model"
    return TreeModel(kind, classes, sums, scores, labels)


def is_classifier(given: Any) -> bool:
    """Return whether an object is a model of theirs in scikit-learn's interface."""
    return comes_from(given, "xgboost", "XGBModel") or comes_from(given, "lightgbm", "LGBMModel")


def _content(given: Any) -> bytes | None:
    """Return a model as its library writes it; None for what is no model of theirs."""
    if comes_from(given, "xgboost", "XGBModel"):
        best = getattr(given, "best_iteration", None)
        booster = given.get_booster()
        given = booster if best is None else booster[: best + 1]
    if comes_from(given, "xgboost", "Booster"):
        return bytes(given.save_raw("json"))
    given = getattr(given, "booster_", given)  # of LightGBM's classifiers
    if comes_from(given, "lightgbm", "Booster"):
        return str(given.model_to_string()).encode()
    if isinstance(given, str) and (given.lstrip()[:1] == "{" or given[:5] == "tree\n"):
        return given.encode()
    if isinstance(given, (str, os.PathLike)):
        try:
            return Path(given).read_bytes()
        except OSError as error:
            raise InputError(
                f"{given} cannot be read: {error.strerror}; give the path of a model that XGBoost "
                "or LightGBM saved, its text, or the model"
            ) from None
    return bytes(given) if isinstance(given, (bytes, bytearray)) else None


def parse(content: bytes) -> list[TreeSum]:
    """Return the trees of a model as its library writes it; of several classes those of each.

    Raises
    ------
    InputError
        For what is no such model, is damaged, or is no sum of trees of classes.
    """
    sums: list[TreeSum] = []
    try:
        if content[:5] in (b"tree\n", b"tree\r"):
            sums = lightgbm_text.read(content.decode().replace("\r\n", "\n"))
        elif content.lstrip()[:1] == b"{":
            sums = xgboost_json.read(content)
    except InputError:
        raise
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise InputError(
            f"this model cannot be read: {type(error).__name__}, {error}; save it again, with "
            "XGBoost's save_model to .json or .ubj, or LightGBM's save_model"
        ) from error
    if not sums:
        raise InputError(
            "this is neither a model of LightGBM as text nor one of XGBoost as JSON or UBJSON; "
            "save it with save_model, of XGBoost to .json or .ubj"
        )
    if len(sums) == 2:
        raise InputError(
            f"this {sums[0].maker} model has an output for each of two classes, which are told "
            "apart by one; train it with the objective binary"
        )
    return sums
