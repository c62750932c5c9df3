"""The figure of a reproduction, and its table of curves."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from benchmarks.reproductions.curves import band
from benchmarks.reproductions.experiments import Experiment
from benchmarks.reproductions.runs import COLUMNS, Result, labels
from relaxboost._core.errors import check_drawing

STYLES: dict[str, dict[str, Any]] = {
    "naive": {"color": "black", "linestyle": "--"},
    "repeated": {"color": "C3", "linestyle": "-"},
    "residual": {"color": "C0", "linestyle": (0, (8, 2))},
}
"""The line styles of the paper."""

Curves = Mapping[str, Mapping[str, list[Result]]]
"""Results by set and algorithm, one for each seed."""


def draw(experiment: Experiment, curves: Curves, titles: Mapping[str, str]) -> Any:
    """Return a matplotlib figure: a column for each set, a row for each of loss and score.

    The lines are medians over seeds, and the bands lie between the quartiles.
    """
    check_drawing()
    from matplotlib.figure import Figure

    columns = list(COLUMNS[1:])
    names = dict(zip(columns, labels(experiment.score), strict=True))
    rows, across = (len(columns), len(curves)) if len(curves) > 1 else (2, 2)
    size = (max(3.1 * across, 7.0), 2.1 * rows + 0.4)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(rows, across, squeeze=False)
    panels = [(name, column) for column in columns for name in curves]
    for axes, (name, column) in zip(grid.flat, panels, strict=True):
        _panel(axes, curves[name], column)
        axes.set_ylabel(names[column], fontsize="small")
        axes.tick_params(labelsize="small")
        if column == columns[0] or len(curves) == 1:
            axes.set_title(titles[name], fontsize="small")
    for axes in grid[-1]:
        axes.set_xlabel("weak learners", fontsize="small")
    grid[0, 0].legend(fontsize="small")
    figure.suptitle(experiment.title, fontsize="medium")
    return figure


def _panel(axes: Any, results: Mapping[str, list[Result]], column: str) -> None:
    top = start = 0.0
    for algorithm, style in STYLES.items():
        curve = band(results[algorithm], column)
        axes.plot(curve.learners, curve.median, label=algorithm, linewidth=1.3, **style)
        axes.fill_between(
            curve.learners, curve.low, curve.high, color=style["color"], alpha=0.2, linewidth=0
        )
        top = max(top, float(curve.median[1:].max(initial=0.0)))
        start = float(curve.median[0])
    # The first steps of a large scale may overshoot far. The axis is cut so that the rest of the
    # curve stays legible.
    most = 1.6 * round(start, 6) if column.endswith("loss") else 1.0
    axes.set_ylim(0.0, min(1.05 * top, most) or 1.0)


def png(figure: Any) -> bytes:
    """Return a figure as a small PNG of a hundred colours, which suffice for three lines."""
    from PIL import Image

    drawn, small = io.BytesIO(), io.BytesIO()
    figure.savefig(drawn, format="png", dpi=80)
    picture = Image.open(drawn).convert("RGB").quantize(100, dither=Image.Dither.NONE)
    picture.save(small, format="png", optimize=True)
    return small.getvalue()


def table(experiment: Experiment, curves: Curves) -> str:
    """Return all curves as CSV: a row for each set, algorithm, seed and round."""
    names = ["train_loss", f"train_{experiment.score}", "test_loss", f"test_{experiment.score}"]
    lines = [",".join(["set", "split", "scale", "algorithm", "seed", "learners", *names])]
    for name, algorithms in curves.items():
        for algorithm, results in algorithms.items():
            for result in results:
                spec = result["spec"]
                head = [name, spec["split"], f"{spec['scale']:g}", algorithm, str(spec["seed"])]
                lines += [
                    ",".join([*head, str(int(row[0])), *map(repr, row[1:])])
                    for row in result["rows"]
                ]
    return "\n".join(lines) + "\n"
