"""Pictures: what is drawn where, in which colours, and what cannot be drawn."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from matplotlib.figure import Figure

from relaxboost import InputError
from relaxboost import planning as pl
from relaxboost.commands import plan_show
from relaxboost.planning import maps
from relaxboost.views import plots

from . import small

FREE = np.array([[c == "." for c in row] for row in ("....", ".@@.", "....")])


@pytest.fixture(scope="module")
def land():
    return pl.grid(np.arange(12.0).reshape(1, 3, 4), FREE, names=["height"])


@pytest.fixture(scope="module")
def town():
    tail, head = [0, 1, 0, 2, 1], [1, 3, 2, 3, 0]
    X = [[1.0], [1.0], [2.0], [1.0], [3.0]]
    position = [[0.0, 0.0], [1.0, 1.0], [1.0, -1.0], [2.0, 0.0]]
    return pl.Graph(tail, head, X, nodes=list("abcd"), position=position)


def lines(axes):
    """Return the points of each path drawn, by its name in the legend."""
    return {line.get_label(): np.array(line.get_data()).T.tolist() for line in axes.get_lines()}


def markers(axes):
    return {
        kind.get_label(): kind.get_offsets().tolist()
        for kind in axes.collections
        if kind.get_label() in ("source", "target")
    }


def test_a_grid_has_obstacles_costs_and_paths(land):
    around = [(0, 0), (0, 1), (0, 2), (0, 3), (1, 3)]
    task = pl.Task(land, (0, 0), (1, 3), around)
    C = np.arange(12.0)
    axes = maps.paths(task, planned=task.demonstration, costs=C)
    figure, bar = axes.figure, axes.figure.axes[1]
    free, costs = axes.images
    assert np.array_equal(free.get_array(), FREE)
    shown = costs.get_array()
    assert np.array_equal(shown.mask, ~FREE)
    assert np.array_equal(shown.compressed(), C.reshape(3, 4)[FREE])
    assert bar.get_ylabel() == "cost"
    drawn = lines(axes)
    assert drawn["demonstrated"] == drawn["planned"] == [[c, r] for r, c in around]
    assert markers(axes) == {"source": [[0.0, 0.0]], "target": [[3.0, 1.0]]}
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["demonstrated", "planned", "source", "target"]


def test_costs_of_arcs_are_shown_per_length(land):
    axes = maps.paths(land, costs=land.costs(np.full(12, 5.0)))
    assert axes.images[1].get_array().compressed() == pytest.approx(5.0)
    task = pl.Task(land, (0, 0), (1, 3), [(0, 0), (0, 1), (0, 2), (0, 3), (1, 3)])
    with pytest.warns(UserWarning, match="shortest path by each feature"):
        fit = pl.fit([task], pl.Ridge(0.1))
    axes = maps.paths(land, costs=fit)
    shown = axes.images[1].get_array().compressed()
    assert shown == pytest.approx((np.arange(12.0).reshape(3, 4)[FREE]) * fit.w[0])


def test_a_network_is_lines_with_the_mean_cost_of_their_arcs(town):
    axes = maps.paths(town, planned=town.path(["a", "c", "d"]), costs=town.features[:, 0])
    edges = axes.collections[0]
    ends = [tuple(map(tuple, one)) for one in np.array(edges.get_segments()).tolist()]
    found = dict(zip(ends, edges.get_array().tolist(), strict=True))
    a, b, c, d = map(tuple, town.position.tolist())
    assert found == {(a, b): 2.0, (a, c): 2.0, (b, d): 1.0, (c, d): 1.0}
    plan = axes.get_lines()[0].get_linewidth()  # in grey a plan is told from roads by its width
    assert edges.get_linewidths()[0] <= 0.5 * plan
    assert lines(axes)["planned"] == [list(a), list(c), list(d)]
    assert markers(axes) == {"source": [list(a)], "target": [list(d)]}
    assert sorted(text.get_text() for text in axes.texts) == list("abcd")


def test_networks_without_coordinates_are_laid_out_alike_each_time():
    tail, head = np.array(list(itertools.pairwise([*range(9), 0]))).T
    ring = pl.Graph(tail, head)
    first, second = (np.array(maps.paths(ring).collections[0].get_segments()) for _ in range(2))
    assert np.array_equal(first, second)
    assert np.isfinite(first).all()


def test_nodes_with_pairs_of_numbers_as_labels_are_drawn_there():
    streets = pl.from_networkx(nx.grid_2d_graph(18, 17))  # more nodes than a layout is made for
    path = [(0, 0), (1, 0), (1, 1)]
    drawn = lines(maps.paths(streets, planned=streets.path(path)))
    assert drawn["planned"] == [list(label) for label in path]


def test_large_networks_are_faint_and_rasterised(planar):
    graph = planar
    plan = pl.shortest_path(graph, graph.features[:, 0], 3, 77)
    axes = maps.paths(graph, planned=plan, costs=graph.features[:, 0])
    ground = axes.collections[0]
    assert ground.get_rasterized()
    route = axes.get_lines()[0]
    assert ground.get_linewidths()[0] < 0.5 * route.get_linewidth()
    assert np.array_equal(np.sort(ground.get_array()), ground.get_array())  # the dear on top
    top = np.array([0.299, 0.587, 0.114]) @ ground.get_cmap()(1.0)[:3]
    assert top > 0.25  # in grey too, no road is as dark as a demonstration
    assert axes.figure.legends
    assert axes.get_legend() is None
    before = np.array([axes.get_xlim(), axes.get_ylim()])
    plan_show._crop(axes)
    after, line = np.array([axes.get_xlim(), axes.get_ylim()]), np.array(route.get_data())
    assert (after[:, 0] <= line.min(axis=1)).all()
    assert (after[:, 1] >= line.max(axis=1)).all()
    assert np.ptp(after, axis=1).max() < 0.9 * np.ptp(before, axis=1).max()
    assert (after[:, 0] >= before[:, 0]).all()
    assert (after[:, 1] <= before[:, 1]).all()


@pytest.fixture(scope="module")
def planar():
    return small.planar(np.random.default_rng(0), 1500)


def test_styles_differ_without_colour(land):
    task = pl.Task(land, (0, 0), (0, 2), [(0, 0), (0, 1), (0, 2)])
    drawn = maps.paths(task, planned=task.demonstration).get_lines()
    assert len({line.get_linewidth() for line in drawn}) == 2
    assert [line.get_linestyle() for line in drawn] == ["-", "--"]
    widest = max(drawn, key=lambda line: line.get_linewidth())
    assert widest.get_label() == "demonstrated"
    assert widest.get_zorder() < next(
        line.get_zorder() for line in drawn if line.get_label() == "planned"
    )


def test_a_few_dear_arcs_leave_colours_to_the_others(planar):
    graph = planar
    c = graph.features[:, 0].copy()
    c[0] = 1e6
    axes = maps.paths(graph, costs=c)
    assert axes.collections[0].norm.vmax < 1.0
    assert axes.figure.axes[1]._colorbar.extend == "max"


def test_pictures_are_saved(land, tmp_path):
    path = tmp_path / "land.svg"
    plots.save(maps.paths(land, costs=np.ones(12)), path)
    assert path.read_bytes().startswith(b"<?xml")
    task = pl.Task.along(land.path([(0, 0), (0, 1)]))
    pair = [maps.paths(task, axes=axes) for axes in Figure().subplots(1, 2)]
    plots.save(pair, tmp_path / "pair.png")
    assert (tmp_path / "pair.png").stat().st_size > 0
    with pytest.raises(InputError, match="axes must belong to one figure, got Axes of 2"):
        plots.save((pair[0], maps.paths(land)), path)


def test_many_paths_are_thin(planar):
    graph = planar
    ends = np.random.default_rng(1).choice(graph.nodes, (12, 2), replace=False).tolist()
    tasks = [
        pl.Task.along(pl.shortest_path(graph, graph.features[:, 0], *pair).path) for pair in ends
    ]
    few, many = maps.paths(tasks[:3]), maps.paths(tasks)
    assert len(many.get_lines()) == 12
    assert many.get_lines()[0].get_linewidth() < 0.5 * few.get_lines()[0].get_linewidth()
    assert many.collections[1].get_sizes()[0] < 0.5 * few.collections[1].get_sizes()[0]
