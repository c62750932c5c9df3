"""Costs of turns: the graph whose nodes are the arcs of another."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array, Flags, Whole, doubles
from relaxboost._core.errors import InputError
from relaxboost.planning.graphs import Graph, Path
from relaxboost.planning.labels import Labels

PairFeatures = ArrayLike | Callable[[Whole, Whole], ArrayLike]


class TurnGraph(Graph):
    """The line graph of a graph; made by `turns`.

    Node e is arc e of the original, called ``("arc", e)``; each of its nodes v has two more,
    ``("start", v)`` and ``("end", v)``, where paths start and end. Arcs are the turns first, from
    an arc to one that follows it; then one from a start to each arc, and one from each arc to an
    end.

    Attributes
    ----------
    original : Graph
    before, after : arrays of int
        The arcs of the original that each turn joins.
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
        """Return the path of this graph that follows a path of the original.

        Raises
        ------
        InputError
            For a path of another graph, and at the first turn that is not allowed.
        """
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
        at, turns, arcs = np.searchsorted(there, wanted), self.before.size, self.original.arcs
        first = np.array([turns + path.arcs[0]])
        last = np.array([turns + arcs + path.arcs[-1]])
        return Path(self, np.concatenate([first, at, last]))

    def lower(self, path: Path) -> Path:
        """Return the path of the original that a path from a start to an end follows."""
        nodes = path.numbers
        if path.graph is not self or nodes[0] < self.original.arcs or nodes[-1] < nodes[0]:
            raise InputError("lower needs a path of this graph, from a start to an end")
        return Path(self.original, nodes[1:-1])


class _Places(Labels):
    """("arc", e), ("start", label), ("end", label)."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def __len__(self) -> int:
        return self.graph.arcs + 2 * self.graph.nodes

    def number(self, label: Hashable) -> int:
        """Return the number of a label, or raise an InputError."""
        kind, what = label if isinstance(label, tuple) and len(label) == 2 else (None, None)
        if kind == "start":
            return self.graph.arcs + self.graph.node(what)
        if kind == "end":
            return self.graph.arcs + self.graph.nodes + self.graph.node(what)
        if kind == "arc" and isinstance(what, int | np.integer) and 0 <= what < self.graph.arcs:
            return int(what)
        raise InputError(
            f'no node {label!r}; nodes are ("start", v), ("end", v) and ("arc", e), with e from 0 '
            f"to {self.graph.arcs - 1}"
        )

    def label(self, number: int) -> Hashable:
        """Return the label of a number."""
        if number < self.graph.arcs:
            return ("arc", number)
        kind, node = divmod(number - self.graph.arcs, self.graph.nodes)
        return ("end" if kind else "start", self.graph.label(node))


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
        Features of turns, of shape (P,) or (P, k): from ``features(before, after)`` with arrays of
        arc numbers, one an allowed turn, or in the order of `turn_pairs`. `turn_angles` makes such
        a function. They come after those of the graph, and are sites of their own: what is learned
        of arcs stays per site of the graph.
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
    before, after = turn_pairs(graph)
    keep = np.ones(before.size, dtype=bool)
    if allowed is not None:
        flags = np.asarray(allowed(before, after) if callable(allowed) else allowed)
        if flags.shape != before.shape or flags.dtype != bool:
            raise InputError(
                f"allowed needs bools of shape ({before.size},), one a turn in the order of "
                f"turn_pairs, got {flags.dtype} {flags.shape}"
            )
        keep &= flags
    if not u_turns:
        keep &= graph.head[after] != graph.tail[before]
    T = _turn_features(features, before, after, keep)
    before, after = before[keep], after[keep]
    arcs, nodes = np.arange(graph.arcs), graph.nodes
    made = TurnGraph(
        np.concatenate([before, graph.arcs + graph.tail, arcs]),
        np.concatenate([after, arcs, graph.arcs + nodes + graph.head]),
        _blocks(graph.features, T),
        names=[*graph.names, *_names(names, T.shape[1], graph.names)],
        sites=_sites(graph, after, T.shape[1] > 0),
        nodes=_Places(graph),
        position=_middles(graph),
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


def _turn_features(
    features: PairFeatures | None, before: Whole, after: Whole, keep: Flags
) -> Array:
    """Return the features of the turns that are kept, of shape (P, k)."""
    count = int(keep.sum())
    if features is None:
        return np.empty((count, 0))
    if callable(features):
        T = doubles("turn features", features(before[keep], after[keep]))
    else:
        T = doubles("turn features", features)
        T = T[keep] if T.ndim and len(T) == before.size else T
    T = T[:, None] if T.ndim == 1 else T
    if T.ndim != 2 or len(T) != count:
        raise InputError(
            f"turn features need shape (P,) or (P, k), with P = {count} for a function and "
            f"{before.size} for an array, got {T.shape}"
        )
    bad = np.argwhere(~np.isfinite(T))
    if bad.size:
        row, column = bad[0]
        raise InputError(
            f"turn feature {column} from arc {before[keep][row]} to arc {after[keep][row]} is "
            f"{T[row, column]}; turn features must be finite"
        )
    return T


def _names(names: Sequence[str] | None, k: int, others: tuple[str, ...]) -> list[str]:
    if names is None:
        return [f"turn {j}" for j in range(k)]
    if len(names) != k or set(names) & set(others):
        raise InputError(
            f"names need {k} entries, one a turn feature and none of the graph's, got {names}"
        )
    return list(names)


def _blocks(X: Array, T: Array) -> Array:
    """Return the features of sites: those of the graph, then the turns, each with its own."""
    if T.shape[1] == 0:
        return X
    made = np.zeros((len(X) + len(T), X.shape[1] + T.shape[1]))
    made[: len(X), : X.shape[1]], made[len(X) :, X.shape[1] :] = X, T
    return made


def _sites(graph: Graph, after: Whole, turning: bool) -> Any:
    """Return B: the sites of the second arc and the turn; of the arc; of nothing."""
    from scipy.sparse import block_array, csr_array, eye_array, vstack

    own = eye_array(graph.arcs, format="csr") if graph.sites is None else graph.sites
    nothing = csr_array((graph.arcs, graph.size))
    if not turning:
        return vstack([own[after], own, nothing], format="csr")
    each = eye_array(after.size)
    return block_array([[own[after], each], [own, None], [nothing, None]], format="csr")


def _middles(graph: Graph) -> Array | None:
    """Return where nodes are: arcs at their middles."""
    if graph.position is None:
        return None
    at = graph.position
    return np.concatenate([0.5 * (at[graph.tail] + at[graph.head]), at, at])
