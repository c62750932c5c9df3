"""`relaxboost plan eval`: planned paths beside demonstrated ones, or published lengths."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any, NamedTuple

import click

from relaxboost._core.errors import InputError
from relaxboost._core.progress import bar
from relaxboost.commands import plan_inputs as inputs
from relaxboost.commands.plan_inputs import GraphFiles, PlanInput


@click.command(
    "eval",
    epilog=inputs.FILES
    + """
\b
Exit status: 0 done, 1 a length of --scenarios is not the shortest, 2 bad input.

\b
Examples:
  relaxboost plan eval costs.json --arcs arcs.csv --tasks held_out.csv
  relaxboost plan eval costs.json --map den312d.map --scenarios den312d.map.scen --limit 20
  relaxboost plan eval --map den312d.map --scenarios den312d.map.scen
""",
)
@click.argument("model", required=False, type=inputs.PathType)
@inputs.graph_options
@click.option("--tasks", type=inputs.PathType, help="Demonstrations, held out from the fit.")
@click.option(
    "--scenarios",
    type=inputs.PathType,
    help="Problems on the map, a .scen file, in place of demonstrations. Without MODEL costs are "
    "lengths, and those in the file are checked.",
)
@click.option("--limit", type=click.IntRange(1), help="--scenarios: the first so many.")
@inputs.as_json
def evaluate(
    model: Path | None,
    files: GraphFiles,
    tasks: Path | None,
    scenarios: Path | None,
    limit: int | None,
    as_json: bool,
) -> None:
    """Compare the paths that are shortest for learned costs with demonstrated ones.

    MODEL is a file of `relaxboost plan fit --out`.
    """
    from relaxboost import planning

    if (tasks is None) == (scenarios is None):
        raise InputError("give either --tasks or --scenarios")
    if model is None and scenarios is None:
        raise InputError("--tasks needs MODEL, a file of relaxboost plan fit --out")
    learned = None if model is None else planning.load_model(model)
    source = files.read()
    if scenarios is not None:
        rows = _lengths(source, learned, inputs.read_problems(scenarios, source, limit))
        checked = learned is None and files.neighbours == 8
        same = sum(row.same for row in rows)
        if as_json:
            data = {"data": source.name, "problems": len(rows), "checked": checked, "same": same}
            inputs.print_json(data | {"each": [row._asdict() for row in rows]})
        else:
            click.echo(scenario_text(rows, source, checked))
        if checked and same < len(rows):
            sys.exit(1)
        return
    assert tasks is not None
    shown = inputs.read_tasks(tasks, source)
    with inputs.spoken(inputs.USED):
        report = planning.evaluate(shown, learned)
    if as_json:
        inputs.print_json(report_data(report, source))
    else:
        click.echo(report_text(report, source))


class Compared(NamedTuple):
    """A problem of a .scen file and what was planned for it."""

    number: int
    source: tuple[int, int]
    target: tuple[int, int]
    said: float
    planned: float
    same: bool
    """Up to the digits that such files have."""


def _lengths(source: PlanInput, learned: Any, problems: list[Any]) -> list[Compared]:
    """Return problems beside the lengths that were planned, in the order of the file."""
    from relaxboost import planning

    c, lengths = inputs.costs_of(source, learned), inputs.costs_of(source, None)
    rows = []
    with inputs.spoken(inputs.USED), bar("planning") as progress:
        for number, one in enumerate(problems, start=1):
            path = planning.shortest_path(source.graph, c, one.source, one.target).path
            planned = path.cost(lengths)
            same = math.isclose(one.length, planned, rel_tol=1e-7, abs_tol=1e-5)
            rows.append(Compared(number, one.source, one.target, one.length, planned, same))
            progress(number, len(problems), "")
    return rows


def report_text(report: Any, source: PlanInput) -> str:
    """Return an `Evaluation` in lines."""
    exact = int(report.each.exact.sum())
    lines = [f"data:       {source}, {inputs.number_of(len(report.tasks), 'task')}"]
    lines.append(f"{'plans that are the demonstration':<44}{exact} of {len(report.tasks)}")
    names = {
        "optimal_match": "demonstrations that are shortest, with ties",
        "arc_recall": "arcs of demonstrations that plans take",
        "arc_precision": "arcs of plans that demonstrations take",
        "cost_ratio": "cost of demonstrations over that of plans",
        "margin_loss": "margin loss, mean",
    }
    for name, words in names.items():
        value = report.metric(name)
        rate = name not in ("cost_ratio", "margin_loss")
        shown = "-" if math.isnan(value) else f"{value:.1%}" if rate else f"{value:.6g}"
        lines.append(f"{words:<44}{shown}")
    return "\n".join(lines)


def report_data(report: Any, source: PlanInput) -> dict[str, Any]:
    """Return an `Evaluation` for machines."""
    each = [
        {"name": task.name, "exact": bool(exact), "margin_loss": float(loss)}
        for task, exact, loss in zip(
            report.tasks, report.each.exact, report.each.margin, strict=True
        )
    ]
    metrics = {name: inputs.finite(value) for name, value in report.metrics().items()}
    return {"data": source.name, "tasks": len(report.tasks), "metrics": metrics, "each": each}


def scenario_text(rows: list[Compared], source: PlanInput, checked: bool) -> str:
    """Return how planned lengths compare with those of a .scen file, in lines."""
    same = sum(row.same for row in rows)
    what = "lengths confirmed" if checked else "plans of the shortest length"
    ratio = sum(row.planned for row in rows) / max(sum(row.said for row in rows), 1e-300)
    lines = [
        f"data:       {source}, {inputs.number_of(len(rows), 'problem')}",
        f"{what:<44}{same} of {len(rows)}",
    ]
    if not checked:
        lines.append(f"{'length of plans over the shortest':<44}{ratio:.6g}")
        return "\n".join(lines)
    for row in [row for row in rows if not row.same][: inputs.MOST]:
        lines.append(
            f"  problem {row.number}, {row.source} to {row.target}: the file says {row.said:.8g}, "
            f"the shortest path has {row.planned:.8g}"
        )
    return "\n".join(lines)
