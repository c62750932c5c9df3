"""Route choice in Borlange: every model against the quickest path, cross-validated.

Run: python benchmarks/borlange.py [--data DIR] [--by overlap|pair] [--folds 5]
     [--part fit|linear|chosen|habits|boosted|near]

Without --part all models are run but for "chosen".

DIR, or the environment variable RELAXBOOST_DATA, holds borlange/ with the published text files
(docs/benchmarks.md says what was found). Nothing is chosen by looking at test trips:
with --part chosen the ridge is by folds of the training trips, and rounds of boosting by a fifth;
these are made as the outer folds are, of clusters of trips that overlap. Folds by pair of ends
leak: they are there to show by how much, in the strata of overlap.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from common import machine, table
from links import rich_graph
from overlaps import STRATA, overlap, strata

from benchmarks.readers import (
    data_folder,
    link_graph,
    link_tasks,
    read_routes,
)
from relaxboost import functional as fn
from relaxboost import planning as pl

STRENGTHS = (1e-1, 1e-2, 1e-3, 1e-4)
"""Of the ridge; with --part chosen folds of the training trips choose one."""
INNER = {"plain": 5, "rich": 2}
"""How many of five inner folds choose it."""
USUAL = 1e-3
"""The ridge of linear costs, and of what boosting starts from."""
TURNS = (
    *("time", "left turn", "u-turn", "link", "left at junction", "right at junction"),
    *("junction", "large junction", "slight turn", "merging"),
)
"""The features of rich_graph that need no traffic."""
ROUNDS = (0, 10, 20, 40, 60)
NEAR = (0, 5, 10, 20)
"""Rounds of boosting in steps of a quarter: costs stay near the linear ones."""
LEARNER = fn.Trees(max_leaf_nodes=8, min_samples_leaf=100)
LEAST = 1e-2
"""Minutes that boosting starts from where linear costs are less: arcs to destinations have none."""


@dataclass(frozen=True)
class Setting:
    """How costs are learned."""

    name: str
    features: str
    habits: bool = False
    """Whether features say how often other training trips use a link."""
    boosted: bool = False
    near: bool = False
    """Whether boosting goes in few steps, a quarter as long."""
    chosen: bool = False
    """Whether inner folds choose the ridge; twenty times as slow."""


class Trips:
    """The trips, and graphs with features for training and testing on parts of them."""

    def __init__(self, folder: Path) -> None:
        self.routes = read_routes(folder)
        self.graphs = {"plain": link_graph(self.routes), "rich": rich_graph(self.routes)}
        self.graphs["turns"] = self.part(TURNS)
        self.all = link_tasks(self.routes, self.graphs["plain"])
        self.quickest = pl.evaluate(self.all, self.minutes)

    @staticmethod
    def minutes(graph: pl.Graph) -> np.ndarray:
        """Return the time of arcs."""
        return graph.features[:, 0]

    def part(self, names: Sequence[str]) -> pl.Graph:
        """Return the network with some of the rich features."""
        rich = self.graphs["rich"]
        X = rich.features[:, [rich.names.index(name) for name in names]]
        return pl.Graph(rich.tail, rich.head, X, names=names, nodes=rich.labels)

    def on(self, graph: pl.Graph, which: np.ndarray) -> list[pl.Task]:
        """Return trips as tasks on a graph."""
        return link_tasks(self.routes, graph, trips=which)

    def with_habits(self, features: str, seen: np.ndarray) -> pl.Graph:
        """Return the graph with features that count the trips `seen`, and no others."""
        graph = self.graphs[features]
        arcs = np.concatenate([self.all[i].demonstration.arcs for i in seen])
        taken = np.bincount(arcs, minlength=graph.arcs) * (len(self.all) / len(seen))
        on_link = np.bincount(graph.head, weights=taken, minlength=graph.nodes)[graph.head]
        minutes, road = graph.features[:, 0], graph.features[:, 3]
        columns = {
            "never driven": road * (on_link == 0.0),
            "never turned": road * (taken == 0.0),
            "seldom driven": road / (1.0 + on_link),
            "seldom turned": road / (1.0 + taken),
            "minutes seldom driven": minutes / (1.0 + on_link),
            "minutes not often driven": minutes / np.sqrt(1.0 + on_link),
        }
        X = np.column_stack([graph.features, *columns.values()])
        return pl.Graph(
            graph.tail, graph.head, X, names=[*graph.names, *columns], nodes=graph.labels
        )

    def training(self, setting: Setting, which: np.ndarray) -> tuple[list[pl.Task], pl.Graph]:
        """Return training tasks, and the graph to use what is learned on.

        With habits every training trip is on a graph that counts the trips of other parts only,
        as a trip that is tested is on one that does not count it.
        """
        if not setting.habits:
            graph = self.graphs[setting.features]
            return self.on(graph, which), graph
        tasks = []
        for fold in pl.split([self.all[i] for i in which], 5, rng=1):
            graph = self.with_habits(setting.features, which[fold.train])
            tasks += self.on(graph, which[fold.test])
        return tasks, self.with_habits(setting.features, which)


def linear(tasks: list[pl.Task], strength: float, tol: float = 1e-2) -> pl.Fit:
    """Return linear costs, by default to a gap of 1 %."""
    return pl.fit(tasks, pl.Ridge(strength), tol=tol)


def base(found: pl.Fit):
    """Return linear costs of the plain features as what boosting starts from, > 0."""
    plain = len(found.names)
    return lambda graph: np.maximum(graph.features[:, :plain] @ found.w, LEAST)


def boosted(
    tasks: list[pl.Task], found: pl.Fit, rounds: int, share: float = 1.0
) -> pl.BoostedCosts:
    """Return costs boosted from linear ones of the plain features, exponentially.

    `share` is that of the default steps; costs stay the nearer to linear ones the less it is.
    """
    loss = pl.PlanningLoss("exponential", base(found))
    algorithm = fn.Residual(iterate="last")
    if share != 1.0:
        first = pl.boost(tasks, LEARNER, loss, algorithm=algorithm, stopping=1)
        algorithm = fn.Residual(iterate="last", scale=share * first.scale)
    return pl.boost(tasks, LEARNER, loss, algorithm=algorithm, stopping=rounds)


def chosen_strength(trips: Trips, features: str, train: np.ndarray, by: str) -> float:
    """Return the strength whose fits meet most of the training trips that they were not made of."""
    graph, met = trips.graphs[features], dict.fromkeys(STRENGTHS, 0.0)
    folds = pl.split([trips.all[i] for i in train], 5, rng=2, by=by)
    for fold in folds[: INNER[features]]:
        tasks, held = trips.on(graph, train[fold.train]), trips.on(graph, train[fold.test])
        found = None
        for strength in STRENGTHS:  # from the strongest, each from where the last one ended
            found = pl.fit(tasks, pl.Ridge(strength), tol=1e-2, method=pl.Bundle(start=found))
            met[strength] += float(pl.evaluate(held, found).each.exact.sum())
    return max(STRENGTHS, key=lambda strength: (met[strength], strength))


def score(report: pl.Evaluation) -> float:
    """Return what inner validation maximises: both metrics alike."""
    return report.metric("exact_match") + report.metric("node_recall")


def learned(trips: Trips, setting: Setting, train: np.ndarray, by: str):
    """Return costs learned on training trips, the graph for them, and the ridge or the rounds.

    Boosted costs learn from four fifths of the trips, and stop by the others.
    """
    if not setting.features:
        return trips.minutes, trips.graphs["plain"], 0
    if not setting.boosted:
        strength = chosen_strength(trips, setting.features, train, by) if setting.chosen else USUAL
        tasks, graph = trips.training(setting, train)
        return linear(tasks, strength), graph, strength
    inner = pl.split([trips.all[i] for i in train], 5, rng=2, by=by)[0]
    tasks, graph = trips.training(setting, train[inner.train])
    plain = linear(trips.on(trips.graphs["plain"], train[inner.train]), USUAL)
    known, share = (NEAR, 0.25) if setting.near else (ROUNDS, 1.0)
    made = boosted(tasks, plain, max(known), share)
    held = trips.on(graph, train[inner.test])
    rounds = max(known, key=lambda k: score(pl.evaluate(held, partial(made.costs, upto=k))))
    return partial(made.costs, upto=rounds), graph, rounds


def cross_validated(trips: Trips, setting: Setting, by: str, folds: int):
    """Return the report on held-out trips in their order, and what was chosen in each fold."""
    parts, chosen, places = [], [], []
    for fold in pl.split(trips.all, folds, by=by):
        costs, graph, choice = learned(trips, setting, fold.train, by)
        parts.append(pl.evaluate(trips.on(graph, fold.test), costs))
        places.append(fold.test)
        chosen.append(choice)
        so_far = pl.Evaluation.joined(parts)
        print(
            f"{setting.name}, folds {len(parts)}: exact {100 * so_far.metric('exact_match'):.2f}, "
            f"recall {so_far.metric('node_recall'):.4f}, chosen {choice:g}",
            flush=True,
        )
    joined, order = pl.Evaluation.joined(parts), np.argsort(np.concatenate(places))
    return joined.at(order), chosen


def seen(trips: Trips, by: str, folds: int) -> np.ndarray:
    """Return how much of each trip there is in the training trips of its fold."""
    made = np.empty(len(trips.all))
    for fold in pl.split(trips.all, folds, by=by):
        train, test = ([trips.all[i] for i in part] for part in fold)
        made[fold.test] = overlap(test, train)
    return made


def by_stratum(report: pl.Evaluation, overlaps: np.ndarray) -> list[str]:
    """Return the exact matches in each stratum of overlap."""
    return [
        f"{100 * part.metric('exact_match'):.1f} of {len(part.tasks)}" if part.tasks else "none"
        for part in strata(report, overlaps).values()
    ]


def shown(difference: pl.Difference) -> str:
    """Return a difference with its interval in points of a percent."""
    middle, low, high = (100.0 * x for x in difference[2:])
    return f"{middle:+.2f} [{low:+.2f}, {high:+.2f}]"


def fitting(trips: Trips) -> None:
    """Time linear fits of all trips, and print what they learn."""
    rows = []
    every = np.arange(len(trips.all))
    for features in ("plain", "rich"):
        tasks = trips.on(trips.graphs[features], every)
        for strength in STRENGTHS:
            found = linear(tasks, strength)
            report = pl.evaluate(tasks, found)
            rows.append(
                (
                    features,
                    f"{strength:g}",
                    f"[{found.lower:.4f}, {found.upper:.4f}]",
                    found.rounds,
                    f"{found.seconds:.1f}",
                    f"{100 * report.metric('exact_match'):.2f}",
                    f"{report.metric('node_recall'):.4f}",
                )
            )
    header = ("features", "λ", "bracket", "rounds", "s", "exact match, %", "link recall")
    table("linear costs of all 1832 trips to a gap of 1 %, in sample", header, rows)


def held_out(trips: Trips, settings: list[Setting], folds: int, by: str) -> None:
    """Print held-out figures of each setting, and by how much of a trip was seen in training."""
    rows, by_overlap, overlaps = [], [], seen(trips, by, folds)
    reports: dict[str, pl.Evaluation] = {}
    for setting in settings:
        clock = time.process_time()
        reports[setting.name], chosen = cross_validated(trips, setting, by, folds)
        report = reports[setting.name]
        row = [setting.name, f"{100 * report.metric('exact_match'):.2f}"]
        for other in ("quickest path", "linear, 4 features"):
            alike = other in reports and other != setting.name
            told = pl.compare(reports[other], report, by="overlap") if alike else {}
            row.append(shown(told["exact_match"]) if told else "")
        row += [f"{report.metric('node_recall'):.4f}", " ".join(f"{choice:g}" for choice in chosen)]
        rows.append((*row, f"{time.process_time() - clock:.0f}"))
        by_overlap.append((setting.name, *by_stratum(report, overlaps)))
        print("|", " | ".join([*rows[-1], *by_overlap[-1][1:]]), "|", flush=True)
    less = ("less the quickest's", "less linear's")
    header = ("costs", "exact, %", *less, "link recall", "λ or rounds", "CPU s")
    table(f"held-out trips, folds by {by}; intervals resample clusters of trips", header, rows)
    header = ("costs", *STRATA)
    table("exact match, %, by the largest Jaccard index with a training trip", header, by_overlap)


SETTINGS = {
    "linear": [
        Setting("linear, 4 features", "plain"),
        Setting("linear, 10 features", "turns"),
        Setting("linear, 24 features", "rich"),
    ],
    "chosen": [
        Setting("linear, 4 features, chosen ridge", "plain", chosen=True),
        Setting("linear, 24 features, chosen ridge", "rich", chosen=True),
    ],
    "habits": [Setting("linear, 30 features with habits", "rich", habits=True)],
    "boosted": [Setting("boosted trees, 24 features", "rich", boosted=True)],
    "near": [Setting("boosted near linear, 10 features", "turns", boosted=True, near=True)],
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data")
    known = ["fit", *SETTINGS]
    parser.add_argument("--part", choices=known, action="append")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--by", choices=["overlap", "pair"], default="overlap")
    options = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)
    machine()
    trips = Trips(data_folder(options.data) / "borlange")
    report = trips.quickest
    met = int(report.each.exact.sum())
    print(
        f"\nquickest path: {met}/{len(trips.all)} trips met, "
        f"{100 * report.metric('exact_match'):.1f} %; link recall "
        f"{report.metric('node_recall'):.4f}, over all links of a trip from the first to the "
        "last, without the destination"
    )
    parts = options.part or [part for part in known if part != "chosen"]
    if "fit" in parts:
        fitting(trips)
    settings = [setting for part in parts for setting in SETTINGS.get(part, [])]
    if settings:
        held_out(trips, [Setting("quickest path", ""), *settings], options.folds, options.by)


if __name__ == "__main__":
    main()
