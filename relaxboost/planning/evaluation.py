"""The evaluation of learned costs: how well shortest paths reproduce the demonstrations."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import thread_pool
from relaxboost._core.errors import InputError, error_prefix, few, number_of
from relaxboost._core.parameters import count
from relaxboost._core.seeds import Rng, accepts_seed, generator
from relaxboost.planning.costs import LearnedCosts
from relaxboost.planning.graphs import Graph, Path
from relaxboost.planning.oracle import Oracle
from relaxboost.planning.planners import shortest_arcs, simple_if_needed
from relaxboost.planning.plans import arc_costs
from relaxboost.planning.splitting import group_numbers
from relaxboost.planning.tasks import Task, checked_tasks


class PerTask(NamedTuple):
    """Comparisons of plans with demonstrations, as arrays with an entry per task.

    If a task has several demonstrations, `exact` and `optimal` are 1 if the plan matches at least
    one of them. The other numbers are means over the demonstrations.
    """

    exact: Array
    """1 if the plan has the same arcs as a demonstration, and 0 otherwise."""
    optimal: Array
    """1 if a demonstration costs no more than the plan, up to rounding, and 0 otherwise."""
    shared_arcs: Array
    """The number of arcs that the plan and the demonstration share. An arc that both take twice
    counts twice."""
    shown_arcs: Array
    """The number of arcs of the demonstration."""
    planned_arcs: Array
    """The number of arcs of the plan."""
    shared_nodes: Array
    """The number of nodes that the plan and the demonstration share, without the target."""
    shown_nodes: Array
    """The number of nodes of the demonstration, without the target."""
    shown_cost: Array
    """The cost of the demonstration, or the cost of the plan if the plan costs more."""
    planned_cost: Array
    """The cost of the plan."""
    margin: Array
    """The margin loss of the task, >= 0."""


_RATIOS: dict[str, Callable[[PerTask], tuple[Array, Array | float]]] = {
    "exact_match": lambda r: (r.exact, 1.0),
    "optimal_match": lambda r: (r.optimal, 1.0),
    "arc_recall": lambda r: (r.shared_arcs, r.shown_arcs),
    "arc_precision": lambda r: (r.shared_arcs, r.planned_arcs),
    "arc_f1": lambda r: (2.0 * r.shared_arcs, r.shown_arcs + r.planned_arcs),
    "node_recall": lambda r: (r.shared_nodes, r.shown_nodes),
    "regret": lambda r: (r.shown_cost - r.planned_cost, 1.0),
    "margin_loss": lambda r: (r.margin, 1.0),
}
"""The metrics by name. Each function returns a numerator and a denominator for each task, and the
metric is the ratio of their sums."""

METRICS = tuple(_RATIOS)
"""The names of the metrics that an `Evaluation` computes."""

UNITLESS = tuple(name for name in METRICS if name not in ("regret", "margin_loss"))
"""The names of the metrics that do not depend on the unit of the costs."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The plans for tasks at given costs, and their comparison with the demonstrations.

    Attributes
    ----------
    tasks : tuple of Task
        The tasks that were planned.
    plans : tuple of Path
        A path of least cost for each task, not augmented by the loss of the task.
    each : PerTask
        The comparison of each plan with its demonstration, from which the metrics are computed.
    """

    tasks: tuple[Task, ...] = field(repr=False)
    plans: tuple[Path, ...] = field(repr=False)
    each: PerTask = field(repr=False)

    def metric(self, name: str) -> float:
        """Return the value of a metric, given its name in `METRICS`.

        All tasks count equally, whatever their weights.

        * ``exact_match`` is the fraction of tasks whose plan is a demonstration.
        * ``optimal_match`` is the fraction of tasks with a demonstration that is a shortest path.
        * ``arc_recall``, ``arc_precision`` and ``arc_f1`` count the arcs of all tasks together.
        * ``node_recall`` counts the nodes of all tasks together, without targets.
        * ``regret`` is the mean excess cost of the demonstration over the plan, >= 0, in the unit
          of the costs.
        * ``margin_loss`` is the mean margin loss, which also depends on this unit.
        """
        numerator, denominator = ratio_parts(name, self.each)
        return float(numerator.sum() / denominator.sum())

    def metrics(self) -> dict[str, float]:
        """Return all metrics by name."""
        return {name: self.metric(name) for name in METRICS}

    @property
    def ties(self) -> tuple[str, ...]:
        """A sentence for each task whose plan differs from a demonstration but costs as much."""
        tied = np.flatnonzero((self.each.optimal == 1.0) & (self.each.exact == 0.0))
        return tuple(_tie(self.tasks[i], self.plans[i]) for i in tied)

    def at(self, places: Any) -> Evaluation:
        """Return the evaluation of some tasks, given their indices or a Boolean for each task."""
        kept = np.arange(len(self.tasks))[places]
        tasks, plans = (tuple(x[i] for i in kept) for x in (self.tasks, self.plans))
        return Evaluation(tasks, plans, PerTask(*(column[kept] for column in self.each)))

    @classmethod
    def joined(cls, reports: Sequence[Evaluation]) -> Evaluation:
        """Merge evaluations, such as those of the folds, into one evaluation of all their tasks."""
        if not reports:
            raise InputError("the list of evaluations is empty; pass at least one evaluation")
        columns = zip(*(report.each for report in reports), strict=True)
        return cls(
            tuple(task for report in reports for task in report.tasks),
            tuple(plan for report in reports for plan in report.plans),
            PerTask(*(np.concatenate(column) for column in columns)),
        )

    def __repr__(self) -> str:
        shown = [f"{name} {self.metric(name):.3g}" for name in ("exact_match", "arc_recall")]
        return f"Evaluation({', '.join([number_of(len(self.tasks), 'task'), *shown])})"

    def __str__(self) -> str:
        lines = [number_of(len(self.tasks), "task")]
        lines += [f"{name.replace('_', ' '):<20}{x:.4g}" for name, x in self.metrics().items()]
        if ties := self.ties:
            lines.append(f"{'ties':<20}{len(ties)}, such as {ties[0]}")
        return "\n".join(lines)


def evaluate(tasks: Sequence[Task], costs: Any, *, negative: str = "exact") -> Evaluation:
    """Plan for tasks at given costs, and compare the plans with the demonstrations.

    The plan of a task is a shortest path from its source to its target. If several paths have the
    least cost, the plan is the path that the search reaches first, in the order of the arcs. If the
    demonstration is one of these paths, `optimal_match` counts the task as a match, but
    `exact_match` does so only if the search happened to choose the demonstration. Such ties are
    common for constant costs and rare for learned costs.

    Parameters
    ----------
    tasks : sequence of Task
        The tasks to plan.
    costs : LearnedCosts, callable or array
        Learned costs, or a function that maps a graph to its arc costs, shape (E,). If all tasks
        are on the same graph, an array of arc costs is also accepted.
    negative : {"exact", "simple", "relaxed"}
        The treatment of negative costs, as in `Oracle`. ``"relaxed"`` gives the same plans as
        ``"exact"``, but the metric ``margin_loss`` becomes an upper bound on the mean margin loss.

    Raises
    ------
    InputError
        If the costs have the wrong shape, or if a cost is not finite.
    NegativeCycle
        If the costs around a cycle sum to a negative number, unless negative="simple".
    """
    made = checked_tasks(tasks)
    oracle = Oracle(made, negative)
    # Costs are made and checked once for each graph, however many tasks are on it.
    known = _costs_by_graph(oracle.graphs, costs)
    # The searches read costs in the order of the adjacency.
    ordered = {graph: known[graph][graph.forward.arcs] for graph in oracle.graphs}

    def work(task: Task) -> Path:
        return plan_of(task, known[task.graph], ordered[task.graph], negative)

    # Searches release the interpreter lock, so that threads run in parallel.
    plans = tuple(thread_pool()[0].map(work, made))
    margin = np.zeros(len(made))
    share = np.array([1.0 / len(made[row.task].demonstrations) for row in oracle.rows])
    values = [one.value for one in oracle.evaluate([known[g] for g in oracle.graphs]).each]
    # The loss of a task is the mean over its demonstrations.
    np.add.at(margin, [row.task for row in oracle.rows], share * np.array(values))
    pairs = zip(made, plans, strict=True)
    rows = [compared_with_plan(task, plan, known[task.graph]) for task, plan in pairs]
    report = Evaluation(made, plans, PerTask(*[*np.array(rows).T.copy(), margin]))
    # Costs of 0 make all paths shortest, and a perfect optimal_match would mislead.
    if len(made) > 1 and report.each.optimal.all() and not report.each.exact.any():
        warnings.warn(
            "every demonstration costs as much as its plan, but none is the plan: these costs do "
            f"not distinguish paths, and optimal_match says nothing. {report.ties[0]}. Look for "
            "costs that are 0, and learn with less strength or more features",
            UserWarning,
            stacklevel=2,
        )
    return report


class Difference(NamedTuple):
    """The values of a metric in two evaluations, with a bootstrap interval of their difference."""

    first: float
    second: float
    difference: float
    """The value `second` minus the value `first`."""
    low: float
    """The lower end of the bootstrap interval: the 2.5th percentile of the differences."""
    high: float
    """The upper end of the bootstrap interval: the 97.5th percentile of the differences."""


@accepts_seed
def compare(
    first: Evaluation,
    second: Evaluation,
    rng: Rng = 0,
    draws: int = 10_000,
    *,
    metrics: Sequence[str] = UNITLESS,
    by: Any = "task",
) -> dict[str, Difference]:
    """Compare the metrics of two evaluations, with bootstrap intervals for the differences.

    Each draw resamples the tasks, in the same way for both evaluations, and recomputes every
    metric. The intervals reflect the variation among these tasks, but not the variation of the
    costs over training sets.

    Parameters
    ----------
    first, second : Evaluation
        Two evaluations of the same tasks in the same order. The graphs of the tasks may have
        different features in the two evaluations.
    rng : int, numpy.random.Generator or None
        The seed of the draws: an integer >= 0, a generator, or None for a new seed.
    draws : int
        The number of bootstrap draws, at least 100.
    metrics : sequence of str
        The metrics to compare, which are names from `METRICS`. The default excludes ``regret`` and
        ``margin_loss``, which depend on the unit of the costs. Pass these two only if the costs of
        both evaluations have the same unit; learned costs have no common unit.
    by
        The groups of similar tasks that are drawn together, as in `split`. For recorded trips,
        ``"overlap"`` is best. By default every task is drawn separately.

    Returns
    -------
    dict
        The `Difference` of each metric, by name.

    References
    ----------
    Efron & Tibshirani (1993), An introduction to the bootstrap, Ch. 13.
    """
    for given in (first, second):
        if not isinstance(given, Evaluation):
            raise InputError(
                f"compare needs two results of evaluate(tasks, costs), got {given!r:.60}"
            )
    _check_same(first, second)
    if count("draws", draws) < 100:
        raise InputError(
            f"draws must be at least 100, because percentiles are computed, got {draws}"
        )
    # Metrics are ratios of sums, so that sums over groups suffice for all draws.
    group = np.unique(np.array(group_numbers(first.tasks, by)), return_inverse=True)[1]
    sums = np.zeros((int(group.max()) + 1, 4 * len(metrics)))
    for j, name in enumerate(metrics):
        columns = [*ratio_parts(name, first.each), *ratio_parts(name, second.each)]
        np.add.at(sums[:, 4 * j : 4 * j + 4], group, np.stack(columns, axis=1))
    drawn = _resampled(sums, generator(rng), draws).reshape(draws, len(metrics), 4)
    differences = drawn[:, :, 2] / drawn[:, :, 3] - drawn[:, :, 0] / drawn[:, :, 1]
    found = {}
    for name, low, high in zip(metrics, *np.percentile(differences, [2.5, 97.5], 0), strict=True):
        a = first.metric(name)
        b = second.metric(name)
        found[name] = Difference(a, b, b - a, float(low), float(high))
    return found


def ratio_parts(name: str, each: PerTask) -> tuple[Array, Array]:
    """Return the numerator and the denominator of a metric for each task, as two arrays.

    The metric is the ratio of their sums.
    """
    if name not in _RATIOS:
        raise InputError(f"{name!r} is not a metric; the metrics are {', '.join(_RATIOS)}")
    numerator, denominator = _RATIOS[name](each)
    return numerator, np.broadcast_to(denominator, numerator.shape)


def _resampled(sums: Array, rng: np.random.Generator, draws: int) -> Array:
    """Return the column sums of each bootstrap draw of the rows of `sums`."""
    n = sums.shape[0]
    parts = []
    left = draws
    while left > 0:
        # The array of counts has at most 2 million numbers at a time, which take 16 MB.
        some = min(left, max(1, 2_000_000 // n))
        rows = rng.integers(0, n, (some, n)) + n * np.arange(some)[:, None]
        # If the number of times that each row is drawn is known, a single matrix product gives all
        # sums.
        times = np.bincount(rows.ravel(), minlength=some * n).reshape(some, n)
        parts.append(times.astype(np.float64) @ sums)
        left -= some
    return np.concatenate(parts)


def _costs_by_graph(graphs: Sequence[Graph], costs: Any) -> dict[Graph, Array]:
    make = costs.costs if isinstance(costs, LearnedCosts) else costs
    if callable(make):
        return {graph: arc_costs(graph, make(graph)) for graph in graphs}
    if len(graphs) > 1:
        raise InputError(
            f"the tasks have {len(graphs)} graphs, so a single array of costs cannot be used; pass "
            "learned costs, or a function that returns the costs of a graph"
        )
    return {graphs[0]: arc_costs(graphs[0], costs)}


def plan_of(task: Task, costs: Array, ordered: Array, negative: str = "exact") -> Path:
    """Return a shortest path for a task.

    The array `costs` contains the arc costs in the order of the arc indices, and `ordered` contains
    them in the order of `Graph.forward`.
    """
    graph = task.graph
    # Dijkstra's search needs costs >= 0.
    if costs.min() < 0.0:
        with error_prefix(f"task {task.name}: "):
            return simple_if_needed(graph, costs, task.source, task.target, negative).path
    return Path(graph, shortest_arcs(graph, ordered, task.source, task.target)[0])


def compared_with_plan(task: Task, plan: Path, costs: Array) -> Array:
    """Return the entries of `PerTask` for a task, except the margin loss."""
    cost = plan.cost(costs)
    size = float(np.abs(costs[plan.arcs]).sum())
    nodes = plan.numbers[:-1]
    rows = []
    for shown in task.demonstrations:
        there = shown.cost(costs)
        # Rounding may make a shortest demonstration look more expensive than the plan by this much.
        least = cost + 1e-12 * (size + float(np.abs(costs[shown.arcs]).sum()))
        met = (np.array_equal(shown.arcs, plan.arcs), there <= least)
        arcs = (_shared(plan.arcs, shown.arcs), len(shown), len(plan))
        visited = (_shared(nodes, shown.numbers[:-1]), len(shown))
        rows.append((*met, *arcs, *visited, max(there, cost), cost))
    made = np.array(rows, dtype=np.float64)
    found: Array = made.mean(axis=0)
    # A plan that is any of the demonstrations counts as a match.
    found[:2] = made[:, :2].max(axis=0)
    return found


def arc_f1(task: Task, plan: Path) -> float:
    """Return the F1 score of the arcs of a plan, measured against the task's demonstrations."""
    pairs = [(_shared(plan.arcs, shown.arcs), len(shown)) for shown in task.demonstrations]
    shared, length = np.mean(pairs, axis=0)
    return float(2.0 * shared / (length + len(plan)))


def _tie(task: Task, plan: Path) -> str:
    """Return a sentence that names where a plan and a demonstration differ."""
    graph = task.graph
    shown = task.demonstration.arcs
    apart = np.setdiff1d(shown, plan.arcs), np.setdiff1d(plan.arcs, shown)
    # Arcs are named in the order of the paths.
    ways = [x[np.isin(x, some)].tolist() for x, some in zip((shown, plan.arcs), apart, strict=True)]
    first, second = (few(way, 3, graph.arc_name) or "no other arc" for way in ways)
    return (
        f"{task.name}: several paths cost the same; the trip takes {first}, and the plan {second}"
    )


def _shared(first: Whole, second: Whole) -> float:
    # Entries that both lists repeat are counted each time.
    return float((Counter(first.tolist()) & Counter(second.tolist())).total())


def _check_same(first: Evaluation, second: Evaluation) -> None:
    if len(first.tasks) != len(second.tasks):
        raise InputError(
            f"the two evaluations have {len(first.tasks)} and {len(second.tasks)} tasks; both must "
            "have the same tasks in the same order"
        )
    for place, both in enumerate(zip(first.tasks, second.tasks, strict=True)):
        # Graphs may differ in their features, so that paths are compared by their numbers.
        ways = [[p.numbers.tolist() + p.arcs.tolist() for p in t.demonstrations] for t in both]
        if both[0] is not both[1] and ways[0] != ways[1]:
            raise InputError(
                f"task {place} is {both[0].name} in the first evaluation and {both[1].name} in "
                "the second, or the demonstrations differ; both evaluations must have the same "
                "tasks in the same order"
            )
