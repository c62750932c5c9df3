"""What readers read, as graphs to plan on."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.readers import (
    Into,
    link_graph,
    link_tasks,
    read_network,
    read_routes,
    road_graph,
    road_target,
)
from relaxboost import planning as pl
from relaxboost._core.errors import InputError
from tests.benchmarks.readers.made import write
from tests.benchmarks.readers.test_borlange import write_texts
from tests.benchmarks.readers.test_tntp import FLOW, NET, NODES


def test_no_route_passes_through_a_centroid(tmp_path):
    path = write(tmp_path / "Small_net.tntp", NET)
    network = read_network(path, nodes=write(tmp_path / "nodes", NODES))
    graph = road_graph(network)
    assert graph.names == ("free_flow_time", "length")
    assert graph.features[:, 1].tolist() == [5280, 2, 6, 4]
    assert [road_target(network, node) for node in (1, 2, 3)] == [Into(1), Into(2), 3]
    plan = pl.shortest_path(graph, np.ones(4), 1, road_target(network, 2))
    assert plan.path.nodes == [1, 3, 4, Into(2)]
    with pytest.raises(pl.NoPath):  # 2 leads on, and what enters it does not
        pl.shortest_path(graph, np.ones(4), 4, 3)
    for label in (2, Into(2)):
        assert graph.position[graph.node(label)].tolist() == [1000, 2]
    assert road_graph(read_network(path)).position is None


def test_attributes_and_flows_are_features(tmp_path):
    path, flow = write(tmp_path / "Small_net.tntp", NET), write(tmp_path / "flow", FLOW)
    graph = road_graph(read_network(path, flow), ["capacity", "volume"])
    assert graph.features[0].tolist() == [9000, 7074.9]
    with pytest.raises(InputError, match="network Small has no 'volume'; there are capacity"):
        road_graph(read_network(path), ["volume"])


def test_trips_are_tasks_on_the_graph_of_links(tmp_path):
    routes = read_routes(write_texts(tmp_path))
    graph = link_graph(routes)
    assert graph.names == ("time", "left turn", "u-turn", "link")
    assert graph.features[:5, 0].tolist() == routes.time.tolist()
    assert not graph.features[5:].any()  # to destinations
    tasks = link_tasks(routes, graph)
    assert [task.demonstration.nodes for task in tasks] == [[1, 2, 3, 5], [1, 4]]
    assert [task.name for task in link_tasks(routes, graph, trips=np.array([1]))] == ["trip 1"]
    assert link_tasks(routes, graph, pl.Hamming())[0].loss == pl.Hamming()
