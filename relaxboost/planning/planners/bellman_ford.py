"""Bellman and Ford's algorithm, for costs of any sign."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost.errors import InputError
from relaxboost.planning.graphs import Graph
from relaxboost.planning.kernels import relax, trace
from relaxboost.planning.paths import Path
from relaxboost.planning.planners.common import arc_costs, between, ends
from relaxboost.planning.plans import NegativeCycle, Plan

Array = NDArray[np.float64]
Whole = NDArray[np.int64]


def bellman_ford(graph: Graph, costs: ArrayLike, source: Hashable, target: Hashable) -> Plan:
    """Return a shortest path for costs of any sign, up to rounding, which `check_plan` shows.

    Parameters
    ----------
    graph : Graph
    costs : array of shape (E,)
    source, target : labels of nodes

    Raises
    ------
    NegativeCycle
        If costs are negative around a cycle on the way from source to target; it has the cycle.
        Cycles elsewhere do no harm. The sign is that of the exact sum of the costs as they are
        given, in doubles. A cycle may be overlooked around which costs fall by less than
        nodes² · 2⁻¹⁰¹ of the largest distance on it, in size.
    NoPath
        If the target is out of reach.
    """
    c = arc_costs(graph, costs)
    s, t = ends(graph, source, target)
    # A negative cycle matters only where the source reaches it and it reaches the target.
    reached, reaching = between(graph, s, t)
    start, far, arcs = graph.forward
    distance, via, on = relax(start, far, graph.near, c[arcs], s, reached & reaching)
    if on >= 0:
        raise _around(graph, c, via, on)
    potential = np.where(reached, np.where(reaching, distance, -np.inf), np.inf)
    return Plan(Path(graph, trace(via, arcs, graph.tail, s, t)), c, potential, "bellman-ford")


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
