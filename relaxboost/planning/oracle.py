"""Margin losses of demonstrations, computed by loss-augmented planning.

The loss-augmented plan for a demonstration is the path of least cost minus loss. The margin loss is
the cost of the demonstration minus this least value. It is >= 0 up to rounding errors, because the
demonstration is itself a path with the loss 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import thread_pool
from relaxboost._core.errors import InputError, error_prefix
from relaxboost._core.loop import Clock
from relaxboost._core.rounding import UNIT, down, sum_bounds
from relaxboost.planning.graphs import Graph, Path
from relaxboost.planning.kernels import NOTHING, search
from relaxboost.planning.losses import Gains, checked
from relaxboost.planning.planners import shortest_arcs, simple_if_needed
from relaxboost.planning.plans import NegativeCycle, Plan, arc_costs, check_plan
from relaxboost.planning.tasks import Task, checked_tasks

NEGATIVE = ("exact", "simple", "relaxed")
"""The ways to treat arc costs that become negative when the loss is subtracted."""


class Demonstration(NamedTuple):
    """A demonstrated path, with the indices of its task and graph, and its weight in the loss.

    The weights of all demonstrations sum to 1.
    """

    task: int
    graph: int
    source: int
    target: int
    path: Path
    gains: Gains
    weight: float


class AugmentedPlan(NamedTuple):
    """A loss-augmented plan for a demonstration: the path of least cost minus loss."""

    taken: Whole
    """The arc indices of the plan. A relaxed plan contains the arcs of a path, and all other arcs
    of negative cost."""
    value: float
    """The margin loss of the demonstration: its cost minus the least value of cost minus loss over
    all paths."""
    exact: bool
    """Whether the plan has the least cost minus loss of all paths. For a relaxed plan, `value` may
    only be an upper bound on the margin loss."""
    bound: float
    """An upper bound on the margin loss, over all paths that visit no node twice. It is proved by
    the potentials of the plan, or computed by HiGHS if there are none. If no proof was requested,
    it may be nan."""


class AugmentedPlans(NamedTuple):
    """A loss-augmented plan for each demonstration, with the margin losses."""

    value: float
    """The weighted mean of the margin losses of all demonstrations."""
    bound: float
    """A proved upper bound on the mean margin loss in exact arithmetic. If no proof was requested,
    it may be nan."""
    each: tuple[AugmentedPlan, ...]
    """The loss-augmented plan of each demonstration."""

    @property
    def exact(self) -> bool:
        """Whether every plan has exactly the least cost minus loss.

        It is false if a margin loss was replaced by a convex upper bound (``negative="relaxed"``),
        or if HiGHS did not prove that a path is shortest.
        """
        return all(answer.exact for answer in self.each)


OTHER_TREATMENTS = (
    'pass negative="relaxed", which is fast and minimises a convex upper bound on the loss, or '
    'negative="simple", which is slow and plans over paths that visit no node twice, to Problem or '
    "PlanningLoss"
)
"""The advice in the error message about a cycle of negative cost minus loss."""


class Oracle:
    """A planner that finds the path of least cost minus loss for each demonstration.

    Parameters
    ----------
    tasks : sequence of Task
        The tasks with their demonstrations and losses.
    negative : {"exact", "simple", "relaxed"}
        The treatment of costs that are negative after the loss is subtracted. ``"exact"`` uses the
        Bellman–Ford algorithm, and raises a `NegativeCycle` if a cycle has negative cost. In that
        case, ``"simple"`` plans over paths that visit no node twice, by integer programming, which
        is slow. ``"relaxed"`` adds all arcs of negative cost to each plan, even if they are not on
        its path. This is fast, and yields a convex upper bound on the loss, which equals the loss
        if no cost is negative.
    """

    def __init__(self, tasks: Sequence[Task], negative: str = "exact") -> None:
        if negative not in NEGATIVE:
            raise InputError(f"negative must be one of {', '.join(NEGATIVE)}, got {negative!r}")
        self.tasks = checked_tasks(tasks)
        self.negative = negative
        number: dict[Graph, int] = {}
        # The weights are divided by the largest weight, because their sum may overflow.
        largest = max(task.weight for task in self.tasks)
        total = sum(task.weight / largest for task in self.tasks)
        rows = []
        for place, task in enumerate(self.tasks):
            at = (place, number.setdefault(task.graph, len(number)), task.source, task.target)
            each = task.weight / largest / total / len(task.demonstrations)
            for path in task.demonstrations:
                gains = checked(task.loss.gains(path), path, task.loss)
                rows.append(Demonstration(*at, path, gains, each))
        self.rows = tuple(rows)
        self.graphs = tuple(number)
        self.weights = np.array([row.weight for row in rows])
        """The weights of the demonstrations in the mean margin loss, which sum to 1."""

    def evaluate(
        self, costs: Sequence[Array], prove: bool = False, *, clock: Clock | None = None
    ) -> AugmentedPlans:
        """Return a loss-augmented plan and the margin loss of each demonstration.

        Parameters
        ----------
        costs : sequence of arrays
            The finite arc costs of each of `graphs`, as one array per graph.
        prove : bool
            Whether to check the potentials of every plan, and to compute `AugmentedPlans.bound`.
        clock : Clock, optional
            The time limit. If it ends before the last plan, `TimeUp` is raised.
        """
        ready = [_Priced(graph, c) for graph, c in zip(self.graphs, costs, strict=True)]

        def work(chunk: list[list[int]]) -> list[tuple[int, AugmentedPlan]]:
            return [one for rows in chunk for one in self._group(ready, rows, prove, clock)]

        pool, threads = thread_pool()
        chunks = self._chunks(threads)
        parts = map(work, chunks) if len(chunks) == 1 else pool.map(work, chunks)
        answers = dict(pair for part in parts for pair in part)
        each = tuple(answers[i] for i in range(len(self.rows)))
        values = np.array([answer.value for answer in each])
        bounds = np.maximum([answer.bound for answer in each], 0.0)
        bound = float(self.weights @ bounds) * (1.0 + 4.0 * UNIT * (len(each) + 4))
        return AugmentedPlans(float(self.weights @ values), bound, each)

    def _chunks(self, threads: int) -> list[list[list[int]]]:
        """Divide the demonstrations among threads, and return a list of groups for each thread.

        A group contains the indices of the demonstrations that share a graph and a target.
        """
        # Demonstrations with the same target can share the estimates of A*.
        members: dict[tuple[int, int], list[int]] = defaultdict(list)
        for i, row in enumerate(self.rows):
            members[row.graph, row.target].append(i)
        groups = list(members.values())
        size = sum(self.graphs[row.graph].arcs for row in self.rows)
        # In graphs with few arcs, planning takes less time than starting the threads.
        few = size < 20_000 and self.negative != "simple"
        # The groups of a chunk are interleaved, so that every chunk has large and small graphs.
        step = 1 if few else 4 * threads
        return [groups[k::step] for k in range(min(step, len(groups)))]

    def _group(
        self, ready: list[_Priced], rows: list[int], prove: bool, clock: Clock | None
    ) -> list[tuple[int, AugmentedPlan]]:
        priced = ready[self.rows[rows[0]].graph]
        target = self.rows[rows[0]].target
        # If all gains are <= 0, subtracting them only raises costs, so that the distances for the
        # original costs are estimates for A*. Computing these distances pays if at least two
        # demonstrations use them.
        ahead = NOTHING
        if sum(_is_guided(self.rows[i].gains) for i in rows) > 1 and priced.sorted.min() >= 0.0:
            start, far, arcs = priced.graph.backward
            ahead = search(start, far, priced.costs[arcs], target, -1, NOTHING)[0]
        made = []
        for i in rows:
            if clock is not None:
                clock.check()
            row = self.rows[i]
            guide = ahead if _is_guided(row.gains) else NOTHING
            made.append((i, self._planned(priced, row, guide, prove)))
        return made

    def _planned(
        self, priced: _Priced, row: Demonstration, ahead: Array, prove: bool
    ) -> AugmentedPlan:
        graph = priced.graph
        ordered = priced.less(row.gains)
        low = np.minimum(ordered, 0.0) if ordered.min() < 0.0 else NOTHING
        relaxed = low.size > 0 and self.negative == "relaxed"
        least = np.nan
        exact = True
        if relaxed:
            ordered = ordered - low
        if relaxed or low.size == 0:
            taken, π = shortest_arcs(graph, ordered, row.source, row.target, ahead)
            if prove:  # The distance of a node that was not taken from the heap is at least π.
                π = np.minimum(π, π[row.target] - (ahead if ahead.size else 0.0))
                plan = Plan(Path(graph, taken), ordered[graph.place], π, "dijkstra")
                least = check_plan(plan).lower
        else:
            costs = ordered[graph.place]
            with error_prefix(f"task {self.tasks[row.task].name}: "):
                try:
                    plan = simple_if_needed(graph, costs, row.source, row.target, self.negative)
                except NegativeCycle as error:
                    what = "the costs minus the loss"
                    raise NegativeCycle(error.cycle, costs, what, OTHER_TREATMENTS) from None
            taken = plan.path.arcs
            exact = plan.complete
            least = plan.claimed if plan.potential is None else check_plan(plan).lower
        # A relaxed plan takes all arcs of negative cost for free. The difference of costs and gains
        # has been rounded once.
        if relaxed:
            taken = np.union1d(taken, graph.forward.arcs[low < 0.0])
            exact = False
            least = down(down(least) + down(sum_bounds(low)[0] * (1.0 + 2.0 * UNIT)))
        shown = priced.costs[row.path.arcs]
        value = float(shown.sum() - priced.costs[taken].sum()) + row.gains.total(taken)
        # The allowance for rounding uses absolute values, because costs of different signs may
        # cancel in a sum while its rounding errors do not.
        size = np.abs(shown).sum() + abs(row.gains.constant) + abs(least)
        bound = float(shown.sum()) + row.gains.constant - least
        bound += 4.0 * UNIT * (len(row.path) + 2) * float(size)
        if value <= 0.0:  # The demonstration is one of the paths over which the minimum is taken.
            taken = row.path.arcs
            value = 0.0
        return AugmentedPlan(taken, value, exact, bound)


class _Priced:
    def __init__(self, graph: Graph, costs: Array) -> None:
        self.graph = graph
        self.costs = arc_costs(graph, costs)
        self.sorted = self.costs[graph.forward.arcs]

    def less(self, gains: Gains) -> Array:
        """Return the cost minus the gain of each arc, in the order of `graph.forward`."""
        if gains.arcs is None:
            return np.asarray(self.sorted - gains.values[self.graph.forward.arcs])
        made = self.sorted.copy()
        made[self.graph.place[gains.arcs]] -= gains.values
        return made


def _is_guided(gains: Gains) -> bool:
    # Gains <= 0 raise costs, so that distances without the loss are estimates for A*.
    return gains.arcs is not None and bool((gains.values <= 0.0).all())
