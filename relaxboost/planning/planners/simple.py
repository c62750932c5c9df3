"""Shortest paths that visit no node twice, for costs of any sign, by integer programming."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import positive
from relaxboost._core.rounding import sum_bounds
from relaxboost.planning.graphs import Graph, Path
from relaxboost.planning.planners.base import between, shortest_arcs
from relaxboost.planning.plans import Plan

_SIZE = 13
"""Costs are scaled to 2^13 at most: HiGHS closes gaps to 1e-6, then 1e-10 of the largest cost."""

_GAP = 1e-6
"""What its bounds are lowered by: they are above the least cost by as much as 1e-9."""


@dataclass(frozen=True)
class Simple:
    """A planner of paths that visit no node twice, for costs of any sign.

    A unit flow in integers that passes each node at most once, and ranks of nodes that rise along
    it, so that there is no cycle beside it (Miller, Tucker & Zemlin, 1960), solved with HiGHS. The
    problem is NP-hard: where half of the costs are negative, 36 nodes can take minutes.

    Plans have no potentials. Their `Plan.claimed` is not above the least cost as far as the solver
    can be trusted to a tolerance of 1e-10 of the largest cost, which it is lowered by.

    Parameters
    ----------
    time_limit : float, optional
        Seconds for a pair, > 0. When they are over, the best path found so far is returned, at
        worst one with the fewest arcs, with ``complete=False``.
    """

    time_limit: float | None = None

    def __post_init__(self) -> None:
        if self.time_limit is not None:
            positive("time_limit", self.time_limit)

    def __call__(self, graph: Graph, costs: Array, source: int, target: int) -> Plan:
        """Return a path of least cost, for costs and numbers of nodes that were checked."""
        reached, reaching = between(graph, source, target)
        inside = reached & reaching
        # No simple path enters its source, leaves its target, or goes where it cannot come back.
        usable = inside[graph.tail] & inside[graph.head]
        usable &= (graph.head != source) & (graph.tail != target)
        kept = np.flatnonzero(usable)
        hops = np.where(usable, 1.0, np.inf)[graph.forward.arcs]
        best = shortest_arcs(graph, hops, source, target)[0]
        exponent = np.frexp(np.abs(costs[kept]).max())[1] - _SIZE
        scaled = np.ldexp(costs[kept], -exponent)
        least, proved = sum_bounds(np.minimum(scaled, 0.0))[0], False
        found = _solved(graph, kept, scaled, (source, target), self.time_limit)
        if found.status not in (0, 1):
            raise InputError(f"HiGHS fails: {found.message} Round the costs, or drop small ones")
        if found.mip_dual_bound is not None:
            least = max(least, float(found.mip_dual_bound) - _GAP)
        if found.x is not None:
            used = kept[found.x[: kept.size] > 0.5]
            after, path = dict(zip(graph.tail[used].tolist(), used.tolist(), strict=True)), [source]
            while path[-1] in after:
                path.append(int(graph.head[after[path[-1]]]))
            arcs = np.array([after[node] for node in path[:-1]])
            proved = found.status == 0 and arcs.size == used.size
            if math.fsum(costs[arcs].tolist()) < math.fsum(costs[best].tolist()):
                best = arcs
        claimed = min(float(np.ldexp(least, exponent)), sum_bounds(costs[best])[0])
        return Plan(Path(graph, best), costs, None, "simple", claimed, proved)


def _solved(
    graph: Graph, kept: Whole, costs: Array, ends: tuple[int, int], seconds: float | None
) -> Any:
    """Return scipy's result: the flow on the arcs kept, and the ranks of nodes."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import block_array, eye_array

    flow, nodes, most = graph.incidence[:, kept].tocsr(), graph.nodes, graph.nodes - 1.0
    balance = np.zeros(nodes)
    balance[list(ends)] = 1.0, -1.0
    # With flow on an arc its head has a rank at least one more than its tail.
    rising = [-most * eye_array(kept.size), -flow.T]
    rows = block_array([[flow, None], [flow.maximum(0.0), None], rising], format="csc")
    low = np.concatenate([balance, np.zeros(nodes), np.full(kept.size, 1.0 - most)])
    high = np.concatenate([balance, np.ones(nodes), np.full(kept.size, np.inf)])
    # The default gap is 1e-4, within which HiGHS calls a path optimal that is not.
    options = {"mip_rel_gap": 0.0} | ({} if seconds is None else {"time_limit": seconds})
    return milp(
        np.append(costs, np.zeros(nodes)),
        integrality=np.append(np.ones(kept.size), np.zeros(nodes)),
        bounds=Bounds(0.0, np.append(np.ones(kept.size), np.full(nodes, most))),
        constraints=LinearConstraint(rows, low, high),
        options=options,
    )
