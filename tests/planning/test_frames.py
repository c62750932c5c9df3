"""Graphs and tasks from tables, and every way in which a table can be wrong."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

from relaxboost import InputError
from relaxboost import planning as pl


def roads(**columns):
    """Return five one-way roads a -> b -> c -> d, a -> d, and a second a -> b."""
    table = {
        "u": ["a", "b", "c", "a", "a"],
        "v": ["b", "c", "d", "d", "b"],
        "length": [1.0, 2.0, 3.0, 9.0, 1.5],
        "highway": ["primary", "residential", "primary", "tertiary", "primary"],
    }
    return pd.DataFrame(table | columns)


def trips(*paths, by="node"):
    rows = [(trip, name) for trip, path in enumerate(paths) for name in path]
    return pd.DataFrame(rows, columns=["trip", by])


NAMED = roads(id=[10, 11, 12, 13, 14])
TWO_WAY = pd.concat([roads(), roads().iloc[1:].rename(columns={"u": "v", "v": "u"})])
AT = pd.DataFrame({"x": [0.0, 0, 1, 1], "y": [0.0, 1, 1, 0]}, index=["a", "b", "c", "d"])


def test_numbers_texts_and_products_are_features():
    graph = pl.from_pandas(roads(), features=["length", "highway", "length*highway"], nodes=AT)
    kinds = ["primary", "residential", "tertiary"]
    classes = [f"highway={kind}" for kind in kinds]
    assert graph.names == ("length", *classes, *(f"length*{name}" for name in classes))
    given = roads()
    for arc, row in given.iterrows():
        one_hot = [float(row.highway == kind) for kind in kinds]
        wanted = [row.length, *one_hot, *(row.length * one for one in one_hot)]
        assert graph.features[arc].tolist() == wanted
        ends = graph.label(graph.tail[arc]), graph.label(graph.head[arc])
        assert ends == (row.u, row.v)
    assert np.array_equal(graph.position, AT.to_numpy())
    assert pl.from_pandas(roads()).names == ("length", *classes)  # all columns by default


def test_texts_and_numbers_of_every_type():
    for dtype in ("category", "string", object):
        kinds = pd.Series([1, 2, 1, 3, 1] if dtype == "category" else list("12131"), dtype=dtype)
        graph = pl.from_pandas(roads(kind=kinds), features=["kind"])
        assert graph.names == ("kind=1", "kind=2", "kind=3")
        assert graph.features.argmax(axis=1).tolist() == [0, 1, 0, 2, 0]
    for dtype in ("Int64", "uint8", object):
        graph = pl.from_pandas(roads(kind=pd.Series(range(5), dtype=dtype)), features="kind")
        assert graph.features.ravel().tolist() == [0, 1, 2, 3, 4]
    toll = pl.from_pandas(roads(toll=[True, False, True, True, False]), features="toll")
    assert toll.features.ravel().tolist() == [1, 0, 1, 1, 0]


def test_features_of_a_graph_or_of_costs_are_made_again(tmp_path):
    first = pl.from_pandas(roads(), features=["length*highway", "length"])
    learned = pl.fit(pl.paths_from_pandas(trips("abcd"), first, parallel="length"), pl.Ridge(0.1))
    pl.save_model(learned, tmp_path / "costs.json")
    fewer = roads().iloc[[3, 0]]  # neither residential roads nor the order of the columns
    for like in (first, learned, pl.load_model(tmp_path / "costs.json")):
        second = pl.from_pandas(fewer[["highway", "length", "v", "u"]], features=like)
        assert second.names == first.names
        assert np.array_equal(second.features, first.features[[3, 0]])
        assert np.array_equal(learned.costs(second), learned.costs(first)[[3, 0]])
    strange = roads(highway=["primary", "busway", "primary", "x", "primary"])
    with pytest.raises(InputError, match="row 1: column 'highway' has the value 'busway', for"):
        pl.from_pandas(strange, features=learned)
    ignored = pl.from_pandas(strange, features=learned, unseen="ignore")
    assert ignored.features[1].tolist() == [0, 0, 0, 2.0]
    assert ignored.features[[0, 2]].tolist() == first.features[[0, 2]].tolist()
    with pytest.raises(InputError, match="edges has no column 'highway', only u, v, length"):
        pl.from_pandas(roads().drop(columns="highway"), features=learned)


def test_columns_whose_names_are_reserved_or_numbers_are_found_whole():
    table = roads(**{"a*b": [1.0, 2, 3, 4, 5], "a=b": 2.0, "of=x*y": list("ppqqp")})
    table[5] = 7.0
    graph = pl.from_pandas(table)
    assert graph.names[4:] == ("a*b", "a=b", "of=x*y=p", "of=x*y=q", "5")
    assert graph.features[:, 4].tolist() == [1, 2, 3, 4, 5]
    assert graph.features[:, 6].tolist() == [1, 1, 0, 0, 1]
    again = pl.from_pandas(table.iloc[:2], features=graph)
    assert np.array_equal(again.features, graph.features[:2])
    with pytest.raises(InputError, match="two columns named '5'; rename one"):
        pl.from_pandas(table.assign(**{"5": 1.0}))


CALLED = roads().set_axis([5, 7, 9, 11, 13])
LENGTH = pl.from_pandas(roads(), features="length")
BAD_EDGES = [
    (roads().iloc[:0], {}, "edges must be a pandas.DataFrame with rows, got DataFrame without any"),
    ([("a", "b")], {}, "edges must be a pandas.DataFrame with rows, got list"),
    (roads(), {"source": "from"}, r"edges has no column 'from', only u, v, .*or rename another"),
    (roads(), {"features": ["toll"]}, "edges has no column 'toll'"),
    (roads(), {"features": "length*toll"}, "edges has no column 'toll'"),
    (roads(), {"features": [5]}, r"features must be column names, .*got \[5\]"),
    (roads().set_axis(["u", "v", "u", "highway"], axis=1), {}, "two columns named 'u'"),
    (roads(), {"nodes": [1, 2]}, "nodes must be a pandas.DataFrame with rows, got list"),
    (roads(), {"features": "highway*v"}, "may use one text column"),
    (roads()[["u", "v"]], {}, "edges has no features; use at least one column other than"),
    (roads(u=["a", "b", "c", "d", "a"]), {}, "row 3: 'd' -> 'd' is a self-loop"),
    (
        roads(u=["a", "b", [0, 1], "d", "a"]),
        {},
        r"row 2: \[0, 1\] -> .*tuples instead of lists",
    ),
    (roads(u=["a", None, "c", "a", "a"]), {}, "row 1: 'u' is (None|nan)"),
    (roads(length=[1.0, 2.0, np.nan, 1.0, np.nan]), {}, r"row 2: 'length' is nan \(2 in all"),
    (roads(length=[1.0, 2.0, np.inf, 1.0, 1.0]), {}, "row 2: 'length' is .*inf"),
    (roads(highway=["a", "b", None, "d", "e"]), {}, "row 2: 'highway' is (None|nan)"),
    (NAMED, {"unseen": "guess"}, "unseen must be"),
    (roads(), {"nodes": AT.iloc[:3]}, "has no row for the node 'd' of edges "),
    (roads(), {"nodes": AT.set_axis([*"abc", 7])}, "for the node 'd' of edges .1 in all.; add"),
    (roads(), {"nodes": AT.drop(columns="y")}, "nodes has no column 'y'"),
    (roads(), {"nodes": AT.assign(x=[0.0, np.nan, 0, 0])}, "nodes, row 'b': 'x' is .*nan"),
    (CALLED.assign(length=[1.0, np.nan, 1.0, 1.0, 1.0]), {}, "edges, row 7: "),
    (CALLED.assign(u=["a", "c", "c", "a", "a"]), {}, "edges, row 7: "),
    (CALLED.assign(highway="busway"), {"features": pl.from_pandas(CALLED)}, "edges, row 5: "),
    (roads(length=["1 km"] * 5), {"features": LENGTH}, "column 'length' must contain numbers"),
    (roads(), {"nodes": pd.DataFrame({"lon": 31.2, "lat": 121.4}, index=AT.index)}, "swapped"),
]


@pytest.mark.parametrize(("edges", "options", "message"), BAD_EDGES)
def test_bad_edges_are_refused_with_row_and_remedy(edges, options, message):
    with pytest.raises(InputError, match=message):
        pl.from_pandas(edges, **options)


def test_numbers_that_are_names_are_no_features_without_a_word():
    message = "the whole numbers of column '{}' look like names of edges"
    for name in ("id", "way_id", "osmid"):
        named = roads(**{name: [7, 7, 9, 8, 8]})
        with pytest.warns(UserWarning, match=message.format(name)):
            assert name in pl.from_pandas(named).names
        pl.from_pandas(named, features=["length", name])  # asked for
    ends = {"u": range(12), "v": range(1, 13), "length": np.arange(50, 650, 50)}
    for link in ([*range(5, 12), *range(5)], 30_000_000 + 7919 * np.arange(12)):
        with pytest.warns(UserWarning, match=message.format("link")):
            pl.from_pandas(pd.DataFrame(ends | {"link": link}))
    pl.from_pandas(pd.DataFrame(ends | {"paid": [0, 1] * 6}))


def test_degrees_become_metres_also_across_the_date_line():
    lat, step = -17.0, 0.01
    for middle in (30.0, 180.0):
        lon = (middle + step * np.array([-1.0, -1.0, 1.0, 1.0]) + 180.0) % 360.0 - 180.0
        at = pd.DataFrame({"lon": lon, "lat": lat + step * np.array([-1, 1, 1, -1])}, AT.index)
        graph = pl.from_pandas(roads(), nodes=at)
        far = np.linalg.norm(graph.position[graph.head] - graph.position[graph.tail], axis=1)
        degree = 6_371_009.0 * np.pi / 180.0
        north, east = 2 * step * degree, 2 * step * degree * np.cos(np.radians(lat))
        assert far == pytest.approx([north, east, north, east, north], rel=1e-9)
        # A right angle is one on the ground, which it is not in degrees.
        angle = pl.turn_angles(graph)(np.array([0]), np.array([1]))
        assert angle == pytest.approx(np.pi / 2)
        metres = roads(length=far)
        assert pl.from_pandas(metres, nodes=at).position is not None
        plain = at.rename(columns={"lon": "x", "lat": "y"})
        if middle == 30.0:
            with pytest.raises(InputError, match="look like degrees, but the lengths are in"):
                pl.from_pandas(metres, nodes=plain)
        assert pl.from_pandas(roads(), nodes=plain).position is not None


def test_trips_by_nodes_by_edges_and_in_any_order():
    graph = pl.from_pandas(NAMED, features="length", edge="id")
    by_node = pl.paths_from_pandas(trips("bcd", "ad"), graph)
    assert [one.demonstration.arcs.tolist() for one in by_node] == [[1, 2], [3]]
    assert [one.name for one in by_node] == ["trip 0", "trip 1"]
    by_edge = pl.paths_from_pandas(trips([14, 11, 12], [13], by="edge"), graph)
    assert [one.demonstration.arcs.tolist() for one in by_edge] == [[4, 1, 2], [3]]
    full = trips([("a", "b", 10), ("b", "c", 11)], by="edge")
    assert pl.paths_from_pandas(full, graph)[0].demonstration.arcs.tolist() == [0, 1]
    mixed = trips("bcd", "ad").assign(order=[1, 2, 3, 1, 2]).iloc[[2, 4, 0, 3, 1]]
    again = pl.paths_from_pandas(mixed, graph)
    assert [one.demonstration for one in again] == [one.demonstration for one in by_node]
    assert by_node.joined == ()
    assert by_node.dropped == {}
    (loss,) = {one.loss for one in pl.paths_from_pandas(trips("bcd"), graph, loss=pl.Strayed())}
    assert loss == pl.Strayed()


def test_trips_may_be_rows_with_a_path():
    graph = pl.from_pandas(roads(), features="length")
    table = pd.DataFrame({"path": ["b c d", ["a", "d"]], "weight": [2, 1], "name": ["x", None]})
    made = pl.paths_from_pandas(table, graph)
    assert [one.demonstration.nodes for one in made] == [["b", "c", "d"], ["a", "d"]]
    assert [(one.name, one.weight) for one in made] == [("trip x", 2.0), ("trip 2", 1.0)]
    table.loc[0, "path"] = "b d"
    with pytest.raises(InputError, match=r"^trip 'x', row 0: no arc leads from 'b' to 'd'"):
        pl.paths_from_pandas(table, graph)
    (kept,) = pl.paths_from_pandas(table, graph, bad="drop")
    assert (kept.name, kept.weight) == ("trip 2", 1.0)
    with pytest.raises(InputError, match="trips has an unknown column 'w'; use only path, name"):
        pl.paths_from_pandas(table.rename(columns={"weight": "w"}), graph)
    with pytest.raises(InputError, match="row 1: an earlier trip has the same name 'x'"):
        pl.paths_from_pandas(table.assign(name="x"), graph)


def test_parallel_arcs_are_refused_or_the_least_is_taken():
    for options in ({"edge": "id"}, {}):
        graph = pl.from_pandas(NAMED, features=["length", "highway"], **options)
        with pytest.raises(
            InputError, match=r"trip 0, row 1: 'a' -> 'b' is ambig.* arc 0.* or arc 4"
        ):
            pl.paths_from_pandas(trips("abc"), graph)
    table = roads(length=[2.0, 2.0, 3.0, 9.0, 1.5])
    graph = pl.from_pandas(table, features="length")
    (task,) = pl.paths_from_pandas(trips("abc"), graph, parallel="length")
    assert task.demonstration.arcs.tolist() == [4, 1]


def test_gaps_are_joined_along_the_least_and_recorded():
    graph = pl.from_pandas(TWO_WAY, features=["length", "highway"])
    gappy = trips("ad", "acbb", "db", "abc")
    made = pl.paths_from_pandas(gappy, graph, gaps="length", parallel="length")
    assert [one.demonstration.nodes for one in made] == [
        list("ad"),
        list("abcb"),
        list("dcb"),
        list("abc"),
    ]
    assert made.joined == (
        pl.Join(1, 3, ("a", "b", "c")),
        pl.Join(1, 5, ("b",)),
        pl.Join(2, 7, ("d", "c", "b")),
    )
    for gap in made.joined[::2]:
        best = pl.shortest_path(graph, graph.features[:, 0], gap.nodes[0], gap.nodes[-1])
        assert best.path.nodes == list(gap.nodes)
    edges = pl.from_pandas(NAMED, features="length", edge="id")
    for gappy in ([10, 12], [13, 11], [13, 10]):  # an arc or none joins them, here and back
        with pytest.raises(
            InputError, match=r"trip 0, row 1: a gap from|trip 0, row 1: .* the wrong"
        ):
            pl.paths_from_pandas(trips(gappy, by="edge"), edges)
    (over,) = pl.paths_from_pandas(trips([10, 12], by="edge"), edges, gaps="length")
    assert over.demonstration.arcs.tolist() == [0, 1, 2]
    again = pickle.loads(pickle.dumps(made))
    assert again.joined == made.joined


KEYED = roads(key=[0, 0, 0, 0, 1])
BELOW = roads(length=[1.0, -2.0, 3.0, 9.0, 1.5])
NUMBERED = pd.DataFrame({"u": [1, 2], "v": [2, 3], "length": 1.0})
TEXTS = ["9:00", "10:00", "11:00"]
BAD_TRIPS = [
    (roads(), "ac", {}, "trip 0, row 1: no arc leads from 'a' to 'c'; .*gaps='length'"),
    (
        roads(),
        "cb",
        {},
        "row 1: 'c' -> 'b' is the wrong way along arc 1 .*one-way; reverse the trip",
    ),
    (roads(), "cb", {"gaps": "length"}, "row 1: no path from 'c' to 'b'.*leave the trip out"),
    (roads(), "bz", {}, "row 1: node 'z' is not in the graph; leave the trip out, or match it"),
    (roads(), "bbc", {}, "row 1: 'b' appears twice in a row; remove one"),
    (roads(), "b", {}, "row 0: the trip has only one node, but a path needs"),
    (roads(), "bb", {"gaps": "length"}, "row 1: the trip has only one node, but a path needs"),
    (roads(), "abc", {"parallel": "toll"}, "must be features of the graph, length, got 'toll'"),
    (roads(), "abc", {"parallel": "lenght"}, r"got 'lenght'; did you mean length\?"),
    (roads(), trips("bc", by="egde"), {}, r"needs a column 'node' or 'edge'.*did you mean edge\?"),
    (roads(), "abc", {"bad": "skip"}, "bad must be"),
    (roads(), "", {}, "trips must be a pandas.DataFrame with rows"),
    (roads(), trips("bc", by="stop"), {}, "trips has no column 'node'"),
    (roads(), trips("bc", by="edge"), {}, "arcs of the graph have no keys"),
    (TWO_WAY, "bcb", {}, "trip 0, row 2: the trip starts and ends at 'b', which"),
    (roads(), trips("bcd").assign(order=[1, 1, 2]), {}, "row 1: another row of the trip has the"),
    (roads(), trips("bcd").assign(order=TEXTS), {}, "row 0: order must be a number .*, got '9:00'"),
    (roads(), trips("bcd").assign(order=[1, "x", 2]), {}, "row 1: order must be a .*, got 'x'"),
    (roads(), trips("bcd").assign(order=["1", "2", "10"]), {}, "row 0: order must be a number or"),
    (roads(), trips("bcd").assign(order=[np.nan, 1, 2]), {}, "row 0: 'order' is nan"),
    (BELOW, "bcd", {"gaps": "length"}, "gaps needs a .* the least value of 'length' is -2"),
    (NUMBERED, "123", {}, "row 0: node '1' is not in the graph; the graph has 1, so write"),
    (roads(), trips("ac").set_axis([3, 4]), {}, "trip 0, row 4: no arc"),
    (
        KEYED,
        trips([0], by="edge"),
        {},
        r"edge 0 is the key of several arcs; give \(source, target, 0\)",
    ),
]


@pytest.mark.parametrize(("edges", "given", "options", "message"), BAD_TRIPS)
def test_bad_trips_are_refused_with_trip_row_and_remedy(edges, given, options, message):
    edge = "key" if "key" in edges else None
    graph = pl.from_pandas(edges, features="length", edge=edge)
    given = trips(given) if isinstance(given, str) else given
    with pytest.raises(InputError, match=message):
        pl.paths_from_pandas(given, graph, **options)


def test_bad_trips_may_be_dropped_and_are_told():
    graph = pl.from_pandas(roads(), features="length")
    given = trips("bcd", "bz", "cb", "bc")
    with pytest.raises(InputError, match=r"trip 1, row 4: .*2 of 4 trips are refused; bad=.d"):
        pl.paths_from_pandas(given, graph)
    made = pl.paths_from_pandas(given, graph, bad="drop")
    assert [one.name for one in made] == ["trip 0", "trip 3"]
    assert list(made.dropped) == [1, 2]
    assert "the wrong way along arc 1" in made.dropped[2]
    with pytest.raises(InputError, match=r"is not in the graph; .*\(1 of 1 trips are refused\)$"):
        pl.paths_from_pandas(given[given.trip == 1], graph, bad="drop")
    with pytest.raises(InputError, match=r"graph must be a planning\.Graph, got NoneType"):
        pl.paths_from_pandas(given, None)


def test_trips_through_turns():
    graph = pl.from_pandas(TWO_WAY, features="length", nodes=AT)
    corners = pl.turns(graph, pl.turn_angles(graph), names=["angle"], u_turns=False)
    (task,) = pl.paths_from_pandas(trips("bcd"), corners)
    assert task.graph is corners
    assert corners.lower(task.demonstration).nodes == ["b", "c", "d"]
    with pytest.raises(InputError, match="trip 0, row 3: step 2 of the path turns from"):
        pl.paths_from_pandas(trips("bcbc"), corners)
