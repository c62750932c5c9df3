"""Street graphs from OSMnx, with features from OpenStreetMap tags."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost.planning.frames import Wanted, columns_of, from_pandas
from relaxboost.planning.graphs import Graph
from relaxboost.planning.networks import edges_of

FEATURES = ("length", "travel_time", "highway")
_DEGREES = {"epsg:4326", "epsg:4269", "epsg:4258", "ogc:crs84", "crs84", "wgs84", "wgs 84"}
_SOURCES = {
    "length": "ox.distance.add_edge_lengths(G)",
    "speed_kph": "ox.add_edge_speeds(G, hwy_speeds=...)",
    "travel_time": "ox.add_edge_speeds(G, hwy_speeds=...) and ox.add_edge_travel_times(G)",
}
"""The OSMnx calls that set edge attributes >= 0 on all edges, for error messages about missing
attributes."""


def from_osmnx(G: Any, features: Wanted = FEATURES, *, unseen: str = "refuse") -> Graph:
    """Convert a street network from OSMnx, with features from its tags.

    Features are made from edge attributes as in `from_pandas`, for example ``length``,
    ``highway=primary`` or ``length*highway``. An attribute is numeric if most of its tags are
    numbers. When OSMnx merges ways, it collects their tags in lists. A list of numbers is replaced
    by its mean, and a list of strings by its first string in alphabetical order, because OSMnx's
    order changes from run to run. Missing text becomes ``missing``. `Graph.notes` lists what was
    replaced or left out.

    To add travel times in seconds, call ``ox.add_edge_speeds(G)`` and then
    ``ox.add_edge_travel_times(G)``, which use speed limits and the mean speeds of road classes.

    Coordinates in degrees are converted to metres from the middle of the map. Self-loops are left
    out, because no shortest path takes them. Parallel arcs keep their OSMnx keys.

    Parameters
    ----------
    G : networkx.MultiDiGraph
        The street network, with a ``crs``, node coordinates ``x`` and ``y``, and the requested
        attributes on each edge.
    features : sequence of str, str, Graph or LearnedCosts
        The edge attributes to use, or a graph or learned costs with the same features.
    unseen : {"refuse", "ignore"}
        The treatment of unknown text values, as in `from_pandas`.

    Raises
    ------
    InputError
        If the graph is undirected or has no ``crs``, if a node lacks coordinates, if no edge has a
        requested attribute, or if an edge lacks the number of a numeric attribute. Other errors are
        those of `from_pandas`.

    References
    ----------
    Boeing (2017), OSMnx: new methods for acquiring, constructing, analyzing, and visualizing
    complex street networks.
    """
    # An undirected graph would lose the one-way streets.
    every = edges_of(G)
    if not G.is_directed():
        raise InputError(
            f"from_osmnx needs a MultiDiGraph from OSMnx, got {type(G).__name__}; use "
            "from_networkx for other graphs"
        )
    crs = G.graph.get("crs")
    if crs is None:
        raise InputError(
            "the graph does not specify the unit of its coordinates; set "
            'G.graph["crs"] = "epsg:4326" for degrees, or G.graph["crs"] = "metres"'
        )
    # A DiGraph has no keys, and gets the key 0.
    edges = [(*edge[:2], edge[2] if len(edge) == 4 else 0, edge[-1]) for edge in every]
    edges = [edge for edge in edges if edge[0] != edge[1]]
    table = _table(edges, features)
    nodes = _coordinates(G, crs)
    made = from_pandas(table, "from", "to", features, edge="key", nodes=nodes, unseen=unseen)
    loops = len(every) - len(edges)
    made.notes = (*([f"self-loops left out: {loops}"] if loops else []), *_lists(table, edges))
    return made


def _table(edges: list[tuple[Any, ...]], features: Wanted) -> Any:
    """Return a table of streets with the attributes that the features need."""
    import pandas as pd

    names = [edge[:3] for edge in edges]
    # Errors name an edge by its ends and key; a MultiIndex could not hold all labels.
    index = pd.Index(names, tupleize_cols=False)
    table = pd.DataFrame(names, index, columns=["from", "to", "key"])
    for name in columns_of(features):
        table[name] = _column(name, names, [edge[3].get(name) for edge in edges])
    return table


def _lists(table: Any, edges: list[tuple[Any, ...]]) -> list[str]:
    """Return a note for each text attribute that is a list on some edges."""
    notes = []
    for name in table.columns[3:]:
        several = sum(isinstance(_list(edge[3].get(name)), list) for edge in edges)
        if several and table[name].dtype.kind != "f":
            notes.append(f"{name} is a list on {several} edges; the first in the alphabet counts")
    return notes


def _coordinates(G: Any, crs: Any) -> Any:
    import pandas as pd

    degrees = getattr(crs, "is_geographic", str(crs).lower() in _DEGREES)
    labels = pd.Index(list(G.nodes), tupleize_cols=False)
    at = [[_number(data.get("x")), _number(data.get("y"))] for _, data in G.nodes(data=True)]
    return pd.DataFrame(at, labels, columns=["lon", "lat"] if degrees else ["x", "y"])


def _column(name: str, edges: list[tuple[Any, ...]], values: list[Any]) -> Any:
    """Return an edge attribute as an array of numbers, or as a list of strings.

    The list `values` contains the tag of each edge. The list `edges` contains the ends and the key
    of each edge, for error messages.
    """
    numbers = np.array(list(map(_number, values)))
    known = sum(not _is_missing(value) for value in values)
    if name in _SOURCES:
        wrong = ~(np.isfinite(numbers) & (numbers >= 0.0))
        if wrong.any():
            place = int(wrong.argmax())
            if _is_missing(values[place]):
                raise InputError(f"edge {edges[place]!r} has no {name}; call {_SOURCES[name]}")
            raise InputError(
                f"edge {edges[place]!r} has the {name} {values[place]!r}, which must be a number "
                f">= 0; correct the {name}"
            )
        return numbers
    if known == 0:
        raise InputError(f"no edge has the attribute {name!r}; remove it from features")
    wrong = ~np.isfinite(numbers)
    # An attribute is numeric if most of its tags are numbers, because a few tags in OpenStreetMap
    # are often malformed.
    if 2 * (~wrong).sum() <= known:
        return list(map(_tag, values))
    if wrong.any():
        place = int(wrong.argmax())
        raise InputError(
            f"the attribute {name!r} is not a number on {wrong.sum()} of {wrong.size} edges, such "
            f"as {values[place]!r} on {edges[place]!r}; store a number on these edges, or remove "
            f"{name!r} from features"
        )
    return numbers


def _list(value: Any) -> Any:
    # GraphML files hold lists as text, such as "['a', 'b']".
    if isinstance(value, str) and value.startswith("["):
        try:
            return ast.literal_eval(value)
        except (ValueError, SyntaxError):
            return value
    return value


def _is_missing(value: Any) -> bool:
    import pandas as pd

    return pd.api.types.is_scalar(value) and bool(pd.isna(value) or value == "")


def _tag(value: Any) -> str:
    """Return a tag as a string: "missing" if there is none, and the first in alphabetical order of
    a list."""
    value = _list(value)
    if isinstance(value, list):
        # OSMnx makes lists of sets, in an order that changes from run to run.
        value = min(map(str, value), default=None)
    return "missing" if _is_missing(value) else str(value)


def _number(value: Any) -> float:
    """Return a tag as a number: nan if it is not a number, and the mean of a list."""
    value = _list(value)
    try:
        if isinstance(value, list):
            return float(np.mean([float(x) for x in value or ["nan"]]))
        return float(value)
    except (OverflowError, TypeError, ValueError):
        return float("nan")
