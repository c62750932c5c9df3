"""The command `relaxboost plan show`, which draws trips, plans and costs."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from relaxboost._core.errors import InputError, few
from relaxboost.commands import plan_inputs as inputs
from relaxboost.commands.plan_inputs import PlanInput, PlanOptions
from relaxboost.commands.style import OutputFile, Verb
from relaxboost.commands.words import spoken


@click.command(
    cls=Verb,
    short_help="Draw a trip, its shortest path, and the costs.",
    epilog=inputs.FILES
    + """
\b
Exit status: 0 drawn, 2 bad input.

\b
Examples:
  relaxboost plan show --edges edges.csv --nodes nodes.csv --out roads.png
  relaxboost plan show costs.json --edges edges.csv --trips trips.csv \\
      --trip monday --out monday.png
  relaxboost plan show costs.json --edges edges.csv --whole --out costs.pdf
""",
)
@click.argument("model", required=False, type=inputs.FileType)
@inputs.plan_files(
    "Columns of --edges, or products such as length*class, to read.  [default: those of MODEL, or "
    "all]"
)
@click.option("--trip", "name", help="A name, or a number from 1.  [default: all of --trips]")
@click.option("--whole", is_flag=True, help="Draw the whole graph, not only the area of the paths.")
@click.option(
    "--out",
    required=True,
    type=OutputFile(".png"),
    help="The picture: .png, .pdf or .svg. An existing file is overwritten.",
)
def show(**given: Any) -> None:
    """Draw a trip, the path that is shortest under learned costs, and the costs.

    MODEL is a file written by `plan fit --out` or `plan boost --out`. Without MODEL, all arcs
    have the cost 1.
    """
    from relaxboost import planning
    from relaxboost.planning import maps
    from relaxboost.views import plots

    options = PlanOptions(**given)
    plots.check_plot(options.out)
    learned = None if options.model is None else planning.load_model(options.model)
    with spoken(inputs.USED | inputs.TABLES, options.note):
        source = options.read(learned)
        graph = source.graph
        costs = np.ones(graph.arcs) if learned is None else learned.costs(graph)
        shown = graph if options.trips is None else _trips(options, source)
        ends = []
        planned = None
        if isinstance(shown, planning.Task):
            ends = [graph.label(node) for node in (shown.source, shown.target)]
            planned = planning.shortest_path(graph, costs, *ends)
        axes = maps.paths(shown, planned, None if learned is None else costs)
    between = f": {ends[0]} to {ends[1]}" if ends else ""
    axes.set_title(source.name + between, fontsize="medium")
    # If nodes have no coordinates, their positions are computed. Other ways between the ends of a
    # path may then lie anywhere, so that the picture is not cropped to the paths.
    if axes.get_lines() and not options.whole and graph.position is not None:
        _crop(axes)
    plots.save(axes, options.out)
    data = {"data": source.name, "picture": str(options.out), "ends": ends}
    options.show(f"picture:    {given['out']}", data)


def _crop(axes: Any) -> None:
    """Crop a map to the area of its paths, with a margin of 15 % of their larger extent on each
    side."""
    xy = np.concatenate([np.asarray(line.get_xydata()) for line in axes.get_lines()])
    middle = 0.5 * (xy.max(axis=0) + xy.min(axis=0))
    half = 0.5 * np.ptp(xy, axis=0)
    # The shorter side has at least 0.6 of the length of the longer side, because the picture of a
    # straight path would otherwise be a thin strip.
    half = np.maximum(half, 0.6 * half.max()) + 0.3 * half.max()
    seen = np.array([axes.get_xlim(), axes.get_ylim()]).T
    low = np.maximum(middle - half, seen[0])
    high = np.minimum(middle + half, seen[1])
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    if np.prod(high - low) <= 0.3 * np.prod(seen[1] - seen[0]):
        # The roads are the first collection. After the crop, fewer of them are visible.
        roads = axes.collections[0]
        roads.set_linewidths(np.maximum(roads.get_linewidths(), 0.7))


def _trips(options: PlanOptions, source: PlanInput) -> Any:
    tasks = options.tasks(source, options.trips)
    name = options.name
    if name is None:
        return tasks[0] if len(tasks) == 1 else tasks
    # If the value is the name of a trip and the number of another trip, it means the name.
    known = {str(place): task for place, task in enumerate(tasks, start=1)}
    known |= {task.name: task for task in tasks}
    if name not in known:
        names = few([task.name for task in tasks], 8)
        raise InputError(f"--trip {name!r} is unknown; --trips has {len(tasks)} trips: {names}")
    return known[name]
