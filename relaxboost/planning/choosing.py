"""The strength of the ridge where none is given: by folds of trips that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.loop import Clock, TimeUp
from relaxboost.planning.evaluation import split
from relaxboost.planning.optimisers.bundle import Bundle, rounds
from relaxboost.planning.optimisers.master import Master
from relaxboost.planning.overlaps import clusters
from relaxboost.planning.planners.shortest import shortest_arcs
from relaxboost.planning.problem import FitPoint, Problem
from relaxboost.planning.regularisers import Ridge
from relaxboost.planning.tasks import Task

RATIOS = (1e-2, 1e-4, 1e-6, 1e-8)
"""Strengths that are tried, as shares of the one at which a cost of what is lost with an arc,
on every arc, is penalised by half of the mean loss at w = 0."""
FEW, WITHOUT = 6, 1e-5
"""With fewer clusters of trips than the first there are no folds, and the share is the second."""
_FOLDS, _TOL, _ROUNDS = 3, 0.05, 8
_ALIKE = 0.005
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


def chosen(problem: Problem, clock: Clock) -> tuple[Chosen, Array]:
    """Return a strength for a problem with a ridge and w >= 0, and weights to begin with.

    Folds have clusters of trips that overlap on one side. Cuts are below the loss whatever
    the strength is, so each strength goes on with the cuts of those before. Where the time
    of the clock is over, the strengths that all folds have tried remain.
    """
    start = problem.at(np.zeros(problem.d))
    paths = [row.path for row in problem.oracle.rows]
    length = float(problem.oracle.weights @ np.array([len(path) for path in paths]))
    whole = length**2 / start.plans.value if start.plans.value > 0.0 else 1.0
    strengths = tuple(whole * ratio for ratio in RATIOS)
    tasks, scores, weights = problem.tasks, [], []
    if len(set(clusters(tasks))) >= FEW:
        folds = [
            _Fold(problem.of([tasks[i] for i in fold.train]), [tasks[i] for i in fold.test])
            for fold in split(tasks, _FOLDS)
        ]
        try:
            for strength in strengths:
                found = [fold.next(strength, clock) for fold in folds]
                scores.append(float(np.concatenate([score for score, _ in found]).mean()))
                weights.append(np.mean([w for _, w in found], axis=0))
        except TimeUp:
            pass
    if not scores:
        return Chosen(whole * WITHOUT, (whole * WITHOUT,), (np.nan,), 0), np.zeros(problem.d)
    best = max(k for k, score in enumerate(scores) if score >= max(scores) - _ALIKE)
    tried = strengths[: len(scores)]
    return Chosen(tried[best], tried, tuple(scores), _FOLDS), weights[best]


class _Fold:
    """The fits of one fold, from strong to weak."""

    def __init__(self, problem: Problem, held: Sequence[Task]) -> None:
        self.held, self.master = held, Master(problem, Bundle().most)
        self.best: FitPoint | None = None
        self.least = 0.0

    def next(self, strength: float, clock: Clock) -> tuple[Array, Array]:
        """Return the F1 of each held-out trip under the next strength, and the weights."""
        problem = self.master.problem = self.master.problem.of(regulariser=Ridge(strength))
        if self.best is None:
            self.best = problem.at(np.zeros(problem.d), clock=clock)
            self.least = _LEFT * self.best.value
        best = problem.again(self.best)
        states = rounds(self.master, best, Bundle().level, clock)
        for _, state in zip(range(_ROUNDS), states, strict=False):
            best = min(best, state.point, key=lambda one: one.value)
            if best.value - state.lower <= max(_TOL * best.value, self.least):
                break
        self.best = best
        return np.array([_f1(task, best.w, clock) for task in self.held]), best.w


def _f1(task: Task, w: Array, clock: Clock) -> float:
    clock.check()
    graph = task.graph
    costs = (graph.arc_features @ w)[graph.forward.arcs]
    taken = shortest_arcs(graph, costs, task.source, task.target)[0]
    return max(
        2.0 * np.intersect1d(taken, shown.arcs).size / (taken.size + len(shown))
        for shown in task.demonstrations
    )
