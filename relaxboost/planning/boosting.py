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
"""The floor of additive costs, divided by the mean cost per site before the first round."""


class FlooredCosts(UserWarning):
    """Additive costs were negative at some sites of a graph, and were raised to the floor."""


@dataclass(frozen=True)
class BoostedCosts(LearnedCosts):
    """Costs per site C = base + F or base · exp(F), with F a sum of weak hypotheses.

    Attributes
    ----------
    boosted : Boosted
        The function F: weak hypotheses with coefficients, and the state that a warm start needs.
    loss : PlanningLoss
        The loss, which holds the link and the base.
    names : tuple of str
        The names of the features.
    status : str
        As in `Boosted`: "max_rounds", "early stopping", "interrupted" and others.
    scale : float
        The factor by which every step was multiplied.
    inexact : int
        The number of demonstrations with relaxed plans at these costs. For these demonstrations the
        history has a convex upper bound of the loss.
    negative, sites : int
        In the training graphs: the number of sites with a negative cost, and of all sites.
    floor : float
        The least cost per site from which `costs` computes arc costs.
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
        """One record for the start, which is round 0, and one record for each round."""
        return self.boosted.history

    @property
    def value(self) -> float:
        """The training loss of these costs, or an upper bound of it if plans were relaxed."""
        return self.boosted.value

    def site_costs(self, graph: Graph, upto: int | None = None) -> Array:
        """Return the cost of each site of a graph, shape (S,); additive costs may be negative.

        Only the rounds from 1 to `upto` are used if it is given.
        """
        X = features_by_name(graph, self.names)
        start = self.loss.start(graph)
        return self.loss.linked(start, self.boosted.decision(X, upto))

    def costs(self, graph: Graph, *, upto: int | None = None) -> Array:
        """Return the cost of each arc of a graph, shape (E,), for planners.

        Negative costs of sites are raised to `floor`, a tiny positive cost, because relaxed plans
        take arcs of negative cost for free in training too. A `FlooredCosts` warning reports the
        number of these sites.
        """
        C = self.site_costs(graph, upto)
        below = int((C < 0.0).sum())
        if below:
            warnings.warn(
                f"the cost is negative at {below} of {C.size} sites of {graph}, down to "
                f"{C.min():.3g}; these costs were raised to {self.floor:.3g}. "
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
        As in `functional.boost`, with two differences. The result is the iterate with the least
        loss on the validation tasks, or on `tasks` if there are none. Steps proportional to 1/√t,
        where t is the round, are scaled so that the first step changes costs by a quarter. The
        exponential link has no ``step="line-search"``.
    stopping : int or Stopping
        When to stop; an int is the number of rounds. ``Stopping(validation=tasks)`` takes held-out
        tasks, on any graphs with the same features.
    warm_start : BoostedCosts, optional
        The result of a run with the same tasks and settings, which is continued. The rounds of
        that run count.
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
    # The weights of sites count visits of plans at F = 0, which an unweighted risk can make.
    risk = given.bind(tasks, given.bind(tasks).visited())
    graph = risk.oracle.graphs[0]
    if stop.validation is not None:
        held = checked_tasks(stop.validation)
        same_names([graph, *(task.graph for task in held)])
        # `functional.boost` takes validation data as pairs of features and targets.
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
        # The floor has the unit of costs; without any cost there is no unit.
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

    The change is measured in the L² norm of `risk.measure`. For the exponential link the step
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
