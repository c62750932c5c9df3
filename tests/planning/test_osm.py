"""Graphs as OSMnx makes them, written by hand after its documentation, with all their tags."""

from __future__ import annotations

import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from relaxboost import InputError
from relaxboost import planning as pl

MPH = 1.609344


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
    return G


@pytest.fixture(scope="module")
def graph():
    with pytest.warns(pl.Imputed, match="speed_kph of 2 of 9 edges is the mean") as told:
        made = pl.from_osmnx(streets())
    assert len(told) == 1
    return made


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


def test_speeds_are_read_and_imputed_as_osmnx_does(graph):
    seconds = column(graph, "travel_time")
    merged = (30 * MPH + 50) / 2  # the only primary road with a number
    fallback = (merged + 50) / 2  # the mean of primary and residential
    assert seconds[101, 102, 0] == pytest.approx(556 / (50 / 3.6))
    assert seconds[100, 101, 1] == pytest.approx(600 / (merged / 3.6))
    assert seconds[103, 100, 0] == pytest.approx(560 / (merged / 3.6))  # "none" is no number
    assert seconds[100, 102, 0] == pytest.approx(800 / (fallback / 3.6))
    several, loops, imputed = sorted(graph.notes)
    assert loops == "self-loops left out: 1"
    assert several == "highway is a list on 1 edges; the first in the alphabet counts"
    assert imputed.endswith(f"their highway: primary {merged:.4g}, service {fallback:.4g}")


def test_speeds_of_the_user_and_attributes_of_osmnx_come_first():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        given = pl.from_osmnx(streets(), "speed_kph", speeds={"service": 15, "none": 110})
        assert column(given, "speed_kph")[100, 102, 0] == 15.0
        assert column(given, "speed_kph")[103, 100, 0] == 110.0
        assert "the speed of 2 of 9 edges comes from speeds" in given.notes
        G = streets()
        nx.set_edge_attributes(G, 36.0, "speed_kph")
        seconds = column(pl.from_osmnx(G, ["travel_time"]), "travel_time")
        assert seconds[101, 102, 0] == pytest.approx(55.6)
        nx.set_edge_attributes(G, 7.0, "travel_time")
        assert set(column(pl.from_osmnx(G, ["travel_time"]), "travel_time").values()) == {7.0}


@pytest.mark.parametrize(
    ("tag", "kph"),
    [
        ("50", 50.0),
        ("30 mph", 30 * MPH),
        ("5 knots", 5 * 1.852),
        ("60 km/h", 60.0),
        ("7,5", 7.5),
        ("50|30", 40.0),
        (["20 mph", "none", "40"], (20 * MPH + 40) / 2),
        ("['20 mph', '40']", (20 * MPH + 40) / 2),
        ("none", None),
        ("DE:urban", None),
        ("DE:zone:30", 30.0),
        ([50, 30.0], 40.0),
        ("0", None),
        ([], None),
        (float("nan"), None),
        (None, None),
        ("[", None),
    ],
)
def test_every_way_to_write_a_speed(tag, kph):
    G = streets()
    G.edges[100, 101, 0]["maxspeed"] = tag
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pl.Imputed)
        made = column(pl.from_osmnx(G, "speed_kph"), "speed_kph")
    assert made[100, 101, 0] == pytest.approx(50.0 if kph is None else kph)  # the class has 50


def test_other_tags():
    with pytest.warns(pl.Imputed, match="lanes of 2 of 9 edges .* primary 2, service 2"):
        made = pl.from_osmnx(streets(), ["lanes", "oneway", "bridge", "length*highway"])
    assert column(made, "lanes")[100, 101, 1] == 2.0
    assert column(made, "oneway")[100, 102, 0] == 1.0
    assert column(made, "oneway")[101, 102, 0] == 0.0
    assert [edge for edge, x in column(made, "bridge=yes").items() if x] == [(103, 100, 0)]
    assert sum(column(made, "bridge=missing").values()) == 8.0
    assert column(made, "length*highway=service")[100, 102, 0] == 800.0


@pytest.mark.parametrize("tag", ["2;3", [], None, "inf", pd.NA, 10**400, np.array([1, 2])])
def test_one_odd_tag_makes_no_text_of_numbers(tag):
    G = streets()
    G.edges[100, 101, 0]["lanes"] = tag
    with pytest.warns(pl.Imputed, match="lanes of 3 of 9 edges"):
        made = pl.from_osmnx(G, "lanes")
    assert made.names == ("lanes",)
    assert column(made, "lanes")[100, 101, 0] == 2.0  # as other residential roads


def test_a_graph_read_from_a_file_of_texts_is_the_same(graph):
    G = streets()
    for *_, data in G.edges(keys=True, data=True):
        data.update({name: str(value) for name, value in data.items()})
    for _, data in G.nodes(data=True):
        data.update(x=str(data["x"]), y=str(data["y"]))
    with pytest.warns(pl.Imputed):
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
    with pytest.warns(pl.Imputed):
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
    (without(lambda G: service(G).pop("length")), {}, r"2, 0\) has no length; add lengths"),
    (
        without(lambda G: service(G).update(length=-800.0)),
        {},
        "has the length -800, which must be >= 0",
    ),
    (streets(), {"features": ["width"]}, "no edge has the attribute 'width'"),
    (streets(), {"speeds": {"service": "fast"}}, "speeds must be a positive number, got 'fast'"),
    (streets(), {"speeds": {"service": -30}}, "speeds must be a positive number, got -30"),
]


@pytest.mark.parametrize(("G", "options", "message"), BAD)
def test_bad_graphs_are_refused_with_the_remedy(G, options, message):
    with pytest.raises(InputError, match=message):
        pl.from_osmnx(G, **options)


def test_speeds_that_nothing_tells_are_refused():
    G = streets()
    for *_, data in G.edges(keys=True, data=True):
        data.pop("maxspeed", None)
    with pytest.raises(InputError, match="pass speeds="):
        pl.from_osmnx(G)
    with pytest.warns(pl.Imputed, match="primary 30, service 30"):
        assert pl.from_osmnx(G, speeds={"residential": 30}).names[1] == "travel_time"
