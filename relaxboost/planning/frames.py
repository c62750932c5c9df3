"""Graphs and tasks from pandas: a table with a row an edge, and one with a row a step of a trip."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array, Flags, Whole
from relaxboost._core.errors import InputError
from relaxboost.planning.costs import LearnedCosts
from relaxboost.planning.graphs import Graph
from relaxboost.planning.labels import Labels
from relaxboost.planning.losses import PathLoss
from relaxboost.planning.planners.shortest import shortest_path
from relaxboost.planning.tasks import Task
from relaxboost.planning.turns import TurnGraph

CLASSES = 100
"""Different values of a column of text at most; where there are more they are names or numbers."""
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
        Columns; by default all that have no other part. A graph or learned costs stand for their
        own features, with the values of text that they know.
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
    _check_table("edges", edges, [source, target] if edge is None else [source, target, edge])
    ends = [edges[source].tolist(), edges[target].tolist()]
    for row, u, v in zip(edges.index, *ends, strict=True):
        if u == v:
            raise InputError(
                f"edges, row {row!r}: {u!r} -> {v!r} is a self-loop, which no shortest path takes; "
                f"leave such rows out: edges[edges[{source!r}] != edges[{target!r}]]"
            )
    if features is None:
        features = [str(name) for name in edges.columns if name not in (source, target, edge)]
    X, names = _encoded(edges, features, unseen)
    labels = Labels(list(dict.fromkeys(ends[0] + ends[1])) if nodes is None else list(nodes.index))
    position = None if nodes is None else _positions(nodes)
    try:
        tail, head = ([labels.number(end) for end in some] for some in ends)
    except InputError as error:
        raise InputError(f"edges: {error}; add it to the index of nodes, or leave it out") from None
    keys = None if edge is None else edges[edge].tolist()
    graph = Graph(tail, head, X, nodes=labels, names=names, position=position, keys=keys)
    if nodes is not None and "lon" not in nodes.columns:
        _check_units(graph)
    return graph


def columns_of(features: Wanted, known: Iterable[Hashable] = ()) -> list[str]:
    """Return the columns that features are made of, each once, where these are known."""
    return list(dict.fromkeys(c for name in _terms(features) for c in _parts(name, known)[0]))


def _terms(features: Wanted) -> list[str]:
    """Return the names of the features that are wanted."""
    if isinstance(features, LearnedCosts):
        return list(features.features)
    if isinstance(features, Graph):
        return list(features.names)
    return [features] if isinstance(features, str) else list(features)


def _parts(name: str, known: Iterable[Hashable]) -> tuple[list[str], str | None]:
    """Return the columns that a feature multiplies, and the text that the last one has if any."""
    if name in known:
        return [name], None
    left, equals, value = name.partition("=")
    whole = next((column for column in known if name.startswith(f"{column}=")), None)
    if whole is not None:
        return [str(whole)], name[len(str(whole)) + 1 :]
    return left.split("*"), value if equals else None


def _check_table(what: str, table: Any, columns: Sequence[str]) -> None:
    """Raise for what is no table, an empty one, and columns that are not there or have holes."""
    if not hasattr(table, "iloc") or len(table) == 0:
        found = f"{type(table).__name__}{' without any' if hasattr(table, 'iloc') else ''}"
        raise InputError(f"{what} must be a pandas.DataFrame with rows, got {found}")
    for name in columns:
        if name not in table.columns:
            raise InputError(
                f"{what} has no column {name!r}, only {', '.join(map(str, table.columns))}; add or "
                f"rename one: {what}.rename(columns={{...: {name!r}}})"
            )
        _check_whole(what, table, name, table[name].isna().to_numpy())


def _check_whole(what: str, table: Any, name: str, missing: Flags) -> None:
    """Raise at the first row of a column that lacks a value."""
    if missing.any():
        first = int(missing.argmax())
        raise InputError(
            f"{what}, row {table.index.tolist()[first]!r}: {name!r} is {table[name].iloc[first]} "
            f"({missing.sum()} rows in all); fill it in, or leave such rows out"
        )


def _numbers(what: str, table: Any, name: str) -> Array:
    """Return a column as finite doubles."""
    try:
        made: Array = table[name].to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what}: column {name!r} must hold numbers ({error})") from None
    _check_whole(what, table, name, ~np.isfinite(made))
    return made


def _encoded(table: Any, features: Wanted, unseen: str) -> tuple[Array, list[str]]:
    """Return the features of a table and their names."""
    if unseen not in ("refuse", "ignore"):
        raise InputError(f'unseen must be "refuse" or "ignore", got {unseen!r}')
    table = table.set_axis([str(name) for name in table.columns], axis=1)
    twice = table.columns[table.columns.duplicated()]
    if len(twice):
        raise InputError(f"edges has two columns that are called {twice[0]!r}; rename one")
    names = _terms(features)
    _check_table("edges", table, columns_of(names, table.columns))
    columns = _Columns(table)
    if not isinstance(features, Graph | LearnedCosts):
        names = [name for term in names for name in columns.names(term)]
    elif unseen == "refuse":
        columns.check_known(names)
    if not names:
        raise InputError("edges has no features; add columns beside those of the nodes")
    return np.stack([columns.feature(name) for name in names], axis=1), names


class _Columns:
    """The columns of a table, as numbers, or as texts with codes."""

    def __init__(self, table: Any) -> None:
        self.table = table
        self._texts: dict[str, tuple[Whole, list[str]]] = {}

    def names(self, term: str) -> list[str]:
        """Return the features that come of a column, or of several joined by ``*``."""
        parts, _ = _parts(term, self.table.columns)
        texts = [
            part for part in parts if self.table[part].infer_objects().dtype.kind not in "biuf"
        ]
        if not texts:
            return [term]
        values = sorted(self._text(texts[0])[1])
        if len(texts) > 1 or len(values) > CLASSES:
            raise InputError(
                f"the feature {term!r} may have one column of text, with at most {CLASSES} values; "
                f"{texts[0]!r} has {len(values)}, such as {values[0]!r}: leave it out, or make "
                "classes of it"
            )
        numbers = [part for part in parts if part not in texts]
        return ["*".join([*numbers, f"{texts[0]}={value}"]) for value in values]

    def feature(self, name: str) -> Array:
        """Return a feature by its name, such as ``length*highway=primary``."""
        parts, value = _parts(name, self.table.columns)
        made = np.ones(len(self.table))
        if value is not None:
            codes, values = self._text(parts.pop())
            made *= codes == (values.index(value) if value in values else -1)
        for part in parts:
            made *= _numbers("edges", self.table, part)
        return made

    def check_known(self, names: list[str]) -> None:
        """Raise at the first text that none of the features stands for."""
        known: dict[str, set[str]] = {}
        for parts, value in (_parts(name, self.table.columns) for name in names):
            if value is not None:
                known.setdefault(parts[-1], set()).add(value)
        for column, values in known.items():
            codes, found = self._text(column)
            for code, value in enumerate(found):
                if value not in values:
                    row = self.table.index.tolist()[codes.tolist().index(code)]
                    raise InputError(
                        f"edges, row {row!r}: {column!r} is {value!r}, which the features do not "
                        f"know; they know {', '.join(sorted(values))}. Make it one of these, or "
                        'give unseen="ignore", for which it is none of them'
                    )

    def _text(self, name: str) -> tuple[Whole, list[str]]:
        """Return a code for each row, and the texts that codes stand for."""
        if name not in self._texts:
            codes: dict[str, int] = {}
            numbers = [codes.setdefault(str(x), len(codes)) for x in self.table[name]]
            self._texts[name] = np.array(numbers), list(codes)
        return self._texts[name]


def _positions(nodes: Any) -> Array:
    names = ["lon", "lat"] if "lon" in getattr(nodes, "columns", ()) else ["x", "y"]
    _check_table("nodes", nodes, names)
    xy = np.stack([_numbers("nodes", nodes, name) for name in names], axis=1)
    if names == ["x", "y"]:
        return xy
    if not (np.abs(xy[:, 1]) <= 90.0).all():
        raise InputError("nodes: lat must be from -90 to 90 degrees; are lon and lat swapped?")
    off = xy - xy[0]
    off[:, 0] = (off[:, 0] + 180.0) % 360.0 - 180.0  # also across the date line
    off -= 0.5 * (off.min(axis=0) + off.max(axis=0))
    off[:, 0] *= np.cos(np.radians(0.5 * (xy[:, 1].min() + xy[:, 1].max())))
    return _EARTH * np.radians(off)


def _check_units(graph: Graph) -> None:
    """Raise where coordinates are degrees and lengths metres: angles and pictures would be bent."""
    at = graph.position
    if at is None or "length" not in graph.names or (np.abs(at) > [180.0, 90.0]).any():
        return
    far = np.maximum(np.linalg.norm(at[graph.head] - at[graph.tail], axis=1), 1e-12)
    ratio = np.median(graph.features[:, graph.names.index("length")] / far)
    if _DEGREE[0] <= ratio <= _DEGREE[1]:
        raise InputError(
            f"nodes has x and y that look like degrees beside lengths in metres ({ratio:.0f} a "
            "unit); call the columns lon and lat, and they become metres"
        )


class Join(NamedTuple):
    """A gap of a trip, and what joined it."""

    trip: Hashable
    row: Hashable
    """Of the table of trips, by its index: the first after the gap."""
    nodes: tuple[Hashable, ...]
    """From before the gap to after it; one node where it came twice in a row."""


class Trips(tuple[Task, ...]):
    """A task for each trip, in the order in which trips begin in the table.

    Attributes
    ----------
    joined : tuple of Join
        What was joined, in the same order.
    dropped : dict
        Trips that were left out, and why.
    """

    joined: tuple[Join, ...]
    dropped: dict[Hashable, str]


def paths_from_pandas(
    trips: Any,
    graph: Graph,
    *,
    parallel: str | None = None,
    gaps: str | None = None,
    loss: PathLoss | None = None,
    bad: str = "refuse",
) -> Trips:
    """Return the trips of a table as tasks: a row is a node, or an edge, that a trip comes by.

    Parameters
    ----------
    trips : pandas.DataFrame
        With columns ``trip``, what trips are called; ``node`` or ``edge``; and, where rows are not
        in order within trips, ``order``, numbers or times. An edge is one of the graph's `keys`,
        or (source, target, key). Where both are there edges count.
    graph : Graph
        A `TurnGraph` takes trips along its original.
    parallel : str, optional
        Where several arcs join two nodes in a row the trip takes the one with the least of this
        feature, such as ``"length"``. By default that is refused: what was done is not known.
    gaps : str, optional
        Where no arc joins two rows the path with the least sum of this feature, which must be
        >= 0, joins them; and a node that comes twice in a row counts once. `Trips.joined` says
        what was joined. By default that is refused.
    loss : PathLoss, optional
        Of the tasks; by default `Missed()`.
    bad : {"refuse", "drop"}
        Whether to raise for trips that cannot be read, or to leave them out; see `Trips.dropped`.

    Returns
    -------
    Trips
        A tuple of `Task`, called ``trip`` and what the table calls them.

    Raises
    ------
    InputError
        For a table that is empty or lacks a column; with trip and row for a node or an edge that
        is not in the graph, a gap, a one-way street in the wrong direction, one of several
        parallel arcs, two rows of the same order; for a trip of one node, or one that ends where
        it starts; and where no trip is left.
    """
    if bad not in ("refuse", "drop"):
        raise InputError(f'bad must be "refuse" or "drop", got {bad!r}')
    columns = [name for name in ("edge", "order") if name in getattr(trips, "columns", ())]
    if "edge" not in columns:
        columns.insert(0, "node")
    _check_table("trips", trips, ["trip", *columns])
    if "order" in columns:
        twice = trips.duplicated(["trip", "order"]).to_numpy()
        if twice.any():
            row = trips.index.tolist()[int(twice.argmax())]
            raise InputError(
                f"trips, row {row!r}: its trip has another row of the same order; say which comes "
                "first"
            )
        trips = trips.sort_values("order", kind="stable")
    reader = _Reader(graph, columns[0] == "edge", parallel, gaps)
    tasks, joined, dropped = [], [], {}
    for trip, rows in trips.groupby("trip", sort=False, observed=True)[columns[0]]:
        try:
            tasks.append(reader.task(trip, rows.items(), loss))
            joined += reader.joined
        except InputError as error:
            dropped[trip] = f"trip {trip!r}, {error}"
    if dropped and (bad == "refuse" or not tasks):
        remedy = '; bad="drop" leaves them out' if tasks else ""
        count = f"{len(dropped)} of {len(dropped) + len(tasks)} trips are refused{remedy}"
        raise InputError(f"{next(iter(dropped.values()))} ({count})")
    made = Trips(tasks)
    made.joined, made.dropped = tuple(joined), dropped
    return made


class _Reader:
    """Makes tasks of trips, one after the other."""

    def __init__(self, graph: Graph, by_edge: bool, parallel: str | None, gaps: str | None) -> None:
        self.asked, self.by_edge, self.parallel, self.gaps = graph, by_edge, parallel, gaps
        self.graph = graph = graph.original if isinstance(graph, TurnGraph) else graph
        self._lengths = {name: self._feature(name) for name in (parallel, gaps) if name is not None}
        self._between: dict[tuple[int, int], list[int]] = {}
        for arc, pair in enumerate(zip(graph.tail.tolist(), graph.head.tolist(), strict=True)):
            self._between.setdefault(pair, []).append(arc)
        self._known = self._edges() if by_edge else {}
        for node in range(0 if by_edge else graph.nodes):
            self._known[graph.label(node)] = node
        self._found: dict[tuple[int, int], Any] = {}
        self.joined: list[Join] = []

    def task(self, trip: Hashable, rows: Iterable[Any], loss: PathLoss | None) -> Task:
        """Return the task of a trip from its (row, name of a node or an edge)."""
        self.joined, arcs, at, row = [], [], None, None
        for row, name in rows:
            number = self._number(row, name)
            goal = int(self.graph.tail[number]) if self.by_edge else number
            if at is not None and not (self.by_edge and at == goal):
                arcs += self._step(trip, row, at, goal)
            if self.by_edge:
                arcs.append(number)
            at = int(self.graph.head[number]) if self.by_edge else number
        if not arcs:
            raise InputError(f"row {row!r}: it has one node, and needs two; leave it out")
        path = self.graph.path(arcs=arcs)
        path = self.asked.lift(path) if isinstance(self.asked, TurnGraph) else path
        if path.source == path.target:
            raise InputError(
                f"from {path.nodes[0]!r} back to it: no shortest path does so; cut it in two, or "
                "leave it out"
            )
        return Task.along(path, loss, name=f"trip {trip}")

    def _step(self, trip: Hashable, row: Hashable, u: int, v: int) -> list[int]:
        """Return the arc that joins two nodes, or the arcs where there is a gap, or raise."""
        arcs = [] if self.by_edge else self._between.get((u, v), [])
        if len(arcs) > 1 and self.parallel is None:
            keys, first = self.graph.keys, self.graph.names[0]
            named = [f"arc {a}" + ("" if keys is None else f" (key {keys[a]!r})") for a in arcs]
            raise InputError(
                f"row {row!r}: {self.graph.label(u)!r} -> {self.graph.label(v)!r} may be "
                f"{' or '.join(named)}; name edges in a column 'edge', or take the one of least "
                f"{first} with parallel={first!r}"
            )
        if arcs:
            return [min(arcs, key=self._lengths[self.parallel].item)] if self.parallel else arcs
        if self.gaps is None:
            raise InputError(self._apart(row, u, v))
        nodes: tuple[Hashable, ...] = (self.graph.label(u),)
        if u != v:
            if (u, v) not in self._found:
                ends = nodes[0], self.graph.label(v)
                try:
                    path = shortest_path(self.graph, self._lengths[self.gaps], *ends).path
                except InputError as error:
                    raise InputError(f"row {row!r}: {error}; leave the trip out") from None
                self._found[u, v] = path.arcs.tolist(), tuple(path.nodes)
            arcs, nodes = self._found[u, v]
        self.joined.append(Join(trip, row, nodes))
        return arcs

    def _apart(self, row: Hashable, u: int, v: int) -> str:
        """Return what is wrong where no arc joins two nodes."""
        names, first = (self.graph.label(u), self.graph.label(v)), self.graph.names[0]
        if u == v:
            what = f"{names[0]!r} comes twice in a row; leave one out"
        elif (v, u) in self._between and (u, v) not in self._between:
            back = self.graph.arc_name(self._between[v, u][0])
            what = f"{names[0]!r} -> {names[1]!r} is the wrong way of {back}, which is one-way; "
            what += "turn the trip, add the arc"
        else:
            what = "a gap" if self.by_edge else "no arc leads"
            what += f" from {names[0]!r} to {names[1]!r}; give what lies between"
        return f"row {row!r}: {what}, or join gaps by least {first} with gaps={first!r}"

    def _number(self, row: Hashable, name: Any) -> int:
        number = self._known.get(name, -1) if isinstance(name, Hashable) else -1
        if number >= 0:
            return number
        what = f"row {row!r}: {'edge' if self.by_edge else 'node'} {name!r}"
        if number == -2:
            raise InputError(f"{what} may be several; give (source, target, {name!r})")
        for other in (str(name), int(name) if str(name).isdecimal() else None):
            if other in self._known:
                raise InputError(f"{what} is {other!r} in the graph; make both of one type, astype")
        raise InputError(
            f"{what} is not in the graph; leave the trip out, or match it to the graph"
        )

    def _edges(self) -> dict[Hashable, int]:
        """Return arcs by what they are called; −2 for what several are called."""
        known: dict[Hashable, int] = {}
        if self.graph.keys is None:
            raise InputError(
                "trips has edges, and those of the graph have no names; give from_pandas edge=, or "
                "trips a column of nodes"
            )
        for (u, v), arcs in self._between.items():
            for arc in arcs:
                key = self.graph.keys[arc]
                known[key] = -2 if key in known else arc
                known[self.graph.label(u), self.graph.label(v), key] = arc
        return known

    def _feature(self, name: str) -> Array:
        if name not in self.graph.names:
            raise InputError(
                f"parallel and gaps must be features of the graph, {', '.join(self.graph.names)}, "
                f"got {name!r}"
            )
        made: Array = self.graph.arc_features[:, self.graph.names.index(name)]
        if name == self.gaps and made.min() < 0.0:
            raise InputError(f"gaps needs a feature >= 0, and {name!r} is {made.min():g} somewhere")
        return made
