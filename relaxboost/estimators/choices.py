"""Losses and weak learners by name, as the estimators take them."""

from __future__ import annotations

import os
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count
from relaxboost.functional import Loss, MulticlassLoss, Regressor, WeakLearner
from relaxboost.functional.learners import LEARNERS
from relaxboost.functional.losses import LOSSES


def loss_of(given: Any, tasks: tuple[str, ...], does: str, classes: int = 0) -> Loss:
    """Return the loss that a name means, or the object given.

    It is for one of the `tasks`, whose losses have names, and of which `does` speaks in messages.
    A name of two classes means the loss that takes its place where there are more.
    """
    names = [name for name, kind in LOSSES.items() if kind.task in tasks]
    if isinstance(given, str) and given in names:
        kind = LOSSES[given]
        return kind() if kind.task != "binary" or classes <= 2 else _of_more(given, classes)
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


def _of_more(name: str, classes: int) -> Loss:
    """Return the loss of several classes that a name of two stands for."""
    known = {
        kind.two_classes: kind
        for kind in LOSSES.values()
        if issubclass(kind, MulticlassLoss) and kind.two_classes
    }
    if name not in known:
        raise InputError(
            f"loss={name!r} is for two classes, and there are {classes}; use "
            f"{' or '.join(map(repr, sorted(known)))}"
        )
    return known[name]()


def is_likelihood(given: Any) -> bool:
    """Return whether a loss, by name or object, is minus the logarithm of a probability."""
    if isinstance(given, str):
        return given in LOSSES and LOSSES[given].likelihood
    return isinstance(given, Loss) and given.likelihood


def weak_learner(given: Any) -> WeakLearner:
    """Return the learner of a name, the object given, or a scikit-learn regressor as a learner."""
    if isinstance(given, str) and given in LEARNERS:
        return LEARNERS[given]()
    if isinstance(given, WeakLearner):
        return given
    try:
        return Regressor(given)
    except InputError:
        raise InputError(
            f"learner must be one of {', '.join(LEARNERS)}, a WeakLearner or a scikit-learn "
            f"regressor, got {given!r}"
        ) from None


def threads(jobs: Any) -> int:
    """Return how many threads or processes `n_jobs` allows: None is 1, and -1 all processors."""
    if jobs == -1:
        return os.cpu_count() or 1
    return 1 if jobs is None else count("n_jobs", jobs)


def takes_missing(learner: Any) -> bool:
    """Return whether a learner, by name or object, takes missing values."""
    known = LEARNERS[learner] if isinstance(learner, str) and learner in LEARNERS else learner
    return bool(getattr(known, "missing", False))
