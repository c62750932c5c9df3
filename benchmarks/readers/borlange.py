"""Recorded routes in Borlänge: GPS trips, and the network of links that they follow."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.readers.fields import NumberField, row
from benchmarks.readers.places import SOURCES, lines, located
from relaxboost import planning
from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError

_STRAIGHT = 40.0  # the largest angle in degrees that is not a turn
_BACK = 177.0  # the smallest angle in degrees that is a u-turn
_HALF_TURN = np.pi + 1e-6  # printed angles may exceed π by rounding
_MOST = 10**7  # more links, trips or places than any city has, so that indices stay in bounds
_PLACE = NumberField("the row", 1, _MOST, True), NumberField("the column", 1, _MOST, True)
FILES = {
    "linkIncidence.txt": NumberField("the value", 1, 1),
    "ATTRIBUTEestimatedtime.txt": NumberField("the time", 0),
    "ATTRIBUTEturnangles.txt": NumberField("the turn angle", -_HALF_TURN, _HALF_TURN),
    "observationsForEstimBAI.txt": NumberField("the link", 1, _MOST, True),
}
"""The files of sparse matrices, and the values of their entries."""


class Routes(NamedTuple):
    """Trips through a network of links; links are numbered from 1, as in the files."""

    links: int
    """The number of links; larger numbers are destinations."""
    arcs: Whole
    """Pairs of a link and a next link, shape (A, 2), sorted."""
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

    A destination is not a road but an absorbing link after the last link of a trip, which the
    recursive logit needs. The reader leaves out attributes of pairs that are not in linkIncidence,
    as the authors do: ATTRIBUTEestimatedtime has eleven such pairs, eight of them from a link to
    itself.

    The matrix of turn angles was published without its last column. Therefore the angle is NaN on
    the two arcs to the last link, 2149 -> 7288 and 7287 -> 7288. The second must be a u-turn,
    because 7288 -> 7287 is one.

    Parameters
    ----------
    path : path
        The folder of the files.

    Raises
    ------
    InputError
        If a file is missing (the message names its source) or cannot be read, if a line is
        malformed, if an arc comes twice or has no time, or if a trip uses a pair of links that is
        no arc or does not end in its destination.

    References
    ----------
    .. [1] M. Fosgerau, E. Frejinger and A. Karlstrom, "A link based network route choice model
           with unrestricted choice set", Transportation Research Part B 56, 2013.
    .. [2] T. Mai, M. Fosgerau and E. Frejinger, "A nested recursive logit model for route choice
           analysis", Transportation Research Part B 75, 2015.
    """
    files = [located(Path(path) / name, SOURCES["borlange"]) for name in FILES]
    incidence, times, angles, observed = map(_entries, files, FILES.values())
    links = max(tail for tail, _ in incidence)
    arcs = sorted(pair for pair in incidence if pair[1] <= links)
    ends = sorted(((u, v) for u, v in incidence if v > links), key=lambda pair: pair[::-1])
    for arc in arcs:
        if arc not in times:
            raise InputError(f"{files[1]}: no time for the arc {arc[0]} -> {arc[1]}")
    trips: dict[int, list[int]] = defaultdict(list)
    for (trip, place), link in sorted(observed.items()):
        if place != len(trips[trip]) + 1 or trip != len(trips):
            raise InputError(f"{files[3]}: trip {len(trips)} has no place {len(trips[trip]) + 1}")
        trips[trip].append(int(link))
    for trip, (destination, *driven) in trips.items():
        if len(driven) < 2 or driven[-1] != destination or destination <= links:
            raise InputError(
                f"{files[3]}: trip {trip} is {destination} ... {driven[-1:]}; it must be its "
                f"destination, which is above {links}, links, and its destination"
            )
        for place, step in enumerate(pairwise(driven), start=1):
            if step not in incidence:
                what = f"trip {trip}, transition {place}, {step[0]} -> {step[1]}"
                raise InputError(f"{files[3]}: {what} is no arc")
    return Routes(
        links,
        np.array(arcs, dtype=np.int64).reshape(-1, 2),
        np.array([times[arc] for arc in arcs]),
        np.array([angles.get(arc, np.nan) for arc in arcs]),
        np.array(ends, dtype=np.int64).reshape(-1, 2),
        tuple(np.array(trip[1:-1]) for trip in trips.values()),
        np.array([trip[0] for trip in trips.values()]),
    )


def _entries(path: Path, value: NumberField) -> dict[tuple[int, int], float]:
    """Return the entries of a sparse matrix by row and column."""
    entries: dict[tuple[int, int], float] = {}
    for n, line in lines(path):
        first, second, entry = row(path, n, line.split(), [*_PLACE, value])
        at = int(first), int(second)
        if at in entries:
            raise InputError(f"{path}, line {n}: the entry {at[0]}, {at[1]} comes again")
        entries[at] = entry
    if not entries:
        raise InputError(f"{path} has no entries; get the file again")
    return entries


def left_turns(routes: Routes) -> Array:
    """Return 1 for each arc that is a left turn, else 0, shape (A,).

    A left turn is an angle to the left of more than 40 and less than 177 degrees (Fosgerau,
    Frejinger & Karlstrom 2013). A fifth of the arcs are left turns. The published code of Mai has
    30 degrees, with 40 in a comment, and 3.1 radians (177.6 degrees), so that three arcs are no
    u-turns; the published estimates belong to the code. Left is negative, as in that code and in
    the data: the angles of every roundabout, driven anticlockwise in Sweden, sum to -2π. An
    unknown angle gives 0, as in the code.
    """
    degrees = np.degrees(np.nan_to_num(routes.turn_angle))
    return ((degrees < -_STRAIGHT) & (degrees > -_BACK)).astype(np.float64)


def u_turns(routes: Routes) -> Array:
    """Return 1 for each arc that is a u-turn, else 0, shape (A,).

    A u-turn is an angle of 177 degrees or more to either side. An unknown angle gives 0, as in the
    published code; see `left_turns` and `read_routes`.
    """
    return (np.abs(np.degrees(np.nan_to_num(routes.turn_angle))) >= _BACK).astype(np.float64)


def link_graph(routes: Routes) -> planning.Graph:
    """Return the network as a graph whose nodes are links and destinations, labelled as in files.

    The arcs are `routes.arcs`, then `routes.destination_arcs`. The time of an arc is that of its
    second link; arcs to destinations have features 0. The features are those of the authors of the
    recursive logit: time, left turn, u-turn, and link, which is 1.
    """
    tail, head = np.concatenate([routes.arcs, routes.destination_arcs]).T
    labels = np.unique(np.concatenate([np.arange(1, routes.links + 1), head]))
    columns = [routes.time, left_turns(routes), u_turns(routes), np.ones(len(routes.arcs))]
    X = np.zeros((len(tail), len(columns)))
    X[: len(routes.arcs)] = np.stack(columns, axis=1)
    return planning.Graph(
        np.searchsorted(labels, tail),
        np.searchsorted(labels, head),
        X,
        nodes=labels.tolist(),
        names=["time", "left turn", "u-turn", "link"],
    )


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
        The graph of `link_graph`, or another with its labels.
    loss : PathLoss, optional
        By default `planning.Missed()`.
    trips : array of int, optional
        Numbers of trips, from 0; by default all.
    """
    made = []
    for k in range(len(routes.paths)) if trips is None else trips:
        nodes = [*routes.paths[k].tolist(), int(routes.destinations[k])]
        made.append(planning.Task(graph, nodes[0], nodes[-1], nodes, loss, name=f"trip {k}"))
    return made
