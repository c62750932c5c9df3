"""`boost`: learn costs that are any function of features, by functional gradient descent."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost import functional
from relaxboost.errors import InputError
from relaxboost.functional import Algorithm, Boosted, Record, State, WeakLearner
from relaxboost.parameters import positive
from relaxboost.planning.fitting import Fit
from relaxboost.planning.graphs import Graph, check_names
from relaxboost.planning.risk import PlanningLoss, PlanningRisk
from relaxboost.planning.tasks import Task, checked_tasks

Array = NDArray[np.float64]

MEASURES = ("visited", "uniform")

UNVISITED = 0.1
"""The weight that all sites share, however little they are visited, under ``"visited"``."""
FIRST = 0.25
"""How far the first step goes by default, as a share of the costs at the start."""
FLOOR = 1e-6
"""What costs are raised to at least, as a share of the mean cost at the start."""


class FlooredCosts(UserWarning):
    """Additive costs came out negative at some sites, and were raised to the floor there."""


@dataclass(frozen=True)
class Linear:
    """Site costs X w, as `fit` learns them: a base to boost from.

    Attributes
    ----------
    w : tuple of d floats
    names : tuple of str
        Of the features.
    """

    w: tuple[float, ...]
    names: tuple[str, ...]

    def __call__(self, graph: Graph) -> Array:
        """Return the costs of a graph's sites, shape (S,)."""
        check_names(graph, self.names, "base was fitted on")
        made: Array = graph.features @ np.array(self.w)
        return made


@dataclass(frozen=True, eq=False)
class Given:
    """Site costs of one graph, as an array: a base for tasks on that graph alone.

    Attributes
    ----------
    graph : Graph
    values : array of shape (S,)
    """

    graph: Graph
    values: Array = field(repr=False)

    def __call__(self, graph: Graph) -> Array:
        """Return the costs of the graph's sites, shape (S,)."""
        if graph is not self.graph:
            raise InputError(
                f"base is an array for the sites of {self.graph}, and costs of another graph are "
                "wanted; give base as a function from a graph to the costs of its sites"
            )
        return self.values


@dataclass(frozen=True)
class BoostedCosts:
    """Costs per site C = base + F or base · exp(F), with F a sum of weak hypotheses.

    Attributes
    ----------
    boosted : Boosted
        F, with its terms and what a warm start needs.
    loss : PlanningLoss
        Link and base.
    names : tuple of str
        Of the features.
    status : str
        As in `Boosted`: "max_rounds", "early stopping", "interrupted" and so on.
    scale : float
        What every step was multiplied by.
    inexact : int
        For how many demonstrations the plan was relaxed at these costs: for them the loss in the
        history is a convex bound above the true one. 0 where no loss-augmented cost is negative.
    negative : int
        At how many of the `sites` of the training graphs the cost is negative.
    sites : int
    floor : float
        What `costs` raises site costs to at least.
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
    def history(self) -> tuple[Record, ...]:
        """A record for each round, from 0, the start."""
        return self.boosted.history

    @property
    def value(self) -> float:
        """The training loss of these costs, relaxed plans as they are."""
        return self.boosted.value

    def site_costs(self, graph: Graph, upto: int | None = None) -> Array:
        """Return C, shape (S,), as it was learned; additive costs may be negative.

        Parameters
        ----------
        graph : Graph
            With the features that were learned from.
        upto : int, optional
            Of the iterate of this round.
        """
        check_names(graph, self.names, "the costs were learned on")
        start = self.loss.start(graph)
        return self.loss.linked(start, self.boosted.decision(graph.features, upto))

    def costs(self, graph: Graph, *, upto: int | None = None, raw: bool = False) -> Array:
        """Return arc costs c = B C, shape (E,), that every planner takes.

        Exponential costs are positive. Additive ones may have come out negative at some sites;
        these are raised to `floor`, next to nothing, since a plan in training has such arcs for
        free as well (``negative="relaxed"``). A `FlooredCosts` warning then says at how many.

        Parameters
        ----------
        graph : Graph
            With the features that were learned from.
        upto : int, optional
            Of the iterate of this round.
        raw : bool
            Leave negative costs as they are, for planners that take them, such as `bellman_ford`.
        """
        C = self.site_costs(graph, upto)
        if raw:
            return graph.costs(C)
        below = int((C < 0.0).sum())
        if below:
            warnings.warn(
                f"the cost is negative at {below} of {C.size} sites of {graph}, the least "
                f"{C.min():.3g}; raised to {self.floor:.3g} there. raw=True leaves them, and "
                'link="exponential" learns costs that are positive everywhere',
                FlooredCosts,
                stacklevel=2,
            )
        if self.loss.link == "additive":
            C = np.maximum(C, self.floor)
        return graph.costs(C)


def boost(
    tasks: Sequence[Task],
    learner: WeakLearner,
    *,
    link: str = "additive",
    base: float | Fit | ArrayLike | Callable[[Graph], Array] = 1.0,
    algorithm: str | Algorithm = "residual",
    step: str | float | Callable[[int], float] | None = None,
    scale: float | None = None,
    max_rounds: int = 100,
    max_learners: int | None = None,
    iterate: str = "best",
    measure: str | ArrayLike = "visited",
    negative: str = "relaxed",
    power: int = 1,
    strength: float = 0.0,
    projection: str | None = None,
    validation: Sequence[Task] | None = None,
    patience: int | None = None,
    time_limit: float | None = None,
    callback: Callable[[State], Any] | None = None,
    warm_start: BoostedCosts | None = None,
    seed: int = 0,
) -> BoostedCosts:
    """Learn costs per site from demonstrations, as a sum of weak hypotheses of the features.

    Restricted gradient descent on the maximum-margin planning loss. With ``link="exponential"``
    it is LEARCH's exponentiated functional gradient.

    Parameters
    ----------
    tasks : sequence of Task
        Their graphs have the same features.
    learner : WeakLearner
        Such as `RegressionStumps()`, `Trees(max_depth=3)` or `Networks(5)` of `functional`.
    link : {"additive", "exponential"}
        C = base + F: the loss is convex in F and the theorems hold, but costs may come out
        negative. C = base · exp(F): costs are positive, and the loss is not convex in F.
    base : float, Fit, callable or array
        The costs at F = 0, by default 1 a site. With a `Fit`, linear costs are where boosting
        starts. A function takes a graph and returns the costs of its sites, shape (S,); an array
        does for tasks that are all on one graph.
    algorithm, step, projection, max_rounds, max_learners, patience, time_limit, callback, seed
        As in `functional.boost`. There is no ``step="line-search"`` for the exponential link.
    scale : float, optional
        Multiplies every step, > 0. By default, for steps in 1/√t, such that the first changes the
        costs by a quarter of what they are at the start; else 1. See `BoostedCosts.scale`.
    iterate : {"best", "last", "average"}
        As in `functional.boost`, but by default the best: of least loss on the validation tasks,
        or on `tasks` without any. Subgradient steps do not lower the loss every time.
    measure : {"visited", "uniform"} or array of shape (S,)
        The weights of sites in the inner product that weak learners project in, fixed throughout.
        With ``"visited"`` 45 % is shared out by the visits of demonstrations, 45 % by those of
        the plans at F = 0, and 10 % evenly. With ``"uniform"`` a weak learner answers first of
        all for the many sites where no path leads. An array has the sites of one graph after the
        other, as the tasks first name them.
    negative : {"relaxed", "exact", "simple"}
        What is done where a loss-augmented cost is negative; see `Oracle`.
    power, strength
        See `PlanningLoss`.
    validation : sequence of Task, optional
        Held out, on the same graphs or others with the same features.
    warm_start : BoostedCosts, optional
        Go on from this run, made with the same tasks and settings; `max_rounds` counts its rounds.

    Returns
    -------
    BoostedCosts
        Also after Ctrl-C, with status "interrupted" and what was found before it.

    Raises
    ------
    InputError
        Before work: for tasks without any, graphs with different features, a base that does not
        fit a graph, options that do not go together.

    References
    ----------
    Grubb & Bagnell (2011), Sec. 5, Fig. 1; Ratliff, Silver & Bagnell (2009), LEARCH.
    """
    tasks = checked_tasks(tasks)
    loss = PlanningLoss(link, _base(base, tasks), negative, power, strength, shared=True)
    if link == "exponential" and step == "line-search":
        raise InputError(
            'step="line-search" needs the slope of the loss in F, and the exponential link has the '
            'gradient in the costs; take "1/sqrt(t)" or a number'
        )
    if warm_start is not None and not isinstance(warm_start, BoostedCosts):
        raise InputError(f"warm_start must be what planning.boost returned, got {warm_start!r}")
    risk = loss.bind(tasks)
    names = risk.oracle.graphs[0].names
    watched = None if validation is None else _watched(validation, loss, names)
    weights = site_weights(risk, measure)
    if scale is None:
        by_root = step == "1/sqrt(t)" or (step is None and not strength)
        scale = first_step(loss.bind(tasks, weights)) if by_root else 1.0
    boosted = functional.boost(
        risk.features,
        tasks,
        loss,
        learner,
        algorithm=algorithm,
        step=step,
        scale=scale,
        projection=projection,
        max_rounds=max_rounds,
        max_learners=max_learners,
        iterate=iterate,
        weights=weights,
        validation=watched,
        patience=patience,
        time_limit=time_limit,
        callback=callback,
        warm_start=None if warm_start is None else warm_start.boosted,
        seed=seed,
    )
    return _result(boosted, loss, risk, names, scale)


def _result(
    boosted: Boosted, loss: PlanningLoss, risk: PlanningRisk, names: tuple[str, ...], scale: float
) -> BoostedCosts:
    F = boosted.decision(risk.features)
    usual = float(np.abs(risk.site_costs(risk.zero())).mean())
    return BoostedCosts(
        boosted=boosted,
        loss=loss,
        names=names,
        status=boosted.status,
        scale=float(scale),
        inexact=risk.inexact(F),
        negative=int((risk.site_costs(F) < 0.0).sum()),
        sites=risk.sites,
        floor=FLOOR * (usual or 1.0),
    )


def site_weights(risk: PlanningRisk, measure: str | ArrayLike = "visited") -> Array | None:
    """Return the weights of sites, shape (S,), that a measure of `boost` stands for.

    Parameters
    ----------
    risk : PlanningRisk
    measure : {"visited", "uniform"} or array of shape (S,)

    Returns
    -------
    array of shape (S,), or None for the uniform measure
    """
    if isinstance(measure, str):
        if measure not in MEASURES:
            raise InputError(
                f"measure must be one of {', '.join(MEASURES)}, or an array of weights"
            )
        if measure == "uniform":
            return None
        shown, planned = (v / v.sum() for v in risk.visits(risk.zero()))
        each: Array = 0.5 * (1.0 - UNVISITED) * (shown + planned) + UNVISITED / risk.sites
        return each
    made = np.asarray(measure, dtype=np.float64)
    if made.shape != (risk.sites,) or not (made > 0.0).all() or not np.isfinite(made).all():
        raise InputError(
            f"measure needs a finite weight > 0 for each of {risk.sites} sites, got an array of "
            f"shape {made.shape}"
        )
    return made


def first_step(risk: PlanningRisk) -> float:
    """Return the step along the gradient at F = 0 that changes costs by a quarter of what they are.

    In the norm of the measure of `risk`; for the exponential link it changes F by 1/4.
    """
    F = risk.zero()
    length = risk.measure.norm(risk.evaluate(F)[1])
    if length == 0.0:
        return 1.0
    size = 1.0
    if risk.loss.link == "additive":
        size = float(np.abs(risk.site_costs(F)).mean()) or 1.0
    return FIRST * size / length


def _base(given: Any, tasks: Sequence[Task]) -> float | Callable[[Graph], Array]:
    if isinstance(given, Fit):
        return Linear(tuple(map(float, given.w)), given.names)
    if callable(given):
        return given
    if np.ndim(given) == 0:
        return positive("base", given.item() if isinstance(given, np.generic) else given)
    graphs = list(dict.fromkeys(task.graph for task in tasks))
    if len(graphs) > 1:
        raise InputError(
            f"base is an array, and the tasks are on {len(graphs)} graphs; give it as a function "
            "from a graph to the costs of its sites"
        )
    return Given(graphs[0], np.array(given, dtype=np.float64))


def _watched(validation: Any, loss: PlanningLoss, names: tuple[str, ...]) -> tuple[Any, Any]:
    """Return the validation set as `functional.boost` takes it."""
    held = checked_tasks(validation)
    for task in held:
        check_names(task.graph, names, "the tasks have")
    return loss.bind(held).features, held
