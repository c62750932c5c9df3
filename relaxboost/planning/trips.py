"""Planning tasks from pandas tables of trips."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost._core.names import did_you_mean
from relaxboost._core.tables import FILE
from relaxboost.planning.graphs import Graph, Path, check_graph
from relaxboost.planning.labels import near_label
from relaxboost.planning.losses import PathLoss
from relaxboost.planning.planners import shortest_path
from relaxboost.planning.tables import at, called, check_table
from relaxboost.planning.tasks import Task
from relaxboost.planning.turns import TurnGraph

STEPS = ("node", "edge")
"""The names of the columns that can hold the steps of a trip."""


class Join(NamedTuple):
    """The record of a gap between two rows of a trip, and of the path that fills it."""

    trip: Hashable
    row: Hashable
    """The index of the row after the gap in the table of trips."""
    nodes: tuple[Hashable, ...]
    """The nodes of the path that fills the gap, or a single node if both rows are at the same
    node."""


class Trips(tuple[Task, ...]):
    """The tasks from a table of trips, one for each trip, in the order in which trips first appear.

    Attributes
    ----------
    joined : tuple of Join
        The gaps that were filled, in the order of the table.
    dropped : dict
        The reasons why trips were left out, by the label of the trip.
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
    """Read the trips in a table as tasks.

    Parameters
    ----------
    trips : pandas.DataFrame
        The table, with a row for each step of a trip, or a row for each trip. A step is an edge or
        a node, in the column ``edge`` or, without it, in the column ``node``. The column ``trip``
        contains the label of the trip. An edge is an entry of the graph's `keys`, or a tuple
        (source, target, key). If the rows of a trip are not in order, a column ``order`` must
        contain numbers or times. In a table with a row for each trip, the column ``path`` contains
        its nodes, as a list or as text with spaces, and the columns ``name`` and ``weight`` are
        optional.
    graph : Graph
        The graph of the trips, or a `TurnGraph` whose original graph is that of the trips.
    parallel : str, optional
        A feature, such as ``"length"``. If several arcs join two consecutive nodes, the trip takes
        the arc with the least value of this feature. By default, such a trip is rejected.
    gaps : str, optional
        A feature >= 0. If no arc joins two consecutive nodes, the gap is filled with the path that
        has the least sum of this feature. If both nodes are the same, no arc is added.
        `Trips.joined` lists these gaps. By default, a trip with a gap is rejected.
    loss : PathLoss, optional
        The loss of the tasks. The default is `Missed()`.
    bad : {"refuse", "drop"}
        The treatment of trips that cannot be read. ``"refuse"`` raises an InputError, and
        ``"drop"`` leaves them out; see `Trips.dropped`.

    Returns
    -------
    Trips
        The tasks. The name of each task is ``trip`` followed by its label in the table, or by its
        row number from 1 if the table has paths without names.

    Raises
    ------
    InputError
        If the table is empty or lacks a column, if the order is text or has ties, or if no trip is
        left. For a trip with an unknown node or edge, a gap, an ambiguous arc, a single node or
        equal ends, the message names the trip and the row.
    """
    if bad not in ("refuse", "drop"):
        raise InputError(f'bad must be "refuse" or "drop", got {bad!r}')
    check_graph(graph)
    trips, step, weights = _by_steps(trips)
    reader = _Reader(graph, step == "edge", parallel, gaps)
    paths: dict[Hashable, Path] = {}
    joined: list[Join] = []
    dropped: dict[Hashable, str] = {}
    # Trips keep the order in which they appear in the table.
    for trip, rows in trips.groupby("trip", sort=False, observed=True)[step]:
        try:
            paths[trip] = reader.path(trip, rows.items())
            joined += reader.joined
        except InputError as error:
            where = f"trip {trip!r}, row {reader.row!r}"
            if FILE in trips.attrs:
                where = f"{trips.attrs[FILE]}, line {reader.row}, trip {trip!r}"
            dropped[trip] = f"{where}: {error}"
    if dropped and (bad == "refuse" or not paths):
        remedy = '; bad="drop" leaves them out' if paths else ""
        count = f"{len(dropped)} of {len(dropped) + len(paths)} trips are refused{remedy}"
        raise InputError(f"{next(iter(dropped.values()))} ({count})")
    made = Trips(
        Task.along(path, loss, name=f"trip {trip}", weight=weights.get(trip, 1.0))
        for trip, path in paths.items()
    )
    made.joined = tuple(joined)
    made.dropped = dropped
    return made


def _by_steps(trips: Any) -> tuple[Any, str, dict[Hashable, float]]:
    """Return a table with a row for each step, the name of its step column, and the weights of the
    trips."""
    weights: dict[Hashable, float] = {}
    columns = set(getattr(trips, "columns", ()))
    if "path" in columns and not columns & set(STEPS):
        trips, weights = _steps(trips)
    # If both columns exist, edges are used, because nodes do not identify parallel arcs.
    step = "edge" if "edge" in getattr(trips, "columns", ()) else "node"
    return _checked(trips, step), step, weights


def _steps(trips: Any) -> tuple[Any, dict[Hashable, float]]:
    """Return a table with a row for each step, and the weights of the trips, from a table of
    paths."""
    unknown = sorted(set(map(str, trips.columns)) - {"path", "name", "weight"})
    if unknown:
        raise InputError(
            f"{called('trips', trips)} has an unknown column {unknown[0]!r}; use only path, name "
            "and weight"
        )
    check_table("trips", trips, ["path"])
    # A trip without a name is named by the number of its row.
    places = [str(place) for place in range(1, len(trips) + 1)]
    names = trips["name"].fillna("") if "name" in trips.columns else ""
    table = trips.assign(trip=names)
    table["trip"] = table["trip"].mask(table["trip"] == "", places)
    twice = table["trip"].duplicated().to_numpy()
    if twice.any():
        row = table.index.tolist()[int(twice.argmax())]
        raise InputError(
            f"{at('trips', trips, row)}: an earlier trip has the same name "
            f"{table['trip'].iloc[int(twice.argmax())]!r}; rename one of the trips"
        )
    weights = zip(table["trip"], table["weight"], strict=True) if "weight" in table.columns else ()
    table["node"] = [x.split() if isinstance(x, str) else x for x in table["path"]]
    steps = table[["trip", "node"]].explode("node")
    return steps, dict(weights)


def _checked(trips: Any, step: str) -> Any:
    """Check the columns of a table of trips, and return its rows sorted by the column `order`."""
    known = getattr(trips, "columns", ())
    near = next(filter(None, (did_you_mean(str(x), STEPS, 0.6) for x in known)), "")
    if step not in known and near:
        raise InputError(
            f"{called('trips', trips)} needs a column 'node' or 'edge'; it has "
            f"{', '.join(map(str, known))}{near}"
        )
    check_table("trips", trips, ["trip", step])
    if "order" not in known:
        return trips
    check_table("trips", trips, ["order"])
    import pandas as pd

    order = trips["order"]
    rows = trips.index.tolist()
    # Text is rejected, because "10" sorts before "9".
    if order.infer_objects().dtype.kind not in "iufmM":
        first = int(pd.to_numeric(order.astype(object), errors="coerce").isna().argmax())
        raise InputError(
            f"{at('trips', trips, rows[first])}: order must be a number or a time, got "
            f"{order.iloc[first]!r}; make numbers of the column, with astype(float), or times, "
            "with pandas.to_datetime"
        )
    # A stable sort would hide that the order of these rows is unknown.
    twice = trips.duplicated(["trip", "order"]).to_numpy()
    if twice.any():
        raise InputError(
            f"{at('trips', trips, rows[int(twice.argmax())])}: another row of the trip has the "
            "same order; each row of a trip needs a different order"
        )
    return trips.sort_values("order", kind="stable")


class _Reader:
    """A reader that converts the rows of one trip after another to paths."""

    def __init__(self, graph: Graph, by_edge: bool, parallel: str | None, gaps: str | None) -> None:
        self.asked = graph
        self.by_edge = by_edge
        self.parallel = parallel
        self.gaps = gaps
        self.graph = graph = graph.original if isinstance(graph, TurnGraph) else graph
        self._lengths = {name: self._feature(name) for name in (parallel, gaps) if name is not None}
        # Trips have many steps, so that the arcs between each pair of nodes are looked up.
        self._between: dict[tuple[int, int], list[int]] = {}
        for arc, pair in enumerate(zip(graph.tail.tolist(), graph.head.tolist(), strict=True)):
            self._between.setdefault(pair, []).append(arc)
        self._known = self._edges() if by_edge else {}
        for node in range(0 if by_edge else graph.nodes):
            self._known[graph.label(node)] = node
        # The same gap often occurs in many trips.
        self._found: dict[tuple[int, int], Any] = {}
        self.joined: list[Join] = []
        self._searches = True
        self.row: Hashable = None
        """The index of the current row, for error messages."""

    def path(self, trip: Hashable, rows: Iterable[Any]) -> Path:
        """Return the path of a trip, given its rows as pairs of an index and a node or edge."""
        self.joined = []
        arcs: list[int] = []
        here = None
        for self.row, name in rows:
            first = last = number = self._number(name)
            own = [number] if self.by_edge else []
            if self.by_edge:
                first = int(self.graph.tail[number])
                last = int(self.graph.head[number])
            # A row that repeats a node is a gap, unless rows are edges.
            if here is not None and (here != first or not own):
                arcs += self._step(trip, here, first)
            arcs += own
            here = last
        if not arcs:
            raise InputError("the trip has only one node, but a path needs two; leave the trip out")
        path = self.graph.path(arcs=arcs)
        # Only the turn graph knows which turns are forbidden.
        path = self.asked.lift(path) if isinstance(self.asked, TurnGraph) else path
        # A task needs two different ends.
        if path.source == path.target:
            raise InputError(
                f"the trip starts and ends at {path.nodes[0]!r}, which no shortest path does; cut "
                "the trip in two, or leave it out"
            )
        return path

    def _step(self, trip: Hashable, u: int, v: int) -> list[int]:
        # Between two named edges any further arc is a gap, even if it is the only arc.
        arcs = [] if self.by_edge else self._between.get((u, v), [])
        if len(arcs) > 1 and self.parallel is None:
            keys = self.graph.keys
            first = self.graph.names[0]
            named = [f"arc {a}" + ("" if keys is None else f" (key {keys[a]!r})") for a in arcs]
            raise InputError(
                f"{self.graph.label(u)!r} -> {self.graph.label(v)!r} is ambiguous, because it may "
                f"be {' or '.join(named)}; name the edges in a column 'edge', or choose the arc of "
                f"least {first} with parallel={first!r}"
            )
        if arcs:
            return [min(arcs, key=self._lengths[self.parallel].item)] if self.parallel else arcs
        if self.gaps is None:
            raise InputError(self._apart(u, v))
        nodes: tuple[Hashable, ...] = (self.graph.label(u),)
        if u != v:
            if (u, v) not in self._found:
                ends = nodes[0], self.graph.label(v)
                try:
                    path = shortest_path(self.graph, self._lengths[self.gaps], *ends).path
                except InputError as error:
                    raise InputError(f"{error}; leave the trip out") from None
                self._found[u, v] = path.arcs.tolist(), tuple(path.nodes)
            arcs, nodes = self._found[u, v]
        self.joined.append(Join(trip, self.row, nodes))
        return arcs

    def _apart(self, u: int, v: int) -> str:
        """Return an error message that explains why no arc joins two nodes, with advice."""
        names = self.graph.label(u), self.graph.label(v)
        first = self.graph.names[0]
        if u == v:
            what = f"{names[0]!r} appears twice in a row; remove one of the rows"
        # Trips against a one-way street are frequent in recorded data.
        elif (v, u) in self._between and (u, v) not in self._between:
            back = self.graph.arc_name(self._between[v, u][0])
            what = f"{names[0]!r} -> {names[1]!r} is the wrong way along {back}, which is one-way; "
            what += "reverse the trip, add the arc"
        else:
            what = "a gap" if self.by_edge else "no arc leads"
            what += f" from {names[0]!r} to {names[1]!r}; add the rows in between"
        return f"{what}, or fill gaps with the path of least {first} by gaps={first!r}"

    def _number(self, name: Any) -> int:
        number = self._known.get(name, -1) if isinstance(name, Hashable) else -1
        if number >= 0:
            return number
        what = f"{'edge' if self.by_edge else 'node'} {name!r}"
        if number == -2:
            raise InputError(f"{what} is the key of several arcs; give (source, target, {name!r})")
        # Thousands of trips may be left out, and a search for similar names takes long.
        near = near_label(name, self._known) if self._searches else ""
        self._searches = False
        remedy = near or "; leave the trip out, or match it to the graph"
        raise InputError(f"{what} is not in the graph{remedy}")

    def _edges(self) -> dict[Hashable, int]:
        """Return the arc index of each edge key of the graph, or −2 if several arcs have the
        key."""
        known: dict[Hashable, int] = {}
        if self.graph.keys is None:
            raise InputError(
                "trips has a column 'edge', but the arcs of the graph have no keys; give "
                "from_pandas edge=, or use a column 'node' in trips"
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
                f"got {name!r}{did_you_mean(name, self.graph.names, 0.6)}"
            )
        made: Array = self.graph.arc_features[:, self.graph.names.index(name)]
        if name == self.gaps and made.min() < 0.0:
            raise InputError(
                f"gaps needs a feature >= 0, but the least value of {name!r} is {made.min():g}"
            )
        return made
