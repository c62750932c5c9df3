"""How ensembles of scikit-learn and of this package are read: names, weights, predictions, ...

Each reader takes a fitted estimator of two classes and returns what `members.Members` is made of.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError

BY_HAND = (
    "for anything else give (H, weights): predictions H of shape (m, n), positive for the class +1"
)


def _plain(X: Any, kind: Any = None) -> Any:
    """Return X as the members of an ensemble were given it: an array, without column names."""
    return X if hasattr(X, "tocsr") else np.asarray(X, kind)


def _columns(each: list[Any]) -> Any:
    return np.column_stack([np.asarray(h, dtype=np.float64) for h in each])


def _numbered(estimators: Any) -> tuple[str, ...]:
    return tuple(f"{type(e).__name__} {i}" for i, e in enumerate(estimators))


def adaboost(estimator: Any) -> dict[str, Any]:
    """Read the votes of SAMME."""
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


def gradient_boosting(estimator: Any) -> dict[str, Any]:
    """Read leaf values times the learning rate, and the initial prediction."""
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
        "bounds": _largest([estimator.learning_rate * t.tree_.value for t in trees], first),
    }


def _largest(leaves: list[Any], *first: Any) -> Any:
    """Return the largest size in each tree; nan before them for an initial prediction."""
    return np.array([np.nan for one in first if one] + [np.abs(v).max() for v in leaves])


def _initial(estimator: Any, X: Any) -> Any:
    """Return the raw initial prediction, which scikit-learn gives under a private name only."""
    try:
        return estimator._raw_predict_init(X)[:, 0]
    except (AttributeError, TypeError, IndexError):
        raise InputError(
            "this version of scikit-learn does not give the initial prediction of a "
            f"GradientBoostingClassifier; fit it with init='zero', or {BY_HAND}"
        ) from None


def _leaves(trees: Any, rate: float, first: Any, X: Any) -> Any:
    X = _plain(X, np.float32)  # as the ensemble does
    each = [rate * tree.predict(X) for tree in trees]
    return _columns(each if first is None else [first(X), *each])


def hist_gradient_boosting(estimator: Any) -> dict[str, Any]:
    """Read leaf values, which hold the learning rate, and the initial prediction."""
    try:
        stages, intercept = estimator._predictors, float(estimator._baseline_prediction[0, 0])
        nodes = [stage[0].nodes for stage in stages]
        bounds = _largest([tree["value"][tree["is_leaf"] > 0] for tree in nodes])
    except (AttributeError, TypeError, IndexError, ValueError):
        raise _no_stages() from None
    return {
        "names": tuple(f"tree {i}" for i in range(len(stages))),
        "weights": np.ones(len(stages)),
        "intercept": intercept,
        "predict": partial(_stages, estimator),
        "decision": estimator.decision_function,
        "bounds": bounds,
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
        f"one by one; use GradientBoostingClassifier, or {BY_HAND}"
    )


def forest(estimator: Any) -> dict[str, Any]:
    """Read p(+1) − p(−1) of each tree."""
    members = estimator.estimators_
    return {
        "names": _numbered(members),
        "weights": np.ones(len(members)),
        "predict": partial(_forest_shares, members),
        "decision": partial(_share_decision, estimator, float(len(members))),
    }


def _forest_shares(members: Any, X: Any) -> Any:
    X = _plain(X, np.float32)  # as the ensemble does
    return _columns([_difference(e.predict_proba(X)) for e in members])


def _difference(proba: Any) -> Any:
    """Return p(+1) − p(−1)."""
    return proba[:, 1] - proba[:, 0]


def _share_decision(estimator: Any, total: float, X: Any) -> Any:
    return _difference(estimator.predict_proba(X)) * total


def bagging(estimator: Any) -> dict[str, Any]:
    """Read p(+1) − p(−1) of each member on its own features."""
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


def voting(estimator: Any) -> dict[str, Any]:
    """Read votes, or p(+1) − p(−1) for soft voting."""
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


def functional(estimator: Any) -> dict[str, Any]:
    """Read the hypotheses of a functional booster; of two outputs, their difference."""
    boosted = estimator.boosted_
    weights = boosted.weights()
    terms = [boosted.terms[i].hypothesis for i in np.flatnonzero(weights)]
    if not terms:
        raise InputError("this FunctionalGradientClassifier has no hypothesis; fit more rounds")
    leaves = [getattr(h, "leaves", np.array([np.nan])) for h in terms]
    return {
        "names": _numbered(terms),
        "weights": weights[weights != 0.0],
        "predict": partial(_hypotheses, terms),
        "decision": estimator.decision_function,
        "bounds": _largest([_score(v) for v in leaves]),
    }


def _hypotheses(terms: Any, X: Any) -> Any:
    X = np.asarray(X, dtype=np.float64)
    return _columns([_score(h(X)) for h in terms])


def _score(outputs: Any) -> Any:
    return outputs if outputs.ndim == 1 else _difference(outputs)


def margin(estimator: Any) -> dict[str, Any]:
    """Read the votes of a margin booster; its labels go by calibrated log odds, and are not."""
    (voter,) = estimator._stages[-1]
    if not voter.members:
        raise InputError(f"this {type(estimator).__name__} has no vote; fit it, say, with fraction")
    named = [
        voter.columns.words(h, True) if hasattr(h, "threshold") else f"{type(h).__name__} {i}"
        for i, (_, h) in enumerate(voter.members)
    ]
    return {
        "names": tuple(named),
        "weights": np.array([c for c, _ in voter.members]),
        "predict": partial(_cast, estimator, voter),
        "decision": estimator.votes,
        "labels": None,
    }


def _cast(estimator: Any, voter: Any, X: Any) -> Any:
    E = voter.columns(estimator._numbers(X, False))
    return _columns([getattr(h, "predict", h)(E) for _, h in voter.members])
