"""A run of `boost` while it goes on: what it found, and what it watches."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.functional.algorithms import Algorithm
from relaxboost.functional.ensemble import Boosted, BoostRecord, Term
from relaxboost.functional.learners import WeakLearner
from relaxboost.functional.learners.base import check_outputs
from relaxboost.functional.losses import Risk
from relaxboost.functional.rounds import BoostState
from relaxboost.functional.stopping import Stopping


class Validation:
    """The risk on a held-out set, kept up to date term by term."""

    def __init__(self, X: Any, risk: Risk, given: Any) -> None:
        if not isinstance(given, tuple) or len(given) not in (2, 3, 4):
            raise InputError(
                "validation must be a tuple, (X, y), (X, y, groups) or (X, y, groups, weights)"
            )
        self.X, y, groups, weights = (*given, None, None)[:4]
        if risk.loss is None:
            raise InputError(f"{risk!r} names no loss, which validation needs; set its `loss`")
        self.risk = risk.loss.bind(y, weights, groups=groups, classes=risk.classes)
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
        self._total, self._seen = self.risk.zero(), 0

    def add(self, terms: list[Term]) -> None:
        """Add the terms of the next round."""
        for term in terms:
            h = check_outputs(term.hypothesis(self.X), self.F, term.hypothesis)
            self.F = self.F + term.coefficient * h
        self._total = self._total + self.F
        self._seen += 1

    def value(self, average: bool) -> float:
        """Return the risk of f_t, or of the mean of f_1..f_t."""
        return self.risk.value(self._total / self._seen if average and self._seen else self.F)

    def resume(self, before: Boosted) -> None:
        """Take the rounds of a run to go on with."""
        for t, F in before.staged(self.X):
            self._total = self._total + F
            self._seen, self.F = t, F


class _Kept(NamedTuple):
    """How many records there are, and what a warm start needs after the last."""

    records: int
    state: dict[str, Any]


class BoostRun:
    """The terms found so far and their history; ready to be returned after any round.

    The algorithm is as it stands before the first round; the random numbers `rng` of the learner
    are set to where the run `before`, if there is one, ended.

    Attributes
    ----------
    first : int
        The round that the run begins with.
    start : array
        The predictions of that round.
    clock : Clock
        Counts from now on.
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
        self.learner, self.risk, self.algorithm, self.stopping = learner, risk, algorithm, stopping
        self.iterate = algorithm.iterate or "last"
        self.clock = Clock(stopping.time_limit, 0.0 if before is None else before.seconds)
        self.rng = rng
        self.watched: Validation | None = None
        if stopping.validation is not None:
            self.watched = Validation(X, risk, stopping.validation)
        self.terms: list[Term] = [] if before is None else list(before.terms)
        self.history: list[BoostRecord] = [] if before is None else list(before.history[:-1])
        self.first = 0 if before is None else before.rounds
        self.start = risk.zero() if before is None else before.state["F"]
        if self.watched is not None and before is not None:
            self.watched.resume(before)
        total = risk.zero() if before is None else before.state["total"]
        self._total, self._spare = total.copy(), np.empty_like(total)
        self._last = None if before is None else before.history[-1]
        if before is not None:
            rng.bit_generator.state = before.state["rng"]
        # Whoever stops early wants the best of what was watched, be it an iterate or a mean.
        self._patient = stopping.patience is not None and self.iterate == "average"
        self._kept: _Kept | None = None
        self._lowest, self._stale = float("inf"), 0
        for record in self.history:
            self._watch(record)

    def add(self, state: BoostState) -> str:
        """Keep a round; return why to stop, or ""."""
        new = state.terms
        if state.direction is not None:
            np.add(self._total, state.F, out=self._spare)
        else:
            np.copyto(self._spare, self._total)
        record = self._record(state, new)
        self.terms += new
        self.history.append(record)
        # All at once: a run interrupted before this is the run that ended a round earlier.
        self._kept = _Kept(
            len(self.history),
            {
                "F": state.F,
                "total": self._spare,
                "algorithm": self.algorithm.fresh(self.algorithm),
                "rng": self.rng.bit_generator.state,
            },
        )
        self._total, self._spare = self._spare, self._total
        self._watch(record)
        patience, most = self.stopping.patience, self.stopping.max_learners
        if patience is not None and self._stale >= patience:
            return "early stopping"
        if most is not None and record.learners >= most and record.round < self.stopping.max_rounds:
            return "max_learners"
        return ""

    def _record(self, state: BoostState, new: list[Term]) -> BoostRecord:
        validation = average = float("nan")
        if self.watched is not None:
            if state.direction is not None:
                self.watched.add(new)
            validation = self.watched.value(self.iterate == "average")
        if self.iterate == "average":
            average = self.risk.value(self._spare / state.round if state.round else state.F)
        if state.direction is None and self._last is not None:  # where a warm start begins
            return self._last._replace(validation=validation, average=average)
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

    def _watch(self, record: BoostRecord) -> None:
        """Count the rounds since the least validation risk; nan is none."""
        if math.isnan(record.validation):
            return
        better = record.validation < self._lowest
        self._lowest = record.validation if better else self._lowest
        self._stale = 0 if better else self._stale + 1

    def result(self, status: str) -> Boosted:
        """Return what was kept."""
        assert self._kept is not None
        history = tuple(self.history[: self._kept.records])
        last = history[-1].round
        chosen = last
        watched = [record for record in history if not math.isnan(record.validation)]
        if watched and (self.iterate == "best" or self._patient):
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
