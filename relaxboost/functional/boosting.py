"""The function `boost`, which minimises a convex risk by functional-gradient descent."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.loop import run as run_rounds
from relaxboost._core.names import explains_arguments
from relaxboost._core.rounding import RELATIVE_ROUNDING
from relaxboost._core.seeds import Rng, accepts_seed, seed_of
from relaxboost.functional.algorithms import (
    Algorithm,
    Naive,
    Projected,
    Repeated,
    Residual,
    algorithm_of,
)
from relaxboost.functional.ensemble import Boosted
from relaxboost.functional.learners import Pool, WeakLearner
from relaxboost.functional.losses import PointwiseRisk, Risk
from relaxboost.functional.losses.base import check_risk
from relaxboost.functional.rounds import BoostState, rounds
from relaxboost.functional.running import BoostRun
from relaxboost.functional.schedules import make
from relaxboost.functional.stopping import Stopping

CHECKED_ROWS = 8
"""The number of training rows on which the predictions of the first hypothesis are compared with
the training outputs that the learner returned, and those of a warm start with its state."""


STOPPING = "pass the number of rounds as stopping=, as in boost(X, risk, learner, stopping=100)"
"""The advice for users who pass the number of rounds by a wrong name, such as `n_estimators`."""


@accepts_seed
@explains_arguments(
    rounds=STOPPING,
    max_rounds=STOPPING,
    n_estimators=STOPPING,
    time_limit="pass stopping=Stopping(time_limit=...)",
    step="pass an algorithm with this step, such as algorithm=Residual(step=0.1)",
    loss="pass the loss with its targets as risk, such as Hinge().bind(y)",
)
def boost(
    X: Any,
    risk: Risk,
    learner: WeakLearner,
    *,
    algorithm: str | Algorithm = "residual",
    stopping: int | Stopping = 100,
    warm_start: Boosted | None = None,
    rng: Rng = 0,
) -> Boosted:
    """Minimise a convex risk over sums of weak hypotheses.

    Parameters
    ----------
    X : array
        The training features, shape (N, d). For `FiniteSet`, the outputs of the hypotheses.
    risk : Risk
        A loss bound to targets, such as ``Hinge().bind(y)``, with any weights and queries.
    learner : WeakLearner
        The weak learner.
    algorithm : {"residual", "repeated", "naive", "refitted"} or Algorithm
        The boosting algorithm. The first three names select Algorithms 3, 2 and 1 of Grubb &
        Bagnell (2011), and ``"refitted"`` selects TreeBoost. To set options such as the step, pass
        an object, for example ``Residual(step=0.1)``. ``"naive"`` may stop far from the optimum of
        a nonsmooth risk. For a warm start, pass the algorithm name of the earlier run, whose
        options are reused.
    stopping : int or Stopping
        The number of rounds, or all limits of the run.
    warm_start : Boosted, optional
        An earlier run to continue. The result is the same as that of an uninterrupted run.
    rng : int, numpy.random.Generator or None
        The seed, >= 0, for random learners, a generator that draws it, or None for a new seed. A
        warm start ignores it and continues the random numbers of the earlier run.

    Returns
    -------
    Boosted
        The boosted function and the history of the run. Ctrl-C returns the result of the last
        complete round, with the status "interrupted".

    Raises
    ------
    InputError
        If the data or an option is invalid.

    Warns
    -----
    UserWarning
        If the targets are too large for the steps 1/√t with scale 1, or if the final training risk
        exceeds that of f = 0.

    References
    ----------
    Grubb & Bagnell (2011), Algorithms 1 to 3, Eqs. 2 to 4.

    Examples
    --------
    >>> from relaxboost import functional as fn
    >>> risk = fn.Hinge().bind(["no", "no", "yes"])
    >>> run = fn.boost([[0.0], [1.0], [2.0]], risk, fn.RegressionStumps(), stopping=20)
    >>> run.predict([[0.5], [3.0]]).tolist()
    ['no', 'yes']
    """
    _check_kinds(risk, learner, warm_start)
    made = _algorithm(algorithm, warm_start)
    # The run copies the generator, because the result contains its state and must not share it with
    # the user.
    random = np.random.default_rng(seed_of(rng))
    run = BoostRun(X, risk, learner, made, Stopping.of(stopping), warm_start, random)
    step = made.default_step(risk, learner) if made.step is None else made.step
    schedule = make(step, risk, 1.0 if made.scale is None else made.scale)
    projection = made.projection_for(learner)
    if warm_start is not None:
        _check_same_data(warm_start, risk, X)
    elif step == "1/sqrt(t)":
        _warn_of_far_targets(risk, made, run.stopping.max_rounds)
    # The checks are complete. From here on the work takes time, as the learner sorts and bins rows.
    pool = learner.prepare(X, risk.measure, risk.outputs, projection, random)
    if not isinstance(pool, Pool):
        raise InputError(f"{learner!r}.prepare must return a Pool, but it returned {pool!r}")

    def keep(state: BoostState) -> str:
        # The first hypothesis is tested: its predictions must agree with its training outputs.
        if state.direction is not None and state.direction.parts and not run.terms:
            _check_outputs(learner, state.direction.parts[0], X)
        return run.add(state)

    # Rounds are a generator, so that limits and interrupts act between its steps.
    states = rounds(risk, pool, made, schedule, run.start, run.first, run.clock)
    status = run_rounds(states, keep, run.stopping, run.clock, first=run.first)
    # The generator ends by itself only if the run is stationary.
    result = run.result(status or "stationary")
    _warn_of_long_steps(result, made)
    return result


def _check_kinds(risk: Any, learner: Any, before: Any) -> None:
    check_risk(risk)
    if not isinstance(learner, WeakLearner):
        raise InputError(
            f"learner must be a WeakLearner, such as RegressionStumps(), got {learner!r}; "
            "Regressor(...) turns a scikit-learn regressor into a WeakLearner"
        )
    if before is not None and not isinstance(before, Boosted):
        raise InputError(f"warm_start must be a result of boost, got {before!r}")
    if before is not None and before.state is None:
        raise InputError(
            "warm_start needs the state of the run, which estimators store only with "
            "warm_start=True"
        )


def _algorithm(given: str | Algorithm, before: Boosted | None) -> Algorithm:
    made = algorithm_of(given)
    if before is None:
        return made.fresh()
    went: Algorithm = before.state["algorithm"]
    if type(went) is not type(made):
        raise InputError(
            f"warm_start was made by {went!r}, not by {made!r}; pass the algorithm of that run"
        )
    # The residuals of the earlier run continue, even if the new algorithm object has other options.
    return (went if isinstance(given, str) else made).fresh(went)


def _warn_of_far_targets(risk: Risk, algorithm: Algorithm, rounds: int) -> None:
    has_bound = algorithm.name in (Naive.name, Repeated.name, Residual.name)
    if not (has_bound and algorithm.scale is None and isinstance(risk, PointwiseRisk)):
        return
    if not risk.loss.of_differences:
        return
    # Let G bound the gradients. A direction of `Naive` and `Repeated` has a norm of at most G. The
    # remainder of `Residual` has a norm of at most tG after round t, so summation by parts gives
    # ‖f_T‖ <= 2G Σ η_t for all three, and the T steps 1/√t add up to less than 2√T.
    reach = 4.0 * risk.gradient_bound * math.sqrt(rounds)
    size = risk.measure.norm(risk.y)
    if size > reach:
        scale = float(f"{size / risk.gradient_bound:.2g}")
        # The theorems for these steps bound the risk of the mean of the iterates.
        remedy = algorithm.filled(scale=scale, iterate="average")
        warnings.warn(
            f"the root mean square of the targets is {size:.3g}, but with the steps 1/sqrt(t) and "
            f"scale=1, that of the predictions is at most {reach:.3g} after {rounds} rounds; pass "
            f"algorithm={remedy!r}",
            UserWarning,
            stacklevel=5,
        )


def _warn_of_long_steps(result: Boosted, algorithm: Algorithm) -> None:
    start = result.history[0].value
    if result.value - start > RELATIVE_ROUNDING * abs(start):
        scale = 1.0 if algorithm.scale is None else algorithm.scale
        warnings.warn(
            f"the training risk rose from {start:.4g} to {result.value:.4g}, because the steps are "
            f"too long; pass algorithm={type(algorithm).__name__}(scale=...) with a scale below "
            f"{scale:g}, or another algorithm",
            UserWarning,
            stacklevel=5,
        )


def _check_outputs(learner: WeakLearner, part: Projected, X: Any) -> None:
    # The learner's pool returned the hypothesis together with its training outputs.
    outputs = part.coefficient * np.asarray(part.hypothesis(X[:CHECKED_ROWS]), dtype=np.float64)
    size = float(np.abs(part.point).max(initial=0.0))
    near = part.point[:CHECKED_ROWS]
    if outputs.shape != near.shape or not np.allclose(outputs, near, rtol=1e-6, atol=1e-6 * size):
        raise InputError(
            f"{part.hypothesis!r} of {learner!r} predicts outputs for the training rows that "
            "differ from those that `nearest` returned; make both equal"
        )


def _check_same_data(before: Boosted, risk: Risk, X: Any) -> None:
    F = before.state["F"]
    remedy = "pass the loss, the data and the weights of that run, or leave warm_start out"
    if F.shape != risk.zero().shape:
        raise InputError(
            f"warm_start made predictions of shape {F.shape}, but these data need "
            f"{risk.zero().shape}; {remedy}"
        )
    value = risk.value(F)
    was = before.history[-1].value
    if not math.isclose(value, was, rel_tol=1e-9, abs_tol=1e-9):
        raise InputError(
            f"warm_start ended at a risk of {was:g}, but its risk on these data is {value:g}; "
            f"{remedy}"
        )
    # Predictions of a few rows reveal other features; sums in another order differ by rounding.
    few = before.decision(X[:CHECKED_ROWS], before.rounds)
    if not np.allclose(
        few, F[:CHECKED_ROWS], rtol=1e-6, atol=1e-6 * float(np.abs(F).max(initial=0.0))
    ):
        raise InputError(
            f"warm_start predicts different values for this X than for its training X; {remedy}"
        )
