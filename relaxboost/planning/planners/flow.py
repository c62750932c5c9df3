"""The linear program of shortest paths: a unit of flow from source to target, and its dual."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost.errors import InputError
from relaxboost.planning.graphs import Graph
from relaxboost.planning.kernels import search, trace
from relaxboost.planning.paths import Path
from relaxboost.planning.planners.bellman_ford import bellman_ford
from relaxboost.planning.planners.common import NOTHING, arc_costs, between, ends
from relaxboost.planning.plans import Plan

Array = NDArray[np.float64]
Whole = NDArray[np.int64]


def flow(graph: Graph, costs: ArrayLike, source: Hashable, target: Hashable) -> Plan:
    """Return a shortest path for costs of any sign, by the flow LP through cvxpy and HiGHS.

    min c·f over flows f >= 0 of one unit from source to target; the multipliers of conservation
    are the potentials. It is slow, and shares nothing with the searches: a second opinion. The
    solver works to a tolerance of 1e-7 of the largest cost, so that where costs nearly tie the
    path need not be the shortest; `check_plan` tells.

    Parameters
    ----------
    graph : Graph
    costs : array of shape (E,)
    source, target : labels of nodes

    Raises
    ------
    NegativeCycle
        If the program is unbounded.
    NoPath
        If the target is out of reach.
    """
    c = arc_costs(graph, costs)
    s, t = ends(graph, source, target)
    reached, reaching = between(graph, s, t)
    inside = reached & reaching
    kept = np.flatnonzero(inside[graph.tail] & inside[graph.head])
    exponent = np.frexp(np.abs(c[kept]).max())[1]  # scaled by a power of two, which is exact
    scaled = np.ldexp(c[kept], -exponent)
    amount, dual = _solved(graph, kept, scaled, s, t)
    if amount is None:
        bellman_ford(graph, c, source, target)  # raises, with the cycle
        raise InputError("HiGHS calls the flow program unbounded, and no cycle is negative")
    potential = np.where(reached, -np.inf, np.inf)
    potential[inside] = np.ldexp(dual[inside] - dual[s], exponent)
    # Any path within the support of an optimal flow is a shortest one.
    start, far, arcs = graph.forward
    cost = np.full(graph.arcs, np.inf)
    cost[graph.place[kept[amount > 1e-6]]] = 1.0
    _, via, _ = search(start, far, cost, s, t, NOTHING)
    return Plan(Path(graph, trace(via, arcs, graph.tail, s, t)), c, potential, "flow")


def _solved(graph: Graph, kept: Whole, costs: Array, s: int, t: int) -> tuple[Array | None, Array]:
    """Return the flow on the arcs kept and its multipliers; None where it is unbounded."""
    import cvxpy as cp
    from scipy.sparse import csr_array

    columns, ones = np.arange(kept.size), np.ones(kept.size)
    shape = (graph.nodes, kept.size)
    entering = csr_array((ones, (graph.head[kept], columns)), shape=shape)
    leaving = csr_array((ones, (graph.tail[kept], columns)), shape=shape)
    wanted = np.zeros(graph.nodes)
    wanted[s], wanted[t] = -1.0, 1.0
    f = cp.Variable(kept.size, nonneg=True)
    conserved = (entering - leaving) @ f == wanted
    problem = cp.Problem(cp.Minimize(costs @ f), [conserved])
    problem.solve(solver=cp.HIGHS)
    if problem.status in ("unbounded", "infeasible_or_unbounded", "unbounded_inaccurate"):
        return None, np.empty(0)
    if f.value is None:
        raise InputError(f'HiGHS ends with "{problem.status}"; use another planner')
    return np.asarray(f.value), -np.asarray(conserved.dual_value)
