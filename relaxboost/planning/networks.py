"""Conversions between networkx graphs and `Graph`."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError, few
from relaxboost._core.names import did_you_mean
from relaxboost.planning.costs import LearnedCosts
from relaxboost.planning.frames import Wanted, columns_of, encoded
from relaxboost.planning.graphs import Graph
from relaxboost.planning.labels import Labels
from relaxboost.planning.plans import arc_costs


def from_networkx(
    G: Any,
    features: Wanted | None = None,
    *,
    names: Sequence[str] | None = None,
    position: str | Sequence[str] | Mapping[Hashable, Any] | None = None,
    unseen: str = "refuse",
) -> Graph:
    """Convert a networkx graph, with features from its edge attributes.

    Nodes keep their names as labels, and arcs are in the order of ``G.edges``. Edge k of an
    undirected graph becomes arc 2k and, in the other direction, arc 2k + 1. Both arcs share a site,
    and therefore have equal costs. In a multigraph, ``graph.arc(u, v, key)`` returns the index of
    an arc for ``graph.path(arcs=...)``.

    Parameters
    ----------
    G : networkx Graph, DiGraph, MultiGraph or MultiDiGraph
        The networkx graph, which must not have self-loops.
    features : sequence of str, str, Graph or LearnedCosts, optional
        The edge attributes to use, or a graph or learned costs with the same features. Features are
        made as in `from_pandas`: an attribute has a number on every edge, or a text on every edge,
        which becomes one feature for each text, such as ``highway=primary``. Attributes joined by
        ``*`` are multiplied: ``"slope*crossings"``. For other features, such as the height of the
        node that an edge enters, use ``nx.set_edge_attributes``. By default, every arc has the
        single feature 1.
    names : sequence of str, optional
        The feature names. By default, they are the attribute names.
    position : str, pair of str, or mapping, optional
        A node attribute with values (x, y), two attributes such as ``("x", "y")``, or a dict from
        nodes to (x, y).
    unseen : {"refuse", "ignore"}
        The treatment of unknown texts, as in `from_pandas`.

    Raises
    ------
    InputError
        If the graph has no edges, if an edge is a self-loop, or if an attribute is missing, is not
        finite, or is neither a number nor a text.
    """
    from scipy.sparse import csr_array

    edges = edges_of(G)
    X, default = _encoded(G, edges, features, unseen)
    B = None
    if not G.is_directed():
        n = 2 * len(edges)
        # The arcs 2k and 2k + 1 share the site k.
        B = csr_array((np.ones(n), np.arange(n) // 2, np.arange(n + 1)))
        edges = [edge for u, v, *rest in edges for edge in ((u, v, *rest), (v, u, *rest))]
    labels = Labels(G.nodes)
    tail, head = (np.array([labels.number(edge[end]) for edge in edges]) for end in (0, 1))
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
    """Convert a graph to a networkx DiGraph, or to a MultiDiGraph if it has parallel arcs.

    Parameters
    ----------
    graph : Graph
        The graph to convert.
    costs : array of shape (E,), or learned costs, optional
        The cost of each arc. If learned costs are passed, they are evaluated on this graph.

    Returns
    -------
    networkx.DiGraph or networkx.MultiDiGraph
        The nodes are the labels, with the attribute ``pos`` if the graph has positions. Edge
        attributes are the features by name, the arc index ``arc``, and ``cost`` if costs were
        given. Edge keys are the `keys` of the graph, or 0, 1, ...
    """
    import networkx as nx

    taken = {"arc", "cost"} & set(graph.names)
    if taken:
        raise InputError(
            f"a feature has the name {taken.pop()!r}, which to_networkx needs for another "
            "attribute of the edges; rename the feature"
        )
    data = dict(zip(graph.names, graph.arc_features.T.tolist(), strict=True))
    data["arc"] = list(range(graph.arcs))
    costs = costs.costs(graph) if isinstance(costs, LearnedCosts) else costs
    if costs is not None:
        data["cost"] = arc_costs(graph, costs).tolist()
    # A DiGraph would keep only one of several parallel arcs.
    many = np.unique(graph.tail * graph.nodes + graph.head).size < graph.arcs
    G = nx.MultiDiGraph() if many else nx.DiGraph()
    # A graph without coordinates has an empty position.
    at = [()] * graph.nodes if graph.position is None else map(tuple, graph.position.tolist())
    G.add_nodes_from((graph.label(v), {"pos": xy} if xy else {}) for v, xy in enumerate(at))
    # If the key is None, networkx numbers parallel edges 0, 1, and so on.
    keys = graph.keys or (None,) * graph.arcs
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


def _encoded(
    G: Any, edges: list[tuple[Any, ...]], features: Wanted | None, unseen: str
) -> tuple[Array | None, list[str] | None]:
    """Return the features of each edge and their names, or None and None if none were requested."""
    import pandas as pd

    if features is None:
        return None, None
    known = dict.fromkeys(str(name) for edge in edges for name in edge[-1])
    # Errors name an edge by its ends and key; a MultiIndex could not hold all labels.
    table = pd.DataFrame(index=pd.Index([edge[:-1] for edge in edges], tupleize_cols=False))
    for name in columns_of(features, known):
        if name not in known:
            raise _no_attribute(G, name, list(known))
        values: Any = [edge[-1].get(name) for edge in edges]
        if not all(isinstance(value, str) for value in values):
            values = np.array(_checked_numbers(name, edges, values), dtype=np.float64)
        table[name] = values
    return encoded(table, features, unseen)


def _no_attribute(G: Any, name: str, known: list[str]) -> InputError:
    if any(name in data for _, data in G.nodes(data=True)):
        return InputError(
            f"no edge has an attribute {name!r}, but nodes have it; copy it to the edges with "
            f"nx.set_edge_attributes(G, {{edge: G.nodes[edge[1]][{name!r}] for edge in G.edges}}, "
            f"{name!r})"
        )
    return InputError(
        f"no edge has an attribute {name!r}; edges have {few(known, 8) or 'no attributes'}"
        f"{did_you_mean(name, known, 0.6)}"
    )


def _checked_numbers(name: str, edges: list[tuple[Any, ...]], values: list[Any]) -> list[Any]:
    """Return the values of an attribute, or raise an InputError at a value that is not a number.

    Missing values are reported later, when the features are made.
    """
    for edge, value in zip(edges, values, strict=True):
        if not isinstance(value, Real | np.bool_ | None):
            remedy = "compute numbers, and store them with nx.set_edge_attributes"
            if isinstance(value, str):
                remedy = "write a number, or a text on every edge"
            raise InputError(f"attribute {name!r} of edge {edge[:-1]!r} is {value!r}; {remedy}")
    return values


def _is_number(value: Any) -> bool:
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
