"""Options of losses and weak learners as parameters of an estimator: `loss__q`, `learner__bins`."""

from __future__ import annotations

from inspect import signature
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost.functional import Loss, WeakLearner
from relaxboost.functional.learners import LEARNERS
from relaxboost.functional.losses import LOSSES

_NAMED: dict[str, Any] = {"loss": LOSSES, "learner": LEARNERS}


def options_of(parameter: str, given: Any) -> dict[str, Any]:
    """Return the options of a loss or a learner, given as a name or an object, by their names.

    There are none of scikit-learn's estimators, which have parameters of their own.
    """
    made = _object(parameter, given)
    if made is None:
        return {}
    names = signature(type(made)).parameters
    return {name: getattr(made, name) for name in names if hasattr(made, name)}


def with_options(parameter: str, given: Any, changes: dict[str, Any]) -> Any:
    """Return a loss or a learner, by name or as an object, with other options.

    It raises an InputError for an option that it has not, or a value that it does not take.
    """
    known = options_of(parameter, given)
    for name in changes:
        if name not in known:
            has = ", ".join(known) or "none"
            raise InputError(
                f"{parameter}={given!r} has no option {name!r}, asked for by {parameter}__{name}; "
                f"it has {has}"
            )
    return type(_object(parameter, given))(**{**known, **changes})


def _object(parameter: str, given: Any) -> Any:
    known = _NAMED[parameter]
    if isinstance(given, str):
        return known[given]() if given in known else None
    return given if isinstance(given, Loss | WeakLearner) else None
