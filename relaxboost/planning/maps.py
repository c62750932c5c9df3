"""Pictures of paths and costs on grids and networks (needs the `plots` extra)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array, Flags
from relaxboost._core.errors import InputError
from relaxboost.planning.costs import LearnedCosts
from relaxboost.planning.graphs import Graph, Path
from relaxboost.planning.labels import Cells
from relaxboost.planning.planners import shortest_path
from relaxboost.planning.plans import Plan
from relaxboost.planning.tasks import Task

__all__ = ["before_after", "paths", "zoom"]


def paths(
    where: Task | Graph | Sequence[Task],
    planned: Any = None,
    alternatives: Any = None,
    costs: Any = None,
    *,
    label: str = "cost",
    scale: str = "linear",
    axes: Any = None,
) -> Any:
    """Draw paths over a grid or a network, its costs, or both; return the matplotlib Axes.

    Parameters
    ----------
    where : Task, sequence of Task, or Graph
        Tasks of one graph bring their demonstrations and ends.
    planned, alternatives : Path, Plan, or sequence of these, optional
        Demonstrations are thick and dark, plans orange, alternatives dotted blue; where they run
        together all are seen.
    costs : array of shape (S,) or (E,), or a fit, optional
        Per site or per arc. On a grid, the colour of the cells (of costs per arc: of the mean cost
        per length of the arcs that enter a cell). On a network, the colour of the lines (of arcs
        between the same nodes, their mean).
    label : str
        Of the colour bar.
    scale : {"linear", "log"}
        Of the colours; ``"log"`` for positive costs of different sizes, as boosting makes them.
    axes : Axes, optional
        Where to draw; by default in a figure of its own, in the proportions of the graph.

    Returns
    -------
    Axes
        For `zoom`, `plots.save`, or whatever else is to be drawn there.
    """
    drawing = _Drawing(where, planned=planned, alternatives=alternatives)
    value = drawing.values(costs)
    panel = drawing.panels(1)[0] if axes is None else axes
    image = drawing.on(panel, value, _colour_norm([value], scale))
    _add_bar(panel.figure, image, panel, label)
    _add_legend(panel, axes is None)
    return panel


def before_after(
    task: Task,
    before: Any,
    after: Any,
    *,
    names: tuple[str, str] = ("before", "after"),
    label: str = "cost",
    scale: str = "linear",
    axes: Any = None,
) -> Any:
    """Draw a task under two costs, side by side on one colour scale; return the two Axes.

    Each has the demonstrations, and the path that is shortest for its costs; above it stands the
    loss of that path.

    Parameters
    ----------
    task : Task
    before, after : arrays of shape (S,) or (E,), or fits
        As for `paths`.
    names : two str
        Of the panels.
    label, scale : str
        As for `paths`.
    axes : pair of Axes, optional
    """
    if not isinstance(task, Task):
        raise InputError(f"before_after needs a Task, got {type(task).__name__}")
    graph, source, target = task.graph, task.graph.label(task.source), task.graph.label(task.target)
    plans = [shortest_path(graph, _arc_costs(graph, c), source, target) for c in (before, after)]
    drawings = [_Drawing(task, planned=plan) for plan in plans]
    values = [drawing.values(c) for drawing, c in zip(drawings, (before, after), strict=True)]
    norm = _colour_norm(values, scale)
    panels = drawings[0].panels(2) if axes is None else list(axes)
    for drawing, panel, name, value, plan in zip(
        drawings, panels, names, values, plans, strict=True
    ):
        image = drawing.on(panel, value, norm)
        loss = task.loss.value(plan.path, task.demonstration)
        panel.set_title(f"{name}: the shortest path has loss {loss:.4g}", fontsize="medium")
    _add_bar(panels[0].figure, image, panels, label)
    _add_legend(panels[0], axes is None)
    return tuple(panels)


def zoom(axes: Any, margin: float = 0.3) -> Any:
    """Cut a picture of `paths` to the paths and a margin, a share of their extent; return it."""
    drawn = [np.asarray(line.get_xydata()) for line in axes.get_lines()]
    if not drawn:
        raise InputError("zoom needs a picture with a path; give paths a task or a plan")
    xy = np.concatenate(drawn)
    middle, half = 0.5 * (xy.max(axis=0) + xy.min(axis=0)), 0.5 * np.ptp(xy, axis=0)
    half = np.maximum(half, 0.6 * half.max()) + 2.0 * margin * half.max()  # no strips
    (left, bottom), (right, top) = middle - half, middle + half
    axes.set(xlim=(left, right), ylim=(top, bottom) if axes.yaxis_inverted() else (bottom, top))
    for lines in axes.collections[:1]:  # the roads, fewer now; of a grid, the ends
        lines.set_linewidths(np.maximum(lines.get_linewidths(), 0.7))
    return axes


# Told apart by width, dashes and lightness, not hue alone; drawn from the last to the first.
_STYLES: dict[str, dict[str, Any]] = {
    "demonstrated": {"color": "#111111", "linewidth": 4.6, "linestyle": "-", "zorder": 5.0},
    "planned": {"color": "#D55E00", "linewidth": 2.4, "linestyle": "-", "zorder": 6.0},
    "alternatives": {
        "color": "#0072B2",
        "linewidth": 1.7,
        "linestyle": (0, (1.2, 1.1)),
        "zorder": 4.0,
    },
}
_BLOCKED = "#26282c"
_FREE = "#f4f1ea"
_ROAD = "#b9bec4"
_WIDTHS = ((40, 3.2), (1000, 2.0), (5000, 0.9), (np.inf, 0.4))
"""Of the lines of networks of up to so many edges."""
SMALL, FEW = 300, 40
"""Nodes of networks that are laid out with care, and of those whose nodes are named."""
MANY = 8
"""Paths of one kind that are drawn with thick lines."""
_PIVOTS = 64
_DEAR = 98
"""The percentile of costs where colours end."""


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
    every = np.concatenate(known)
    # A few costs far above all others would leave one colour for these.
    low, high = float(every.min()), float(np.percentile(every, _DEAR, method="higher"))
    if scale == "linear":
        return Normalize(low, high)
    if low <= 0.0:
        raise InputError(
            f'the least cost is {low:g}, and scale="log" needs costs > 0; leave it out'
        )
    return LogNorm(low, high)


class _Drawing:
    """A graph with coordinates of its nodes, and the paths to draw on it by kind."""

    def __init__(self, where: Any, **given: Any) -> None:
        tasks = [] if isinstance(where, Graph) else [where] if isinstance(where, Task) else where
        if not isinstance(tasks, Sequence) or not all(isinstance(one, Task) for one in tasks):
            kind = type(where).__name__
            raise InputError(f"a picture needs a Task, a list of tasks or a Graph, got {kind}")
        if not tasks and not isinstance(where, Graph):
            raise InputError("the list of tasks is empty; give a Graph to draw no paths")
        graph = self.graph = where if isinstance(where, Graph) else tasks[0].graph
        given = {"demonstrated": [path for one in tasks for path in one.demonstrations], **given}
        self.routes = {kind: self._paths(kind, some) for kind, some in given.items()}
        ends = [(one.source, one.target) for one in tasks] or [
            (path.source, path.target) for some in self.routes.values() for path in some
        ]
        self.ends = list(dict.fromkeys(ends))
        self.grid = graph.labels.shape if isinstance(graph.labels, Cells) else None
        if self.grid is not None:
            rows, columns = np.divmod(np.arange(graph.nodes), self.grid[1])
            self.xy = np.column_stack([columns, rows]).astype(np.float64)
            return
        self.xy = _layout(graph) if graph.position is None else graph.position
        # An edge is all arcs between two nodes, whatever their direction.
        low, high = np.minimum(graph.tail, graph.head), np.maximum(graph.tail, graph.head)
        pairs, self.edge = np.unique(low * graph.nodes + high, return_inverse=True)
        self.edges = np.column_stack(np.divmod(pairs, graph.nodes))

    def _paths(self, kind: str, given: Any) -> list[Path]:
        made = []
        for one in () if given is None else given if isinstance(given, Iterable) else [given]:
            path = one.path if isinstance(one, Plan) else one
            if not isinstance(path, Path):
                raise InputError(
                    f"{kind} must be a Path, a Plan or a list of these, got {one!r}; "
                    "graph.path(nodes) makes a Path"
                )
            if path.graph is not self.graph:
                raise InputError(f"{kind}: {path!r} is a path of another graph")
            made.append(path)
        return made

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

    def panels(self, count: int) -> list[Any]:
        """Return the axes of a new figure, in the proportions of the graph."""
        from matplotlib.figure import Figure

        wide, high = np.ptp(self.xy, axis=0)
        ratio = float(np.clip(high / wide if wide > 0.0 else 1.0, 0.35, 1.6))
        width = 5.6 if count == 1 else 4.7
        size = (width * count + 1.0, width * ratio + 0.9)
        return list(np.atleast_1d(Figure(figsize=size, layout="constrained").subplots(1, count)))

    def on(self, axes: Any, values: Array | None, norm: Any) -> Any:
        """Draw all on axes; return what a colour bar is for, or None."""
        axes.set_aspect("equal")
        image = (self._lines if self.grid is None else self._cells)(axes, values, norm)
        self._routes(axes)
        self._ends(axes)
        return image

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

        count = len(self.edges)
        order = slice(None) if values is None else np.argsort(values, kind="stable")
        width = next(width for most, width in _WIDTHS if count <= most)
        lines = LineCollection(
            list(self.xy[self.edges[order]]), linewidths=width, zorder=1, rasterized=count > 1000
        )
        if values is None:
            lines.set(color=_ROAD)
        else:
            lines.set(cmap=_heat_colours(), norm=norm, array=values[order])
        axes.add_collection(lines)
        axes.update_datalim(self.xy)  # nodes without arcs count too
        axes.autoscale_view()
        axes.margins(0.06)
        axes.set_axis_off()
        if self.graph.nodes <= FEW:
            self._names(axes)
        return None if values is None else lines

    def _names(self, axes: Any) -> None:
        """Write the labels of the nodes of a small network."""
        box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "0.6", "lw": 0.6}
        for node, (x, y) in enumerate(self.xy):
            name = str(self.graph.label(node))
            text = name if len(name) <= 12 else f"{name[:11]}…"
            axes.text(x, y, text, fontsize=7, ha="center", va="center", bbox=box, zorder=7)

    def _routes(self, axes: Any) -> None:
        from matplotlib import patheffects

        for kind, some in self.routes.items():
            style = dict(_STYLES[kind])
            style["linewidth"] *= 1.0 if len(some) <= MANY else 0.3
            wide = 1.2 * style["linewidth"] + 0.6
            halo = [patheffects.withStroke(linewidth=wide, foreground="white")]
            for place, path in enumerate(some):
                name = kind.removesuffix("s") + (f", {len(some)} paths" if len(some) > 1 else "")
                label = name if place == 0 else None
                rounded = {"solid_capstyle": "round", "solid_joinstyle": "round"}
                line = self.xy[path.numbers].T
                axes.plot(*line, path_effects=halo, label=label, **style, **rounded)

    def _ends(self, axes: Any) -> None:
        # Beside the labels of a small network, and above them elsewhere.
        named = self.grid is None and self.graph.nodes <= FEW
        size, order = (330, 3.0) if named else (85 if len(self.ends) <= MANY else 12, 8.0)
        for column, (name, marker, colour) in enumerate(
            (("source", "o", "white"), ("target", "D", "#F0E442"))
        ):
            at = sorted({pair[column] for pair in self.ends})
            if at:
                look: dict[str, Any] = {"s": size * (1.0 - 0.15 * column), "c": colour}
                x, y = self.xy[at].T
                look.update(edgecolors="black", zorder=order, clip_on=False)
                axes.scatter(x, y, marker=marker, label=name, **look)


def _heat_colours() -> Any:
    """Return light to middling, which dark lines with a white rim stay legible on."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    return ListedColormap(colormaps["YlGnBu"](np.linspace(0.27, 0.78, 256)))


def _add_bar(figure: Any, image: Any, panels: Any, label: str) -> None:
    """Say what the colours mean, with a tip where some costs are above the scale."""
    if image is not None:
        beyond = "max" if image.get_array().max() > image.norm.vmax else "neither"
        figure.colorbar(image, ax=panels, label=label, shrink=0.75, pad=0.02, extend=beyond)


def _add_legend(axes: Any, alone: bool) -> None:
    """Name what was drawn, below it: of the figure, or of axes among others."""
    handles, names = axes.get_legend_handles_labels()
    if not handles:
        return
    place: dict[str, Any] = {"loc": "outside lower center", "ncols": len(handles)}
    if not alone:
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.01), "ncols": 3}
    marks = 0.6 if len(axes.texts) else 1.0
    look = {"fontsize": "small", "frameon": False, "handlelength": 2.6, "markerscale": marks}
    (axes.figure if alone else axes).legend(handles, names, **place, **look)


def _layout(graph: Graph) -> Array:
    """Return coordinates for a network without any, shape (nodes, 2), the same every time.

    Nodes that few arcs lie between are put near each other: by networkx, and where that takes too
    long so that distances from some nodes, the pivots, are met as well as can be.

    References
    ----------
    Brandes & Pich (2007), Eigensolver methods for progressive multidimensional scaling.
    """
    import networkx as nx
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, dijkstra

    n, tail, head = graph.nodes, graph.tail, graph.head
    arcs = csr_array((np.ones(graph.arcs), (tail, head)), shape=(n, n))
    # Parts without a road between them hang together by their first nodes.
    first = np.unique(connected_components(arcs, directed=False)[1], return_index=True)[1]
    tail, head = np.append(tail, np.full(first.size - 1, first[0])), np.append(head, first[1:])
    if n <= SMALL:
        plain = nx.Graph()
        plain.add_nodes_from(range(n))
        plain.add_edges_from(zip(tail.tolist(), head.tolist(), strict=True))
        found = nx.kamada_kawai_layout(plain)
        return np.array([found[node] for node in range(n)], dtype=np.float64)
    arcs = csr_array((np.ones(tail.size), (tail, head)), shape=(n, n))
    pivot, rows, nearest = 0, [], np.full(n, np.inf)
    for _ in range(_PIVOTS):
        rows.append(dijkstra(arcs, directed=False, indices=pivot, unweighted=True))
        nearest = np.minimum(nearest, rows[-1])
        pivot = int(nearest.argmax())
    D = np.stack(rows, axis=1) ** 2
    B = D.mean(axis=0) + D.mean(axis=1, keepdims=True) - D.mean() - D
    found = B @ np.linalg.eigh(B.T @ B)[1][:, :-3:-1]
    return np.asarray(found / np.abs(found).max())
