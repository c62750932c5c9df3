"""Obviously right, slow versions of the planners, in exact arithmetic, and random graphs."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from relaxboost.planning import Graph, Plan


def random_graph(rng: np.random.Generator, most: int = 9) -> Graph:
    """Return a graph with parallel arcs, with simple arcs, or with arcs there and back."""
    nodes = int(rng.integers(2, most + 1))
    kind = rng.integers(3)
    count = int(rng.integers(1, 4 * nodes))
    tail = rng.integers(nodes, size=count)
    head = (tail + rng.integers(1, nodes, size=count)) % nodes
    if kind == 1:
        tail, head = np.unique(np.stack([tail, head]), axis=1)
    elif kind == 2:
        tail, head = np.concatenate([tail, head]), np.concatenate([head, tail])
    return Graph(tail, head, nodes=nodes)


def between(graph: Graph, s: int, t: int) -> set[int]:
    """Return the nodes that s reaches and that reach t."""

    def closure(near: np.ndarray, far: np.ndarray, root: int) -> set[int]:
        found, todo = {root}, [root]
        while todo:
            for v in far[near == todo.pop()].tolist():
                if v not in found:
                    found.add(v)
                    todo.append(v)
        return found

    return closure(graph.tail, graph.head, s) & closure(graph.head, graph.tail, t)


def exact_length(graph: Graph, costs: np.ndarray, s: int, t: int) -> Fraction | float:
    """Return the least cost of a walk: a rational, inf without one, −inf for a negative cycle."""
    inside = between(graph, s, t)
    if t not in inside:
        return math.inf
    arcs = [
        (u, v, Fraction(c))
        for u, v, c in zip(graph.tail.tolist(), graph.head.tolist(), costs.tolist(), strict=True)
        if u in inside and v in inside
    ]
    length = {s: Fraction(0)}
    for _ in range(graph.nodes + 1):
        moved = False
        for u, v, c in arcs:
            if u in length and (v not in length or length[u] + c < length[v]):
                length[v], moved = length[u] + c, True
        if not moved:
            return length[t]
    return -math.inf


def simple_paths(graph: Graph, s: int, t: int):
    """Yield every path from s to t that visits no node twice, as an array of arcs."""

    def onward(node: int, seen: set[int], taken: list[int]):
        if node == t:
            yield np.array(taken)
            return
        for arc in np.flatnonzero(graph.tail == node).tolist():
            after = int(graph.head[arc])
            if after not in seen:
                yield from onward(after, seen | {after}, [*taken, arc])

    yield from onward(s, {s}, [])


def walks(graph: Graph, s: int, t: int):
    """Yield every walk from s to t that takes no arc twice, as a list of arcs."""

    def onward(node: int, taken: list[int]):
        if node == t and taken:
            yield list(taken)
        for arc in np.flatnonzero(graph.tail == node).tolist():
            if arc not in taken:
                yield from onward(int(graph.head[arc]), [*taken, arc])

    yield from onward(s, [])


def exact_lower(plan: Plan) -> Fraction:
    """Return what a plan's potentials prove in rational arithmetic, without allowance for rounding.

    They must be one number a node, with finite ones at both ends, and infinite ones that separate.
    """
    graph, costs = plan.path.graph, map(Fraction, plan.costs.tolist())
    at = [Fraction(x) if math.isfinite(x) else x for x in plan.potential.tolist()]
    worst = Fraction(0)
    for u, v, c in zip(graph.tail.tolist(), graph.head.tolist(), costs, strict=True):
        if math.isfinite(at[u]) and math.isfinite(at[v]):
            worst = min(worst, c + at[u] - at[v])
    return at[plan.path.target] - at[plan.path.source] + (graph.nodes - 1) * worst
