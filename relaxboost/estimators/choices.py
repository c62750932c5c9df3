"""Losses and weak learners by name, as the estimators take them."""

from __future__ import annotations

from typing import Any

from relaxboost.errors import InputError
from relaxboost.functional import (
    Absolute,
    Exponential,
    Hinge,
    Huber,
    Logistic,
    Loss,
    MulticlassHinge,
    MultinomialLogistic,
    Networks,
    Quantile,
    RankingHinge,
    RegressionStumps,
    Regressor,
    SmoothHinge,
    Squared,
    Trees,
    WeakLearner,
)

CLASSIFICATION: dict[str, tuple[type[Loss] | None, type[Loss] | None]] = {
    "logistic": (Logistic, MultinomialLogistic),
    "hinge": (Hinge, MulticlassHinge),
    "exponential": (Exponential, None),
    "smooth-hinge": (SmoothHinge, None),
    "multinomial-logistic": (MultinomialLogistic, MultinomialLogistic),
    "multiclass-hinge": (MulticlassHinge, MulticlassHinge),
}
"""For two classes, and for more."""

REGRESSION: dict[str, type[Loss]] = {
    "squared": Squared,
    "absolute": Absolute,
    "huber": Huber,
    "quantile": Quantile,
}

RANKING: dict[str, type[Loss]] = {"ranking-hinge": RankingHinge}

LIKELIHOODS = (Logistic, MultinomialLogistic)

LEARNERS: dict[str, type[WeakLearner]] = {
    "stumps": RegressionStumps,
    "trees": Trees,
    "networks": Networks,
}


def classification_loss(given: Any, classes: int) -> Loss:
    """Return the loss that a name means for so many classes, or the object given."""
    if isinstance(given, str) and given in CLASSIFICATION:
        kind = CLASSIFICATION[given][classes > 2]
        if kind is None:
            raise InputError(
                f"loss={given!r} is for two classes, and there are {classes}; use 'hinge' or "
                "'logistic'"
            )
        return kind()
    return _object(given, list(CLASSIFICATION), ("binary", "multiclass"), "classifies")


def regression_loss(given: Any) -> Loss:
    """Return the loss of a name, or the object given."""
    if isinstance(given, str) and given in REGRESSION:
        return REGRESSION[given]()
    return _object(given, list(REGRESSION), ("regression",), "does regression")


def ranking_loss(given: Any) -> Loss:
    """Return the loss of a name, or the object given."""
    if isinstance(given, str) and given in RANKING:
        return RANKING[given]()
    return _object(given, list(RANKING), ("ranking",), "ranks")


def weak_learner(given: Any) -> WeakLearner:
    """Return the learner of a name, the object given, or a scikit-learn regressor as a learner."""
    if isinstance(given, str) and given in LEARNERS:
        return LEARNERS[given]()
    if isinstance(given, WeakLearner):
        return given
    if isinstance(given, str | type) or not hasattr(given, "fit"):
        raise InputError(
            f"learner must be one of {', '.join(LEARNERS)}, a WeakLearner or a scikit-learn "
            f"regressor, got {given!r}"
        )
    return Regressor(given)


def is_likelihood(given: Any) -> bool:
    """Return whether a loss, by name or object, is minus the logarithm of a probability."""
    if isinstance(given, str):
        return given in ("logistic", "multinomial-logistic")
    return isinstance(given, LIKELIHOODS)


def _object(given: Any, names: list[str], tasks: tuple[str, ...], does: str) -> Loss:
    if not isinstance(given, Loss):
        raise InputError(
            f"loss must be one of {', '.join(names)}, or a Loss such as those of "
            f"relaxboost.functional, got {given!r}"
        )
    if given.task not in tasks:
        raise InputError(
            f"loss={given!r} is for {given.task}, and this estimator {does}; use one of "
            f"{', '.join(names)}"
        )
    return given
