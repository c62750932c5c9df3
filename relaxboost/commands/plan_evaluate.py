"""`relaxboost plan evaluate`: planned paths beside demonstrated ones, or published lengths."""

from __future__ import annotations

import math
import sys
from typing import Any

import click

from relaxboost._core.digits import finite
from relaxboost._core.errors import InputError
from relaxboost._core.progress import bar
from relaxboost.commands import plan_inputs as inputs
from relaxboost.commands.plan_inputs import PlanInput, PlanOptions


@click.command(
    epilog=inputs.FILES
    + """
\b
Exit status: 0 done, 1 a length of --scenarios is not the shortest, 2 bad
input.

\b
Examples:
  relaxboost plan evaluate costs.json --edges edges.csv --trips held_out.csv
  relaxboost plan evaluate costs.json --map hall.map --scenarios hall.map.scen
  relaxboost plan evaluate --map hall.map --scenarios hall.map.scen --limit 2
"""
)
@click.argument("model", required=False, type=inputs.FileType)
@inputs.plan_files
@inputs.scenarios
@click.option("--limit", type=click.IntRange(1), help="--scenarios: the first so many.")
def evaluate(**given: Any) -> None:
    """Compare the paths that are shortest for learned costs with trips.

    MODEL is a file of `plan fit --out` or `plan boost --out`. Without it costs
    are lengths, and those in the file of --scenarios are checked.
    """
    from relaxboost import planning

    options = PlanOptions(**given)
    model, scenarios = options.model, options.scenarios
    if (options.trips is None) == (scenarios is None):
        raise InputError("give either --trips or --scenarios")
    if model is None and scenarios is None:
        raise InputError("--trips needs MODEL, a file of relaxboost plan fit --out")
    learned = None if model is None else planning.load_model(model)
    with inputs.spoken(inputs.USED, options):
        source = options.read(learned)
        if scenarios is not None:
            problems = inputs.read_problems(scenarios, source)[: options.limit]
            rows = _lengths(source, learned, problems)
            checked = learned is None and options.neighbours == "8"
            same = sum(row["same"] for row in rows)
            data = {"data": source.name, "problems": len(rows), "checked": checked, "same": same}
            options.show(scenario_text(rows, source, checked), data | {"each": rows})
            sys.exit(1 if checked and same < len(rows) else 0)
        report = planning.evaluate(options.tasks(source, options.trips), learned)
        options.show(f"data:       {source}\n{report}", report_data(report, source))


def _lengths(source: PlanInput, learned: Any, problems: list[Any]) -> list[dict[str, Any]]:
    """Return problems beside the lengths that were planned, in the order of the file."""
    from relaxboost import planning

    c, lengths = inputs.costs_of(source, learned), inputs.costs_of(source, None)
    rows = []
    with bar("planning") as progress:
        for number, one in enumerate(problems, start=1):
            planned = planning.shortest_path(source.graph, c, *one[4:6]).path.cost(lengths)
            # Up to the digits that such files have.
            same = math.isclose(one.length, planned, rel_tol=1e-7, abs_tol=1e-5)
            row = {"number": number, "source": one.source, "target": one.target}
            rows.append(row | {"said": one.length, "planned": planned, "same": same})
            progress(number, len(problems), "")
    return rows


def scenario_text(rows: list[dict[str, Any]], source: PlanInput, checked: bool) -> str:
    """Return how planned lengths compare with those of a .scen file, in lines."""
    what = "lengths confirmed" if checked else "plans of the shortest length"
    same = sum(row["same"] for row in rows)
    lines = [
        f"data:       {source}, {inputs.number_of(len(rows), 'problem')}",
        f"{what:<44}{same} of {len(rows)}",
    ]
    if not checked:
        planned, said = (sum(row[name] for row in rows) for name in ("planned", "said"))
        lines.append(f"{'length of plans over the shortest':<44}{planned / max(said, 1e-300):.6g}")
    for row in [row for row in rows if checked and not row["same"]][: inputs.MOST]:
        lines.append(
            f"  problem {row['number']}, {row['source']} to {row['target']}: the file says "
            f"{row['said']:.8g}, the shortest path has {row['planned']:.8g}"
        )
    return "\n".join(lines)


def report_data(report: Any, source: PlanInput) -> dict[str, Any]:
    """Return an `Evaluation` for machines."""
    columns = zip(report.tasks, report.each.exact, report.each.margin, strict=True)
    each = [
        {"name": task.name, "exact": bool(exact), "margin_loss": float(loss)}
        for task, exact, loss in columns
    ]
    metrics = {name: finite(value) for name, value in report.metrics().items()}
    return {"data": source.name, "trips": len(report.tasks), "metrics": metrics, "each": each}
