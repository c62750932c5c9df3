"""A planning task: a source, a target, and the paths that an expert took between them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, cast

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.parameters import positive
from relaxboost.planning.graphs import Graph, Path, error_prefix
from relaxboost.planning.losses import Missed, PathLoss


class Task:
    """A source and a target on a graph, with one or several demonstrated paths.

    Parameters
    ----------
    graph : Graph
        Many tasks may share a graph.
    source, target : labels of nodes
        Different.
    demonstration : Path, sequence of node labels, or list of these
        If the elements are paths, lists or arrays, they are several demonstrations. The loss of the
        task is then the mean of their losses.
    loss : PathLoss
        By default `Missed()`.
    weight : float
        The weight of the task in the mean over tasks, > 0.
    name : str, optional
        The name of the task in messages.

    Raises
    ------
    InputError
        For a node that is not in the graph, for equal source and target, and for a demonstration
        that is no path of the graph or does not lead from source to target. The message names the
        first broken arc.
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
                f"a task needs a planning.Graph, got {type(graph).__name__}; from_networkx makes "
                "a Graph of a networkx graph"
            )
        self.graph = graph
        self.name = name if name is not None else f"{source!r} -> {target!r}"
        self.loss = Missed() if loss is None else loss
        # Errors of one of many tasks must name the task.
        with error_prefix(f"task {self.name}: "):
            self.source = graph.node(source)
            self.target = graph.node(target)
            if self.source == self.target:
                raise InputError("source and target are the same node")
            self.demonstrations = tuple(self._path(one) for one in _several(demonstration))
            if not isinstance(self.loss, PathLoss):
                raise InputError("loss must be a PathLoss such as Missed()")
            self.weight = positive("weight", weight)

    @classmethod
    def along(cls, path: Path, loss: PathLoss | None = None, **options: Any) -> Task:
        """Return the task whose demonstration is a path, from its first node to its last."""
        graph = path.graph
        return cls(graph, graph.label(path.source), graph.label(path.target), path, loss, **options)

    @property
    def demonstration(self) -> Path:
        """The first demonstration."""
        return self.demonstrations[0]

    def _path(self, given: Any) -> Path:
        path = given
        if not isinstance(given, Path):
            path = self.graph.path(cast("Sequence[Hashable]", given))
        # The indices of arcs have another meaning on another graph.
        elif given.graph is not self.graph:
            raise InputError("the demonstration is a path of another graph")
        # The plans of the task lead between its nodes, so that the demonstration must join the same
        # nodes.
        for what, found, wanted in (
            ("starts", path.source, self.source),
            ("ends", path.target, self.target),
        ):
            if found != wanted:
                raise InputError(
                    f"the demonstration {what} at {self.graph.label(found)!r}, not at "
                    f"{self.graph.label(wanted)!r}"
                )
        return path

    def __repr__(self) -> str:
        count = len(self.demonstrations)
        many = "" if count == 1 else f", {count} demonstrations"
        return f"Task({self.name}, {self.loss}{many})"


def _several(given: Any) -> list[Any]:
    """Return the demonstrations as a list, even if the user gave a single one."""
    if isinstance(given, Path):
        return [given]
    # A text is iterable, but its letters are not a path.
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        raise InputError(f"a demonstration is a Path or a sequence of nodes, got {given!r}")
    made = given.tolist() if isinstance(given, np.ndarray) and given.ndim == 1 else list(given)
    if not made:
        raise InputError("the demonstration is empty")
    # Lists and arrays cannot be labels of nodes, because they cannot be hashed.
    if all(isinstance(one, Path | list | np.ndarray) for one in made):
        return made
    return [made]


def checked_tasks(tasks: Any) -> tuple[Task, ...]:
    """Return tasks as a tuple, or raise if there are none or some are not tasks."""
    # A single task is the likeliest mistake.
    if isinstance(tasks, Task) or not np.iterable(tasks):
        raise InputError(f"give a list of tasks, [task], got {tasks!r:.60}")
    made = tuple(tasks)
    if not made:
        raise InputError("the list of tasks is empty; give at least one")
    for place, task in enumerate(made):
        if not isinstance(task, Task):
            raise InputError(
                f"each entry of tasks must be a Task, and tasks[{place}] is {task!r:.60}; make "
                "tasks by Task(graph, source, target, nodes), or of a table by paths_from_pandas"
            )
    return made
