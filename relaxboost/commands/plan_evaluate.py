"""`relaxboost plan evaluate`: compare planned paths with demonstrated ones."""

from __future__ import annotations

from typing import Any

import click

from relaxboost._core.digits import finite
from relaxboost.commands import plan_inputs as inputs
from relaxboost.commands.plan_inputs import PlanInput, PlanOptions
from relaxboost.commands.words import spoken


@click.command(
    epilog=inputs.FILES
    + """
\b
Exit status: 0 done, 2 bad input.

\b
Examples:
  relaxboost plan evaluate costs.json --edges edges.csv --trips held_out.csv
  relaxboost plan evaluate costs.json --edges edges.csv --trips t.csv --json
"""
)
@click.argument("model", type=inputs.FileType)
@inputs.plan_files
def evaluate(**given: Any) -> None:
    """Compare the paths that are shortest for learned costs with trips.

    MODEL is a file of `plan fit --out` or `plan boost --out`.
    """
    from relaxboost import planning

    options = PlanOptions(**given)
    learned = planning.load_model(options.model)
    with spoken(inputs.USED, options.note):
        # Learned costs name the columns that are read, so that --features may be left out.
        source = options.read(learned)
        report = planning.evaluate(options.tasks(source, options.trips), learned)
    options.show(f"data:       {source}\n{report}", report_data(report, source))


def report_data(report: Any, source: PlanInput) -> dict[str, Any]:
    """Return an `Evaluation` for machines."""
    columns = zip(report.tasks, report.each.exact, report.each.margin, strict=True)
    each = [
        {"name": task.name, "exact": bool(exact), "margin_loss": float(loss)}
        for task, exact, loss in columns
    ]
    metrics = {name: finite(value) for name, value in report.metrics().items()}
    return {"data": source.name, "trips": len(report.tasks), "metrics": metrics, "each": each}
