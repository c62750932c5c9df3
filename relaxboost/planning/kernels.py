"""Compiled shortest-path searches.

The arguments `start` and `far` are the arrays of an `Adjacency`, and costs are in its order.
"""

from __future__ import annotations

import numpy as np

from relaxboost._core.arrays import Array, Flags, Whole
from relaxboost._core.compiled import njit

NOTHING: Array = np.empty(0)
"""The empty array that is passed to `search` without estimates. It is not None, because compiled
code needs a fixed type."""

HEAP_ARITY = 4
"""The number of children of a heap node. Four children cause fewer cache misses than two."""


@njit(nogil=True)
def search(
    start: Whole, far: Whole, cost: Array, source: int, target: int, ahead: Array
) -> tuple[Array, Whole]:
    """Return the distance of each node from `source`, and the last arc of each path.

    The last arcs are positions in the adjacency list, or −1 for the source and for nodes that were
    not reached.

    The search is Dijkstra's algorithm for costs >= 0. If `ahead` is not empty, it is A* with the
    admissible estimates `ahead` of the distance to the target (inf if there is no path). The search
    ends when the distance of the target is final; other entries may not be final. If the target is
    −1, the search covers the whole graph.
    """
    nodes = start.size - 1
    guided = ahead.size > 0
    distance = np.full(nodes, np.inf)
    via = np.full(nodes, -1, dtype=np.int64)
    # The position of each node in the heap, or -1 for a node outside the heap.
    place = np.full(nodes, -1, dtype=np.int64)
    heap = np.empty(nodes, dtype=np.int64)
    key = np.empty(nodes)
    size = 1
    distance[source] = 0.0
    heap[0], place[source] = source, 0
    key[0] = ahead[source] if guided else 0.0
    while size > 0:
        u = heap[0]
        size -= 1
        place[u] = -1
        # The distance of a node is final when the node leaves the heap.
        if u == target:
            break
        if size > 0:
            _sink(heap, key, place, heap[size], key[size], size)
        at_u = distance[u]
        for entry in range(start[u], start[u + 1]):
            v = far[entry]
            through = at_u + cost[entry]
            if through < distance[v]:
                estimate = through
                if guided:
                    # An infinite estimate says that no path leads from this node to the target.
                    if ahead[v] == np.inf:
                        continue
                    estimate += ahead[v]
                distance[v] = through
                via[v] = entry
                # A node may enter the heap again, because rounding can make estimates inconsistent.
                where = place[v]
                if where < 0:
                    where = size
                    size += 1
                _swim(heap, key, place, v, estimate, where)
    return distance, via


@njit(nogil=True, inline="always")
def _sink(heap: Whole, key: Array, place: Whole, node: int, value: float, size: int) -> None:
    # The node enters at the top of the heap, and moves down until the heap is ordered.
    hole = 0
    while True:
        child = HEAP_ARITY * hole + 1
        if child >= size:
            break
        least = child
        for other in range(child + 1, min(child + HEAP_ARITY, size)):
            if key[other] < key[least]:
                least = other
        if key[least] >= value:
            break
        heap[hole], key[hole] = heap[least], key[least]
        place[heap[hole]] = hole
        hole = least
    heap[hole], key[hole] = node, value
    place[node] = hole


@njit(nogil=True, inline="always")
def _swim(heap: Whole, key: Array, place: Whole, node: int, value: float, hole: int) -> None:
    # The node enters at the position `hole`, and moves up until the heap is ordered.
    while hole > 0:
        parent = (hole - 1) // HEAP_ARITY
        if key[parent] <= value:
            break
        heap[hole], key[hole] = heap[parent], key[parent]
        place[heap[hole]] = hole
        hole = parent
    heap[hole], key[hole] = node, value
    place[node] = hole


@njit(nogil=True)
def trace(via: Whole, arcs: Whole, tail: Whole, source: int, target: int) -> Whole:
    """Return the arcs of the path that a search found, in order."""
    count = 0
    node = target
    # A first pass counts the arcs, so that the array has the right size.
    while node != source:
        node = tail[arcs[via[node]]]
        count += 1
    path = np.empty(count, dtype=np.int64)
    node = target
    while node != source:
        count -= 1
        path[count] = arcs[via[node]]
        node = tail[path[count]]
    return path


@njit(nogil=True)
def relax(
    start: Whole, far: Whole, near: Whole, cost: Array, source: int, inside: Flags
) -> tuple[Array, Whole, int]:
    """Run Bellman–Ford with a queue, over the nodes for which `inside` is true.

    Return the distance of each node from `source`, the last arc of each path as in `search`, and a
    node on a cycle of negative cost, or −1 if no such cycle was found.
    """
    # Distances are pairs of doubles, because in plain doubles the distances on a cycle of cost 0
    # could decrease forever. An improvement counts only if it exceeds the rounding errors that can
    # accumulate around a cycle.
    nodes = start.size - 1
    high, low = np.full(nodes, np.inf), np.zeros(nodes)
    via = np.full(nodes, -1, dtype=np.int64)
    queue = np.empty(nodes, dtype=np.int64)
    queued = np.zeros(nodes, dtype=np.bool_)
    first = 0
    count = 1
    moves = 0
    queue[0], high[source] = source, 0.0
    rate = nodes * 2.0**-102
    while count > 0:
        u = queue[first]
        # The queue is a ring: each node is in it at most once.
        first, count = (first + 1) % nodes, count - 1
        queued[u] = False
        for entry in range(start[u], start[u + 1]):
            v = far[entry]
            if not inside[v]:
                continue
            # TwoSum gives the rounding error of the sum of a distance and a cost.
            plain = high[u] + cost[entry]
            back = plain - high[u]
            error = (high[u] - (plain - back)) + (cost[entry] - back) + low[u]
            total = plain + error
            rest = error - (total - plain)
            # The difference of the leading doubles of both pairs is exact enough, because the
            # distances are close.
            gain = (high[v] - total) + (low[v] - rest)
            if high[v] != np.inf and not gain > rate * max(abs(total), abs(high[v])):
                continue
            high[v], low[v], via[v] = total, rest, entry
            moves += 1
            if not queued[v]:
                queue[(first + count) % nodes], queued[v] = v, True
                count += 1
        # The search for a cycle takes as long as `nodes` improvements, so that it is rare enough.
        if moves >= nodes:
            moves = 0
            found = _cycle(via, near)
            if found >= 0:
                return high, via, found
    return high, via, _cycle(via, near)


@njit(nogil=True)
def _cycle(via: Whole, near: Whole) -> int:
    """Return a node on a cycle of the last arcs `via` of a search, or −1 if there is no cycle.

    Up to rounding errors, such a cycle has negative cost.
    """
    seen = np.zeros(via.size, dtype=np.int64)
    for first in range(via.size):
        # Each walk back stops at a node of an earlier walk, so that all walks take linear time.
        node = first
        while node >= 0 and seen[node] == 0:
            seen[node] = first + 1
            node = near[via[node]] if via[node] >= 0 else -1
        if node >= 0 and seen[node] == first + 1:
            return node
    return -1


@njit(nogil=True)
def worst_slack(near: Whole, far: Whole, cost: Array, potential: Array) -> tuple[float, int, float]:
    """Return the least slack of all arcs, an arc with this slack, and a scale for rounding errors.

    The slack of an arc is c + π_near − π_far, with its cost c and the potentials π of its ends. If
    no slack is negative, the potentials prove a lower bound on the cost of every path.

    A potential of +inf states that the source does not reach the node, and −inf that the node does
    not reach the target. If an arc contradicts these statements, its slack is −inf. The third
    result bounds |c|, |π_near| and |π_far| on the arcs whose slack could have the wrong sign. The
    rounding errors of these slacks are proportional to it.
    """
    worst = np.inf
    where = -1
    size = 0.0
    for e in range(near.size):
        here, there = potential[near[e]], potential[far[e]]
        if here == np.inf or there == -np.inf:
            continue
        if there == np.inf or here == -np.inf:
            return -np.inf, e, size
        slack = cost[e] + here - there
        largest = max(abs(cost[e]), abs(here), abs(there))
        # On other arcs the slack exceeds all rounding errors. Therefore a huge cost far from the
        # path does not make the proved bounds worse.
        if not slack > 1e-6 * largest:
            size = max(size, largest)
        if slack < worst:
            worst, where = slack, e
    return worst, where, size
