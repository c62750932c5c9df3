"""`boost`: learn costs that are any function of features, by functional gradient descent."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from relaxboost import functional
from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost.functional import Algorithm, Boosted, BoostRecord, Stopping, WeakLearner
from relaxboost.functional.algorithms import algorithm_of
from relaxboost.planning.costs import LearnedCosts
from relaxboost.planning.graphs import Graph, features_by_name, same_names
from relaxboost.planning.risk import PlanningLoss, PlanningRisk
from relaxboost.planning.tasks import Task, checked_tasks

FLOOR = 1e-6
"""The least cost of a site, as a share of the mean cost at the start."""


class FlooredCosts(UserWarning):
    """Additive costs are negative at some sites, and were raised to the floor there."""


@dataclass(frozen=True)
class BoostedCosts(LearnedCosts):
    """Costs per site C = base + F or base · exp(F), with F a sum of weak hypotheses.

    Attributes
    ----------
    boosted : Boosted
        F, with its terms and the state that a warm start needs.
    loss : PlanningLoss
        Link and base.
    names : tuple of str
        The names of the features.
    status : str
        As in `Boosted`: "max_rounds", "early stopping", "interrupted" and others.
    scale : float
        The factor of every step.
    inexact : int
        The number of demonstrations whose plans were relaxed at these costs. For them the loss in
        the history is a convex upper bound of the true loss.
    negative, sites : int
        The number of sites of the training graphs with negative cost, and of all their sites.
    floor : float
        `costs` raises site costs to at least this.
    """

    boosted: Boosted = field(repr=False)
    loss: PlanningLoss
    names: tuple[str, ...]
    status: str
    scale: float
    inexact: int
    negative: int
    sites: int
    floor: float

    @property
    def history(self) -> tuple[BoostRecord, ...]:
        """A record for the start, round 0, and for each round."""
        return self.boosted.history

    @property
    def value(self) -> float:
        """The training loss of these costs, an upper bound if plans were relaxed."""
        return self.boosted.value

    def site_costs(self, graph: Graph, upto: int | None = None) -> Array:
        """Return C, shape (S,), of all rounds, or of the rounds `upto` a number.

        Additive costs may be negative.
        """
        X = features_by_name(graph, self.names)
        start = self.loss.start(graph)
        return self.loss.linked(start, self.boosted.decision(X, upto))

    def costs(self, graph: Graph, *, upto: int | None = None) -> Array:
        """Return arc costs c = B C, shape (E,), that every planner takes.

        Additive costs may be negative at some sites. They are raised to `floor`, a tiny cost,
        because training plans also take such arcs for free (``negative="relaxed"``). A
        `FlooredCosts` warning has the number of these sites.
        """
        C = self.site_costs(graph, upto)
        below = int((C < 0.0).sum())
        if below:
            warnings.warn(
                f"the cost is negative at {below} of {C.size} sites of {graph}, the least "
                f"{C.min():.3g}; raised to {self.floor:.3g} there. "
                "graph.costs(learned.site_costs(graph)) keeps negative costs, and "
                'PlanningLoss("exponential") learns costs that are positive everywhere',
                FlooredCosts,
                stacklevel=2,
            )
        # Exponential costs are positive already, and a floor would only change tiny ones.
        if self.loss.link == "additive":
            C = np.maximum(C, self.floor)
        return graph.costs(C)


def boost(
    tasks: Sequence[Task],
    learner: WeakLearner,
    loss: PlanningLoss | None = None,
    *,
    algorithm: str | Algorithm = "residual",
    stopping: int | Stopping = 100,
    warm_start: BoostedCosts | None = None,
    seed: int = 0,
) -> BoostedCosts:
    """Learn costs per site from demonstrations, as a sum of weak hypotheses of the features.

    The method is restricted gradient descent on the maximum-margin planning loss. With
    ``PlanningLoss("exponential")`` it is LEARCH, exponentiated functional gradient descent.

    Parameters
    ----------
    tasks : sequence of Task
        Their graphs have the same features.
    learner : WeakLearner
        Such as `RegressionStumps()`, `Trees(max_depth=3)` or `Networks(5)` of `functional`.
    loss : PlanningLoss, optional
        Link, base, and the treatment of negative costs; by default ``PlanningLoss()``.
    algorithm : {"residual", "repeated", "naive"} or Algorithm
        As in `functional.boost`, with two differences. The iterate is the best: it has the least
        loss on the validation tasks, or on `tasks` without validation. Steps in 1/√t are scaled so
        that the first step changes costs by a quarter. The exponential link has no
        ``step="line-search"``.
    stopping : int or Stopping
        When to stop; a number is the number of rounds. ``Stopping(validation=tasks)`` has held-out
        tasks, on any graphs with the same features.
    warm_start : BoostedCosts, optional
        A run with the same tasks and settings to continue; its rounds count.
    seed : int
        At least 0, for learners with random choices.

    Returns
    -------
    BoostedCosts
        After Ctrl-C it has the status "interrupted" and the best costs before it.

    Raises
    ------
    InputError
        Before work starts, for graphs with different features, a base that does not fit a graph,
        and options that contradict each other.

    References
    ----------
    Grubb & Bagnell (2011), Sec. 5, Fig. 1; Ratliff, Silver & Bagnell (2009), LEARCH.
    """
    tasks = checked_tasks(tasks)
    given = PlanningLoss() if loss is None else loss
    method = algorithm_of(algorithm)
    _check_options(given, method, warm_start)
    stop = Stopping.of(stopping)
    # The weights of sites come from the visits at the start, for which an unweighted risk serves.
    risk = given.bind(tasks, given.bind(tasks).visited())
    graph = risk.oracle.graphs[0]
    if stop.validation is not None:
        held = checked_tasks(stop.validation)
        same_names([graph, *(task.graph for task in held)])
        # `functional.boost` needs the rows of features with the tasks.
        stop = replace(stop, validation=(given.bind(held).features, held))
    scale = method.scale
    if scale is None:
        by_root = method.step == "1/sqrt(t)" or (method.step is None and not given.strength)
        scale = first_step(risk) if by_root else 1.0
    boosted = functional.boost(
        risk.features,
        risk,
        learner,
        # Single rounds may raise the loss, because steps in 1/√t do not depend on it.
        algorithm=method.filled(scale=scale, iterate="best"),
        stopping=stop,
        warm_start=None if warm_start is None else warm_start.boosted,
        seed=seed,
    )
    # The numbers of the report are those of the best iterate, not of the last.
    F = boosted.decision(risk.features)
    usual = float(np.abs(risk.site_costs(risk.zero())).mean())
    return BoostedCosts(
        boosted=boosted,
        loss=given,
        names=graph.names,
        status=boosted.status,
        scale=float(scale),
        inexact=sum(not one.exact for one in risk.oracle.evaluate(risk.arc_costs(F)).each),
        negative=int((risk.site_costs(F) < 0.0).sum()),
        sites=risk.sites,
        floor=FLOOR * (usual or 1.0),
    )


def _check_options(loss: Any, algorithm: Algorithm, warm_start: Any) -> None:
    if not isinstance(loss, PlanningLoss):
        raise InputError(f"loss must be a PlanningLoss, such as PlanningLoss(), got {loss!r}")
    if loss.link == "exponential" and algorithm.step == "line-search":
        raise InputError(
            'step="line-search" needs the slope of the loss in F, and the exponential link has the '
            'gradient in the costs; use "1/sqrt(t)" or a number'
        )
    if warm_start is not None and not isinstance(warm_start, BoostedCosts):
        raise InputError(f"warm_start must be a result of planning.boost, got {warm_start!r}")


def first_step(risk: PlanningRisk) -> float:
    """Return the step along the gradient at F = 0 that changes costs by a quarter.

    The change is measured in the norm of the measure of `risk`. For the exponential link the step
    changes F by 1/4.
    """
    F = risk.zero()
    # The gradient is 0 if all demonstrations are optimal by the margin at the start.
    length = risk.measure.norm(risk.evaluate(F)[1])
    if length == 0.0:
        return 1.0
    # F is a logarithm for the exponential link, so that a change of F is a relative change of
    # costs.
    size = 1.0
    if risk.loss.link == "additive":
        size = float(np.abs(risk.site_costs(F)).mean()) or 1.0
    return 0.25 * size / length
