"""Graphs of streets from OSMnx, with what its tags leave open filled in by rules that are told."""

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
_SPEED = re.compile(r"(\d+(?:[.,]\d+)?)\s*(mph|knots)?")
_KPH = {"mph": 1.609344, "knots": 1.852}
_DEGREES = {"epsg:4326", "epsg:4269", "epsg:4258", "ogc:crs84", "crs84", "wgs84", "wgs 84"}


class Imputed(UserWarning):
    """Some edges lacked a tag, and got a value by a rule."""


def from_osmnx(
    G: Any,
    features: Wanted = FEATURES,
    *,
    speeds: Mapping[str, float] | None = None,
    unseen: str = "refuse",
) -> Graph:
    """Return the graph of a street network as OSMnx makes it, with features from its tags.

    Features are attributes of edges, as in `from_pandas`: numbers by their name, text as
    ``highway=primary`` and so on, products as ``length*highway``. Of a list of texts, which OSMnx
    has where it merged ways, the first in the alphabet counts, as their order changes by the run;
    of a list of numbers the mean. Text that is missing is ``missing``; an attribute is of numbers
    if most of its tags are.
    ``speed_kph`` is `maxspeed` in km/h, read from "50", "30 mph" or lists of these, and
    ``travel_time`` seconds at this speed, unless edges have these attributes.

    What is missing, or says no number, as "none" and "walk" do, is imputed as in OSMnx: the mean
    over the edges of the same `highway`, else the mean of these means. `Graph.notes` tells what
    was imputed and left out, and an `Imputed` warning what was imputed by a mean.

    Coordinates in degrees become metres from the middle, so that angles and pictures are right:
    `turns` with `turn_angles` makes features of turns. Self-loops are left out: no shortest path
    takes them. Arcs have OSMnx's keys; parallel ones stay.

    Parameters
    ----------
    G : networkx.MultiDiGraph
        With ``crs``, with ``x`` and ``y`` of nodes, and ``length`` of edges, in metres.
    features : sequence of str, str, Graph or LearnedCosts
        Attributes of edges; or the features of a graph or of learned costs, made again.
    speeds : mapping, optional
        km/h by `highway`, or by what `maxspeed` says ("DE:urban"), for edges without a number.
    unseen : {"refuse", "ignore"}
        As in `from_pandas`.

    Raises
    ------
    InputError
        For an undirected graph, one without edges or ``crs``, a node without coordinates, an edge
        without length; an attribute that no edge has, speeds that nothing tells, and as
        `from_pandas`.

    References
    ----------
    Boeing (2017), OSMnx: new methods for acquiring, constructing, analyzing, and visualizing
    complex street networks; its `add_edge_speeds`.
    """
    import pandas as pd

    every = edges_of(G)
    if not G.is_directed():
        raise InputError(
            f"from_osmnx needs the MultiDiGraph that OSMnx makes, got {type(G).__name__}; "
            "from_networkx takes others"
        )
    crs = G.graph.get("crs")
    if crs is None:
        raise InputError(
            "the graph does not say what its coordinates are; for degrees: "
            'G.graph["crs"] = "epsg:4326"'
        )
    edges = [edge if len(edge) == 4 else (*edge[:2], 0, edge[2]) for edge in every]
    edges = [edge for edge in edges if edge[0] != edge[1]]
    read = _Tags(edges, speeds or {})
    if len(every) > len(edges):
        read.notes.append(f"self-loops left out: {len(every) - len(edges)}")
    columns = {name: read.column(name) for name in columns_of(features)}
    ends = {name: [edge[k] for edge in edges] for k, name in enumerate(("from", "to", "key"))}
    table = pd.DataFrame(ends | columns)
    table.index = pd.Index([edge[:3] for edge in edges], tupleize_cols=False)
    degrees = getattr(crs, "is_geographic", str(crs).lower() in _DEGREES)
    labels = pd.Index(list(G.nodes), tupleize_cols=False)
    names = ["lon", "lat"] if degrees else ["x", "y"]
    at = [[_number(data.get("x")), _number(data.get("y"))] for _, data in G.nodes(data=True)]
    nodes = pd.DataFrame(at, labels, columns=names)
    made = from_pandas(table, "from", "to", features, edge="key", nodes=nodes, unseen=unseen)
    made.notes = tuple(read.notes)
    if read.means:
        warnings.warn("; ".join(read.means), Imputed, stacklevel=2)
    return made


class _Tags:
    """Reads attributes of edges as columns, and keeps what was imputed by which rule."""

    def __init__(self, edges: list[tuple[Any, ...]], speeds: Mapping[str, float]) -> None:
        self.edges, self.speeds = edges, speeds
        self.notes: list[str] = []
        self.means: list[str] = []
        self.classes = np.array([_tag(edge[3].get("highway")) for edge in edges])

    def column(self, name: str) -> Any:
        """Return an attribute of all edges, numbers or texts."""
        values = [edge[3].get(name) for edge in self.edges]
        missing = [_is_missing(value) for value in values]
        if name == "length" and any(missing):
            raise InputError(
                f"edge {self.edges[missing.index(True)][:3]!r} has no length; "
                "osmnx.distance.add_edge_lengths(G) gives all edges one"
            )
        if name == "speed_kph" and any(missing):
            return self._speed()
        if name == "travel_time" and any(missing):
            return self.column("length") / (self.column("speed_kph") / 3.6)
        if all(missing):
            raise InputError(f"no edge has the attribute {name!r}; leave it out of features")
        numbers = np.array([_number(value) for value in values])
        if name in ("length", "travel_time") and (numbers < 0.0).any():
            place = int(np.argmax(numbers < 0.0))
            raise InputError(
                f"edge {self.edges[place][:3]!r} has the {name} {values[place]!r}; mend it, as "
                "costs of paths need numbers >= 0"
            )
        if 2 * np.isfinite(numbers).sum() > len(values) - sum(missing):
            return self._filled(name, np.where(np.isfinite(numbers), numbers, np.nan))
        several = sum(isinstance(_list(value), list) for value in values)
        if several:
            self.notes.append(
                f"{name} is a list on {several} edges; the first in the alphabet counts"
            )
        return [_tag(value) for value in values]

    def _speed(self) -> Array:
        """Return km/h: attributes, else tags, else the user's speeds, else means."""
        told = [edge[3].get("maxspeed") for edge in self.edges]
        made = np.array([_number(edge[3].get("speed_kph")) for edge in self.edges])
        made = np.where(made > 0.0, made, [_kph(tag) for tag in told])
        given = 0
        for place, tag in enumerate(told):
            for word in (_tag(tag), self.classes[place]):
                if np.isnan(made[place]) and word in self.speeds:
                    made[place], given = positive("speeds", self.speeds[word]), given + 1
        if given:
            self.notes.append(f"speeds gave that of {given} of {len(told)} edges")
        return self._filled("speed_kph", made)

    def _filled(self, name: str, numbers: Array) -> Array:
        """Return numbers, where one is missing the mean of the class or of the classes' means."""
        known = ~np.isnan(numbers)
        if known.all():
            return numbers
        means = {
            kind: numbers[known & (self.classes == kind)].mean()
            for kind in np.unique(self.classes[known])
        }
        if not means:
            raise InputError(
                'no edge says how fast one may go; give speeds={"residential": 30, ...} in km/h, '
                "or leave travel_time out of features"
            )
        other = float(np.mean(list(means.values())))
        filled = [means.get(kind, other) for kind in self.classes]
        told = dict(zip(self.classes[~known].tolist(), np.array(filled)[~known], strict=True))
        shown = ", ".join(f"{kind} {told[kind]:.4g}" for kind in sorted(told))
        count = f"{(~known).sum()} of {known.size}"
        said = f"{name} of {count} edges is the mean of their highway: {shown}"
        if said not in self.means:  # a length is asked for twice, for travel_time too
            self.means.append(said)
            self.notes.append(said)
        return np.where(known, numbers, filled)


def _list(value: Any) -> Any:
    """Return a list as it is, and one that a file holds as text, "['a', 'b']"."""
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
    """Return a tag, of a list the first in the alphabet, or "missing"."""
    value = _list(value)
    if isinstance(value, list):  # OSMnx makes lists of sets, in an order that changes by the run
        value = min(map(str, value), default=None)
    return "missing" if _is_missing(value) else str(value)


def _number(value: Any) -> float:
    """Return a number, the mean of a list, or nan."""
    value = _list(value)
    try:
        return float(
            np.mean([float(x) for x in value or ["nan"]]) if isinstance(value, list) else value
        )
    except (OverflowError, TypeError, ValueError):
        return float("nan")


def _kph(value: Any) -> float:
    """Return km/h of what `maxspeed` says, the mean of several, or nan where it has no number."""
    found = [(float(x.replace(",", ".")), unit) for x, unit in _SPEED.findall(str(value))]
    speeds = [speed * _KPH.get(unit, 1.0) for speed, unit in found if speed > 0.0]
    return float(np.mean(speeds)) if speeds else float("nan")
