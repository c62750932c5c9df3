"""Pictures of paths and costs on grids and networks (require the `plots` extra)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from numbers import Real
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError, check_drawing
from relaxboost.planning.costs import LearnedCosts
from relaxboost.planning.graphs import PLACES, Graph, Path, weights_hint
from relaxboost.planning.labels import Cells
from relaxboost.planning.plans import Plan
from relaxboost.planning.tasks import Task

__all__ = ["paths"]


def paths(
    where: Task | Graph | Sequence[Task],
    planned: Any = None,
    costs: Any = None,
    *,
    label: str = "cost",
    axes: Any = None,
) -> Any:
    """Draw paths, costs or both on a grid or a network.

    Nodes are drawn at `Graph.position`. If the graph has no positions and the node labels are pairs
    (x, y) of numbers, these pairs are used. Otherwise networkx lays out up to 300 nodes.

    Parameters
    ----------
    where : Task, sequence of Task, or Graph
        A graph, or tasks on one graph, which are drawn with their demonstrations, sources and
        targets.
    planned : Path, Plan, or sequence of these, optional
        The paths to draw over the demonstrations. Demonstrations are thick and dark, and plans are
        dashed and orange, so that both are visible on shared arcs.
    costs : array of shape (S,) or (E,), or a fit, optional
        The site costs or arc costs, shown as the colours of cells or lines. The sites of a grid are
        its cells. For arc costs on a grid, a cell shows the mean cost per unit of length of the
        arcs that enter it. In a network, a line shows the mean cost of the arcs between its two
        nodes.
    label : str
        The label of the colour bar.
    axes : Axes, optional
        The axes to draw on. By default, a new figure with the proportions of the graph is created.

    Raises
    ------
    InputError
        If tasks, paths or costs belong to another graph, or if a network of more than 300 nodes has
        no coordinates.

    Returns
    -------
    Axes
        The axes with the picture, which `plots.save` accepts.
    """
    drawing = _Drawing(where, planned)
    value = drawing.values(costs)
    panel = drawing.panel() if axes is None else axes
    panel.set_aspect("equal")
    draw = drawing.lines if drawing.grid is None else drawing.cells
    image = draw(panel, value, _colour_norm(value))
    drawing.paths(panel)
    drawing.marks(panel)
    if image is not None:
        # The colour bar has a tip if some costs are above the scale.
        beyond = "max" if image.get_array().max() > image.norm.vmax else "neither"
        panel.figure.colorbar(image, ax=panel, label=label, shrink=0.75, pad=0.02, extend=beyond)
    _add_legend(panel, axes is None)
    return panel


# The kinds differ in width, dashes and lightness, so that readers need not distinguish hues.
_STYLES: dict[str, dict[str, Any]] = {
    "demonstrated": {"color": "#111111", "linewidth": 4.6, "linestyle": "-", "zorder": 5.0},
    "planned": {"color": "#D55E00", "linewidth": 2.4, "linestyle": (0, (3, 1)), "zorder": 6.0},
}
_BLOCKED = "#26282c"
_FREE = "#f4f1ea"
_ROAD = "#b9bec4"
MAX_LAYOUT_NODES = 300
"""The maximum number of nodes for which a map computes missing coordinates. For 300 nodes this
takes about two seconds, and the time grows faster than the number of nodes."""
MAX_NAMED_NODES = 40
"""The maximum number of nodes whose labels a map shows. More labels would cover each other."""
MAX_THICK_PATHS = 8
"""The maximum number of plans or demonstrations drawn with thick lines and large end points. If
there are more, all are drawn with thin lines, so that they do not cover each other."""


def _colour_norm(values: Array | None) -> Any:
    from matplotlib.colors import Normalize

    if values is None:
        return None
    known = values[np.isfinite(values)]
    # Colours end at the 98th percentile, because otherwise a few very high costs would leave a
    # single colour for all others.
    high = float(np.percentile(known, 98, method="higher"))
    return Normalize(float(known.min()), high)


def _tasks(where: Any) -> Sequence[Task]:
    if isinstance(where, Graph):
        return []
    tasks = [where] if isinstance(where, Task) else where
    if not isinstance(tasks, Sequence) or not all(isinstance(one, Task) for one in tasks):
        kind = type(where).__name__
        raise InputError(f"a picture needs a Task, a list of tasks or a Graph, got {kind}")
    if not tasks:
        raise InputError("the list of tasks is empty; pass a Graph to draw no paths")
    return tasks


class _Drawing:
    """The data of a map: a graph with node coordinates, demonstrations, and plans."""

    def __init__(self, where: Any, planned: Any) -> None:
        tasks = _tasks(where)
        graph = self.graph = where if isinstance(where, Graph) else tasks[0].graph
        shown = [path for one in tasks for path in one.demonstrations]
        given = {"demonstrated": shown, "planned": planned}
        self.routes = {kind: self._paths(kind, some) for kind, some in given.items()}
        ends = [(one.source, one.target) for one in tasks] or [
            (path.source, path.target) for some in self.routes.values() for path in some
        ]
        self.ends = list(dict.fromkeys(ends))
        self.grid = graph.labels.shape if isinstance(graph.labels, Cells) else None
        self.xy = _layout(graph) if graph.position is None else graph.position
        # Cells without an arc are obstacles.
        self.used = np.zeros(graph.nodes, dtype=bool)
        self.used[graph.tail] = self.used[graph.head] = True
        # All arcs between two nodes are drawn as a single edge.
        low = np.minimum(graph.tail, graph.head)
        high = np.maximum(graph.tail, graph.head)
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
                raise InputError(
                    f"{kind}: {path!r} is a path of another graph; pass a path of the graph in "
                    "the picture"
                )
            made.append(path)
        return made

    def values(self, costs: Any) -> Array | None:
        """Return the costs that the colours show, or None if the caller passed no costs."""
        if costs is None:
            return None
        graph = self.graph
        learned = isinstance(costs, LearnedCosts)
        C = costs.site_costs(graph) if learned else np.asarray(costs, dtype=np.float64)
        if C.shape not in ((graph.size,), (graph.arcs,)):
            raise InputError(
                f"costs must have shape ({graph.size},), one per site, or ({graph.arcs},), one per "
                f"arc, got {C.shape}{weights_hint(graph, C)}"
            )
        # The sites of a grid are its cells.
        if self.grid is not None and C.size == graph.size == graph.nodes:
            return np.where(self.used, C, np.nan)
        # Costs per site become costs per arc before means over lines or cells are taken.
        c = C
        if learned or C.size != graph.arcs:
            c = costs.costs(graph) if learned else graph.costs(C)
        if self.grid is None:
            return np.bincount(self.edge, c) / np.bincount(self.edge)
        length = np.linalg.norm(self.xy[graph.head] - self.xy[graph.tail], axis=1)
        entered = np.bincount(graph.head, minlength=graph.nodes)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.bincount(graph.head, c / length, graph.nodes) / entered

    def panel(self) -> Any:
        """Return the axes of a new figure with the proportions of the graph."""
        check_drawing()
        from matplotlib.figure import Figure

        wide, high = np.ptp(self.xy, axis=0)
        ratio = float(np.clip(high / wide if wide > 0.0 else 1.0, 0.35, 1.6))
        return Figure(figsize=(6.6, 5.6 * ratio + 0.9), layout="constrained").subplots()

    def cells(self, axes: Any, values: Array | None, norm: Any) -> Any:
        """Draw the cells of a grid.

        Return the image for the colour bar, or None if the cells have no colours.
        """
        from matplotlib.colors import ListedColormap

        free = self.used.reshape(self.grid)
        axes.imshow(free, cmap=ListedColormap([_BLOCKED, _FREE]), vmin=0, vmax=1, zorder=1)
        axes.set(xticks=[], yticks=[])
        if values is None:
            return None
        shown = np.ma.masked_invalid(np.where(self.used, values, np.nan)).reshape(self.grid)
        return axes.imshow(shown, cmap=_heat_colours(), norm=norm, zorder=2)

    def lines(self, axes: Any, values: Array | None, norm: Any) -> Any:
        """Draw the edges of a network.

        Return the lines for the colour bar, or None if the edges have no colours.
        """
        from matplotlib.collections import LineCollection

        count = len(self.edges)
        order = slice(None) if values is None else np.argsort(values, kind="stable")
        # Lines are thinner in networks of more edges, from 3.2 points to 0.4.
        width = float(np.clip(6.0 * count**-0.25, 0.4, 3.2))
        if values is not None and self.routes.get("planned"):
            # A plan stays wider than the roads, also in a picture without colours.
            width = min(width, 0.5 * _STYLES["planned"]["linewidth"])
        lines = LineCollection(
            list(self.xy[self.edges[order]]), linewidths=width, zorder=1, rasterized=count > 1000
        )
        if values is None:
            lines.set(color=_ROAD)
        else:
            lines.set(cmap=_heat_colours(), norm=norm, array=values[order])
        axes.add_collection(lines)
        axes.update_datalim(self.xy)  # The size includes nodes without arcs.
        axes.autoscale_view()
        axes.margins(0.06)
        axes.set_axis_off()
        if self.graph.nodes <= MAX_NAMED_NODES:
            self._names(axes)
        return None if values is None else lines

    def _names(self, axes: Any) -> None:
        box = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "0.6", "lw": 0.6}
        for node, place in enumerate(self.xy):
            name = str(self.graph.label(node))
            text = name if len(name) <= 12 else f"{name[:11]}…"
            axes.text(
                *place, text, size=7, ha="center", va="center", bbox=box, zorder=7, clip_on=True
            )

    def paths(self, axes: Any) -> None:
        """Draw the demonstrations and the plans."""
        from matplotlib import patheffects

        for kind, some in self.routes.items():
            style = dict(_STYLES[kind])
            style["linewidth"] *= 1.0 if len(some) <= MAX_THICK_PATHS else 0.3
            wide = 1.2 * style["linewidth"] + 0.6
            # A white rim separates paths that run over each other.
            halo = [patheffects.withStroke(linewidth=wide, foreground="white")]
            for place, path in enumerate(some):
                name = kind + (f", {len(some)} paths" if len(some) > 1 else "")
                label = name if place == 0 else None
                rounded = {"solid_capstyle": "round", "solid_joinstyle": "round"}
                line = self.xy[path.numbers].T
                axes.plot(*line, path_effects=halo, label=label, **style, **rounded)

    def marks(self, axes: Any) -> None:
        """Mark the sources and targets of the tasks."""
        size = 85 if len(self.ends) <= MAX_THICK_PATHS else 12
        order = 8.0
        # Markers are behind the labels of the nodes, and large enough to be seen around them.
        if self.grid is None and self.graph.nodes <= MAX_NAMED_NODES:
            size = 330
            order = 3.0
        for column, (name, marker, colour) in enumerate(
            (("source", "o", "white"), ("target", "D", "#F0E442"))
        ):
            at = sorted({pair[column] for pair in self.ends})
            if at:
                look: dict[str, Any] = {"s": size * (1.0 - 0.15 * column), "c": colour}
                look.update(edgecolors="black", zorder=order, clip_on=False)
                axes.scatter(*self.xy[at].T, marker=marker, label=name, **look)


def _heat_colours() -> Any:
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    # Dark lines with a white rim stand out on light to medium colours.
    return ListedColormap(colormaps["YlGnBu"](np.linspace(0.27, 0.78, 256)))


def _add_legend(axes: Any, alone: bool) -> None:
    handles, names = axes.get_legend_handles_labels()
    if not handles:
        return
    place: dict[str, Any] = {"loc": "outside lower center", "ncols": len(handles)}
    # In a figure with other axes, the legend is below its own axes.
    if not alone:
        place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.01), "ncols": min(4, len(names))}
    marks = 0.6 if len(axes.texts) else 1.0
    look = {"fontsize": "small", "frameon": False, "handlelength": 2.6, "markerscale": marks}
    (axes.figure if alone else axes).legend(handles, names, **place, **look)


def _is_place(label: Any) -> bool:
    is_pair = isinstance(label, tuple) and len(label) == 2
    return is_pair and all(isinstance(x, Real) and isfinite(x) for x in label)


def _layout(graph: Graph) -> Array:
    import networkx as nx

    # Nodes of networkx.grid_2d_graph, and of street networks read from geometries, are points.
    labels = [graph.label(node) for node in range(graph.nodes)]
    if all(map(_is_place, labels)):
        return np.array(labels, dtype=np.float64)
    if graph.nodes > MAX_LAYOUT_NODES:
        raise InputError(
            f"a picture of {graph.nodes} nodes needs their coordinates: {PLACES}; "
            f"missing coordinates are computed only for networks of up to {MAX_LAYOUT_NODES} nodes"
        )
    plain = nx.Graph(zip(graph.tail.tolist(), graph.head.tolist(), strict=True))
    plain.add_nodes_from(range(graph.nodes))
    # The layout needs a connected network, so that the first nodes of its parts are joined.
    first = [min(part) for part in nx.connected_components(plain)]
    plain.add_edges_from((first[0], other) for other in first[1:])
    found = nx.kamada_kawai_layout(plain)
    return np.array([found[node] for node in range(graph.nodes)], dtype=np.float64)
