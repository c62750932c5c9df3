"""Graphs from networkx, and back."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost.planning.costs import LearnedCosts
from relaxboost.planning.graphs import Graph
from relaxboost.planning.plans import arc_costs

Attributes = Sequence[tuple[Hashable, Mapping[str, Any]]]

AT = ("entering", "leaving", "mean")
"""Which end of an arc gives it the features of a node."""


def from_networkx(
    G: Any,
    features: str | Sequence[str] | None = None,
    node_features: str | Sequence[str] | None = None,
    *,
    names: Sequence[str] | None = None,
    at: str = "entering",
    position: str | Sequence[str] | Mapping[Hashable, Any] | None = None,
) -> Graph:
    """Return the graph of a networkx one, with features from its attributes.

    Nodes keep their names as labels. Arcs are in the order of ``G.edges``; an edge of an
    undirected graph becomes two arcs, 2k there and 2k + 1 back, which share a site: their features
    and, whatever is learned, their cost. ``graph.arc(u, v, key)`` finds the number of an arc, for
    ``graph.path(arcs=...)`` in a multigraph.

    Parameters
    ----------
    G : networkx Graph, DiGraph, MultiGraph or MultiDiGraph
        Without self-loops.
    features : sequence of str, or str, optional
        Edge attributes, each a number, a dict of numbers (with the same keys on every edge) or an
        array of numbers (of the same length). With none of nodes either, the one feature is 1.
    node_features : sequence of str, or str, optional
        Node attributes likewise. They are added to the arcs, after the edge features.
    names : sequence of str, optional
        Of all features; by default those of attributes and dict keys, ``"x[0]"`` for arrays.
    at : {"entering", "leaving", "mean"}
        An arc has the node features of its head, of its tail, or the mean of both. For an
        undirected graph the first two differ with the direction, so that its two arcs are then
        sites of their own.
    position : str, pair of str, or mapping, optional
        A node attribute that holds (x, y), two attributes, or a dict of (x, y) by node.

    Raises
    ------
    InputError
        For a graph without edges, a self-loop, and the first edge or node where an attribute is
        missing or no finite number.
    """
    edges = edges_of(G)
    loops = [edge[:-1] for edge in edges if edge[0] == edge[1]]
    if loops:
        raise InputError(
            f"edge {loops[0]!r} is a self-loop, which no shortest path takes; "
            f"remove it ({len(loops)} in all): G.remove_edges_from(list(nx.selfloop_edges(G)))"
        )
    if at not in AT:
        raise InputError(f"at must be one of {', '.join(AT)}, got {at!r}")
    if not G.is_directed():
        edges = [edge for u, v, *rest in edges for edge in ((u, v, *rest), (v, u, *rest))]
    labels = list(G.nodes)
    number = {label: place for place, label in enumerate(labels)}
    tail, head = (np.array([number[edge[end]] for edge in edges]) for end in (0, 1))
    of_edges, first = _table("edge", [(edge[:-1], edge[-1]) for edge in edges], features)
    of_nodes, last = _table("node", list(G.nodes(data=True)), node_features)
    if of_nodes is not None:
        here, there = of_nodes[tail], of_nodes[head]
        of_nodes = {"entering": there, "leaving": here, "mean": 0.5 * here + 0.5 * there}[at]
    parts, sites = [part for part in (of_edges, of_nodes) if part is not None], None
    if not G.is_directed() and (of_nodes is None or at == "mean"):
        from scipy.sparse import csr_array

        parts, site = [part[::2] for part in parts], np.repeat(np.arange(len(edges) // 2), 2)
        sites = csr_array((np.ones(site.size), site, np.arange(site.size + 1)))
    if names is None and parts:
        names = first + [f"node {name}" if name in first else name for name in last]
    return Graph(
        tail,
        head,
        np.concatenate(parts, axis=1) if parts else None,
        names=names,
        sites=sites,
        nodes=labels,
        position=_position(G, position),
        keys=[edge[2] for edge in edges] if G.is_multigraph() else None,
    )


def to_networkx(graph: Graph, costs: ArrayLike | LearnedCosts | None = None) -> Any:
    """Return a networkx DiGraph, or a MultiDiGraph where arcs are parallel.

    Parameters
    ----------
    graph : Graph
    costs : array of shape (E,), or a fit, optional
        One an arc; learned costs are those of this graph.

    Returns
    -------
    networkx.DiGraph or networkx.MultiDiGraph
        Nodes are the labels, with attribute ``pos`` if the graph has positions. Edges have each
        feature by its name, ``arc``, the number of the arc, and ``cost`` if there are costs. Both
        arcs of an undirected edge are there. Keys are those of the graph, or 0, 1, ...
    """
    import networkx as nx

    taken = {"arc", "cost"} & set(graph.names)
    if taken:
        raise InputError(
            f"a feature is called {taken.pop()!r}, as an attribute of edges is; rename"
        )
    data = dict(zip(graph.names, graph.arc_features.T.tolist(), strict=True))
    data |= {"arc": list(range(graph.arcs))}
    costs = costs.costs(graph) if isinstance(costs, LearnedCosts) else costs
    data |= {} if costs is None else {"cost": arc_costs(graph, costs).tolist()}
    many = np.unique(graph.tail * graph.nodes + graph.head).size < graph.arcs
    G = nx.MultiDiGraph() if many else nx.DiGraph()
    at = [()] * graph.nodes if graph.position is None else map(tuple, graph.position.tolist())
    G.add_nodes_from((graph.label(v), {"pos": xy} if xy else {}) for v, xy in enumerate(at))
    keys = graph.keys or (None,) * graph.arcs  # of None networkx makes 0, 1, ...
    for u, v, key, *values in zip(graph.tail, graph.head, keys, *data.values(), strict=True):
        which = (key,) if many else ()
        edge = (graph.label(u), graph.label(v), *which, dict(zip(data, values, strict=True)))
        G.add_edges_from([edge])
    return G


def edges_of(G: Any) -> list[tuple[Any, ...]]:
    """Return the edges of a networkx graph with their data, or raise for what is none."""
    if not all(hasattr(G, name) for name in ("nodes", "edges", "is_directed", "is_multigraph")):
        raise InputError(f"a networkx graph is needed, got {type(G).__name__}")
    edges = list(G.edges(data=True, **({"keys": True} if G.is_multigraph() else {})))
    if all(edge[0] == edge[1] for edge in edges):
        raise InputError(f"the networkx graph has {len(G.nodes)} nodes and no edges to plan along")
    return edges


def _table(
    kind: str, things: Attributes, wanted: str | Sequence[str] | None
) -> tuple[Array | None, list[str]]:
    """Return an array of attributes, one row a thing, and names for its columns."""
    import pandas as pd

    if wanted is None:
        return None, []
    asked = [wanted] if isinstance(wanted, str) else list(wanted)
    if not asked or not all(isinstance(name, str) for name in asked):
        raise InputError(f"{kind} features must be names of attributes, got {wanted!r}")
    names: list[str] = []
    columns = []
    for name in asked:
        parts = [_parts(name, data.get(name)) for _, data in things]
        table = pd.DataFrame(parts, dtype=object)
        bad = np.argwhere(~table.map(_is_number).to_numpy())
        if bad.size:
            (row, column), (thing, data) = bad[0], things[bad[0][0]]
            part = "" if table.columns[column] == name else f" in {table.columns[column]}"
            raise InputError(
                f"attribute {name!r} of {kind} {thing!r} is {table.iloc[row, column]!r}{part}; "
                f"features must be finite numbers: fill it in, or leave the {kind} out (which has "
                f"{', '.join(map(str, data)) or 'no attributes'})"
            )
        names += map(str, table.columns)
        columns.append(table.to_numpy(np.float64))
    return np.concatenate(columns, axis=1), names


def _parts(name: str, value: Any) -> dict[Hashable, Any]:
    """Return what an attribute holds, a number, a dict or an array, by names for columns."""
    if isinstance(value, Mapping):
        return dict(value)
    if np.ndim(value) == 1:
        return {f"{name}[{place}]": part for place, part in enumerate(value)}
    return {name: value.item() if isinstance(value, np.ndarray) and not value.ndim else value}


def _is_number(value: Any) -> bool:
    # What is not of plain numbers of Python and NumPy, such as Decimal, has to say it is real.
    return isinstance(value, Real | np.bool_) and math.isfinite(value)


def _position(G: Any, given: Any) -> Array | None:
    """Return (x, y) for each node."""
    if given is None:
        return None
    made = []
    for node, data in G.nodes(data=True):
        if isinstance(given, str | Mapping):
            place: Any = data.get(given) if isinstance(given, str) else given.get(node)
        else:
            place = [data.get(name) for name in given]
        if np.shape(place) != (2,) or not all(map(_is_number, place)):
            raise InputError(f"node {node!r} has no position (x, y) under {given!r}; fill it in")
        made.append(place)
    return np.array(made, dtype=np.float64)
