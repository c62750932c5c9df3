"""Costs of turns: the graph whose nodes are the arcs of another."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array, Whole, doubles
from relaxboost._core.errors import InputError
from relaxboost.planning.graphs import Graph, Path

PairFeatures = ArrayLike | Callable[[Whole, Whole], ArrayLike]


class TurnGraph(Graph):
    """The line graph of a graph; made by `turns`.

    Node e is arc e of the original, called ``("arc", e)``; each of its nodes v has two more,
    ``("start", v)`` and ``("end", v)``, where paths start and end. Arcs are the turns first, from
    an arc to one that follows it; then one from a start to each arc, and one from each arc to an
    end.

    `original` is the graph, `before` and `after` the arcs of it that each turn joins.
    """

    original: Graph
    before: Whole
    after: Whole

    def start(self, label: Hashable) -> Hashable:
        """Return the label of where paths from a node of the original start."""
        self.original.node(label)
        return ("start", label)

    def end(self, label: Hashable) -> Hashable:
        """Return the label of where paths to a node of the original end."""
        self.original.node(label)
        return ("end", label)

    def lift(self, path: Path) -> Path:
        """Return the path of this graph that follows one of the original, or raise at a turn."""
        if path.graph is not self.original:
            raise InputError("lift needs a path of the graph that the turns were made of")
        wanted = path.arcs[:-1] * self.original.arcs + path.arcs[1:]
        there = self.before * self.original.arcs + self.after  # ascending
        forbidden = np.flatnonzero(~np.isin(wanted, there))
        if forbidden.size:
            step = int(forbidden[0])
            one, other = (self.original.arc_name(int(arc)) for arc in path.arcs[step : step + 2])
            raise InputError(
                f"step {step + 2} of the path turns from {one} to {other}, which is not allowed "
                "in this graph; allow it with u_turns or allowed"
            )
        turns, arcs = self.before.size, self.original.arcs
        ends = [turns + path.arcs[0]], [turns + arcs + path.arcs[-1]]
        return Path(self, np.concatenate([ends[0], np.searchsorted(there, wanted), ends[1]]))

    def lower(self, path: Path) -> Path:
        """Return the path of the original that a path from a start to an end follows."""
        nodes = path.numbers
        if path.graph is not self or nodes[0] < self.original.arcs or nodes[-1] < nodes[0]:
            raise InputError("lower needs a path of this graph, from a start to an end")
        return Path(self.original, nodes[1:-1])


def turn_pairs(graph: Graph) -> tuple[Whole, Whole]:
    """Return the arcs that each turn of a graph joins: arc before and arc after, ascending."""
    start, _, arcs = graph.forward
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
    """Return the graph in which going from one arc to the next has features, and a cost.

    A path costs what its arcs cost in the original and what its turns cost. A shortest one may
    visit a node of the original twice, to turn round in a side street.

    Parameters
    ----------
    graph : Graph
    features : callable or array, optional
        Features of turns, of shape (P,) or (P, k), in the order of `turn_pairs`, or
        ``features(before, after)`` that returns them. `turn_angles` makes such
        a function. They come after those of the graph, and are sites of their own.
    names : sequence of k str, optional
        Of the turn features.
    u_turns : bool
        Whether a path may go straight back to the node that an arc came from.
    allowed : callable or array of bool, optional
        As `features`, False for a turn that is forbidden.

    Returns
    -------
    TurnGraph
        Plan from ``made.start(v)`` to ``made.end(w)``; `TurnGraph.lift` and `TurnGraph.lower`
        translate paths. The first arc of a path has its own features and no turn.

    Raises
    ------
    InputError
        For features or flags of the wrong shape, or not finite.
    """
    from scipy.linalg import block_diag
    from scipy.sparse import block_array, csr_array, eye_array

    before, after = turn_pairs(graph)
    keep = np.ones(before.size, dtype=bool)
    if allowed is not None:
        keep = np.asarray(allowed(before, after) if callable(allowed) else allowed)
        if keep.shape != before.shape or keep.dtype != bool:
            raise InputError(
                f"allowed needs bools of shape ({before.size},), one a turn in the order of "
                f"turn_pairs, got {keep.dtype} {keep.shape}"
            )
    if not u_turns:
        keep = keep & (graph.head[after] != graph.tail[before])
    T = _turn_features(features, before, after)[keep]
    before, after = before[keep], after[keep]
    bad = np.argwhere(~np.isfinite(T))
    if bad.size:
        row, column = bad[0]
        raise InputError(
            f"turn feature {column} from arc {before[row]} to arc {after[row]} is "
            f"{T[row, column]}; turn features must be finite"
        )
    many, named = T.shape[1], [f"turn {j}" for j in range(T.shape[1])] if names is None else names
    if len(named) != many or set(named) & set(graph.names):
        raise InputError(
            f"names need {many} entries, one a turn feature and none of the graph's, got {names}"
        )
    # Sites are those of the graph, then the turns; an arc has those of its second arc and its turn.
    own = eye_array(graph.arcs, format="csr") if graph.sites is None else graph.sites
    turning = eye_array(after.size)
    nothing = csr_array((graph.arcs, graph.size))
    sites = block_array([[own[after], turning], [own, None], [nothing, None]], format="csr")
    labels: list[Hashable] = [("arc", e) for e in range(graph.arcs)]
    labels += [(end, graph.label(v)) for end in ("start", "end") for v in range(graph.nodes)]
    arcs, nodes, at = np.arange(graph.arcs), graph.nodes, graph.position
    made = TurnGraph(
        np.concatenate([before, graph.arcs + graph.tail, arcs]),
        np.concatenate([after, arcs, graph.arcs + nodes + graph.head]),
        block_diag(graph.features, T) if many else graph.features,
        names=[*graph.names, *named],
        sites=sites if many else sites[:, : graph.size],
        nodes=labels,
        position=None
        if at is None
        else np.concatenate([0.5 * (at[graph.tail] + at[graph.head]), at, at]),
    )
    made.original, made.before, made.after = graph, before, after
    return made


def turn_angles(graph: Graph) -> Callable[[Whole, Whole], Array]:
    """Return turn features: the angle by which the direction changes, 0 to π.

    Parameters
    ----------
    graph : Graph
        With `position`; arcs of no length have no direction, and angle 0 with every other.
    """
    if graph.position is None:
        raise InputError("turn_angles needs a graph with position, an array of shape (nodes, 2)")
    step = graph.position[graph.head] - graph.position[graph.tail]

    def angles(before: Whole, after: Whole) -> Array:
        (x, y), (a, b) = step[before].T, step[after].T
        made: Array = np.abs(np.arctan2(x * b - y * a, x * a + y * b))
        return made

    return angles


def _turn_features(features: PairFeatures | None, before: Whole, after: Whole) -> Array:
    """Return the features of all turns, of shape (P, k)."""
    if features is None:
        return np.empty((before.size, 0))
    T = doubles("turn features", features(before, after) if callable(features) else features)
    T = T[:, None] if T.ndim == 1 else T
    if T.ndim != 2 or len(T) != before.size:
        raise InputError(
            f"turn features need shape (P,) or (P, k) with P = {before.size}, one a turn in the "
            f"order of turn_pairs, got {T.shape}"
        )
    return T
