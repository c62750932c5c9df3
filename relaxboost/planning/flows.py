"""Flows from a source to a target, taken apart into paths and cycles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relaxboost.planning.graphs import Graph

Array = NDArray[np.float64]
Whole = NDArray[np.int64]

_DIRT = 1e-11
"""Shares of the largest flow that are left out."""

Part = tuple[Whole, float]
"""Arcs in order, and how much flows along them."""


def split(
    graph: Graph, arcs: Whole, flow: Array, source: int, target: int
) -> tuple[list[Part], list[Part]]:
    """Return paths from source to target that visit no node twice, cycles, and their amounts.

    Their sum is at most the flow on every arc, up to rounding. The flow may be that of a solver,
    balanced only about: what leads nowhere is dropped.

    Parameters
    ----------
    graph : Graph
    arcs : array of int
        Where something flows.
    flow : array
        How much, >= 0.
    source, target : int
    """
    left = {int(e): float(x) for e, x in zip(arcs, flow, strict=True)}
    least = _DIRT * max(left.values(), default=0.0)
    leaving: dict[int, list[int]] = {}
    for e, x in left.items():
        if x > least:
            leaving.setdefault(int(graph.tail[e]), []).append(e)
    # Cycles first, since some pass source and target and would be taken for paths.
    cycles = _cycles(graph, leaving, left, least)
    paths: list[Part] = []
    walk: list[int] = []
    node = source
    while True:
        arc = _largest(leaving.get(node, []), left, least)
        if node == target and walk:
            paths.append((np.array(walk), _take(walk, left)))
        elif arc >= 0 and len(walk) < graph.nodes:
            walk.append(arc)
            node = int(graph.head[arc])
            continue
        elif walk:
            left[walk[-1]] = 0.0  # it led nowhere
        else:
            return paths, cycles
        walk, node = [], source  # what was taken has emptied an arc, so that this comes to an end


def _cycles(
    graph: Graph, leaving: dict[int, list[int]], left: dict[int, float], least: float
) -> list[Part]:
    """Take cycles away until there is none, by searches that go deep."""
    found: list[Part] = []
    done: set[int] = set()
    for first in leaving:
        walk: list[int] = []
        seen, node = {first: 0}, first
        while first not in done:
            open_arcs = [e for e in leaving.get(node, []) if int(graph.head[e]) not in done]
            arc = _largest(open_arcs, left, least)
            if arc < 0:  # no cycle passes here any more
                done.add(node)
                del seen[node]
                node = int(graph.tail[walk.pop()]) if walk else node
                continue
            walk.append(arc)
            node = int(graph.head[arc])
            if node not in seen:
                seen[node] = len(walk)
                continue
            around = walk[seen[node] :]
            found.append((np.array(around), _take(around, left)))
            walk, seen, node = [], {first: 0}, first
    return found


def _largest(arcs: list[int], left: dict[int, float], least: float) -> int:
    best = max(arcs, key=lambda e: left[e], default=-1)
    return best if best >= 0 and left[best] > least else -1


def _take(walk: list[int], left: dict[int, float]) -> float:
    amount = min(left[e] for e in walk)
    for e in walk:
        left[e] -= amount
    return amount
