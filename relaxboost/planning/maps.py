"""Pictures of paths and costs on grids and networks (needs the `plots` extra)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array, Flags
from relaxboost._core.errors import InputError
from relaxboost.planning.costs import LearnedCosts
from relaxboost.planning.graphs import Graph, Path
from relaxboost.planning.labels import Cells
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
    figure, (axes,) = _new_figure(graph, 1)
    drawing = _Drawing(graph)
    values = drawing.values(costs)
    image = drawing.ground(axes, values, _colour_norm([values], scale))
    drawing.routes(axes, shown, ends)
    if image is not None:
        figure.colorbar(image, ax=axes, label=label, shrink=0.85, pad=0.02)
    _add_legend(figure, [axes])
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
    figure, panels = _new_figure(graph, 2)
    drawing = _Drawing(graph)
    values = [drawing.values(before), drawing.values(after)]
    norm = _colour_norm(values, scale)
    image, source, target = None, graph.label(task.source), graph.label(task.target)
    for axes, name, costs, value in zip(panels, names, (before, after), values, strict=True):
        plan = shortest_path(graph, _arc_costs(graph, costs), source, target)
        _, shown, ends = _asked(task, None, plan, None)
        image = drawing.ground(axes, value, norm)
        drawing.routes(axes, shown, ends)
        loss = task.loss.value(plan.path, task.demonstration)
        axes.set_title(f"{name}: the shortest path has loss {loss:.4g}", fontsize="medium")
    figure.colorbar(image, ax=panels, label=label, shrink=0.85, pad=0.02)
    _add_legend(figure, panels)
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


# Told apart by width, dashes and lightness, not hue alone.
_STYLES: dict[str, dict[str, Any]] = {
    "demonstrated": {"color": "#111111", "linewidth": 4.6, "linestyle": "-", "zorder": 5.0},
    "planned": {"color": "#D55E00", "linewidth": 2.2, "linestyle": "-", "zorder": 6.0},
    "alternatives": {
        "color": "#0072B2",
        "linewidth": 1.7,
        "linestyle": (0, (1.2, 1.1)),
        "zorder": 4.0,
    },
}
LARGEST = 3000
"""Nodes of the largest network that is laid out."""

_BLOCKED = "#26282c"
_FREE = "#f4f1ea"
_ROAD = "#b9bec4"


def _arc_costs(graph: Graph, costs: Any) -> Array:
    """Return costs per arc from what `paths` takes for costs."""
    if isinstance(costs, LearnedCosts):
        return costs.costs(graph)
    c = np.asarray(costs, dtype=np.float64)
    if c.shape not in ((graph.size,), (graph.arcs,)):
        raise InputError(
            f"costs need shape ({graph.size},), one a site, or ({graph.arcs},), one an arc; got "
            f"{c.shape}"
        )
    return c if c.shape == (graph.arcs,) else graph.costs(c)


def _site_costs(graph: Graph, costs: Any) -> Array | None:
    """Return costs per site where they are known as such."""
    if isinstance(costs, LearnedCosts):
        return costs.site_costs(graph)
    if np.shape(costs) != (graph.size,):
        return None
    return np.asarray(costs, dtype=np.float64)


def _colour_norm(values: list[Array | None], scale: str) -> Any:
    """Return the scale of colours that some panels share; None without costs."""
    from matplotlib.colors import LogNorm, Normalize

    if scale not in ("linear", "log"):
        raise InputError(f"scale must be linear or log, got {scale!r}")
    known = [v[np.isfinite(v)] for v in values if v is not None]
    if not known:
        return None
    low, high = float(np.concatenate(known).min()), float(np.concatenate(known).max())
    if scale == "linear":
        return Normalize(low, high)
    if low <= 0.0:
        raise InputError(
            f'the least cost is {low:g}, and scale="log" needs costs > 0; leave it out'
        )
    return LogNorm(low, high)


class _Drawing:
    """A graph with coordinates of its nodes."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.grid = graph.labels.shape if isinstance(graph.labels, Cells) else None
        if self.grid is not None:
            rows, columns = np.divmod(np.arange(graph.nodes), self.grid[1])
            self.xy = np.column_stack([columns, rows]).astype(np.float64)
        elif graph.position is not None:
            self.xy = graph.position
        else:
            self.xy = _layout(graph)
        # An edge is all arcs between two nodes, whatever their direction.
        pair = np.sort(np.column_stack([graph.tail, graph.head]), axis=1)
        self.edges, self.edge = np.unique(pair, axis=0, return_inverse=True)

    def values(self, costs: Any) -> Array | None:
        """Return what is coloured, a number a cell or an edge, or None without costs."""
        if costs is None:
            return None
        graph, c = self.graph, _arc_costs(self.graph, costs)
        if self.grid is None:
            return np.bincount(self.edge, c) / np.bincount(self.edge)
        entered = np.bincount(graph.head, minlength=graph.nodes)
        known = _site_costs(graph, costs)
        if known is not None and known.shape == (graph.nodes,):  # sites are cells
            return np.where(self._used(), known, np.nan)
        length = np.linalg.norm(self.xy[graph.head] - self.xy[graph.tail], axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            made: Array = np.bincount(graph.head, c / length, graph.nodes) / entered
        return made

    def _used(self) -> Flags:
        """Return which nodes an arc touches; cells without one are obstacles."""
        used = np.zeros(self.graph.nodes, dtype=bool)
        used[self.graph.tail] = used[self.graph.head] = True
        return used

    def ground(self, axes: Any, values: Array | None, norm: Any) -> Any:
        """Draw the grid or the network; return what a colour bar is for, or None."""
        if self.grid is not None or self.graph.position is not None:
            axes.set_aspect("equal")
        if self.grid is None:
            return self._lines(axes, values, norm)
        return self._cells(axes, values, norm)

    def _cells(self, axes: Any, values: Array | None, norm: Any) -> Any:
        from matplotlib.colors import ListedColormap

        assert self.grid is not None
        free = self._used().reshape(self.grid)
        axes.imshow(free, cmap=ListedColormap([_BLOCKED, _FREE]), vmin=0, vmax=1, zorder=1)
        axes.set(xticks=[], yticks=[])
        if values is None:
            return None
        shown = np.ma.masked_invalid(np.where(free.ravel(), values, np.nan)).reshape(self.grid)
        return axes.imshow(shown, cmap=_heat_colours(), norm=norm, zorder=2)

    def _lines(self, axes: Any, values: Array | None, norm: Any) -> Any:
        from matplotlib.collections import LineCollection

        few = self.graph.nodes <= 40
        width = 3.2 if few else 2.0 if len(self.edges) <= 1000 else 0.9
        lines = LineCollection(list(self.xy[self.edges]), linewidths=width, zorder=1)
        if values is None:
            lines.set(color=_ROAD)
        else:
            lines.set(cmap=_heat_colours(), norm=norm, array=values)
        axes.add_collection(lines)
        axes.update_datalim(self.xy)  # nodes without arcs count too
        axes.autoscale_view()
        axes.margins(0.06)
        axes.set_axis_off()
        if few:
            self._names(axes)
        return None if values is None else lines

    def _names(self, axes: Any) -> None:
        """Write the labels of the nodes of a small network."""
        box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "0.6", "lw": 0.6}
        for node, (x, y) in enumerate(self.xy):
            name = str(self.graph.label(node))
            text = name if len(name) <= 12 else f"{name[:11]}…"
            axes.text(x, y, text, fontsize=7, ha="center", va="center", bbox=box, zorder=7)

    def routes(
        self, axes: Any, shown: Mapping[str, list[Path]], ends: list[tuple[int, int]]
    ) -> None:
        """Draw paths by kind, and mark where they start and end."""
        from matplotlib import patheffects

        for kind, some in shown.items():
            style = _STYLES[kind]
            wide = 1.2 * style["linewidth"] + 0.6
            halo = [patheffects.withStroke(linewidth=wide, foreground="white")]
            for place, path in enumerate(some):
                name = kind.removesuffix("s") + (f", {len(some)} paths" if len(some) > 1 else "")
                label = name if place == 0 else None
                rounded = {"solid_capstyle": "round", "solid_joinstyle": "round"}
                line = self.xy[path.numbers].T
                axes.plot(*line, path_effects=halo, label=label, **style, **rounded)
        self._ends(axes, ends)

    def _ends(self, axes: Any, ends: list[tuple[int, int]]) -> None:
        # Beside the labels of a small network, and above them elsewhere.
        size = 330 if self.grid is None and self.graph.nodes <= 40 else 85
        order = 3.0 if size > 100 else 8.0
        for column, (name, marker, colour) in enumerate(
            (("source", "o", "#56B4E9"), ("target", "D", "#F0E442"))
        ):
            at = sorted({pair[column] for pair in ends})
            if at:
                look: dict[str, Any] = {"s": size * (1.0 - 0.15 * column), "c": colour}
                x, y = self.xy[at].T
                look.update(edgecolors="black", zorder=order, clip_on=False)
                axes.scatter(x, y, marker=marker, label=name, **look)


def _heat_colours() -> Any:
    """Return light to dark, which lines with a white rim stay legible on."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["viridis_r"](np.linspace(0.0, 0.86, 256)))


def _new_figure(graph: Graph, count: int) -> tuple[Any, list[Any]]:
    """Return a figure with panels in the proportions of the graph."""
    from matplotlib.figure import Figure

    ratio = 0.8
    if isinstance(graph.labels, Cells):
        ratio = graph.labels.shape[0] / graph.labels.shape[1]
    elif graph.position is not None:
        wide, high = np.ptp(graph.position, axis=0)
        ratio = high / wide if wide > 0.0 else 1.0
    ratio = float(np.clip(ratio, 0.35, 1.6))
    width = 5.6 if count == 1 else 4.7
    figure = Figure(figsize=(width * count + 1.0, width * ratio + 0.9), layout="constrained")
    return figure, list(np.atleast_1d(figure.subplots(1, count)))


def _add_legend(figure: Any, panels: list[Any]) -> None:
    """Name what the panels show, once, below them."""
    handles: dict[str, Any] = {}
    for axes in panels:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    # Paths are drawn with alternatives at the bottom, and named with them at the end.
    order = sorted(handles, key=lambda name: name.startswith("alternative"))
    order = sorted(order, key=lambda name: name in ("source", "target"))
    if handles:
        figure.legend(
            [handles[name] for name in order],
            order,
            loc="outside lower center",
            ncols=len(handles),
            fontsize="small",
            frameon=False,
            handlelength=2.6,
            markerscale=0.6 if any(len(axes.texts) for axes in panels) else 1.0,
        )


def _layout(graph: Graph) -> Array:
    """Return coordinates for a network without any, shape (nodes, 2), the same every time.

    Nodes that few arcs lie between are put near each other, by networkx.

    Raises
    ------
    InputError
        For more than `LARGEST` nodes, which would take too long.
    """
    import networkx as nx

    if graph.nodes > LARGEST:
        raise InputError(
            f"the graph of {graph.nodes} nodes has no position, and only up to {LARGEST} "
            "are laid out; give position=, an array of shape (nodes, 2), when making it"
        )
    plain = nx.Graph()
    plain.add_nodes_from(range(graph.nodes))
    plain.add_edges_from(zip(graph.tail.tolist(), graph.head.tolist(), strict=True))
    small = graph.nodes <= 300  # the better of the two takes cubic time
    found = nx.kamada_kawai_layout(plain) if small else nx.spring_layout(plain, seed=0)
    return np.array([found[node] for node in range(graph.nodes)], dtype=np.float64)
