"""The inputs, options and outputs that the commands of `relaxboost plan` share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from relaxboost._core import tables
from relaxboost._core.errors import InputError, number_of
from relaxboost._core.files import check_output
from relaxboost._core.names import did_you_mean
from relaxboost.commands.style import (
    InputFile,
    OutputFile,
    added,
    note,
    note_huge,
    sep_option,
    show,
)
from relaxboost.commands.words import reworded, spoken
from relaxboost.planning.tables import at, check_table

ENDS = (("u", "v"), ("tail", "head"), ("source", "target"), ("from", "to"))
"""The accepted column names for the two ends of an edge in --edges."""

FILES = """
\b
The graph is a CSV with a row for each arc: its two ends (columns u, v, or
tail, head, or source, target, or from, to) and features, which are numbers
or classes in words. An optional column edge gives each arc a name.
The trips are a CSV of one of two forms. Either each row is a trip, with a
column path (its nodes, separated by spaces) and optional columns name and
weight. Or each row is a step of a trip, with a column trip, a column node or
edge, and an optional column order (numbers or times). One of the files may
be - for standard input.
"""

FileType = InputFile()


class ModelPath(OutputFile):
    """The type of an option that is the path of a saved cost model."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the output path, or raise an InputError if costs cannot be written to it."""
        return check_output(super().convert(value, param, ctx), (".json",))


CYCLE = (
    r"raise the costs to >= 0, or plan over paths that visit no node twice "
    r'\(planner="simple", or negative="simple" in evaluate\)'
)
LACKS = r"make the graph with the features of the costs, for example by from_pandas\(.*\)"
USED = {
    CYCLE: "fit costs without --free-signs",
    LACKS: "name the features of the costs in --features, or leave --features out",
    "optimal_match says": "optimal match says",
    "learn with less strength or more features": "learn them with a smaller --strength or more "
    "--features",
}
"""The rewordings of messages about learned costs, in terms of command-line options. Each key is a
regular expression, and its value replaces the match."""

PLACES = r"give the graph position=, .* nodes="
TABLES = {
    "parallel and gaps must": "--parallel and --gaps must",
    r"\bgaps needs": "--gaps needs",
    PLACES: "pass --nodes",
    r'bad="drop" leaves': "--drop-bad leaves",
    r', or give unseen="ignore".*': ", or leave the line out",
    r"(?<=If the column names the edges, )give edge=.*": "name it edge",
    r"make numbers of the column, .*": "write numbers, or times as 2030-05-01 08:30",
    r", with features=\[\.\.\.\]": ", with --features A,B",
    r"give from_pandas edge=": "add a column edge to --edges",
    r"give \(source, target, .*?\)": "give each its own name",
}
"""The rewordings of messages about tables, in terms of command-line options. Each key is a regular
expression, and its value replaces the match."""


UNKNOWN = r"is not in the graph; .*?(?= \(\d|$)"
SPACED = (
    "is not in the graph, and a column path cannot contain {!r}, because spaces separate its "
    "nodes; use columns trip and node, with a row for each step"
)
"""The error message about a node name with spaces in a table with a column path."""


@dataclass(frozen=True)
class PlanInput:
    """A graph for planning, with the name of its file."""

    graph: Any
    name: str

    def __str__(self) -> str:
        return f"{self.name}, {self.graph.nodes} nodes, {self.graph.arcs} arcs"

    def counts(self, tasks: Sequence[Any]) -> dict[str, Any]:
        """Return the numbers of nodes, arcs and trips as data for --json."""
        graph = self.graph
        sizes = {"nodes": graph.nodes, "arcs": graph.arcs, "trips": len(tasks)}
        return {"data": self.name, **sizes}


class PlanOptions(SimpleNamespace):
    """The options of `relaxboost plan`, with one attribute for each option."""

    def show(self, text: str, data: dict[str, Any]) -> None:
        """Print a result, which is given as text and as data for --json."""
        show(self.as_json, data, text)

    def saved(self, costs: Any, text: str) -> str:
        """Save learned costs to --out, if given, and return the text with a line about the file."""
        if self.out is None:
            return text
        from relaxboost.planning import save_model

        save_model(costs, self.out)
        return f"{text}\nwritten:    {self.out}"

    note = staticmethod(note)

    def read(self, learned: Any = None) -> PlanInput:
        """Return the graph from --edges.

        Its features are those of --features. By default, they are the features of the `learned`
        costs or, without `learned`, all columns except the ends of an edge and the column `edge`.
        """
        if self.edges is None:
            raise InputError("--edges is missing; pass a CSV with a row for each arc")
        from relaxboost.planning import from_pandas

        # Names of nodes and edges stay text: node 007 and node 7 are different.
        edges = self._table(self.edges, [*(name for pair in ENDS for name in pair), "edge"])
        ends = next((pair for pair in ENDS if set(pair) <= set(edges.columns)), None)
        if ends is None:
            raise InputError(
                f"{self.edges} needs two columns for the ends of its edges, such as u and v; it "
                f"has {tables.listed(edges.columns)}"
            )
        # Learned costs know their features, so that other columns may be anything.
        wanted: Any = learned
        if self.features is not None:
            wanted = [name.strip() for name in self.features.split(",")]
        used = _features(edges, ends, wanted)
        numbers = edges[used].select_dtypes("number")
        note_huge(numbers.columns, numbers.to_numpy(float))
        edge = "edge" if "edge" in edges.columns else None
        nodes = None
        if self.nodes is not None:
            nodes = self._table(self.nodes, ["node"])
            check_table("nodes", nodes, ["node"])
            nodes = nodes.set_index("node")
        with spoken(TABLES, self.note):
            graph = from_pandas(edges, *ends, wanted, edge=edge, nodes=nodes)
        return PlanInput(graph, self.edges.name)

    def _table(self, path: Path, texts: list[str]) -> Any:
        # If the user passed --sep, it suits one of the files, and the remedy is to use the same
        # separator in all files.
        given = self.sep != ","
        same = "use the same separator in all files, and pass it as --sep, which is now "
        with spoken({r"give sep=.*": f"{same}{self.sep!r}"} if given else {}):
            return tables.read_csv(path, self.sep, texts)

    def tasks(self, source: PlanInput, path: Path | None, loss: Any = None) -> list[Any]:
        """Return a task for each trip in a CSV file.

        Notes say which trips were completed by shortest paths or left out.
        """
        from relaxboost.planning import Task, paths_from_pandas

        if path is None:
            raise InputError("--trips is missing; pass a CSV of demonstrated trips")
        table = self._trips(path)
        options = {"parallel": self.parallel, "gaps": self.gaps, "loss": loss}
        options["bad"] = "drop" if self.drop_bad else "refuse"
        # Spaces separate the nodes of paths.
        labels = map(source.graph.label, range(source.graph.nodes if "path" in table else 0))
        spaced = next((label for label in labels if len(str(label).split()) > 1), None)
        words = TABLES if spaced is None else TABLES | {UNKNOWN: SPACED.format(spaced)}
        with spoken({**words, "^task trip (?=.*: weight)": f"{path}, trip "}):
            made = paths_from_pandas(table, source.graph, **options)
        if made.dropped:
            why = reworded(next(iter(made.dropped.values())), words)
            self.note(f"left out {number_of(len(made.dropped), 'trip')}; the first because {why}")
        if made.joined:
            trips = number_of(len({join.trip for join in made.joined}), "trip")
            self.note(f"joined {number_of(len(made.joined), 'gap')} of {trips} by {self.gaps}")
        # The names in messages are those of the file, not those of the objects.
        with spoken({r"^task": f"{path}, trip"}):
            return [
                Task.along(
                    trip.demonstration,
                    loss,
                    name=trip.name.removeprefix("trip "),
                    weight=trip.weight,
                )
                for trip in made
            ]

    def _trips(self, path: Path) -> Any:
        """Return the table of trips from a CSV file, with a row for each trip or for each step."""
        import pandas as pd

        table = self._table(path, ["trip", "node", "edge", "name", "path"])
        found = {"node", "edge"} & set(table.columns)
        if "path" not in table.columns and ("trip" not in table.columns or not found):
            known = ("path", "trip", "node", "edge")
            others = [str(column) for column in table.columns if column not in known]
            near = [said for said in (did_you_mean(x, known, 0.6) for x in others) if said]
            raise InputError(
                f"{path} needs a column path with the nodes of a trip, separated by spaces, or "
                f"columns trip and node (or edge); it has {tables.listed(table.columns)}"
                f"{''.join(near[:1])}"
            )
        if "order" in table.columns and table["order"].dtype.kind not in "iuf":
            # Other text is rejected later by an error that names its line.
            with suppress(ValueError):
                table["order"] = pd.to_datetime(table["order"], format="ISO8601")
        return table


def plan_files(features: str) -> Callable[..., Any]:
    """Return a decorator that adds the graph and trip options to a command.

    The argument `features` is the help text of --features.
    """
    return added(
        # These options describe the graph.
        click.option("--edges", type=FileType, help="The graph: a CSV with an arc in each row."),
        click.option(
            "--nodes", type=FileType, help="A CSV of node,x,y or node,lon,lat, for pictures."
        ),
        click.option("--features", metavar="A,B,...", help=features),
        sep_option,
        # These options describe the trips, and the treatment of trips that are not paths of the
        # graph.
        click.option("--trips", type=FileType, help="The demonstrated trips: a CSV."),
        click.option(
            "--parallel", metavar="FEATURE", help="Take the parallel arc with the least FEATURE."
        ),
        click.option("--gaps", metavar="FEATURE", help="Fill gaps with the path of least FEATURE."),
        click.option("--drop-bad", is_flag=True, help="Leave out trips that are not paths."),
    )


FEATURES_TO_LEARN = (
    "Columns of --edges to learn from, or products such as length*class.  [default: all]"
)
"""The help text of --features in commands that learn costs."""


def _features(edges: Any, ends: tuple[str, str], wanted: Any) -> list[str]:
    import pandas as pd

    from relaxboost.planning.frames import columns_of

    used = [name for name in edges.columns if name not in (*ends, "edge")]
    names = columns_of(used if wanted is None else wanted, edges.columns)
    found = [name for name in names if name in edges.columns]
    for name in found:
        # A column in which most entries are numbers is rejected, because a wrong entry would turn
        # it into a column of text.
        held = edges[name].dropna()
        bad = pd.to_numeric(held, errors="coerce").isna()
        if bad.any() and not bad.all():
            raise InputError(
                f"{at('edges', edges, int(bad.idxmax()))}: {name} is {held[bad.idxmax()]!r}, but "
                "other lines have numbers; write a number, or choose other columns with --features"
            )
    return found
