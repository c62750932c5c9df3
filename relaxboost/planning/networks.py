"""Conversions from networkx graphs to `Graph`, and from `Graph` to networkx."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError, few
from relaxboost._core.names import did_you_mean
from relaxboost.planning.costs import LearnedCosts
from relaxboost.planning.graphs import Graph
from relaxboost.planning.labels import Labels
from relaxboost.planning.plans import arc_costs

AT = ("entering", "leaving", "mean")
"""The nodes from which an arc gets node features: the node that the arc enters, the node that it
leaves, or the mean of both."""


def from_networkx(
    G: Any,
    features: str | Sequence[str] | None = None,
    node_features: str | Sequence[str] | None = None,
    *,
    names: Sequence[str] | None = None,
    at: str = "entering",
    position: str | Sequence[str] | Mapping[Hashable, Any] | None = None,
) -> Graph:
    """Return the graph of a networkx graph, with features from its attributes.

    Nodes keep their names as labels. Arcs are in the order of ``G.edges``. An edge k of an
    undirected graph becomes the arc 2k and, in the other direction, the arc 2k + 1. Both arcs share
    a site, and therefore have equal costs. In a multigraph, ``graph.arc(u, v, key)`` returns the
    index of an arc, which ``graph.path(arcs=...)`` accepts.

    Parameters
    ----------
    G : networkx Graph, DiGraph, MultiGraph or MultiDiGraph
        The networkx graph, which must not have self-loops.
    features : sequence of str, or str, optional
        Edge attributes, each a number, a dict of numbers (with the same keys on every edge) or an
        array of numbers (of the same length). Attributes joined by ``*`` are multiplied:
        ``"slope*crossings"``. An attribute whose name itself contains ``*`` can be given by its
        full name. If neither edge nor node features are given, every arc has the single feature 1.
    node_features : sequence of str, or str, optional
        Node attributes of the same kinds, whose features follow the edge features.
    names : sequence of str, optional
        The names of all features. By default they are the names of attributes and dict keys, and
        ``"x[0]"`` for the entries of an array.
    at : {"entering", "leaving", "mean"}
        An arc has the node features of its head (``"entering"``), of its tail (``"leaving"``), or
        the mean of both. With the first two, each arc of an undirected edge is its own site.
    position : str, pair of str, or mapping, optional
        A node attribute that contains (x, y), two attributes such as ``("x", "y")``, or a dict from
        nodes to (x, y).

    Raises
    ------
    InputError
        If the graph has no edges, if an edge is a self-loop, or if an attribute is missing or not a
        finite number.
    """
    from scipy.sparse import csr_array

    edges = edges_of(G)
    if at not in AT:
        raise InputError(f"at must be one of {', '.join(AT)}, got {at!r}")
    # Both arcs of an edge follow each other, so that they can share a site.
    if not G.is_directed():
        edges = [edge for u, v, *rest in edges for edge in ((u, v, *rest), (v, u, *rest))]
    labels = Labels(G.nodes)
    tail, head = (np.array([labels.number(edge[end]) for edge in edges]) for end in (0, 1))
    X, default, paired = _features(G, edges, tail, head, features, node_features, at)
    n = len(edges)
    # Paired arcs 2k and 2k + 1 share the site k.
    B = csr_array((np.ones(n), np.arange(n) // 2, np.arange(n + 1))) if paired else None
    return Graph(
        tail,
        head,
        X,
        names=default if names is None else names,
        sites=B,
        nodes=labels,
        position=None if position is None else _positions(G, position),
        keys=[edge[2] for edge in edges] if G.is_multigraph() else None,
    )


def to_networkx(graph: Graph, costs: ArrayLike | LearnedCosts | None = None) -> Any:
    """Return a networkx DiGraph, or a MultiDiGraph if some arcs are parallel.

    Parameters
    ----------
    graph : Graph
    costs : array of shape (E,), or learned costs, optional
        The cost of each arc. If learned costs are passed, they are evaluated on this graph.

    Returns
    -------
    networkx.DiGraph or networkx.MultiDiGraph
        The nodes are the labels, with the attribute ``pos`` if the graph has positions. The
        attributes of an edge are its features by name, the index ``arc`` of the arc, and ``cost``
        if costs were given. Edge keys are the `keys` of the graph, or 0, 1, ...
    """
    import networkx as nx

    taken = {"arc", "cost"} & set(graph.names)
    if taken:
        raise InputError(
            f"a feature has the name {taken.pop()!r}, but the edges also get another attribute "
            "with this name; rename the feature"
        )
    data = dict(zip(graph.names, graph.arc_features.T.tolist(), strict=True))
    data["arc"] = list(range(graph.arcs))
    costs = costs.costs(graph) if isinstance(costs, LearnedCosts) else costs
    if costs is not None:
        data["cost"] = arc_costs(graph, costs).tolist()
    # A DiGraph would keep only one of several parallel arcs.
    many = np.unique(graph.tail * graph.nodes + graph.head).size < graph.arcs
    G = nx.MultiDiGraph() if many else nx.DiGraph()
    # An empty position stands for none.
    at = [()] * graph.nodes if graph.position is None else map(tuple, graph.position.tolist())
    G.add_nodes_from((graph.label(v), {"pos": xy} if xy else {}) for v, xy in enumerate(at))
    keys = graph.keys or (None,) * graph.arcs  # networkx replaces None by 0, 1, ...
    for u, v, key, *values in zip(graph.tail, graph.head, keys, *data.values(), strict=True):
        which = (key,) if many else ()
        edge = (graph.label(u), graph.label(v), *which, dict(zip(data, values, strict=True)))
        G.add_edges_from([edge])
    return G


def edges_of(G: Any) -> list[tuple[Any, ...]]:
    """Return the edges of a networkx graph with their attributes, or raise an InputError."""
    if not all(hasattr(G, name) for name in ("nodes", "edges", "is_directed", "is_multigraph")):
        raise InputError(f"G must be a networkx graph, got {type(G).__name__}")
    # Only multigraphs have keys.
    edges = list(G.edges(data=True, **({"keys": True} if G.is_multigraph() else {})))
    if all(edge[0] == edge[1] for edge in edges):
        raise InputError(f"the networkx graph has {len(G.nodes)} nodes and no edges to plan along")
    return edges


def _features(
    G: Any,
    edges: list[tuple[Any, ...]],
    tail: Array,
    head: Array,
    features: str | Sequence[str] | None,
    node_features: str | Sequence[str] | None,
    at: str,
) -> tuple[Array | None, list[str] | None, bool]:
    """Return features of sites, their names, and whether both arcs of an edge share a site."""
    named = [(edge[:-1], edge[-1]) for edge in edges]
    of_edges, first = _Attributes("edge", named).columns(features)
    of_nodes, last = _Attributes("node", list(G.nodes(data=True))).columns(node_features)
    here = of_nodes[tail]
    there = of_nodes[head]
    ends = {"entering": there, "leaving": here, "mean": 0.5 * here + 0.5 * there}
    X = np.concatenate([of_edges, ends[at]], axis=1)
    # Both arcs of an undirected edge share a site, unless the direction decides their features.
    paired = not G.is_directed() and (not last or at == "mean")
    if not X.size:
        return None, None, paired
    # Edges and nodes may have attributes of the same name, and names must differ.
    names = first + [f"node {name}" if name in first else name for name in last]
    return X[::2] if paired else X, names, paired


class _Attributes:
    """The attributes of the edges of a networkx graph, or the attributes of its nodes."""

    def __init__(self, kind: str, things: Sequence[tuple[Hashable, Mapping[str, Any]]]) -> None:
        self.kind = kind
        self.things = things

    @cached_property
    def known(self) -> dict[str, None]:
        """The names of all attributes."""
        return dict.fromkeys(str(name) for _, data in self.things for name in data)

    def columns(self, wanted: str | Sequence[str] | None) -> tuple[Array, list[str]]:
        """Return the requested features, with one row per edge or node, and their names."""
        if wanted is None:
            return np.empty((len(self.things), 0)), []
        features = [wanted] if isinstance(wanted, str) else list(wanted)
        if not features or not all(isinstance(name, str) for name in features):
            raise InputError(f"the {self.kind} features must be attribute names, got {wanted!r}")
        names: list[str] = []
        columns = []
        for feature in features:
            factors = [feature] if feature in self.known else feature.split("*")
            tables = [self._table(factor, feature) for factor in factors]
            names += map(str, tables[0].columns)
            columns.append(np.prod([table.to_numpy(np.float64) for table in tables], axis=0))
        return np.concatenate(columns, axis=1), names

    def _table(self, name: str, feature: str) -> Any:
        """Return an attribute as a data frame. The attribute is the feature, or a factor of it."""
        import pandas as pd

        kind = self.kind
        self._check_complete(name, "" if feature == name else f" of the feature {feature!r}")
        # A frame aligns dicts by their keys, so that a missing key becomes nan.
        rows = [_parts(name, data.get(name)) for _, data in self.things]
        table = pd.DataFrame(rows, dtype=object)
        bad = np.argwhere(~table.map(_is_number).to_numpy())
        if bad.size:
            row, column = bad[0]
            what = f"attribute {name!r} of {kind} {self.things[row][0]!r} is"
            value = table.iloc[row, column]
            part = f" in {table.columns[column]}"
            if table.columns[column] == name:
                _check_text(what, value)
                part = ""
            raise InputError(
                f"{what} {value!r}{part}; features must be finite numbers: fill in a number, or "
                f"leave the {kind} out"
            )
        if feature != name:
            if table.shape[1] > 1:
                raise InputError(
                    f"the feature {feature!r} multiplies single numbers, but the attribute "
                    f"{name!r} of {kind}s contains several numbers; store the product as an "
                    "attribute"
                )
            table.columns = [feature]
        return table

    def _check_complete(self, name: str, of: str) -> None:
        kind = self.kind
        if name not in self.known:
            raise InputError(
                f"no {kind} has an attribute {name!r}{of}; {kind}s have "
                f"{few(list(self.known), 8) or 'no attributes'}"
                f"{did_you_mean(name, self.known, 0.6)}"
            )
        # Both arcs of an undirected edge have the same dict.
        every = {id(data) for _, data in self.things}
        gaps = {id(data): thing for thing, data in self.things if data.get(name) is None}
        if gaps:
            raise InputError(
                f"attribute {name!r}{of} is missing for {len(gaps)} of {len(every)} {kind}s, such "
                f"as {next(iter(gaps.values()))!r}; fill in values, or leave these {kind}s out"
            )


def _check_text(what: str, value: Any) -> None:
    if not isinstance(value, str):
        return
    try:
        float(value)
    except ValueError:
        raise InputError(
            f"{what} the text {value!r}; map each class to a number with a dict, {{{value!r}: 1, "
            "'other': 0}, or make the graph from a table with from_pandas, which converts text"
        ) from None
    raise InputError(f"{what} the text {value!r}; convert the text to a number with float")


def _parts(name: str, value: Any) -> dict[Hashable, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    # Arrays and lists have no names for their entries.
    if np.ndim(value) == 1:
        return {f"{name}[{place}]": part for place, part in enumerate(value)}
    return {name: value.item() if isinstance(value, np.ndarray) and not value.ndim else value}


def _is_number(value: Any) -> bool:
    # Complex numbers, texts and None are not accepted as features.
    return isinstance(value, Real | np.bool_) and math.isfinite(value)


def _positions(G: Any, given: Any) -> Array:
    if not isinstance(given, str | Mapping):
        given = tuple(given)
        if not all(isinstance(name, str) for name in given):
            raise InputError(
                "position must be a node attribute that contains (x, y), two attributes such as "
                '("x", "y"), or a dict from nodes to (x, y), such as dict(zip(G.nodes, array))'
            )
    made = []
    for node, data in G.nodes(data=True):
        place = _place(given, node, data)
        if np.shape(place) != (2,) or not all(map(_is_number, place)):
            have = few([str(name) for name in data], 8) or "no attributes"
            hint = '; pass position=("x", "y")' if {"x", "y"} <= set(data) else ""
            raise InputError(
                f"node {node!r} has no position (x, y) of two finite numbers under {given!r}; it "
                f"has {have}{hint or '; add the position'}"
            )
        made.append(place)
    return np.array(made, dtype=np.float64)


def _place(given: Any, node: Hashable, data: Mapping[str, Any]) -> Any:
    if isinstance(given, Mapping):
        return given.get(node)
    return data.get(given) if isinstance(given, str) else [data.get(name) for name in given]
