"""Bellman and Ford's algorithm, for costs of any sign."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError
from relaxboost.planning.graphs import Graph, Path
from relaxboost.planning.kernels import relax, trace
from relaxboost.planning.planners.base import Planner, between
from relaxboost.planning.plans import NegativeCycle, Plan


@dataclass(frozen=True)
class BellmanFord(Planner):
    """Bellman and Ford's algorithm, for costs of any sign; shortest up to rounding.

    A cycle that is negative on the way from source to target is raised as a `NegativeCycle`, which
    has the cycle; others do no harm. The sign is that of the exact sum of the costs in doubles. A
    cycle may be overlooked around which costs fall by less than nodes² · 2⁻¹⁰¹ of the largest
    distance on it.
    """

    name: ClassVar[str] = "bellman-ford"
    negative: ClassVar[bool] = True

    def plan(self, graph: Graph, costs: Array, source: int, target: int) -> Plan:
        """Return a shortest path; see `Planner.plan`."""
        # A negative cycle matters only where the source reaches it and it reaches the target.
        reached, reaching = between(graph, source, target)
        start, far, arcs = graph.forward
        inside = reached & reaching
        distance, via, on = relax(start, far, graph.near, costs[arcs], source, inside)
        if on >= 0:
            raise _around(graph, costs, via, on)
        potential = np.where(reached, np.where(reaching, distance, -np.inf), np.inf)
        path = Path(graph, trace(via, arcs, graph.tail, source, target))
        return Plan(path, costs, potential, self.name)


def _around(graph: Graph, c: Array, via: Whole, node: int) -> InputError:
    """Return the error for the cycle that goes through a node."""
    taken = [int(graph.forward.arcs[via[node]])]
    while graph.tail[taken[-1]] != node:
        taken.append(int(graph.forward.arcs[via[graph.tail[taken[-1]]]]))
    found = NegativeCycle(Path(graph, np.array(taken[::-1])), c)
    if found.cost < 0.0:
        return found
    return InputError(
        f"costs from {np.abs(c).min():g} to {np.abs(c).max():g} in size differ too widely for sums "
        "in doubles to tell the sign of a cycle; round the small ones"
    )
