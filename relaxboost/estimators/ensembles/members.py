"""The parts of an ensemble: hypotheses, weights, intercept and decision function."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError, few
from relaxboost.estimators.ensembles import boosters, readers
from relaxboost.estimators.ensembles.boosters import other_columns
from relaxboost.estimators.ensembles.readers import BY_HAND

_READERS: dict[str, Callable[[Any, int], dict[str, Any]]] = {
    "AdaBoostClassifier": readers.adaboost,
    "GradientBoostingClassifier": readers.gradient_boosting,
    "HistGradientBoostingClassifier": readers.hist_gradient_boosting,
    "RandomForestClassifier": readers.forest,
    "ExtraTreesClassifier": readers.forest,
    "BaggingClassifier": readers.bagging,
    "VotingClassifier": readers.voting,
    "FunctionalGradientClassifier": readers.functional,
    "MarginBoostClassifier": readers.margin,
}
"""For each supported class of scikit-learn and this package, the reader of its instances and of
instances of its subclasses."""


@dataclass(frozen=True, eq=False)
class Members:
    """The parts of an ensemble: its hypotheses h_j with their weights, and its intercept.

    Its decision is Σ_j weights_j h_j(x) + intercept.
    """

    kind: str
    names: tuple[str, ...]
    weights: Array
    predict: Callable[[Any], Any] = field(repr=False)
    """A function that maps X to the predictions of the hypotheses, with a row for each row of X and
    a column for each hypothesis."""
    intercept: float | None = None
    classes: tuple[Any, Any] | None = None
    """The classes that stand for −1 and +1, or None if y determines them."""
    target: Any = None
    known: tuple[Any, ...] = ()
    """All classes, if there are more than two. Then `classes` are False and True."""
    decision: Callable[[Any], Any] | None = field(default=None, repr=False)
    """A function that returns the library's decision values, on the scale of the weighted sum. It
    is None for hard votes and for the pair (H, weights)."""
    labels: Callable[[Any], Any] | None = field(default=None, repr=False)
    """A function that maps X to the labels that the ensemble predicts."""
    bounds: Array | None = field(default=None, repr=False)
    """The largest |h_j(x)| over all x, for each hypothesis; nan or None if unknown."""
    columns: tuple[Any, ...] = ()
    """The column names of X in `fit`, if the estimator stores them."""
    rounding: float = 1e-8
    """The largest allowed difference between `decision` and the weighted sum of the hypotheses,
    relative to the sum of their sizes. Reordering the additions changes it by about 1e-15."""

    def positive(self, classes: tuple[Any, Any]) -> Any:
        """Return the label that stands for +1.

        The argument `classes` contains the labels of −1 and +1 for two classes.
        """
        return self.target if self.known else classes[1]


def take_apart(estimator: Any, target: Any = None) -> Members:
    """Return the parts of a fitted ensemble, a tree model or a pair (H, weights).

    For more than two classes, the hypotheses separate the class `target` from the rest.

    Raises
    ------
    InputError
        If the object is not a fitted, supported ensemble, or does not have the class `target`.
    """
    if isinstance(estimator, tuple):
        return _of_predictions(estimator)
    # Pipelines have steps. They are recognised without an import of scikit-learn.
    if hasattr(estimator, "steps") and len(estimator.steps):
        return _last_step(estimator, target)
    kind = type(estimator).__name__
    if boosters.is_classifier(estimator):
        _check_fitted(estimator, kind)
    model = boosters.read(estimator)
    if model is None:
        take, known = _read(estimator, kind)
    elif model.classes is None:
        return Members(model.kind, **model.take(1))
    else:
        kind = model.kind
        take = model.take
        known = model.classes
    if len(known) > 2 and target is not None and target not in known:
        shown = few(known, 12, repr)
        raise InputError(f"this {kind} has no class {target!r}; pass one of {shown} as target")
    if len(known) > 2 and target is not None:
        # `predict` chooses among all classes, and says nothing of one class against the rest.
        parts = take(known.index(target)) | {"labels": None}
        parts |= {"target": target, "known": tuple(known), "classes": (False, True)}
        return Members(kind=f"{kind}, {target!r} against the rest", **parts)
    classes = _two_classes(known, kind)
    return Members(kind, classes=classes, **take(1))


def _two_classes(given: Any, kind: str) -> tuple[Any, Any]:
    classes = np.asarray(given)
    if classes.size != 2:
        remedy = ""
        if classes.size > 2:
            remedy = "; pass target=, the class to separate from the rest"
        raise InputError(
            f"this {kind} has {classes.size} class{'es' * (classes.size != 1)} "
            f"({few(classes.tolist(), 6)}), but a margin needs two classes{remedy}"
        )
    negative, positive = classes.tolist()
    return negative, positive


def _last_step(pipeline: Any, target: Any) -> Members:
    """Return the parts of the ensemble at the end of a pipeline. Earlier steps transform X."""
    *before, (_, last) = pipeline.steps
    members = take_apart(last, target)
    if not before:
        return members

    # These are partial objects instead of closures, because reports are pickled.
    def then(question: Any) -> Any:
        return None if question is None else partial(_after, pipeline[:-1].transform, question)

    return replace(
        members,
        kind=f"Pipeline to {members.kind}",
        columns=_columns_of(pipeline),
        predict=then(members.predict),
        decision=then(members.decision),
        labels=then(members.labels),
    )


def _after(transform: Any, question: Any, X: Any) -> Any:
    return question(transform(X))


def _read(estimator: Any, kind: str) -> tuple[Callable[[int], dict[str, Any]], list[Any]]:
    """Return the reader of a fitted ensemble and the list of its class labels.

    The reader maps the index of the class +1 to the arguments for `Members`.
    """
    take = _reader_of(estimator, kind)
    _check_fitted(estimator, kind)
    if isinstance(estimator.classes_, list):
        raise InputError(
            f"this {kind} predicts several labels at a time, but a margin needs one label with "
            "two classes; fit one ensemble for each label"
        )

    def taken(k: int) -> dict[str, Any]:
        return {"labels": estimator.predict, "columns": _columns_of(estimator)} | take(estimator, k)

    return taken, estimator.classes_.tolist()


def _columns_of(estimator: Any) -> tuple[Any, ...]:
    return tuple(getattr(estimator, "feature_names_in_", ()))


def _reader_of(estimator: Any, kind: str) -> Callable[[Any, int], dict[str, Any]]:
    from sklearn.base import is_classifier, is_regressor

    if isinstance(estimator, type):
        raise InputError(f"certify_ensemble needs a fitted {estimator.__name__}, not the class")
    for name, take in _READERS.items():
        if any(boosters.comes_from(estimator, home, name) for home in ("sklearn", "relaxboost")):
            return take
    known = ", ".join(_READERS) + ", models of XGBoost and LightGBM"
    if hasattr(estimator, "fit") and is_regressor(estimator):
        raise InputError(
            f"{kind} is a regressor, but a margin needs a classifier with two classes: one of "
            f"{known}; or pass (H, weights), and the sign of each example in y"
        )
    hint = ""
    if isinstance(estimator, (str, bytes, os.PathLike)):
        hint = "; load a saved model with lightgbm.Booster or xgboost.Booster(model_file=...)"
    elif hasattr(estimator, "best_estimator_"):
        hint = "; pass its best_estimator_"
    elif hasattr(estimator, "fit") and is_classifier(estimator):
        hint = ", which is not a supported ensemble"
    raise InputError(
        f"certify_ensemble does not accept {kind}{hint}; it accepts {known}; {BY_HAND}"
    )


def _check_fitted(estimator: Any, kind: str) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(estimator)
    except NotFittedError:
        raise InputError(
            f"this {kind} is not fitted, and only a fitted ensemble has a margin; call fit(X, y) "
            "first"
        ) from None


def ask(members: Members, predict: Any, X: Any) -> Any:
    """Call a prediction function of an ensemble with X.

    If it fails, the InputError names the ensemble and the reason.
    """
    try:
        # The whole ensemble predicts first, because it checks X and its members do not.
        if members.labels is not None:
            members.labels(X)
        return predict(X)
    except InputError:
        raise
    except Exception as error:  # The libraries raise errors of classes that are not ValueError.
        # The place of a missing value helps only if the ensemble refuses missing values.
        said = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        where = _place_of_nan(X) if "NaN" in said or "infinity" in said else ""
        # scikit-learn names the columns in further lines of its error, and no similar names.
        odd = other_columns(list(getattr(X, "columns", ())), list(members.columns))
        if odd and re.search("feature names|columns", said):
            raise InputError(f"this {members.kind} cannot predict on X, because {odd}") from error
        raise InputError(
            f"this {members.kind} cannot predict on X{where}: {said}; prepare X as for fit"
        ) from error


def _place_of_nan(X: Any) -> str:
    try:
        bad = ~np.isfinite(np.asarray(X, dtype=np.float64))
    except (TypeError, ValueError):
        return ""
    if bad.ndim != 2 or not bad.any():
        return ""
    row, column = np.unravel_index(int(np.argmax(bad)), bad.shape)
    return f", which is not finite at row {row}, column {column} (impute or drop it)"


def _of_predictions(pair: tuple[Any, ...]) -> Members:
    if len(pair) != 2:
        raise InputError(
            f"an ensemble that is a tuple must be (H, weights), but this tuple has {len(pair)} "
            "entries; pass predictions and weights"
        )
    H = table(pair[0])
    weights = np.asarray(pair[1])
    n = H.shape[1]
    if weights.shape != (n,) or weights.dtype.kind not in "iuf":
        raise InputError(
            f"weights must have shape ({n},), with one number for each column of H, got "
            f"{weights.shape} and dtype {weights.dtype}"
        )
    weights = weights.astype(np.float64)
    if not np.isfinite(weights).all():
        raise InputError(
            f"weight {int(np.argmin(np.isfinite(weights)))} is nan or infinite; "
            "weights must be finite"
        )
    names = tuple(f"h{j}" for j in range(n))
    return Members("(H, weights)", names, weights, table)


def table(H: Any) -> Array:
    """Return the predictions H as a matrix with a row per example and a column per hypothesis."""
    try:
        given = np.asarray(H)
    except ValueError:
        given = np.empty(0)
    if given.ndim != 2 or 0 in given.shape or given.dtype.kind not in "iuf":
        raise InputError(
            "H must contain real predictions, with a row for each example and a column for each "
            f"hypothesis, got shape {given.shape} and dtype {given.dtype}"
        )
    return given.astype(np.float64)
