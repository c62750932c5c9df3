"""Features of Borlange's links that the network alone tells: turns at junctions, how busy it is."""

from __future__ import annotations

import numpy as np

from benchmarks.readers import Routes, left_turns, link_graph, u_turns
from relaxboost import planning as pl
from relaxboost._core.compiled import thread_pool
from relaxboost.planning.kernels import NOTHING, search, trace

_SLIGHT, _STRAIGHT = 15.0, 40.0  # degrees up to which turns are so
_CLASSES = (0.0, 0.3, 0.5, 0.7, 0.85, 0.95, 1.0)
"""Quantiles of traffic between which links are of a class."""


def rich_graph(routes: Routes, trips: int = 4000, seed: int = 0) -> pl.Graph:
    """Return `readers.link_graph` with what the network tells about links, all >= 0.

    Turns at junctions only, which are links that lead on to more than one other without a u-turn;
    how many ways lead on, and in; and by `traffic` of random quickest trips the class of a link
    from side street (0) to main road (5), as minutes in each class and as a constant for each, and
    how much busier or quieter the link is than the one before, in logarithms.
    """
    plain, road = link_graph(routes), len(routes.arcs)
    columns = _turns(routes) | _hierarchy(routes, plain, trips, seed)
    X = np.zeros((plain.arcs, len(columns)))
    X[:road] = np.stack(list(columns.values()), axis=1)
    return pl.Graph(
        plain.tail,
        plain.head,
        np.concatenate([plain.features, X], axis=1),
        nodes=plain.labels,
        names=[*plain.names, *columns],
    )


def traffic(graph: pl.Graph, costs: np.ndarray, trips: int, seed: int) -> np.ndarray:
    """Return how many random trips would take each arc, shape (E,), were all on shortest paths.

    This estimates betweenness, which tells main roads from side streets by the network alone. Ends
    are drawn from all nodes alike; 20 trips share a source. Trips without a path count nothing.

    References
    ----------
    Brandes & Pich (2007), Centrality estimation in large networks.
    """
    rng = np.random.default_rng(seed)
    sources = -(-trips // 20)
    ends = rng.integers(0, graph.nodes, (sources, 21))
    start, far, arcs = graph.forward
    ordered = costs[arcs]

    def work(row: np.ndarray) -> np.ndarray:
        root, made = int(row[0]), np.zeros(graph.arcs)
        via = search(start, far, ordered, root, -1, NOTHING)[1]
        for node in row[1:].tolist():
            if via[node] >= 0:
                made[trace(via, arcs, graph.tail, root, node)] += 1.0
        return made

    return np.asarray(sum(thread_pool()[0].map(work, list(ends)), np.zeros(graph.arcs)))


def _turns(routes: Routes) -> dict[str, np.ndarray]:
    """Return features of turns and junctions."""
    tail, head = routes.arcs.T - 1
    degrees = np.degrees(np.nan_to_num(routes.turn_angle))
    forward = u_turns(routes) == 0.0
    out = np.bincount(tail[forward], minlength=routes.links)[tail]
    into = np.bincount(head[forward], minlength=routes.links)[head]
    junction = out > 1
    right = forward & (degrees > _STRAIGHT)
    slight = (np.abs(degrees) > _SLIGHT) & (np.abs(degrees) <= _STRAIGHT)
    found = {
        "left at junction": (left_turns(routes) > 0.0) & junction,
        "right at junction": right & junction,
        "junction": junction,
        "large junction": out > 2,
        "slight turn": slight,
        "merging": into > 1,
    }
    return {name: values.astype(np.float64) for name, values in found.items()}


def _hierarchy(routes: Routes, plain: pl.Graph, trips: int, seed: int) -> dict[str, np.ndarray]:
    """Return features of how busy links are in random trips.

    Trips are the quickest with turns that take a few seconds, which are less prone to short cuts
    through side streets than the quickest without.
    """
    road = len(routes.arcs)
    tail, head, nodes = plain.tail, plain.head, plain.nodes
    minutes = np.zeros(len(tail))
    minutes[:road] = routes.time + 0.2 * left_turns(routes) + u_turns(routes) + 0.03
    passed = traffic(plain, minutes, trips, seed)
    into = np.bincount(head, weights=passed, minlength=nodes)
    here, before = into[head[:road]], into[tail[:road]]
    found = {}
    edges = np.quantile(here, _CLASSES[1:-1])
    kind = np.digitize(here, edges)
    for k in range(len(_CLASSES) - 1):
        found[f"time in class {k}"] = routes.time * (kind == k)
        found[f"link of class {k}"] = (kind == k).astype(np.float64)
    rise = np.log1p(here) - np.log1p(before)
    found["busier"], found["quieter"] = np.maximum(rise, 0.0), np.maximum(-rise, 0.0)
    return found
