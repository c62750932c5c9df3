"""`relaxboost plan`: learn costs from demonstrated paths, evaluate and draw them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from relaxboost.commands import plan_inputs as inputs
from relaxboost.commands.progress import bar, closing
from relaxboost.errors import InputError

_FILES = """
\b
A graph is one of
  --arcs FILE.csv    columns tail, head (names without spaces), and numbers: the features
  --map FILE.map     a grid of MovingAI; features step, swamp, near_wall of its cells
  --layers FILE      layers of one shape (.npz, .npy, .tif); features, and step
and demonstrations are a CSV with a column path, and perhaps name and weight: nodes with spaces
between them, a b c, or cells in quotes, "0,0 0,1 1,2" (row,column from the upper left).
"""

PathType = click.Path(path_type=Path)


def _graph(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what the graph is."""
    for option in (
        click.option(
            "--neighbours",
            type=click.Choice(["4", "8"]),
            default="8",
            show_default=True,
            help="Grids: which cells a cell leads to; diagonally only past free cells.",
        ),
        click.option("--passable", metavar="LAYER", help="--layers: free where this one is > 0."),
        click.option("--layers", type=PathType, help="A grid of features: .npz, .npy or GeoTIFF."),
        click.option("--map", "grid", type=PathType, help="A grid: a .map file of MovingAI."),
        click.option("--arcs", type=PathType, help="A network: a CSV with an arc in each line."),
    ):
        command = option(command)
    return command


_JSON = click.option("--json", "as_json", is_flag=True, help="Print data for machines.")


@click.group()
def plan() -> None:
    """Learn the costs under which demonstrated paths are shortest, with a bracket."""


@plan.command(
    epilog=_FILES
    + """
\b
Exit status: 0 the gap asked for was reached, 1 it was not (the bracket printed holds all the
same), 2 bad input, 130 interrupted before there was anything to print.

\b
Examples:
  relaxboost plan fit --arcs arcs.csv --tasks tasks.csv
  relaxboost plan fit --arcs arcs.csv --tasks tasks.csv --regulariser lasso --out costs.json
  relaxboost plan fit --layers terrain.npz --tasks tasks.csv --loss hamming --json
"""
)
@_graph
@click.option("--tasks", required=True, type=PathType, help="The demonstrations.")
@click.option(
    "--regulariser",
    type=click.Choice(["ridge", "lasso", "radius"]),
    default="ridge",
    show_default=True,
    help="What keeps weights small: squares, absolute values, or a bound on their sum.",
)
@click.option(
    "--strength",
    type=float,
    help="Of ridge and lasso, or the radius. [default: 0.01; 1 for radius]",
)
@click.option(
    "--loss",
    type=click.Choice(["missed", "strayed", "hamming", "distance", "none"]),
    default="missed",
    show_default=True,
    help="How far a path is from a demonstration: arcs of it missed, other arcs taken, both, how "
    "far away its nodes are (needs coordinates: grids).",
)
@click.option("--reach", type=float, help="--loss distance: where it stops to grow, in cells.")
@click.option(
    "--negative",
    type=click.Choice(["exact", "simple", "relaxed"]),
    help="Where a cost less its loss is negative: an error if around a cycle; paths without "
    "cycles, slow; a convex bound. [default: relaxed; exact for missed and none]",
)
@click.option("--power", type=click.IntRange(1, 2), default=1, help="2 squares the margin loss.")
@click.option("--free-signs", is_flag=True, help="Allow weights below 0, and features.")
@click.option(
    "--method",
    type=click.Choice(["bundle", "subgradient", "frank-wolfe", "exponentiated"]),
    default="bundle",
    show_default=True,
)
@click.option("--tol", type=float, default=1e-3, show_default=True, help="Relative gap to reach.")
@click.option("--max-rounds", type=click.IntRange(1), default=10_000, show_default=True)
@click.option("--time-limit", type=float, help="Stop after so many seconds.")
@click.option("--out", type=PathType, help="Write the costs to this file, .json.")
@_JSON
def fit(**given: Any) -> None:
    """Learn linear costs from demonstrated paths, by maximum-margin planning.

    Prints a weight for each feature, and a bracket of the least regularised loss.
    """
    from relaxboost import planning
    from relaxboost.commands import plan_text
    from relaxboost.files import check_output

    if given["out"] is not None:
        check_output(given["out"], (".json",))
    regulariser = _regulariser(given["regulariser"], given["strength"])
    loss = _loss(given["loss"], given["reach"])
    source, tasks = _demonstrations(given, loss)
    negative = given["negative"]
    if negative is None:
        negative = "exact" if given["loss"] in ("missed", "none") else "relaxed"
    signs = {"nonnegative": not given["free_signs"]}
    limits = {name: given[name] for name in ("method", "tol", "max_rounds", "time_limit")}
    with _spoken(_FITTED), closing("learning", given["tol"]) as watch:
        problem = planning.Problem(
            tasks, regulariser, negative=negative, power=given["power"], **signs
        )
        found = planning.fit(problem, callback=watch, **limits)
    if given["out"] is not None:
        planning.save_model(found, given["out"])
    if given["as_json"]:
        _print_json(plan_text.fit_data(found, source, given["tol"]))
    else:
        click.echo(plan_text.fit_text(found, source, given["tol"]))
        if given["out"] is not None:
            click.echo(f"written:    {given['out']}")
    if found.status != "optimal":
        sys.exit(1)


@plan.command(
    "eval",
    epilog=_FILES
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
@click.argument("model", required=False, type=PathType)
@_graph
@click.option("--tasks", type=PathType, help="Demonstrations, held out from the fit.")
@click.option(
    "--scenarios",
    type=PathType,
    help="Problems on the map, a .scen file, in place of demonstrations. Without MODEL costs are "
    "lengths, and those in the file are checked.",
)
@click.option("--limit", type=click.IntRange(1), help="--scenarios: the first so many.")
@_JSON
def evaluate(model: Path | None, **given: Any) -> None:
    """Compare the paths that are shortest for learned costs with demonstrated ones.

    MODEL is a file of `relaxboost plan fit --out`.
    """
    from relaxboost import planning
    from relaxboost.commands import plan_text

    if (given["tasks"] is None) == (given["scenarios"] is None):
        raise InputError("give either --tasks or --scenarios")
    costs = None if model is None else planning.load_model(model)
    if given["scenarios"] is not None:
        _scenarios(costs, given)
        return
    if costs is None:
        raise InputError("--tasks needs MODEL, a file of relaxboost plan fit --out")
    source, tasks = _demonstrations(given)
    with _spoken(_USED):
        report = planning.evaluate(tasks, costs)
    if given["as_json"]:
        _print_json(plan_text.report_data(report, source))
    else:
        click.echo(plan_text.report_text(report, source))


@plan.command(
    epilog=_FILES
    + """
\b
Exit status: 0 drawn, 2 bad input.

\b
Examples:
  relaxboost plan show costs.json --arcs arcs.csv --tasks tasks.csv --task monday --out monday.png
  relaxboost plan show --map den312d.map --scenarios den312d.map.scen --task 500 --out 500.png
"""
)
@click.argument("model", required=False, type=PathType)
@_graph
@click.option("--tasks", type=PathType, help="The demonstrations.")
@click.option("--scenarios", type=PathType, help="Problems on the map, a .scen file.")
@click.option("--task", "name", help="Its name, or number from 1. [default: 1, if it is the only]")
@click.option("--out", required=True, type=PathType, help="The picture: .png, .pdf or .svg.")
def show(model: Path | None, name: str | None, out: Path, **given: Any) -> None:
    """Draw a task: its demonstration, the path that is shortest for learned costs, the costs.

    MODEL is a file of `relaxboost plan fit --out`; without it costs are lengths, or 1 for each arc
    of a network.
    """
    from relaxboost import maps, planning, plots

    plots.check_plot(out)
    if (given["tasks"] is None) == (given["scenarios"] is None):
        raise InputError("give either --tasks or --scenarios")
    costs = None if model is None else planning.load_model(model)
    source = _source(given)
    c = inputs.costs(source, costs)
    if given["tasks"] is not None:
        tasks = inputs.read_tasks(given["tasks"], source)
        task = _chosen([one.name for one in tasks], tasks, name)
        where, ends = task, [source.graph.label(node) for node in (task.source, task.target)]
    else:
        problems = inputs.read_problems(given["scenarios"], source)
        names = [str(place) for place in range(1, len(problems) + 1)]
        problem = _chosen(names, problems, name)
        where, ends = source.graph, [problem.source, problem.target]
    with _spoken(_USED):
        planned = planning.shortest_path(source.graph, c, *ends)
    shown = None if costs is None else c
    title = f"{source.name}: {ends[0]} to {ends[1]}"
    plots.save(maps.paths(where, planned=planned, costs=shown, title=title), out)
    click.echo(f"picture:    {out}")


_CYCLE = (
    "raise them to >= 0, or plan over paths that visit no node twice "
    '(planner="simple"; negative="simple" in fit and evaluate)'
)
_FITTED = {
    "give nonnegative=False": "give --free-signs",
    _CYCLE: "give --negative simple, for paths that visit no node twice, or relaxed",
}
_USED = {_CYCLE: "fit costs without --free-signs"}


@contextmanager
def _spoken(words: dict[str, str]) -> Iterator[None]:
    """Name the options of the command in errors where the library names its own."""
    try:
        yield
    except InputError as error:
        text = str(error)
        for ours, theirs in words.items():
            text = text.replace(ours, theirs)
        raise InputError(text) from None


def _source(given: dict[str, Any]) -> inputs.Source:
    return inputs.read_source(
        given["arcs"], given["grid"], given["layers"], given["passable"], int(given["neighbours"])
    )


def _demonstrations(given: dict[str, Any], loss: Any = None) -> tuple[inputs.Source, list[Any]]:
    source = _source(given)
    return source, inputs.read_tasks(given["tasks"], source, loss)


def _scenarios(costs: Any, given: dict[str, Any]) -> None:
    """Plan for every problem of a file, and print how the lengths compare."""
    from relaxboost import planning
    from relaxboost.commands import plan_text

    source = _source(given)
    problems = inputs.read_problems(given["scenarios"], source, given["limit"])
    c, lengths = inputs.costs(source, costs), inputs.costs(source, None)
    found = []
    with _spoken(_USED), bar("planning") as progress:
        for place, problem in enumerate(problems):
            path = planning.shortest_path(source.graph, c, problem.source, problem.target).path
            found.append(path.cost(lengths))
            progress(place + 1, len(problems), "")
    rows = inputs.compared(problems, found)
    checked = costs is None and given["neighbours"] == "8"
    if given["as_json"]:
        _print_json(plan_text.scenario_data(rows, source, checked))
    else:
        click.echo(plan_text.scenario_text(rows, source, checked))
    if checked and not all(row.same for row in rows):
        sys.exit(1)


def _chosen(names: list[str], things: list[Any], name: str | None) -> Any:
    if name is None and len(things) == 1:
        return things[0]
    if name is None or (name not in names and not _is_place(name, len(names))):
        few = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        asked = "say which with --task" if name is None else f"there is no task {name!r}"
        raise InputError(f"{asked}; there are {len(names)}: {few}")
    return things[names.index(name) if name in names else int(name) - 1]


def _is_place(name: str, most: int) -> bool:
    return name.isascii() and name.isdigit() and 1 <= int(name) <= most


def _regulariser(name: str, strength: float | None) -> Any:
    from relaxboost.planning import L1Radius, Lasso, Ridge

    if name == "radius":
        return L1Radius(1.0 if strength is None else strength)
    kind = {"ridge": Ridge, "lasso": Lasso}[name]
    return kind() if strength is None else kind(strength)


def _loss(name: str, reach: float | None) -> Any:
    from relaxboost.planning import Distance, Hamming, Missed, NoLoss, Strayed

    if (reach is None) == (name == "distance"):
        raise InputError("--reach belongs to --loss distance, which needs it")
    if name == "distance":
        return Distance(reach)  # type: ignore[arg-type]
    return {"missed": Missed, "strayed": Strayed, "hamming": Hamming, "none": NoLoss}[name]()


def _print_json(content: dict[str, Any]) -> None:
    click.echo(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))
