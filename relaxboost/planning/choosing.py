"""The strength of the ridge where none is given: by folds of trips that do not overlap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.loop import Clock, Limits, run
from relaxboost.planning.bundle import Master, rounds
from relaxboost.planning.evaluation import PerTask, beside, parts, plan_of, split
from relaxboost.planning.overlaps import clusters
from relaxboost.planning.problem import FitPoint, Problem
from relaxboost.planning.regularisers import Ridge
from relaxboost.planning.tasks import Task

RATIOS = (1e-2, 1e-4, 1e-6, 1e-8)
"""Strengths that are tried, as shares of the one at which a cost of what is lost with an arc,
on every arc, is penalised by half of the mean loss at w = 0."""
CLUSTERS, UNTRIED = 6, 1e-5
"""With fewer clusters of trips than the first there are no folds, and the share is the second."""
_FOLDS, _TOL, _ROUNDS = 3, 0.05, 8
_LEVEL = 0.005
"""By how much a score may be below the best one and still count as the same."""
_LEFT = 2e-3
"""Share of the loss at w = 0 below which a gap changes few plans, though the value is less."""


class Chosen(NamedTuple):
    """How `fit` chose the strength of its ridge."""

    strength: float
    strengths: tuple[float, ...]
    """Those that were tried, from strong to weak; only itself where trips were too few."""
    scores: tuple[float, ...]
    """For each the mean over held-out trips of F1, the share of arcs that plan and trip have in
    common; chosen is the weakest within .005 of the best. nan where trips were too few."""
    folds: int
    """0 where trips were too few."""
    ended: str
    """Why weaker ones were left untried, "time_limit" or "interrupted"; else empty."""


def chosen(problem: Problem, clock: Clock) -> tuple[Chosen, Array]:
    """Return a strength for a problem with a ridge and w >= 0, and weights to begin with.

    Folds have clusters of trips that overlap on one side. Cuts are below the loss whatever
    the strength is, so each strength goes on with the cuts of those before. After Ctrl-C, and
    where the time of the clock is over, the strengths that all folds have tried remain.
    """
    start = problem.at(np.zeros(problem.d))
    paths = [row.path for row in problem.oracle.rows]
    length = float(problem.oracle.weights @ np.array([len(path) for path in paths]))
    whole = length**2 / start.plans.value if start.plans.value > 0.0 else 1.0
    strengths = tuple(whole * ratio for ratio in RATIOS)
    groups, ended = clusters(problem.tasks), ""
    tried: list[tuple[float, Array]] = []

    def keep(found: tuple[float, Array]) -> str:
        tried.append(found)
        return ""

    if len(set(groups)) >= CLUSTERS:
        ended = run(_tried(problem, groups, strengths, clock), keep, Limits(), clock, empty=True)
    ended = "" if len(tried) == len(strengths) else ended
    if not tried:
        strength = whole * UNTRIED
        return Chosen(strength, (strength,), (np.nan,), 0, ended), np.zeros(problem.d)
    scores = tuple(score for score, _ in tried)
    best = max(k for k, score in enumerate(scores) if score >= max(scores) - _LEVEL)
    found = Chosen(strengths[best], strengths[: len(scores)], scores, _FOLDS, ended)
    return found, tried[best][1]


def _tried(
    problem: Problem, groups: Sequence[int], strengths: Sequence[float], clock: Clock
) -> Iterator[tuple[float, Array]]:
    """Yield the score and the mean weights of each strength."""
    tasks = problem.tasks
    folds = [
        _Fold(problem.of([tasks[i] for i in fold.train]), [tasks[i] for i in fold.test])
        for fold in split(tasks, _FOLDS, by=groups)
    ]
    for strength in strengths:
        found = [fold.next(strength, clock) for fold in folds]
        score = float(np.concatenate([score for score, _ in found]).mean())
        yield score, np.mean([w for _, w in found], axis=0)


class _Fold:
    """The fits of one fold, from strong to weak."""

    def __init__(self, problem: Problem, held: Sequence[Task]) -> None:
        self.held, self.master = held, Master(problem)
        self.best: FitPoint | None = None
        self.least = 0.0

    def next(self, strength: float, clock: Clock) -> tuple[Array, Array]:
        """Return the F1 of each held-out trip under the next strength, and the weights."""
        problem = self.master.problem = self.master.problem.of(regulariser=Ridge(strength))
        if self.best is None:
            self.best = problem.at(np.zeros(problem.d), clock=clock)
            self.least = _LEFT * self.best.value
        best = problem.again(self.best)
        states = rounds(self.master, best, clock)
        for _, state in zip(range(_ROUNDS), states, strict=False):
            best = min(best, state.point, key=lambda one: one.value)
            if best.value - state.lower <= max(_TOL * best.value, self.least):
                break
        self.best = best
        return _f1(self.held, best.w, clock), best.w


def _f1(tasks: Sequence[Task], w: Array, clock: Clock) -> Array:
    """Return the F1 of the plan of each task, as `evaluate` has it."""
    found = {graph: graph.arc_features @ w for graph in {task.graph for task in tasks}}
    ordered = {graph: costs[graph.forward.arcs] for graph, costs in found.items()}
    rows = []
    for task in tasks:
        clock.check()
        costs = found[task.graph]
        rows.append(beside(task, plan_of(task, costs, ordered[task.graph]), costs))
    unknown = np.full(len(rows), np.nan)
    return parts("mean_arc_f1", PerTask(*[*np.array(rows).T, unknown, unknown]))[0]
