"""The defaults of `boost`: the initial linear costs, and the number of rounds."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import number_of
from relaxboost._core.loop import Clock
from relaxboost.functional.rounds import BoostState
from relaxboost.planning.choosing import StrengthSearch, f1_scores
from relaxboost.planning.fitting import fit
from relaxboost.planning.problem import Problem
from relaxboost.planning.regularisers import Ridge
from relaxboost.planning.risk import Linear, PlanningLoss
from relaxboost.planning.splitting import clusters, split
from relaxboost.planning.tasks import Task

MIN_RELATIVE_COST = 1e-6
"""The minimum site cost, as a fraction of the mean site cost. Lower costs are raised to it, because
shortest paths need costs >= 0. It applies to boosted costs with the additive link, and to the
initial linear costs with the exponential link."""


class LinearStart(NamedTuple):
    """The linear costs from which `boost` starts, and how they were learned."""

    base: float | Linear
    """The linear costs, or 1 if no useful linear costs can be learned from the features."""
    strength: float
    """The ridge strength of the linear costs, or nan if `base` is 1."""
    ended: str
    """The reason why the linear costs may be inaccurate: "time_limit" if the time was up during the
    fit or the cross-validation of the ridge strength, and otherwise ""."""


def linear_start(
    tasks: Sequence[Task], link: str, clock: Clock, strength: float | None = None
) -> LinearStart:
    """Learn the linear costs from which boosting starts, in at most half of the remaining time.

    The base is 1 if a feature is negative somewhere, or if all learned costs are 0.
    """
    graphs = list(dict.fromkeys(task.graph for task in tasks))
    if any((graph.features < 0.0).any() for graph in graphs):
        return LinearStart(1.0, math.nan, "")
    # Costs minus losses may be negative, and the relaxed loss takes all of them.
    problem = Problem(tasks, None if strength is None else Ridge(strength), negative="relaxed")
    limit = max(clock.left / 2.0, 1e-9) if math.isfinite(clock.left) else None
    with warnings.catch_warnings():
        # The warnings of `fit` about unhelpful costs advise to boost, which follows here.
        warnings.simplefilter("ignore", UserWarning)
        found = fit(problem, time_limit=limit)
    # A later run cannot continue from unfinished linear costs.
    if found.status == "interrupted":
        raise KeyboardInterrupt
    brief = "time_limit" in (found.status, found.chosen and found.chosen.ended)
    ended = "time_limit" if brief else ""
    mean = float(np.concatenate([graph.features @ found.w for graph in graphs]).mean())
    if mean <= 1e-9 * found.upper:  # Costs this small are rounding errors of 0.
        return LinearStart(1.0, math.nan, ended)
    # The exponential link needs costs > 0.
    floor = MIN_RELATIVE_COST * mean if link == "exponential" else 0.0
    base = Linear(tuple(found.w.tolist()), found.names, floor)
    return LinearStart(base, found.problem.regulariser.form.square, ended)


class ChosenRounds(NamedTuple):
    """The record of how `boost` chose the number of rounds."""

    rounds: int
    """The chosen number of rounds. It is 0 if no number improves the score by more than `error`."""
    scores: tuple[float, ...]
    """The score of each number of rounds, starting with 0 rounds. A score is the mean F1 score of
    the plan's arcs over the held-out trips. The tuple is empty if there were too few trips for
    folds, or if boosting ended before a score was computed."""
    error: float
    """The standard error of the difference between the best score and the score for 0 rounds."""
    folds: int
    """The number of folds. It is 0 if there were too few trips for folds, or if Ctrl-C ended the
    cross-validation."""
    ended: str
    """The reason why cross-validation ended early: "time_limit", "interrupted", or "" if all
    numbers of rounds were tried."""

    def __repr__(self) -> str:
        shown = ", without folds"
        if self.scores:
            chosen = f"{self.scores[0]:.3f} -> {self.scores[self.rounds]:.3f}"
            shown = f" of {len(self.scores) - 1}; F1 on {self.folds} folds: {chosen}"
        why = f", {self.ended}" if self.ended else ""
        return f"ChosenRounds({number_of(self.rounds, 'round')}{shown}{why})"


Train = Callable[[list[Task], PlanningLoss, Callable[[BoostState], Any]], str]
"""The type of a function that boosts on the training tasks of a fold, with a callback for each
round, and returns the reason why it ended."""


def choose_rounds(
    tasks: Sequence[Task],
    loss: PlanningLoss,
    strength: float,
    average: bool,
    train: Train,
    most: int,
    clock: Clock,
) -> ChosenRounds:
    """Choose the number of boosting rounds, at most `most`, by cross-validation.

    The record has the number of rounds with the best score on held-out trips. It is 0 if the score
    is not better than that of 0 rounds by more than the standard error, and `most` if there are too
    few trips for folds.

    On each fold, boosting starts from linear costs with the given ridge strength, or from
    `loss.base` if the strength is nan. If `average` is true, the mean iterate is scored, and
    otherwise the last iterate.
    """
    search = StrengthSearch()
    groups = clusters(tasks)
    if len(set(groups)) < search.clusters:
        return ChosenRounds(most, (), math.nan, 0, "")
    held: list[Array] = []
    brief: list[int] = []
    for place, fold in enumerate(split(tasks, search.folds, by=groups)):
        shown = [tasks[i] for i in fold.train]
        # The choice takes half of the time, which the folds share. The other half is for the run on
        # all tasks.
        ends = Clock(clock.left / (2.0 * search.folds - place))
        made = loss
        if not math.isnan(strength):
            made = replace(loss, base=linear_start(shown, loss.link, ends, strength).base)
        watch = _Watched(made, [tasks[i] for i in fold.test], average, ends)
        status = train(shown, made, watch)
        held.append(np.array(watch.scores))
        if status == "interrupted":
            raise KeyboardInterrupt
        if not watch.scores:
            return ChosenRounds(0, (), math.nan, search.folds, status)
        if status in ("time_limit", "callback"):
            brief.append(len(watch.scores))
    # If a learner found no further hypothesis in a fold, the costs of its last round also count for
    # later rounds. A fold that ran out of time has no scores for later rounds.
    rounds = min(brief, default=max(map(len, held)))
    return _best(held, rounds, "time_limit" if brief else "")


def _best(held: list[Array], rounds: int, ended: str) -> ChosenRounds:
    """Return the choice of the number of rounds, given the scores of held-out trips.

    The list `held` has an array for each fold, with a row for each number of rounds, from 0, and a
    column for each held-out trip.
    """
    rows = [np.minimum(np.arange(rounds), len(scores) - 1) for scores in held]
    trips = np.concatenate([x[row] for x, row in zip(held, rows, strict=True)], axis=1)
    scores = trips.mean(axis=1)
    best = int(scores.argmax())
    error = float((trips[best] - trips[0]).std(ddof=1)) / math.sqrt(trips.shape[1])
    # The best of many scores is high by chance, so that its gain over 0 rounds must exceed the
    # standard error of this gain (Breiman et al. 1984, Sec. 3.4.3).
    chosen = best if scores[best] - scores[0] > error else 0
    return ChosenRounds(chosen, tuple(scores.tolist()), error, len(held), ended)


class _Watched:
    """A callback that records the F1 scores of held-out trips after each round."""

    def __init__(
        self, loss: PlanningLoss, tasks: Sequence[Task], average: bool, clock: Clock
    ) -> None:
        self.scores: list[Array] = []
        self._loss = loss
        self._tasks = tasks
        self._average = average
        self._clock = clock
        self._starts = {graph: loss.start(graph) for graph in {task.graph for task in tasks}}
        self._F = {graph: np.zeros(graph.size) for graph in self._starts}
        self._sum = {graph: np.zeros(graph.size) for graph in self._starts}

    def __call__(self, state: BoostState) -> bool:
        costs = {}
        for graph, start in self._starts.items():
            for term in state.terms:
                outputs = np.asarray(term.hypothesis(graph.features))
                self._F[graph] = self._F[graph] + term.coefficient * outputs
            self._sum[graph] = self._sum[graph] + self._F[graph]
            F = self._sum[graph] / max(state.round, 1) if self._average else self._F[graph]
            # Negative costs are raised as `BoostedCosts.costs` raises them.
            least = (
                MIN_RELATIVE_COST * float(np.abs(start).mean())
                if self._loss.link == "additive"
                else 0.0
            )
            costs[graph] = graph.costs(np.maximum(self._loss.linked(start, F), least))
        self.scores.append(f1_scores(self._tasks, costs, self._clock))
        return self._clock.left == 0.0
