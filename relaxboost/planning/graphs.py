"""Graphs with features on arcs or sites, stored as arrays, and paths in these graphs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cached_property
from itertools import pairwise
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array, Whole, doubles
from relaxboost._core.errors import InputError, error_prefix, few
from relaxboost._core.parameters import is_given
from relaxboost.planning.labels import Labels, Numbered

PLACES = 'give the graph position=, from_networkx position=("x", "y"), or from_pandas nodes='
"""The remedy for a graph without node coordinates."""


class Adjacency(NamedTuple):
    """The arcs of a graph, sorted by tail (forward) or by head (backward)."""

    start: Whole
    """The position of each node's first arc in the sorted list. The arcs of node v have the
    positions start[v] to start[v + 1] − 1."""
    far: Whole
    """The other end of each arc in the sorted list: the head if sorted by tail, and the tail if
    sorted by head."""
    arcs: Whole
    """The index of each arc in the sorted list."""


class Path:
    """A path in a graph. Like a recorded trip, it may visit a node twice.

    Parameters
    ----------
    graph : Graph
        The graph that contains the arcs.
    arcs : array of int
        The arc indices, at least one, in order.

    Raises
    ------
    InputError
        If an index is out of range, or if an arc does not start where the one before it ends.
    """

    def __init__(self, graph: Graph, arcs: Whole) -> None:
        self.graph = graph
        self.arcs = np.array(arcs, dtype=np.int64)
        # The array is read-only, because changed arcs might not form a path.
        self.arcs.flags.writeable = False
        if self.arcs.size == 0:
            raise InputError("a path needs at least one arc")
        bad = np.flatnonzero((self.arcs < 0) | (self.arcs >= graph.arcs))
        if bad.size:
            raise InputError(
                f"step {bad[0] + 1} of the path is arc {self.arcs[bad[0]]}, but arcs are numbered "
                f"0 to {graph.arcs - 1}"
            )
        broken = np.flatnonzero(graph.head[self.arcs[:-1]] != graph.tail[self.arcs[1:]])
        if broken.size:
            step = int(broken[0]) + 1
            end = graph.label(graph.head[self.arcs[step - 1]])
            raise InputError(
                f"step {step + 1} of the path, {graph.arc_name(int(self.arcs[step]))}, does not "
                f"start at {end!r}, where the step before it ends"
            )

    @property
    def source(self) -> int:
        """The index of the first node of the path."""
        return int(self.graph.tail[self.arcs[0]])

    @property
    def target(self) -> int:
        """The index of the last node of the path."""
        return int(self.graph.head[self.arcs[-1]])

    @property
    def numbers(self) -> Whole:
        """The indices of the nodes of the path, in order."""
        return np.append(self.graph.tail[self.arcs], self.target)

    @property
    def nodes(self) -> list[Hashable]:
        """The labels of the nodes of the path, in order."""
        return [self.graph.label(node) for node in self.numbers]

    def features(self) -> Array:
        """Return the sum of each feature over the arcs of the path."""
        return self.graph.arc_features[self.arcs].sum(axis=0)

    def cost(self, costs: Array) -> float:
        """Return the cost of the path, given the cost of each arc of the graph."""
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
        # Equal paths belong to the same graph object.
        return hash((id(self.graph), self.arcs.tobytes()))

    def __repr__(self) -> str:
        label = self.graph.label
        return f"Path({label(self.source)!r} -> {label(self.target)!r}, {len(self)} arcs)"


class Graph:
    """A directed graph with features on its arcs or, more generally, on its sites.

    Arc e leads from node ``tail[e]`` to node ``head[e]``; parallel arcs are allowed. Features
    belong to *sites*, which are the arcs by default, the cells of a grid, or the edges of an
    undirected graph. The graph has E arcs and S sites. The arc costs are c = B C, where C is the
    vector of site costs and the matrix B = `sites` has a row of weights >= 0 for each arc. Linear
    site costs are C = X w, where X has a row of features for each site and w a weight for each
    feature.

    The functions `from_pandas`, `from_osmnx`, `from_networkx`, `grid` and `turns` create graphs.

    Parameters
    ----------
    tail, head : arrays of shape (E,)
        Node indices, from 0 to nodes − 1. There must be at least one arc, and no self-loops.
    features : array of shape (S, d), optional
        The features of the sites, which must be finite. S = E unless `sites` is given.
    nodes : int, sequence of hashables, or Labels, optional
        The number of nodes, or their labels. By default the labels are 0, 1, ... up to the largest
        index in `tail` and `head`.
    names : sequence of d str, optional
        The names of the features.
    sites : sparse matrix of shape (E, S), optional
        The matrix B, with entries >= 0. By default it is the identity.
    position : array of shape (nodes, 2), optional
        The coordinates of the nodes, for example for pictures.
    keys : sequence of E hashables, optional
        Labels that distinguish parallel arcs, like the keys of a networkx multigraph; see `arc`.

    Attributes
    ----------
    ignored : set of str
        The features that learned costs ignored with an `ExtraFeatures` warning.
    notes : tuple of str
        Sentences about the values that `from_osmnx` replaced or left out.

    Raises
    ------
    InputError
        If a shape or a node index is wrong, an arc is a self-loop, or a feature is not finite.
    """

    def __init__(
        self,
        tail: ArrayLike,
        head: ArrayLike,
        features: ArrayLike | None = None,
        *,
        nodes: int | Sequence[Hashable] | Labels | None = None,
        names: Sequence[str] | None = None,
        sites: Any = None,
        position: ArrayLike | None = None,
        keys: Sequence[Hashable] | None = None,
    ) -> None:
        self.tail = _numbers("tail", tail)
        self.head = _numbers("head", head)
        if self.tail.shape != self.head.shape:
            raise InputError(
                f"tail has {self.tail.size} entries and head has {self.head.size}; give one per arc"
            )
        if self.tail.size == 0:
            raise InputError("a graph needs at least one arc")
        if nodes is None:
            nodes = int(max(self.tail.max(), self.head.max())) + 1
        self.labels = _labels(nodes)
        self.nodes = len(self.labels)
        self._check_ends()
        self.sites = None if sites is None else self._checked_sites(sites)
        self.features = self._checked_features(features)
        self.names = self._checked_names(names)
        self.position = None if position is None else np.array(position, dtype=np.float64)
        if self.position is not None and self.position.shape != (self.nodes, 2):
            raise InputError(
                f"position must have shape ({self.nodes}, 2), got {self.position.shape}"
            )
        self.ignored: set[str] = set()
        self.notes: tuple[str, ...] = ()
        self.keys = None if keys is None else tuple(keys)
        if self.keys is not None and len(self.keys) != self.arcs:
            raise InputError(f"keys need {self.arcs} entries, one per arc, got {len(self.keys)}")
        # These arrays are read-only, because cached adjacencies and costs depend on them.
        for array in (self.tail, self.head, self.features):
            array.flags.writeable = False

    @property
    def arcs(self) -> int:
        """The number of arcs of the graph."""
        return self.tail.size

    @property
    def size(self) -> int:
        """The number of sites of the graph."""
        return self.arcs if self.sites is None else self.sites.shape[1]

    def costs(self, site_costs: ArrayLike) -> Array:
        """Return the cost of each arc, given the cost of each site.

        To compute arc costs from weights of the features, use ``graph.arc_features @ weights``, or
        `LearnedCosts.costs` for learned weights.
        """
        C = np.asarray(site_costs, dtype=np.float64)
        if C.shape != (self.size,):
            raise InputError(
                f"costs must have shape ({self.size},), one per site (an arc, a cell of a grid, or "
                f"an undirected edge), got {C.shape}{weights_hint(self, C)}"
            )
        return C if self.sites is None else self.sites @ C

    def gathered(self, per_arc: Array) -> Array:
        """Sum a number for each arc over the sites, with the weights of the matrix `sites`.

        This linear map is the adjoint of `costs`.
        """
        return per_arc if self.sites is None else self.sites.T @ per_arc

    # The product is cached, because every fit and every prediction needs it.
    @cached_property
    def arc_features(self) -> Array:
        """The features of the arcs, as an array of shape (E, d).

        The arc costs for the weights w are ``arc_features @ w``.
        """
        return self.features if self.sites is None else np.asarray(self.sites @ self.features)

    @cached_property
    def forward(self) -> Adjacency:
        """The arcs of the graph, sorted by tail, then by index."""
        return _adjacency(self.tail, self.head, self.nodes)

    @cached_property
    def place(self) -> Whole:
        """The position of each arc in `forward`."""
        made = np.empty(self.arcs, dtype=np.int64)
        made[self.forward.arcs] = np.arange(self.arcs)
        return made

    @cached_property
    def near(self) -> Whole:
        """The tail of each arc, in the order of `forward`."""
        return self.tail[self.forward.arcs]

    @cached_property
    def backward(self) -> Adjacency:
        """The arcs of the graph, sorted by head, then by index."""
        return _adjacency(self.head, self.tail, self.nodes)

    @cached_property
    def incidence(self) -> Any:
        """The sparse incidence matrix, with a row for each node and a column for each arc.

        The column of an arc has +1 in the row of its tail and −1 in the row of its head.
        """
        from scipy.sparse import csc_array

        ends = np.stack([self.tail, self.head], axis=1).ravel()
        signs = np.tile([1.0, -1.0], self.arcs)
        # Each column has two entries, so that the arrays of the sparse format can be written
        # directly.
        starts = np.arange(0, 2 * self.arcs + 1, 2)
        return csc_array((signs, ends, starts), shape=(self.nodes, self.arcs))

    def node(self, label: Hashable) -> int:
        """Return the index of a node, given its label, or raise an InputError if it is unknown."""
        return self.labels.number(label)

    def label(self, node: int) -> Hashable:
        """Return the label of a node, given its index."""
        return self.labels.label(int(node))

    def arc_name(self, arc: int) -> str:
        """Return an arc's index and node labels, for error messages."""
        return f"arc {arc} ({self.label(self.tail[arc])!r} -> {self.label(self.head[arc])!r})"

    def arc(self, tail: Hashable, head: Hashable, key: Hashable = None) -> int:
        """Return the index of the arc from one node to another.

        Parameters
        ----------
        tail, head : labels of nodes
            The nodes where the arc starts and where it ends.
        key : hashable, optional
            The entry of `keys` that selects one of several parallel arcs.

        Raises
        ------
        InputError
            If there is no such arc, or if there are several.
        """
        u = self.node(tail)
        v = self.node(head)
        what = f"{tail!r} -> {head!r}"
        start, far, arcs = self.forward
        # Comparing only the arcs that leave the node saves time in large graphs.
        here = slice(start[u], start[u + 1])
        joining = arcs[here][far[here] == v].tolist()
        others: Any = ""
        if key is not None:
            if self.keys is None:
                raise InputError(f"{what}: the arcs of this graph have no keys; leave key out")
            what += f" with key {key!r}"
            known = [repr(self.keys[arc]) for arc in joining]
            others = known and f"the arcs between these nodes have the keys {few(known, 8)}"
            joining = [arc for arc in joining if self.keys[arc] == key]
        if not joining:
            raise InputError(f"there is no arc {what} in the graph; {others or self._leaving(u)}")
        # The features of parallel arcs differ, so that a guess could be wrong.
        if len(joining) > 1:
            keys = "" if self.keys is None else "; graph.arc(tail, head, key) finds them"
            raise InputError(
                f"{what} is ambiguous between the parallel arcs {joining}; choose an arc with "
                f"graph.path(arcs=...){keys}"
            )
        return int(joining[0])

    def path(
        self, nodes: Sequence[Hashable] | None = None, *, arcs: ArrayLike | None = None
    ) -> Path:
        """Return the path through given nodes or along given arcs.

        Parameters
        ----------
        nodes : sequence of labels
            The nodes of the path, at least two.
        arcs : array of int
            The arc indices, for paths with parallel arcs; `arc` returns such an index.

        Raises
        ------
        InputError
            If no arc, or more than one arc, leads from a node to the next.
        """
        if (nodes is None) == (arcs is None):
            raise InputError("a path needs either nodes or arcs; pass exactly one of them")
        if arcs is not None:
            if isinstance(arcs, list | tuple) and any(isinstance(arc, tuple) for arc in arcs):
                raise InputError(
                    f"arcs must be indices of arcs, got {arcs[0]!r}; find them with graph.arc(u, "
                    "v, key): graph.path(arcs=[graph.arc(*edge) for edge in edges])"
                )
            return Path(self, _numbers("arcs", arcs))
        steps = list(pairwise(nodes or ()))
        if not steps:
            raise InputError(f"a path needs at least two nodes, got {list(nodes or ())!r}")
        found = []
        for place, step in enumerate(steps):
            with error_prefix(f"step {place + 1} of the path: "):
                found.append(self.arc(*step))
        return Path(self, np.array(found, dtype=np.int64))

    def _leaving(self, node: int) -> str:
        start, far, _ = self.forward
        there = [repr(self.label(v)) for v in np.unique(far[start[node] : start[node + 1]])]
        if not there:
            return f"no arc leaves {self.label(node)!r}"
        return f"arcs from {self.label(node)!r} lead to {few(there, 8)}"

    def _check_ends(self) -> None:
        for name, ends in (("tail", self.tail), ("head", self.head)):
            bad = np.flatnonzero((ends < 0) | (ends >= self.nodes))
            if bad.size:
                raise InputError(
                    f"arc {bad[0]} has the {name} {ends[bad[0]]}, but nodes are numbered 0 to "
                    f"{self.nodes - 1}"
                )
        # A self-loop of negative cost would itself be a negative cycle.
        loops = np.flatnonzero(self.tail == self.head)
        if loops.size:
            raise InputError(
                f"{self.arc_name(int(loops[0]))} is a self-loop, which no shortest path takes; "
                f"remove all self-loops ({loops.size} in all)"
            )

    def _checked_sites(self, sites: Any) -> Any:
        from scipy.sparse import csr_array

        B = csr_array(sites, dtype=np.float64)
        if B.shape[0] != self.arcs:
            raise InputError(f"sites must have {self.arcs} rows, one per arc, got {B.shape[0]}")
        # The entries must be >= 0, so that costs of sites >= 0 give costs of arcs >= 0.
        if not (B.data >= 0.0).all() or not np.isfinite(B.data).all():
            raise InputError("the matrix sites must have finite entries >= 0")
        return B

    def _checked_features(self, features: ArrayLike | None) -> Array:
        if features is None:
            return np.ones((self.size, 1))
        X = np.array(doubles("features", features))
        # A single feature may be passed as an array with one axis.
        X = X[:, None] if X.ndim == 1 else X
        if X.ndim != 2 or X.shape[0] != self.size or X.shape[1] == 0:
            raise InputError(
                f"features must have shape ({self.size}, d) with d >= 1, one row per site, got "
                f"{X.shape}"
            )
        bad = np.argwhere(~np.isfinite(X))
        if bad.size:
            row, column = bad[0]
            where = self.arc_name(int(row)) if self.sites is None else f"site {row}"
            raise InputError(
                f"feature {column} of {where} is {X[row, column]}; features must be finite: fill "
                "in a number, or leave the arc out"
            )
        return X

    def _checked_names(self, names: Sequence[str] | None) -> tuple[str, ...]:
        d = self.features.shape[1]
        if names is None:
            return tuple(f"x{j}" for j in range(d))
        made = tuple(str(name) for name in names)
        # Costs are learned and applied by names, which must be unique.
        if len(made) != d or len(set(made)) != d:
            raise InputError(f"names must have {d} different entries, one per feature, got {made}")
        return made

    def __repr__(self) -> str:
        return f"Graph({self.nodes} nodes, {self.arcs} arcs, features {', '.join(self.names)})"


def check_graph(given: object) -> None:
    """Raise an InputError if a value is not a `Graph`."""
    if not is_given(given, Graph):
        # The message names the module, because the class of networkx is also called Graph.
        package = type(given).__module__.partition(".")[0]
        kind = f"{package}.{type(given).__name__}".removeprefix("builtins.")
        raise InputError(
            f"graph must be a planning.Graph, got {kind}; from_networkx converts a networkx graph"
        )


def weights_hint(graph: Graph, given: Array) -> str:
    """Return a hint for an error message if an array of costs may contain weights instead.

    Otherwise, return an empty string.
    """
    d = graph.features.shape[1]
    hint = f"; if these are weights of the {d} features, pass graph.arc_features @ weights"
    return hint if given.shape == (d,) else ""


def _numbers(name: str, given: ArrayLike) -> Whole:
    array = np.asarray(given)
    # An empty list has the type float, and is rejected later with a better message.
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"{name} must be a list of whole numbers, got {array.dtype} {array.shape}")
    return array.astype(np.int64)


def _labels(nodes: int | Sequence[Hashable] | Labels) -> Labels:
    if isinstance(nodes, int | Integral):
        return Numbered(int(nodes))
    return nodes if isinstance(nodes, Labels) else Labels(list(nodes))


def _adjacency(near: Whole, far: Whole, nodes: int) -> Adjacency:
    # A stable sort keeps the order of indices, which decides ties between paths.
    arcs = np.argsort(near, kind="stable")
    start = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(near, minlength=nodes), out=start[1:])
    return Adjacency(start, np.ascontiguousarray(far[arcs]), arcs)
