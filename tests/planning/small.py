"""Small learning problems, and their losses by looking at every path: the slow twins."""

from __future__ import annotations

import numpy as np
from scipy.spatial import Delaunay

from relaxboost import planning as pl

from .slow import exact_length
from .slow import simple_paths as paths

LOSSES = {
    "missed": pl.Missed(),
    "missed-weighted": pl.Missed(lambda graph: 0.5 + graph.tail, 0.7),
    "strayed": pl.Strayed(),
    "hamming": pl.Hamming(scale=0.5),
    "distance": pl.Distance(2.0),
    "none": pl.NoLoss(),
}
LOSSES |= {name: kind() for name, kind in pl.LOSSES.items() if name not in LOSSES}
REGULARISERS = {"ridge": pl.Ridge(0.05), "lasso": pl.Lasso(0.05), "radius": pl.L1Radius(2.0)}
REGULARISERS |= {n: kind() for n, kind in pl.REGULARISERS.items() if n not in REGULARISERS}


def graph(rng, nodes=6, arcs=14, d=3, signed=False, sites=False):
    """A random graph with an arc from each node to the next, so that all is reached."""
    tail = np.concatenate([np.arange(nodes - 1), rng.integers(nodes, size=arcs)])
    head = np.concatenate([np.arange(1, nodes), rng.integers(nodes, size=arcs)])
    kept = tail != head
    tail, head = tail[kept], head[kept]
    X = rng.uniform(0.0, 1.0, (tail.size, d))
    if signed:
        X -= 0.5
    B = None
    if sites:
        B = np.abs(rng.normal(size=(tail.size, tail.size))) * (rng.random((tail.size,) * 2) < 0.2)
    xy = rng.uniform(0.0, 3.0, (nodes, 2))
    return pl.Graph(tail, head, X, sites=B, position=xy, nodes=nodes)


def walk(rng, g, source, target, repeat=False):
    """A random walk from source to target; one that visits no node twice unless `repeat`."""
    ways = list(paths(g, source, target))
    if not repeat:
        return g.path(arcs=ways[rng.integers(len(ways))])
    for first in ways:
        for at in g.tail[first]:
            for e in np.flatnonzero(g.tail == at):
                for back in paths(g, int(g.head[e]), int(at)):
                    place = int(np.flatnonzero(g.tail[first] == at)[0])
                    around = np.concatenate([[e], back])
                    made = np.concatenate([first[:place], around, around, first[place:]])
                    return g.path(arcs=made)
    return g.path(arcs=ways[0])


def tasks(rng, count=3, loss=None, repeat=False, **options):
    """Tasks on one graph."""
    g = graph(rng, **options)
    made = []
    for _ in range(count):
        s, t = 0, int(rng.integers(2, g.nodes))
        many = [walk(rng, g, s, t, repeat) for _ in range(int(rng.integers(1, 3)))]
        made.append(pl.Task(g, s, t, many, loss, weight=float(rng.uniform(0.5, 2.0))))
    return made


def moved(tasks, X, names=None):
    """The same trips on a graph with other features."""
    g = tasks[0].graph
    other = pl.Graph(g.tail, g.head, X, nodes=g.nodes, names=names)
    return [
        pl.Task(other, t.source, t.target, [other.path(arcs=p.arcs) for p in ways], weight=weight)
        for t, ways, weight in ((t, t.demonstrations, t.weight) for t in tasks)
    ]


def planar(rng, nodes, size=1.0):
    """A planar network of two-way streets, whose feature is their length."""
    xy = rng.uniform(0.0, size, (nodes, 2))
    ends = np.vstack([Delaunay(xy).simplices[:, pair] for pair in ([0, 1], [1, 2], [2, 0])])
    tail, head = np.unique(np.vstack([ends, ends[:, ::-1]]), axis=0).T
    length = np.linalg.norm(xy[tail] - xy[head], axis=1)
    return pl.Graph(tail, head, length, names=["km"], nodes=nodes, position=xy)


def loss_of(row, g, c, relaxed=False):
    """R_i over every path; with arcs of negative cost for free, if relaxed."""
    gain = row.gains.at(np.arange(g.arcs))
    worth = [0.0]
    for path in paths(g, row.source, row.target):
        cost = c[path].sum() - gain[path].sum()
        if relaxed:
            off = np.setdiff1d(np.arange(g.arcs), path)
            cost += np.minimum(c[off] - gain[off], 0.0).sum()
        worth.append(c[row.path.arcs].sum() + row.gains.constant - cost)
    return max(worth)


def risk(problem, w, relaxed=False):
    """Ω(w) + R(w) by looking at every path."""
    oracle, total = problem.oracle, problem.regulariser.value(problem.scale * np.asarray(w))
    for row in oracle.rows:
        g = oracle.graphs[row.graph]
        total += row.weight * loss_of(row, g, g.arc_features @ w, relaxed)
    return total


def optimum(problem):
    """The least objective, by a general solver of the convex program."""
    declared = pl.program(problem)
    declared.solve(solver="CLARABEL")
    assert declared.status == "optimal"
    return declared.value


def negative_cycle(problem, w):
    """Whether costs less gains fall around a cycle on the way of some row, in rationals."""
    for row in problem.oracle.rows:
        g = problem.oracle.graphs[row.graph]
        c = g.arc_features @ w - row.gains.at(np.arange(g.arcs))
        if exact_length(g, c, row.source, row.target) == -np.inf:
            return True
    return False
