"""The margin loss of every demonstration at once: loss-augmented planning for many tasks.

For demonstration i with path counts m_i, R_i(c) = c·m_i − min over paths of (c·p − ℓ_i(p)), which
is >= 0 since the demonstration is one of the paths and its own loss is 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import thread_pool
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost._core.rounding import UNIT, down, sum_bounds
from relaxboost.planning.graphs import Graph, Path, told
from relaxboost.planning.kernels import NOTHING, search
from relaxboost.planning.losses import Gains, checked
from relaxboost.planning.planners import shortest_arcs, simple_if_needed
from relaxboost.planning.plans import Plan, arc_costs, check_plan
from relaxboost.planning.tasks import Task, checked_tasks

NEGATIVE = ("exact", "simple", "relaxed")
"""What is done where a loss-augmented cost is negative; see `Oracle`."""

_ALONE = 20_000
"""Arcs of all demonstrations' graphs below which handing over to threads takes longer."""


class Demonstration(NamedTuple):
    """A demonstration of a task; `task` and `graph` are numbers, weights of all sum to 1."""

    task: int
    graph: int
    source: int
    target: int
    path: Path
    gains: Gains
    weight: float


class AugmentedPlan(NamedTuple):
    """The path of least cost less loss, which attains the loss of a demonstration."""

    taken: Whole
    """Its arcs; for a relaxed plan also the negative ones it takes besides the path."""
    value: float
    """R_i."""
    exact: bool
    """False where the plan was relaxed, so that R_i is a bound from above."""
    bound: float
    """Not below R_i over simple paths, by the potentials; nan unless asked for."""


class AugmentedPlans(NamedTuple):
    """The losses of all demonstrations at some costs."""

    value: float
    """Σ weight R_i."""
    bound: float
    """Not below the exact value, by potentials looked at arc by arc; nan unless asked for."""
    each: tuple[AugmentedPlan, ...]
    """Of each demonstration."""

    @property
    def exact(self) -> bool:
        """Whether every plan is."""
        return all(answer.exact for answer in self.each)


class Oracle:
    """Plans for all demonstrations of some tasks, at costs less their losses.

    Parameters
    ----------
    tasks : sequence of Task
    negative : {"exact", "simple", "relaxed"}
        What to do where a cost less its loss is negative. ``"exact"`` plans by Bellman and Ford's
        algorithm, and raises a `NegativeCycle` where there is one. ``"simple"`` then plans over
        paths that visit no node twice, by integer programming: exact, and slow. ``"relaxed"`` lets
        a plan take negative arcs beside its path: fast, but only a convex bound above the loss,
        equal to it where no cost is negative.
    """

    def __init__(self, tasks: Sequence[Task], negative: str = "exact") -> None:
        if negative not in NEGATIVE:
            raise InputError(f"negative must be one of {', '.join(NEGATIVE)}, got {negative!r}")
        self.tasks, self.negative = checked_tasks(tasks), negative
        number: dict[Graph, int] = {}
        largest = max(task.weight for task in self.tasks)  # so that their sum is finite
        total = sum(task.weight / largest for task in self.tasks)
        rows = []
        for place, task in enumerate(self.tasks):
            at = (place, number.setdefault(task.graph, len(number)), task.source, task.target)
            each = task.weight / largest / total / len(task.demonstrations)
            for path in task.demonstrations:
                gains = checked(task.loss.gains(path), path, task.loss)
                rows.append(Demonstration(*at, path, gains, each))
        self.rows, self.graphs = tuple(rows), tuple(number)

    @property
    def weights(self) -> Array:
        """The weight of each row; they sum to 1."""
        return np.array([row.weight for row in self.rows])

    def evaluate(
        self, costs: Sequence[Array], prove: bool = False, *, clock: Clock | None = None
    ) -> AugmentedPlans:
        """Return the losses at arc costs, one array of shape (E,) a graph.

        Parameters
        ----------
        costs : sequence of arrays
            In the order of `graphs`; finite.
        prove : bool
            Whether to look at the potentials of every plan, for `AugmentedPlans.bound`.
        clock : Clock, optional
            When its time is over no other plan is begun.

        Raises
        ------
        TimeUp
            If plans were missing then.
        NegativeCycle
            With negative="exact", where loss-augmented costs fall for ever around a cycle.
        """
        members: dict[tuple[int, int], list[int]] = defaultdict(list)
        for i, row in enumerate(self.rows):
            members[row.graph, row.target].append(i)
        groups = list(members.values())
        ready = [_Priced(graph, c) for graph, c in zip(self.graphs, costs, strict=True)]
        pool, threads = thread_pool()

        def work(chunk: list[list[int]]) -> list[tuple[int, AugmentedPlan]]:
            return [one for rows in chunk for one in self._group(ready, rows, prove, clock)]

        size = sum(self.graphs[row.graph].arcs for row in self.rows)
        few = size < _ALONE and self.negative != "simple"
        # Interleaved, so that graphs of different sizes are shared out alike.
        step = 1 if few else 4 * threads
        chunks = [groups[k::step] for k in range(min(step, len(groups)))]
        parts = map(work, chunks) if len(chunks) == 1 else pool.map(work, chunks)
        answers = dict(pair for part in parts for pair in part)
        each = tuple(answers[i] for i in range(len(self.rows)))
        values = np.array([answer.value for answer in each])
        bounds = np.maximum([answer.bound for answer in each], 0.0)
        bound = float(self.weights @ bounds) * (1.0 + 4.0 * UNIT * (len(each) + 4))
        return AugmentedPlans(float(self.weights @ values), bound, each)

    def _group(
        self, ready: list[_Priced], rows: list[int], prove: bool, clock: Clock | None
    ) -> list[tuple[int, AugmentedPlan]]:
        """Return the answers of demonstrations that lead to one target on one graph."""
        priced, target = ready[self.rows[rows[0]].graph], self.rows[rows[0]].target
        # Where all gains are <= 0 the distances without loss never exceed those with it: estimates
        # for A* that are worth a search of their own from the second demonstration on.
        ahead = NOTHING
        if sum(_grows(self.rows[i].gains) for i in rows) > 1 and priced.sorted.min() >= 0.0:
            start, far, arcs = priced.graph.backward
            ahead = search(start, far, priced.costs[arcs], target, -1, NOTHING)[0]
        made = []
        for i in rows:
            if clock is not None:
                clock.check()
            row = self.rows[i]
            guide = ahead if _grows(row.gains) else NOTHING
            made.append((i, self._planned(priced, row, guide, prove)))
        return made

    def _planned(
        self, priced: _Priced, row: Demonstration, ahead: Array, prove: bool
    ) -> AugmentedPlan:
        """Return the best path at costs less gains."""
        graph, ordered = priced.graph, priced.less(row.gains)
        low = np.minimum(ordered, 0.0) if ordered.min() < 0.0 else NOTHING
        relaxed, least, exact = low.size > 0 and self.negative == "relaxed", np.nan, True
        if relaxed:
            ordered = ordered - low
        if relaxed or low.size == 0:
            taken, π = shortest_arcs(graph, ordered, row.source, row.target, ahead)
            if prove:  # a node that was not taken from the heap is as far as π says, or further
                π = np.minimum(π, π[row.target] - (ahead if ahead.size else 0.0))
                least = check_plan(
                    Plan(Path(graph, taken), ordered[graph.place], π, "dijkstra")
                ).lower
        else:
            with told(f"task {self.tasks[row.task].name}: "):
                costs = ordered[graph.place]
                plan = simple_if_needed(graph, costs, row.source, row.target, self.negative)
            taken, exact = plan.path.arcs, plan.complete
            least = plan.claimed if plan.potential is None else check_plan(plan).lower
        if relaxed:  # arcs below 0 are free, and all taken; costs less gains were rounded once
            taken, exact = np.union1d(taken, graph.forward.arcs[low < 0.0]), False
            least = down(down(least) + down(sum_bounds(low)[0] * (1.0 + 2.0 * UNIT)))
        shown = priced.costs[row.path.arcs]
        value = float(shown.sum() - priced.costs[taken].sum()) + row.gains.of(taken)
        # Costs of different signs may cancel in their sum, but not in its roundings.
        size = np.abs(shown).sum() + abs(row.gains.constant) + abs(least)
        bound = float(shown.sum()) + row.gains.constant - least
        bound += 4.0 * UNIT * (len(row.path) + 2) * float(size)
        if value <= 0.0:  # the demonstration is a path too, even if it goes around negative cycles
            taken, value = row.path.arcs, 0.0
        return AugmentedPlan(taken, value, exact, bound)


class _Priced:
    """A graph with costs, which loss-augmented ones are made of."""

    def __init__(self, graph: Graph, costs: Array) -> None:
        self.graph, self.costs = graph, arc_costs(graph, costs)
        self.sorted = self.costs[graph.forward.arcs]

    def less(self, gains: Gains) -> Array:
        """Return c − gain, in the order of `graph.forward`; a new array."""
        if gains.arcs is None:
            return np.asarray(self.sorted - gains.values[self.graph.forward.arcs])
        made = self.sorted.copy()
        made[self.graph.place[gains.arcs]] -= gains.values
        return made


def _grows(gains: Gains) -> bool:
    return gains.arcs is not None and bool((gains.values <= 0.0).all())
