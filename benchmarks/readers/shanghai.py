"""Taxi trips through Shanghai, in the files of RCM-AIRL."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.readers.fields import archive
from benchmarks.readers.places import SOURCES, located
from relaxboost import planning
from relaxboost._core.arrays import Whole
from relaxboost._core.errors import InputError
from relaxboost._core.tables import read_csv
from relaxboost.planning.tables import called, check_table

TURNS = {"right": 2, "u-turn": 4, "left": 6}
"""Features of turns, and their numbers in transit.npy."""


class TaxiTrips(NamedTuple):
    """Links of a network and trips along them, as tables of pandas."""

    nodes: Any
    """Indexed by OpenStreetMap's number: lon and lat in degrees."""
    links: Any
    """n_id, the number of a link; u and v, its nodes; highway, the first kind; length in metres."""
    turns: Whole
    """A link, a direction, and the next link, shape (T, 3)."""
    trips: Any
    """A row for each link of a trip, in order: trip, by its place in the file, and edge."""


def read_taxi(folder: str | PathLike[str], trips: str = "path.csv") -> TaxiTrips:
    """Read the network and the trips from the folder ``data`` of RCM-AIRL, gzipped or not.

    Parameters
    ----------
    folder : path
        With node.txt (osmid, y, x), edge.txt (u, v, highway, length, n_id and more), transit.npy
        and the trips.
    trips : str
        A file with a column ``path`` of links such as ``204_613_615``: all trips, or a part such
        as ``cross_validation/test_CV0.csv``.

    Raises
    ------
    InputError
        If a file is missing (the message names its source), cannot be read or lacks a column, if a
        link comes twice, or if a path is not a list of numbers.

    References
    ----------
    Zhao & Liang (2023), A deep inverse reinforcement learning approach to route choice modeling
    with context-dependent rewards.
    """
    import pandas as pd

    def table(name: str, columns: list[str]) -> Any:
        read = read_csv(located(Path(folder) / name, SOURCES["rcm-airl"]), texts=["path"])
        check_table(name, read, columns)
        return read[columns]

    nodes = table("node.txt", ["osmid", "y", "x"]).set_index("osmid")
    links = table("edge.txt", ["n_id", "u", "v", "highway", "length"])
    if links["n_id"].duplicated().any():
        raise InputError(f"{called('edge.txt', links)}: a link's n_id comes twice; get it again")
    file = located(Path(folder) / "transit.npy", SOURCES["rcm-airl"])
    (turns,) = archive(file).values()
    if turns.ndim != 2 or turns.shape[1] != 3 or turns.dtype.kind not in "iu":
        raise InputError(f"{file}: it must have whole numbers, shape (T, 3), got {turns.shape}")
    paths = table(trips, ["path"])
    try:
        rows = [(k, int(link)) for k, path in enumerate(paths["path"]) for link in path.split("_")]
    except ValueError as error:
        named = called(trips, paths)
        raise InputError(f"{named}: paths must be such as 8_73_186 ({error})") from None
    return TaxiTrips(
        nodes.rename(columns={"x": "lon", "y": "lat"}),
        links.assign(highway=links["highway"].str.split(",").str[0].str.strip("[]' ")),
        turns.astype(np.int64),
        pd.DataFrame(rows, columns=["trip", "edge"]),
    )


def taxi_graph(
    taxi: TaxiTrips, features: Sequence[str] = ("length", "highway")
) -> planning.TurnGraph:
    """Return the graph of links and turns, with `TURNS` as features besides those of links.

    The turns are those of `TaxiTrips.turns` between adjacent links. `paths_from_pandas` makes tasks
    of the trips, from the first node of their first link to the last node of their last link.

    Parameters
    ----------
    taxi : TaxiTrips
    features : sequence of str
        Features of links, as in `planning.from_pandas`.
    """
    streets = planning.from_pandas(
        taxi.links, features=list(features), edge="n_id", nodes=taxi.nodes
    )
    keys = np.array(streets.keys)
    before, after = (keys[arcs] for arcs in planning.turn_pairs(streets))
    known = {(a, b): direction for a, direction, b in taxi.turns.tolist()}
    found = [known.get(pair, -1) for pair in zip(before.tolist(), after.tolist(), strict=True)]
    directions = np.array(found)
    T = (directions[:, None] == list(TURNS.values())).astype(np.float64)
    return planning.turns(streets, T, names=list(TURNS), allowed=directions >= 0)
