"""Costs of turns: shortest paths of the line graph are shortest walks of the original."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from relaxboost import planning as pl
from tests.planning import slow


def small(rng):
    """Return a graph with few enough arcs to try all walks."""
    while True:
        graph = slow.random_graph(rng, 5)
        if graph.arcs <= 9:
            return pl.Graph(graph.tail, graph.head, rng.random((graph.arcs, 2)), nodes=graph.nodes)


def test_pairs_are_consecutive_arcs(rng):
    for _ in range(50):
        graph = slow.random_graph(rng)
        wanted = [
            (e, f)
            for e in range(graph.arcs)
            for f in range(graph.arcs)
            if graph.head[e] == graph.tail[f]
        ]
        before, after = pl.turn_pairs(graph)
        assert list(zip(before.tolist(), after.tolist(), strict=True)) == wanted


def test_shortest_paths_are_those_of_all_walks(rng):
    """With costs >= 0 some shortest walk takes no arc twice, so that these are all to be tried."""
    found = longer = lost = 0
    for trial in range(350):
        graph = small(rng)
        before, after = pl.turn_pairs(graph)
        T = 9.0 * rng.random((before.size, 2)) * (rng.random((before.size, 1)) < 0.6)
        allowed = rng.random(before.size) < 0.6
        u_turns = bool(trial % 2)
        w = rng.random(4)
        price = dict(zip(zip(before.tolist(), after.tolist(), strict=True), T @ w[2:], strict=True))
        may = dict(zip(price, allowed, strict=True))
        if not u_turns:
            may = {(e, f): ok and graph.tail[e] != graph.head[f] for (e, f), ok in may.items()}
        made = pl.turns(graph, T, u_turns=u_turns, allowed=allowed)
        costs = made.arc_features @ w
        s, t = (int(n) for n in rng.choice(graph.nodes, 2, replace=False))
        values = [
            graph.arc_features[walk].sum(axis=0) @ w[:2]
            + sum(price[pair] for pair in pairwise(walk))
            for walk in slow.walks(graph, s, t)
            if all(may[pair] for pair in pairwise(walk))
        ]
        if not values:
            with pytest.raises(pl.NoPath):
                pl.shortest_path(made, costs, made.start(s), made.end(t))
            lost += 1
            continue
        plan = pl.shortest_path(made, costs, made.start(s), made.end(t))
        assert plan.cost == pytest.approx(min(values), rel=1e-12)
        assert pl.check_plan(plan).ok
        path = made.lower(plan.path)
        assert (path.source, path.target) == (s, t)
        assert made.lift(path) == plan.path
        assert plan.path.features() == pytest.approx(
            np.append(path.features(), sum((T[i] for i in _places(price, path)), np.zeros(2)))
        )
        longer += np.unique(path.numbers).size <= len(path)
        found += 1
    assert found > 150
    assert longer > 0
    assert lost > 5


def _places(price, path):
    """Return where the turns of a path are among all turns."""
    order = {pair: place for place, pair in enumerate(price)}
    arcs = path.arcs.tolist()
    return [order[pair] for pair in pairwise(arcs)]


def test_sites_of_the_graph_stay_sites(rng):
    layers = [*rng.random((2, 4, 4)), np.ones((4, 4))]
    graph = pl.grid(layers, names=["layer 0", "layer 1", "distance"])
    made = pl.turns(graph, pl.turn_angles(graph), names=["angle"], u_turns=False)
    assert made.names == ("layer 0", "layer 1", "distance", "angle")
    assert made.size == graph.size + made.before.size
    w = rng.random(4)
    C = np.concatenate([graph.features @ w[:3], made.features[graph.size :, 3] * w[3]])
    assert made.costs(C) == pytest.approx(made.arc_features @ w)
    path = graph.path([(0, 0), (0, 1), (1, 2), (2, 2)])
    lifted = made.lift(path)
    angles = math.pi / 4 + math.pi / 4
    assert lifted.features() == pytest.approx(np.append(path.features(), angles))
    assert pl.turns(graph).names == graph.names
    assert pl.turns(graph).lift(path).features() == pytest.approx(path.features())


def test_an_arc_of_length_zero_makes_no_angle():
    places = [[0.0, 0.0], [0.0, 0.0], [-1.0, -1.0], [-1.0, -1.0]]
    graph = pl.Graph([0, 1, 2], [1, 2, 3], position=places)
    angles = pl.turn_angles(graph)(np.array([0, 1]), np.array([1, 2]))
    assert angles.tolist() == [0.0, 0.0]


def ends(made, s, t):
    """Return the labels of a start and an end."""
    return made.start(s), made.end(t)


def test_a_forbidden_turn_leads_round_a_side_street():
    # From a by b to c, with d a dead end off b: the turn at b from a to c is not allowed.
    graph = pl.Graph([0, 1, 1, 3], [1, 2, 3, 1], [[1.0], [1.0], [2.0], [3.0]], nodes=list("abcd"))
    first, last = graph.arc("a", "b"), graph.arc("b", "c")
    made = pl.turns(graph, allowed=lambda before, after: ~((before == first) & (after == last)))
    plan = pl.shortest_path(made, made.arc_features[:, 0], *ends(made, "a", "c"))
    assert made.lower(plan.path).nodes == ["a", "b", "d", "b", "c"]
    assert plan.cost == 7.0
    strict = pl.turns(
        graph, u_turns=False, allowed=lambda before, after: (before != first) | (after != last)
    )
    with pytest.raises(pl.NoPath):
        pl.shortest_path(strict, strict.arc_features[:, 0], *ends(strict, "a", "c"))


def test_a_graph_without_turns():
    graph = pl.Graph([0, 1], [2, 2])
    for options in ({}, {"features": np.empty((0, 1))}, {"u_turns": False}):
        made = pl.turns(graph, **options)
        costs = made.arc_features @ np.ones(len(made.names))
        plan = pl.shortest_path(made, costs, *ends(made, 1, 2))
        assert made.lower(plan.path).arcs.tolist() == [1]
