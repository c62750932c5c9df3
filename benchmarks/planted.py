"""Hidden costs recovered from some shortest paths: road networks with traffic, and terrain.

Run: python benchmarks/planted.py [--data DIR] [--part roads|terrain]

DIR, or the environment variable RELAXBOOST_DATA, holds transportnets/ and terrain/.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from common import machine, table

from benchmarks.readers import (
    data_folder,
    read_layers,
    read_network,
    road_graph,
    road_target,
)
from relaxboost import functional as fn
from relaxboost import planning as pl

ROADS = ("SiouxFalls", "Anaheim", "ChicagoSketch")
SHOWN, HELD = 100, 300
CELL = 120.0
"""Metres, about: every other cell of the raster."""
HEADER = ("expert", "features", "learner", "same cost, %", "cost over the least", "exact, %", "s")


def same_cost(report: pl.Evaluation, expert: np.ndarray) -> tuple[float, float]:
    """Return the share of plans that cost the expert no more than his own, and their ratio."""
    planned = np.array([plan.cost(expert) for plan in report.plans])
    least = np.array([task.demonstration.cost(expert) for task in report.tasks])
    return float((planned <= least * (1.0 + 1e-9)).mean()), float(planned.sum() / least.sum())


def row(expert: str, features: str, learner: str, report: pl.Evaluation, costs, seconds: float):
    """Return a row of the table."""
    same, ratio = same_cost(report, costs)
    return (
        expert,
        features,
        learner,
        f"{100 * same:.1f}",
        f"{ratio:.5f}",
        f"{100 * report.metric('exact_match'):.1f}",
        f"{seconds:.1f}",
    )


def demonstrations(graph: pl.Graph, expert: np.ndarray, pairs: list) -> list[pl.Task]:
    """Return a task for each pair, with the expert's shortest path."""
    return [pl.Task.along(pl.shortest_path(graph, expert, *pair).path) for pair in pairs]


def on(graph: pl.Graph, tasks: list[pl.Task]) -> list[pl.Task]:
    """Return the tasks on a graph with the same arcs and other features."""
    return [pl.Task.along(graph.path(arcs=task.demonstration.arcs)) for task in tasks]


def learned(expert: str, graph: pl.Graph, tasks: list[pl.Task], costs: np.ndarray, what: str):
    """Return rows for linear costs, and for ones boosted from them."""
    tasks = on(graph, tasks)
    shown, held = tasks[:SHOWN], tasks[SHOWN:]
    found = pl.fit(shown, tol=1e-2, time_limit=120)
    yield row(expert, what, "linear", pl.evaluate(held, found), costs, found.seconds)


def roads(folder: Path) -> list[tuple]:
    """Return rows for road networks: congested times are what drivers minimise."""
    rows = []
    for name in ROADS:
        network = read_network(folder / f"{name}_net.tntp.gz", folder / f"{name}_flow.tntp.gz")
        have, rng = network.attributes, np.random.default_rng(0)
        # The formula of the Bureau of Public Roads.
        load = have["volume"] / have["capacity"]
        have["delay"] = have["free_flow_time"] * have["b"] * load ** have["power"]
        ends = rng.integers(1, network.zones + 1, (4000, 2))
        ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
        ends = rng.permutation(ends)[: SHOWN + HELD].tolist()
        pairs = [(source, road_target(network, target)) for source, target in ends]
        full = road_graph(network, ("free_flow_time", "delay", "length"))
        blind = road_graph(network, ("free_flow_time", "length", "capacity"))
        tasks = demonstrations(full, have["cost"], pairs)
        for graph, what in ((full, "time, delay, length"), (blind, "time, length, capacity")):
            rows += learned(name, graph, tasks, have["cost"], what)
        quickest = pl.evaluate(tasks[SHOWN:], full.features[:, 0] + 1e-9)
        rows.append(row(name, "", "quickest", quickest, have["cost"], 0.0))
    return rows


def slopes(height: np.ndarray, cell: float) -> np.ndarray:
    """Return the slope of each cell, the rise over the run."""
    down, across = np.gradient(height, cell)
    return np.hypot(down, across)


def terrain(folder: Path) -> list[tuple]:
    """Return rows for walks over mountains: two hidden costs, one linear in features, one not."""
    values = read_layers(folder / "zion_srtm_nlcd.npz")
    height = values["elevation_m"][:240:2, :240:2]
    cover = values["nlcd2011"][:240:2, :240:2]
    slope = slopes(height, CELL)
    kinds, kind = np.unique(cover, return_inverse=True)
    kind = kind.reshape(cover.shape)
    rng = np.random.default_rng(0)
    tolls = rng.uniform(0.0, 2.0, kinds.size)
    experts: dict[str, np.ndarray] = {
        "linear: slope and land cover": 0.5 + 4.0 * slope + tolls[kind],
        "steep: exp(5 slope)": np.exp(5.0 * slope) * (0.5 + tolls[kind]),
    }
    layered = np.stack([slope, *(kind == k for k in range(kinds.size)), np.ones(slope.shape)])
    names = ["slope", *(f"cover {int(k)}" for k in kinds), "distance"]
    graph = pl.grid(layered, names=names)
    cells = rng.integers(0, len(height), (SHOWN + HELD, 2, 2))
    pairs = [tuple(map(tuple, pair.tolist())) for pair in cells]
    rows = []
    for expert, C in experts.items():
        costs = graph.costs(C.ravel())
        tasks = demonstrations(graph, costs, pairs)
        what = f"slope, {kinds.size} covers, distance"
        rows += learned(expert, graph, tasks, costs, what)
        rows += boosted(expert, tasks, costs, what)
        straight = pl.evaluate(tasks[SHOWN:], graph.costs(np.ones(graph.size)))
        rows.append(row(expert, "", "straight", straight, costs, 0.0))
    return rows


def boosted(expert: str, tasks: list[pl.Task], costs: np.ndarray, what: str):
    """Return a row for costs boosted from a constant, rounds by a fifth of the shown tasks."""
    clock = time.perf_counter()
    learner = fn.Trees(max_leaf_nodes=8, min_samples_leaf=20)
    cut = SHOWN * 4 // 5
    made = pl.boost(
        tasks[:cut],
        learner,
        pl.PlanningLoss("exponential", base=1.0),
        algorithm=fn.Residual(scale=0.01),
        stopping=fn.Stopping(60, validation=tasks[cut:SHOWN]),
    )
    report = pl.evaluate(tasks[SHOWN:], made)
    return [row(expert, what, "boosted trees", report, costs, time.perf_counter() - clock)]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data")
    parser.add_argument("--part", choices=["roads", "terrain"], action="append")
    options = parser.parse_args()
    folder = data_folder(options.data)
    parts = options.part or ["roads", "terrain"]
    machine()
    title = f"{SHOWN} demonstrations shown, plans for others judged by the hidden costs"
    if "roads" in parts:
        table(f"roads: {title}", HEADER, roads(folder / "transportnets"))
    if "terrain" in parts:
        table(f"terrain of 120 x 120 cells: {title}", HEADER, terrain(folder / "terrain"))


if __name__ == "__main__":
    main()
