"""Graphs from pandas: a table with a row an edge."""

from __future__ import annotations

import re
import warnings
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError, few
from relaxboost.planning.costs import LearnedCosts
from relaxboost.planning.graphs import Graph
from relaxboost.planning.labels import Labels
from relaxboost.planning.tables import at, called, check_table, numbers

CLASSES = 100
"""Different values of a column of text at most; where there are more they are names or numbers."""
_HIGH = 1e6  # no length, count or capacity, but what OpenStreetMap calls things
_ID = re.compile(r"(^|_|osm)id$", re.IGNORECASE)
MANY = 10
"""Values that a message shows at most, and rows at least that do not differ by chance."""
_EARTH = 6_371_009.0  # metres, the mean radius
_DEGREE = (2e4, 5e5)  # metres of road a degree: 111 km, less towards the poles, more with bends

Wanted = str | Sequence[str] | Graph | LearnedCosts
"""Features by the names of their columns, or those of a graph or of learned costs."""


def from_pandas(
    edges: Any,
    source: str = "u",
    target: str = "v",
    features: Wanted | None = None,
    *,
    edge: str | None = None,
    nodes: Any = None,
    unseen: str = "refuse",
) -> Graph:
    """Return the graph of a table with a row for each arc, from its source to its target.

    A column of numbers is a feature of its name. One of text or categories becomes a feature for
    each of its values, 1 where it has the value and else 0: ``highway=primary``. Columns joined by
    ``*`` are multiplied: ``length*highway=primary`` are the metres that are primary roads. Though
    ``*`` and ``=`` are reserved for this, a column that has them is found by its whole name.

    Parameters
    ----------
    edges : pandas.DataFrame
        A street that is open both ways has two rows.
    source, target : str
        The columns of what the nodes are called.
    features : sequence of str, str, Graph or LearnedCosts, optional
        Columns, or one class of text by its name; by default all columns that have no other part,
        with a warning of whole numbers that look like names of edges, as ``osmid``. A graph or
        learned costs stand for their own features, with the values of text that they know.
    edge : str, optional
        The column of what edges are called; the graph's `keys`.
    nodes : pandas.DataFrame, optional
        Coordinates; its index is what nodes are called. Columns ``x`` and ``y`` are taken as they
        are; ``lon`` and ``lat`` are degrees, and become metres from the middle.
    unseen : {"refuse", "ignore"}
        What to do with a value of text that a graph or costs given as `features` do not know. If
        ignored, all its features are 0.

    Returns
    -------
    Graph
        Arcs are in the order of the rows; parallel ones are allowed.

    Raises
    ------
    InputError
        For a table that is empty or lacks a column; with its row for what is missing or no finite
        number, a self-loop, a node without coordinates, a value not known; for text of more than
        100 values; for ``x`` and ``y`` in degrees beside lengths in metres.
    """
    check_table("edges", edges, [source, target] if edge is None else [source, target, edge])
    ends = [edges[source].tolist(), edges[target].tolist()]
    for row, u, v in zip(edges.index, *ends, strict=True):
        try:
            hash((u, v))
        except TypeError:
            raise InputError(
                f"{at('edges', edges, row)}: {u!r} -> {v!r}; a node is called by what does not "
                "change: a tuple in place of a list"
            ) from None
        if u == v:
            raise InputError(
                f"{at('edges', edges, row)}: {u!r} -> {v!r} is a self-loop, which no shortest path "
                "takes; leave such rows out"
            )
    others = []
    if features is None:
        others = [name for name in edges.columns if name not in (source, target, edge)]
        features = [str(name) for name in others]
    X, names = _encoded(edges, features, unseen)
    position = None if nodes is None else _positions(nodes)
    labels = Labels(list(dict.fromkeys(ends[0] + ends[1])) if nodes is None else list(nodes.index))
    try:
        tail, head = ([labels.number(end) for end in some] for some in ends)
    except InputError as error:
        raise InputError(
            f"{called('nodes', nodes)}: {error}; add it to the index, or leave its edges out"
        ) from None
    keys = None if edge is None else edges[edge].tolist()
    graph = Graph(tail, head, X, nodes=labels, names=names, position=position, keys=keys)
    if nodes is not None and "lon" not in nodes.columns:
        _check_units(graph, called("nodes", nodes))
    for name in others:
        _warn_of_names(called("edges", edges), edges[name])
    return graph


def _warn_of_names(edges: str, column: Any) -> None:
    """Warn of whole numbers that are called an id, or of which each row has one of its own."""
    if column.dtype.kind not in "iu":
        return
    close = column.max() - column.min() < 2 * len(column) or column.min() >= _HIGH
    if _ID.search(str(column.name)) or (len(column) >= MANY and column.is_unique and close):
        warnings.warn(
            f"{edges}: the whole numbers of column {column.name!r} look like names of edges, and "
            "are taken for a feature; say which columns are features, with features=[...]",
            stacklevel=3,
        )


def columns_of(features: Wanted, known: Iterable[Hashable] = ()) -> list[str]:
    """Return the columns that features are made of, each once, where these are known."""
    return list(dict.fromkeys(c for name in _terms(features) for c in _parts(name, known)[0]))


def _terms(features: Wanted) -> list[str]:
    """Return the names of the features that are wanted."""
    if isinstance(features, LearnedCosts):
        return list(features.features)
    if isinstance(features, Graph):
        return list(features.names)
    made = [features] if isinstance(features, str) or not np.iterable(features) else list(features)
    if not all(isinstance(name, str) for name in made):
        raise InputError(f"features must be names of columns, a graph or costs, got {features!r}")
    return made


def _parts(name: str, known: Iterable[Hashable]) -> tuple[list[str], str | None]:
    """Return the columns that a feature multiplies, and the text that the last one has if any."""
    if name in known:
        return [name], None
    left, equals, value = name.partition("=")
    whole = next((column for column in known if name.startswith(f"{column}=")), None)
    if whole is not None:
        return [str(whole)], name[len(str(whole)) + 1 :]
    return left.split("*"), value if equals else None


def _encoded(table: Any, features: Wanted, unseen: str) -> tuple[Array, list[str]]:
    """Return the features of a table and their names."""
    if unseen not in ("refuse", "ignore"):
        raise InputError(f'unseen must be "refuse" or "ignore", got {unseen!r}')
    table = table.set_axis([str(name) for name in table.columns], axis=1)
    names = _terms(features)
    check_table("edges", table, columns_of(names, table.columns))
    columns = _Columns(table)
    if not isinstance(features, Graph | LearnedCosts):
        names = [name for term in names for name in columns.names(term)]
    elif unseen == "refuse":
        columns.check_known(names)
    if not names:
        raise InputError(
            f"{called('edges', table)} has no features; add columns beside those of the nodes"
        )
    return np.stack([columns.feature(name) for name in names], axis=1), names


class _Columns:
    """The columns of a table, as numbers, or as texts with codes."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self._texts: dict[str, Any] = {}

    def names(self, term: str) -> list[str]:
        """Return the features that come of a column, or of several joined by ``*``."""
        parts, value = _parts(term, self.table.columns)
        if value is not None:
            known = list(self._text(parts[-1]).categories)
            if value not in known:
                raise InputError(
                    f"the feature {term!r}: no row of edges has {parts[-1]!r} {value!r}; there are "
                    f"{few(known, MANY)}"
                )
            return [term]
        texts = [
            part for part in parts if self.table[part].infer_objects().dtype.kind not in "biuf"
        ]
        if not texts:
            return [term]
        values = list(self._text(texts[0]).categories)
        if len(texts) > 1 or len(values) > CLASSES:
            raise InputError(
                f"the feature {term!r} may have one column of text, with at most {CLASSES} values; "
                f"{texts[0]!r} has {len(values)}, such as {values[0]!r}: leave it out, or make "
                "classes of it"
            )
        others = [part for part in parts if part not in texts]
        return ["*".join([*others, f"{texts[0]}={value}"]) for value in values]

    def feature(self, name: str) -> Array:
        """Return a feature by its name, such as ``length*highway=primary``."""
        parts, value = _parts(name, self.table.columns)
        made = np.ones(len(self.table))
        if value is not None:
            made *= self._text(parts.pop()) == value
        for part in parts:
            made *= numbers("edges", self.table, part)
        return made

    def check_known(self, names: list[str]) -> None:
        """Raise at the first text that none of the features stands for."""
        known: dict[str, set[str]] = {}
        for parts, value in (_parts(name, self.table.columns) for name in names):
            if value is not None:
                known.setdefault(parts[-1], set()).add(value)
        for column, values in known.items():
            strange = ~self._text(column).isin(values)
            if strange.any():
                first = int(strange.argmax())
                row, value = self.table.index.tolist()[first], self._text(column)[first]
                raise InputError(
                    f"{at('edges', self.table, row)}: {column!r} is {value!r}, which the features "
                    f"do not know; they know {', '.join(sorted(values))}. Make it one of these, or "
                    'give unseen="ignore", for which it is none of them'
                )

    def _text(self, name: str) -> Any:
        """Return a column as categories of text."""
        import pandas as pd

        if name not in self._texts:
            self._texts[name] = pd.Categorical([str(x) for x in self.table[name]])
        return self._texts[name]


def _positions(nodes: Any) -> Array:
    names = ["lon", "lat"] if "lon" in getattr(nodes, "columns", ()) else ["x", "y"]
    check_table("nodes", nodes, names)
    xy = np.stack([numbers("nodes", nodes, name) for name in names], axis=1)
    if names == ["x", "y"]:
        return xy
    if not (np.abs(xy[:, 1]) <= 90.0).all():
        raise InputError("nodes: lat must be from -90 to 90 degrees; are lon and lat swapped?")
    off = xy - xy[0]
    off[:, 0] = (off[:, 0] + 180.0) % 360.0 - 180.0  # also across the date line
    off -= 0.5 * (off.min(axis=0) + off.max(axis=0))
    off[:, 0] *= np.cos(np.radians(0.5 * (xy[:, 1].min() + xy[:, 1].max())))
    return _EARTH * np.radians(off)


def _check_units(graph: Graph, nodes: str) -> None:
    """Raise where coordinates are degrees and lengths metres: angles and pictures would be bent."""
    at = graph.position
    if at is None or "length" not in graph.names or (np.abs(at) > [180.0, 90.0]).any():
        return
    far = np.maximum(np.linalg.norm(at[graph.head] - at[graph.tail], axis=1), 1e-12)
    ratio = np.median(graph.features[:, graph.names.index("length")] / far)
    if _DEGREE[0] <= ratio <= _DEGREE[1]:
        raise InputError(
            f"{nodes} has x and y that look like degrees beside lengths in metres ({ratio:.0f} a "
            "unit); call the columns lon and lat, and they become metres"
        )
