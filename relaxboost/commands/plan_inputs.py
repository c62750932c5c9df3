"""What the verbs of `relaxboost plan` share: their files and options, and how they print."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any

import click
import numpy as np

from relaxboost._core.errors import InputError
from relaxboost.planning.readers.fields import number

STEP = "step"
"""A feature that is 1 in every cell."""


FILES = """
\b
A graph is one of
  --arcs FILE.csv    columns tail, head (names without spaces), and numbers: the features
  --map FILE.map     a grid of MovingAI; features step, swamp, near_wall of its cells
  --layers FILE      layers of one shape (.npz, .npy, .tif); features, and step
and demonstrations are a CSV with a column path, and perhaps name and weight: nodes with spaces
between them, a b c, or cells in quotes, "0,0 0,1 1,2" (row,column from the upper left).
"""

PathType = click.Path(path_type=Path)

as_json = click.option("--json", "as_json", is_flag=True, help="Print data for machines.")

MOST = 20
"""Features, or wrong lengths, that are printed."""

CYCLE = (
    "raise them to >= 0, or plan over paths that visit no node twice "
    '(planner="simple"; negative="simple" in Problem and evaluate)'
)
USED = {CYCLE: "fit costs without --free-signs"}


@contextmanager
def spoken(words: dict[str, str]) -> Iterator[None]:
    """Name the options of the command in errors where the library names its own."""
    try:
        yield
    except InputError as error:
        text = str(error)
        for ours, theirs in words.items():
            text = text.replace(ours, theirs)
        raise InputError(text) from None


def print_json(content: dict[str, Any]) -> None:
    """Print data for machines."""
    click.echo(json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False))


def number_of(count: int, what: str) -> str:
    """Return "1 task", "2 tasks"."""
    return f"{count} {what}{'s' if count != 1 else ''}"


def finite(value: float) -> float | None:
    """Return a number for JSON, None for one that it has not."""
    return float(value) if math.isfinite(value) else None


@dataclass(frozen=True)
class PlanInput:
    """A graph and how tasks name its nodes."""

    graph: Any
    name: str
    grid: Any = None
    """The `GridMap`, if it was one."""
    cells: bool = False
    """Whether nodes are cells row,column, and otherwise words."""

    def __str__(self) -> str:
        kind = f"{self.graph.nodes} {'cells' if self.cells else 'nodes'}"
        return f"{self.name}, {kind}, {self.graph.arcs} arcs"


@dataclass(frozen=True)
class GraphFiles:
    """The options that say what the graph is."""

    arcs: Path | None
    grid: Path | None
    layers: Path | None
    passable: str | None
    neighbours: int

    def read(self) -> PlanInput:
        """Return the graph of the one file that was given."""
        given = [path for path in (self.arcs, self.grid, self.layers) if path is not None]
        if len(given) != 1:
            what = "several of them were given" if given else "none was given"
            raise InputError(f"give one of --arcs, --map and --layers; {what}")
        if self.passable is not None and self.layers is None:
            raise InputError("--passable names a layer of --layers; leave it out")
        if self.arcs is not None:
            return PlanInput(read_arcs(self.arcs), self.arcs.name)
        if self.layers is not None:
            return _from_layers(self.layers, self.passable, self.neighbours)
        from relaxboost.planning.readers import map_graph, read_map

        assert self.grid is not None
        read = read_map(self.grid)
        return PlanInput(map_graph(read, self.neighbours), self.grid.name, read, cells=True)


def graph_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what the graph is, handed on as `files`."""
    names = [field.name for field in fields(GraphFiles)]

    @wraps(command)
    def grouped(**given: Any) -> Any:
        files = {name: given.pop(name) for name in names}
        files["neighbours"] = int(files["neighbours"])
        return command(files=GraphFiles(**files), **given)

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
        grouped = option(grouped)
    return grouped


def read_arcs(path: Path) -> Any:
    """Return the graph of a table with columns tail, head and numbers."""
    from relaxboost.planning import Graph

    header, rows = _table(path, ("tail", "head"))
    features = [name for name in header if name not in ("tail", "head")]
    if not features:
        raise InputError(f"{path} has no features; add columns of numbers beside tail and head")
    numbers: dict[str, int] = {}
    seen: dict[tuple[str, str], int] = {}
    X = []
    for line, row in rows:
        tail, head = (_label(path, line, name, row[name]) for name in ("tail", "head"))
        if tail == head:
            raise InputError(
                f"{path}, line {line}: {tail} -> {head} is a self-loop, which no shortest path "
                "takes; remove the line"
            )
        if (tail, head) in seen:
            raise InputError(
                f"{path}, line {line}: {tail} -> {head} is in line {seen[tail, head]} already, and "
                "paths of nodes cannot say which is meant; keep one, or put a node on the other"
            )
        seen[tail, head] = line
        for label in (tail, head):
            numbers.setdefault(label, len(numbers))
        X.append([number(path, line, row[name], name) for name in features])
    if not seen:
        raise InputError(f"{path} has no arcs; add a line for each")
    tails = [numbers[tail] for tail, _ in seen]
    heads = [numbers[head] for _, head in seen]
    return Graph(tails, heads, X, names=features, nodes=list(numbers))


def _from_layers(path: Path, passable: str | None, neighbours: int) -> PlanInput:
    from relaxboost import planning
    from relaxboost.planning.readers import read_layers

    found = read_layers(path)
    layers = dict(zip(found.names, found.values, strict=True))
    free = np.isfinite(found.values).all(axis=0)
    if passable is not None:
        if passable not in layers:
            raise InputError(f"{path} has no layer {passable!r}; it has {', '.join(layers)}")
        free &= layers.pop(passable) > 0.0
    layers.setdefault(STEP, np.ones(free.shape))
    if not free.any():
        raise InputError(f"{path} has no passable cell; a cell is passable where no layer is NaN")
    graph = planning.grid(list(layers.values()), free, names=list(layers), neighbours=neighbours)
    return PlanInput(graph, path.name, cells=True)


def read_tasks(path: Path, source: PlanInput, loss: Any = None) -> list[Any]:
    """Return the tasks of a table with a column path, and perhaps name and weight."""
    from relaxboost.planning import Task

    header, rows = _table(path, ("path",))
    unknown = sorted(set(header) - {"path", "name", "weight"})
    if unknown:
        raise InputError(
            f"{path} has a column {unknown[0]!r}; tasks have path, and perhaps name and weight "
            '(quote paths of cells, "row,column row,column")'
        )
    made: dict[str, Any] = {}
    for line, row in rows:
        name = row.get("name", "") or f"{len(made) + 1}"
        if name in made:
            raise InputError(f"{path}, line {line}: a task before is named {name!r} too; rename it")
        nodes = [_node(path, line, word, source.cells) for word in row["path"].split()]
        if len(nodes) < 2:
            raise InputError(f"{path}, line {line}: a path needs at least two nodes")
        weight = number(path, line, row["weight"], "weight") if "weight" in row else 1.0
        try:
            made[name] = Task(
                source.graph, nodes[0], nodes[-1], nodes, loss, weight=weight, name=name
            )
        except InputError as error:
            raise InputError(f"{path}, line {line}: {error}") from None
    if not made:
        raise InputError(f"{path} has no tasks; add a line for each demonstrated path")
    return list(made.values())


def read_problems(path: Path, source: PlanInput, limit: int | None = None) -> list[Any]:
    """Return the problems of a .scen file, each checked against the map."""
    from relaxboost.planning.readers import read_scenarios

    if source.grid is None:
        raise InputError("--scenarios are problems on a map; give --map FILE.map")
    return read_scenarios(path, source.grid)[:limit]


def _table(path: Path, needed: tuple[str, ...]) -> tuple[list[str], list[tuple[int, Any]]]:
    """Return the header of a CSV, and its rows with the numbers of their lines."""
    if not path.is_file():
        raise InputError(f"{path} {'is no file' if path.exists() else 'does not exist'}")
    try:
        text = path.read_text(encoding="utf-8-sig")
        lines = csv.reader(text.splitlines(), strict=True)
        held = [(lines.line_num, row) for row in lines if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} cannot be read as CSV: {error}") from None
    header = [cell.strip() for cell in held[0][1]] if held else []
    missing = [name for name in needed if name not in header]
    if missing:
        found = ", ".join(header) or "nothing"
        raise InputError(f"{path} needs a column {missing[0]!r} in its header, which has {found}")
    if "" in header or len(set(header)) != len(header):
        raise InputError(f"{path}: columns need different names, got {', '.join(header)}")
    rows = []
    for line, row in held[1:]:
        if len(row) != len(header):
            raise InputError(
                f"{path}, line {line}: {len(row)} entries, and the header has {len(header)}; "
                "entries that contain commas need quotes"
            )
        rows.append((line, dict(zip(header, (cell.strip() for cell in row), strict=True))))
    return header, rows


def _label(path: Path, line: int, column: str, text: str) -> str:
    if not text or len(text.split()) != 1:
        raise InputError(
            f"{path}, line {line}: {column} is {text!r}; nodes need names without spaces"
        )
    return text


def _node(path: Path, line: int, word: str, cells: bool) -> Hashable:
    if not cells:
        return word
    parts = word.split(",")
    try:
        row, column = map(int, parts)
    except ValueError:
        raise InputError(
            f"{path}, line {line}: {word!r} is no cell; paths on a grid are written "
            '"row,column row,column", from 0 at the upper left'
        ) from None
    return row, column


def costs_of(source: PlanInput, model: Any) -> Any:
    """Return arc costs: those of a model, or lengths on a grid, or 1 for each arc of a network."""
    if model is not None:
        return model.costs(source.graph)
    graph = source.graph
    if not source.cells:
        return np.ones(graph.arcs)
    length: Any = np.linalg.norm(graph.position[graph.head] - graph.position[graph.tail], axis=1)
    return length
