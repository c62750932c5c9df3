"""Graphs as OSMnx makes them, written by hand after its documentation, with all their tags."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from relaxboost import InputError
from relaxboost import planning as pl


def streets():
    """Return a MultiDiGraph with list tags, parallel edges, a self-loop and holes in its tags."""
    G = nx.MultiDiGraph(crs="epsg:4326", created_with="OSMnx 2.0.0", simplified=True)
    places = [(15.42, 60.48), (15.43, 60.48), (15.43, 60.485), (15.42, 60.485)]
    for node, (x, y) in enumerate(places):
        G.add_node(100 + node, x=x, y=y, street_count=3)
    both = {"oneway": False, "lanes": "2", "osmid": 1, "maxspeed": "50", "highway": "residential"}
    for u, v, length in ((100, 101, 550.0), (101, 102, 556.0), (102, 103, 551.0)):
        G.add_edge(u, v, **both, reversed=False, length=length)
        G.add_edge(v, u, **both, reversed=True, length=length)
    merged = {"highway": ["primary", "residential"], "maxspeed": ["30 mph", "50"]}
    merged |= {"osmid": [2, 3], "lanes": ["1", "3"], "geometry": object()}
    main = {"highway": "primary", "maxspeed": "none", "name": "Storgatan", "bridge": "yes"}
    G.add_edge(100, 101, **merged, oneway=True, reversed=False, length=600.0)
    G.add_edge(103, 100, **main, osmid=4, oneway=True, length=560.0, reversed=False)
    G.add_edge(100, 102, osmid=5, highway="service", oneway=True, reversed=False, length=800.0)
    G.add_edge(101, 101, osmid=6, highway="service", oneway=False, reversed=False, length=90.0)
    # As ox.add_edge_speeds and ox.add_edge_travel_times add them.
    for place, (*_, data) in enumerate(G.edges(keys=True, data=True)):
        data.update(speed_kph=30.0 + place, travel_time=3.6 * data["length"] / (30.0 + place))
    return G


@pytest.fixture(scope="module")
def graph():
    return pl.from_osmnx(streets())


def column(graph, name):
    """Return a feature by the edge that has it."""
    ends = zip(graph.tail, graph.head, graph.keys, strict=True)
    values = graph.features[:, graph.names.index(name)].tolist()
    return {
        (graph.label(u), graph.label(v), key): value
        for (u, v, key), value in zip(ends, values, strict=True)
    }


def test_lengths_classes_and_keys(graph):
    kinds = ("highway=primary", "highway=residential", "highway=service")
    assert graph.names == ("length", "travel_time", *kinds)
    lengths = {edge[:3]: edge[3] for edge in streets().edges(keys=True, data="length")}
    del lengths[101, 101, 0]
    assert column(graph, "length") == lengths
    first = column(graph, "highway=primary")
    assert {edge for edge, value in first.items() if value} == {(100, 101, 1), (103, 100, 0)}
    assert graph.features[:, 2:].sum(axis=1).tolist() == [1.0] * 9
    assert graph.arc(100, 101, 1) != graph.arc(100, 101, 0)


def test_speeds_and_travel_times_are_those_of_osmnx(graph):
    G = streets()
    for name in ("travel_time", "speed_kph"):
        wanted = {edge[:3]: edge[3] for edge in G.edges(keys=True, data=name)}
        del wanted[101, 101, 0]
        assert column(pl.from_osmnx(G, name), name) == wanted
    several, loops = sorted(graph.notes)
    assert loops == "self-loops left out: 1"
    assert several == "highway is a list on 1 edges; the first in the alphabet counts"


def test_other_tags():
    G = streets()
    for edge in [(103, 100, 0), (100, 102, 0)]:
        G.edges[edge]["lanes"] = 1
    made = pl.from_osmnx(G, ["lanes", "oneway", "bridge", "length*highway"])
    assert column(made, "lanes")[100, 101, 1] == 2.0
    assert column(made, "oneway")[100, 102, 0] == 1.0
    assert column(made, "oneway")[101, 102, 0] == 0.0
    assert [edge for edge, x in column(made, "bridge=yes").items() if x] == [(103, 100, 0)]
    assert sum(column(made, "bridge=missing").values()) == 8.0
    assert column(made, "length*highway=service")[100, 102, 0] == 800.0


@pytest.mark.parametrize("tag", ["2;3", [], None, "inf", pd.NA, 10**400, np.array([1, 2])])
def test_one_odd_tag_makes_no_text_of_numbers(tag):
    G = streets()
    nx.set_edge_attributes(G, 2, "lanes")
    G.edges[100, 101, 0]["lanes"] = tag
    with pytest.raises(InputError, match=r"'lanes' is not a number on 1 of 9 edges, .*100, 101, 0"):
        pl.from_osmnx(G, "lanes")


def test_a_graph_read_from_a_file_of_texts_is_the_same(graph):
    G = streets()
    for *_, data in G.edges(keys=True, data=True):
        data.update({name: str(value) for name, value in data.items()})
    for _, data in G.nodes(data=True):
        data.update(x=str(data["x"]), y=str(data["y"]))
    made = pl.from_osmnx(G)
    assert made.names == graph.names
    assert np.array_equal(made.features, graph.features)
    assert np.array_equal(made.position, graph.position)


def test_degrees_become_metres_and_projected_coordinates_stay(graph):
    far = np.linalg.norm(graph.position[graph.head] - graph.position[graph.tail], axis=1)
    straight = np.isin(graph.keys, [0]) & (graph.features[:, 0] < 580)
    assert far[straight] == pytest.approx(graph.features[straight, 0], rel=0.01)
    before, after = graph.arc(100, 101, 0), graph.arc(101, 102, 0)
    corner = pl.turn_angles(graph)(np.array([before]), np.array([after]))
    assert corner == pytest.approx(np.pi / 2, rel=1e-3)

    class Utm:
        is_geographic = False

    for crs in ("epsg:32633", "metres", Utm()):
        G = streets()
        G.graph["crs"] = crs
        for node, (x, y) in enumerate(graph.position):
            G.nodes[100 + node].update(x=x + 5e5, y=y + 6.7e6)
        made = pl.from_osmnx(G, "length")
        assert made.position == pytest.approx(graph.position + np.array([5e5, 6.7e6]))


def test_the_features_of_costs_are_made_again_for_another_town(graph):
    rows = [("mon", 100), ("mon", 101), ("mon", 102), ("tue", 103), ("tue", 102), ("tue", 101)]
    trips = pd.DataFrame(rows, columns=["trip", "node"])
    learned = pl.fit(pl.paths_from_pandas(trips, graph, parallel="length"), pl.Ridge(0.1))
    G = streets()
    G.remove_edge(100, 102)
    again = pl.from_osmnx(G, learned)
    assert again.names == learned.names
    assert learned.costs(again).shape == (8,)
    edges = pd.DataFrame({"trip": 1, "edge": [(100, 101, 1), (101, 102, 0)]})
    (task,) = pl.paths_from_pandas(edges, graph)
    assert task.demonstration.nodes == [100, 101, 102]
    assert task.demonstration.arcs[0] == graph.arc(100, 101, 1)


def without(change):
    G = streets()
    change(G)
    return G


def service(G):
    return G.edges[100, 102, 0]


BAD = [
    (nx.MultiGraph(streets()), {}, "needs a MultiDiGraph from OSMnx, got MultiGraph"),
    ("Borlänge", {}, "G must be a networkx graph, got str"),
    (nx.MultiDiGraph(crs="epsg:4326"), {}, "0 nodes and no edges"),
    (without(lambda G: G.graph.pop("crs")), {"features": "length"}, r"G.graph\[\"crs\"\] = \"met"),
    (without(lambda G: G.nodes[102].pop("x")), {"features": "length"}, "row 102: .lon. is nan"),
    (without(lambda G: service(G).pop("length")), {}, r"2, 0\) has no length; call ox.distance.ad"),
    (
        without(lambda G: service(G).pop("travel_time")),
        {},
        r"2, 0\) has no travel_time; call ox.add_edge_speeds\(G, hwy_speeds=...\) and ox.add",
    ),
    (
        without(lambda G: service(G).update(speed_kph=np.nan)),
        {"features": "speed_kph"},
        r"2, 0\) has no speed_kph; call ox.add_edge_speeds\(G, hwy_speeds=",
    ),
    (
        without(lambda G: service(G).update(travel_time=np.inf)),
        {},
        "has the travel_time inf, which must be a number >= 0; correct the travel_time",
    ),
    (
        without(lambda G: service(G).update(length=-800.0)),
        {},
        "has the length -800.0, which must be a number >= 0",
    ),
    (streets(), {"features": ["width"]}, "no edge has the attribute 'width'"),
    (streets(), {"features": "lanes"}, r"'lanes' is not a number on 2 of 9 edges, such as None on"),
]


@pytest.mark.parametrize(("G", "options", "message"), BAD)
def test_bad_graphs_are_refused_with_the_remedy(G, options, message):
    with pytest.raises(InputError, match=message):
        pl.from_osmnx(G, **options)
