"""The results of a rerun, as data and as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.reproductions.curves import band, middle
from benchmarks.reproductions.findings import Grid, Results
from benchmarks.reproductions.runs import COLUMNS, Result, labels

Data = dict[str, Any]


def describe(scale: float, grid: Grid, results: Results, baselines: list[Result]) -> Data:
    """Return the numbers of a set: the grid of scales, the ends of the curves, the baseline."""
    spec = [result["spec"] for result in results["naive"]]
    ends: Data = {}
    for algorithm, runs in results.items():
        ends[algorithm] = {
            column: dict(zip(("median", "low", "high"), band(runs, column).last(), strict=True))
            for column in COLUMNS[1:]
        }
        ends[algorithm]["learners"] = int(band(runs, "learners").median[-1])
        ends[algorithm]["rounds"] = int(middle(runs, "rounds"))
        ends[algorithm]["splits"] = int(middle(runs, "splits"))
        ends[algorithm]["test_score_by_seed"] = [run["rows"][-1][4] for run in runs]
    data: Data = {
        "scale": scale,
        "grid": {
            f"{s:g}": {a: run["rows"][-1][1] for a, run in row.items()} for s, row in grid.items()
        },
        "splits": [one["split"] for one in spec],
        "train": spec[0]["train"],
        "test": spec[0]["test"],
        "ends": ends,
    }
    if baselines:
        keys = ("at_rounds", "at_learners", "stumps_a_round")
        data["baseline"] = {key: [run[key] for run in baselines] for key in keys}
    return data


def title(name: str, data: Data, score: str) -> str:
    """Return the title of the panels of a set."""
    what = "paths" if score == "missed" else "rows"
    steps = "by line search" if data["line_search"] else f"{data['scale']:g}/√t"
    return f"{name}: {data['train']} + {data['test']} {what}, steps {steps}"


def written(data: Data, lines: list[str]) -> str:
    """Return all results as text."""
    out = [
        f"{data['title']}; {data['learners']} weak learners, {data['seeds']} seeds"
        + ("; QUICK: small parts of the data, no reproduction" if data["quick"] else "")
    ]
    for name, one in data["sets"].items():
        out += ["", *_ends(name, one, data["score"]), *_grid(one)]
    out += _accuracies(data)
    out += ["", "With the paper:", *(f"  {line}" for line in lines)]
    return "\n".join(out) + "\n"


def _ends(name: str, one: Data, score: str) -> list[str]:
    splits = ", ".join(one["splits"])
    head = "".join(f"{label:>22}" for label in labels(score))
    lines = [
        f"{title(name, one, score)}; splits: {splits}; median [quartiles] at the end",
        f"  {'':9} {'learners':>8} {'rounds':>6} {'splits':>6}" + head,
    ]
    for algorithm, end in one["ends"].items():
        cells = [
            "{median:.4f} [{low:.3f}, {high:.3f}]".format(**end[column]) for column in COLUMNS[1:]
        ]
        lines.append(
            f"  {algorithm:9} {end['learners']:8} {end['rounds']:6} {end['splits']:6}"
            + "".join(f" {cell:>21}" for cell in cells)
        )
    return lines


def _grid(one: Data) -> list[str]:
    if one["line_search"]:
        return []
    chosen = f"{one['scale']:g}"
    lines = [f"  final training loss of seed 0 with steps c/sqrt(t); least mean: c = {chosen}"]
    for scale, row in one["grid"].items():
        lines.append(f"    c = {scale:>4}: " + ", ".join(f"{a} {v:.4f}" for a, v in row.items()))
    return lines


def _accuracies(data: Data) -> list[str]:
    """Return a table of test accuracies, with that of scikit-learn."""
    if not any("baseline" in one for one in data["sets"].values()):
        return []
    n = data["learners"]
    lines = [
        "",
        f"Test accuracy, median of seeds; HGB: HistGradientBoostingClassifier(max_depth=1), {n} "
        f"rounds of K stumps each, and {n} stumps in all",
        f"  {'':10} {'K':>3} {'naive':>9} {'repeated':>9} {'residual':>9} {'HGB rounds':>11} "
        f"{'HGB stumps':>11}",
    ]
    for name, one in data["sets"].items():
        ours = [1.0 - one["ends"][a]["test_score"]["median"] for a in one["ends"]]
        other = one["baseline"]
        cells = "".join(f"{v:>10.4f}" for v in ours)
        last = "".join(
            f"{float(np.median(other[key])):>12.4f}" for key in ("at_rounds", "at_learners")
        )
        lines.append(f"  {name:10} {other['stumps_a_round'][0]:>3}{cells}{last}")
    return lines
