"""A run of `boost` while it goes on: what it found, what it watches, when it stops."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost.errors import InputError
from relaxboost.functional.algorithms import Algorithm
from relaxboost.functional.ensemble import Boosted, Record, Term
from relaxboost.functional.learners import WeakLearner
from relaxboost.functional.learners.base import check_outputs
from relaxboost.functional.losses import Loss, Risk
from relaxboost.functional.rounds import State
from relaxboost.parameters import count, positive

Array = NDArray[np.float64]


class Limits:
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


class Validation:
    """The risk on a held-out set, kept up to date term by term."""

    def __init__(self, X: Any, risk: Risk, loss: Loss, given: tuple[Any, ...]) -> None:
        if not isinstance(given, tuple) or len(given) not in (2, 3, 4):
            raise InputError(
                "validation must be a tuple, (X, y), (X, y, groups) or (X, y, groups, weights)"
            )
        self.X, y, groups, weights = (*given, None, None)[:4]
        self.risk = loss.bind(y, weights, groups=groups, classes=risk.classes)
        shape = np.shape(self.X)
        if shape[:1] != (self.risk.measure.size,):
            raise InputError(
                f"validation has X of shape {shape} and {self.risk.measure.size} targets; one row "
                "each"
            )
        if shape[1:] != np.shape(X)[1:]:
            raise InputError(
                f"validation has X of shape {shape}, and the training set {np.shape(X)}; give both "
                "the same features"
            )
        self.F = self.risk.zero()

    def add(self, terms: list[Term]) -> float:
        """Add terms; return the risk."""
        for term in terms:
            h = check_outputs(term.hypothesis(self.X), self.F, term.hypothesis)
            self.F = self.F + term.coefficient * h
        return self.risk.value(self.F)


class Kept(NamedTuple):
    """How many records there are, and what a warm start needs after the last."""

    records: int
    state: dict[str, Any]


class Run:
    """The terms found so far, their history, and when to stop."""

    def __init__(
        self,
        loss: Loss,
        learner: WeakLearner,
        risk: Risk,
        iterate: str,
        limits: Limits,
        watched: Validation | None,
        callback: Callable[[State], Any] | None,
        before: Boosted | None,
    ) -> None:
        self.loss, self.learner, self.risk, self.iterate = loss, learner, risk, iterate
        self.limits, self.watched, self.callback = limits, watched, callback
        self.terms: list[Term] = [] if before is None else list(before.terms)
        self.history: list[Record] = [] if before is None else list(before.history[:-1])
        self.first = 0 if before is None else before.rounds
        self.start = risk.zero() if before is None else before.state["F"]
        if watched is not None and self.terms:
            watched.add(self.terms)
        total = risk.zero() if before is None else before.state["total"]
        self._total, self._spare = total.copy(), np.empty_like(total)
        self._last = None if before is None else before.history[-1]
        self.kept: Kept | None = None
        self.lowest, self.stale = float("inf"), 0
        for record in self.history:
            self._watch(record)
        self.clock = time.perf_counter() - (0.0 if before is None else before.seconds)
        self.stop_at = None if limits.seconds is None else time.perf_counter() + limits.seconds

    def add(self, state: State, algorithm: Algorithm, rng: np.random.Generator) -> str:
        """Keep a round; return why to stop, or ""."""
        new: list[Term] = []
        if state.direction is not None:
            new = [
                Term(state.round, -state.step * part.coefficient, part.hypothesis)
                for part in state.direction.parts
            ]
            np.add(self._total, state.F, out=self._spare)
        else:
            np.copyto(self._spare, self._total)
        record = self._record(state, new)
        self.terms += new
        self.history.append(record)
        # All at once: a run interrupted before this is the run that ended a round earlier.
        self.kept = Kept(
            len(self.history),
            {
                "F": state.F,
                "total": self._spare,
                "algorithm": algorithm.fresh(algorithm),
                "rng": rng.bit_generator.state,
            },
        )
        self._total, self._spare = self._spare, self._total
        self._watch(record)
        return self._reached(record, state)

    def _record(self, state: State, new: list[Term]) -> Record:
        validation = average = float("nan")
        if self.watched is not None:
            validation = self.watched.add(new)
        if self.iterate == "average":
            average = self.risk.value(self._spare / state.round if state.round else state.F)
        if state.direction is None and self._last is not None:  # where a warm start begins
            return self._last._replace(validation=validation, average=average)
        edges = state.direction.edges if state.direction else ()
        return Record(
            round=state.round,
            value=state.value,
            validation=validation,
            average=average,
            gradient=self.risk.measure.norm(state.gradient),
            edge=min(edges, default=float("nan")),
            step=state.step,
            learners=len(self.terms) + len(new),
            seconds=time.perf_counter() - self.clock,
        )

    def _watch(self, record: Record) -> None:
        """Count the rounds since the least validation risk; nan is none."""
        if math.isnan(record.validation):
            return
        better = record.validation < self.lowest
        self.lowest = record.validation if better else self.lowest
        self.stale = 0 if better else self.stale + 1

    def _reached(self, record: Record, state: State) -> str:
        limits = self.limits
        answer = None if self.callback is None else self.callback(state)
        if isinstance(answer, bool | np.bool_) and answer:
            return "callback"
        if limits.patience is not None and self.stale >= limits.patience:
            return "early stopping"
        if record.round >= limits.rounds:
            return "max_rounds"
        if limits.learners is not None and record.learners >= limits.learners:
            return "max_learners"
        if self.stop_at is not None and time.perf_counter() >= self.stop_at:
            return "time_limit"
        return ""

    def result(self, status: str) -> Boosted:
        """Return what was kept."""
        assert self.kept is not None
        history = tuple(self.history[: self.kept.records])
        last = history[-1].round
        chosen = last
        if self.iterate == "best":
            watched = [record for record in history if not math.isnan(record.validation)]
            if watched:
                chosen = min(watched, key=lambda record: record.validation).round
            else:
                chosen = min(history, key=lambda record: record.value).round
        return Boosted(
            loss=self.loss,
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
            state=self.kept.state,
        )
