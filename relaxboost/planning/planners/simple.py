"""Shortest paths that visit no node twice, for costs of any sign, by integer programming."""

from __future__ import annotations

import math
import time
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost.errors import InputError
from relaxboost.parameters import positive
from relaxboost.planning.graphs import Graph
from relaxboost.planning.kernels import search, trace
from relaxboost.planning.planners.common import NOTHING, arc_costs, between, ends
from relaxboost.rounding import sum_bounds

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

_SIZE = 13
"""Costs are scaled to 2^13 at most: HiGHS closes gaps to 1e-6, then 1e-10 of the largest cost."""

_GAP = 1e-6
"""What its bounds are lowered by: they are above the least cost by as much as 1e-9."""


class SimplePath(NamedTuple):
    """A path that visits no node twice."""

    arcs: Whole
    least: float
    """Not above the least cost of such a path, as far as the solver can be trusted to a tolerance
    of 1e-10 of the largest cost, which it is lowered by."""
    exact: bool
    """Whether the solver says that it is the least; False where a time limit ended it."""


def simple(
    graph: Graph,
    costs: ArrayLike,
    source: Hashable,
    target: Hashable,
    *,
    time_limit: float | None = None,
) -> SimplePath:
    """Return a least-cost path that visits no node twice; costs may be of any sign.

    A unit flow in integers that passes each node at most once, solved with HiGHS. Cycles beside
    the path are forbidden, those of two arcs at once and others as they turn up: a path that goes
    from a node to another of the same cycle has to leave the cycle's nodes afterwards. The problem
    is NP-hard: where half of the costs are negative, 36 nodes can take minutes.

    Parameters
    ----------
    graph : Graph
    costs : array of shape (E,)
    source, target : labels of nodes
    time_limit : float, optional
        Seconds, > 0. When they are over, the best path found so far is returned, at worst one
        with the fewest arcs, with ``exact=False``.

    Raises
    ------
    NoPath
        If the target is out of reach.
    """
    c = arc_costs(graph, costs)
    s, t = ends(graph, source, target)
    end = math.inf
    if time_limit is not None:
        end = time.perf_counter() + positive("time_limit", time_limit)
    reached, reaching = between(graph, s, t)
    inside = reached & reaching
    # No simple path enters its source, leaves its target, or goes where it cannot come back from.
    usable = inside[graph.tail] & inside[graph.head] & (graph.head != s) & (graph.tail != t)
    kept = np.flatnonzero(usable)
    best = _fewest(graph, usable, s, t)
    exponent = np.frexp(np.abs(c[kept]).max())[1] - _SIZE
    scaled = np.ldexp(c[kept], -exponent)
    least = sum_bounds(np.minimum(scaled, 0.0))[0]
    rules = _Rules(graph, kept, s, t)
    while (left := end - time.perf_counter()) > 0.0:
        found = rules.solve(scaled, left)
        if found.status not in (0, 1):
            raise InputError(f"HiGHS fails: {found.message} Round the costs, or drop small ones")
        if found.mip_dual_bound is not None:
            least = max(least, float(found.mip_dual_bound) - _GAP)
        if found.x is None:
            break
        path, cycles = _split(graph, kept[found.x > 0.5], s, t)
        if math.fsum(c[path].tolist()) < math.fsum(c[best].tolist()):
            best = path
        if not cycles:
            return _told(c, best, np.ldexp(least, exponent), found.status == 0)
        rules.forbid(cycles)
    return _told(c, best, np.ldexp(least, exponent), False)


def _told(c: Array, path: Whole, least: float, exact: bool) -> SimplePath:
    """Return a path, with a bound that is not above its cost by the solver's tolerance."""
    return SimplePath(path, min(float(least), sum_bounds(c[path])[0]), exact)


class _Rules:
    """The constraints of the integer program, on the arcs kept."""

    def __init__(self, graph: Graph, kept: Whole, s: int, t: int) -> None:
        from scipy.sparse import csr_array

        self.tail, self.head, self.nodes = graph.tail[kept], graph.head[kept], graph.nodes
        columns, ones = np.arange(kept.size), np.ones(kept.size)
        shape = (graph.nodes, kept.size)
        leaving = csr_array((ones, (self.tail, columns)), shape=shape)
        entering = csr_array((ones, (self.head, columns)), shape=shape)
        balance = np.zeros(graph.nodes)
        balance[s], balance[t] = 1.0, -1.0
        self.rows = [leaving - entering, leaving]
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


def _fewest(graph: Graph, usable: NDArray[np.bool_], s: int, t: int) -> Whole:
    """Return the path with the fewest arcs."""
    start, far, arcs = graph.forward
    cost = np.where(usable[arcs], 1.0, np.inf)
    _, via, _ = search(start, far, cost, s, t, NOTHING)
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
