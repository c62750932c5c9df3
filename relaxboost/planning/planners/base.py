"""What a planner is, and the check of its arguments that all of them share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array, Flags, doubles
from relaxboost._core.compiled import thread_pool
from relaxboost._core.errors import InputError
from relaxboost._core.registry import Registry
from relaxboost.planning.graphs import Adjacency, Graph
from relaxboost.planning.kernels import NOTHING, search
from relaxboost.planning.plans import LARGEST, NoPath, Plan

PLANNERS: Registry[Planner] = Registry("planner")
"""Every planner by its name."""


class Ends(NamedTuple):
    """The numbers of two different nodes."""

    source: int
    target: int


class Planner(ABC):
    """Finds a path of least cost between two nodes; an immutable dataclass of its options.

    A subclass with a `name` enters `PLANNERS`, so that `shortest_path` takes the name for it.

    Attributes
    ----------
    name : str
    negative : bool
        Whether it takes costs below 0.
    threads : bool
        Whether `shortest_paths` may run it in several threads at once.
    """

    name: ClassVar[str]
    negative: ClassVar[bool] = False
    threads: ClassVar[bool] = True

    def __init_subclass__(cls) -> None:
        PLANNERS.add(cls)

    def __call__(self, graph: Graph, costs: ArrayLike, source: Hashable, target: Hashable) -> Plan:
        """Return a path of least cost; see `shortest_path`."""
        c = self.checked(graph, costs)
        return self.plan(graph, c, *ends(graph, source, target))

    def checked(self, graph: Graph, costs: ArrayLike) -> Array:
        """Return costs as an array that this planner takes, or raise."""
        c = arc_costs(graph, costs)
        if not self.negative:
            non_negative(graph, c, f"planner {self.name!r}")
        return c

    @abstractmethod
    def plan(self, graph: Graph, costs: Array, source: int, target: int) -> Plan:
        """Return a path of least cost between two nodes, for costs that were checked."""

    def plans(self, graph: Graph, costs: Array, pairs: Sequence[Ends]) -> list[Plan | InputError]:
        """Return a plan for each pair, or the error of one that has none; by default one by one."""

        def alone(pair: Ends) -> Plan | InputError:
            try:
                return self.plan(graph, costs, *pair)
            except InputError as error:
                return error

        return list((thread_pool()[0].map if self.threads else map)(alone, pairs))


def arc_costs(graph: Graph, costs: ArrayLike) -> Array:
    """Return arc costs as finite doubles of shape (E,), or raise with the arc named."""
    c = doubles("costs", costs)
    if c.shape != (graph.arcs,):
        raise InputError(
            f"costs need shape ({graph.arcs},), one an arc, got {c.shape}; graph.costs(C) makes "
            "them of costs per site"
        )
    bad = np.flatnonzero(~np.isfinite(c))
    if bad.size:
        arc = int(bad[0])
        raise InputError(
            f"the cost of {graph.arc_name(arc)} is {c[arc]}; costs must be finite, and arcs that "
            "are closed left out of the graph"
        )
    arc = int(np.abs(c).argmax())
    if abs(c[arc]) > LARGEST:
        raise InputError(
            f"the cost of {graph.arc_name(arc)} is {c[arc]:g}; costs must lie within ±{LARGEST:g} "
            "so that their sums are finite: divide all of them by one number"
        )
    return c


def non_negative(graph: Graph, c: Array, what: str) -> None:
    """Raise where a cost is negative."""
    arc = int(c.argmin())
    if c[arc] < 0.0:
        raise InputError(
            f"{what} needs costs >= 0, and {graph.arc_name(arc)} has {c[arc]:g}; "
            'planner="bellman-ford" does with negative ones'
        )


def ends(graph: Graph, source: Hashable, target: Hashable) -> Ends:
    """Return the numbers of two different nodes."""
    s, t = graph.node(source), graph.node(target)
    if s == t:
        raise InputError(
            f"source and target are the same node, {source!r}, and a path has at least one arc; "
            "leave such pairs out"
        )
    return Ends(s, t)


def between(graph: Graph, source: int, target: int) -> tuple[Flags, Flags]:
    """Return which nodes the source reaches, and which reach the target, or raise `NoPath`."""
    after = _reached(graph.forward, source)
    if not after[target]:
        raise no_path(graph, source, target)
    return after, _reached(graph.backward, target)


def _reached(along: Adjacency, root: int) -> Flags:
    distance = search(along.start, along.far, np.zeros(along.far.size), root, -1, NOTHING)[0]
    found: Flags = np.isfinite(distance)
    return found


def no_path(graph: Graph, source: int, target: int) -> NoPath:
    """Return the error for a target that is out of reach."""
    out = graph.forward.start[source + 1] - graph.forward.start[source]
    into = graph.backward.start[target + 1] - graph.backward.start[target]
    why = ""
    if out == 0:
        why = "; no arc leaves the source"
    elif into == 0:
        why = "; no arc enters the target"
    return NoPath(f"no path from {graph.label(source)!r} to {graph.label(target)!r}{why}")
