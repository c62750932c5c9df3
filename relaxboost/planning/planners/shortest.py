"""`shortest_path` and `shortest_paths`: Dijkstra's algorithm, Bellman and Ford's, or your own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import thread_pool
from relaxboost._core.errors import InputError
from relaxboost.planning.graphs import Graph, Path
from relaxboost.planning.kernels import NOTHING, relax, search, trace
from relaxboost.planning.planners.base import arc_costs, between, ends, shortest_arcs, told
from relaxboost.planning.planners.simple import Simple
from relaxboost.planning.plans import NegativeCycle, Plan

Planner = Callable[[Graph, Array, int, int], Plan]
"""Plans at costs that were checked, from one node to another, given by their numbers."""


def by_sign(graph: Graph, costs: Array, source: int, target: int) -> Plan:
    """Return a shortest path by Dijkstra's algorithm, or Bellman and Ford's for costs below 0.

    A cycle that is negative on the way from source to target is raised as a `NegativeCycle`;
    others do no harm. The sign is that of the exact sum of the costs in doubles. A cycle may be
    overlooked around which costs fall by less than nodes² · 2⁻¹⁰¹ of the largest distance on it.
    """
    start, far, arcs = graph.forward
    if costs.min() >= 0.0:
        taken, distance = shortest_arcs(graph, costs[arcs], source, target)
        # Nodes not taken from the heap are at least as far as the target, and constants feasible.
        potential = np.minimum(distance, distance[target])
        return Plan(Path(graph, taken), costs, potential, "dijkstra")
    reached, reaching = between(graph, source, target)
    inside = reached & reaching
    distance, via, on = relax(start, far, graph.near, costs[arcs], source, inside)
    if on >= 0:
        raise _around(graph, costs, via, on)
    potential = np.where(reached, np.where(reaching, distance, -np.inf), np.inf)
    path = Path(graph, trace(via, arcs, graph.tail, source, target))
    return Plan(path, costs, potential, "bellman-ford")


PLANNERS: dict[str, Planner] = {"auto": by_sign, "simple": Simple()}
"""Planners by name."""


def shortest_path(
    graph: Graph,
    costs: ArrayLike,
    source: Hashable,
    target: Hashable,
    planner: str | Planner = "auto",
) -> Plan:
    """Return a shortest path, with what proves it.

    Parameters
    ----------
    graph : Graph
    costs : array of shape (E,)
        One an arc, finite; `graph.costs` makes them of costs per site.
    source, target : labels of nodes
        Different.
    planner : {"auto", "simple"} or callable
        ``"auto"`` is Dijkstra's algorithm where no cost is negative, else Bellman and Ford's.
        ``"simple"``, or `Simple` with a time limit, is exact over paths that visit no node twice,
        even where cycles are negative. It is NP-hard, and its plan has no potentials. A function
        takes the graph, the costs and the numbers of both nodes, and returns a `Plan`.

    Raises
    ------
    NoPath
        If the target is out of reach.
    NegativeCycle
        If costs are negative around a cycle between source and target; it has the cycle.
    InputError
        For costs that do not fit the graph.
    """
    how, c = _planner(planner), arc_costs(graph, costs)
    return how(graph, c, *ends(graph, source, target))


def shortest_paths(
    graph: Graph,
    costs: ArrayLike,
    pairs: Iterable[tuple[Hashable, Hashable]],
    planner: str | Planner = "auto",
) -> list[Plan]:
    """Return a shortest path for each pair of nodes, in the order of the pairs.

    For costs >= 0, pairs that share a source (or a target, if these are fewer) share one search of
    the whole graph, and searches run in parallel threads. Plans do not depend on how many. Where
    paths tie, which one is taken may depend on the other pairs.

    Parameters
    ----------
    graph, costs, planner
        As for `shortest_path`.
    pairs : iterable of (source, target)
        Labels of nodes; not empty.

    Raises
    ------
    NoPath, NegativeCycle, InputError
        As `shortest_path`, for the first pair that has one, which is named.
    """
    how, c = _planner(planner), arc_costs(graph, costs)
    asked = []
    for place, pair in enumerate(pairs):
        if not isinstance(pair, tuple | list | np.ndarray) or len(pair) != 2:
            raise InputError(f"pairs[{place}] must be (source, target), got {pair!r}")
        with told(f"pairs[{place}]: "):
            asked.append(ends(graph, *pair))
    if not asked:
        raise InputError("the list of pairs is empty; give at least one (source, target)")
    found = _sharing(graph, c, asked) if how is by_sign and c.min() >= 0.0 else {}
    for i, (s, t) in enumerate(asked):
        if i not in found:
            with told(f"pairs[{i}], {graph.label(s)!r} -> {graph.label(t)!r}: "):
                found[i] = how(graph, c, s, t)
    return [found[i] for i in range(len(asked))]


def _sharing(graph: Graph, costs: Array, pairs: list[tuple[int, int]]) -> dict[int, Plan]:
    """Return plans by place, for pairs that have one, from a search for each source or target."""
    backward = len({t for _, t in pairs}) < len({s for s, _ in pairs})
    groups: dict[int, list[int]] = defaultdict(list)
    for place, pair in enumerate(pairs):
        groups[pair[backward]].append(place)
    start, far, arcs = graph.backward if backward else graph.forward
    near, ordered = graph.head if backward else graph.tail, costs[arcs]
    made: dict[int, Plan] = {}

    def work(root: int) -> None:
        leaves = [pairs[i][not backward] for i in groups[root]]
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


def simple_if_needed(graph: Graph, costs: Array, source: int, target: int, negative: str) -> Plan:
    """Return a shortest path for costs of any sign, as tasks need it.

    With negative="simple", a negative cycle makes it a path that visits no node twice.
    """
    c = arc_costs(graph, costs)
    try:
        return by_sign(graph, c, source, target)
    except NegativeCycle:
        if negative != "simple":
            raise
    return Simple()(graph, c, source, target)


def _around(graph: Graph, c: Array, via: Whole, node: int) -> InputError:
    """Return the error for the cycle that goes through a node."""
    last = graph.forward.arcs[via[node]]
    before = trace(via, graph.forward.arcs, graph.tail, node, graph.tail[last])
    found = NegativeCycle(Path(graph, np.append(before, last)), c)
    if found.cost < 0.0:
        return found
    return InputError(
        f"costs from {np.abs(c).min():g} to {np.abs(c).max():g} in size differ too widely for sums "
        "in doubles to tell the sign of a cycle; round the small ones"
    )


def _planner(given: str | Planner) -> Planner:
    if isinstance(given, str) and given in PLANNERS:
        return PLANNERS[given]
    if callable(given) and not isinstance(given, type):
        return given
    raise InputError(f"planner must be one of {', '.join(PLANNERS)}, or a function, got {given!r}")
