"""Graphs of streets from OSMnx. Rules impute missing tags, and `Graph.notes` reports them."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import positive
from relaxboost.planning.frames import Wanted, columns_of, from_pandas
from relaxboost.planning.graphs import Graph
from relaxboost.planning.networks import edges_of

FEATURES = ("length", "travel_time", "highway")
_DEGREES = {"epsg:4326", "epsg:4269", "epsg:4258", "ogc:crs84", "crs84", "wgs84", "wgs 84"}


class Imputed(UserWarning):
    """The warning that some edges lacked a tag and that a rule imputed a value."""


def from_osmnx(
    G: Any,
    features: Wanted = FEATURES,
    *,
    speeds: Mapping[str, float] | None = None,
    unseen: str = "refuse",
) -> Graph:
    """Return the graph of a street network as OSMnx makes it, with features from its tags.

    Features are attributes of edges, as in `from_pandas`: numbers by their names, text as
    ``highway=primary``, products as ``length*highway``. OSMnx makes lists of tags when it merges
    ways. A list of numbers is replaced by its mean, and a list of texts by its first text in
    alphabetical order, because OSMnx's order changes from run to run. Missing text becomes
    ``missing``. An attribute is a column of numbers if most of its tags are numbers. ``speed_kph``
    is `maxspeed` in km/h, which is read from "50", "30 mph" or lists of these. ``travel_time`` is
    the number of seconds at this speed. If edges have these two attributes, they are used
    unchanged.

    Tags that are missing or no numbers, such as "none" and "walk", are imputed as in OSMnx: by the
    mean over the edges of the same `highway`, or else by the mean of these means. `Graph.notes`
    says which values were imputed and left out, and an `Imputed` warning names the means.

    Coordinates in degrees become metres from the middle of the map, so that angles and pictures
    are right; `turns` with `turn_angles` makes features of turns. Self-loops are left out, because
    no shortest path takes them. Parallel arcs stay, with OSMnx's keys.

    Parameters
    ----------
    G : networkx.MultiDiGraph
        With ``crs``, with ``x`` and ``y`` of nodes, and ``length`` of edges, in metres.
    features : sequence of str, str, Graph or LearnedCosts
        Attributes of edges; a graph or learned costs stand for their own features.
    speeds : mapping, optional
        km/h by `highway`, or by a text of `maxspeed` ("DE:urban"), for edges without a number.
    unseen : {"refuse", "ignore"}
        As in `from_pandas`.

    Raises
    ------
    InputError
        For a graph that is undirected or has no edges or ``crs``, a node without coordinates, an
        edge without length, an attribute that no edge has, unknown speeds, and the errors of
        `from_pandas`.

    References
    ----------
    Boeing (2017), OSMnx: new methods for acquiring, constructing, analyzing, and visualizing
    complex street networks; its `add_edge_speeds`.
    """
    import pandas as pd

    # An undirected graph would lose the one-way streets.
    every = edges_of(G)
    if not G.is_directed():
        raise InputError(
            f"from_osmnx needs the MultiDiGraph that OSMnx makes, got {type(G).__name__}; "
            "from_networkx takes other graphs"
        )
    crs = G.graph.get("crs")
    if crs is None:
        raise InputError(
            "the graph does not say in which units its coordinates are; write "
            'G.graph["crs"] = "epsg:4326" for degrees, or G.graph["crs"] = "metres"'
        )
    # A DiGraph has no keys, and gets the key 0.
    edges = [(*edge[:2], edge[2] if len(edge) == 4 else 0, edge[-1]) for edge in every]
    edges = [edge for edge in edges if edge[0] != edge[1]]
    read = _Tags(edges, speeds or {})
    if len(every) > len(edges):
        read.notes.append(f"self-loops left out: {len(every) - len(edges)}")
    names = [edge[:3] for edge in edges]
    table = pd.DataFrame(zip(*zip(*names, strict=True), strict=True), columns=["from", "to", "key"])
    # Errors name an edge by its ends and key; a MultiIndex could not hold all labels.
    table.index = pd.Index(names, tupleize_cols=False)
    for name in columns_of(features):
        table[name] = read.column(name)
    nodes = _coordinates(G, crs)
    made = from_pandas(table, "from", "to", features, edge="key", nodes=nodes, unseen=unseen)
    made.notes = tuple(read.notes)
    if read.means:
        warnings.warn("; ".join(read.means), Imputed, stacklevel=2)
    return made


def _coordinates(G: Any, crs: Any) -> Any:
    """Return the table of node coordinates in the form of `from_pandas`."""
    import pandas as pd

    degrees = getattr(crs, "is_geographic", str(crs).lower() in _DEGREES)
    labels = pd.Index(list(G.nodes), tupleize_cols=False)
    at = [[_number(data.get("x")), _number(data.get("y"))] for _, data in G.nodes(data=True)]
    return pd.DataFrame(at, labels, columns=["lon", "lat"] if degrees else ["x", "y"])


class _Tags:
    """Reads attributes of edges as columns, and records which rules imputed values."""

    def __init__(self, edges: list[tuple[Any, ...]], speeds: Mapping[str, float]) -> None:
        self.edges = edges
        self.speeds = speeds
        self.notes: list[str] = []
        self.means: list[str] = []
        self.classes = np.array([_tag(edge[3].get("highway")) for edge in edges])

    def column(self, name: str) -> Any:
        """Return an attribute of all edges, as an array of numbers or a list of texts."""
        values = [edge[3].get(name) for edge in self.edges]
        missing = list(map(_is_missing, values))
        if any(missing):
            # These attributes can be computed, or must not be imputed.
            if name == "speed_kph":
                return self._speed()
            if name == "travel_time":
                return self.column("length") / (self.column("speed_kph") / 3.6)
            if name == "length":
                raise InputError(
                    f"edge {self.edges[missing.index(True)][:3]!r} has no length; "
                    "osmnx.distance.add_edge_lengths(G) gives lengths to all edges"
                )
        if all(missing):
            raise InputError(f"no edge has the attribute {name!r}; leave it out of features")
        numbers = np.array(list(map(_number, values)))
        if name in ("length", "travel_time"):
            self._check_sign(name, numbers)
        # A few odd tags do not turn a column of numbers into text.
        if 2 * np.isfinite(numbers).sum() > len(values) - sum(missing):
            return self._filled(name, np.where(np.isfinite(numbers), numbers, np.nan))
        several = sum(isinstance(_list(value), list) for value in values)
        if several:
            self.notes.append(
                f"{name} is a list on {several} edges; the first in the alphabet counts"
            )
        return list(map(_tag, values))

    def _check_sign(self, name: str, numbers: Array) -> None:
        if (numbers < 0.0).any():
            place = int(np.argmax(numbers < 0.0))
            raise InputError(
                f"edge {self.edges[place][:3]!r} has the {name} {numbers[place]:g}; correct it, "
                "because costs of paths need numbers >= 0"
            )

    def _speed(self) -> Array:
        """Return the speed of each edge in km/h, from attributes, tags, `speeds`, or means."""
        tags = [edge[3].get("maxspeed") for edge in self.edges]
        made = np.array([_number(edge[3].get("speed_kph")) for edge in self.edges])
        # A speed of 0 is an error of the map, and would make the travel time infinite.
        made = np.where(made > 0.0, made, [_kph(tag) for tag in tags])
        given = 0
        for place, tag in enumerate(tags):
            for word in (_tag(tag), self.classes[place]):
                if np.isnan(made[place]) and word in self.speeds:
                    made[place] = positive("speeds", self.speeds[word])
                    given = given + 1
        if given:
            self.notes.append(f"the speed of {given} of {len(tags)} edges comes from speeds")
        return self._filled("speed_kph", made)

    def _filled(self, name: str, numbers: Array) -> Array:
        """Return the numbers, with each missing one replaced by the mean of the edge's class."""
        known = ~np.isnan(numbers)
        if known.all():
            return numbers
        means = {
            kind: numbers[known & (self.classes == kind)].mean()
            for kind in np.unique(self.classes[known])
        }
        if not means:
            raise InputError(
                'no edge has a speed; give speeds={"residential": 30, ...} in km/h, '
                "or leave travel_time out of features"
            )
        # Classes without any number get the mean of the classes, as in OSMnx.
        other = float(np.mean(list(means.values())))
        filled = [means.get(kind, other) for kind in self.classes]
        imputed = dict(zip(self.classes[~known].tolist(), np.array(filled)[~known], strict=True))
        shown = ", ".join(f"{kind} {imputed[kind]:.4g}" for kind in sorted(imputed))
        count = f"{(~known).sum()} of {known.size}"
        said = f"{name} of {count} edges is the mean of their highway: {shown}"
        # The computation of travel_time uses the length column a second time.
        if said not in self.means:
            self.means.append(said)
            self.notes.append(said)
        return np.where(known, numbers, filled)


def _list(value: Any) -> Any:
    """Return the list that a text such as "['a', 'b']" describes, or the value itself."""
    # GraphML files hold lists as text.
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
    """Return the text of a tag: the alphabetically first of a list; "missing" for no value."""
    value = _list(value)
    if isinstance(value, list):
        # OSMnx makes lists of sets, in an order that changes from run to run.
        value = min(map(str, value), default=None)
    return "missing" if _is_missing(value) else str(value)


def _number(value: Any) -> float:
    """Return the number in a tag: the mean for a list, and nan if the tag is not a number."""
    value = _list(value)
    try:
        return float(
            np.mean([float(x) for x in value or ["nan"]]) if isinstance(value, list) else value
        )
    except (OverflowError, TypeError, ValueError):
        return float("nan")


def _kph(value: Any) -> float:
    """Return the speed of a `maxspeed` tag in km/h: the mean of several, nan if it has none."""
    texts = re.findall(r"(\d+(?:[.,]\d+)?)\s*(mph|knots)?", str(value))
    found = [(float(number.replace(",", ".")), unit) for number, unit in texts]
    kph = {"mph": 1.609344, "knots": 1.852}
    # A speed of 0 is a mistake of the map.
    speeds = [speed * kph.get(unit, 1.0) for speed, unit in found if speed > 0.0]
    return float(np.mean(speeds)) if speeds else float("nan")
