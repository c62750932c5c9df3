"""Models of XGBoost and LightGBM, alive, as text, or in a file."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from relaxboost._core.errors import InputError
from relaxboost.estimators.ensembles import lightgbm_text, xgboost_json
from relaxboost.estimators.ensembles.trees import TreeSum


def comes_from(given: Any, packages: tuple[str, ...], name: str) -> bool:
    """Return whether an object is of a class of packages, or of a subclass; none is loaded."""
    return any(
        of.__name__ == name and of.__module__.partition(".")[0] in packages
        for of in type(given).__mro__
    )


def is_classifier(given: Any) -> bool:
    """Return whether an object is a model of XGBoost or LightGBM in scikit-learn's interface."""
    return comes_from(given, ("xgboost",), "XGBModel") or comes_from(
        given, ("lightgbm",), "LGBMModel"
    )


class Alive(NamedTuple):
    """What a model in memory knows beside its trees."""

    decision: Any
    labels: Any = None
    classes: Any = None
    absent: float | None = None
    """What it takes for a missing value, beside nan."""

    @classmethod
    def of(cls, given: Any) -> Alive | None:
        """Return what is known; None for text and files."""
        if isinstance(given, (str, bytes, os.PathLike)):
            return None
        if comes_from(given, ("xgboost",), "Booster"):
            return cls(partial(given.inplace_predict, predict_type="margin"))
        if comes_from(given, ("lightgbm",), "Booster"):
            return cls(partial(given.predict, raw_score=True))
        scores = "output_margin" if comes_from(given, ("xgboost",), "XGBModel") else "raw_score"
        decision = partial(given.predict, **{scores: True})
        return cls(decision, given.predict, given.classes_, getattr(given, "missing", None))


def content(given: Any) -> bytes | None:
    """Return a model as its library writes it; None for what is no model of theirs."""
    if comes_from(given, ("xgboost",), "XGBModel"):
        best = getattr(given, "best_iteration", None)
        booster = given.get_booster()
        given = booster if best is None else booster[: best + 1]
    if comes_from(given, ("xgboost",), "Booster"):
        return bytes(given.save_raw("json"))
    if comes_from(given, ("lightgbm",), "LGBMModel"):
        given = given.booster_
    if comes_from(given, ("lightgbm",), "Booster"):
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


def parse(content: bytes) -> TreeSum:
    """Return the trees of a model as its library writes it.

    Raises
    ------
    InputError
        For what is no such model, is damaged, or is no sum of trees of two classes.
    """
    try:
        if content[:5] in (b"tree\n", b"tree\r"):
            return lightgbm_text.read(content.decode().replace("\r\n", "\n"))
        if content.lstrip()[:1] == b"{":
            return xgboost_json.read(content)
    except InputError:
        raise
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise InputError(
            f"this model cannot be read: {type(error).__name__}, {error}; save it again, with "
            "XGBoost's save_model to .json or .ubj, or LightGBM's save_model"
        ) from error
    raise InputError(
        "this is neither a model of LightGBM as text nor one of XGBoost as JSON or UBJSON; save "
        "it with save_model, of XGBoost to .json or .ubj"
    )
