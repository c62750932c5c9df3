"""Pictures of paths and costs on grids and networks (needs the `plots` extra)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from relaxboost._core.errors import InputError
from relaxboost.planning.graphs import Graph, Path
from relaxboost.planning.maps.drawing import Drawing, add_legend, arc_costs, colour_norm, new_figure
from relaxboost.planning.planners.shortest import shortest_path
from relaxboost.planning.plans import Plan
from relaxboost.planning.tasks import Task

__all__ = ["before_after", "paths"]


def paths(
    where: Task | Graph,
    demonstrated: Any = None,
    planned: Any = None,
    alternatives: Any = None,
    costs: Any = None,
    *,
    label: str = "cost",
    scale: str = "linear",
) -> Any:
    """Return a matplotlib figure of paths over a grid or a network, of its costs, or of both.

    Parameters
    ----------
    where : Task or Graph
        A task brings its demonstrations, which are drawn unless `demonstrated` says otherwise,
        and its ends.
    demonstrated, planned, alternatives : Path, Plan, or sequence of these, optional
        Thick and dark, orange, dotted blue; where they run together all are seen.
    costs : array of shape (S,) or (E,), or a fit, optional
        Per site or per arc. On a grid, the colour of the cells (of costs per arc: of the mean cost
        per length of the arcs that enter a cell). On a network, the colour of the lines (of arcs
        between the same nodes, their mean).
    label : str
        Of the colour bar.
    scale : {"linear", "log"}
        Of the colours; ``"log"`` for positive costs of different sizes, as boosting makes them.

    Returns
    -------
    Figure
        For `plots.save`, or `figure.savefig`; ``figure.suptitle`` gives it a title.
    """
    graph, shown, ends = _asked(where, demonstrated, planned, alternatives)
    figure, (axes,) = new_figure(graph, 1)
    drawing = Drawing(graph)
    values = drawing.values(costs)
    image = drawing.ground(axes, values, colour_norm([values], scale))
    drawing.routes(axes, shown, ends)
    if image is not None:
        figure.colorbar(image, ax=axes, label=label, shrink=0.85, pad=0.02)
    add_legend(figure, [axes])
    return figure


def before_after(
    task: Task,
    before: Any,
    after: Any,
    *,
    names: tuple[str, str] = ("before", "after"),
    label: str = "cost",
    scale: str = "linear",
) -> Any:
    """Return a matplotlib figure of a task under two costs, side by side on one colour scale.

    Each panel has the demonstrations, and the path that is shortest for its costs; above it stands
    the loss of that path.

    Parameters
    ----------
    task : Task
    before, after : arrays of shape (S,) or (E,), or fits
        As for `paths`.
    names : two str
        Of the panels.
    label, scale : str
        As for `paths`.
    """
    if not isinstance(task, Task):
        raise InputError(f"before_after needs a Task, got {type(task).__name__}")
    graph = task.graph
    figure, panels = new_figure(graph, 2)
    drawing = Drawing(graph)
    values = [drawing.values(before), drawing.values(after)]
    norm = colour_norm(values, scale)
    image, source, target = None, graph.label(task.source), graph.label(task.target)
    for axes, name, costs, value in zip(panels, names, (before, after), values, strict=True):
        plan = shortest_path(graph, arc_costs(graph, costs), source, target)
        _, shown, ends = _asked(task, None, plan, None)
        image = drawing.ground(axes, value, norm)
        drawing.routes(axes, shown, ends)
        loss = task.loss.value(plan.path, task.demonstration)
        axes.set_title(f"{name}: the shortest path has loss {loss:.4g}", fontsize="medium")
    figure.colorbar(image, ax=panels, label=label, shrink=0.85, pad=0.02)
    add_legend(figure, panels)
    return figure


def _asked(
    where: Any, demonstrated: Any, planned: Any, alternatives: Any
) -> tuple[Graph, dict[str, list[Path]], list[tuple[int, int]]]:
    """Return the graph, its paths by kind, and the ends to mark."""
    if isinstance(where, Task):
        graph, ends = where.graph, [(where.source, where.target)]
        demonstrated = where.demonstrations if demonstrated is None else demonstrated
    elif isinstance(where, Graph):
        graph, ends = where, []
    else:
        raise InputError(f"a picture needs a Task or a Graph, got {type(where).__name__}")
    given = {"alternatives": alternatives, "demonstrated": demonstrated, "planned": planned}
    shown = {kind: _paths(graph, kind, some) for kind, some in given.items()}
    if not ends:
        found = [(path.source, path.target) for some in shown.values() for path in some]
        ends = list(dict.fromkeys(found))
    return graph, shown, ends


def _paths(graph: Graph, kind: str, given: Any) -> list[Path]:
    if given is None:
        return []
    some = given if isinstance(given, Iterable) else [given]
    made = []
    for one in some:
        path = one.path if isinstance(one, Plan) else one
        if not isinstance(path, Path):
            raise InputError(
                f"{kind} must be a Path, a Plan or a list of these, got {one!r}; graph.path(nodes) "
                "makes a Path"
            )
        if path.graph is not graph:
            raise InputError(f"{kind}: {path!r} is a path of another graph")
        made.append(path)
    return made
