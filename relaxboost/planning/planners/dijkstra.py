"""Dijkstra's algorithm, for costs >= 0."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import thread_pool
from relaxboost._core.errors import InputError
from relaxboost.planning.graphs import Graph, Path
from relaxboost.planning.kernels import NOTHING, search, trace
from relaxboost.planning.planners.base import Ends, Planner, no_path
from relaxboost.planning.plans import Plan, capped


@dataclass(frozen=True)
class Dijkstra(Planner):
    """Dijkstra's algorithm, which ends at the target; for costs >= 0.

    Pairs that share a source (or a target, if there are fewer of these) share one search of the
    whole graph, and its potentials.
    """

    name: ClassVar[str] = "dijkstra"

    def plan(self, graph: Graph, costs: Array, source: int, target: int) -> Plan:
        """Return a shortest path; see `Planner.plan`."""
        taken, distance = shortest_arcs(graph, costs[graph.forward.arcs], source, target)
        potential = capped(distance, distance[target], NOTHING)
        return Plan(Path(graph, taken), costs, potential, self.name)

    def plans(self, graph: Graph, costs: Array, pairs: Sequence[Ends]) -> list[Plan | InputError]:
        """Return plans from one search for all pairs of a source, or of a target."""
        backward = len({pair.target for pair in pairs}) < len({pair.source for pair in pairs})
        groups: dict[int, list[int]] = defaultdict(list)
        for place, pair in enumerate(pairs):
            groups[pair.target if backward else pair.source].append(place)
        start, far, arcs = graph.backward if backward else graph.forward
        ends = graph.head if backward else graph.tail
        ordered = costs[arcs]

        made: dict[int, Plan | InputError] = {}

        def work(root: int, places: list[int]) -> None:
            leaves = [pairs[i].source if backward else pairs[i].target for i in places]
            last = leaves[0] if len(leaves) == 1 else -1
            distance, via = search(start, far, ordered, root, last, NOTHING)
            potential = -distance if backward else distance
            if last >= 0:
                potential = np.clip(potential, -distance[last], distance[last])
            for i, leaf in zip(places, leaves, strict=True):
                if np.isinf(distance[leaf]):
                    made[i] = no_path(graph, *pairs[i])
                    continue
                path = trace(via, arcs, ends, root, leaf)
                path = path[::-1] if backward else path
                made[i] = Plan(Path(graph, path), costs, potential, self.name)

        list(thread_pool()[0].map(work, groups.keys(), groups.values()))
        return [made[i] for i in range(len(pairs))]


def shortest_arcs(
    graph: Graph, ordered: Array, source: int, target: int, ahead: Array = NOTHING
) -> tuple[Whole, Array]:
    """Return the arcs of a shortest path, and the distances that the search found until then.

    Parameters
    ----------
    graph : Graph
    ordered : array of shape (E,)
        Costs >= 0 in the order of `graph.forward`.
    source, target : int
    ahead : array of shape (nodes,), optional
        Estimates of what lies ahead, for A*; see `kernels.search`.

    Raises
    ------
    NoPath
        If the target is out of reach.
    """
    start, far, arcs = graph.forward
    distance, via = search(start, far, ordered, source, target, ahead)
    if np.isinf(distance[target]):
        raise no_path(graph, source, target)
    return trace(via, arcs, graph.tail, source, target), distance


def distances_to(graph: Graph, costs: Array, target: int) -> Array:
    """Return each node's distance to a target, inf where there is no path; for costs >= 0."""
    start, far, arcs = graph.backward
    distance: Array = search(start, far, costs[arcs], target, -1, NOTHING)[0]
    return distance
