"""`relaxboost plan show`: draw a task, what is planned for it, and costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from relaxboost._core.errors import InputError
from relaxboost.commands import plan_inputs as inputs
from relaxboost.commands.plan_inputs import GraphFiles


@click.command(
    epilog=inputs.FILES
    + """
\b
Exit status: 0 drawn, 2 bad input.

\b
Examples:
  relaxboost plan show costs.json --arcs arcs.csv --tasks tasks.csv --task monday --out monday.png
  relaxboost plan show --map den312d.map --scenarios den312d.map.scen --task 500 --out 500.png
"""
)
@click.argument("model", required=False, type=inputs.PathType)
@inputs.graph_options
@click.option("--tasks", type=inputs.PathType, help="The demonstrations.")
@click.option("--scenarios", type=inputs.PathType, help="Problems on the map, a .scen file.")
@click.option("--task", "name", help="Its name, or number from 1. [default: 1, if it is the only]")
@click.option("--zoom", is_flag=True, help="Only what is around the paths.")
@click.option("--out", required=True, type=inputs.PathType, help="The picture: .png, .pdf or .svg.")
def show(
    model: Path | None,
    files: GraphFiles,
    tasks: Path | None,
    scenarios: Path | None,
    name: str | None,
    zoom: bool,
    out: Path,
) -> None:
    """Draw a task: its demonstration, the path that is shortest for learned costs, the costs.

    MODEL is a file of `relaxboost plan fit --out`; without it costs are lengths, or 1 for each arc
    of a network.
    """
    from relaxboost import planning
    from relaxboost.planning import maps
    from relaxboost.views import plots

    plots.check_plot(out)
    if (tasks is None) == (scenarios is None):
        raise InputError("give either --tasks or --scenarios")
    learned = None if model is None else planning.load_model(model)
    source = files.read()
    graph, c = source.graph, inputs.costs_of(source, learned)
    where: Any = graph
    if tasks is not None:
        shown = inputs.read_tasks(tasks, source)
        where = _chosen([one.name for one in shown], shown, name)
        ends = [graph.label(node) for node in (where.source, where.target)]
    else:
        assert scenarios is not None
        problems = inputs.read_problems(scenarios, source)
        names = [str(place) for place in range(1, len(problems) + 1)]
        problem = _chosen(names, problems, name)
        ends = [problem.source, problem.target]
    with inputs.spoken(inputs.USED):
        planned = planning.shortest_path(graph, c, *ends)
    axes = maps.paths(where, planned=planned, costs=None if learned is None else c)
    axes.set_title(f"{source.name}: {ends[0]} to {ends[1]}", fontsize="medium")
    plots.save(maps.zoom(axes) if zoom else axes, out)
    click.echo(f"picture:    {out}")


def _chosen(names: list[str], things: list[Any], name: str | None) -> Any:
    if name is None and len(things) == 1:
        return things[0]
    known = {str(place): thing for place, thing in enumerate(things, start=1)}
    known |= dict(zip(names, things, strict=True))
    if name is None or name not in known:
        few = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        asked = "say which with --task" if name is None else f"there is no task {name!r}"
        raise InputError(f"{asked}; there are {len(names)}: {few}")
    return known[name]
