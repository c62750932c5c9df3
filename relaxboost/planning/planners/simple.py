"""Shortest paths that visit no node twice, for costs of any sign, by integer programming."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Array, Flags, Whole
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost._core.parameters import positive
from relaxboost._core.rounding import sum_bounds
from relaxboost.planning.graphs import Graph, Path
from relaxboost.planning.kernels import NOTHING, search, trace
from relaxboost.planning.planners.base import Planner, between
from relaxboost.planning.plans import Plan

_SIZE = 13
"""Costs are scaled to 2^13 at most: HiGHS closes gaps to 1e-6, then 1e-10 of the largest cost."""

_GAP = 1e-6
"""What its bounds are lowered by: they are above the least cost by as much as 1e-9."""


@dataclass(frozen=True)
class Simple(Planner):
    """A least-cost path that visits no node twice, for costs of any sign.

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

    name: ClassVar[str] = "simple"
    negative: ClassVar[bool] = True
    threads: ClassVar[bool] = False  # HiGHS brings its own, and promises nothing about ours

    def __post_init__(self) -> None:
        if self.time_limit is not None:
            positive("time_limit", self.time_limit)

    def plan(self, graph: Graph, costs: Array, source: int, target: int) -> Plan:
        """Return a path of least cost; see `Planner.plan`."""
        clock = Clock(self.time_limit)
        reached, reaching = between(graph, source, target)
        inside = reached & reaching
        # No simple path enters its source, leaves its target, or goes where it cannot come back.
        usable = inside[graph.tail] & inside[graph.head]
        usable &= (graph.head != source) & (graph.tail != target)
        kept = np.flatnonzero(usable)
        best = _fewest(graph, usable, source, target)
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
            path, cycles = _split(graph, kept[found.x > 0.5], source, target)
            if math.fsum(costs[path].tolist()) < math.fsum(costs[best].tolist()):
                best = path
            if not cycles:
                proved = found.status == 0
                break
            rules.forbid(cycles)
        claimed = min(float(np.ldexp(least, exponent)), sum_bounds(costs[best])[0])
        return Plan(Path(graph, best), costs, None, self.name, claimed, proved)


class _Rules:
    """The constraints of the integer program, on the arcs kept."""

    def __init__(self, graph: Graph, kept: Whole, s: int, t: int) -> None:
        self.tail, self.head, self.nodes = graph.tail[kept], graph.head[kept], graph.nodes
        flow = graph.incidence[:, kept]
        leaving = flow.maximum(0.0)
        balance = np.zeros(graph.nodes)
        balance[s], balance[t] = 1.0, -1.0
        self.rows = [flow, leaving]
        self.low = [balance, np.zeros(graph.nodes)]
        self.high = [balance, np.ones(graph.nodes)]
        pair, back = self.tail * self.nodes + self.head, self.head * self.nodes + self.tail
        both = np.unique(pair[(self.tail < self.head) & np.isin(pair, back)])
        self.forbid(list(np.stack(np.divmod(both, self.nodes), axis=1)))

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

    def forbid(self, cycles: list[Whole]) -> None:
        """Add the rules for the nodes S of each cycle, one for each k of them.

        Σ of the arcs from k within S <= Σ of the arcs that leave S from other nodes than k: a path
        that goes from k on within S leaves S later, since its target is never on a cycle.
        """
        from scipy.sparse import csr_array

        rows, columns, values = [], [], []
        count = 0
        for nodes in cycles:
            inside = np.zeros(self.nodes, dtype=bool)
            inside[nodes] = True
            out = np.flatnonzero(inside[self.tail] & ~inside[self.head])
            for k in nodes.tolist():
                own = np.flatnonzero((self.tail == k) & inside[self.head])
                other = out[self.tail[out] != k]
                columns += [own, other]
                values += [np.ones(own.size), -np.ones(other.size)]
                rows.append(np.full(own.size + other.size, count))
                count += 1
        if count:
            at = (np.concatenate(rows), np.concatenate(columns))
            shape = (count, self.tail.size)
            self.rows.append(csr_array((np.concatenate(values), at), shape=shape))
            self.low.append(np.full(count, -np.inf))
            self.high.append(np.zeros(count))


def _fewest(graph: Graph, usable: Flags, s: int, t: int) -> Whole:
    """Return the path with the fewest arcs."""
    start, far, arcs = graph.forward
    cost = np.where(usable[arcs], 1.0, np.inf)
    _, via = search(start, far, cost, s, t, NOTHING)
    made: Whole = trace(via, arcs, graph.tail, s, t)
    return made


def _split(graph: Graph, used: Whole, s: int, t: int) -> tuple[Whole, list[Whole]]:
    """Return the path from s to t among arcs used, and the nodes of the cycles beside it.

    At most one arc used leaves each node and none leaves t, so that the walk from s ends there.
    """
    after = {int(graph.tail[arc]): int(arc) for arc in used}
    walks: list[list[int]] = []
    for first in [s, *after]:
        walk, node = [], first
        while node in after:
            walk.append(after.pop(node))
            node = int(graph.head[walk[-1]])
        if walk:
            walks.append(walk)
    assert graph.head[walks[0][-1]] == t
    return np.array(walks[0]), [graph.tail[walk] for walk in walks[1:]]
