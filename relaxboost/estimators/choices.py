"""Parsing of the parameters `loss`, `learner`, `random_state` and `n_jobs`."""

from __future__ import annotations

import os
from numbers import Integral
from typing import Any

from sklearn.utils import check_random_state

from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count
from relaxboost.functional import Loss, MulticlassLoss, Quantile, Regressor, WeakLearner
from relaxboost.functional.learners import LEARNERS
from relaxboost.functional.losses import LOSSES


def loss_of(given: Any, tasks: tuple[str, ...], does: str, classes: int = 0) -> Loss:
    """Return the loss for a name or an object, and check that its task is one of `tasks`.

    The argument `does` is a verb for error messages, such as "classifies". For more than two
    classes, a binary loss name selects the corresponding multiclass loss.
    """
    names = [name for name, kind in LOSSES.items() if kind.task in tasks]
    if isinstance(given, str) and given in names:
        # The level has no default, because the defaults of scikit-learn's estimators differ.
        if given == Quantile.name:
            raise InputError(
                f"loss={given!r} needs a quantile level; for the level 0.9, pass "
                "loss=relaxboost.functional.Quantile(0.9)"
            )
        kind = LOSSES[given]
        return kind() if kind.task != "binary" or classes <= 2 else _multiclass_loss(given, classes)
    if not isinstance(given, Loss):
        is_function = callable(given) and not isinstance(given, type)
        wrap = "; wrap a function in relaxboost.functional.CustomLoss" if is_function else ""
        raise InputError(
            f"loss must be one of {', '.join(names)}, or a Loss such as those of "
            f"relaxboost.functional, got {given!r}{wrap}"
        )
    if given.task not in tasks:
        raise InputError(
            f"loss={given!r} is for {given.task}, but this estimator {does}; use one of "
            f"{', '.join(names)}"
        )
    return given


def seed_of(random_state: Any) -> int:
    """Return `random_state` if it is an integer seed, and otherwise draw a seed from it."""
    try:
        random = check_random_state(random_state)
    except (TypeError, ValueError):
        raise InputError(
            "random_state must be None, a RandomState, or an int from 0 to 2**32 - 1, got "
            f"{random_state!r}; pass random_state=0, for example"
        ) from None
    is_int = isinstance(random_state, Integral)
    return int(random_state) if is_int else int(random.randint(2**31 - 1))


def _multiclass_loss(name: str, classes: int) -> Loss:
    known = {
        kind.two_classes: kind
        for kind in LOSSES.values()
        if issubclass(kind, MulticlassLoss) and kind.two_classes
    }
    if name not in known:
        raise InputError(
            f"loss={name!r} is for two classes, but y has {classes} classes; use "
            f"{' or '.join(map(repr, sorted(known)))}"
        )
    return known[name]()


def check_likelihood(loss: Any, instead: str) -> None:
    """Raise an AttributeError unless the loss is a negative log-likelihood."""
    # scikit-learn's meta-estimators ask hasattr whether there is a method predict_proba.
    kind = LOSSES.get(loss) if isinstance(loss, str) else loss
    if not getattr(kind, "likelihood", False):
        raise AttributeError(
            f"loss={loss!r} is not a negative log-likelihood, so there is no "
            f'predict_proba; use loss="logistic", or {instead}'
        )


def weak_learner(given: Any) -> WeakLearner:
    """Return the weak learner for a name, a WeakLearner or a scikit-learn regressor."""
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
    """Return the number of threads for `n_jobs`. None means 1, and −1 all processors."""
    # `joblib.effective_n_jobs(None)` is not always 1: it follows `joblib.parallel_config`.
    if jobs == -1:
        return os.cpu_count() or 1
    return 1 if jobs is None else count("n_jobs", jobs)
