"""`shortest_path` and `shortest_paths`: one interface to all planners, for one pair or many."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost.planning.graphs import Graph
from relaxboost.planning.planners.base import PLANNERS, Ends, Planner, ends
from relaxboost.planning.planners.bellman_ford import BellmanFord
from relaxboost.planning.planners.dijkstra import Dijkstra
from relaxboost.planning.planners.simple import Simple
from relaxboost.planning.plans import NegativeCycle, NoPath, Plan


@dataclass(frozen=True)
class BySign(Planner):
    """`Dijkstra` where no cost is negative, else `BellmanFord`."""

    name: ClassVar[str] = "auto"
    negative: ClassVar[bool] = True

    def plan(self, graph: Graph, costs: Array, source: int, target: int) -> Plan:
        """Return a shortest path; see `Planner.plan`."""
        return self._chosen(costs).plan(graph, costs, source, target)

    def plans(self, graph: Graph, costs: Array, pairs: Sequence[Ends]) -> list[Plan | InputError]:
        """Return the plans of the planner that suits the costs."""
        return self._chosen(costs).plans(graph, costs, pairs)

    def _chosen(self, costs: Array) -> Planner:
        return BellmanFord() if costs.min() < 0.0 else Dijkstra()


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
    planner : {"auto", "dijkstra", "bellman-ford", "simple"} or Planner
        A name, or an object with options, such as ``Simple(time_limit=5)``. ``"auto"``
        is ``"dijkstra"`` where no cost is negative, else ``"bellman-ford"``. ``"simple"`` is exact
        over paths that visit no node twice, even where cycles are negative. It is NP-hard, and
        its plan has no potentials.

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
        For costs that do not fit the graph or the planner.
    """
    return _planner(planner)(graph, costs, source, target)


def shortest_paths(
    graph: Graph,
    costs: ArrayLike,
    pairs: Iterable[tuple[Hashable, Hashable]],
    planner: str | Planner = "auto",
) -> list[Plan]:
    """Return a shortest path for each pair of nodes, in the order of the pairs.

    For costs >= 0, pairs that share a source or a target share one search of the whole graph.
    Searches run in parallel threads; plans do not depend on how many. Where several paths tie,
    which one is taken may depend on the other pairs.

    Parameters
    ----------
    graph : Graph
    costs : array of shape (E,)
        One an arc, finite.
    pairs : iterable of (source, target)
        Labels of nodes; not empty.
    planner : str or Planner
        As for `shortest_path`. A time limit is for each pair.

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
    how = _planner(planner)
    c = how.checked(graph, costs)
    asked = _checked_pairs(graph, pairs)
    plans = []
    for place, answer in enumerate(how.plans(graph, c, asked)):
        if isinstance(answer, InputError):
            raise _told_apart(answer, graph, c, place, asked[place])
        plans.append(answer)
    return plans


def simple_if_needed(graph: Graph, costs: Array, pair: Ends, negative: str, where: str) -> Plan:
    """Return a shortest path for costs of any sign, as tasks need it.

    Parameters
    ----------
    graph : Graph
    costs : array of shape (E,)
    pair : Ends
    negative : str
        With ``"simple"``, a negative cycle makes it a path that visits no node twice.
    where : str
        What an error begins with.

    Raises
    ------
    NegativeCycle
        Unless `negative` is ``"simple"``.
    """
    planner = BellmanFord()
    c = planner.checked(graph, costs)
    try:
        return planner.plan(graph, c, *pair)
    except NegativeCycle as error:
        if negative != "simple":
            raise NegativeCycle(error.cycle, c, where) from None
        return Simple().plan(graph, c, *pair)


def _planner(given: str | Planner) -> Planner:
    if isinstance(given, Planner):
        return given
    if isinstance(given, str) and given in PLANNERS:
        return PLANNERS[given]()
    raise InputError(f"planner must be one of {', '.join(PLANNERS)}, or a Planner, got {given!r}")


def _checked_pairs(graph: Graph, pairs: Iterable[tuple[Hashable, Hashable]]) -> list[Ends]:
    made = []
    for place, pair in enumerate(pairs):
        if not isinstance(pair, tuple | list | np.ndarray) or len(pair) != 2:
            raise InputError(f"pairs[{place}] must be (source, target), got {pair!r}")
        try:
            made.append(ends(graph, *pair))
        except InputError as error:
            raise InputError(f"pairs[{place}]: {error}") from None
    if not made:
        raise InputError("the list of pairs is empty; give at least one (source, target)")
    return made


def _told_apart(error: InputError, graph: Graph, c: Array, place: int, pair: Ends) -> InputError:
    """Return the error of a pair with the pair in it."""
    where = f"pairs[{place}], {graph.label(pair.source)!r} -> {graph.label(pair.target)!r}: "
    if isinstance(error, NegativeCycle):
        return NegativeCycle(error.cycle, c, where)
    return (NoPath if isinstance(error, NoPath) else InputError)(f"{where}{error}")
