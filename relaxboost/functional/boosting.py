"""`boost`: restricted gradient descent in function space, on data."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost.compiled import is_interrupt
from relaxboost.errors import InputError
from relaxboost.functional.algorithms import Algorithm, Naive, Projected, Repeated, Residual
from relaxboost.functional.ensemble import ITERATES, Boosted
from relaxboost.functional.learners import Pool, WeakLearner
from relaxboost.functional.learners.base import PROJECTIONS
from relaxboost.functional.losses import Loss, Risk
from relaxboost.functional.rounds import State, rounds
from relaxboost.functional.running import Limits, Run, Validation
from relaxboost.functional.schedules import default, make
from relaxboost.parameters import natural, positive

Array = NDArray[np.float64]

ALGORITHMS: dict[str, type[Algorithm]] = {
    "naive": Naive,
    "repeated": Repeated,
    "residual": Residual,
}

# A run to go on with is known again by its risk, to this accuracy, and by so many predictions.
_SAME = 1e-9
_ROWS = 8


def boost(
    X: Any,
    y: Any,
    loss: Loss,
    learner: WeakLearner,
    *,
    algorithm: str | Algorithm = "residual",
    step: str | float | Callable[[int], float] | None = None,
    scale: float = 1.0,
    projection: str | None = None,
    max_rounds: int = 100,
    max_learners: int | None = None,
    iterate: str = "last",
    weights: Any = None,
    groups: Any = None,
    validation: tuple[Any, ...] | None = None,
    patience: int | None = None,
    time_limit: float | None = None,
    callback: Callable[[State], Any] | None = None,
    warm_start: Boosted | None = None,
    seed: int = 0,
) -> Boosted:
    """Minimise a convex risk over sums of weak hypotheses.

    Parameters
    ----------
    X : array
        Rows of features, shape (N, d); for `FiniteSet` the outputs of the hypotheses.
    y : array of shape (N,)
        Targets, labels or grades, as the loss needs.
    loss : Loss
    learner : WeakLearner
    algorithm : {"residual", "repeated", "naive"} or Algorithm
        GB11's Algorithms 3, 2 and 1. ``"naive"`` can be stuck where the risk is not smooth.
    step : str, float or callable, optional
        One of `schedules.STEPS`, a number, or a function of t = 1, 2, ...; by default the schedule
        of the theorem that covers the algorithm and the risk.
    scale : float
        Multiplies every step, > 0.
    projection : {"least-squares", "inner"}, optional
        GB11, Eq. 4 or Eq. 3; by default the first that the learner can do.
    max_rounds : int
        T; with a warm start also counting the rounds of that run.
    max_learners : int, optional
        Stop before a round would begin with this many weak learners; for ``"repeated"``, whose
        round t has t of them.
    iterate : {"last", "best", "average"}
        What predictions use: f_T; the f_t of least validation risk (training risk without a
        validation set); or the mean of f_1..f_T, which the theorems are about.
    weights, groups : array of shape (N,), optional
        Example weights >= 0; the query of each example, for ranking.
    validation : tuple, optional
        (X, y), (X, y, groups) or (X, y, groups, weights) held out; its risk is in the history.
    patience : int, optional
        Stop after so many rounds without a lower validation risk.
    time_limit : float, optional
        Seconds.
    callback : callable, optional
        Called with the `State` of each round; the run ends when it returns True.
    warm_start : Boosted, optional
        Go on from this run's last f_t, residual and random numbers, with steps from its round on:
        the result is that of an uninterrupted run.
    seed : int
        >= 0; for learners that make random choices; a warm start goes on with its own.

    Returns
    -------
    Boosted
        Also after Ctrl-C in a round, with status "interrupted" and what was found before it.

    Raises
    ------
    InputError
        Before work: for data, labels, weights or options that do not fit, each named.

    References
    ----------
    Grubb & Bagnell (2011), Algorithms 1 to 3, Eqs. 2 to 4.
    """
    _check_kinds(loss, learner, callback, warm_start)
    risk = loss.bind(y, weights, groups=groups)
    rng = np.random.default_rng(natural("seed", seed))
    projection = _projection(projection, learner)
    algorithm, name = _algorithm(algorithm, warm_start)
    step = default(name, risk) if step is None else step
    schedule = make(step, risk, positive("scale", scale))
    if iterate not in ITERATES:
        raise InputError(f"iterate must be one of {', '.join(ITERATES)}, got {iterate!r}")
    limits = Limits(max_rounds, max_learners, time_limit, patience, validation is not None)
    watched = None if validation is None else Validation(X, risk, loss, validation)
    if warm_start is not None:
        _same(warm_start, risk, X)
        rng.bit_generator.state = warm_start.state["rng"]
    pool = learner.prepare(X, risk.measure, risk.outputs, projection, rng)
    if not isinstance(pool, Pool):
        raise InputError(f"prepare of {learner!r} must return a Pool, and returned {pool!r}")
    run = Run(loss, learner, risk, iterate, limits, watched, callback, warm_start)
    status = "stationary"
    try:
        for state in rounds(risk, pool, algorithm, schedule, run.start, run.first):
            if state.direction is not None and state.direction.parts and not run.terms:
                _reproduces(learner, state.direction.parts[0], X)
            reached = run.add(state, algorithm, rng)
            if reached:
                status = reached
                break
    except (KeyboardInterrupt, SystemError) as error:
        if run.kept is None or not is_interrupt(error):
            raise
        status = "interrupted"
    return run.result(status)


def _check_kinds(loss: Any, learner: Any, callback: Any, before: Any) -> None:
    if not isinstance(loss, Loss):
        raise InputError(f"loss must be a Loss, such as Hinge(), got {loss!r}")
    if not isinstance(learner, WeakLearner):
        raise InputError(
            f"learner must be a WeakLearner, such as RegressionStumps(), got {learner!r}; "
            "Regressor(...) makes one of a scikit-learn regressor"
        )
    if callback is not None and not callable(callback):
        raise InputError(f"callback must be a function of the State of a round, got {callback!r}")
    if before is not None and not isinstance(before, Boosted):
        raise InputError(f"warm_start must be what boost returned, got {before!r}")


def _projection(projection: str | None, learner: WeakLearner) -> str:
    if projection is None:
        return learner.projections[0]
    if projection not in PROJECTIONS:
        raise InputError(f"projection must be one of {', '.join(PROJECTIONS)}, got {projection!r}")
    if projection not in learner.projections:
        raise InputError(
            f"{learner!r} cannot do projection={projection!r}; it does "
            f"{', '.join(learner.projections)}"
        )
    return projection


def _algorithm(given: str | Algorithm, before: Boosted | None) -> tuple[Algorithm, str]:
    if isinstance(given, Algorithm):
        made = given
    elif isinstance(given, str) and given in ALGORITHMS:
        made = ALGORITHMS[given]()
    else:
        raise InputError(f"algorithm must be one of {', '.join(ALGORITHMS)}, got {given!r}")
    name = next((n for n, kind in ALGORITHMS.items() if isinstance(made, kind)), "residual")
    if before is None:
        return made.fresh(), name
    went = before.state["algorithm"]
    if type(went) is not type(made):
        raise InputError(f"warm_start was made by {went!r}; go on with it, not with {made!r}")
    return went.fresh(went), name


def _reproduces(learner: WeakLearner, part: Projected, X: Any) -> None:
    """Raise where a hypothesis gives other outputs on training rows than were returned with it."""
    outputs = part.coefficient * np.asarray(part.hypothesis(X[:_ROWS]), dtype=np.float64)
    size = float(np.abs(part.point).max(initial=0.0))
    near = part.point[:_ROWS]
    if outputs.shape != near.shape or not np.allclose(outputs, near, rtol=1e-6, atol=1e-6 * size):
        raise InputError(
            f"{part.hypothesis!r} of {learner!r} gives other outputs on the training rows than "
            "`nearest` returned with it; predictions would not be those that were trained"
        )


def _same(before: Boosted, risk: Risk, X: Any) -> None:
    """Raise where a run to go on with was not on this training set and loss."""
    F = before.state["F"]
    remedy = "give the loss, the data and the weights of that run, or leave warm_start out"
    if F.shape != risk.zero().shape:
        raise InputError(
            f"warm_start was trained on predictions of shape {F.shape}, and these data need "
            f"{risk.zero().shape}; {remedy}"
        )
    value, was = risk.value(F), before.history[-1].value
    if not math.isclose(value, was, rel_tol=_SAME, abs_tol=_SAME):
        raise InputError(
            f"warm_start ended at a risk of {was:g}, which is {value:g} on these data; {remedy}"
        )
    # A few rows tell other features from those of that run; up to the order of the sums.
    few = before.decision(X[:_ROWS], before.rounds)
    if not np.allclose(few, F[:_ROWS], rtol=1e-6, atol=1e-6 * float(np.abs(F).max(initial=0.0))):
        raise InputError(f"warm_start predicts other values for these X than it did; {remedy}")
