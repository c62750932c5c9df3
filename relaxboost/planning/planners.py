"""Shortest-path planners. All except `Simple` return potentials, which prove that no path is
cheaper."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array, Flags, Whole
from relaxboost._core.compiled import thread_pool
from relaxboost._core.errors import InputError, error_prefix
from relaxboost._core.parameters import is_given, positive
from relaxboost._core.rounding import sum_bounds
from relaxboost.planning.graphs import Adjacency, Graph, Path
from relaxboost.planning.kernels import NOTHING, relax, search, trace
from relaxboost.planning.plans import NegativeCycle, NoPath, Plan, arc_costs


def ends(graph: Graph, source: Hashable, target: Hashable) -> tuple[int, int]:
    """Return the indices of the source and the target, given their labels.

    An InputError is raised if both are the same node.
    """
    s = graph.node(source)
    t = graph.node(target)
    if s == t:
        raise InputError(
            "source and target must differ, because a path has at least one arc, but both are "
            f"the same node, {source!r}; leave such pairs out"
        )
    return s, t


def shortest_arcs(
    graph: Graph, ordered: Array, source: int, target: int, ahead: Array = NOTHING
) -> tuple[Whole, Array]:
    """Return the arcs of a shortest path, and the distances of all nodes from the source.

    The arc costs `ordered` are >= 0, in the order of `graph.forward`. The array `ahead` has
    estimates of the distance to the target; see `search`.
    """
    start, far, arcs = graph.forward
    distance, via = search(start, far, ordered, source, target, ahead)
    # The search ends without the target if no path leads to it.
    if np.isinf(distance[target]):
        raise no_path(graph, source, target)
    return trace(via, arcs, graph.tail, source, target), distance


def between(graph: Graph, source: int, target: int) -> tuple[Flags, Flags]:
    """Return the masks of the nodes that the source reaches, and of those that reach the target.

    Raise `NoPath` if the source does not reach the target.
    """
    after = _reached(graph.forward, source)
    if not after[target]:
        raise no_path(graph, source, target)
    return after, _reached(graph.backward, target)


def _reached(along: Adjacency, root: int) -> Flags:
    distance = search(along.start, along.far, np.zeros(along.far.size), root, -1, NOTHING)[0]
    return np.isfinite(distance)


def no_path(graph: Graph, source: int, target: int) -> NoPath:
    """Return the error for a source that does not reach the target."""
    why = ""
    if not (graph.tail == source).any():
        why = "; no arc leaves the source"
    elif not (graph.head == target).any():
        why = "; no arc enters the target"
    return NoPath(f"no path from {graph.label(source)!r} to {graph.label(target)!r}{why}")


Planner = Callable[[Graph, Array, int, int], Plan]
"""The type of a planner, which returns a shortest path. Its arguments are a graph, the checked arc
costs, and the indices of the source and the target."""


def by_sign(graph: Graph, costs: Array, source: int, target: int) -> Plan:
    """Return a shortest path by Dijkstra's algorithm, or by Bellman–Ford if a cost is negative.

    If the search finds a cycle of negative cost on the way to the target, a `NegativeCycle` is
    raised. If only rounding errors make the cost of the cycle negative, an InputError is raised.
    The search may miss a cycle whose cost is negative, but so close to 0 that it is above −nodes² ·
    2⁻¹⁰¹ times the largest distance from the source to a node of the cycle.
    """
    start, far, arcs = graph.forward
    if costs.min() >= 0.0:
        taken, distance = shortest_arcs(graph, costs[arcs], source, target)
        # Nodes that were not taken from the heap are at least as far as the target. If they get the
        # distance of the target as potential, all inequalities hold.
        potential = np.minimum(distance, distance[target])
        return Plan(Path(graph, taken), costs, potential, "dijkstra")
    reached, reaching = between(graph, source, target)
    # A cycle that lies on no way from the source to the target does no harm.
    inside = reached & reaching
    distance, via, on = relax(start, far, graph.near, costs[arcs], source, inside)
    if on >= 0:
        raise _around(graph, costs, via, on)
    # The potential is infinite at the nodes that lie on no path from the source to the target.
    potential = np.where(reached, np.where(reaching, distance, -np.inf), np.inf)
    path = Path(graph, trace(via, arcs, graph.tail, source, target))
    return Plan(path, costs, potential, "bellman-ford")


def simple_if_needed(graph: Graph, costs: Array, source: int, target: int, negative: str) -> Plan:
    """Return a shortest path for arc costs of any sign.

    If there is a cycle of negative cost and `negative` is "simple", the path is shortest among the
    paths that visit no node twice. Otherwise such a cycle raises a `NegativeCycle`.
    """
    c = arc_costs(graph, costs)
    try:
        return by_sign(graph, c, source, target)
    except NegativeCycle:
        if negative != "simple":
            raise
    return Simple()(graph, c, source, target)


@dataclass(frozen=True)
class Simple:
    """A planner of paths that visit no node twice, for costs of any sign.

    HiGHS solves an integer program, in which a unit flow passes through each node at most once.
    Each node has a rank, and the flow leads only to nodes of higher rank, which excludes separate
    cycles of flow (Miller, Tucker & Zemlin, 1960). The problem is NP-hard: a graph of 36 nodes can
    take minutes.

    The plans have no potentials. `Plan.claimed` is HiGHS's lower bound on the least cost, reduced
    by about 2e-10 of the largest cost. It is valid if the error of HiGHS is at most this reduction.

    Parameters
    ----------
    time_limit : float, optional
        The time limit in seconds for each pair of nodes, > 0. When the time is up, the plan is the
        best path so far, or a path with the fewest arcs, and has ``complete=False``.
    """

    time_limit: float | None = None

    def __post_init__(self) -> None:
        if self.time_limit is not None:
            positive("time_limit", self.time_limit)

    def __call__(self, graph: Graph, costs: Array, source: int, target: int) -> Plan:
        reached, reaching = between(graph, source, target)
        inside = reached & reaching
        # A path that visits no node twice never enters its source or leaves its target. Nodes on no
        # way from the source to the target are left out.
        usable = inside[graph.tail] & inside[graph.head]
        usable &= (graph.head != source) & (graph.tail != target)
        # The cheapest of parallel arcs is enough. With parallel arcs, HiGHS reports some feasible
        # programs as infeasible.
        cheapest = np.flatnonzero(usable)[np.argsort(costs[usable], kind="stable")]
        pairs = graph.tail[cheapest] * graph.nodes + graph.head[cheapest]
        kept = np.sort(cheapest[np.unique(pairs, return_index=True)[1]])
        # A path with the fewest arcs is a start for the case that time runs out.
        hops = np.where(usable, 1.0, np.inf)[graph.forward.arcs]
        best = shortest_arcs(graph, hops, source, target)[0]
        # HiGHS stops at an absolute gap of 1e-6. After costs are scaled to at most 2^13, this is
        # 1e-10 of the largest cost.
        tolerance = 1e-6
        exponent = np.frexp(np.abs(costs[kept]).max())[1] - 13
        scaled = np.ldexp(costs[kept], -exponent)
        least = sum_bounds(np.minimum(scaled, 0.0))[0]
        proved = False
        found = _solved(graph, kept, scaled, (source, target), self.time_limit)
        if found.status not in (0, 1):
            raise InputError(
                f"HiGHS failed: {found.message} Round the costs, or set small costs to 0"
            )
        if found.mip_dual_bound is not None:
            least = max(least, float(found.mip_dual_bound) - tolerance)
        # HiGHS may stop before it has a feasible point.
        if found.x is not None:
            used = kept[found.x[: kept.size] > 0.5]
            after = dict(zip(graph.tail[used].tolist(), used.tolist(), strict=True))
            path = [source]
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
    """Solve the integer program of `Simple`, and return the result of SciPy's `milp`.

    The variables are the node ranks, and the flows on the arcs with indices `kept` and costs
    `costs`.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import block_array, eye_array

    flow = graph.incidence[:, kept].tocsr()
    nodes = graph.nodes
    most = nodes - 1.0
    balance = np.zeros(nodes)
    balance[list(ends)] = 1.0, -1.0
    # The rank of the head of an arc with flow is at least 1 above that of its tail.
    rising = [-most * eye_array(kept.size), -flow.T]
    rows = block_array([[flow, None], [flow.maximum(0.0), None], rising], format="csc")
    low = np.concatenate([balance, np.zeros(nodes), np.full(kept.size, 1.0 - most)])
    high = np.concatenate([balance, np.ones(nodes), np.full(kept.size, np.inf)])
    # With its default relative gap of 1e-4, HiGHS would stop before it has found a shortest path.
    options = {"mip_rel_gap": 0.0} | ({} if seconds is None else {"time_limit": seconds})
    return milp(
        np.append(costs, np.zeros(nodes)),
        integrality=np.append(np.ones(kept.size), np.zeros(nodes)),
        bounds=Bounds(0.0, np.append(np.ones(kept.size), np.full(nodes, most))),
        constraints=LinearConstraint(rows, low, high),
        options=options,
    )


PLANNERS: dict[str, Planner] = {"auto": by_sign, "simple": Simple()}
"""The planners that `shortest_path` accepts by name."""


def shortest_path(
    graph: Graph,
    costs: ArrayLike,
    source: Hashable,
    target: Hashable,
    planner: str | Planner = "auto",
) -> Plan:
    """Return a shortest path, with potentials that prove that no path is cheaper.

    Parameters
    ----------
    graph : Graph
        The graph in which the path is planned.
    costs : array of shape (E,)
        The cost of each arc, a finite number. `graph.costs` converts site costs to arc costs.
    source, target : labels of nodes
        The labels of the two nodes, which must be different.
    planner : {"auto", "simple"} or callable
        ``"auto"`` is Dijkstra's algorithm if no cost is negative, and otherwise the Bellman–Ford
        algorithm. ``"simple"``, or `Simple` with a time limit, finds a shortest path among the
        paths that visit no node twice, even if cycles are negative. A user-defined planner maps the
        graph, the costs and the indices of both nodes to a `Plan`.

    Raises
    ------
    NoPath
        If no path leads from the source to the target.
    NegativeCycle
        If there is a negative cycle on the way from source to target. The error contains the cycle.
    InputError
        If the costs have the wrong shape, or if a cost is not finite.
    """
    how = _planner(planner)
    c = arc_costs(graph, costs)
    return how(graph, c, *ends(graph, source, target))


def shortest_paths(
    graph: Graph,
    costs: ArrayLike,
    pairs: Iterable[tuple[Hashable, Hashable]],
    planner: str | Planner = "auto",
) -> list[Plan]:
    """Return a shortest path for each pair of nodes, in the order of the pairs.

    If all costs are >= 0, pairs with the same source, or with the same target if there are fewer
    targets, share one search. The searches run in parallel, and the number of threads does not
    change the plans. If a pair has several shortest paths, the plan may depend on the other pairs.

    Parameters
    ----------
    graph, costs
        As for `shortest_path`.
    pairs : iterable of (source, target)
        The pairs of node labels, at least one.
    planner : {"auto", "simple"} or callable
        As for `shortest_path`.

    Raises
    ------
    NoPath, NegativeCycle, InputError
        As in `shortest_path`. The message names the pair.
    """
    how = _planner(planner)
    c = arc_costs(graph, costs)
    asked = []
    for place, pair in enumerate(pairs):
        if not is_given(pair, tuple | list | np.ndarray) or len(pair) != 2:
            raise InputError(f"pairs[{place}] must be (source, target), got {pair!r}")
        with error_prefix(f"pairs[{place}]: "):
            asked.append(ends(graph, *pair))
    if not asked:
        raise InputError("the list of pairs is empty; pass at least one (source, target)")
    # Negative costs and user-defined planners are handled pair by pair.
    found = _sharing(graph, c, asked) if how is by_sign and c.min() >= 0.0 else {}
    for i, (s, t) in enumerate(asked):
        if i not in found:
            with error_prefix(f"pairs[{i}], {graph.label(s)!r} -> {graph.label(t)!r}: "):
                found[i] = how(graph, c, s, t)
    return [found[i] for i in range(len(asked))]


def _sharing(graph: Graph, costs: Array, pairs: list[tuple[int, int]]) -> dict[int, Plan]:
    """Return a shortest path for each pair of nodes, by the index of the pair.

    Pairs without a path are left out. All costs are >= 0.
    """
    sources, targets = zip(*pairs, strict=True)
    backward = len(set(targets)) < len(set(sources))
    groups: dict[int, list[int]] = defaultdict(list)
    for place, pair in enumerate(pairs):
        groups[pair[backward]].append(place)
    start, far, arcs = graph.backward if backward else graph.forward
    near = graph.head if backward else graph.tail
    ordered = costs[arcs]
    made: dict[int, Plan] = {}

    def work(root: int) -> None:
        leaves = [pairs[i][not backward] for i in groups[root]]
        # A search for a single pair ends at the other node.
        last = leaves[0] if len(leaves) == 1 else -1
        distance, via = search(start, far, ordered, root, last, NOTHING)
        potential = -distance if backward else distance
        if last >= 0:
            potential = np.clip(potential, -distance[last], distance[last])
        for i, leaf in zip(groups[root], leaves, strict=True):
            if np.isfinite(distance[leaf]):
                path = trace(via, arcs, near, root, leaf)
                path = Path(graph, path[::-1] if backward else path)
                made[i] = Plan(path, costs, potential, "dijkstra")

    list(thread_pool()[0].map(work, groups))
    return made


def _around(graph: Graph, c: Array, via: Whole, node: int) -> InputError:
    last = graph.forward.arcs[via[node]]
    before = trace(via, graph.forward.arcs, graph.tail, node, graph.tail[last])
    found = NegativeCycle(Path(graph, np.append(before, last)), c)
    if found.cost < 0.0:
        return found
    # The search found a negative cycle, but the exact sum of its costs is not negative.
    return InputError(
        f"the costs, from {np.abs(c).min():g} to {np.abs(c).max():g} in size, differ too much for "
        "doubles to decide whether a cycle has negative cost; round the small costs"
    )


def _planner(given: str | Planner) -> Planner:
    if isinstance(given, str) and given in PLANNERS:
        return PLANNERS[given]
    if callable(given) and not isinstance(given, type):
        return given
    raise InputError(f"planner must be one of {', '.join(PLANNERS)}, or a function, got {given!r}")
