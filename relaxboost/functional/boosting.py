"""`boost`: restricted gradient descent in function space, on data."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost.errors import InputError
from relaxboost.functional.algorithms import Algorithm, Naive, Repeated, Residual
from relaxboost.functional.ensemble import ITERATES, Boosted, Record, Term
from relaxboost.functional.learners import WeakLearner
from relaxboost.functional.learners.base import PROJECTIONS
from relaxboost.functional.losses import Loss, Risk
from relaxboost.functional.rounds import State, rounds
from relaxboost.functional.schedules import default, make
from relaxboost.parameters import count, positive

Array = NDArray[np.float64]

ALGORITHMS: dict[str, type[Algorithm]] = {
    "naive": Naive,
    "repeated": Repeated,
    "residual": Residual,
}


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
        T.
    max_learners : int, optional
        Stop before a round would begin with this many weak learners; for ``"repeated"``, whose
        round t has t of them.
    iterate : {"last", "best", "average"}
        What predictions use: f_T; the f_t of least validation risk (training risk without a
        validation set); or the mean of f_1..f_T, which the theorems are about.
    weights, groups : array of shape (N,), optional
        Example weights >= 0; the query of each example, for ranking.
    validation : tuple, optional
        (X, y) or (X, y, groups) held out; its risk is in the history.
    patience : int, optional
        Stop after so many rounds without a lower validation risk.
    time_limit : float, optional
        Seconds.
    callback : callable, optional
        Called with the `State` of each round; the run ends when it returns True.
    warm_start : Boosted, optional
        Go on from this run's last f_t and residual, with steps from its round on.
    seed : int
        For learners that make random choices.

    Returns
    -------
    Boosted
        Also after Ctrl-C, with status "interrupted".

    Raises
    ------
    InputError
        Before work: for data, labels, weights or options that do not fit, each named.

    References
    ----------
    Grubb & Bagnell (2011), Algorithms 1 to 3, Eqs. 2 to 4.
    """
    risk = loss.bind(y, weights, groups=groups)
    rng = np.random.default_rng(seed)
    projection = _projection(projection, learner)
    algorithm, name = _algorithm(algorithm, warm_start)
    schedule = make(step or default(name, risk), risk, positive("scale", scale))
    if iterate not in ITERATES:
        raise InputError(f"iterate must be one of {', '.join(ITERATES)}, got {iterate!r}")
    limits = _Limits(max_rounds, max_learners, time_limit, patience, validation is not None)
    watched = None if validation is None else _Validation(risk, loss, validation)
    pool = learner.prepare(X, risk.measure, risk.outputs, projection, rng)
    run = _Run(loss, learner, risk, iterate, limits, watched, callback, warm_start)
    status = "stationary"
    try:
        for state in rounds(risk, pool, algorithm, schedule, run.start, run.first):
            reached = run.add(state, len(state.direction.parts) if state.direction else 0)
            if reached:
                status = reached
                break
    except KeyboardInterrupt:
        status = "interrupted"
    return run.result(status, algorithm)


class _Limits:
    """When to stop."""

    def __init__(
        self,
        max_rounds: int,
        max_learners: int | None,
        time_limit: float | None,
        patience: int | None,
        validated: bool,
    ) -> None:
        self.rounds = count("max_rounds", max_rounds)
        self.learners = None if max_learners is None else count("max_learners", max_learners)
        self.seconds = None if time_limit is None else positive("time_limit", time_limit)
        self.patience = None if patience is None else count("patience", patience)
        if patience is not None and not validated:
            raise InputError("patience needs validation=(X, y), the set whose risk is watched")


class _Validation:
    """The risk on a held-out set, kept up to date term by term."""

    def __init__(self, risk: Risk, loss: Loss, given: tuple[Any, ...]) -> None:
        if len(given) not in (2, 3):
            raise InputError("validation must be (X, y) or (X, y, groups)")
        self.X = given[0]
        groups = given[2] if len(given) == 3 else None
        self.risk = loss.bind(given[1], groups=groups, classes=risk.classes)
        rows = np.shape(self.X)[0]
        if rows != self.risk.measure.size:
            raise InputError(
                f"validation has {rows} rows and {self.risk.measure.size} targets; one each"
            )
        self.F = self.risk.zero()

    def add(self, terms: list[Term]) -> float:
        for term in terms:
            self.F = self.F + term.coefficient * term.hypothesis(self.X)
        return self.risk.value(self.F)


class _Run:
    """The terms found so far, their history, and when to stop."""

    def __init__(
        self,
        loss: Loss,
        learner: WeakLearner,
        risk: Risk,
        iterate: str,
        limits: _Limits,
        watched: _Validation | None,
        callback: Callable[[State], Any] | None,
        before: Boosted | None,
    ) -> None:
        self.loss, self.learner, self.risk, self.iterate = loss, learner, risk, iterate
        self.limits, self.watched, self.callback = limits, watched, callback
        self.terms: list[Term] = [] if before is None else list(before.terms)
        self.history: list[Record] = [] if before is None else list(before.history[:-1])
        self.first = 0 if before is None else before.rounds
        self.start = risk.zero() if before is None else before.state["F"]
        if self.start.shape != risk.zero().shape:
            raise InputError(
                f"warm_start was trained on predictions of shape {self.start.shape}, and these "
                f"data need {risk.zero().shape}; give the same training set"
            )
        if watched is not None and self.terms:
            watched.add(self.terms)
        self.total = risk.zero() if before is None else before.state["total"]
        self.F = self.start
        self.stale = 0
        self.clock = time.perf_counter() - (0.0 if before is None else before.seconds)
        self.stop_at = None if limits.seconds is None else time.perf_counter() + limits.seconds

    def add(self, state: State, found: int) -> str:
        """Keep a round; return why to stop, or ""."""
        new: list[Term] = []
        if state.direction is not None:
            new = [
                Term(state.round, -state.step * part.coefficient, part.hypothesis)
                for part in state.direction.parts
            ]
            self.total = self.total + state.F
        self.terms += new
        self.F = state.F
        validation = float("nan")
        if self.watched is not None:
            validation = self.watched.add(new)
        average = float("nan")
        if self.iterate == "average":
            average = self.risk.value(self.total / state.round if state.round else state.F)
        edges = state.direction.edges if state.direction else ()
        record = Record(
            round=state.round,
            value=state.value,
            validation=validation,
            average=average,
            gradient=self.risk.measure.norm(state.gradient),
            edge=min(edges, default=float("nan")),
            step=state.step,
            learners=len(self.terms),
            seconds=time.perf_counter() - self.clock,
        )
        self.history.append(record)
        return self._reached(record, state)

    def _reached(self, record: Record, state: State) -> str:
        limits, watched = self.limits, self.watched
        if self.callback is not None and self.callback(state) is True:
            return "callback"
        if watched is not None and limits.patience is not None:
            best = min(range(len(self.history)), key=lambda t: self.history[t].validation)
            if len(self.history) - 1 - best >= limits.patience:
                return "early stopping"
        if record.round >= limits.rounds:
            return "max_rounds"
        if limits.learners is not None and record.learners >= limits.learners:
            return "max_learners"
        if self.stop_at is not None and time.perf_counter() >= self.stop_at:
            return "time_limit"
        return ""

    def result(self, status: str, algorithm: Algorithm) -> Boosted:
        """Return what was found."""
        last = self.history[-1].round
        chosen = last
        if self.iterate == "best":
            key = "value" if self.watched is None else "validation"
            chosen = min(self.history, key=lambda record: getattr(record, key)).round
        return Boosted(
            loss=self.loss,
            learner=self.learner,
            terms=tuple(term for term in self.terms if term.round <= last),
            history=tuple(self.history),
            rounds=last,
            chosen=chosen,
            iterate=self.iterate,
            status=status,
            outputs=self.risk.outputs,
            classes=self.risk.classes,
            seconds=self.history[-1].seconds,
            state={"F": self.F, "total": self.total, "algorithm": algorithm},
        )


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
    elif given in ALGORITHMS:
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
