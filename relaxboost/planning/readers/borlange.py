"""Routes driven in Borlänge: GPS trips, and the network of links they were matched to."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from relaxboost import planning
from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError
from relaxboost.planning.readers.fields import NumberField, row
from relaxboost.planning.readers.places import SOURCES, lines

TEXTS = (
    "linkIncidence.txt",
    "ATTRIBUTEestimatedtime.txt",
    "ATTRIBUTEturnangles.txt",
    "observationsForEstimBAI.txt",
)
_SLIGHT, _STRAIGHT, _BACK = 15.0, 40.0, 177.0  # degrees up to which turns are so
_HALF_TURN = np.pi + 1e-6  # angles are printed, and so a little over π at times
_MOST = 10**7  # links, trips or places; far beyond any city, and keeps indices in bounds
_ENTRY = (
    NumberField("the row", 1, _MOST),
    NumberField("the column", 1, _MOST),
    NumberField("the value"),
)


class Routes(NamedTuple):
    """Trips through a network of links; links are numbered from 1, as in the files."""

    links: int
    """How many links; larger numbers are destinations."""
    arcs: Whole
    """From which link to which one may drive, shape (A, 2), sorted."""
    time: Array
    """Estimated minutes (by their size; the files name no unit) for the link that an arc leads to,
    shape (A,), at least 0."""
    turn_angle: Array
    """Radians turned on an arc, shape (A,), negative to the left; NaN where unknown."""
    destination_arcs: Whole
    """Pairs of a link and a destination that trips can end with, shape (D, 2), sorted by
    destination."""
    paths: tuple[Whole, ...]
    """The links of each of T trips, in order, at least one."""
    destinations: Whole
    """The destination that each trip ends in, shape (T,), larger than `links`."""


def read_routes(path: str | PathLike[str]) -> Routes:
    """Read the trips from the four published text files, gzipped or not.

    They are sparse matrices, a line for each entry with row, column and value: linkIncidence.txt
    (from link, to link or destination, 1), ATTRIBUTEestimatedtime.txt, ATTRIBUTEturnangles.txt, and
    observationsForEstimBAI.txt (trip, place in it, link; the first and the last of a trip are its
    destination).

    A destination is no link of the road but an absorbing one that is added after the last link
    of a trip, as the recursive logit needs it. Attributes of pairs that are not in linkIncidence
    are left out, as its authors do: ATTRIBUTEestimatedtime has eleven, eight of them from a link
    to itself.

    The matrix of turn angles was published without its last column, and so the angle is unknown,
    NaN, on the arcs to the last link. In the published data they are two, 2149 -> 7288 and
    7287 -> 7288; no other is missing. The second must be a u-turn, as 7288 -> 7287 is one.

    Parameters
    ----------
    path : path
        The folder of the files.

    Returns
    -------
    Routes

    Raises
    ------
    InputError
        If a file is missing (with where to get it) or cannot be read; a line is malformed; an arc
        comes twice or has no time; a trip uses a transition that is no arc (naming both), or does
        not end in its destination.

    References
    ----------
    .. [1] M. Fosgerau, E. Frejinger and A. Karlstrom, "A link based network route choice model
           with unrestricted choice set", Transportation Research Part B 56, 2013.
    .. [2] T. Mai, M. Fosgerau and E. Frejinger, "A nested recursive logit model for route choice
           analysis", Transportation Research Part B 75, 2015.
    """
    folder, found = Path(path), []
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder; name that of the files, from {_source()}")
    for name in TEXTS:
        files = [p for p in (folder / name, folder / f"{name}.gz") if p.is_file()]
        if not files:
            raise InputError(f"{folder} has no {name} (or with .gz); get it from {_source()}")
        found.append(files[0])
    incidence, times, angles, observed = (_entries(path) for path in found)
    for pair, value in incidence.items():
        if value != 1:
            raise InputError(f"{found[0]}: the entry {pair[0]}, {pair[1]} is not 1, as all must be")
    links = max(tail for tail, _ in incidence)
    arcs = sorted(pair for pair in incidence if pair[1] <= links)
    for arc in arcs:
        if arc not in times:
            raise InputError(f"{found[1]}: no time for the arc {arc[0]} -> {arc[1]}")
    ends = sorted((head, tail) for tail, head in incidence if head > links)
    trips = _trips(found[3], observed)
    routes = Routes(
        links,
        np.array(arcs, dtype=np.int64).reshape(-1, 2),
        np.array([times[arc] for arc in arcs]),
        np.array([angles.get(arc, np.nan) for arc in arcs]),
        np.array([end[::-1] for end in ends], dtype=np.int64).reshape(-1, 2),
        tuple(trip[1:-1] for trip in trips),
        np.array([trip[0] for trip in trips]),
    )
    return _checked(folder, routes)


def left_turns(routes: Routes) -> Array:
    """Return 1 for each arc that is a left turn, else 0, shape (A,).

    A left turn is an angle to the left of more than 40 and less than 177 degrees, as Fosgerau,
    Frejinger & Karlstrom (2013) say; a fifth of the arcs are. (The published code of Mai has 30
    degrees, with 40 in a comment, and 3.1 radians, 177.6 degrees, which makes three arcs no
    u-turns; the published estimates are those of the code.) Left is negative: so that code has it,
    and so the data: every roundabout and every other circle of one-way links, which in Sweden are
    driven anticlockwise, sums to -2π. Where the angle is unknown it is 0, as in the code.
    """
    degrees = np.degrees(np.nan_to_num(routes.turn_angle))
    return ((degrees < -_STRAIGHT) & (degrees > -_BACK)).astype(np.float64)


def u_turns(routes: Routes) -> Array:
    """Return 1 for each arc that is a u-turn, else 0, shape (A,).

    A u-turn is an angle of 177 degrees or more to either side. Where it is unknown it is 0, as in
    the published code; see `left_turns` and `read_routes`.
    """
    return (np.abs(np.degrees(np.nan_to_num(routes.turn_angle))) >= _BACK).astype(np.float64)


def _source() -> str:
    return SOURCES["borlange"]


def _entries(path: Path) -> dict[tuple[int, int], float]:
    """Return the entries of a sparse matrix by row and column."""
    entries: dict[tuple[int, int], float] = {}
    for n, line in lines(path):
        first, second, value = row(path, n, line.split(), _ENTRY)
        at = int(first), int(second)
        if at in entries:
            raise InputError(f"{path}, line {n}: the entry {at[0]}, {at[1]} comes again")
        entries[at] = value
    if not entries:
        raise InputError(f"{path} has no entries; get the file again")
    return entries


def _trips(path: Path, observed: dict[tuple[int, int], float]) -> list[Whole]:
    """Return the places of each trip: its destination, links, and its destination again."""
    places: dict[int, dict[int, float]] = defaultdict(dict)
    for (trip, place), link in observed.items():
        places[trip][place] = link
    trips = []
    for trip in range(1, max(places) + 1):
        found = [places[trip].get(place) for place in range(1, len(places[trip]) + 1)]
        if None in found or len(found) < 3:
            raise InputError(
                f"{path}: trip {trip} has places {sorted(places[trip])[:5]}; it needs 1, 2, 3 ... "
                "without gaps: destination, links, destination"
            )
        links = np.array(found, dtype=np.float64)
        known = (links >= 1) & (links <= _MOST) & (links == np.floor(links))
        if links[0] != links[-1] or not known.all():
            raise InputError(
                f"{path}: trip {trip} begins with {links[0]:g} and ends with {links[-1]:g}; both "
                "must be its destination, and all of it whole numbers from 1"
            )
        trips.append(links.astype(np.int64))
    return trips


def _checked(path: Path, routes: Routes) -> Routes:
    """Return routes, or raise for what does not fit together in them."""
    for name, pairs in (("arc", routes.arcs), ("destination's arc", routes.destination_arcs)):
        if not len(pairs):
            raise InputError(f"{path} has no {name}; get the file again")
    for what, wrong in (
        ("time must be at least 0", routes.time < 0.0),
        ("turn angle must be radians, -π to π", np.abs(routes.turn_angle) > _HALF_TURN),
    ):
        if wrong.any():
            tail, head = routes.arcs[np.flatnonzero(wrong)[0]]
            raise InputError(f"{path}, arc {tail} -> {head}: its {what}")
    _check_trips(path, routes)
    return routes


def _check_trips(path: Path, routes: Routes) -> None:
    """Raise at the first transition of a trip that is no arc."""
    legal = set(map(tuple, routes.arcs.tolist()))
    final = set(map(tuple, routes.destination_arcs.tolist()))
    for trip, (links, end) in enumerate(
        zip(routes.paths, routes.destinations.tolist(), strict=True), start=1
    ):
        row = links.tolist()
        for place, step in enumerate(pairwise(row), start=1):
            if step not in legal:
                raise InputError(
                    f"{path}: trip {trip}, transition {place}, {step[0]} -> {step[1]} is no arc"
                )
        if (row[-1], end) not in final:
            raise InputError(
                f"{path}: trip {trip} ends with link {row[-1]}, which does not lead to its "
                f"destination {end}"
            )


_CLASSES = (0.0, 0.3, 0.5, 0.7, 0.85, 0.95, 1.0)
"""Quantiles of traffic between which links are of a class."""


def link_graph(
    routes: Routes, features: str = "plain", *, trips: int = 4000, seed: int = 0
) -> planning.Graph:
    """Return the network as a graph whose nodes are links and destinations, labelled as in files.

    Arcs are those of `routes.arcs`, then those of `routes.destination_arcs`, whose features are 0:
    the time of an arc is that of the link it leads to, and a destination is no road.

    Parameters
    ----------
    routes : Routes
    features : {"plain", "rich"}
        ``"plain"``: time, left turn, u-turn and link, those of the recursive logit's authors.
        ``"rich"`` adds what the network tells about them, all >= 0: turns at junctions only, which
        are links that lead on to more than one other without a u-turn; how many ways lead on, and
        in; and by `planning.traffic` of random quickest trips the class of a link from side street
        (0) to main road (5), as minutes in each class and as a constant for each, and how much
        busier or quieter the link is than the one before, in logarithms.
    trips, seed
        Of `planning.traffic`.

    Returns
    -------
    planning.Graph
    """
    if features not in ("plain", "rich"):
        raise InputError(f'features must be "plain" or "rich", got {features!r}')
    tail, head = np.concatenate([routes.arcs, routes.destination_arcs]).T
    labels = np.unique(np.concatenate([np.arange(1, routes.links + 1), head]))
    place = np.searchsorted(labels, tail), np.searchsorted(labels, head)
    columns = {
        "time": routes.time,
        "left turn": left_turns(routes),
        "u-turn": u_turns(routes),
        "link": np.ones(len(routes.arcs)),
    }
    if features == "rich":
        columns |= _turns(routes)
        columns |= _hierarchy(routes, *place, len(labels), trips, seed)
    X = np.zeros((len(tail), len(columns)))
    X[: len(routes.arcs)] = np.stack(list(columns.values()), axis=1)
    return planning.Graph(*place, X, nodes=labels.tolist(), names=list(columns))


def link_tasks(
    routes: Routes,
    graph: planning.Graph,
    loss: planning.PathLoss | None = None,
    trips: Whole | None = None,
) -> list[planning.Task]:
    """Return trips as tasks, each from its first link to its destination.

    Parameters
    ----------
    routes : Routes
    graph : Graph
        Of `link_graph`, or with its labels.
    loss : PathLoss, optional
        By default `planning.Missed()`.
    trips : array of int, optional
        Which trips, from 0; by default all.
    """
    which = range(len(routes.paths)) if trips is None else trips
    made = []
    for k in which:
        nodes = [*routes.paths[k].tolist(), int(routes.destinations[k])]
        made.append(planning.Task(graph, nodes[0], nodes[-1], nodes, loss, name=f"trip {k}"))
    return made


def _turns(routes: Routes) -> dict[str, Array]:
    """Return features of turns and junctions."""
    tail, head = routes.arcs.T - 1
    degrees = np.degrees(np.nan_to_num(routes.turn_angle))
    forward = u_turns(routes) == 0.0
    out = np.bincount(tail[forward], minlength=routes.links)[tail]
    into = np.bincount(head[forward], minlength=routes.links)[head]
    junction = out > 1
    right = forward & (degrees > _STRAIGHT)
    slight = (np.abs(degrees) > _SLIGHT) & (np.abs(degrees) <= _STRAIGHT)
    found = {
        "left at junction": (left_turns(routes) > 0.0) & junction,
        "right at junction": right & junction,
        "junction": junction,
        "large junction": out > 2,
        "slight turn": slight,
        "merging": into > 1,
    }
    return {name: values.astype(np.float64) for name, values in found.items()}


def _hierarchy(
    routes: Routes, tail: Whole, head: Whole, nodes: int, trips: int, seed: int
) -> dict[str, Array]:
    """Return features of how busy links are in random trips.

    Trips are the quickest with turns that take a few seconds, which are less prone to short cuts
    through side streets than the quickest without.
    """
    road = len(routes.arcs)
    minutes = np.zeros(len(tail))
    minutes[:road] = routes.time + 0.2 * left_turns(routes) + u_turns(routes) + 0.03
    graph = planning.Graph(tail, head, minutes, nodes=nodes)
    passed = planning.traffic(graph, minutes, trips, seed)
    into = np.bincount(head, weights=passed, minlength=nodes)
    here, before = into[head[:road]], into[tail[:road]]
    found = {}
    edges = np.quantile(here, _CLASSES[1:-1])
    kind = np.digitize(here, edges)
    for k in range(len(_CLASSES) - 1):
        found[f"time in class {k}"] = routes.time * (kind == k)
        found[f"link of class {k}"] = (kind == k).astype(np.float64)
    rise = np.log1p(here) - np.log1p(before)
    found["busier"], found["quieter"] = np.maximum(rise, 0.0), np.maximum(-rise, 0.0)
    return found
