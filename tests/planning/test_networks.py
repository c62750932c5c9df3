"""Graphs from networkx, and back."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from relaxboost._core.errors import InputError
from relaxboost.planning import (
    LinearCosts,
    Task,
    from_networkx,
    from_pandas,
    shortest_path,
    to_networkx,
)


def roads(kind=nx.DiGraph):
    G = kind()
    G.add_node("a", height=1.0, x=0.0, y=0.0, pos=(0.0, 0.0))
    G.add_node("b", height=2.0, x=1.0, y=0.0, pos=(1.0, 0.0))
    G.add_node("c", height=4.0, x=1.0, y=2.0, pos=(1.0, 2.0))
    for u, v, length in (("a", "b", 1), ("b", "c", 2.0), ("a", "c", np.float32(4.0))):
        held = {"length": length, "slope": 0.1 * length, "paved": length > 1}
        G.add_edge(u, v, **held, road="street" if length == 1 else "path")
    return G


def test_attributes_become_features():
    G = roads()
    made = from_networkx(G, ["length", "slope"])
    assert made.names == ("length", "slope")
    assert made.features.tolist() == [
        [data["length"], data["slope"]] for *_, data in G.edges(data=True)
    ]
    assert from_networkx(G, ["length", "slope"], names=["l", "s"]).names == ("l", "s")
    assert from_networkx(G, "length").features.tolist() == [[1.0], [4.0], [2.0]]
    assert from_networkx(G, ["paved"]).features[:, 0].tolist() == [0.0, 1.0, 1.0]
    G.edges["b", "c"]["paved"] = 0.5  # a number among Booleans
    assert from_networkx(G, ["paved"]).features[:, 0].tolist() == [0.0, 1.0, 0.5]
    assert from_networkx(G).features.tolist() == [[1.0]] * 3
    ends = [(made.label(u), made.label(v)) for u, v in zip(made.tail, made.head, strict=True)]
    assert ends == list(G.edges)
    assert made.sites is None


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.Graph, nx.MultiGraph])
def test_features_are_those_of_a_table(kind):
    """Text, products, and the features that another graph or learned costs have."""
    G = roads(kind)
    wanted = ["length*road", "slope*length", "road=path"]
    rows = [(u, v, data) for u, v, data in G.edges(data=True)]
    table = pd.DataFrame([data | {"u": u, "v": v} for u, v, data in rows])
    twin = from_pandas(table, features=wanted)
    made = from_networkx(G, wanted)
    assert made.names == twin.names
    assert np.array_equal(made.features, twin.features)
    names = ("road=street", "slope", "road=path")
    fit = LinearCosts(np.ones(3), names, 0.0, 0.0, "optimal", "", 1, True)
    for features in (made, fit):
        again = from_networkx(G, features)
        assert again.names == features.names
    G.edges[next(iter(G.edges))]["road"] = "lane"
    with pytest.raises(InputError, match="has the value 'lane', for which there is no feature"):
        from_networkx(G, made)
    assert from_networkx(G, fit, unseen="ignore").features[0].tolist()[::2] == [0.0, 0.0]
    nx.set_edge_attributes(G, 7.0, "slope*length")
    assert (from_networkx(G, "slope*length").arc_features == 7.0).all()


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
def test_undirected_edges_are_two_arcs(kind):
    G = roads(kind)
    plain = from_networkx(G, ["length"])
    assert plain.sites is not None
    assert (plain.arcs, plain.size) == (6, 3)
    assert plain.costs([1.0, 2.0, 3.0]).tolist() == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]
    for k, (u, v, *_) in enumerate(G.edges):
        assert (plain.arc(u, v), plain.arc(v, u)) == (2 * k, 2 * k + 1)
    twin = from_networkx(G.to_directed(), ["length"])
    for u, v, *_ in [*G.edges, *((v, u, *rest) for u, v, *rest in G.edges)]:
        assert plain.arc_features[plain.arc(u, v)] == twin.arc_features[twin.arc(u, v)]


@pytest.mark.parametrize("kind", [nx.MultiDiGraph, nx.MultiGraph])
def test_keys_find_parallel_edges(kind):
    G = kind()
    G.add_edge("a", "b", key="slow", length=3.0)
    G.add_edge("a", "b", key="fast", length=1.0)
    G.add_edge("b", "c", length=1.0)
    made = from_networkx(G, ["length"])
    for u, v, key, data in G.edges(keys=True, data=True):
        assert made.arc_features[made.arc(u, v, key), 0] == data["length"]
    shown = made.path(arcs=[made.arc("a", "b", "slow"), made.arc("b", "c", 0)])
    assert Task(made, "a", "c", shown).demonstration.features().tolist() == [4.0]
    best = shortest_path(made, made.arc_features[:, 0], "a", "c")
    assert best.cost == 2.0
    assert made.keys[best.path.arcs[0]] == "fast"
    if kind is nx.MultiGraph:
        back = made.path(arcs=[made.arc("c", "b", 0), made.arc("b", "a", "fast")])
        assert back.cost(made.arc_features[:, 0]) == 2.0
    with pytest.raises(InputError, match="parallel arcs"):
        made.path(["a", "b"])


def test_positions_come_from_one_attribute_two_or_a_dict():
    G = roads()
    wanted = [[0.0, 0.0], [1.0, 0.0], [1.0, 2.0]]
    for given in ("pos", ("x", "y"), {"a": (0, 0), "b": (1, 0), "c": (1, 2)}):
        assert from_networkx(G, position=given).position.tolist() == wanted


def test_there_and_back_again(rng):
    for kind in (nx.DiGraph, nx.MultiDiGraph):
        G = nx.gnm_random_graph(8, 20, seed=1, directed=True)
        G = kind(G)
        if kind is nx.MultiDiGraph:
            G.add_edges_from([(u, v, "second") for u, v in list(G.edges())[:5]])
        for edge in G.edges:
            G.edges[edge].update(a=rng.random(), b=rng.random())
        made = from_networkx(G, ["a", "b"], position={v: (v, 0) for v in G})
        costs = rng.random(made.arcs)
        back = to_networkx(made, costs)
        assert type(back) is kind
        assert list(back.edges) == list(G.edges)
        for place, edge in enumerate(G.edges):
            data = back.edges[edge]
            assert {k: data[k] for k in ("a", "b")} == G.edges[edge]
            assert (data["arc"], data["cost"]) == (place, costs[place])
        fit = LinearCosts(np.array([1.0, 2.0]), ("a", "b"), 0.0, 0.0, "optimal", "", 1, True)
        learned = to_networkx(made, fit).edges(data="cost")
        assert [cost for *_, cost in learned] == fit.costs(made).tolist()
        again = from_networkx(back, ["a", "b"], position="pos")
        assert np.array_equal(again.features, made.features)
        assert again.keys == made.keys


@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiGraph])
def test_an_attribute_of_nodes_is_copied_to_the_edges_as_the_error_says(kind):
    G = roads(kind)
    said = r"no edge has an attribute 'height', but nodes have it; copy it"
    with pytest.raises(InputError, match=said) as raised:
        from_networkx(G, ["length", "height"])
    eval(str(raised.value).partition(" with ")[2], {"nx": nx, "G": G})
    made = from_networkx(G, ["length", "height"])
    for u, v, height in G.edges(data="height"):
        assert height == G.nodes[v]["height"]
        assert made.arc_features[made.arc(u, v), 1] == height


def changed(where, name, value):
    """Return the roads with one attribute of an edge or a node changed, or removed by ..."""
    G = roads()
    data = G.edges[where] if isinstance(where, tuple) else G.nodes[where]
    data[name] = value
    if value is ...:
        del data[name]
    return G


BC = ("b", "c")


@pytest.mark.parametrize(
    ("G", "options", "match"),
    [
        (nx.Graph(), {}, "0 nodes and no edges"),
        ([(0, 1)], {}, "G must be a networkx graph, got list"),
        (nx.DiGraph([(0, 1), (1, 1)]), {}, r"\(1 -> 1\) is a self-loop"),
        (nx.MultiGraph([(0, 1), (1, 1)]), {}, r"\(1 -> 1\) is a self-loop"),
        (changed(BC, "slope", ...), ["slope"], r"row \('b', 'c'\): 'slope' is nan \(1 in all\)"),
        (changed(BC, "slope", None), "slope*length", r"row \('b', 'c'\): 'slope' is nan"),
        (changed(BC, "slope", np.nan), ["slope"], r"row \('b', 'c'\): 'slope' is nan"),
        (changed(BC, "slope", np.inf), ["slope"], r"row \('b', 'c'\): 'slope' is inf"),
        (roads(), "slop*length", r"no edge has an attribute 'slop'.* did you mean slope\?"),
        (roads(), "lenght", r"no edge has .* 'lenght'; .* length, slope.*; did you mean length\?"),
        (changed(BC, "slope", "2"), ["slope"], r"'slope' of edge \('b', 'c'\) is '2'; write a num"),
        (changed(BC, "road", ...), ["road"], r"\('a', 'b'\) is 'street'; .* a text on every edge"),
        (changed(BC, "slope", 1j), ["slope"], r"'slope' of edge \('b', 'c'\) is 1j; compute num"),
        (changed(BC, "slope", [1]), "slope", r"is \[1\]; .* with nx.set_edge_attributes"),
        (changed(BC, "slope", {"up": 1.0}), "slope", r"is {'up': 1.0}; .* nx.set_edge_attributes"),
        (changed(BC, "slope", np.ones(2)), "slope", r"is array\(\[1., 1.\]\); .* nx.set_edge_attr"),
        (roads(), [], "has no features"),
        (roads(), [3], "features must be column names, a graph or learned costs, got"),
        (roads(), ["slope", "slope"], "2 different entries"),
        (roads(), {"features": ["slope"], "names": ["s", "t"]}, "names must have 1 different"),
        (changed("b", "pos", (1,)), {"position": "pos"}, r"node 'b' has no position \(x, y\)"),
        (changed("b", "x", np.nan), {"position": ("x", "y")}, "node 'b' has no position"),
        (roads(), {"position": {"a": (0, 0)}}, "node 'b' has no position"),
        (roads(), {"position": "xy"}, r"node 'a' .* pass position=\(\"x\", \"y\"\)"),
        (roads(), {"position": np.zeros((3, 2))}, r"two attributes such as \(\"x\", \"y\"\)"),
    ],
)
def test_what_is_wrong_with_a_network_is_named(G, options, match):
    options = options if isinstance(options, dict) else {"features": options}
    with pytest.raises(InputError, match=match):
        from_networkx(G, **options)


def test_what_cannot_become_a_network_is_named():
    graph = from_networkx(nx.DiGraph([(0, 1, {"cost": 1.0})]), ["cost"])
    with pytest.raises(
        InputError, match="a feature has the name 'cost', which to_networkx needs for another"
    ):
        to_networkx(graph)
    with pytest.raises(InputError, match=r"costs must have shape \(3,\)"):
        to_networkx(from_networkx(roads()), [1.0])
