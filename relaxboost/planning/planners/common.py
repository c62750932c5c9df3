"""What all planners share: their arguments checked, and no path told apart."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from relaxboost.errors import InputError
from relaxboost.planning.graphs import Graph
from relaxboost.planning.kernels import search
from relaxboost.planning.plans import LARGEST, NoPath

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

NOTHING: Array = np.empty(0)
"""No estimates of what lies ahead."""


def arc_costs(graph: Graph, costs: ArrayLike) -> Array:
    """Return arc costs as finite doubles of shape (E,), or raise with the arc named."""
    try:
        c = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"costs must be an array of numbers: {error}") from None
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


def non_negative(graph: Graph, c: Array, planner: str) -> None:
    """Raise where a cost is negative."""
    arc = int(c.argmin())
    if c[arc] < 0.0:
        raise InputError(
            f"{planner} needs costs >= 0, and {graph.arc_name(arc)} has {c[arc]:g}; "
            'planner="bellman-ford" does with negative ones'
        )


def ends(graph: Graph, source: Hashable, target: Hashable) -> tuple[int, int]:
    """Return the numbers of two different nodes."""
    s, t = graph.node(source), graph.node(target)
    if s == t:
        raise InputError(
            f"source and target are the same node, {source!r}, and a path has at least one arc; "
            "leave such pairs out"
        )
    return s, t


def between(graph: Graph, source: int, target: int) -> tuple[Flags, Flags]:
    """Return which nodes the source reaches, and which reach the target, or raise `NoPath`."""
    zero = np.zeros(graph.arcs)
    after = search(graph.forward.start, graph.forward.far, zero, source, -1, NOTHING)[0]
    if not np.isfinite(after[target]):
        raise no_path(graph, source, target)
    before = search(graph.backward.start, graph.backward.far, zero, target, -1, NOTHING)[0]
    return np.isfinite(after), np.isfinite(before)


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
