"""Route choice in Borlange: linear and boosted costs against the quickest path, cross-validated.

Run: python benchmarks/borlange.py [--data DIR] [--part fit|linear|boosted] [--folds 5]

DIR, or the environment variable RELAXBOOST_DATA, holds borlange/borlange.npz or the published
text files (docs/benchmarks.md says what was found). Nothing is chosen by looking at test trips:
strengths and rounds come from a part of the training trips that is held out from them.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from common import machine, table

from relaxboost import functional as fn
from relaxboost import planning as pl
from relaxboost.readers import data_folder, link_graph, link_tasks, read_routes

STRENGTHS = (1e-4, 1e-3, 1e-2)
ROUNDS = (0, 5, 10, 20, 40, 80)
LEARNERS = {
    "stumps": fn.RegressionStumps(),
    "trees of 8 leaves": fn.Trees(max_leaf_nodes=8),
}
LEAST = 1e-2
"""Minutes that boosting starts from where linear costs are less: arcs to destinations have none."""


@dataclass(frozen=True)
class Setting:
    """How costs are learned."""

    name: str
    features: str
    habits: bool = False
    """Whether features say how often other training trips use a link."""
    boosted: str | None = None


class Trips:
    """The trips, and graphs with features for training and testing on parts of them."""

    def __init__(self, folder: Path) -> None:
        self.routes = read_routes(folder)
        self.graphs = {name: link_graph(self.routes, name) for name in ("plain", "rich")}
        self.all = link_tasks(self.routes, self.graphs["plain"])
        self.quickest = pl.evaluate(self.all, lambda graph: graph.features[:, 0])

    def on(self, graph: pl.Graph, which: np.ndarray) -> list[pl.Task]:
        """Return trips as tasks on a graph."""
        return link_tasks(self.routes, graph, trips=which)

    def with_habits(self, features: str, seen: np.ndarray) -> pl.Graph:
        """Return the graph with features that count the trips `seen`, and no others."""
        graph = self.graphs[features]
        taken = pl.demonstrated(graph, [self.all[i] for i in seen]) * len(self.all) / len(seen)
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
            graph.tail, graph.head, X, names=[*graph.names, *columns], labels=graph.labels
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
        for fold in pl.split([self.all[i] for i in which], 5, seed=1, by="pair"):
            graph = self.with_habits(setting.features, which[fold.train])
            tasks += self.on(graph, which[fold.test])
        return tasks, self.with_habits(setting.features, which)


def linear(tasks: list[pl.Task], strength: float) -> pl.Fit:
    """Return linear costs to a gap of 1 %."""
    return pl.fit(tasks, pl.Ridge(strength), tol=1e-2)


def base(found: pl.Fit):
    """Return linear costs as what boosting starts from, > 0."""
    return lambda graph: np.maximum(found.costs(graph), LEAST)


def boosted(tasks: list[pl.Task], found: pl.Fit, name: str, rounds: int) -> pl.BoostedCosts:
    """Return costs boosted from linear ones, with the exponential link."""
    return pl.boost(
        tasks,
        LEARNERS[name],
        link="exponential",
        base=base(found),
        max_rounds=max(rounds, 1),
        iterate="last",
    )


class AtRound:
    """Boosted costs as they were after a number of rounds."""

    def __init__(self, costs: pl.BoostedCosts, rounds: int) -> None:
        self.boosted, self.rounds = costs, rounds

    def costs(self, graph: pl.Graph) -> np.ndarray:
        """Return arc costs."""
        return self.boosted.costs(graph, upto=self.rounds)


def score(report: pl.Report) -> float:
    """Return what inner validation maximises: both metrics alike."""
    return report.exact_match + report.node_recall


def learned(trips: Trips, setting: Setting, train: np.ndarray, by: str | None):
    """Return costs learned on training trips, the graph to use them on, and what was chosen."""
    inner = pl.split([trips.all[i] for i in train], 4, seed=2, by=by)[0]
    tasks, graph = trips.training(setting, train[inner.train])
    held = trips.on(graph, train[inner.test])
    fits = {strength: linear(tasks, strength) for strength in STRENGTHS}
    strength = max(fits, key=lambda s: score(pl.evaluate(held, fits[s])))
    rounds = 0
    if setting.boosted:
        tried = boosted(tasks, fits[strength], setting.boosted, max(ROUNDS))
        rounds = max(ROUNDS, key=lambda k: score(pl.evaluate(held, AtRound(tried, k))))
    tasks, graph = trips.training(setting, train)
    found = linear(tasks, strength)
    if not rounds:
        return found, graph, (strength, rounds)
    made = boosted(tasks, found, str(setting.boosted), rounds)
    return AtRound(made, rounds), graph, (strength, rounds)


def cross_validated(trips: Trips, setting: Setting, by: str | None, folds: int):
    """Return the report on held-out trips in their order, and what was chosen in each fold."""
    parts, chosen, places = [], [], []
    for fold in pl.split(trips.all, folds, by=by):
        costs, graph, choice = learned(trips, setting, fold.train, by)
        parts.append(pl.evaluate(trips.on(graph, fold.test), costs))
        places.append(fold.test)
        chosen.append(choice)
    joined, order = pl.Report.joined(parts), np.argsort(np.concatenate(places))
    return in_order(joined, order), chosen


def in_order(report: pl.Report, order: np.ndarray) -> pl.Report:
    """Return the report with its tasks in another order."""
    each = pl.PerTask(*(column[order] for column in report.each))
    tasks, plans = (tuple(x[i] for i in order) for x in (report.tasks, report.plans))
    return pl.Report(tasks, plans, each)


def shown(difference: pl.Difference) -> str:
    """Return a difference with its interval, in points of a percent."""
    return (
        f"{100 * difference.difference:+.2f} "
        f"[{100 * difference.low:+.2f}, {100 * difference.high:+.2f}]"
    )


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
                    f"{100 * report.exact_match:.2f}",
                    f"{report.node_recall:.4f}",
                )
            )
    header = ("features", "λ", "bracket", "rounds", "s", "exact match, %", "link recall")
    table("linear costs of all 1832 trips to a gap of 1 %, in sample", header, rows)


def held_out(trips: Trips, settings: list[Setting], folds: int) -> None:
    """Print held-out figures of each setting, by pairs and by trips."""
    rows, reports = [], {}
    for by in ("pair", None):
        for setting in settings:
            clock = time.perf_counter()
            report, chosen = cross_validated(trips, setting, by, folds)
            reports[by, setting.name] = report
            against = pl.compare(trips.quickest, report, by="pair")
            rows.append(
                (
                    "pairs" if by else "trips",
                    setting.name,
                    f"{100 * report.exact_match:.2f}",
                    shown(against["exact_match"]),
                    f"{report.node_recall:.4f}",
                    shown(against["node_recall"]),
                    " ".join(f"{s:g}/{k}" if setting.boosted else f"{s:g}" for s, k in chosen),
                    f"{time.perf_counter() - clock:.0f}",
                )
            )
            print("|", " | ".join(rows[-1]), "|", flush=True)
    header = (
        "folds by",
        "costs",
        "exact match, %",
        "less the quickest's",
        "link recall",
        "less the quickest's",
        "chosen: λ/rounds",
        "s",
    )
    table(
        "held-out trips, five folds; intervals resample pairs of origin and destination",
        header,
        rows,
    )


SETTINGS = {
    "linear": [
        Setting("linear, 4 features", "plain"),
        Setting("linear, 24 features", "rich"),
        Setting("linear, and habits", "rich", habits=True),
    ],
    "boosted": [
        Setting("boosted stumps", "rich", boosted="stumps"),
        Setting("boosted trees", "rich", boosted="trees of 8 leaves"),
        Setting("boosted trees, and habits", "rich", habits=True, boosted="trees of 8 leaves"),
    ],
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data")
    parser.add_argument("--part", choices=["fit", *SETTINGS], action="append")
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore", RuntimeWarning)
    machine()
    trips = Trips(data_folder(options.data) / "borlange")
    report = trips.quickest
    met = int(report.each.exact.sum())
    print(
        f"\nquickest path: {met}/{len(trips.all)} trips met, {100 * report.exact_match:.1f} %; "
        f"link recall {report.node_recall:.4f}, over all links of a trip from the first to the "
        "last, without the destination"
    )
    parts = options.part or ["fit", *SETTINGS]
    if "fit" in parts:
        fitting(trips)
    settings = [setting for part in parts for setting in SETTINGS.get(part, [])]
    if settings:
        held_out(trips, settings, options.folds)


if __name__ == "__main__":
    main()
