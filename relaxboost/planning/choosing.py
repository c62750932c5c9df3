"""Cross-validation that chooses the strength of the ridge if the caller passes none."""

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
    """The record of the cross-validation by which `fit` chose the strength of the ridge."""

    strength: float
    """The chosen strength of the ridge: the weakest strength with a score within 0.005 of the best
    score. If `folds` is 0, it is a default that depends on the tasks."""
    strengths: tuple[float, ...]
    """The strengths of the ridge that cross-validation tried, from strong to weak. If `folds` is 0,
    `strength` is the only entry."""
    scores: tuple[float, ...]
    """The score of each strength of the ridge in cross-validation, or nan if `folds` is 0. A score
    is the mean over the held-out trips of the F1 score of the plan's arcs, compared with the arcs
    of the trip."""
    folds: int
    """The number of folds of the cross-validation. It is 0 if there were too few trips for folds,
    or if cross-validation ended before it had tried the first strength."""
    ended: str
    """The reason why cross-validation ended early: "time_limit" or "interrupted". It is empty if
    all strengths were tried."""

    @property
    def cut_short(self) -> str:
        """The text of a warning if the time limit ended the cross-validation, and otherwise an
        empty string."""
        if self.ended != "time_limit":
            return ""
        count = number_of(len(self.strengths), "strength")
        tried = f"only {count}" if self.folds else "no strength"
        return (
            f"the time limit ended the choice of the strength of the ridge, which tried {tried}; "
            f"{self.strength:.3g} may be far from the best strength. Pass a larger time_limit, or "
            "give a strength, such as Ridge(1e-2)"
        )

    def __repr__(self) -> str:
        pairs = zip(self.strengths, self.scores, strict=True)
        tried = ", ".join(f"{x:.3g}: {score:.3f}" for x, score in pairs)
        scores = f"; F1 on {self.folds} folds: {tried}" if self.folds else ", without folds"
        why = f", {self.ended}" if self.ended else ""
        return f"Chosen(strength {self.strength:.3g}{scores}{why})"


@dataclass(frozen=True)
class StrengthSearch:
    """The settings of the cross-validation that chooses the strength of the ridge."""

    ratios: tuple[float, ...] = (1e-2, 1e-4, 1e-6, 1e-8)
    """The strengths of the ridge to try, from strong to weak. They are multiples of a reference
    strength, which `natural_strength` computes from the tasks."""
    clusters: int = 6
    """The minimum number of clusters of overlapping trips that cross-validation needs."""
    untried: float = 1e-5
    """The strength of the ridge that is used if there is no cross-validation. It is a multiple of
    the reference strength, which `natural_strength` computes from the tasks."""
    folds: int = 3
    level: float = 0.005
    """The tolerance for scores in cross-validation. A score within this amount of the best score
    counts as equally good."""
    tol: float = 0.05
    """The relative gap between the bounds on the optimum at which the fit on a fold ends."""
    rounds: int = 8
    """The maximum number of rounds of the fit on a fold."""
    least: float = 2e-3
    """The absolute gap between the bounds on the optimum at which the fit on a fold ends, as a
    multiple of the loss at w = 0."""


def choose(
    problem: Problem, clock: Clock, search: StrengthSearch | None = None
) -> tuple[Chosen, Array]:
    """Choose the strength of the ridge for a problem in which all weights w are >= 0.

    Return the record of the choice, and the weights w at which `fit` starts.

    Trips that overlap are always in the same fold. A cutting plane is a lower bound on the loss for
    every strength, so the fits for one strength reuse the cutting planes of the earlier strengths.
    After Ctrl-C, or when the time is up, only the strengths that were tried on all folds are
    considered.
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
    """Return the reference strength of the ridge, from which the strengths to try are computed.

    It is the square of the mean number of arcs in a trip, divided by the mean loss at the weights
    w = 0. If this loss is 0, the result is 1.
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
    """Yield, for each strength of the ridge, the mean F1 score of the held-out trips and the mean
    of the weights w over the folds."""
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
    """The linear costs fitted to the training tasks of one fold, for one strength after another."""

    def __init__(self, problem: Problem, held: Sequence[Task]) -> None:
        self.held = held
        self.problem = problem
        self.model = Bundle().model(problem)
        self.best: FitPoint | None = None
        self.start_value = 0.0

    def fit(self, strength: float, clock: Clock, search: StrengthSearch) -> tuple[Array, Array]:
        """Fit linear costs to the training tasks of this fold with the given strength of the ridge.

        Return the F1 scores of the held-out trips, and the learned weights w.
        """
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
    """Return the F1 score of a shortest path for each task.

    The score compares the arcs of the path with the arcs of the demonstrations. The dictionary
    `found` contains the costs of the arcs for each graph.
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
