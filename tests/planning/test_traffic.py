"""Traffic of random trips, and public networks as graphs, on ones small enough to see through."""

from __future__ import annotations

import numpy as np
import pytest

from relaxboost import planning as pl
from relaxboost._core.errors import InputError
from relaxboost.planning.readers import (
    Into,
    Routes,
    link_graph,
    link_tasks,
    road_graph,
    road_target,
)
from relaxboost.planning.readers.tntp import RoadNetwork


def test_traffic_against_trips_one_by_one():
    rng = np.random.default_rng(0)
    pairs = np.unique(rng.integers(0, 15, (50, 2)), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    graph = pl.Graph(pairs[:, 0], pairs[:, 1], nodes=15)
    costs = rng.random(graph.arcs)
    wanted = np.zeros(graph.arcs)
    for row in np.random.default_rng(3).integers(0, 15, (5, 21)).tolist():
        for target in row[1:]:
            if target != row[0]:
                try:
                    plan = pl.shortest_path(graph, costs, row[0], target)
                except pl.NoPath:
                    continue
                wanted[plan.path.arcs] += 1.0
    assert np.array_equal(pl.traffic(graph, costs, trips=100, seed=3), wanted)
    with pytest.raises(InputError, match="traffic needs costs >= 0"):
        pl.traffic(graph, costs - 1.0)


def routes():
    """Return links 1 -> 2 -> 3 with a way left from 1 to 3, and destination 9 after 3."""
    return Routes(
        3,
        np.array([[1, 2], [1, 3], [2, 3], [3, 1]]),
        np.array([1.0, 2.0, 0.5, 1.0]),
        np.array([0.0, -1.5, 0.2, np.pi]),
        np.array([[3, 9]]),
        (np.array([1, 2, 3]), np.array([1, 3])),
        np.array([9, 9]),
    )


def test_links_are_nodes_and_destinations_have_no_features():
    graph = link_graph(routes())
    assert graph.names == ("time", "left turn", "u-turn", "link")
    assert (graph.nodes, graph.arcs) == (4, 5)
    assert graph.features.tolist() == [
        [1.0, 0.0, 0.0, 1.0],
        [2.0, 1.0, 0.0, 1.0],
        [0.5, 0.0, 0.0, 1.0],
        [1.0, 0.0, 1.0, 1.0],
        [0.0, 0.0, 0.0, 0.0],
    ]
    tasks = link_tasks(routes(), graph)
    assert [task.demonstration.nodes for task in tasks] == [[1, 2, 3, 9], [1, 3, 9]]
    assert [task.name for task in link_tasks(routes(), graph, trips=np.array([1]))] == ["trip 1"]
    report = pl.evaluate(tasks, graph.features[:, 0])
    assert report.each.exact.tolist() == [1.0, 0.0]
    assert report.metric("node_recall") == 1.0


def test_rich_features_of_links_look_at_the_network():
    graph = link_graph(routes(), "rich", trips=20)
    assert graph.names[:4] == link_graph(routes()).names
    column = {name: graph.features[:, j] for j, name in enumerate(graph.names)}
    assert column["left at junction"].tolist() == [0, 1, 0, 0, 0]
    assert column["junction"].tolist() == [1, 1, 0, 0, 0]
    assert column["merging"].tolist() == [0, 1, 1, 0, 0]
    assert column["slight turn"].tolist() == [0, 0, 0, 0, 0]
    assert sum(column[f"time in class {k}"] for k in range(6)).tolist() == [1, 2, 0.5, 1, 0]
    assert (graph.features >= 0.0).all()
    with pytest.raises(InputError, match="plain"):
        link_graph(routes(), "poor")


def test_no_route_passes_through_a_centroid():
    ones = np.ones(4)
    have = {"free_flow_time": ones, "length": 2 * ones, "capacity": ones, "b": ones, "power": ones}
    network = RoadNetwork(
        "tiny", 4, 2, 3, np.array([1, 3, 2, 4]), np.array([3, 2, 4, 1]), have, volume=3 * ones
    )
    graph = road_graph(network, ("free_flow_time", "delay", "congested_time", "length"))
    assert graph.features[0].tolist() == [1.0, 3.0, 4.0, 2.0]
    assert (road_target(network, 2), road_target(network, 3)) == (Into(2), 3)
    plan = pl.shortest_path(graph, np.ones(4), 1, road_target(network, 2))
    assert plan.path.nodes == [1, 3, Into(2)]
    with pytest.raises(pl.NoPath):  # it would lead through 2
        pl.shortest_path(graph, np.ones(4), 1, 4)
    with pytest.raises(InputError, match="no 'colour'"):
        road_graph(network, ("colour",))
    with pytest.raises(InputError, match="needs traffic"):
        road_graph(network._replace(volume=None), ("delay",))
