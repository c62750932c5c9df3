"""What an ensemble is made of: its hypotheses, their weights, its intercept, its own decision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost.errors import InputError

Vector = NDArray[np.float64]

_CLASSIFIERS = (
    "AdaBoostClassifier, GradientBoostingClassifier, HistGradientBoostingClassifier, "
    "RandomForestClassifier, ExtraTreesClassifier, BaggingClassifier, VotingClassifier"
)
_BY_HAND = (
    "for anything else give (H, weights): predictions H of shape (m, n), positive for the class +1"
)


@dataclass(frozen=True, eq=False)
class Members:
    """An ensemble taken apart. Its decision is Σ_j weights_j h_j(x) + intercept."""

    kind: str
    names: tuple[str, ...]
    weights: Vector
    predict: Callable[[Any], Any] = field(repr=False)
    """From X to the hypotheses' real-valued predictions, shape (rows of X, n)."""
    intercept: float | None = None
    classes: tuple[Any, Any] | None = None
    """What the labels −1 and +1 are called; None where they are read from y."""
    decision: Callable[[Any], Any] | None = field(default=None, repr=False)
    """The ensemble's own decision, from X to shape (rows of X,), on the scale of the sum above;
    None where it has none."""
    labels: Callable[[Any], Any] | None = field(default=None, repr=False)
    """The ensemble's own labels, from X to shape (rows of X,)."""


def take_apart(estimator: Any) -> Members:
    """Return what a fitted scikit-learn ensemble, or (H, weights), consists of.

    Raises
    ------
    InputError
        If it is none of the ensembles known here, is not fitted, or has not two classes.
    """
    if isinstance(estimator, tuple):
        return _given(estimator)
    kind = type(estimator).__name__
    take = _how(estimator, kind)
    _check_fitted(estimator, kind)
    classes = np.asarray(estimator.classes_) if not _listed(estimator) else np.empty((0, 0))
    if classes.ndim != 1:
        raise InputError(
            f"this {kind} predicts several labels at a time, and a margin needs one of two "
            "classes; fit one ensemble for each label"
        )
    if classes.size != 2:
        shown = ", ".join(map(str, classes.tolist()[:6])) + (", ..." if classes.size > 6 else "")
        remedy = "; fit it on one class against the rest" if classes.size > 2 else ""
        raise InputError(
            f"this {kind} has {classes.size} class{'es' * (classes.size != 1)} ({shown}), and a "
            f"margin needs two{remedy}"
        )
    parts = take(estimator)
    negative, positive = classes.tolist()
    return Members(
        kind=kind, classes=(negative, positive), labels=partial(_labels, estimator), **parts
    )


def _listed(estimator: Any) -> bool:
    return isinstance(estimator.classes_, list)


def _how(estimator: Any, kind: str) -> Callable[[Any], dict[str, Any]]:
    """Return what takes this kind of estimator apart, or raise."""
    from sklearn import ensemble
    from sklearn.base import is_classifier, is_regressor

    if isinstance(estimator, type):
        raise InputError(f"certify_ensemble needs a fitted {estimator.__name__}, not the class")
    known: tuple[tuple[Any, Callable[[Any], dict[str, Any]]], ...] = (
        (ensemble.AdaBoostClassifier, _adaboost),
        (ensemble.GradientBoostingClassifier, _gradient_boosting),
        (ensemble.HistGradientBoostingClassifier, _hist_gradient_boosting),
        ((ensemble.RandomForestClassifier, ensemble.ExtraTreesClassifier), _forest),
        (ensemble.BaggingClassifier, _bagging),
        (ensemble.VotingClassifier, _voting),
    )
    for classes, take in known:
        if isinstance(estimator, classes):
            return take
    if hasattr(estimator, "fit") and is_regressor(estimator):
        raise InputError(
            f"{kind} is a regressor, and a margin needs a classifier of two classes: one of "
            f"{_CLASSIFIERS}; or give (H, weights) with a sign for each example in y"
        )
    hint = ""
    if hasattr(estimator, "best_estimator_"):
        hint = "; give its best_estimator_"
    elif hasattr(estimator, "steps"):
        hint = "; give its last step, and X as the steps before it transform it"
    elif hasattr(estimator, "fit") and is_classifier(estimator):
        hint = " (a sum of real-valued hypotheses that can be looked at one by one)"
    raise InputError(f"certify_ensemble knows {_CLASSIFIERS}, and not {kind}{hint}; {_BY_HAND}")


def _check_fitted(estimator: Any, kind: str) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(estimator)
    except NotFittedError:
        raise InputError(
            f"this {kind} is not fitted, and its margin is that of what it has learnt; "
            "call fit(X, y) first"
        ) from None


def _plain(X: Any) -> Any:
    """Return X as the members of an ensemble were given it: an array, without column names."""
    return X if hasattr(X, "tocsr") else np.asarray(X)


def _labels(estimator: Any, X: Any) -> Any:
    return estimator.predict(X)


def _columns(each: list[Any]) -> Any:
    return np.column_stack([np.asarray(h, dtype=np.float64) for h in each])


def _numbered(estimators: Any) -> tuple[str, ...]:
    return tuple(f"{type(e).__name__} {i}" for i, e in enumerate(estimators))


def ask(members: Members, question: Any, X: Any) -> Any:
    """Return what the estimator answers about X, or an InputError where it cannot."""
    try:
        # The whole first: it checks X, where its members take what they get.
        if members.labels is not None:
            members.labels(X)
        return question(X)
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        raise InputError(
            f"this {members.kind} cannot predict on X{_not_finite(X)}: "
            f"{(str(error).strip() or type(error).__name__).splitlines()[0]}; "
            "prepare X as it was for fit"
        ) from error


def _not_finite(X: Any) -> str:
    """Return where X has its first nan or infinite entry, in words."""
    try:
        bad = ~np.isfinite(np.asarray(X, dtype=np.float64))
    except (TypeError, ValueError):
        return ""
    if bad.ndim != 2 or not bad.any():
        return ""
    row, column = np.unravel_index(int(np.argmax(bad)), bad.shape)
    return f", which is not finite at row {row}, column {column} (impute or drop it)"


def _given(pair: tuple[Any, ...]) -> Members:
    """Read (H, weights)."""
    if len(pair) != 2:
        raise InputError(
            f"an ensemble as a tuple is (H, weights), two things, and this has {len(pair)}"
        )
    H = table(pair[0])
    weights = np.asarray(pair[1])
    n = H.shape[1]
    if weights.shape != (n,) or weights.dtype.kind not in "iuf":
        raise InputError(
            f"weights must be a vector of {n} numbers, one for each column of H, got shape "
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


def table(H: Any) -> Vector:
    """Return predictions given as such as an array of shape (m, n), or raise an InputError."""
    try:
        given = np.asarray(H)
    except ValueError:
        given = np.empty(0)
    if given.ndim != 2 or 0 in given.shape or given.dtype.kind not in "iuf":
        raise InputError(
            "H must hold real predictions, a row for each example and a column for each "
            f"hypothesis, got shape {given.shape} and dtype {given.dtype}"
        )
    return given.astype(np.float64)


def _adaboost(estimator: Any) -> dict[str, Any]:
    if getattr(estimator, "algorithm", "SAMME") == "SAMME.R":
        raise InputError(
            "this AdaBoostClassifier was fitted with SAMME.R, which adds up log-probabilities and "
            "has no weights; fit it with algorithm='SAMME'"
        )
    members = estimator.estimators_
    # Where boosting stopped early there are weights without an estimator.
    weights = np.asarray(estimator.estimator_weights_, dtype=np.float64)[: len(members)]
    return {
        "names": _numbered(members),
        "weights": weights,
        "predict": partial(_votes, members, estimator.classes_[1]),
        "decision": partial(_adaboost_decision, estimator),
    }


def _adaboost_decision(estimator: Any, X: Any) -> Any:
    # What one member alone decides: ±1, or ±2 since scikit-learn counts both classes.
    unit = abs(float(next(estimator.staged_decision_function(X))[0]))
    return estimator.decision_function(X) * (np.sum(estimator.estimator_weights_) / unit)


def _votes(members: Any, positive: Any, X: Any) -> Any:
    X = _plain(X)
    return _columns([np.where(e.predict(X) == positive, 1.0, -1.0) for e in members])


def _gradient_boosting(estimator: Any) -> dict[str, Any]:
    trees = [row[0] for row in estimator.estimators_]
    names, weights = _numbered(trees), np.ones(len(trees))
    if isinstance(estimator.init_, str):  # "zero"
        first, intercept = None, None
    elif type(estimator.init_).__name__ == "DummyClassifier":
        # The log-odds of the classes, the same wherever it is asked.
        somewhere = np.zeros((1, estimator.n_features_in_), dtype=np.float32)
        first, intercept = None, float(_initial(estimator, somewhere)[0])
    else:
        first, intercept = partial(_initial, estimator), None
        names = (f"{type(estimator.init_).__name__} (initial prediction)", *names)
        weights = np.ones(len(names))
    return {
        "names": names,
        "weights": weights,
        "intercept": intercept,
        "predict": partial(_leaves, trees, estimator.learning_rate, first),
        "decision": estimator.decision_function,
    }


def _initial(estimator: Any, X: Any) -> Any:
    """Return the raw initial prediction, which scikit-learn gives under a private name only."""
    try:
        return estimator._raw_predict_init(X)[:, 0]
    except (AttributeError, TypeError, IndexError):
        raise InputError(
            "this version of scikit-learn does not give the initial prediction of a "
            f"GradientBoostingClassifier; fit it with init='zero', or {_BY_HAND}"
        ) from None


def _leaves(trees: Any, rate: float, first: Any, X: Any) -> Any:
    X = _plain(X)
    X = X if hasattr(X, "tocsr") else X.astype(np.float32)  # as the ensemble does
    each = [rate * tree.predict(X) for tree in trees]
    return _columns(each if first is None else [first(X), *each])


def _hist_gradient_boosting(estimator: Any) -> dict[str, Any]:
    try:
        stages, intercept = estimator._predictors, float(estimator._baseline_prediction[0, 0])
    except (AttributeError, TypeError, IndexError):
        raise _no_stages() from None
    return {
        "names": tuple(f"tree {i}" for i in range(len(stages))),
        "weights": np.ones(len(stages)),
        "intercept": intercept,
        "predict": partial(_stages, estimator),
        "decision": estimator.decision_function,
    }


def _stages(estimator: Any, X: Any) -> Any:
    """Return the leaf values of each stage.

    Differences of `staged_decision_function` would be theirs up to rounding, and rounding is what
    is left of a stage that hardly moves. scikit-learn has the values under private names only.
    """
    try:
        data = estimator._preprocess_X(X, reset=False)
        out = np.zeros((data.shape[0], len(estimator._predictors)), order="F")
        for t in range(out.shape[1]):
            stage = estimator._predictors[t : t + 1]
            estimator._predict_iterations(data, stage, out[:, t : t + 1], False, 1)
    except (AttributeError, TypeError):
        raise _no_stages() from None
    return out


def _no_stages() -> InputError:
    return InputError(
        "this version of scikit-learn does not give the trees of a HistGradientBoostingClassifier "
        f"one by one; use GradientBoostingClassifier, or {_BY_HAND}"
    )


def _forest(estimator: Any) -> dict[str, Any]:
    members = estimator.estimators_
    return {
        "names": _numbered(members),
        "weights": np.ones(len(members)),
        "predict": partial(_forest_shares, members),
        "decision": partial(_share_decision, estimator, float(len(members))),
    }


def _forest_shares(members: Any, X: Any) -> Any:
    X = _plain(X)
    X = X if hasattr(X, "tocsr") else X.astype(np.float32)  # as the ensemble does
    return _columns([_difference(e.predict_proba(X)) for e in members])


def _difference(proba: Any) -> Any:
    """Return p(+1) − p(−1)."""
    return proba[:, 1] - proba[:, 0]


def _share_decision(estimator: Any, total: float, X: Any) -> Any:
    return _difference(estimator.predict_proba(X)) * total


def _bagging(estimator: Any) -> dict[str, Any]:
    members = estimator.estimators_
    features = list(estimator.estimators_features_)
    return {
        "names": _numbered(members),
        "weights": np.ones(len(members)),
        "predict": partial(_bagged, members, features),
        "decision": partial(_share_decision, estimator, float(len(members))),
    }


def _bagged(members: Any, features: Any, X: Any) -> Any:
    X = _plain(X)
    return _columns([_bag(e, X[:, f]) for e, f in zip(members, features, strict=True)])


def _bag(member: Any, X: Any) -> Any:
    """Return what a bagged member, fitted on the class numbers 0 and 1, contributes."""
    if not hasattr(member, "predict_proba"):
        return np.where(member.predict(X) == 1, 1.0, -1.0)
    proba = member.predict_proba(X)
    if proba.shape[1] == 1:  # its sample had one class
        return np.full(proba.shape[0], 1.0 if member.classes_[0] == 1 else -1.0)
    return _difference(proba)


def _voting(estimator: Any) -> dict[str, Any]:
    # What was dropped is still named, by the word "drop".
    names = [n for n, e in estimator.named_estimators_.items() if not isinstance(e, str)]
    members = estimator.estimators_
    weights = np.ones(len(members))
    if estimator.weights is not None:
        pairs = zip(estimator.estimators, estimator.weights, strict=True)
        weights = np.array([float(w) for (_, e), w in pairs if not isinstance(e, str)])
    if weights.shape != (len(members),) or not np.isfinite(weights).all():
        raise InputError(
            f"this VotingClassifier has {len(members)} fitted members and the weights {weights}; "
            "fit it again with a finite weight for each"
        )
    soft = estimator.voting == "soft"
    total = float(weights.sum())
    if soft and total <= 0.0:
        raise InputError(
            f"the weights of this VotingClassifier sum to {total:g}, and soft voting divides by "
            "that; weights must have a positive sum"
        )
    return {
        "names": tuple(names),
        "weights": weights,
        "predict": partial(_soft if soft else _hard, members),
        "decision": partial(_share_decision, estimator, total) if soft else None,
    }


def _hard(members: Any, X: Any) -> Any:
    # Members were fitted on the class numbers 0 and 1, and on X as it is.
    return _columns([np.where(e.predict(X) == 1, 1.0, -1.0) for e in members])


def _soft(members: Any, X: Any) -> Any:
    return _columns([_difference(e.predict_proba(X)) for e in members])
