"""Graphs from pandas tables with a row for each arc."""

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
from relaxboost.planning.labels import Labels, same_label
from relaxboost.planning.tables import at, called, check_table, numbers

MAX_CATEGORIES = 100
"""The maximum number of distinct values of a text column, each of which becomes a feature. A column
with more values probably contains names of arcs."""

Wanted = str | Sequence[str] | Graph | LearnedCosts
"""The type of `features` in `from_pandas`: column names, or a graph or learned costs that have the
wanted features."""


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
    """Create a graph from a table with a row for each arc.

    A numeric column becomes a feature of the same name. A column of text or categories becomes one
    feature for each value: ``highway=primary`` is 1 in the rows with the value ``primary``, and 0
    in all other rows. Columns joined by ``*`` are multiplied: ``length*highway=primary`` is the
    length of primary roads. The name of a column may itself contain ``*`` or ``=``.

    Parameters
    ----------
    edges : pandas.DataFrame
        The table. A two-way street has two rows.
    source, target : str
        The names of the columns with the node labels where an arc starts and ends.
    features : sequence of str, str, Graph or LearnedCosts, optional
        Column names, or single features such as ``highway=primary``. A graph or learned costs
        select the features that they have. By default, all columns except those of nodes and edge
        labels are used, with a warning if whole numbers, such as ``osmid``, look like edge names.
    edge : str, optional
        The name of the column with the edge labels, which become the `keys` of the graph.
    nodes : pandas.DataFrame, optional
        The node coordinates, indexed by node label. Columns ``x`` and ``y`` are used unchanged.
        Columns ``lon`` and ``lat`` are degrees, and become metres from the middle of the map.
    unseen : {"refuse", "ignore"}
        The treatment of text values without a feature in the graph or the costs passed as
        `features`. ``"ignore"`` sets all features of the column to 0 in that row.

    Returns
    -------
    Graph
        The graph, with its arcs in the order of the rows. Parallel arcs are allowed.

    Raises
    ------
    InputError
        If the table is empty or lacks a column, if a text column has more than 100 values, or if
        ``x`` and ``y`` are in degrees but lengths are in metres. Also for missing values, infinite
        numbers, self-loops, nodes without coordinates and unknown text values; the message then
        names the row.

    Notes
    -----
    Networks in the TNTP format can be read as such a table:
    ``pd.read_csv("net.tntp", sep="\\t", skiprows=8)``, with the columns ``init_node`` and
    ``term_node``.
    """
    # The columns with labels of nodes and edges never become features.
    used = [source, target] if edge is None else [source, target, edge]
    check_table("edges", edges, used)
    ends = [edges[source].tolist(), edges[target].tolist()]
    _check_ends(edges, ends)
    others = []
    if features is None:
        others = [name for name in edges.columns if name not in used]
        # The names of columns may be numbers, but the names of features are strings.
        features = list(map(str, others))
    X, names = encoded(edges, features, unseen)
    position = None if nodes is None else _positions(nodes)
    # Without a table of nodes, nodes are numbered in the order in which they appear.
    every = list(dict.fromkeys(ends[0] + ends[1]))
    if nodes is not None:
        _check_rows(nodes, called("edges", edges), every)
    labels = Labels(every if nodes is None else list(nodes.index))
    tail, head = (list(map(labels.number, some)) for some in ends)
    keys = None if edge is None else edges[edge].tolist()
    graph = Graph(tail, head, X, nodes=labels, names=names, position=position, keys=keys)
    if nodes is not None:
        _check_units(graph, nodes)
    for name in others:
        _warn_of_names(called("edges", edges), edges[name])
    return graph


def _check_ends(edges: Any, ends: list[list[Any]]) -> None:
    for row, u, v in zip(edges.index, *ends, strict=True):
        try:
            hash((u, v))
        except TypeError:
            raise InputError(
                f"{at('edges', edges, row)}: {u!r} -> {v!r} has an unhashable label; "
                "label the nodes with numbers, strings or tuples instead of lists"
            ) from None
        if u == v:
            raise InputError(
                f"{at('edges', edges, row)}: {u!r} -> {v!r} is a self-loop, which no shortest "
                "path takes; leave such rows out"
            )


def _check_rows(nodes: Any, edges: str, labels: list[Hashable]) -> None:
    known = dict.fromkeys(nodes.index, 0)
    missing = [label for label in labels if label not in known]
    if missing:
        same = same_label(missing[0], known).replace("the graph", "that table")
        raise InputError(
            f"{called('nodes', nodes)} has no row for the node {missing[0]!r} of {edges} "
            f"({len(missing)} in all){same or '; add such rows, or leave these edges out'}"
        )


def _warn_of_names(edges: str, column: Any) -> None:
    if column.dtype.kind not in "iu":
        return
    # Names of edges are distinct, and either nearly consecutive or, in OpenStreetMap, above a
    # million. Lengths, counts and capacities are smaller. Very short tables prove nothing.
    close = column.max() - column.min() < 2 * len(column) or column.min() >= 1e6
    is_id = re.search(r"(^|_|osm)id$", str(column.name), re.IGNORECASE)
    if is_id or (len(column) >= 10 and column.is_unique and close):
        warnings.warn(
            f"{edges}: the whole numbers of column {column.name!r} look like names of edges, and "
            "are used as a feature; select the columns that are features, with features=[...]",
            stacklevel=3,
        )


def columns_of(features: Wanted, known: Iterable[Hashable] = ()) -> list[str]:
    """Return the names of the columns from which the requested features are made, without
    repetitions."""
    return list(dict.fromkeys(c for name in _terms(features) for c in _parts(name, known)[0]))


def _terms(features: Wanted) -> list[str]:
    if isinstance(features, LearnedCosts):
        return list(features.features)
    if isinstance(features, Graph):
        return list(features.names)
    made = [features] if isinstance(features, str) or not np.iterable(features) else list(features)
    if not all(isinstance(name, str) for name in made):
        raise InputError(
            f"features must be column names, a graph or learned costs, got {features!r}"
        )
    return made


def _parts(name: str, known: Iterable[Hashable]) -> tuple[list[str], str | None]:
    """Split a feature name into column names and a text value, which may be None.

    For example, ``length*highway=primary`` has the columns ``length`` and ``highway`` and the text
    value ``primary``.
    """
    if name in known:
        return [name], None
    left, equals, value = name.partition("=")
    # The name of a column may itself contain "=" or "*", so that known columns are tried first.
    whole = next((column for column in known if name.startswith(f"{column}=")), None)
    if whole is not None:
        return [str(whole)], name[len(str(whole)) + 1 :]
    return left.split("*"), value if equals else None


def encoded(table: Any, features: Wanted, unseen: str) -> tuple[Array, list[str]]:
    """Return an array of features made from the columns of a table, and the feature names.

    The array has a row for each row of the table.
    """
    if unseen not in ("refuse", "ignore"):
        raise InputError(f'unseen must be "refuse" or "ignore", got {unseen!r}')
    # Features are found by the text of their names, because the names of columns may be numbers.
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
            f"{called('edges', table)} has no features; use at least one column other than those "
            "of the nodes and the edge labels"
        )
    return np.stack([columns.feature(name) for name in names], axis=1), names


class _Columns:
    """The columns of a pandas table, converted to numbers or categories when a feature needs
    them."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self._texts: dict[str, Any] = {}

    def names(self, term: str) -> list[str]:
        """Return the feature names that a column or a product of columns gives."""
        parts, value = _parts(term, self.table.columns)
        if value is not None:
            known = list(self._text(parts[-1]).categories)
            if value not in known:
                raise InputError(
                    f"the feature {term!r} does not exist, because no row of edges has the value "
                    f"{value!r} in the column {parts[-1]!r}; the existing values are "
                    f"{few(known, 10)}"
                )
            return [term]
        # The NumPy kinds b, i, u and f are those of Booleans and numbers.
        texts = [x for x in parts if self.table[x].infer_objects().dtype.kind not in "biuf"]
        if not texts:
            return [term]
        values = list(self._text(texts[0]).categories)
        if len(texts) > 1 or len(values) > MAX_CATEGORIES:
            raise InputError(
                f"the feature {term!r} uses the text column {texts[0]!r}, which has {len(values)} "
                f"distinct values, such as {values[0]!r}; a feature may use one text column, with "
                f"at most {MAX_CATEGORIES} distinct values. Leave the column out, or group its "
                f"values into classes. If the column names the edges, give edge={texts[0]!r}"
            )
        # The column of text comes last, where `_parts` looks for its value.
        others = [part for part in parts if part not in texts]
        return ["*".join([*others, f"{texts[0]}={value}"]) for value in values]

    def feature(self, name: str) -> Array:
        """Return the values of a feature, such as ``length*highway=primary``, in all rows."""
        parts, value = _parts(name, self.table.columns)
        made = np.ones(len(self.table))
        if value is not None:
            made *= self._text(parts.pop()) == value
        for part in parts:
            made *= numbers("edges", self.table, part)
        return made

    def check_known(self, names: list[str]) -> None:
        """Raise an InputError at the first row with a text value that has no feature."""
        known: dict[str, set[str]] = {}
        for parts, value in (_parts(name, self.table.columns) for name in names):
            if value is not None:
                known.setdefault(parts[-1], set()).add(value)
        for column, values in known.items():
            strange = ~self._text(column).isin(values)
            if strange.any():
                first = int(strange.argmax())
                row = self.table.index.tolist()[first]
                value = self._text(column)[first]
                raise InputError(
                    f"{at('edges', self.table, row)}: column {column!r} has the value {value!r}, "
                    "for which there is no feature; there are features for "
                    f"{', '.join(sorted(values))}. Use one of these values, "
                    'or give unseen="ignore", which sets all features of the column to 0'
                )

    def _text(self, name: str) -> Any:
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
        raise InputError(
            "nodes: values in the column lat must be from -90 to 90 degrees; check whether lon "
            "and lat are swapped"
        )
    # Differences are taken modulo 360, so that a map may cross the date line.
    off = xy - xy[0]
    off[:, 0] = (off[:, 0] + 180.0) % 360.0 - 180.0
    # The origin is the middle of the map, where the projection has no distortion.
    off -= 0.5 * (off.min(axis=0) + off.max(axis=0))
    off[:, 0] *= np.cos(np.radians(0.5 * (xy[:, 1].min() + xy[:, 1].max())))
    earth = 6_371_009.0  # This is the mean radius of the earth in metres.
    return earth * np.radians(off)


def _check_units(graph: Graph, nodes: Any) -> None:
    at = graph.position
    if "lon" in nodes.columns or "length" not in graph.names or at is None:
        return
    if (np.abs(at) > [180.0, 90.0]).any():
        return
    far = np.maximum(np.linalg.norm(at[graph.head] - at[graph.tail], axis=1), 1e-12)
    ratio = np.median(graph.features[:, graph.names.index("length")] / far)
    # A degree of latitude is 111 km long. A degree of longitude is shorter towards the poles, and
    # roads with bends are longer than the distance of their ends.
    if 2e4 <= ratio <= 5e5:
        raise InputError(
            f"{called('nodes', nodes)}: x and y look like degrees, but the lengths are in metres "
            f"({ratio:.0f} metres per unit of x and y); rename the columns lon and lat, so that "
            "they are converted to metres"
        )
