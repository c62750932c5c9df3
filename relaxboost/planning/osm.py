"""Graphs of streets from OSMnx. Missing tags are imputed, and this is recorded in `Graph.notes`."""

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
    """The warning that some edges lacked a tag, for which a value was imputed."""


def from_osmnx(
    G: Any,
    features: Wanted = FEATURES,
    *,
    speeds: Mapping[str, float] | None = None,
    unseen: str = "refuse",
) -> Graph:
    """Return the graph of a street network from OSMnx, with features from its tags.

    Features are made from attributes of edges, as in `from_pandas`, for example ``length``,
    ``highway=primary`` or ``length*highway``. An attribute is numeric if most of its tags are
    numbers. When OSMnx merges ways, it collects their tags in lists. A list of numbers is replaced
    by its mean, and a list of strings by its first string in alphabetical order, because OSMnx's
    order changes from run to run. Missing text becomes ``missing``. ``speed_kph`` is `maxspeed` in
    km/h, parsed from "50", "30 mph" or lists of these. ``travel_time`` is the time in seconds that
    an edge takes at this speed. If edges already have these two attributes, they are used
    unchanged.

    If a tag of a numeric attribute is missing, or is text such as "none" or "walk", a value is
    imputed as in OSMnx: the mean over the edges of the same `highway` class, or the mean of these
    means if the class has no numbers. `Graph.notes` lists the values that were imputed or left out,
    and an `Imputed` warning reports the means.

    Coordinates in degrees are converted to metres from the middle of the map. Self-loops are left
    out, because no shortest path takes them. Parallel arcs are kept, with OSMnx's keys.

    Parameters
    ----------
    G : networkx.MultiDiGraph
        The street network, with a ``crs``, coordinates ``x`` and ``y`` of the nodes, and the
        ``length`` of each edge in metres.
    features : sequence of str, str, Graph or LearnedCosts
        The attributes of edges to use, or a graph or learned costs with the same features.
    speeds : mapping, optional
        Speeds in km/h for edges without a numeric speed. The keys are values of `highway`, or
        strings in `maxspeed` such as "DE:urban".
    unseen : {"refuse", "ignore"}
        The treatment of unknown text values, as in `from_pandas`.

    Raises
    ------
    InputError
        If the graph is undirected or has no ``crs``, if a node lacks coordinates, if an edge lacks
        its length, if no edge has a requested attribute, or if no speed is known. Other errors are
        those of `from_pandas`.

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
    read = _Tags(edges, speeds or {})
    if len(every) > len(edges):
        read.notes.append(f"self-loops left out: {len(every) - len(edges)}")
    names = [edge[:3] for edge in edges]
    # Errors name an edge by its ends and key; a MultiIndex could not hold all labels.
    index = pd.Index(names, tupleize_cols=False)
    table = pd.DataFrame(names, index, columns=["from", "to", "key"])
    for name in columns_of(features):
        table[name] = read.column(name)
    nodes = _coordinates(G, crs)
    made = from_pandas(table, "from", "to", features, edge="key", nodes=nodes, unseen=unseen)
    made.notes = tuple(read.notes)
    if read.means:
        warnings.warn("; ".join(read.means), Imputed, stacklevel=2)
    return made


def _coordinates(G: Any, crs: Any) -> Any:
    import pandas as pd

    degrees = getattr(crs, "is_geographic", str(crs).lower() in _DEGREES)
    labels = pd.Index(list(G.nodes), tupleize_cols=False)
    at = [[_number(data.get("x")), _number(data.get("y"))] for _, data in G.nodes(data=True)]
    return pd.DataFrame(at, labels, columns=["lon", "lat"] if degrees else ["x", "y"])


class _Tags:
    """The columns of edge attributes, and a record of the values that were imputed."""

    def __init__(self, edges: list[tuple[Any, ...]], speeds: Mapping[str, float]) -> None:
        self.edges = edges
        self.speeds = speeds
        self.notes: list[str] = []
        self.means: list[str] = []
        self.classes = np.array([_tag(edge[3].get("highway")) for edge in edges])

    def column(self, name: str) -> Any:
        """Return an attribute's values for all edges: an array of numbers or a list of strings."""
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
                    "add lengths with osmnx.distance.add_edge_lengths(G)"
                )
        if all(missing):
            raise InputError(f"no edge has the attribute {name!r}; remove it from features")
        numbers = np.array(list(map(_number, values)))
        if name in ("length", "travel_time") and (numbers < 0.0).any():
            place = int(np.argmax(numbers < 0.0))
            raise InputError(
                f"edge {self.edges[place][:3]!r} has the {name} {numbers[place]:g}, which must be "
                f">= 0; correct the {name}"
            )
        # A few odd tags do not turn a column of numbers into text.
        if 2 * np.isfinite(numbers).sum() > len(values) - sum(missing):
            return self._filled(name, np.where(np.isfinite(numbers), numbers, np.nan))
        several = sum(isinstance(_list(value), list) for value in values)
        if several:
            self.notes.append(
                f"{name} is a list on {several} edges; the first in the alphabet counts"
            )
        return list(map(_tag, values))

    def _speed(self) -> Array:
        # The sources are, in this order: speed_kph, maxspeed, `speeds`, and the means of classes.
        tags = [edge[3].get("maxspeed") for edge in self.edges]
        made = np.array([_number(edge[3].get("speed_kph")) for edge in self.edges])
        # A speed of 0 is an error of the map, and would make the travel time infinite.
        made = np.where(made > 0.0, made, [_kph(tag) for tag in tags])
        given = 0
        for place, tag in enumerate(tags):
            for word in (_tag(tag), self.classes[place]):
                if np.isnan(made[place]) and word in self.speeds:
                    made[place] = positive("speeds", self.speeds[word])
                    given += 1
        if given:
            self.notes.append(f"the speed of {given} of {len(tags)} edges comes from speeds")
        return self._filled("speed_kph", made)

    def _filled(self, name: str, numbers: Array) -> Array:
        """Return the numbers, with the mean of the edge's class for each missing number."""
        known = ~np.isnan(numbers)
        if known.all():
            return numbers
        means = {
            kind: numbers[known & (self.classes == kind)].mean()
            for kind in np.unique(self.classes[known])
        }
        if not means:
            raise InputError(
                'no edge has a speed; pass speeds={"residential": 30, ...} in km/h, '
                "or remove travel_time from features"
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
    """Return a tag as a string. A missing tag becomes "missing".

    For a list of tags, the result is the first tag in alphabetical order.
    """
    value = _list(value)
    if isinstance(value, list):
        # OSMnx makes lists of sets, in an order that changes from run to run.
        value = min(map(str, value), default=None)
    return "missing" if _is_missing(value) else str(value)


def _number(value: Any) -> float:
    """Return the number in a tag, or nan for text that is not a number.

    For a list of numbers, return their mean.
    """
    value = _list(value)
    try:
        if isinstance(value, list):
            return float(np.mean([float(x) for x in value or ["nan"]]))
        return float(value)
    except (OverflowError, TypeError, ValueError):
        return float("nan")


def _kph(value: Any) -> float:
    """Return the mean of the speeds in a `maxspeed` tag in km/h, or nan if there are none."""
    texts = re.findall(r"(\d+(?:[.,]\d+)?)\s*(mph|knots)?", str(value))
    found = [(float(number.replace(",", ".")), unit) for number, unit in texts]
    kph = {"mph": 1.609344, "knots": 1.852}
    speeds = [speed * kph.get(unit, 1.0) for speed, unit in found if speed > 0.0]
    return float(np.mean(speeds)) if speeds else float("nan")
