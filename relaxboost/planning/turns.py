"""Turn graphs, in which turns have costs because the nodes are the arcs of another graph."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array, Flags, Whole, doubles
from relaxboost._core.errors import InputError
from relaxboost.planning.graphs import PLACES, Graph, Path

PairFeatures = ArrayLike | Callable[[Whole, Whole], ArrayLike]


class TurnGraph(Graph):
    """The turn graph of a graph, as returned by `turns`.

    The node ``("arc", e)`` is arc e of the original graph. Each node v of the original graph
    becomes two nodes, the start ``("start", v)`` and the end ``("end", v)`` of paths. The first
    arcs are the turns, from one arc to the next. The other arcs lead from ``("start", v)`` to each
    arc that leaves v, and from each arc that enters v to ``("end", v)``.
    """

    original: Graph
    before: Whole
    """The arc before each turn, as an arc index of the original graph."""
    after: Whole
    """The arc after each turn, as an arc index of the original graph."""

    def start(self, label: Hashable) -> Hashable:
        """Return the label ("start", v) of the node where paths from v start."""
        self.original.node(label)
        return ("start", label)

    def end(self, label: Hashable) -> Hashable:
        """Return the label ("end", v) of the node where paths to v end."""
        self.original.node(label)
        return ("end", label)

    def lift(self, path: Path) -> Path:
        """Convert a path in the original graph to a path in this graph.

        If the path takes a forbidden turn, an InputError names the first such turn.
        """
        if path.graph is not self.original:
            raise InputError(
                "TurnGraph.lift needs a path in the graph from which this turn graph was made"
            )
        # Each turn, which is a pair of arcs, gets a number. The turns are sorted, so that their
        # numbers ascend and bisection finds a turn.
        wanted = path.arcs[:-1] * self.original.arcs + path.arcs[1:]
        there = self.before * self.original.arcs + self.after
        forbidden = np.flatnonzero(~np.isin(wanted, there))
        if forbidden.size:
            step = int(forbidden[0])
            one, other = (self.original.arc_name(int(arc)) for arc in path.arcs[step : step + 2])
            raise InputError(
                f"step {step + 2} of the path turns from {one} to {other}, which is not allowed "
                "in this graph; allow the turn with u_turns or allowed"
            )
        starting = self.before.size + path.arcs[0]
        ending = self.before.size + self.original.arcs + path.arcs[-1]
        return Path(self, np.r_[starting, np.searchsorted(there, wanted), ending])

    def lower(self, path: Path) -> Path:
        """Convert a path in this graph, from ("start", v) to ("end", w), to the original graph."""
        nodes = path.numbers
        if path.graph is not self or nodes[0] < self.original.arcs or nodes[-1] < nodes[0]:
            raise InputError(
                "TurnGraph.lower needs a path in this turn graph, from a node "
                '("start", v) to a node ("end", w)'
            )
        return Path(self.original, nodes[1:-1])


def turn_pairs(graph: Graph) -> tuple[Whole, Whole]:
    """Return the arc before and the arc after each turn of a graph, as two arrays.

    A turn is a pair of arcs, of which the second starts where the first ends. The turns are in
    ascending order.

    Parameters
    ----------
    graph : Graph
        A directed graph.
    """
    start, _, arcs = graph.forward
    # Every arc is followed by all arcs that leave its head.
    count = np.diff(start)[graph.head]
    before = np.repeat(np.arange(graph.arcs), count)
    place = np.arange(before.size) - np.repeat(np.cumsum(count) - count, count)
    return before, arcs[start[graph.head[before]] + place]


def turns(
    graph: Graph,
    features: PairFeatures | None = None,
    *,
    names: Sequence[str] | None = None,
    u_turns: bool = True,
    allowed: PairFeatures | None = None,
) -> TurnGraph:
    """Create a turn graph, in which every turn has features and a cost.

    The cost of a path is the cost of its arcs in the original graph plus the cost of its turns. A
    shortest path may visit a node of the original graph twice, to turn round in a side street.

    Parameters
    ----------
    graph : Graph
        The graph whose turns become arcs.
    features : callable or array, optional
        The features of the P turns, shape (P,) or (P, k), in the order of `turn_pairs`, or a
        function ``features(before, after)`` that returns them, such as the result of `turn_angles`.
        The turn features follow the features of the graph, and every turn is a separate site.
    names : sequence of k str, optional
        The names of the turn features.
    u_turns : bool
        Whether a path may return from an arc directly to the node where this arc starts.
    allowed : callable or array of bool, optional
        The mask of the allowed turns, shape (P,), or a function ``allowed(before, after)`` that
        returns it.

    Returns
    -------
    TurnGraph
        The turn graph ``made``, in which paths lead from ``made.start(v)`` to ``made.end(w)``.
        `TurnGraph.lift` and `TurnGraph.lower` convert paths between the two graphs. The first arc
        of a path has only its own features, because it follows no turn.

    Raises
    ------
    InputError
        If `features` or `allowed` has the wrong shape, or if a feature is not finite.
    """
    from scipy.linalg import block_diag
    from scipy.sparse import block_array, csr_array, eye_array

    before, after = turn_pairs(graph)
    keep = _kept(graph, before, after, u_turns, allowed)
    T = _turn_features(features, before, after, keep)
    before = before[keep]
    after = after[keep]
    many = T.shape[1]
    named = [f"turn {j}" for j in range(many)] if names is None else names
    if len(named) != many or set(named) & set(graph.names):
        raise InputError(
            f"names must have {many} entries, one per turn feature, that are not used in the "
            f"graph, got {names}"
        )
    # The sites of the new graph are those of the original graph, followed by the turns. A turn uses
    # the sites of the arc after it, and a site of its own.
    own = eye_array(graph.arcs, format="csr") if graph.sites is None else graph.sites
    turning = eye_array(after.size)
    nothing = csr_array((graph.arcs, graph.size))
    sites = block_array([[own[after], turning], [own, None], [nothing, None]], format="csr")
    labels: list[Hashable] = [("arc", e) for e in range(graph.arcs)]
    labels += [(end, graph.label(v)) for end in ("start", "end") for v in range(graph.nodes)]
    arcs = np.arange(graph.arcs)
    position = None
    if graph.position is not None:
        ends = graph.position[graph.tail] + graph.position[graph.head]
        position = np.concatenate([0.5 * ends, graph.position, graph.position])
    made = TurnGraph(
        np.concatenate([before, graph.arcs + graph.tail, arcs]),
        np.concatenate([after, arcs, graph.arcs + graph.nodes + graph.head]),
        block_diag(graph.features, T) if many else graph.features,
        names=[*graph.names, *named],
        sites=sites if many else sites[:, : graph.size],
        nodes=labels,
        position=position,
    )
    made.original = graph
    made.before = before
    made.after = after
    return made


def turn_angles(graph: Graph) -> Callable[[Whole, Whole], Array]:
    """Return a function that computes the angles of turns, from 0 to π, as a turn feature.

    Parameters
    ----------
    graph : Graph
        A graph with `position`. An arc of length 0 has the angle 0 with every other arc.
    """
    if graph.position is None:
        raise InputError(f"turn_angles needs the coordinates of the nodes: {PLACES}")
    step = graph.position[graph.head] - graph.position[graph.tail]

    def angles(before: Whole, after: Whole) -> Array:
        # The arctangent of cross and dot product needs no division by lengths.
        x, y = step[before].T
        a, b = step[after].T
        # Adding 0 turns −0 into 0, because the arctangent of 0 and −0 would be π.
        return np.abs(np.arctan2(x * b - y * a, x * a + y * b + 0.0))

    return angles


def _kept(
    graph: Graph, before: Whole, after: Whole, u_turns: bool, allowed: PairFeatures | None
) -> Flags:
    keep: Flags = np.ones(before.size, dtype=bool)
    if allowed is not None:
        keep = np.asarray(allowed(before, after) if callable(allowed) else allowed)
        if keep.shape != before.shape or keep.dtype != bool:
            raise InputError(
                f"allowed must have shape ({before.size},) and type bool, with one entry per turn "
                f"in the order of turn_pairs, got shape {keep.shape} and type {keep.dtype}"
            )
    # A U-turn leads back to the node where the arc before it starts.
    return keep if u_turns else keep & (graph.head[after] != graph.tail[before])


def _turn_features(
    features: PairFeatures | None, before: Whole, after: Whole, keep: Flags
) -> Array:
    if features is None:
        return np.empty((int(keep.sum()), 0))
    T = doubles("turn features", features(before, after) if callable(features) else features)
    T = T[:, None] if T.ndim == 1 else T
    if T.ndim != 2 or len(T) != before.size:
        raise InputError(
            f"turn features must have shape (P,) or (P, k) with P = {before.size}, one row "
            f"per turn in the order of turn_pairs, got {T.shape}"
        )
    bad = np.argwhere(~np.isfinite(T) & keep[:, None])
    if bad.size:
        row, column = bad[0]
        raise InputError(
            f"turn feature {column} from arc {before[row]} to arc {after[row]} is "
            f"{T[row, column]}; turn features must be finite"
        )
    return T[keep]
