"""How well costs reproduce demonstrations, task by task; and folds of tasks to hold some out."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import thread_pool
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count
from relaxboost.planning.costs import LearnedCosts
from relaxboost.planning.graphs import Graph, Path, told
from relaxboost.planning.oracle import Oracle
from relaxboost.planning.overlaps import clusters
from relaxboost.planning.planners import shortest_arcs, simple_if_needed
from relaxboost.planning.plans import arc_costs
from relaxboost.planning.tasks import Task, checked_tasks


class PerTask(NamedTuple):
    """Numbers of each task, arrays of shape (T,).

    Where a task has several demonstrations, `exact` and `optimal` ask whether one of them is met,
    and the others are means over them.
    """

    exact: Array
    """1 where the plan is a demonstration, arc by arc."""
    optimal: Array
    """1 where a demonstration costs no more than the plan, up to rounding."""
    shared_arcs: Array
    """Arcs that plan and demonstration both take; one taken twice by both counts twice."""
    shown_arcs: Array
    """Arcs of the demonstration."""
    planned_arcs: Array
    """Arcs of the plan."""
    shared_nodes: Array
    """Nodes but the target that both visit."""
    shown_nodes: Array
    """Nodes but the target that the demonstration visits."""
    shown_cost: Array
    """Of the demonstration, but at least that of the plan."""
    planned_cost: Array
    """Of the plan."""
    margin: Array
    """The margin loss R_i >= 0 of the task, with its own `PathLoss`."""
    log_likelihood: Array
    """log p of the demonstration; nan but for the costs of a recursive logit."""


_RATIOS: dict[str, Callable[[PerTask], tuple[Array, Array]]] = {
    "exact_match": lambda r: (r.exact, np.ones_like(r.exact)),
    "optimal_match": lambda r: (r.optimal, np.ones_like(r.exact)),
    "arc_recall": lambda r: (r.shared_arcs, r.shown_arcs),
    "arc_precision": lambda r: (r.shared_arcs, r.planned_arcs),
    "arc_f1": lambda r: (2.0 * r.shared_arcs, r.shown_arcs + r.planned_arcs),
    "mean_arc_recall": lambda r: _mean(r.shared_arcs, r.shown_arcs),
    "mean_arc_precision": lambda r: _mean(r.shared_arcs, r.planned_arcs),
    "mean_arc_f1": lambda r: _mean(2.0 * r.shared_arcs, r.shown_arcs + r.planned_arcs),
    "node_recall": lambda r: (r.shared_nodes, r.shown_nodes),
    "cost_ratio": lambda r: (r.shown_cost, r.planned_cost),
    "regret": lambda r: (r.shown_cost - r.planned_cost, np.ones_like(r.exact)),
    "margin_loss": lambda r: (r.margin, np.ones_like(r.exact)),
    "log_likelihood": lambda r: (r.log_likelihood, np.ones_like(r.exact)),
}
"""Each a sum over tasks divided by another."""

METRICS = tuple(_RATIOS)[:-1]
"""Those that all costs have."""

_STRATA = {"< .3": (0.0, 0.3), ".3-.5": (0.3, 0.5), ".5-.8": (0.5, 0.8), ">= .8": (0.8, np.inf)}


def _mean(numerator: Array, denominator: Array) -> tuple[Array, Array]:
    return numerator / denominator, np.ones_like(numerator)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What costs make of tasks.

    Attributes
    ----------
    tasks : tuple of Task
    plans : tuple of Path
        The path planned for each task, without loss augmentation.
    each : PerTask
        The numbers of each task.
    """

    tasks: tuple[Task, ...] = field(repr=False)
    plans: tuple[Path, ...] = field(repr=False)
    each: PerTask = field(repr=False)

    def metric(self, name: str) -> float:
        """Return one of `METRICS` or ``log_likelihood``; all tasks count alike; nan for 0/0.

        * ``exact_match``: the share of plans that are a demonstration.
        * ``optimal_match``: the share of demonstrations that are shortest; ties count as met.
        * ``arc_recall``, ``arc_precision``, ``arc_f1``: over the arcs of all tasks together; with
          ``mean_`` before them, averaged over tasks.
        * ``node_recall``: over the nodes of all tasks together, but for targets.
        * ``cost_ratio``: what demonstrations cost over what plans cost, >= 1 for costs >= 0.
        * ``regret``: the mean difference of the two, >= 0.
        * ``margin_loss``: the mean of R_i.
        * ``log_likelihood``: the mean of log p, for a `LogitFit` only, such as the one that
          `RecursiveLogit.scale` makes of any costs; else nan.
        """
        numerator, denominator = parts(name, self.each)
        with np.errstate(invalid="ignore", divide="ignore"):
            return float(numerator.sum() / denominator.sum())

    def metrics(self) -> dict[str, float]:
        """Return all of `METRICS` by name."""
        return {name: self.metric(name) for name in METRICS}

    def at(self, places: Any) -> Evaluation:
        """Return the report on some of the tasks: their numbers, or a mask of shape (T,)."""
        kept = np.arange(len(self.tasks))[places]
        tasks, plans = (tuple(x[i] for i in kept) for x in (self.tasks, self.plans))
        return Evaluation(tasks, plans, PerTask(*(column[kept] for column in self.each)))

    def strata(self, overlap: Array) -> dict[str, Evaluation]:
        """Return the reports on tasks alike in how much of them was seen in training.

        Those of "< .3", ".3-.5", ".5-.8" and ">= .8". What costs gain in the last alone they have
        learned by heart. A stratum without tasks has metrics nan.

        Parameters
        ----------
        overlap : array of shape (T,)
            As `planning.overlap` has it.
        """
        x = np.asarray(overlap, dtype=np.float64)
        if x.shape != (len(self.tasks),) or not (x >= 0.0).all():
            raise InputError(
                f"overlap must be {len(self.tasks)} numbers in [0, 1], one for each task; "
                "planning.overlap(tasks, training) makes them"
            )
        return {name: self.at((x >= low) & (x < high)) for name, (low, high) in _STRATA.items()}

    @classmethod
    def joined(cls, reports: Sequence[Evaluation]) -> Evaluation:
        """Return one report on the tasks of several, as of the folds of a `split`."""
        if not reports:
            raise InputError("the list of reports is empty; give at least one")
        columns = zip(*(report.each for report in reports), strict=True)
        return cls(
            tuple(task for report in reports for task in report.tasks),
            tuple(plan for report in reports for plan in report.plans),
            PerTask(*(np.concatenate(column) for column in columns)),
        )

    def __str__(self) -> str:
        lines = [f"{len(self.tasks)} task{'s' if len(self.tasks) != 1 else ''}"]
        lines += [f"{name.replace('_', ' '):<20}{x:.4g}" for name, x in self.metrics().items()]
        return "\n".join(lines)


def evaluate(tasks: Sequence[Task], costs: Any, *, negative: str = "exact") -> Evaluation:
    """Plan for tasks at given costs, and compare the plans with the demonstrations.

    A plan is a shortest path from the source of a task to its target, found without the
    demonstration or the other tasks. Of paths that cost the same it is the one reached first, by
    the order of the arcs. So `exact_match` counts a tie as it falls, and `optimal_match` as met;
    constant costs have many ties and learned ones few.

    Parameters
    ----------
    tasks : sequence of Task
    costs : LearnedCosts, callable or array
        A `Fit`, a model or boosted costs; a function that returns the arc costs of a graph, shape
        (E,); or, for tasks on one graph, their array.
    negative : {"exact", "simple", "relaxed"}
        What to do where costs are negative, as for `Oracle`. Plans themselves are never relaxed:
        with ``"relaxed"`` only the margin loss is a bound from above.

    Raises
    ------
    InputError
        For costs of another shape, or that are not finite, with the arc.
    NegativeCycle
        For costs that are negative around a cycle, unless negative="simple".
    """
    made = checked_tasks(tasks)
    oracle = Oracle(made, negative)
    known = _costs_by_graph(oracle.graphs, costs)
    ordered = {graph: known[graph][graph.forward.arcs] for graph in oracle.graphs}

    def work(task: Task) -> Path:
        return plan_of(task, known[task.graph], ordered[task.graph], negative)

    plans = tuple(thread_pool()[0].map(work, made))
    margin = np.zeros(len(made))
    share = np.array([1.0 / len(made[row.task].demonstrations) for row in oracle.rows])
    values = [one.value for one in oracle.evaluate([known[g] for g in oracle.graphs]).each]
    np.add.at(margin, [row.task for row in oracle.rows], share * np.array(values))
    rows = [beside(task, plan, known[task.graph]) for task, plan in zip(made, plans, strict=True)]
    learned = isinstance(costs, LearnedCosts)
    likely = costs.log_likelihoods(made) if learned else np.full(len(made), np.nan)
    report = Evaluation(made, plans, PerTask(*[*np.array(rows).T.copy(), margin, likely]))
    if len(made) > 1 and report.each.optimal.all() and not report.each.exact.any():
        warnings.warn(
            "every demonstration ties with its plan and none is the plan: these costs do not tell "
            "paths apart, and optimal_match says nothing; look for costs that are 0, and learn "
            "with less strength or more features",
            UserWarning,
            stacklevel=2,
        )
    return report


class Difference(NamedTuple):
    """A metric of two reports."""

    first: float
    second: float
    difference: float
    """second − first."""
    low: float
    """Between this and `high` lie 95 of 100 differences of resampled tasks."""
    high: float


def compare(
    first: Evaluation,
    second: Evaluation,
    seed: int = 0,
    draws: int = 10_000,
    *,
    metrics: Sequence[str] = METRICS,
    by: Any = "task",
) -> dict[str, Difference]:
    """Return by how much a second evaluation differs from a first, with bootstrap intervals.

    Tasks are drawn with replacement, the same ones for both, and every metric is computed anew on
    them. The interval is from the 2.5th to the 97.5th percentile of the differences. It says how
    much tasks vary, not how much another training set would change the costs.

    Parameters
    ----------
    first, second : Evaluation
        On the same tasks in the same order; their graphs may have different features.
    seed : int
    draws : int
        At least 100.
    metrics : sequence of str
        Of `METRICS`, or ``log_likelihood``.
    by
        Groups of tasks that are drawn together, since they are alike, as for `split`: on recorded
        trips best ``"overlap"``. By default every task for itself.

    Returns
    -------
    dict
        A `Difference` for each metric.

    References
    ----------
    Efron & Tibshirani (1993), An introduction to the bootstrap, Ch. 13.
    """
    for given in (first, second):
        if not isinstance(given, Evaluation):
            raise InputError(
                f"compare needs what evaluate(tasks, costs) returns, twice, got {given!r:.60}"
            )
    _check_same(first, second)
    if count("draws", draws) < 100:
        raise InputError(f"draws must be at least 100 for percentiles, got {draws}")
    group = np.unique(np.array(_group_numbers(first.tasks, by)), return_inverse=True)[1]
    size = int(group.max()) + 1
    sums = np.zeros((size, 4 * len(metrics)))
    for j, name in enumerate(metrics):
        columns = [*parts(name, first.each), *parts(name, second.each)]
        np.add.at(sums[:, 4 * j : 4 * j + 4], group, np.stack(columns, axis=1))
    drawn = _resampled(sums, np.random.default_rng(seed), draws).reshape(draws, len(metrics), 4)
    with np.errstate(invalid="ignore", divide="ignore"):
        differences = drawn[:, :, 2] / drawn[:, :, 3] - drawn[:, :, 0] / drawn[:, :, 1]
    found = {}
    for name, low, high in zip(metrics, *np.percentile(differences, [2.5, 97.5], 0), strict=True):
        a, b = first.metric(name), second.metric(name)
        found[name] = Difference(a, b, b - a, float(low), float(high))
    return found


def parts(name: str, each: PerTask) -> tuple[Array, Array]:
    """Return numerator and denominator of a metric for each task."""
    if name not in _RATIOS:
        raise InputError(f"no metric {name!r}; there are {', '.join(_RATIOS)}")
    return _RATIOS[name](each)


def _resampled(sums: Array, rng: np.random.Generator, draws: int) -> Array:
    """Return the sums over rows drawn with replacement, as many as there are, for each draw."""
    n, parts, left = sums.shape[0], [], draws
    while left > 0:
        some = min(left, max(1, 2_000_000 // n))
        rows = rng.integers(0, n, (some, n)) + n * np.arange(some)[:, None]
        times = np.bincount(rows.ravel(), minlength=some * n).reshape(some, n)
        parts.append(times.astype(np.float64) @ sums)
        left -= some
    return np.concatenate(parts)


def _costs_by_graph(graphs: Sequence[Graph], costs: Any) -> dict[Graph, Array]:
    """Return checked arc costs of each graph."""
    make = costs.costs if isinstance(costs, LearnedCosts) else costs
    if not callable(make):
        if len(graphs) > 1:
            raise InputError(
                f"the tasks have {len(graphs)} graphs; give learned costs, or a function of a graph"
            )
        return {graphs[0]: arc_costs(graphs[0], costs)}
    return {graph: arc_costs(graph, make(graph)) for graph in graphs}


def plan_of(task: Task, costs: Array, ordered: Array, negative: str = "exact") -> Path:
    """Return the plan of a task, at costs that are there in the order of `Graph.forward` too."""
    graph = task.graph
    if costs.min() < 0.0:
        with told(f"task {task.name}: "):
            return simple_if_needed(graph, costs, task.source, task.target, negative).path
    return Path(graph, shortest_arcs(graph, ordered, task.source, task.target)[0])


def beside(task: Task, plan: Path, costs: Array) -> Array:
    """Return the columns of `PerTask` up to the margin."""
    cost, own = plan.cost(costs), len(plan)
    size = float(np.abs(costs[plan.arcs]).sum())
    nodes = plan.numbers[:-1]
    rows = []
    for shown in task.demonstrations:
        there = shown.cost(costs)
        least = cost + 1e-12 * (size + float(np.abs(costs[shown.arcs]).sum()))
        arcs, visited = _shared(plan.arcs, shown.arcs), _shared(nodes, shown.numbers[:-1])
        met = (np.array_equal(shown.arcs, plan.arcs), there <= least)
        # A plan is no longer than a demonstration but by rounding; then both cost the same.
        rows.append((*met, arcs, len(shown), own, visited, len(shown), max(there, cost), cost))
    made = np.array(rows, dtype=np.float64)
    found: Array = made.mean(axis=0)
    found[:2] = made[:, :2].max(axis=0)
    return found


def _shared(first: Whole, second: Whole) -> float:
    """Return how many entries two lists share, with repetitions."""
    return float((Counter(first.tolist()) & Counter(second.tolist())).total())


def _check_same(first: Evaluation, second: Evaluation) -> None:
    """Raise unless two reports are on the same tasks."""
    if len(first.tasks) != len(second.tasks):
        raise InputError(
            f"the reports are on {len(first.tasks)} and {len(second.tasks)} tasks; compare needs "
            "the same tasks in the same order"
        )
    for place, both in enumerate(zip(first.tasks, second.tasks, strict=True)):
        ways = [[p.numbers.tolist() + p.arcs.tolist() for p in t.demonstrations] for t in both]
        if both[0] is not both[1] and ways[0] != ways[1]:
            raise InputError(
                f"task {place} is {both[0].name} in the first report and {both[1].name} in the "
                "second, or was demonstrated otherwise; compare needs the same tasks in the same "
                "order"
            )


class Fold(NamedTuple):
    """Places of tasks in the list that was split."""

    train: Whole
    test: Whole


def split(
    tasks: Sequence[Task], folds: int = 5, seed: int = 0, by: Any = "overlap"
) -> tuple[Fold, ...]:
    """Return folds of tasks for cross-validation; every task is in the test part of one.

    Parameters
    ----------
    tasks : sequence of Task
    folds : int
        At least 2.
    seed : int
        The same seed gives the same folds.
    by : {"overlap", "pair", "source", "target", "graph", "task"}, callable, or sequence
        Tasks alike in this are never on both sides: a trip that is made every day would otherwise
        be learned by heart. By default these are clusters: tasks that have half of their arcs in
        common (arcs of both over arcs of either, the Jaccard index), and what such tasks connect.
        ``"pair"`` is source and target together, and lets trips on both sides that differ in their
        first street alone; ``"task"`` is every task for itself. A callable maps a task to a
        hashable; a sequence has one for each task. Sizes of folds differ by no more than the
        largest group.

    Raises
    ------
    InputError
        For more folds than groups.
    """
    made = checked_tasks(tasks)
    if count("folds", folds) < 2:
        raise InputError(f"folds must be at least 2, got {folds}")
    group = np.array(_group_numbers(made, by))
    sizes = np.bincount(group)
    if sizes.size < folds:
        what, other = "groups", ""
        if isinstance(by, str) and by == "overlap":
            what, other = "clusters of tasks that overlap", ', or another by=, such as "pair"'
        raise InputError(
            f"{folds} folds need as many {what}, and there are {sizes.size}; ask for fewer "
            f"folds{other}"
        )
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(sizes.size)
    # Large groups first, each to the fold that is smallest so far.
    shuffled = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    filled, home = np.zeros(folds, dtype=np.int64), np.empty(sizes.size, dtype=np.int64)
    for one in shuffled:
        home[one] = int(filled.argmin())
        filled[home[one]] += sizes[one]
    place = home[group]
    return tuple(Fold(np.flatnonzero(place != k), np.flatnonzero(place == k)) for k in range(folds))


_GROUPS: dict[str, Callable[[Sequence[Task]], Iterable[Hashable]]] = {
    "overlap": clusters,
    "pair": lambda tasks: [(task.graph, task.source, task.target) for task in tasks],
    "source": lambda tasks: [(task.graph, task.source) for task in tasks],
    "target": lambda tasks: [(task.graph, task.target) for task in tasks],
    "graph": lambda tasks: [task.graph for task in tasks],
    "task": lambda tasks: range(len(tasks)),
}


def _group_numbers(tasks: Sequence[Task], by: Any) -> list[int]:
    """Return the number of each task's group, from 0 in the order in which they come; see `split`.

    Raises
    ------
    InputError
        For an unknown name, or a sequence of another length.
    """
    if isinstance(by, str | None):
        if by not in _GROUPS:
            raise InputError(f"by must be one of {', '.join(_GROUPS)}, or a callable, got {by!r}")
        keys = list(_GROUPS[by](tasks))
    else:
        keys = [by(task) for task in tasks] if callable(by) else list(by)
    if len(keys) != len(tasks):
        raise InputError(f"by has {len(keys)} entries for {len(tasks)} tasks; one each")
    number: dict[Hashable, int] = {}
    return [number.setdefault(key, len(number)) for key in keys]
