"""The command `relaxboost plan evaluate`, which compares plans with demonstrated trips."""

from __future__ import annotations

from typing import Any

import click

from relaxboost._core.digits import finite
from relaxboost._core.errors import InputError
from relaxboost.commands import plan_inputs as inputs
from relaxboost.commands.plan_inputs import PlanOptions
from relaxboost.commands.style import Verb
from relaxboost.commands.words import spoken

_LENGTHS = {
    r"(add it, or rename another|did you mean .*)$": "pass MODEL, or name the column of costs with "
    "--features"
}


@click.command(
    cls=Verb,
    short_help="Compare paths that are shortest for learned costs with trips.",
    epilog=inputs.FILES
    + """
\b
Exit status: 0 done, 2 bad input.

\b
Examples:
  relaxboost plan evaluate costs.json --edges edges.csv --trips held_out.csv
  relaxboost plan evaluate --edges edges.csv --trips held_out.csv
  relaxboost plan evaluate costs.json --edges edges.csv --trips t.csv --json
""",
)
@click.argument("model", required=False, type=inputs.FileType)
@inputs.plan_files(
    "Columns of --edges, or products such as length*class, that MODEL uses; without MODEL, the "
    "column of the costs.  [default: those of MODEL, or length]"
)
def evaluate(**given: Any) -> None:
    """Compare trips with the paths that are shortest under learned costs.

    MODEL is a file written by `plan fit --out` or `plan boost --out`. Without MODEL, the costs are
    the column length, or the column that --features names. These costs are a baseline for learned
    costs. Regret and margin loss depend on the unit of the costs, so do not compare them across
    models.
    """
    from relaxboost import planning

    options = PlanOptions(**given)
    learned = None if options.model is None else planning.load_model(options.model)
    words = inputs.USED
    if learned is None:
        words = words | _LENGTHS
        options.features = options.features or "length"
    with spoken(words, options.note):
        # The option --features is not needed with learned costs, because they contain the names of
        # their columns.
        source = options.read(learned)
        graph = source.graph
        if learned is None and len(graph.names) > 1:
            raise InputError(
                f"--features names {len(graph.names)} features, but without MODEL it must name one "
                "column, the costs of the arcs; name one column, or pass MODEL"
            )
        costs = graph.arc_features[:, 0] if learned is None else learned
        report = planning.evaluate(options.tasks(source, options.trips), costs)
    columns = zip(report.tasks, report.each.exact, report.each.margin, strict=True)
    each = [
        {"name": task.name, "exact": bool(exact), "margin_loss": float(loss)}
        for task, exact, loss in columns
    ]
    metrics = {name: finite(value) for name, value in report.metrics().items()}
    data = {"data": source.name, "trips": len(report.tasks), "metrics": metrics, "each": each}
    options.show(f"data:       {source}\n{report}", data)
