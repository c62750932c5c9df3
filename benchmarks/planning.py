"""Planning: how the cost of the loss grows, published lengths, optimisers.

Run: python benchmarks/planning.py [--data DIR] [--part growth|lengths|optimisers]

DIR, or the environment variable RELAXBOOST_DATA, holds movingai/, for the published lengths; the
other parts need no files.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from common import best_time, machine, table

from relaxboost import planning as pl
from relaxboost._core.errors import InputError
from relaxboost.planning.optimisers.base import OPTIMISERS
from relaxboost.planning.readers import data_folder, read_map, read_scenarios


def planted(size: int, tasks: int, layers: int = 4, seed: int = 0) -> tuple[pl.Graph, list]:
    """Return a grid with random layers, and shortest paths of a planted linear cost."""
    rng = np.random.default_rng(seed)
    graph = pl.grid([*rng.random((layers, size, size)), np.ones((size, size))])
    expert = graph.arc_features @ np.append(rng.random(layers), 0.2)
    made: list[pl.Task] = []
    while len(made) < tasks:
        source, target = rng.integers(0, size, (2, 2)).tolist()
        if source != target:
            plan = pl.shortest_path(graph, expert, tuple(source), tuple(target))
            made.append(pl.Task.along(plan.path))
    return graph, made


def growth() -> None:
    """Fit the exponent of seconds in arcs."""
    rows, arcs, spent = [], [], []
    for size in (64, 128, 256, 512):
        graph, tasks = planted(size, 20)
        risk = pl.PlanningLoss(base=1.0).bind(tasks)
        F = np.random.default_rng(1).random(graph.size)
        seconds = best_time(lambda risk=risk, F=F: risk.evaluate(F), least=3)
        arcs.append(graph.arcs)
        spent.append(seconds)
        rows.append((f"{size} x {size}", graph.arcs, f"{seconds * 1e3:.1f}"))
    exponent = np.polyfit(np.log(arcs), np.log(spent), 1)[0]
    table("loss and subgradient of 20 tasks", ("grid", "arcs", "ms"), rows)
    print(f"\nseconds grow as arcs to the power {exponent:.2f}")


def lengths(folder: Path) -> None:
    """Solve all scenarios of all maps, and compare with the published lengths."""
    rows = []
    for path in sorted(folder.glob("*.map")):
        grid = read_map(path)
        graph = pl.grid(np.ones(grid.passable.shape), grid.passable)
        costs = graph.costs(np.ones(graph.size))
        problems = [
            s for s in read_scenarios(folder / f"{path.stem}-random-1.scen", grid) if s.length
        ]
        clock = time.perf_counter()
        found = [pl.shortest_path(graph, costs, s.source, s.target).cost for s in problems]
        seconds = time.perf_counter() - clock
        printed = np.array([s.length for s in problems])
        away = np.abs(np.array(found) - printed)
        rows.append(
            (
                path.stem,
                graph.arcs,
                len(problems),
                f"{printed.max():.1f}",
                f"{away.max():.1e}",
                f"{(away / printed).max():.1e}",
                f"{seconds:.1f}",
            )
        )
    header = ("map", "arcs", "scenarios", "longest", "largest error", "relative", "s")
    table("lengths of MovingAI scenarios, against those printed in the files", header, rows)


def optimisers() -> None:
    """Time each optimiser to a gap of 1 %."""
    _, tasks = planted(64, 50)
    rows = []
    for method in OPTIMISERS:
        try:
            found = pl.fit(tasks, pl.Ridge(1e-3), method=method, tol=1e-2, time_limit=60)
        except InputError as error:  # an optimiser of another set than the ridge's
            rows.append((method, "", "", "", str(error)[:60]))
            continue
        bracket = f"[{found.lower:.4f}, {found.upper:.4f}]"
        rows.append((method, bracket, found.rounds, f"{found.seconds:.2f}", found.status))
    header = ("method", "bracket", "rounds", "s", "status")
    table("50 tasks on a grid of 64 x 64, planted costs, Ridge(1e-3), gap 1 %", header, rows)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data")
    names = ["growth", "lengths", "optimisers"]
    parser.add_argument("--part", choices=names, action="append")
    options = parser.parse_args()
    machine()
    parts = options.part or names
    for name, part in (("growth", growth), ("optimisers", optimisers)):
        if name in parts:
            part()
    if "lengths" in parts:
        try:
            folder = data_folder(options.data) / "movingai"
        except InputError as error:
            print(f"\nno published lengths: {error}")
            return
        lengths(folder)


if __name__ == "__main__":
    main()
