"""Planners by other people's code: scipy's Dijkstra, and linear programming through cvxpy."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from relaxboost.planning import Path, Plan, shortest_path
from relaxboost.planning.kernels import NOTHING, relax, search, trace
from relaxboost.planning.planners import between, no_path, shortest_arcs


def distances_to(graph, costs, target):
    """Each node's distance to a target."""
    start, far, arcs = graph.backward
    return search(start, far, costs[arcs], target, -1, NOTHING)[0]


def csgraph(graph, costs, source, target):
    """scipy.sparse.csgraph.dijkstra over the whole graph; of parallel arcs the cheapest is kept."""
    order = np.lexsort((costs, graph.head, graph.tail))
    pair = graph.tail[order] * graph.nodes + graph.head[order]
    first = np.r_[True, pair[1:] != pair[:-1]]
    kept, pair = order[first], pair[first]
    # Made of its three arrays, a matrix keeps entries that are 0 as arcs of no cost.
    start = np.searchsorted(graph.tail[kept], np.arange(graph.nodes + 1))
    shape = (graph.nodes, graph.nodes)
    matrix = csr_array((costs[kept], graph.head[kept], start), shape=shape)
    distance, before = dijkstra(matrix, indices=source, return_predecessors=True)
    if np.isinf(distance[target]):
        raise no_path(graph, source, target)
    nodes = [target]
    while nodes[-1] != source:
        nodes.append(int(before[nodes[-1]]))
    along = np.array(nodes[::-1], dtype=np.int64)
    arcs = kept[np.searchsorted(pair, along[:-1] * graph.nodes + along[1:])]
    potential = np.minimum(distance, distance[target])
    return Plan(Path(graph, arcs), costs, potential, "csgraph")


def queued(graph, costs, source, target):
    """Bellman and Ford's algorithm, which is meant for costs below 0, at any costs."""
    reached, reaching = between(graph, source, target)
    start, far, arcs = graph.forward
    inside = reached & reaching
    distance, via, on = relax(start, far, graph.near, costs[arcs], source, inside)
    assert on < 0
    potential = np.where(reached, np.where(reaching, distance, -np.inf), np.inf)
    path = Path(graph, trace(via, arcs, graph.tail, source, target))
    return Plan(path, costs, potential, "queued")


def led(ahead):
    """The search led by estimates of what lies ahead, as losses of many demonstrations use it."""

    def plan(graph, costs, source, target):
        ordered = costs[graph.forward.arcs]
        taken, distance = shortest_arcs(graph, ordered, source, target, ahead)
        # Nodes that were not taken from the heap are at least as far as it had come.
        potential = np.maximum(np.minimum(distance, distance[target] - ahead), 0.0)
        return Plan(Path(graph, taken), costs, potential, "led")

    return plan


def flow(graph, costs, source, target):
    """A unit of flow from source to target; the multipliers of conservation are the potentials.

    The solver works to 1e-7 of the largest cost, within which costs that nearly tie may not be
    told apart.
    """
    reached, reaching = between(graph, source, target)
    inside = reached & reaching
    kept = np.flatnonzero(inside[graph.tail] & inside[graph.head])
    exponent = np.frexp(np.abs(costs[kept]).max())[1]  # scaled by a power of two: exact
    found = _solved(graph, kept, np.ldexp(costs[kept], -exponent), source, target)
    if found is None:
        shortest_path(graph, costs, source, target)  # raises, with the cycle
        raise AssertionError("HiGHS calls the program unbounded, and no cycle is negative")
    amount, dual = found
    potential = np.where(reached, -np.inf, np.inf)
    potential[inside] = np.ldexp(dual[inside] - dual[source], exponent)
    # Any path within the support of an optimal flow is a shortest one.
    start, far, arcs = graph.forward
    cost = np.full(graph.arcs, np.inf)
    cost[graph.place[kept[amount > 1e-6]]] = 1.0
    _, via = search(start, far, cost, source, target, NOTHING)
    path = Path(graph, trace(via, arcs, graph.tail, source, target))
    return Plan(path, costs, potential, "flow")


def _solved(graph, kept, costs, s, t):
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
        return None
    return np.asarray(f.value), -np.asarray(conserved.dual_value)
