"""Planning tasks: a source, a target, and the paths that an expert took between them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, cast

import numpy as np

from relaxboost._core.errors import InputError, error_prefix
from relaxboost._core.parameters import positive
from relaxboost.planning.graphs import Graph, Path
from relaxboost.planning.losses import Missed, PathLoss


class Task:
    """A source and a target in a graph, with one or more demonstrated paths.

    Parameters
    ----------
    graph : Graph
        The graph of the paths. Many tasks may share a graph.
    source, target : labels of nodes
        The labels of the source and the target, which must be different nodes.
    demonstration : Path, sequence of node labels, or list of these
        The demonstrated path, or several. The loss of the task is the mean of their margin losses.
    loss : PathLoss
        The loss of paths that differ from the demonstration, by default `Missed()`.
    weight : float
        The weight of the task in the mean loss, > 0.
    name : str, optional
        The name of the task in messages.

    Raises
    ------
    InputError
        If a node is not in the graph, if source and target are equal, or if a demonstration is not
        a path of the graph from source to target.
    """

    def __init__(
        self,
        graph: Graph,
        source: Hashable,
        target: Hashable,
        demonstration: Any,
        loss: PathLoss | None = None,
        *,
        weight: float = 1.0,
        name: str | None = None,
    ) -> None:
        if not isinstance(graph, Graph):
            raise InputError(
                f"graph must be a planning.Graph, got {type(graph).__name__}; from_networkx "
                "converts a networkx graph"
            )
        self.graph = graph
        self.name = name if name is not None else f"{source!r} -> {target!r}"
        self.loss = Missed() if loss is None else loss
        # Errors of one of many tasks must name the task.
        with error_prefix(f"task {self.name}: "):
            self.source = graph.node(source)
            self.target = graph.node(target)
            if self.source == self.target:
                raise InputError(
                    "source and target are the same node; they must be two different nodes"
                )
            self.demonstrations = tuple(self._path(one) for one in _several(demonstration))
            if not isinstance(self.loss, PathLoss):
                raise InputError(f"loss must be a PathLoss, such as Missed(), got {loss!r:.60}")
            self.weight = positive("weight", weight)

    @classmethod
    def along(cls, path: Path, loss: PathLoss | None = None, **options: Any) -> Task:
        """Return the task of planning between the ends of a path, with the path as its
        demonstration."""
        graph = path.graph
        return cls(graph, graph.label(path.source), graph.label(path.target), path, loss, **options)

    @property
    def demonstration(self) -> Path:
        """The first demonstration of the task."""
        return self.demonstrations[0]

    def _path(self, given: Any) -> Path:
        path = given
        if not isinstance(given, Path):
            path = self.graph.path(cast("Sequence[Hashable]", given))
        # A path of another graph is rejected, because its arc indices mean other arcs.
        elif given.graph is not self.graph:
            raise InputError(
                "the demonstration is a path in another graph; pass a path in the task's graph"
            )
        label = self.graph.label
        ends = ("starts", path.source, self.source), ("ends", path.target, self.target)
        for what, found, wanted in ends:
            if found != wanted:
                raise InputError(
                    f"the demonstration {what} at {label(found)!r}, not at {label(wanted)!r}"
                )
        return path

    def __repr__(self) -> str:
        count = len(self.demonstrations)
        many = "" if count == 1 else f", {count} demonstrations"
        return f"Task({self.name}, {self.loss}{many})"


def _several(given: Any) -> list[Any]:
    if isinstance(given, Path):
        return [given]
    # A string is rejected, because its letters would be read as the labels of nodes.
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise InputError(f"a demonstration must be a Path or a sequence of nodes, got {given!r}")
    made = given.tolist() if isinstance(given, np.ndarray) and given.ndim == 1 else list(given)
    if not made:
        raise InputError("the demonstration is empty; pass at least two nodes")
    # Lists and arrays cannot be labels of nodes, because they cannot be hashed.
    if all(isinstance(one, Path | list | np.ndarray) for one in made):
        return made
    return [made]


def checked_tasks(tasks: Any) -> tuple[Task, ...]:
    """Return the tasks as a tuple.

    An InputError is raised if there is no task, or if an entry is not a `Task`.
    """
    # A single task instead of a list is the likeliest mistake, and gets its own message.
    if isinstance(tasks, Task) or not np.iterable(tasks):
        raise InputError(f"tasks must be a list of tasks, such as [task], got {tasks!r:.60}")
    made = tuple(tasks)
    if not made:
        raise InputError("the list of tasks is empty; pass at least one task")
    for place, task in enumerate(made):
        if not isinstance(task, Task):
            raise InputError(
                f"each entry of tasks must be a Task, but tasks[{place}] is {task!r:.60}; make "
                "tasks with Task(graph, source, target, nodes), or from a table with "
                "paths_from_pandas"
            )
    return made
