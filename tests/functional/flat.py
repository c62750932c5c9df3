"""`boost` with every option by its own keyword, for tests that vary them one at a time."""

from __future__ import annotations

from relaxboost import functional as fn
from relaxboost.functional.algorithms import algorithm_of

OF_ALGORITHM = ("step", "scale", "projection", "iterate")
OF_STOPPING = ("max_rounds", "max_learners", "patience", "validation", "time_limit", "callback")


def boost(X, y, loss, learner, *, weights=None, groups=None, algorithm="residual", **options):
    """Sort the options to the objects they belong to, and boost."""
    own = {name: options.pop(name) for name in OF_ALGORITHM if name in options}
    stopping = {name: options.pop(name) for name in OF_STOPPING if name in options}
    risk = loss.bind(y, weights, groups=groups)
    if own:
        algorithm = algorithm_of(algorithm).filled(**own)
    return fn.boost(
        X, risk, learner, algorithm=algorithm, stopping=fn.Stopping(**stopping), **options
    )
