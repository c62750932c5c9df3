"""Shortest paths that visit no node twice, for costs of any sign, by integer programming."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost._core.parameters import positive
from relaxboost._core.rounding import sum_bounds
from relaxboost.planning.graphs import Graph, Path
from relaxboost.planning.kernels import NOTHING, search, trace
from relaxboost.planning.planners.base import between
from relaxboost.planning.plans import Plan

_SIZE = 13
"""Costs are scaled to 2^13 at most: HiGHS closes gaps to 1e-6, then 1e-10 of the largest cost."""

_GAP = 1e-6
"""What its bounds are lowered by: they are above the least cost by as much as 1e-9."""


@dataclass(frozen=True)
class Simple:
    """A planner of paths that visit no node twice, for costs of any sign.

    A unit flow in integers that passes each node at most once, solved with HiGHS. Cycles beside
    the path are forbidden, those of two arcs at once and others as they turn up. The problem is
    NP-hard: where half of the costs are negative, 36 nodes can take minutes.

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
        clock = Clock(self.time_limit)
        reached, reaching = between(graph, source, target)
        inside = reached & reaching
        # No simple path enters its source, leaves its target, or goes where it cannot come back.
        usable = inside[graph.tail] & inside[graph.head]
        usable &= (graph.head != source) & (graph.tail != target)
        kept = np.flatnonzero(usable)
        start, far, arcs = graph.forward
        hops = np.where(usable[arcs], 1.0, np.inf)
        via = search(start, far, hops, source, target, NOTHING)[1]
        best = trace(via, arcs, graph.tail, source, target)
        exponent = np.frexp(np.abs(costs[kept]).max())[1] - _SIZE
        scaled = np.ldexp(costs[kept], -exponent)
        least, proved = sum_bounds(np.minimum(scaled, 0.0))[0], False
        rules = _Rules(graph, kept, source, target)
        while clock.left:
            found = rules.solve(scaled, clock.left)
            if found.status not in (0, 1):
                raise InputError(
                    f"HiGHS fails: {found.message} Round the costs, or drop small ones"
                )
            if found.mip_dual_bound is not None:
                least = max(least, float(found.mip_dual_bound) - _GAP)
            if found.x is None:
                break
            path, *cycles = _walks(graph, kept[found.x > 0.5], source)
            assert graph.head[path[-1]] == target
            if math.fsum(costs[path].tolist()) < math.fsum(costs[best].tolist()):
                best = path
            if not cycles:
                proved = found.status == 0
                break
            for cycle in cycles:
                rules.forbid(graph.tail[cycle])
        claimed = min(float(np.ldexp(least, exponent)), sum_bounds(costs[best])[0])
        return Plan(Path(graph, best), costs, None, "simple", claimed, proved)


class _Rules:
    """The constraints of the integer program, on the arcs kept."""

    def __init__(self, graph: Graph, kept: Whole, s: int, t: int) -> None:
        flow = graph.incidence[:, kept].tocsr()
        self.leaving, self.head = flow.maximum(0.0), graph.head[kept]
        balance = np.zeros(graph.nodes)
        balance[s], balance[t] = 1.0, -1.0
        self.rows = [flow, self.leaving]
        self.low, self.high = [balance, np.zeros(graph.nodes)], [balance, np.ones(graph.nodes)]
        tail, head = graph.tail[kept], graph.head[kept]
        there, back = tail * graph.nodes + head, head * graph.nodes + tail
        for pair in np.unique(there[(tail < head) & np.isin(there, back)]).tolist():
            self.forbid(np.array(divmod(pair, graph.nodes)))

    def solve(self, costs: Array, seconds: float) -> Any:
        """Return scipy's result."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import vstack

        low, high = np.concatenate(self.low), np.concatenate(self.high)
        # The default gap is 1e-4, within which HiGHS calls a path optimal that is not.
        options = {"mip_rel_gap": 0.0}
        if seconds < math.inf:
            options["time_limit"] = seconds
        return milp(
            costs,
            integrality=np.ones(costs.size),
            bounds=Bounds(0.0, 1.0),
            constraints=LinearConstraint(vstack(self.rows, format="csc"), low, high),
            options=options,
        )

    def forbid(self, cycle: Whole) -> None:
        """Add the rules for the nodes S of a cycle, one for each k of them.

        Σ of the arcs from k within S <= Σ of the arcs that leave S from other nodes than k: a path
        that goes from k on within S leaves S later, since its target is never on a cycle.
        """
        from scipy.sparse import csr_array

        own, inside = self.leaving[cycle], np.isin(self.head, cycle)
        others = csr_array(1.0 - np.eye(cycle.size))
        self.rows.append((own * inside - others @ (own * ~inside)).tocsr())
        self.low.append(np.full(cycle.size, -np.inf))
        self.high.append(np.zeros(cycle.size))


def _walks(graph: Graph, used: Whole, s: int) -> list[Whole]:
    """Return the walk from s along arcs used, and the cycles beside it.

    At most one arc used leaves each node and none leaves the target, where the first walk ends.
    """
    after = dict(zip(graph.tail[used].tolist(), used.tolist(), strict=True))
    walks = []
    for node in [s, *after]:
        walk = []
        while node in after:
            walk.append(after.pop(node))
            node = int(graph.head[walk[-1]])
        if walk:
            walks.append(np.array(walk))
    return walks
