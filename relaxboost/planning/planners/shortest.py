"""`shortest_path` and `shortest_paths`: one interface to all planners, for one pair or many."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost.compiled import thread_pool
from relaxboost.errors import InputError
from relaxboost.planning.graphs import Graph
from relaxboost.planning.kernels import search, trace
from relaxboost.planning.paths import Path
from relaxboost.planning.planners.astar import Ahead, astar
from relaxboost.planning.planners.bellman_ford import bellman_ford
from relaxboost.planning.planners.common import NOTHING, arc_costs, ends, no_path, non_negative
from relaxboost.planning.planners.csgraph import csgraph
from relaxboost.planning.planners.dijkstra import dijkstra
from relaxboost.planning.planners.flow import flow
from relaxboost.planning.planners.simple import simple
from relaxboost.planning.plans import NegativeCycle, NoPath, Plan

Array = NDArray[np.float64]
Work = Callable[[], dict[int, Plan | InputError]]

PLANNERS = ("auto", "dijkstra", "astar", "bellman-ford", "csgraph", "flow", "simple")
"""What `planner` may be; see `shortest_path`."""


def shortest_path(
    graph: Graph,
    costs: ArrayLike,
    source: Hashable,
    target: Hashable,
    planner: str = "auto",
    *,
    ahead: Ahead | None = None,
    time_limit: float | None = None,
) -> Plan:
    """Return a shortest path, with what proves it.

    Parameters
    ----------
    graph : Graph
    costs : array of shape (E,)
        One an arc, finite; `graph.costs` makes them of costs per site.
    source, target : labels of nodes
        Different.
    planner : {"auto", "dijkstra", "astar", "bellman-ford", "csgraph", "flow", "simple"}
        ``"auto"`` is ``"dijkstra"`` where no cost is negative, else ``"bellman-ford"``.
        ``"astar"`` needs `ahead`. ``"csgraph"`` and ``"flow"`` are slower twins on SciPy's code
        and on linear programming. ``"simple"`` is exact over paths that visit no node twice, also
        where cycles are negative, and NP-hard; its plan has no potentials.
    ahead : array of shape (nodes,), or callable
        For ``"astar"`` alone; see `astar`.
    time_limit : float, optional
        Seconds, for ``"simple"`` alone; a plan that it cut short has ``complete=False``.

    Returns
    -------
    Plan

    Raises
    ------
    NoPath
        If the target is out of reach.
    NegativeCycle
        If costs are negative around a cycle between source and target; it has the cycle.
    InputError
        For costs that do not fit the graph or the planner, and options of another planner.
    """
    return _planner(planner, ahead, time_limit)(graph, costs, source, target)


def shortest_paths(
    graph: Graph,
    costs: ArrayLike,
    pairs: Iterable[tuple[Hashable, Hashable]],
    planner: str = "auto",
    *,
    time_limit: float | None = None,
) -> list[Plan]:
    """Return a shortest path for each pair of nodes, in the order of the pairs.

    For costs >= 0, pairs that share a source (or a target, if the pairs have fewer of these) share
    one search of the whole graph and its potentials. Searches run in parallel threads; plans do
    not depend on how many. Where several paths tie, which one is taken may depend on the pairs
    that it is asked for with.

    Parameters
    ----------
    graph : Graph
    costs : array of shape (E,)
        One an arc, finite.
    pairs : iterable of (source, target)
        Labels of nodes; not empty.
    planner, time_limit
        As for `shortest_path`, without ``"astar"``; the limit is for each pair.

    Returns
    -------
    list of Plan

    Raises
    ------
    NoPath
        If a target is out of reach; the first such pair is named.
    NegativeCycle
        As `shortest_path`, for the first pair that has one.
    InputError
        For a pair that is none.
    """
    if planner == "astar":
        raise InputError(
            'shortest_paths has no "astar", whose estimates are for one target; call shortest_path '
            "for each pair"
        )
    plan = _planner(planner, None, time_limit)
    c = arc_costs(graph, costs)
    asked = _checked_pairs(graph, pairs)
    one_by_one = planner in ("csgraph", "flow", "simple")
    if planner == "dijkstra":
        non_negative(graph, c, "Dijkstra's algorithm")
    if one_by_one or planner == "bellman-ford" or c.min() < 0.0:
        jobs: list[Work] = [
            partial(_alone, graph, c, plan, place, pair) for place, pair in enumerate(asked)
        ]
    else:
        jobs = _grouped(graph, c, asked)
    # The solvers behind the others bring their own threads and promise nothing about ours.
    parts = [job() for job in jobs] if one_by_one else thread_pool()[0].map(lambda job: job(), jobs)
    found = {place: answer for part in parts for place, answer in part.items()}
    plans = []
    for place, pair in enumerate(asked):
        answer = found[place]
        if isinstance(answer, InputError):
            raise _told_apart(answer, graph, c, place, pair)
        plans.append(answer)
    return plans


class _Pair(NamedTuple):
    source: int
    target: int


def _planner(name: str, ahead: Ahead | None, time_limit: float | None) -> Callable[..., Plan]:
    """Return the planner of a name, or raise for options that it does not take."""
    if name not in PLANNERS:
        raise InputError(f"planner must be one of {', '.join(PLANNERS)}, got {name!r}")
    if (ahead is None) == (name == "astar"):
        raise InputError(
            'planner="astar" needs ahead, such as euclidean(graph, costs, target)'
            if ahead is None
            else f'ahead is for planner="astar", not {name!r}; leave it out'
        )
    if time_limit is not None and name != "simple":
        raise InputError(f'time_limit is for planner="simple", not {name!r}; leave it out')
    if ahead is not None:
        return partial(astar, ahead=ahead)
    if name == "simple":
        return partial(_simple, time_limit=time_limit)
    made = {"dijkstra": dijkstra, "bellman-ford": bellman_ford, "csgraph": csgraph, "flow": flow}
    return made.get(name, _auto)


def _auto(graph: Graph, costs: ArrayLike, source: Hashable, target: Hashable) -> Plan:
    c = arc_costs(graph, costs)
    return (dijkstra if c.min() >= 0.0 else bellman_ford)(graph, c, source, target)


def _simple(
    graph: Graph, costs: ArrayLike, source: Hashable, target: Hashable, time_limit: float | None
) -> Plan:
    c = arc_costs(graph, costs)
    arcs, least, exact = simple(graph, c, source, target, time_limit=time_limit)
    return Plan(Path(graph, arcs), c, None, "simple", least, exact)


def _checked_pairs(graph: Graph, pairs: Iterable[tuple[Hashable, Hashable]]) -> list[_Pair]:
    made = []
    for place, pair in enumerate(pairs):
        if not isinstance(pair, tuple | list | np.ndarray) or len(pair) != 2:
            raise InputError(f"pairs[{place}] must be (source, target), got {pair!r}")
        try:
            made.append(_Pair(*ends(graph, *pair)))
        except InputError as error:
            raise InputError(f"pairs[{place}]: {error}") from None
    if not made:
        raise InputError("the list of pairs is empty; give at least one (source, target)")
    return made


def _alone(
    graph: Graph, c: Array, plan: Callable[..., Plan], place: int, pair: _Pair
) -> dict[int, Plan | InputError]:
    """Return the plan of one pair, or what it raised."""
    try:
        return {place: plan(graph, c, graph.label(pair.source), graph.label(pair.target))}
    except InputError as error:
        return {place: error}


def _grouped(graph: Graph, c: Array, asked: list[_Pair]) -> list[Work]:
    """Return one search for all pairs of a source, or of a target, for costs >= 0."""
    backward = len({pair.target for pair in asked}) < len({pair.source for pair in asked})
    groups: dict[int, list[int]] = defaultdict(list)
    for place, pair in enumerate(asked):
        groups[pair.target if backward else pair.source].append(place)
    start, far, arcs = graph.backward if backward else graph.forward
    ends_ = graph.head if backward else graph.tail
    ordered = c[arcs]

    def work(root: int, places: list[int]) -> dict[int, Plan | InputError]:
        leaves = [asked[i].source if backward else asked[i].target for i in places]
        last = leaves[0] if len(leaves) == 1 else -1
        distance, via, _ = search(start, far, ordered, root, last, NOTHING)
        potential = -distance if backward else distance
        if last >= 0:
            potential = np.clip(potential, -distance[last], distance[last])
        made: dict[int, Plan | InputError] = {}
        for i, leaf in zip(places, leaves, strict=True):
            if np.isinf(distance[leaf]):
                made[i] = no_path(graph, *asked[i])
                continue
            path = trace(via, arcs, ends_, root, leaf)
            path = path[::-1] if backward else path
            made[i] = Plan(Path(graph, path), c, potential, "dijkstra")
        return made

    return [partial(work, root, places) for root, places in groups.items()]


def _told_apart(error: InputError, graph: Graph, c: Array, place: int, pair: _Pair) -> InputError:
    """Return the error of a pair with the pair in it."""
    where = f"pairs[{place}], {graph.label(pair.source)!r} -> {graph.label(pair.target)!r}: "
    if isinstance(error, NegativeCycle):
        return NegativeCycle(error.cycle, c, where)
    return (NoPath if isinstance(error, NoPath) else InputError)(f"{where}{error}")
