"""The state of a run of `boost`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.functional.algorithms import Algorithm
from relaxboost.functional.ensemble import Boosted, BoostRecord, Term
from relaxboost.functional.learners import WeakLearner
from relaxboost.functional.learners.base import check_outputs
from relaxboost.functional.losses import Risk
from relaxboost.functional.rounds import BoostState
from relaxboost.functional.stopping import Stopping


class _Validation:
    """The validation examples of a run, with their current predictions and risk."""

    def __init__(self, X: Any, risk: Risk, given: Any) -> None:
        if not isinstance(given, tuple) or len(given) not in (2, 3, 4):
            raise InputError(
                "validation must be a tuple, (X, y), (X, y, groups) or (X, y, groups, weights)"
            )
        # Missing entries of the tuple are None.
        self.X, y, groups, weights = (*given, None, None)[:4]
        if risk.loss is None:
            raise InputError(
                f"{risk!r} has no loss, but validation needs one; set its attribute `loss`"
            )
        self.risk = risk.loss.bind(y, weights, groups=groups, classes=risk.classes)
        shape = np.shape(self.X)
        if shape[:1] != (self.risk.measure.size,):
            raise InputError(
                f"validation has X of shape {shape} and {self.risk.measure.size} targets; pass "
                "one row for each target"
            )
        if shape[1:] != np.shape(X)[1:]:
            raise InputError(
                f"validation has X of shape {shape}, but the training set has shape "
                f"{np.shape(X)}; use the same features in both"
            )
        self.F = self.risk.zero()
        self._total = self.risk.zero()
        self._seen = 0
        self._lowest = math.inf
        self.stale = 0
        """The number of rounds since the round with the lowest validation risk."""

    def add(self, terms: list[Term]) -> None:
        """Add the terms of a round to the predictions."""
        # Only new terms are evaluated: a round costs the same at the end as at the start.
        for term in terms:
            h = check_outputs(term.hypothesis(self.X), self.F, term.hypothesis)
            self.F = self.F + term.coefficient * h
        self._total = self._total + self.F
        self._seen += 1

    def value(self, average: bool) -> float:
        """Return the validation risk of f_t, or of the mean of f_1, ..., f_t for `average`."""
        return self.risk.value(self._total / self._seen if average and self._seen else self.F)

    def watch(self, risk: float) -> None:
        """Update `stale` with the validation risk of a round."""
        if risk < self._lowest:
            self._lowest = risk
            self.stale = 0
        # Earlier rounds without a validation set have the risk nan, and do not count.
        elif not math.isnan(risk):
            self.stale += 1

    def resume(self, before: Boosted) -> None:
        """Add the rounds of an earlier run to the predictions."""
        for t, F in before.staged(self.X):
            self._total = self._total + F
            self._seen = t
            self.F = F
        # The first state of the continued run repeats the last record.
        for record in before.history[:-1]:
            self.watch(record.validation)


class _Kept(NamedTuple):
    # The fields are the number of records, and the state for a warm start, after the last complete
    # round.
    records: int
    state: dict[str, Any]


class BoostRun:
    """The hypotheses and the history of a run of `boost`.

    If the run continues `before`, the generator `rng` continues its random numbers.
    """

    def __init__(
        self,
        X: Any,
        risk: Risk,
        learner: WeakLearner,
        algorithm: Algorithm,
        stopping: Stopping,
        before: Boosted | None,
        rng: np.random.Generator,
    ) -> None:
        self.learner = learner
        self.risk = risk
        self.algorithm = algorithm
        self.stopping = stopping
        self.before = before
        self.rng = rng
        self.clock = Clock(stopping.time_limit, before.seconds if before else 0.0)
        self.watched: _Validation | None = None
        if stopping.validation is not None:
            self.watched = _Validation(X, risk, stopping.validation)
        self.terms: list[Term] = []
        self.history: list[BoostRecord] = []
        self._kept = _Kept(0, {"F": risk.zero(), "total": risk.zero()})
        if before is not None:
            self.terms += before.terms
            # The first state of the continued run repeats the last record.
            self.history += before.history[:-1]
            self._kept = _Kept(0, before.state)
            self.rng.bit_generator.state = before.state["rng"]
            if self.watched is not None:
                self.watched.resume(before)

    @property
    def iterate(self) -> str:
        """The function used for predictions: "last", "best" or "average"."""
        return self.algorithm.iterate or "last"

    @property
    def first(self) -> int:
        """The number of rounds of the earlier run, or 0 for a new run."""
        return 0 if self.before is None else self.before.rounds

    @property
    def start(self) -> Array:
        """The training predictions at which the run starts."""
        return self._kept.state["F"]

    def add(self, state: BoostState) -> str:
        """Store the state after a round. Return the reason to stop, or "" to continue."""
        new = state.terms
        total = self._kept.state["total"]
        if state.direction is not None:
            total = total + state.F
        # Nothing is stored before the record is complete, since Ctrl-C may come at any time.
        record = self._record(state, new, total)
        self.terms += new
        self.history.append(record)
        # This single assignment makes the round part of the result.
        self._kept = _Kept(
            len(self.history),
            {
                "F": state.F,
                "total": total,
                "algorithm": self.algorithm.fresh(self.algorithm),
                "rng": self.rng.bit_generator.state,
            },
        )
        limits = self.stopping
        if self.watched is not None:
            self.watched.watch(record.validation)
            if limits.patience is not None and self.watched.stale >= limits.patience:
                return "early stopping"
        # A run that reaches both limits in one round ends by max_rounds.
        enough = limits.max_learners is not None and record.learners >= limits.max_learners
        return "max_learners" if enough and record.round < limits.max_rounds else ""

    def _record(self, state: BoostState, new: list[Term], total: Array) -> BoostRecord:
        validation = average = float("nan")
        if self.watched is not None:
            if state.direction is not None:
                self.watched.add(new)
            validation = self.watched.value(self.iterate == "average")
        if self.iterate == "average":
            average = self.risk.value(total / state.round if state.round else state.F)
        # The first state of a continued run is the last state of the earlier run.
        if state.direction is None and self.before is not None:
            return self.before.history[-1]._replace(validation=validation, average=average)
        edges = state.direction.edges if state.direction else ()
        return BoostRecord(
            round=state.round,
            value=state.value,
            validation=validation,
            average=average,
            gradient=self.risk.measure.norm(state.gradient),
            edge=min(edges, default=float("nan")),
            step=state.step,
            learners=len(self.terms) + len(new),
            seconds=self.clock.seconds,
        )

    def result(self, status: str) -> Boosted:
        """Return the result after the last complete round."""
        history = tuple(self.history[: self._kept.records])
        last = history[-1].round
        chosen = last
        watched = [record for record in history if not math.isnan(record.validation)]
        # With patience, the mean ends at the best round too.
        best = self.iterate == "best" or (
            self.stopping.patience is not None and self.iterate == "average"
        )
        if watched and best:
            chosen = min(watched, key=lambda record: record.validation).round
        elif self.iterate == "best":
            chosen = min(history, key=lambda record: record.value).round
        return Boosted(
            loss=self.risk.loss,
            learner=self.learner,
            terms=tuple(term for term in self.terms if term.round <= last),
            history=history,
            rounds=last,
            chosen=chosen,
            iterate=self.iterate,
            status=status,
            outputs=self.risk.outputs,
            classes=self.risk.classes,
            seconds=history[-1].seconds,
            state=self._kept.state,
        )
