"""Sets of demonstrated paths for GB11's Fig. 1: a planted expert on terrain, and real trips."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.readers import (
    SOURCES,
    Routes,
    left_turns,
    link_tasks,
    read_layers,
    read_routes,
    u_turns,
)
from benchmarks.readers.places import find, look
from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost.planning import (
    Graph,
    Missed,
    NoLoss,
    Oracle,
    PlanningLoss,
    PlanningRisk,
    Task,
    grid,
    shortest_path,
)
from relaxboost.planning.boosting import first_step
from relaxboost.planning.starting import MIN_RELATIVE_COST

PLANNED = ("terrain", "borlange")
RASTER, TRIPS = "zion_srtm_nlcd.npz", "linkIncidence.txt"

LOSS = PlanningLoss("additive")
MARGIN = Missed(scale=0.1)
"""A missed arc counts a tenth of the cost of a site at the start."""

WINDOW, WINDOWS, EACH = 48, 16, 3
"""Cells along a side of a window; windows for training, and for the test; paths in a window."""
ROUTES = 300
"""The number of trips for training, and for the test."""
QUICK = 4
"""--quick divides the numbers of windows and of trips by this number."""

# A degree at the equator has 111 320 m. A cell of the raster is 3 arc seconds, at 37.3° north.
_CELL = 111_320.0 * 3.0 / 3600.0
_NARROWER = float(np.cos(np.radians(37.3)))

_COVERS = {
    "water": (11,),
    "developed": (21, 22, 23),
    "barren": (31,),
    "forest": (41, 42, 43),
    "shrub": (52,),
}
"""Classes of NLCD; grass, fields and wetlands are the other classes."""
NAMES = ("slope", "elevation", *_COVERS)


def arrays(tasks: Sequence[Task]) -> Iterator[NDArray[Any]]:
    """Yield the arrays of the tasks and of their graphs, for a digest."""
    for graph in dict.fromkeys(task.graph for task in tasks):
        yield from (graph.tail, graph.head, graph.features)
    for task in tasks:
        yield task.demonstration.arcs


def features(tasks: Sequence[Task]) -> Array:
    """Return the different rows of features of the tasks' sites."""
    return LOSS.bind(tasks).features


def geometry(risk: PlanningRisk) -> tuple[Array | None, float]:
    """Return the weights of sites and the unit of the steps, as in `planning.boost`."""
    weights = risk.visited()
    return weights, first_step(LOSS.bind(risk.oracle.tasks, weights))


def missed(risk: PlanningRisk) -> Callable[[Array], float]:
    """Return a function of F: the share of demonstrated arcs that plans miss, a mean over tasks.

    Plans are for the costs without loss, and negative costs are raised to a floor. If the
    demonstration is as short as the plan, it misses no arc.
    """
    bare = [Task.along(task.demonstration, NoLoss()) for task in risk.oracle.tasks]
    oracle = Oracle(bare)
    ends = np.cumsum([0, *(graph.size for graph in oracle.graphs)])

    def score(F: Array) -> float:
        C = np.maximum(risk.site_costs(F), MIN_RELATIVE_COST)
        costs = [
            graph.costs(C[a:b]) for graph, a, b in zip(oracle.graphs, ends, ends[1:], strict=False)
        ]
        answers = oracle.evaluate(costs).each
        shares = [
            1.0 - np.isin(row.path.arcs, answer.taken).mean()
            for row, answer in zip(oracle.rows, answers, strict=True)
        ]
        return float(np.mean(shares))

    return score


def drawn(name: str, folder: Path, quick: bool) -> Callable[[int], tuple[Sequence[Task], ...]]:
    """Return a function from a seed to training and test tasks of "terrain" or "borlange"."""
    path = located(name, folder)
    if name == "terrain":
        held = read_layers(path)
        if not {"elevation_m", "nlcd2011"} <= set(held):
            raise InputError(f"{path} needs elevation_m and nlcd2011; it has {', '.join(held)}")
        layers = np.stack([held["elevation_m"], held["nlcd2011"]])
        return lambda seed: _terrain(layers, seed, quick)
    routes = read_routes(path)
    graph = trip_graph(routes)
    return lambda seed: _trips(routes, graph, seed, quick)


def located(name: str, folder: Path) -> Path:
    """Return the file of a set, or raise InputError if it is missing."""
    if name == "borlange":
        return find(folder, name, TRIPS).parent
    found = look(folder, name, RASTER)
    if found is None:
        raise InputError(
            f"terrain needs {RASTER}, arrays elevation_m (metres) and nlcd2011 (land cover) of the "
            f"same shape, which is neither in {folder / name} nor in {folder}; get it from "
            f"{SOURCES['rasters']}"
        )
    return found


def _terrain(layers: Array, seed: int, quick: bool) -> tuple[Sequence[Task], ...]:
    """Return tasks on windows of the raster that do not overlap."""
    rng = np.random.default_rng(seed)
    cover = layers[1]
    height, width = cover.shape
    corners = [
        (i, j)
        for i in range(0, height - WINDOW + 1, WINDOW)
        for j in range(0, width - WINDOW + 1, WINDOW)
        if (cover[i : i + WINDOW, j : j + WINDOW] > 0).all()  # 0: no land cover is known
    ]
    windows = WINDOWS // QUICK if quick else WINDOWS
    windows = min(windows, len(corners) // 2)
    if windows == 0:
        raise InputError(
            f"{RASTER} is {height} x {width} cells; it needs two windows of {WINDOW} x {WINDOW} "
            "cells with land cover"
        )
    X = terrain_features(layers[0], cover)
    order = rng.permutation(len(corners))
    halves: tuple[list[Task], list[Task]] = [], []
    for place, corner in enumerate(order[: 2 * windows]):
        i, j = corners[corner]
        graph = grid(X[:, i : i + WINDOW, j : j + WINDOW], names=NAMES)
        halves[place >= windows].extend(_led(graph, rng))
    return tuple(map(tuple, halves))


def terrain_features(elevation: Array, cover: Array) -> Array:
    """Return slope (degrees, by halves), elevation (km, by tens of metres) and kinds of cover.

    Shape (7, H, W). They are rounded so that many cells share a row, which saves work.
    """
    down, across = np.gradient(elevation, _CELL, _CELL * _NARROWER)
    slope = np.degrees(np.arctan(np.hypot(down, across)))
    kinds = [np.isin(cover, classes).astype(np.float64) for classes in _COVERS.values()]
    return np.stack([np.round(2.0 * slope) / 2.0, np.round(elevation, -1) / 1000.0, *kinds])


def expert(X: Array) -> Array:
    """Return the cost of each cell for the planted expert, a nonlinear function of 7 features.

    The slope counts by its square up to 30°. Forest is shelter on gentle slopes and an obstacle on
    steep ones. Shrub is slow below 1.8 km. Water is expensive, and so is elevation far from 1.9 km.
    """
    slope, elevation = X[..., 0], X[..., 1]
    water, developed, barren, forest, shrub = np.moveaxis(X[..., 2:], -1, 0)
    made: Array = (
        0.3
        + np.minimum(slope / 15.0, 2.0) ** 2
        + forest * np.where(slope < 10.0, 0.0, 0.8)
        + (1.0 - forest) * np.where(slope < 10.0, 0.5, 0.0)
        + shrub * np.where(elevation < 1.8, 0.7, 0.0)
        + np.minimum(2.0 * np.abs(elevation - 1.9), 1.0)
        + 5.0 * water
        - 0.2 * developed
        + 0.2 * barren
    )
    return made


def _led(graph: Graph, rng: np.random.Generator) -> list[Task]:
    """Return tasks along the expert's shortest paths between cells half a window apart."""
    costs = graph.costs(expert(graph.features))
    made: list[Task] = []
    while len(made) < EACH:
        source, target = (divmod(n, WINDOW) for n in rng.integers(graph.nodes, size=2).tolist())
        if np.abs(np.subtract(source, target)).max() >= WINDOW // 2:
            made.append(Task.along(shortest_path(graph, costs, source, target).path, MARGIN))
    return made


def trip_graph(routes: Routes) -> Graph:
    """Return the graph of links and destinations; features belong to the steps between links.

    The features are minutes, left turn (at least 40 degrees), u-turn (at least 177 degrees), and 1
    for a step to the destination. An unknown angle counts as no turn.
    """
    steps = np.stack([routes.time, left_turns(routes), u_turns(routes), 0.0 * routes.time], axis=1)
    ends = np.tile([0.0, 0.0, 0.0, 1.0], (len(routes.destination_arcs), 1))
    arcs = np.concatenate([routes.arcs, routes.destination_arcs])
    kept = arcs[:, 0] != arcs[:, 1]
    names = ("minutes", "left", "u-turn", "end")
    X = np.concatenate([steps, ends])
    return Graph(arcs[kept, 0], arcs[kept, 1], X[kept], names=names)


def _trips(routes: Routes, graph: Graph, seed: int, quick: bool) -> tuple[Sequence[Task], ...]:
    """Return the tasks for training and those for the test."""
    size = ROUTES // QUICK if quick else ROUTES
    size = min(size, len(routes.paths) // 2)
    if size == 0:
        raise InputError(f"{TRIPS} has {len(routes.paths)} trips; it needs at least 2")
    order = np.random.default_rng(seed).permutation(len(routes.paths))
    halves = order[:size], order[size : 2 * size]
    return tuple(tuple(link_tasks(routes, graph, MARGIN, half)) for half in halves)
