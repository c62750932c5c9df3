"""Pictures: what is drawn where, in which colours, and what cannot be drawn."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from relaxboost import InputError
from relaxboost import planning as pl
from relaxboost.planning import maps
from relaxboost.views import plots

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
    other = land.path([(0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (2, 3), (1, 3)])
    C = np.arange(12.0)
    figure = maps.paths(task, planned=task.demonstration, alternatives=[other], costs=C)
    axes, bar = figure.axes
    free, costs = axes.images
    assert np.array_equal(free.get_array(), FREE)
    shown = costs.get_array()
    assert np.array_equal(shown.mask, ~FREE)
    assert np.array_equal(shown.compressed(), C.reshape(3, 4)[FREE])
    assert bar.get_ylabel() == "cost"
    drawn = lines(axes)
    assert drawn["demonstrated"] == drawn["planned"] == [[c, r] for r, c in around]
    assert drawn["alternative"] == [[c, r] for r, c in other.nodes]
    assert markers(axes) == {"source": [[0.0, 0.0]], "target": [[3.0, 1.0]]}
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["demonstrated", "planned", "alternative", "source", "target"]


def test_costs_of_arcs_are_shown_per_length(land):
    axes = maps.paths(land, costs=land.costs(np.full(12, 5.0))).axes[0]
    assert axes.images[1].get_array().compressed() == pytest.approx(5.0)
    task = pl.Task(land, (0, 0), (1, 3), [(0, 0), (0, 1), (0, 2), (0, 3), (1, 3)])
    fit = pl.fit([task], pl.Ridge(0.1))
    axes = maps.paths(land, costs=fit).axes[0]
    shown = axes.images[1].get_array().compressed()
    assert shown == pytest.approx((np.arange(12.0).reshape(3, 4)[FREE]) * fit.w[0])


def test_a_network_is_lines_with_the_mean_cost_of_their_arcs(town):
    figure = maps.paths(town, planned=town.path(["a", "c", "d"]), costs=town.features[:, 0])
    axes = figure.axes[0]
    edges = axes.collections[0]
    ends = [tuple(map(tuple, one)) for one in np.array(edges.get_segments()).tolist()]
    found = dict(zip(ends, edges.get_array().tolist(), strict=True))
    a, b, c, d = map(tuple, town.position.tolist())
    assert found == {(a, b): 2.0, (a, c): 2.0, (b, d): 1.0, (c, d): 1.0}
    assert lines(axes)["planned"] == [list(a), list(c), list(d)]
    assert markers(axes) == {"source": [list(a)], "target": [list(d)]}
    assert sorted(text.get_text() for text in axes.texts) == list("abcd")


def test_networks_without_coordinates_are_laid_out_alike_each_time():
    tail, head = np.array(list(itertools.pairwise([*range(9), 0]))).T
    ring = pl.Graph(tail, head)
    first, second = (np.array(lines_of(maps.paths(ring, costs=np.ones(9)))) for _ in range(2))
    assert np.array_equal(first, second)
    assert np.isfinite(first).all()
    long = pl.Graph(np.arange(4000), np.arange(1, 4001))
    with pytest.raises(InputError, match="4001 nodes has no position"):
        maps.paths(long, costs=np.ones(4000))


def lines_of(figure):
    return figure.axes[0].collections[0].get_segments()


def test_before_and_after_share_a_scale(land):
    task = pl.Task(land, (0, 0), (2, 2), [(0, 0), (0, 1), (0, 2), (0, 3), (1, 3), (2, 3), (2, 2)])
    before, after = np.ones(12), np.where(np.arange(12) == 4, 50.0, 1.0)
    figure = maps.before_after(task, before, after, names=("one", "two"))
    left, right, _ = figure.axes
    assert left.images[1].get_clim() == right.images[1].get_clim() == (1.0, 50.0)
    assert left.get_title() == "one: the shortest path has loss 6"
    assert right.get_title() == "two: the shortest path has loss 0"
    assert lines(left)["planned"][1] == [0.0, 1.0]
    assert lines(right)["planned"] == lines(right)["demonstrated"] == lines(left)["demonstrated"]


def test_logarithmic_colours_need_costs_above_zero(land):
    figure = maps.paths(land, costs=np.arange(1.0, 13.0), scale="log")
    assert type(figure.axes[0].images[1].norm).__name__ == "LogNorm"
    with pytest.raises(InputError, match="the least cost is 0"):
        maps.paths(land, costs=np.arange(12.0), scale="log")
    with pytest.raises(InputError, match="scale must be linear or log"):
        maps.paths(land, costs=np.ones(12), scale="square")


def test_styles_differ_without_colour(land):
    task = pl.Task(land, (0, 0), (0, 2), [(0, 0), (0, 1), (0, 2)])
    figure = maps.paths(task, planned=task.demonstration, alternatives=task.demonstration)
    drawn = figure.axes[0].get_lines()
    assert len({line.get_linewidth() for line in drawn}) == 3
    widest = max(drawn, key=lambda line: line.get_linewidth())
    assert widest.get_label() == "demonstrated"
    assert widest.get_zorder() < next(
        line.get_zorder() for line in drawn if line.get_label() == "planned"
    )


def test_what_cannot_be_drawn(land, town):
    with pytest.raises(InputError, match="a picture needs a Task or a Graph, got str"):
        maps.paths("map")
    with pytest.raises(InputError, match="planned must be a Path, a Plan or a list of these"):
        maps.paths(land, planned=[(0, 0), (0, 1)])
    with pytest.raises(InputError, match="is a path of another graph"):
        maps.paths(land, planned=town.path(["a", "b"]))
    with pytest.raises(InputError, match=r"costs need shape \(12,\), one a site"):
        maps.paths(land, costs=np.ones(3))
    with pytest.raises(InputError, match="before_after needs a Task"):
        maps.before_after(land, np.ones(12), np.ones(12))


def test_pictures_are_saved(land, tmp_path):
    for suffix, magic in ((".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")):
        path = tmp_path / f"land{suffix}"
        plots.save(maps.paths(land, costs=np.ones(12)), path)
        assert path.read_bytes().startswith(magic)
