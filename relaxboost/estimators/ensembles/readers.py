"""Readers for the ensembles of scikit-learn and of this package.

A reader takes a fitted estimator and the index k of the class that stands for +1 against all
others, and returns the arguments of `members.Members`. If there are two classes, k is 1.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.special import logit
from scipy.stats import gmean

from relaxboost._core.errors import InputError
from relaxboost.estimators.ensembles.boosters import column

BY_HAND = (
    "for other ensembles pass (H, weights): predictions H of shape (m, n), positive for class +1"
)


def _plain(X: Any, kind: Any = None) -> Any:
    # Members that were fitted on an array warn if X has column names.
    return X if hasattr(X, "tocsr") else np.asarray(X, kind)


_single = partial(_plain, kind=np.float32)
"""Convert X to single precision, in which scikit-learn's forests and boosters grow their trees."""


def _unchanged(X: Any) -> Any:
    return X


def _columns(each: list[Any]) -> Any:
    return np.column_stack([np.asarray(h, dtype=np.float64) for h in each])


def _each(members: Any, output: Any, convert: Any, X: Any) -> Any:
    """Return the outputs of all members for the rows of X, with a column for each member.

    The function `convert` is first applied to X, and `output` returns the outputs of one member.
    """
    X = convert(X)
    return _columns([output(member, X) for member in members])


def _numbered(estimators: Any) -> tuple[str, ...]:
    return tuple(f"{type(e).__name__} {i}" for i, e in enumerate(estimators))


def adaboost(estimator: Any, k: int) -> dict[str, Any]:
    """Read an AdaBoostClassifier: the votes of its members, and their SAMME weights."""
    members = estimator.estimators_
    # If boosting stops early, the array of weights is longer than the list of members.
    weights = np.asarray(estimator.estimator_weights_, dtype=np.float64)[: len(members)]
    return {
        "names": _numbered(members),
        "weights": weights,
        "predict": partial(_each, members, partial(_vote, estimator.classes_[k]), _plain),
        "decision": partial(_adaboost_decision, estimator, k),
    }


def _adaboost_decision(estimator: Any, k: int, X: Any) -> Any:
    # scikit-learn counts a vote as 1 for its class and −1/(K − 1) for each other class, divided by
    # the sum of the weights. For two classes the decision is the difference of both scores. This
    # maps the score of class k back to votes ±1.
    classes = len(estimator.classes_)
    found = estimator.decision_function(X)
    share = found[:, k] if classes > 2 else found / 2.0
    votes = 2.0 * (1.0 + (classes - 1) * share) / classes - 1.0
    return np.sum(estimator.estimator_weights_) * votes


def _vote(positive: Any, member: Any, X: Any) -> Any:
    """Return +1 for rows whose predicted class is `positive`, and −1 for the others."""
    return np.where(member.predict(X) == positive, 1.0, -1.0)


def gradient_boosting(estimator: Any, k: int) -> dict[str, Any]:
    """Read a gradient boosting model. The learning rate scales its trees."""
    at = k if len(estimator.classes_) > 2 else 0
    trees = [row[at] for row in estimator.estimators_]
    names = _numbered(trees)
    weights = np.ones(len(trees))
    first = None
    intercept = None
    if type(estimator.init_).__name__ == "DummyClassifier":
        # The intercept is the log odds of the classes, which are the same for all rows.
        intercept = float(_initial(estimator, at, np.zeros((1, estimator.n_features_in_)))[0])
    # The attribute is the string "zero" if there is no initial prediction.
    elif not isinstance(estimator.init_, str):
        first = partial(_initial, estimator, at)
        names = (f"{type(estimator.init_).__name__} (initial prediction)", *names)
        weights = np.ones(len(names))
    return {
        "names": names,
        "weights": weights,
        "intercept": intercept,
        "predict": partial(_leaves, trees, estimator.learning_rate, first),
        "decision": partial(column, estimator.decision_function, k),
        "bounds": _largest([estimator.learning_rate * t.tree_.value for t in trees], first),
    }


def _largest(leaves: list[Any], *first: Any) -> Any:
    """Return the largest absolute leaf value of each tree.

    If there is an initial prediction, the first entry is nan, because the largest value of this
    prediction is unknown.
    """
    return np.array([np.nan for one in first if one] + [np.abs(v).max() for v in leaves])


def _initial(estimator: Any, at: int, X: Any) -> Any:
    """Return the scores at which boosting starts."""
    # For two classes the score is the logit, or half the logit for the exponential loss. For more
    # classes it is the logarithm of the probability, minus the mean over the classes.
    # scikit-learn clips the probabilities at this distance from 0 and 1.
    eps = np.finfo(np.float64).eps
    p = np.clip(estimator.init_.predict_proba(X), eps, 1.0 - eps, dtype=np.float64)
    if p.shape[1] > 2:
        return np.log(p[:, at] / gmean(p, axis=1))
    return logit(p[:, 1]) * (0.5 if estimator.loss == "exponential" else 1.0)


def _leaves(trees: Any, rate: float, first: Any, X: Any) -> Any:
    X = _single(X)
    each = [rate * tree.predict(X) for tree in trees]
    return _columns(each if first is None else [first(X), *each])


def hist_gradient_boosting(estimator: Any, k: int) -> dict[str, Any]:
    """Read a histogram gradient boosting model.

    Each hypothesis is the change of the decision in one stage. The first stage includes the initial
    prediction.
    """
    stages = int(estimator.n_iter_)
    return {
        "names": ("initial prediction and tree 0", *(f"tree {i}" for i in range(1, stages))),
        "weights": np.ones(stages),
        "predict": partial(_stages, estimator, k),
        "decision": partial(column, estimator.decision_function, k),
    }


def _stages(estimator: Any, k: int, X: Any) -> Any:
    # scikit-learn stores the leaf values only in private attributes, and so the changes are
    # differences of successive decisions, with the rounding errors of both.
    staged = estimator.staged_decision_function(X)
    decisions = _columns([F if F.ndim == 1 else F[:, k] for F in staged])
    # The changes are rounded to multiples of the noise, so that a stage without effect is exactly 0
    # and is dropped.
    noise = np.spacing(np.abs(decisions).max()) * 2**10
    added = np.diff(decisions, axis=1, prepend=0.0)
    return np.round(added / noise) * noise


def forest(estimator: Any, k: int) -> dict[str, Any]:
    """Read a forest, whose trees predict p(+1) − p(−1)."""
    predict = partial(_each, estimator.estimators_, partial(_share, k), _single)
    return _averaged(estimator, k, predict)


def bagging(estimator: Any, k: int) -> dict[str, Any]:
    """Read a bagging classifier, whose members read subsets of the features."""
    pairs = list(zip(estimator.estimators_, estimator.estimators_features_, strict=True))
    output = partial(_bag, len(estimator.classes_), k)
    return _averaged(estimator, k, partial(_each, pairs, output, _plain))


def _averaged(estimator: Any, k: int, predict: Any) -> dict[str, Any]:
    # The class probabilities of the ensemble are the means of those of its members.
    members = estimator.estimators_
    return {
        "names": _numbered(members),
        "weights": np.ones(len(members)),
        "predict": predict,
        "decision": partial(_share_decision, estimator, float(len(members)), k),
    }


def _share(k: int, member: Any, X: Any) -> Any:
    return _difference(member.predict_proba(X), k)


def _difference(proba: Any, k: int) -> Any:
    """Return p(+1) − p(−1), where class k stands for +1."""
    return proba[:, 1] - proba[:, 0] if proba.shape[1] == 2 else 2.0 * proba[:, k] - 1.0


def _share_decision(estimator: Any, total: float, k: int, X: Any) -> Any:
    return _share(k, estimator, X) * total


def _bag(classes: int, k: int, pair: Any, X: Any) -> Any:
    member, features = pair
    X = X[:, features]
    # Bagging encodes the labels, so that members predict the indices of classes.
    if not hasattr(member, "predict_proba"):
        return _vote(k, member, X)
    # The bootstrap sample of a member may have had fewer classes.
    proba = np.zeros((X.shape[0], classes))
    proba[:, np.asarray(member.classes_, dtype=np.int64)] = member.predict_proba(X)
    return _difference(proba, k)


def voting(estimator: Any, k: int) -> dict[str, Any]:
    """Read a VotingClassifier, whose members predict ±1, or p(+1) − p(−1) for soft voting."""
    # A member that was dropped is still in the list, as the string "drop".
    names = [n for n, e in estimator.named_estimators_.items() if not isinstance(e, str)]
    members = estimator.estimators_
    weights = np.ones(len(members))
    if estimator.weights is not None:
        pairs = zip(estimator.estimators, estimator.weights, strict=True)
        weights = np.array([float(w) for (_, e), w in pairs if not isinstance(e, str)])
    if weights.shape != (len(members),) or not np.isfinite(weights).all():
        raise InputError(
            f"this VotingClassifier has {len(members)} fitted members, but its weights are "
            f"{weights}; fit it again with a finite weight for each member"
        )
    soft = estimator.voting == "soft"
    total = float(weights.sum())
    if soft and total <= 0.0:
        raise InputError(
            f"the weights of this VotingClassifier sum to {total:g}, but soft voting divides by "
            "this sum; choose weights with a positive sum"
        )
    return {
        "names": tuple(names),
        "weights": weights,
        # VotingClassifier encodes the labels, but hands X to its members without changes.
        "predict": partial(_each, members, partial(_share if soft else _vote, k), _unchanged),
        "decision": partial(_share_decision, estimator, total, k) if soft else None,
    }


def functional(estimator: Any, k: int) -> dict[str, Any]:
    """Read a `FunctionalGradientClassifier`.

    A weak hypothesis with two outputs is replaced by their difference.
    """
    boosted = estimator.boosted_
    weights = boosted.weights()
    terms = [boosted.terms[i].hypothesis for i in np.flatnonzero(weights)]
    if not terms:
        raise InputError("this FunctionalGradientClassifier has no hypotheses; fit more rounds")
    leaves = [getattr(h, "leaves", np.array([np.nan])) for h in terms]
    return {
        "names": _numbered(terms),
        "weights": weights[weights != 0.0],
        "predict": partial(_each, terms, partial(_score_of, k), partial(_plain, kind=np.float64)),
        "decision": partial(column, estimator.decision_function, k),
        "bounds": _largest([_score(v, k) for v in leaves]),
    }


def _score_of(k: int, hypothesis: Any, X: Any) -> Any:
    return _score(hypothesis(X), k)


def _score(outputs: Any, k: int) -> Any:
    if outputs.ndim == 1:
        return outputs
    return outputs[:, k] if outputs.shape[1] > 2 else outputs[:, 1] - outputs[:, 0]


def margin(estimator: Any, k: int) -> dict[str, Any]:
    """Read the votes of a `MarginBoostClassifier`."""
    voter = estimator._stages[-1][k if len(estimator.classes_) > 2 else 0]
    if not voter.members:
        raise InputError(
            f"this {type(estimator).__name__} has no votes, because no hypothesis increases the "
            "margin; use a larger fraction, at most 1, or other features"
        )
    named = [
        voter.columns.words(h, True) if hasattr(h, "threshold") else f"{type(h).__name__} {i}"
        for i, (_, h) in enumerate(voter.members)
    ]
    return {
        "names": tuple(named),
        "weights": np.array([c for c, _ in voter.members]),
        "predict": partial(_cast, estimator, voter),
        "decision": partial(column, estimator.votes, k),
        # Labels come from the calibrated log odds, and not from the sign of the votes.
        "labels": None,
    }


def _cast(estimator: Any, voter: Any, X: Any) -> Any:
    E = voter.columns(estimator._read(X))
    return _columns([getattr(h, "predict", h)(E) for _, h in voter.members])
