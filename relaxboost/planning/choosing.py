"""Cross-validation of the ridge strength, for callers who pass no regulariser."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import number_of
from relaxboost._core.loop import Clock, Limits, run
from relaxboost.planning.bundle import Bundle
from relaxboost.planning.evaluation import arc_f1, plan_of
from relaxboost.planning.graphs import Graph
from relaxboost.planning.problem import FitPoint, Problem
from relaxboost.planning.regularisers import Ridge
from relaxboost.planning.splitting import clusters, split
from relaxboost.planning.tasks import Task
from relaxboost.solvers.bundle.method import rounds


class Chosen(NamedTuple):
    """The record of how `fit` chose the ridge strength."""

    strength: float
    """The weakest strength with a score within 0.005 of the best score. If `folds` is 0, it is a
    default that depends on the tasks."""
    strengths: tuple[float, ...]
    """The strengths that cross-validation tried, from strong to weak, or only `strength` if `folds`
    is 0."""
    scores: tuple[float, ...]
    """The score of each strength, or nan if `folds` is 0. A score is the mean F1 score of the
    plan's arcs over the held-out trips."""
    folds: int
    """The number of folds. It is 0 if there were too few trips for folds, or if cross-validation
    ended before it had tried the first strength."""
    ended: str
    """The reason why cross-validation ended early: "time_limit", "interrupted", or "" if all
    strengths were tried."""

    @property
    def cut_short(self) -> str:
        """A warning if the time limit ended the cross-validation, and otherwise an empty string."""
        if self.ended != "time_limit":
            return ""
        count = number_of(len(self.strengths), "strength")
        tried = f"only {count}" if self.folds else "no strength"
        return (
            f"the time limit ended the cross-validation of the ridge strength, which tried "
            f"{tried}; {self.strength:.3g} may be far from the best strength. Pass a larger "
            "time_limit, or give a strength, such as Ridge(1e-2)"
        )

    def __repr__(self) -> str:
        pairs = zip(self.strengths, self.scores, strict=True)
        tried = ", ".join(f"{x:.3g}: {score:.3f}" for x, score in pairs)
        scores = f"; F1 on {self.folds} folds: {tried}" if self.folds else ", without folds"
        why = f", {self.ended}" if self.ended else ""
        return f"Chosen(strength {self.strength:.3g}{scores}{why})"


@dataclass(frozen=True)
class StrengthSearch:
    """The settings of the cross-validation that chooses the ridge strength."""

    ratios: tuple[float, ...] = (1e-2, 1e-4, 1e-6, 1e-8)
    """The strengths to try, from strong to weak, as multiples of `natural_strength`."""
    clusters: int = 6
    """The minimum number of clusters of overlapping trips for cross-validation."""
    untried: float = 1e-5
    """The strength that is used without cross-validation, as a multiple of `natural_strength`."""
    folds: int = 3
    level: float = 0.005
    """The difference from the best score up to which scores count as equally good."""
    tol: float = 0.05
    """The relative gap at which the fit on a fold ends."""
    rounds: int = 8
    """The maximum number of rounds of the fit on a fold."""
    least: float = 2e-3
    """The absolute gap at which the fit on a fold ends, as a multiple of the loss at w = 0."""


def choose(
    problem: Problem, clock: Clock, search: StrengthSearch | None = None
) -> tuple[Chosen, Array]:
    """Choose the ridge strength for a problem with weights w >= 0.

    Return the record of the choice, and the weights w at which `fit` starts. After Ctrl-C, or when
    the time is up, only the strengths that were tried on all folds are considered.
    """
    search = StrengthSearch() if search is None else search
    # Multiples of a natural strength make the choice independent of the units of features.
    natural = natural_strength(problem)
    strengths = tuple(natural * ratio for ratio in search.ratios)
    # Folds keep clusters together. Otherwise a held-out trip could share most of its arcs with a
    # training trip.
    groups = clusters(problem.tasks)
    tried: list[tuple[float, Array]] = []

    def keep(found: tuple[float, Array]) -> str:
        tried.append(found)
        return ""

    ended = ""
    if len(set(groups)) >= search.clusters:
        trials = _trials(problem, groups, strengths, clock, search)
        ended = run(trials, keep, Limits(), clock, empty=True)
    # If time runs out after the last strength, every strength has been tried.
    if ended == "time_limit" and len(tried) == len(strengths):
        ended = ""
    if not tried:
        strength = natural * search.untried
        return Chosen(strength, (strength,), (np.nan,), 0, ended), np.zeros(problem.d)
    scores = tuple(score for score, _ in tried)
    # If scores are equally good, the weakest strength is chosen, because it fits the trips best.
    best = max(k for k, score in enumerate(scores) if score >= max(scores) - search.level)
    found = Chosen(strengths[best], strengths[: len(scores)], scores, search.folds, ended)
    return found, tried[best][1]


def natural_strength(problem: Problem) -> float:
    """Return the reference strength of the ridge, of which the strengths to try are multiples.

    The reference is the squared mean number of arcs in a trip, divided by the mean loss at w = 0.
    If this loss is 0, the reference is 1.
    """
    # The natural cost is the same for all arcs: the loss at w = 0, divided by the mean number of
    # arcs in a trip. At the returned strength, its ridge penalty is half the loss at w = 0.
    loss = problem.at(np.zeros(problem.d)).plans.value
    arcs = np.array([len(row.path) for row in problem.oracle.rows])
    length = float(problem.oracle.weights @ arcs)
    return length**2 / loss if loss > 0.0 else 1.0


def _trials(
    problem: Problem,
    groups: Sequence[int],
    strengths: Sequence[float],
    clock: Clock,
    search: StrengthSearch,
) -> Iterator[tuple[float, Array]]:
    """Yield the mean F1 score of the held-out trips and the mean weights over the folds, for each
    ridge strength."""
    tasks = problem.tasks
    folds = [
        _Fold(problem.changed([tasks[i] for i in fold.train]), [tasks[i] for i in fold.test])
        for fold in split(tasks, search.folds, by=groups)
    ]
    for strength in strengths:
        found = [fold.fit(strength, clock, search) for fold in folds]
        score = float(np.concatenate([score for score, _ in found]).mean())
        yield score, np.mean([w for _, w in found], axis=0)


class _Fold:
    """The linear costs of one fold, fitted for one ridge strength after another."""

    def __init__(self, problem: Problem, held: Sequence[Task]) -> None:
        self.held = held
        self.problem = problem
        self.model = Bundle().model(problem)
        self.best: FitPoint | None = None
        self.start_value = 0.0

    def fit(self, strength: float, clock: Clock, search: StrengthSearch) -> tuple[Array, Array]:
        """Fit the training tasks, and return the F1 scores of the held-out trips and the weights
        w."""
        # Only the regulariser changes, so that the cuts of the model stay valid.
        problem = self.problem.changed(regulariser=Ridge(strength))
        self.model = self.model.of(problem)
        if self.best is None:
            self.best = problem.at(np.zeros(problem.d), clock=clock)
            self.start_value = self.best.value
        best = problem.revalued(self.best)
        states = rounds(self.model, best, clock, Bundle().patience)
        for _, state in zip(range(search.rounds), states, strict=False):
            best = min(best, state.point, key=lambda one: one.value)
            # A rough fit suffices: held-out plans hardly change at a gap of 5 %.
            enough = max(search.tol * best.value, search.least * self.start_value)
            if best.value - state.lower <= enough:
                break
        self.best = best
        found = {graph: graph.arc_features @ best.w for graph in {x.graph for x in self.held}}
        return f1_scores(self.held, found, clock), best.w


def f1_scores(tasks: Sequence[Task], found: dict[Graph, Array], clock: Clock) -> Array:
    """Return the F1 score of the arcs of a shortest path for each task.

    The dictionary `found` contains the arc costs of each graph.
    """
    ordered = {graph: costs[graph.forward.arcs] for graph, costs in found.items()}
    scores = []
    for task in tasks:
        # Planning for held-out trips takes as long as a round of the fit, so that the time limit is
        # checked here too.
        clock.check()
        plan = plan_of(task, found[task.graph], ordered[task.graph])
        scores.append(arc_f1(task, plan))
    return np.array(scores)
