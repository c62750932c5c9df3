"""Maximum-margin planning and other learners of linear costs, on the same held-out tasks.

Run: python benchmarks/planning_baselines.py [--data DIR] [--part planted|borlange]
     [--boosted] [--limit 1]

DIR, or the environment variable RELAXBOOST_DATA, holds borlange/ and transportnets/. Without it
planted costs on a random network are all there is.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import borlange
import numpy as np
from baselines import perceptron, perturbed
from common import machine, table

from benchmarks.readers import data_folder
from relaxboost import planning as pl

HEADER = ("learner", "exact match, %", "node recall", "s")


def learners(first: np.ndarray) -> dict:
    """Return functions from training tasks to weights."""
    return {
        "perceptron, averaged": lambda tasks: perceptron(tasks, first),
        "perturbed Fenchel-Young": lambda tasks: perturbed(tasks, first),
        "maximum margin, linear": lambda tasks: pl.fit(tasks, pl.Ridge(1e-3), tol=1e-2).w,
    }


def row(name: str, report: pl.Evaluation, seconds: float) -> tuple:
    """Return a row of the table."""
    return (
        name,
        f"{100 * report.metric('exact_match'):.2f}",
        f"{report.metric('node_recall'):.4f}",
        f"{seconds:.1f}",
    )


def held_out(
    tasks: list[pl.Task], folds: int, first: np.ndarray, limit: int | None = None
) -> list[tuple]:
    """Return a row for each learner, cross-validated; seconds are for all folds.

    With `limit` the first folds only are run, out of as many as before.
    """
    X = tasks[0].graph.arc_features
    parted = pl.split(tasks, folds)[:limit]
    tested = [tasks[i] for fold in parted for i in fold.test]
    rows = [row("where it starts", pl.evaluate(tested, np.maximum(X @ first, 1e-9)), 0.0)]
    for name, learn in learners(first).items():
        parts, seconds = [], 0.0
        for fold in parted:
            clock = time.perf_counter()
            w = learn([tasks[i] for i in fold.train])
            seconds += time.perf_counter() - clock
            parts.append(pl.evaluate([tasks[i] for i in fold.test], X @ w))
        rows.append(row(name, pl.Evaluation.joined(parts), seconds))
        print(rows[-1], flush=True)
    return rows


def planted() -> list[tuple]:
    """Return rows for a random network: three features, a constant, noise in the expert's costs."""
    rng = np.random.default_rng(0)
    side, ends = 30, 60
    nodes = side * side
    grid = pl.grid(np.ones((side, side)))
    target = nodes + np.arange(ends)
    doors = rng.integers(0, nodes, ends)
    tail = np.concatenate([grid.tail, doors])
    head = np.concatenate([grid.head, target])
    X = np.column_stack([rng.random((grid.arcs, 3)), np.ones(grid.arcs)])
    X = np.concatenate([X, np.zeros((ends, 4))])
    graph = pl.Graph(tail, head, X, nodes=nodes + ends, names=["a", "b", "c", "constant"])
    costs = X @ np.array([1.0, 2.0, 0.5, 0.3])
    tasks = []
    while len(tasks) < 300:
        source, k = int(rng.integers(nodes)), int(rng.integers(ends))
        if source != doors[k]:
            felt = costs * rng.uniform(0.9, 1.1, costs.size)
            path = pl.shortest_path(graph, felt, source, int(target[k])).path
            tasks.append(pl.Task.along(path))
    return held_out(tasks, 2, np.array([1.0, 0.0, 0.0, 0.1]))


def borlange_rows(folder: Path, boosted: bool, limit: int | None) -> list[tuple]:
    """Return rows for the trips of Borlange."""
    trips = borlange.Trips(folder)
    tasks = trips.on(trips.graphs["plain"], np.arange(len(trips.all)))
    rows = held_out(tasks, 5, np.array([1.0, 0.0, 0.0, 0.0]), limit)
    if boosted:
        for setting in borlange.SETTINGS["boosted"]:
            clock = time.perf_counter()
            report, _ = borlange.cross_validated(trips, setting, "overlap", 5)
            rows.append(row(f"maximum margin, {setting.name}", report, time.perf_counter() - clock))
    return rows


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data")
    parser.add_argument("--part", choices=["planted", "borlange"], action="append")
    parser.add_argument("--boosted", action="store_true", help="ten minutes more")
    parser.add_argument("--limit", type=int, help="how many of the folds of Borlange to run")
    options = parser.parse_args()
    machine()
    parts = options.part or ["planted", "borlange"]
    if "planted" in parts:
        table("planted costs, felt with 10 % noise, 300 tasks, 2 folds", HEADER, planted())
    if "borlange" in parts:
        rows = borlange_rows(data_folder(options.data) / "borlange", options.boosted, options.limit)
        table("Borlange, 4 features, 5 folds by clusters of trips that overlap", HEADER, rows)


if __name__ == "__main__":
    main()
