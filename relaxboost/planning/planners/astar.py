"""A*: Dijkstra's algorithm led by estimates of what lies ahead."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array, doubles
from relaxboost._core.errors import InputError
from relaxboost._core.rounding import UNIT
from relaxboost.planning.graphs import Graph, Path
from relaxboost.planning.planners.base import Ends, Planner, Work, arc_costs
from relaxboost.planning.planners.dijkstra import shortest_arcs
from relaxboost.planning.plans import Plan, capped

Ahead = ArrayLike | Callable[[Hashable, Hashable], float]


@dataclass(frozen=True, eq=False)
class AStar(Planner):
    """A*, for costs >= 0: estimates h of the cost from each node on lead the search to one target.

    Estimates must be consistent, h_tail <= c + h_head on each arc, and not positive at the
    target; both are checked, arc by arc. Estimates that merely never exceed the true cost would
    give a shortest path too, but no potentials that prove it: these are min(g, length − h),
    feasible just if h is consistent. The check is one pass over the arcs, far less than a search.

    Parameters
    ----------
    ahead : array of shape (nodes,), or callable
        h by the number of the node; or a function of two labels, a node and the target, called
        for each node. inf says that the target is out of reach from there. `euclidean` and
        `octile` make such arrays from positions.

    Raises
    ------
    InputError
        When planning, for the arc on which the estimates are least consistent.
    """

    ahead: Ahead | None = None

    name: ClassVar[str] = "astar"

    def __post_init__(self) -> None:
        if self.ahead is None:
            raise InputError(
                'planner="astar" needs estimates: AStar(euclidean(graph, costs, target))'
            )

    def plan(self, graph: Graph, costs: Array, source: int, target: int) -> Plan:
        """Return a shortest path; see `Planner.plan`."""
        h = _checked(graph, costs, target, _estimates(graph, self.ahead, target))
        taken, distance = shortest_arcs(graph, costs[graph.forward.arcs], source, target, h)
        potential = capped(distance, distance[target], h)
        return Plan(Path(graph, taken), costs, potential, self.name)

    def jobs(self, graph: Graph, costs: Array, pairs: Sequence[Ends]) -> list[Work]:
        """Refuse: estimates are for one target."""
        raise InputError(
            "shortest_paths takes no AStar, whose estimates are for one target; call shortest_path "
            "for each pair"
        )


def euclidean(graph: Graph, costs: ArrayLike, target: Hashable) -> Array:
    """Return estimates for A*: the straight distance to the target at the least cost per length.

    Parameters
    ----------
    graph : Graph
        With `position`.
    costs : array of shape (E,)
        >= 0.
    target : label of a node

    Returns
    -------
    array of shape (nodes,)
        Consistent: min over arcs of cost/length, times the distance. Arcs of no length do not
        count; 0 everywhere if all are such.
    """
    return _scaled(graph, costs, target, np.hypot)


def octile(graph: Graph, costs: ArrayLike, target: Hashable) -> Array:
    """Return estimates for A* on grids with 8 neighbours, as `euclidean` and closer.

    The octile distance, max(x, y) + (√2 − 1) min(x, y), is that of the shortest way in steps
    along axes and diagonals.

    Parameters
    ----------
    graph : Graph
        With `position`.
    costs : array of shape (E,)
        >= 0.
    target : label of a node

    Returns
    -------
    array of shape (nodes,)
    """
    diagonal = np.sqrt(2.0) - 1.0
    return _scaled(
        graph, costs, target, lambda x, y: np.maximum(x, y) + diagonal * np.minimum(x, y)
    )


def _scaled(
    graph: Graph, costs: ArrayLike, target: Hashable, norm: Callable[[Array, Array], Array]
) -> Array:
    c = arc_costs(graph, costs)
    if graph.position is None:
        raise InputError("estimates need a graph with position, an array of shape (nodes, 2)")
    x, y = np.abs(graph.position[graph.tail] - graph.position[graph.head]).T
    length = norm(x, y)
    long = length > 0.0
    least = float((c[long] / length[long]).min(initial=np.inf))
    far = norm(*np.abs(graph.position - graph.position[graph.node(target)]).T)
    return np.zeros(graph.nodes) if np.isinf(least) else max(least, 0.0) * far


def _estimates(graph: Graph, ahead: Ahead | None, target: int) -> Array:
    """Return estimates as an array without NaN, or raise with the node named."""
    given = ahead
    if callable(ahead):
        end = graph.label(target)
        given = [ahead(graph.label(node), end) for node in range(graph.nodes)]
    h = doubles("ahead", given)
    if h.shape != (graph.nodes,):
        raise InputError(f"ahead needs shape ({graph.nodes},), one a node, got {h.shape}")
    bad = np.flatnonzero(np.isnan(h) | (h == -np.inf))
    if bad.size:
        raise InputError(
            f"the estimate at {graph.label(int(bad[0]))!r} is {h[bad[0]]}; give 0 where nothing is "
            "known, and inf where the target is out of reach"
        )
    return h


def _checked(graph: Graph, c: Array, target: int, h: Array) -> Array:
    """Return consistent estimates with 0 at the target and none below, or raise."""
    if h[target] > 0.0:
        raise InputError(
            f"the estimate at the target {graph.label(target)!r} is {h[target]:g}, above the true "
            "cost, 0; subtract it from all estimates"
        )
    from_, to = h[graph.tail], h[graph.head]
    with np.errstate(invalid="ignore"):  # inf − inf, where nothing is violated
        excess = from_ - (c + to)
    # Estimates are rounded themselves: a violation of that size costs the proof as little.
    near = np.maximum(np.abs(from_), np.maximum(np.abs(to), c))
    excess[np.isinf(to)] = -np.inf
    broken = np.flatnonzero(excess > 8.0 * UNIT * near)
    over = np.flatnonzero(np.isinf(from_) & np.isfinite(to))
    if broken.size or over.size:
        arc = int(over[0] if over.size else broken[excess[broken].argmax()])
        raise InputError(
            f"estimates are not consistent on {graph.arc_name(arc)}: {h[graph.tail[arc]]:g} before "
            f"it exceeds its cost {c[arc]:g} plus {h[graph.head[arc]]:g} after it; lower them, or "
            'use planner="dijkstra"'
        )
    # Shifting keeps consistency, and so does the larger of two consistent estimates, h and 0.
    made: Array = np.maximum(h - h[target], 0.0)
    return made
