"""What planners check, and what they say where there is no path."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array, Flags, Whole, doubles
from relaxboost._core.errors import InputError
from relaxboost.planning.graphs import Adjacency, Graph
from relaxboost.planning.kernels import NOTHING, search, trace
from relaxboost.planning.plans import LARGEST, NoPath


def arc_costs(graph: Graph, costs: ArrayLike) -> Array:
    """Return arc costs as finite doubles of shape (E,), or raise with the arc named."""
    c = doubles("costs", costs)
    if c.shape != (graph.arcs,):
        raise InputError(
            f"costs need shape ({graph.arcs},), one an arc, got {c.shape}; graph.costs(C) makes "
            "them of costs per site"
        )
    if not (np.abs(c) <= LARGEST).all():
        arc = int(np.argmin(np.abs(c) <= LARGEST))
        raise InputError(
            f"the cost of {graph.arc_name(arc)} is {c[arc]:g}; costs must be finite and within "
            f"±{LARGEST:g}: leave out arcs that are closed, and divide all costs by one number"
        )
    return c


def ends(graph: Graph, source: Hashable, target: Hashable) -> tuple[int, int]:
    """Return the numbers of two different nodes."""
    s, t = graph.node(source), graph.node(target)
    if s == t:
        raise InputError(
            f"source and target are the same node, {source!r}, and a path has at least one arc; "
            "leave such pairs out"
        )
    return s, t


@contextmanager
def told(where: str) -> Iterator[None]:
    """Say where it was before what an `InputError` says."""
    try:
        yield
    except InputError as error:
        error.args = (f"{where}{error}",)
        raise


def shortest_arcs(
    graph: Graph, ordered: Array, source: int, target: int, ahead: Array = NOTHING
) -> tuple[Whole, Array]:
    """Return the arcs of a shortest path, and the distances that the search found until then.

    For costs >= 0 in the order of `graph.forward`; with estimates of what lies ahead, A*.
    """
    start, far, arcs = graph.forward
    distance, via = search(start, far, ordered, source, target, ahead)
    if np.isinf(distance[target]):
        raise no_path(graph, source, target)
    return trace(via, arcs, graph.tail, source, target), distance


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
    why = ""
    if not (graph.tail == source).any():
        why = "; no arc leaves the source"
    elif not (graph.head == target).any():
        why = "; no arc enters the target"
    return NoPath(f"no path from {graph.label(source)!r} to {graph.label(target)!r}{why}")
