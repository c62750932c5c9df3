"""Shortest paths that visit no node twice, for costs of any sign, by integer programming."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost.planning.graphs import Graph
from relaxboost.planning.planners.common import arc_costs, ends, no_path

Array = NDArray[np.float64]
Whole = NDArray[np.int64]


class SimplePath(NamedTuple):
    """A path that visits no node twice."""

    arcs: Whole
    least: float
    """Not above the least cost of such a path, as far as the solver can be trusted."""
    exact: bool
    """Whether the solver says that it is the least."""


def simple(graph: Graph, costs: ArrayLike, source: Hashable, target: Hashable) -> SimplePath:
    """Return a least-cost path that visits no node twice; costs may be of any sign.

    A unit flow in integers that passes each node at most once, solved with HiGHS; cycles beside
    the path are forbidden as they turn up, Σ of the arcs within their nodes <= nodes − 1. The
    problem is NP-hard.

    Raises
    ------
    NoPath
        If the target is out of reach.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, vstack

    c = arc_costs(graph, costs)
    s, t = ends(graph, source, target)
    arcs, one = np.arange(graph.arcs), np.ones(graph.arcs)
    shape = (graph.nodes, graph.arcs)
    leaving = csr_array((one, (graph.tail, arcs)), shape=shape)
    entering = csr_array((one, (graph.head, arcs)), shape=shape)
    balance = np.zeros(graph.nodes)
    balance[s], balance[t] = 1.0, -1.0
    once = np.ones(graph.nodes)
    once[t] = 0.0  # nothing leaves the target
    rules = [leaving - entering, leaving]
    low = [balance, np.zeros(graph.nodes)]
    high = [balance, once]
    while True:
        rows = LinearConstraint(
            vstack(rules, format="csc"), np.concatenate(low), np.concatenate(high)
        )
        found = milp(c, integrality=one, bounds=Bounds(0.0, 1.0), constraints=rows)
        if found.x is None:
            raise no_path(graph, s, t)
        path, cycles = _split(graph, np.flatnonzero(found.x > 0.5), s, t)
        if not cycles:
            return SimplePath(path, float(found.mip_dual_bound), found.status == 0)
        for cycle in cycles:
            inside = np.zeros(graph.nodes, dtype=bool)
            inside[graph.tail[cycle]] = True
            within = (inside[graph.tail] & inside[graph.head]).astype(float)
            rules.append(csr_array(within[None, :]))
            low.append(np.array([-np.inf]))
            high.append(np.array([inside.sum() - 1.0]))


def _split(graph: Graph, used: Whole, s: int, t: int) -> tuple[Whole, list[Whole]]:
    """Return the path from s to t among arcs used, and the cycles that the others make."""
    after = {int(graph.tail[arc]): int(arc) for arc in used}
    walks = []
    for first in [s, *list(after)]:
        walk, node = [], first
        while node in after:
            arc = after.pop(node)
            walk.append(arc)
            node = int(graph.head[arc])
        if walk:
            walks.append(np.array(walk))
    return walks[0], walks[1:]
