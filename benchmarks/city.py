"""Boosted costs compared with linear ones: a made-up city, a town, and road networks.

Run: python benchmarks/city.py [--data DIR] [--part city|town|roads] [--seeds 1] [--held 80]

The drivers of the city pay for crossings on slopes, a product that is no column. DIR, or the
environment variable RELAXBOOST_DATA, holds transportnets/, which the part "roads" reads.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import runpy
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from common import machine, table
from planted import ROADS, on

from benchmarks.readers import data_folder, read_network, road_graph, road_target
from relaxboost import functional as fn
from relaxboost import planning as pl

SIDE = 30
SHOWN, HELD = 220, 80
NOISE = 0.08
"""The standard deviation of the logarithm of a street's cost, from trip to trip."""
NAMES = ("length", "slope", "crossings", "lanes")
HEADER = ("learner", "exact, %", "arcs, %", "exact: gain", "arcs: gain", "rounds", "s")


def city(seed: int) -> tuple[pl.Graph, np.ndarray]:
    """Return streets and their true costs, which have a term slope times crossings."""
    rng = np.random.default_rng(seed)
    blocks = pl.grid(np.ones((1, SIDE, SIDE)), neighbours=4)
    tail, head = blocks.tail, blocks.head
    # Both directions of a street have the same length, crossings and lanes, but for the slope.
    ends = np.sort(np.column_stack([tail, head]), axis=1)
    street = np.unique(ends, axis=0, return_inverse=True)[1].ravel()
    count = int(street.max()) + 1
    length = rng.uniform(0.8, 1.2, count)[street]
    lanes = rng.integers(1, 4, count)[street].astype(np.float64)
    crossings = rng.poisson(1.0, count)[street].astype(np.float64)
    row, column = np.divmod(np.arange(SIDE * SIDE), SIDE)
    height = np.zeros(SIDE * SIDE)
    for _ in range(4):
        down, across, start = rng.uniform([0.2, 0.2, 0.0], [0.6, 0.6, 6.0])
        height += np.sin(down * row + across * column + start)
    slope = np.maximum(height[head] - height[tail], 0.0)
    X = np.column_stack([length, slope, crossings, lanes])
    graph = pl.Graph(tail, head, X, names=NAMES, nodes=SIDE * SIDE)
    return graph, length + 0.3 * slope + 0.1 * crossings + 0.5 * slope * crossings


def trips(graph: pl.Graph, costs: np.ndarray, count: int, seed: int) -> list[pl.Task]:
    """Return trips that are shortest by costs which each driver feels a little differently."""
    rng = np.random.default_rng(seed)
    made: list[pl.Task] = []
    while len(made) < count:
        s, t = rng.integers(graph.nodes, size=2).tolist()
        if abs(s // SIDE - t // SIDE) + abs(s % SIDE - t % SIDE) >= SIDE // 3:
            felt = costs * np.exp(NOISE * rng.normal(size=costs.size))
            made.append(pl.Task.along(pl.shortest_path(graph, felt, s, t).path))
    return made


def product(graph: pl.Graph) -> pl.Graph:
    """Return the streets with slope times crossings as a column."""
    X = np.column_stack([graph.features, graph.features[:, 1] * graph.features[:, 2]])
    return pl.Graph(graph.tail, graph.head, X, names=[*NAMES, "product"], nodes=graph.nodes)


def rows(
    shown: list[pl.Task],
    held: list[pl.Task],
    known: dict[str, np.ndarray],
    features: list[pl.Graph],
) -> Iterator[tuple]:
    """Yield rows of the table: given costs, linear costs, and boosted ones, old and new."""
    trees = fn.Trees(3)
    even = pl.PlanningLoss(base=1.0)
    sums = pl.PlanningLoss("additive")
    learners = {
        "linear": lambda: pl.fit(shown),
        "stumps from 1, 40 rounds": lambda: pl.boost(
            shown, fn.RegressionStumps(), even, stopping=40
        ),
        "stumps from 1, 300 rounds": lambda: pl.boost(
            shown, fn.RegressionStumps(), even, stopping=300
        ),
        "trees from 1, 100 rounds": lambda: pl.boost(shown, trees, even, stopping=100),
        "stumps": lambda: pl.boost(shown, fn.RegressionStumps()),
        "stumps, additive": lambda: pl.boost(shown, fn.RegressionStumps(), sums),
        "trees": lambda: pl.boost(shown, trees),
        "trees, additive": lambda: pl.boost(shown, trees, sums),
    }
    linear = None
    for name, learn in learners.items():
        clock = time.process_time()
        found = learn()
        seconds = time.process_time() - clock
        report = pl.evaluate(held, found)
        linear = report if linear is None else linear
        rounds = found.boosted.chosen if isinstance(found, pl.BoostedCosts) else ""
        yield row(name, report, linear, rounds, seconds)
    for graph in features:
        clock = time.process_time()
        found = pl.fit(on(graph, shown))
        seconds = time.process_time() - clock
        yield row(
            f"linear, {graph.names[-1]}", pl.evaluate(on(graph, held), found), linear, "", seconds
        )
    for name, costs in known.items():
        yield row(name, pl.evaluate(held, costs), linear, "", 0.0)


def row(name: str, report: pl.Evaluation, linear: pl.Evaluation, rounds: object, seconds: float):
    """Return a row; the gains over the linear costs have intervals over the held-out trips."""
    metrics = ("exact_match", "arc_recall")
    gains = pl.compare(linear, report, metrics=metrics)
    shown = [
        f"{100 * x.difference:+.1f} [{100 * x.low:+.1f}, {100 * x.high:+.1f}]"
        for x in gains.values()
    ]
    shares = [f"{100 * report.metric(metric):.1f}" for metric in metrics]
    made = (name, *shares, *shown, rounds, f"{seconds:.1f}")
    print(*made, sep=" | ", file=sys.stderr, flush=True)
    return made


def town() -> tuple[list[pl.Task], dict[str, np.ndarray]]:
    """Return the trips of examples/streets_to_costs.py, and the seconds of its streets."""
    script = Path(__file__).parent.parent / "examples" / "streets_to_costs.py"
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        argv, sys.argv = sys.argv, [str(script), f"{folder}/map.png"]
        made = runpy.run_path(str(script))
        sys.argv = argv
    return list(made["tasks"]), {"seconds": made["seconds"]}


def road_trips(folder: Path, name: str, count: int) -> tuple[list[pl.Task], dict[str, np.ndarray]]:
    """Return trips by felt congested times, which the features do not have, and these times."""
    network = read_network(folder / f"{name}_net.tntp.gz", folder / f"{name}_flow.tntp.gz")
    graph = road_graph(network, ("free_flow_time", "length", "capacity"))
    costs = network.attributes["cost"]
    rng = np.random.default_rng(0)
    made: list[pl.Task] = []
    while len(made) < count:
        source, target = rng.integers(1, network.zones + 1, 2).tolist()
        if source != target:
            felt = costs * np.exp(NOISE * rng.normal(size=costs.size))
            pair = source, road_target(network, target)
            made.append(pl.Task.along(pl.shortest_path(graph, felt, *pair).path))
    times = {"true costs": costs, "free-flow times": graph.features[:, 0] + 1e-9}
    return made, times


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data")
    parser.add_argument("--part", choices=["city", "town", "roads"], action="append")
    parser.add_argument("--seeds", type=int, default=1, help="how many cities")
    parser.add_argument("--held", type=int, default=HELD, help="the number of held-out trips")
    options = parser.parse_args()
    parts = options.part or ["city", "town", "roads"]
    # The table shows that linear costs were kept: 0 rounds.
    warnings.filterwarnings("ignore", "held-out trips do not show")
    machine()
    for seed in range(options.seeds if "city" in parts else 0):
        graph, costs = city(seed)
        made = trips(graph, costs, SHOWN + options.held, 100 + seed)
        known = {"true costs": costs, "length": graph.features[:, 0]}
        found = list(rows(made[:SHOWN], made[SHOWN:], known, [product(graph)]))
        table(f"city {seed}: {SHOWN} trips shown, {options.held} held out", HEADER, found)
    if "town" in parts:
        made, known = town()
        found = list(rows(made[:60], made[60:], known, []))
        table(f"town: 60 trips shown, {len(made) - 60} held out", HEADER, found)
    for name in ROADS if "roads" in parts else ():
        folder = data_folder(options.data) / "transportnets"
        made, known = road_trips(folder, name, SHOWN + options.held)
        found = list(rows(made[:SHOWN], made[SHOWN:], known, []))
        table(f"{name}: {SHOWN} trips shown, {options.held} held out", HEADER, found)


if __name__ == "__main__":
    main()
