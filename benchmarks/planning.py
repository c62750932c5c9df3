"""Planning: how the cost of the loss grows, published lengths, small fits.

Run: python benchmarks/planning.py [--data DIR] [--part growth|lengths|small]

DIR, or the environment variable RELAXBOOST_DATA, holds movingai/, for the published lengths; the
other parts need no files.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from common import best_time, machine, table

from benchmarks.readers import data_folder, read_map, read_scenarios
from relaxboost import planning as pl
from relaxboost._core.errors import InputError


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
        risk = pl.PlanningLoss("additive", base=1.0).bind(tasks)
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


def small() -> None:
    """Time 120 small fits and the same problems as one convex program each."""
    import networkx as nx

    rng, ours, theirs, outside = np.random.default_rng(0), [], [], 0
    for k in range(121):  # the first loads what is needed
        G = nx.gnp_random_graph(12, 0.3, seed=k, directed=True)
        nx.add_path(G, [*range(12), 0])
        X = rng.random((G.number_of_edges(), int(rng.integers(2, 7))))
        graph = pl.Graph(*np.array(G.edges).T, X, nodes=12)
        felt = X @ rng.random(X.shape[1]) * rng.uniform(0.5, 1.5, graph.arcs)
        ends = [rng.permutation(12)[:2].tolist() for _ in range(rng.integers(2, 9))]
        tasks = [pl.Task.along(pl.shortest_path(graph, felt, *pair).path) for pair in ends]
        size = 10.0 ** rng.uniform(-3, -1)
        kind = (pl.Ridge(size), pl.Lasso(size), pl.L1Radius(1 / size))[k % 3]
        problem, clock = pl.Problem(tasks, kind), time.process_time()
        found, after = pl.fit(problem), time.process_time()
        optimum, end = pl.program(problem).solve(solver="CLARABEL"), time.process_time()
        outside += not found.lower - 1e-6 <= optimum <= found.upper + 1e-6
        ours.append(1e3 * (after - clock))
        theirs.append(1e3 * (end - after))
    slower = sum(a > b for a, b in zip(ours[1:], theirs[1:], strict=True))
    rows = [
        (name, f"{np.median(x):.1f}", f"{np.max(x):.1f}")
        for name, x in (("fit", ours[1:]), ("cvxpy", theirs[1:]))
    ]
    table("120 problems of 12 nodes, CPU ms, to 1e-3", ("", "median", "most"), rows)
    print(f"\nfit is slower on {slower} of 120; {outside} optima are outside the bracket of fit")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data")
    names = ["growth", "lengths", "small"]
    parser.add_argument("--part", choices=names, action="append")
    options = parser.parse_args()
    machine()
    parts = options.part or names
    for name, part in (("growth", growth), ("small", small)):
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
