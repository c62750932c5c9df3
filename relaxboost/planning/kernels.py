"""Compiled searches for shortest paths.

Their arguments `start` and `far` are the arrays of an `Adjacency`, which lists the arcs of a graph
by node. Their costs are in the order of this list.
"""

from __future__ import annotations

import numpy as np

from relaxboost._core.arrays import Array, Flags, Whole
from relaxboost._core.compiled import njit

NOTHING: Array = np.empty(0)
"""An empty array, which is passed to `search` if there are no estimates of the distance to the
target. It is not None, because compiled code needs a fixed type."""

HEAP_ARITY = 4
"""The number of children of each node of the heap in Dijkstra's algorithm. Four children cause
fewer cache misses than two."""


@njit(nogil=True)
def search(
    start: Whole, far: Whole, cost: Array, source: int, target: int, ahead: Array
) -> tuple[Array, Whole]:
    """Return the distance of each node from the node `source`, and the last arc of each path.

    The second array contains, for each node, the last arc of a shortest path to the node. The arc
    is given by its position in the adjacency list. The entry is −1 for the source, and for nodes
    that the search did not reach.

    The search is Dijkstra's algorithm for costs >= 0 on an indexed heap. If `ahead` is not empty,
    the search is A*, and `ahead` contains admissible estimates of the distance of each node to the
    target, or inf if there is no path. The search ends when the distance of the target is final, so
    that the entries of nodes farther away may not be final. If the target is −1, the search covers
    the whole graph.
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
    """Return the arcs of the path that a search found, in the order of the path."""
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
    """Return the distance of each node, the last arc of each path, and a node on a negative cycle.

    The distances are those from the node `source`. The second array contains, for each node, the
    last arc of the best path to the node. The arc is given by its position in the adjacency list.
    The entry is −1 for the source, and for nodes that the search did not reach. The third result is
    the index of a node on a cycle of negative cost, or −1 if no such cycle was found.

    The search is the Bellman–Ford algorithm with a queue. Nodes for which `inside` is false are not
    visited.
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
    """Return a node on a cycle of the arcs in `via`, or −1 if these arcs form no cycle.

    The array `via` contains, for each node, the last arc of the best path to the node that a search
    has found. Up to rounding errors, these arcs form a cycle only if the cycle has negative
    cost.
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

    The arguments `near` and `far` contain the nodes where the arcs start and end. The slack of an
    arc is c + π_near − π_far, where c is the cost of the arc and π are the potentials of the nodes.
    If no slack is negative, the potentials prove a lower bound on the cost of every path.

    A potential of +inf states that the source does not reach the node, and −inf that the node does
    not reach the target. If an arc contradicts these statements, its slack is −inf. The third
    result is the largest of |c|, |π_near| and |π_far| over all arcs whose slack is so small that
    rounding errors may have changed its sign. The rounding errors of these slacks are proportional
    to this number.
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
