"""`relaxboost plan show`: draw trips, what is planned for them, and costs."""

from __future__ import annotations

from typing import Any

import click

from relaxboost._core.errors import InputError, few
from relaxboost.commands import plan_inputs as inputs
from relaxboost.commands.plan_inputs import PlanOptions
from relaxboost.commands.style import OutputFile


@click.command(
    epilog=inputs.FILES
    + """
\b
Exit status: 0 drawn, 2 bad input.

\b
Examples:
  relaxboost plan show --edges edges.csv --nodes nodes.csv --out roads.png
  relaxboost plan show costs.json --edges edges.csv --trips trips.csv \\
      --trip monday --out monday.png
  relaxboost plan show --map hall.map --scenarios hall.map.scen --trip 2 \\
      --out 2.pdf
"""
)
@click.argument("model", required=False, type=inputs.FileType)
@inputs.plan_files
@inputs.scenarios
@click.option("--trip", "name", help="Its name, or number from 1.  [default: all of --trips]")
@click.option("--whole", is_flag=True, help="All of the graph, not only what is around the paths.")
@click.option("--log", is_flag=True, help="Colours by the logarithm of costs.")
@click.option(
    "--out", required=True, type=OutputFile(".png"), help="The picture: .png, .pdf or .svg."
)
def show(**given: Any) -> None:
    """Draw a trip, the path that is shortest for learned costs, and the costs.

    MODEL is a file of `relaxboost plan fit --out`, or of `plan boost --out`;
    without it costs are lengths, or 1 for each arc of a network.
    """
    from relaxboost import planning
    from relaxboost.planning import maps
    from relaxboost.views import plots

    options = PlanOptions(**given)
    plots.check_plot(options.out)
    if options.trips is not None and options.scenarios is not None:
        raise InputError("give either --trips or --scenarios")
    learned = None if options.model is None else planning.load_model(options.model)
    with inputs.spoken(inputs.USED | inputs.TABLES, options):
        source = options.read(learned)
        graph, c = source.graph, inputs.costs_of(source, learned)
        where, ends = graph, []
        if options.trips is not None:
            where = options.tasks(source, options.trips)
            if options.name is not None or len(where) == 1:
                where = _chosen([one.name for one in where], where, options.name)
                ends = [graph.label(node) for node in (where.source, where.target)]
        elif options.scenarios is not None:
            problems = inputs.read_problems(options.scenarios, source)
            names = [str(place) for place in range(1, len(problems) + 1)]
            problem = _chosen(names, problems, options.name)
            ends = [problem.source, problem.target]
        planned = planning.shortest_path(graph, c, *ends) if ends else None
        axes = maps.paths(
            where,
            planned=planned,
            costs=None if learned is None else c,
            scale="log" if options.log else "linear",
        )
    between = f": {ends[0]} to {ends[1]}" if ends else ""
    axes.set_title(source.name + between, fontsize="medium")
    # Where nodes were laid out here, nothing is around a path: other ways may be anywhere.
    cut = axes.get_lines() and not options.whole and graph.position is not None
    plots.save(maps.zoom(axes) if cut else axes, options.out)
    data = {"data": source.name, "picture": str(options.out), "ends": ends}
    options.show(f"picture:    {given['out']}", data)


def _chosen(names: list[str], things: list[Any], name: str | None) -> Any:
    if name is None and len(things) == 1:
        return things[0]
    known = {str(place): thing for place, thing in enumerate(things, start=1)}
    known |= dict(zip(names, things, strict=True))
    if name is None or name not in known:
        asked = "say which with --trip" if name is None else f"there is no trip {name!r}"
        raise InputError(f"{asked}; there are {len(names)}: {few(names, 8)}")
    return known[name]
