"""What the verbs of `relaxboost plan` share: their files and options, and how they print."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import numpy as np

from relaxboost._core import progress, tables
from relaxboost._core.errors import InputError, number_of
from relaxboost._core.files import check_output
from relaxboost.commands.style import (
    InputFile,
    OutputFile,
    complain,
    sep_option,
    show,
)
from relaxboost.planning.tables import at, check_table

STEP = "step"
"""A feature that is 1 in every cell."""

ENDS = (("u", "v"), ("tail", "head"), ("source", "target"), ("from", "to"))
"""What the columns of the ends of an edge may be called."""

FILES = """
\b
A graph is one of
  --edges FILE.csv  a row for each arc: its two ends (columns u, v, or tail,
                    head, or source, target, or from, to) and features,
                    numbers or classes in words; perhaps edge, its name
  --map FILE.map    a grid of MovingAI; features step, swamp, near_wall
  --layers FILE     layers of one shape (.npz, .npy); and step
Trips are a CSV. Either each row is a trip: a column path, the nodes with
spaces between them, and perhaps name and weight. Or each row is a step:
columns trip, node or edge, and perhaps order, numbers or times. Cells of
grids are row,column from the upper left, and need quotes in a path:
"0,0 0,1 1,2". Of all files one may be - for standard input.
"""

FileType = InputFile()


class ModelPath(OutputFile):
    """A file of costs that can be written."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the path, or raise."""
        return check_output(super().convert(value, param, ctx), (".json",))


MOST = 20
"""Features, or wrong lengths, that are printed."""

CYCLE = (
    r"raise them to >= 0, or plan over paths that visit no node twice "
    r'\(planner="simple"; negative="simple" in Problem and evaluate\)'
)
USED = {
    CYCLE: "fit costs without --free-signs",
    "optimal_match says": "optimal match says",
    "learn with less strength or more features": "learn them with a smaller --strength or more "
    "--features",
}

TABLES = {
    r"\b(parallel|gaps)='([^']*)'": r"--\1 \2",
    r"parallel and gaps must": "--parallel and --gaps must",
    r"\bgaps needs": "--gaps needs",
    "give the graph position=, from_pandas nodes=": "give --nodes",
    r'bad="drop" leaves': "--drop-bad leaves",
    r', or give unseen="ignore".*': ", or leave the line out",
    r"make numbers of the column, .*": "write numbers, or times as 2030-05-01 08:30",
    r", with features=\[\.\.\.\]": ", with --features A,B",
    r"give from_pandas edge=": "add a column edge to --edges",
    r"give \(source, target, .*?\)": "give each a name of its own",
}
"""What the library says of tables, in words of options."""

_CELL = re.compile(r"\s*(-?\d+)\s*,\s*(-?\d+)\s*")


@contextmanager
def spoken(words: Mapping[str, str], output: PlanOptions | None = None) -> Iterator[None]:
    """Name options of the command where the library names its own, in errors and in warnings.

    The keys are regular expressions. With `output` warnings become notes, each once.
    """
    caught = None
    try:
        with warnings.catch_warnings(record=output is not None) as caught:
            if output is not None:
                warnings.simplefilter("always", UserWarning)
            yield
    except InputError as error:
        raise InputError(_said(str(error), words)) from None
    finally:
        for text in dict.fromkeys(str(one.message) for one in caught or ()):
            assert output is not None
            output.note(_said(text, words))


def _said(text: str, words: Mapping[str, str]) -> str:
    for ours, theirs in words.items():
        text = re.sub(ours, theirs, text)
    return text


def largest(values: Mapping[str, float]) -> list[str]:
    """Return a line for each of the largest values but 0."""
    order = sorted((name for name in values if values[name]), key=lambda name: -abs(values[name]))
    lines = [f"  {values[name]:<12.6g} {name}" for name in order[:MOST]]
    zero = len(values) - len(order)
    if len(order) > MOST:
        lines.append(f"  and {len(order) - MOST} more, none larger; --json has them all")
    return lines + ([f"  {0:<12} {zero} others"] if zero else [])


@dataclass(frozen=True)
class PlanInput:
    """A graph and how trips name its nodes."""

    graph: Any
    name: str
    grid: Any = None
    """The `GridMap`, if it was one."""
    cells: bool = False
    """Whether nodes are cells row,column, and otherwise words."""

    def __str__(self) -> str:
        kind = f"{self.graph.nodes} {'cells' if self.cells else 'nodes'}"
        return f"{self.name}, {kind}, {self.graph.arcs} arcs"

    def counts(self, tasks: Sequence[Any]) -> dict[str, Any]:
        """Return of what size it is, for machines."""
        graph = self.graph
        sizes = {"nodes": graph.nodes, "arcs": graph.arcs, "trips": len(tasks)}
        return {"data": self.name, **sizes}


class PlanOptions(SimpleNamespace):
    """What the command line says, an attribute for each option of the verb."""

    def show(self, text: str, data: dict[str, Any]) -> None:
        """Print what was found."""
        show(self.as_json, data, text)

    def saved(self, costs: Any, text: str) -> str:
        """Write learned costs where --out says; return a text with a line that says so."""
        if self.out is None:
            return text
        from relaxboost.planning import save_model

        save_model(costs, self.out)
        return f"{text}\nwritten:    {self.out}"

    def note(self, text: str) -> None:
        """Say on standard error what the user may want to know."""
        if not progress.quiet.get():
            complain(text)

    def read(self, learned: Any = None) -> PlanInput:
        """Return the graph of the one file that was given, with the features of learned costs."""
        given = [path for path in (self.edges, self.grid, self.layers) if path is not None]
        if len(given) != 1:
            what = "several of them were given" if given else "none was given"
            raise InputError(f"give one of --edges, --map and --layers; {what}")
        if self.passable is not None and self.layers is None:
            raise InputError("--passable names a layer of --layers; leave it out")
        if self.edges is not None:
            return PlanInput(self._network(self.edges, learned), self.edges.name)
        if self.nodes is not None or self.features is not None:
            raise InputError("--nodes and --features belong to --edges; leave them out")
        if self.layers is not None:
            return _from_layers(self.layers, self.passable, int(self.neighbours))
        from relaxboost.planning.readers import map_graph, read_map

        read = read_map(self.grid)
        return PlanInput(map_graph(read, int(self.neighbours)), self.grid.name, read, cells=True)

    def _table(self, path: Path, texts: list[str]) -> Any:
        given = self.sep != ","  # then one file has it, and the others need it too
        same = "write all files with the same separator, and give it as --sep; --sep is now "
        with spoken({r"give sep=.*": f"{same}{self.sep!r}"} if given else {}):
            return tables.read_csv(path, self.sep, texts)

    def _network(self, path: Path, learned: Any) -> Any:
        from relaxboost.planning import from_pandas
        from relaxboost.planning.frames import columns_of

        edges = self._table(path, [*(name for pair in ENDS for name in pair), "edge"])
        ends = next((pair for pair in ENDS if set(pair) <= set(edges.columns)), None)
        if ends is None:
            raise InputError(
                f"{path} needs two columns for the ends of its edges, such as u and v; it has "
                f"{tables.listed(edges.columns)}"
            )
        wanted: Any = learned
        if self.features is not None:
            wanted = [name.strip() for name in self.features.split(",")]
        used = [name for name in edges.columns if name not in (*ends, "edge")]
        for name in columns_of(used if wanted is None else wanted, edges.columns):
            if name in edges.columns:
                _check_alike(edges, edges[name])
        nodes = None
        if self.nodes is not None:
            nodes = self._table(self.nodes, ["node"])
            check_table("nodes", nodes, ["node"])
            nodes = nodes.set_index("node")
        edge = "edge" if "edge" in edges.columns else None
        with spoken(TABLES, self):
            return from_pandas(edges, *ends, wanted, edge=edge, nodes=nodes)

    def tasks(self, source: PlanInput, path: Path | None, loss: Any = None) -> list[Any]:
        """Return trips as tasks, and note what was joined or left out."""
        import pandas as pd

        from relaxboost.planning import Task, paths_from_pandas

        if path is None:
            raise InputError("give --trips, a CSV of what was done")
        table = self._table(path, ["trip", "node", "edge", "name", "path"])
        weights: dict[str, float] = {}
        if "path" in table.columns:
            table, weights = _steps(path, table)
        elif "trip" not in table.columns or not {"node", "edge"} & set(table.columns):
            raise InputError(
                f"{path} needs a column path, the nodes of a trip with spaces between them, or "
                f"columns trip and node (or edge); it has {tables.listed(table.columns)}"
            )
        if "order" in table.columns and table["order"].dtype.kind not in "iuf":
            with suppress(ValueError):  # else it is text, which is refused with its line
                table["order"] = pd.to_datetime(table["order"], format="ISO8601")
        if source.cells and "node" in table.columns:
            cells = zip(table.index, table["node"], strict=True)
            table["node"] = [_cell(path, *pair) for pair in cells]
        options = {"parallel": self.parallel, "gaps": self.gaps, "loss": loss}
        options["bad"] = "drop" if self.drop_bad else "refuse"
        with spoken(TABLES):
            made = paths_from_pandas(table, source.graph, **options)
        if made.dropped:
            why = _said(next(iter(made.dropped.values())), TABLES)
            self.note(f"left out {number_of(len(made.dropped), 'trip')}, the first since {why}")
        if made.joined:
            trips = number_of(len({join.trip for join in made.joined}), "trip")
            self.note(f"joined {number_of(len(made.joined), 'gap')} of {trips} by {self.gaps}")
        with spoken({r"^task": f"{path}, trip"}):
            names = [one.name.removeprefix("trip ") for one in made]
            return [
                Task.along(one.demonstration, loss, name=name, weight=weights.get(name, 1.0))
                for name, one in zip(names, made, strict=True)
            ]


def added(*options: Callable[..., Any]) -> Callable[..., Any]:
    """Return what gives a command options, in this order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


plan_files = added(
    click.option("--edges", type=FileType, help="A network: a CSV with an arc in each row."),
    click.option("--nodes", type=FileType, help="A CSV of node,x,y or node,lon,lat, for pictures."),
    click.option(
        "--features",
        metavar="A,B,...",
        help="Columns of --edges to learn from, also products: length*class.  [default: all, or "
        "those of MODEL]",
    ),
    sep_option,
    click.option("--map", "grid", type=FileType, help="A grid: a .map file of MovingAI."),
    click.option("--layers", type=FileType, help="A grid of features: .npz or .npy."),
    click.option("--passable", metavar="LAYER", help="--layers: free where this one is > 0."),
    click.option(
        "--neighbours",
        type=click.Choice(["4", "8"]),
        default="8",
        show_default=True,
        help="Grids: which cells a cell leads to; diagonally only past free cells.",
    ),
    click.option("--trips", type=FileType, help="What was done: a CSV of trips."),
    click.option("--parallel", metavar="FEATURE", help="Of parallel arcs take the least by this."),
    click.option("--gaps", metavar="FEATURE", help="Join gaps by paths that are least by this."),
    click.option("--drop-bad", is_flag=True, help="Leave out trips that are no paths."),
)
scenarios = click.option("--scenarios", type=FileType, help="Or problems on the map, a .scen file.")


def _check_alike(table: Any, column: Any) -> None:
    """Raise at the first text of a column where other rows have numbers."""
    import pandas as pd

    held = column.dropna()
    bad = pd.to_numeric(held, errors="coerce").isna()
    if bad.any() and not bad.all():
        raise InputError(
            f"{at('edges', table, int(bad.idxmax()))}: {column.name} is {held[bad.idxmax()]!r}, "
            "and a number in other lines; write a number, or choose other columns with --features"
        )


def _steps(path: Path, table: Any) -> tuple[Any, dict[str, float]]:
    """Return a row for each step from a row for each trip, and the weights of trips."""
    unknown = sorted(set(table.columns) - {"path", "name", "weight"})
    if unknown:
        raise InputError(
            f"{path} has a column {unknown[0]!r}; trips have path, and perhaps name and weight "
            '(quote paths of cells, "row,column row,column")'
        )
    check_table("trips", table, ["path"])
    places = [str(place) for place in range(1, len(table) + 1)]
    table["trip"] = table["name"].fillna("") if "name" in table.columns else ""
    table["trip"] = table["trip"].mask(table["trip"] == "", places)
    twice = table["trip"].duplicated()
    if twice.any():
        name, line = table["trip"][twice].iloc[0], twice.idxmax()
        raise InputError(f"{path}, line {line}: a trip before is named {name!r} too; rename it")
    weights = table["weight"].tolist() if "weight" in table.columns else [1.0] * len(table)
    table["node"] = table["path"].str.split()
    return table[["trip", "node"]].explode("node"), dict(zip(table["trip"], weights, strict=True))


def _from_layers(path: Path, passable: str | None, neighbours: int) -> PlanInput:
    from relaxboost import planning
    from relaxboost.planning.readers import read_layers

    layers = read_layers(path)
    free = np.isfinite(list(layers.values())).all(axis=0)
    if passable is not None:
        if passable not in layers:
            raise InputError(f"{path} has no layer {passable!r}; it has {', '.join(layers)}")
        free &= layers.pop(passable) > 0.0
    layers.setdefault(STEP, np.ones(free.shape))
    if not free.any():
        raise InputError(f"{path} has no passable cell; a cell is passable where no layer is NaN")
    graph = planning.grid(list(layers.values()), free, names=list(layers), neighbours=neighbours)
    return PlanInput(graph, path.name, cells=True)


def read_problems(path: Path, source: PlanInput) -> list[Any]:
    """Return the problems of a .scen file, each checked against the map."""
    from relaxboost.planning.readers import read_scenarios

    if source.grid is None:
        raise InputError("--scenarios are problems on a map; give --map FILE.map")
    return read_scenarios(path, source.grid)


def _cell(path: Path, line: int, word: Any) -> Hashable:
    found = _CELL.fullmatch(str(word))
    if found is None:
        raise InputError(
            f"{path}, line {line}: {word!r} is no cell; paths on a grid are written "
            '"row,column row,column", from 0 at the upper left'
        )
    return int(found[1]), int(found[2])


def costs_of(source: PlanInput, model: Any) -> Any:
    """Return arc costs: those of a model, or lengths on a grid, or 1 for each arc of a network."""
    if model is not None:
        return model.costs(source.graph)
    graph = source.graph
    if not source.cells:
        return np.ones(graph.arcs)
    return np.linalg.norm(graph.position[graph.head] - graph.position[graph.tail], axis=1)
