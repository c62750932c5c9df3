"""A path of a graph: arcs, each starting where the one before ends."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from relaxboost.errors import InputError

if TYPE_CHECKING:
    from relaxboost.planning.graphs import Graph

Array = NDArray[np.float64]
Whole = NDArray[np.int64]


class Counts(NamedTuple):
    """How often a path takes the arcs it takes."""

    arcs: Whole
    """Ascending."""
    times: Array


class Path:
    """A walk along arcs of a graph; it may visit nodes twice, as recorded trips do.

    Parameters
    ----------
    graph : Graph
    arcs : array of int
        At least one.

    Raises
    ------
    InputError
        For a number that is no arc, or at the first arc that does not start where the one before
        it ends.
    """

    def __init__(self, graph: Graph, arcs: Whole) -> None:
        self.graph, self.arcs = graph, np.array(arcs, dtype=np.int64)
        self.arcs.flags.writeable = False
        if self.arcs.size == 0:
            raise InputError("a path needs at least one arc")
        bad = np.flatnonzero((self.arcs < 0) | (self.arcs >= graph.arcs))
        if bad.size:
            raise InputError(
                f"step {bad[0] + 1} of the path is arc {self.arcs[bad[0]]}, and arcs are numbered "
                f"0 to {graph.arcs - 1}"
            )
        broken = np.flatnonzero(graph.head[self.arcs[:-1]] != graph.tail[self.arcs[1:]])
        if broken.size:
            step = int(broken[0]) + 1
            ends = graph.label(graph.head[self.arcs[step - 1]])
            raise InputError(
                f"step {step + 1} of the path, {graph.arc_name(int(self.arcs[step]))}, does not "
                f"start at {ends!r}, where the step before it ends"
            )

    @property
    def source(self) -> int:
        """The number of the first node."""
        return int(self.graph.tail[self.arcs[0]])

    @property
    def target(self) -> int:
        """The number of the last node."""
        return int(self.graph.head[self.arcs[-1]])

    @property
    def numbers(self) -> Whole:
        """The numbers of the nodes, in order."""
        return np.append(self.graph.tail[self.arcs], self.target)

    @property
    def nodes(self) -> list[Hashable]:
        """The labels of the nodes, in order."""
        return [self.graph.label(node) for node in self.numbers]

    def counts(self) -> Counts:
        """Return the arcs taken and how often."""
        arcs, times = np.unique(self.arcs, return_counts=True)
        return Counts(arcs, times.astype(np.float64))

    def features(self) -> Array:
        """Return the sum of the arc features along the path, shape (d,)."""
        return self.graph.arc_features[self.arcs].sum(axis=0)

    def cost(self, costs: Array) -> float:
        """Return the sum of arc costs, shape (E,), along the path."""
        return float(costs[self.arcs].sum())

    def __len__(self) -> int:
        return self.arcs.size

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Path)
            and self.graph is other.graph
            and np.array_equal(self.arcs, other.arcs)
        )

    def __hash__(self) -> int:
        return hash((id(self.graph), self.arcs.tobytes()))

    def __repr__(self) -> str:
        first, last = self.graph.label(self.source), self.graph.label(self.target)
        return f"Path({first!r} -> {last!r}, {len(self)} arcs)"
