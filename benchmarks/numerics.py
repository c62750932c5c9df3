"""Numerics written by hand beside what a library offers for the same: time, and how tight it is.

Run: python benchmarks/numerics.py
"""

from __future__ import annotations

import heapq

import numpy as np
from common import best_time, machine, table
from scipy.sparse import csgraph, csr_array

from relaxboost import planning as pl
from relaxboost._core.intervals import Interval
from relaxboost.planning.kernels import NOTHING, relax, search

Row = tuple[str, str, str, str]

SIZE = 1_000


def intervals() -> list[Row]:
    """Array intervals in NumPy, and the balls of python-flint at their precision of 53 bits."""
    from flint import arb, ctx

    rng = np.random.default_rng(0)
    x, y = rng.uniform(0.1, 2.0, (2, SIZE))
    a, b = Interval(x, x + 1e-12), Interval(y, y + 1e-12)
    balls = [[arb(float(v) + 5e-13, 5e-13) for v in values] for values in (x, y)]
    ctx.prec = 53
    pairs = {
        "product": (lambda: a * b, lambda: [u * v for u, v in zip(*balls, strict=True)]),
        "quotient": (lambda: a / b, lambda: [u / v for u, v in zip(*balls, strict=True)]),
        "exp": (a.exp, lambda: [u.exp() for u in balls[0]]),
        "log": (a.log, lambda: [u.log() for u in balls[0]]),
    }
    rows = []
    for name, (ours, theirs) in pairs.items():
        widths = ours().upper - ours().lower, np.array([2.0 * float(u.rad()) for u in theirs()])
        wide = f"{np.median(widths[0] / widths[1]):.2f}"
        times = [f"{1e6 * best_time(call):.0f} µs" for call in (ours, theirs)]
        rows.append((f"interval {name}, {SIZE} entries", *times, f"{wide} times as wide"))
    return rows


def searches() -> list[Row]:
    """Shortest paths on a grid of 256 x 256: compiled searches, and those of SciPy and Python."""
    rng = np.random.default_rng(0)
    graph = pl.grid(rng.random((256, 256)) + 0.1)
    costs = graph.arc_features[:, 0]
    start, far, arcs = graph.forward
    ordered, inside = costs[arcs], np.ones(graph.nodes, dtype=bool)
    matrix = csr_array((ordered, far, start), shape=(graph.nodes, graph.nodes))
    near, source = graph.near, 128 * 256 + 128
    rows = []
    for what, target in (("whole grid", -1), ("a target 40 cells away", source + 40)):
        ours = lambda target=target: search(start, far, ordered, source, target, NOTHING)[0]  # noqa: E731
        theirs = lambda: csgraph.dijkstra(matrix, indices=source)  # noqa: E731
        plain = lambda target=target: heaped(start, far, ordered, source, target)  # noqa: E731
        end = slice(None) if target < 0 else target
        same = np.allclose(ours()[end], theirs()[end], rtol=1e-12)
        same &= np.allclose(ours()[end], np.array(plain())[end], rtol=1e-12)
        assert same
        for library, call in (("csgraph", theirs), ("heapq", plain)):
            times = [f"{1e3 * best_time(one, least=2):.1f} ms" for one in (ours, call)]
            rows.append((f"Dijkstra, {what}, beside {library}", *times, "the same"))
    few = csr_array(matrix[:4096, :4096])
    part = few.indptr.astype(np.int64), few.indices.astype(np.int64), few.data
    near = np.repeat(np.arange(4096), np.diff(part[0]))
    ours = lambda: relax(part[0], part[1], near, part[2], 0, inside[:4096])[0]  # noqa: E731
    theirs = lambda: csgraph.bellman_ford(few, indices=0)  # noqa: E731
    assert np.allclose(ours(), theirs(), rtol=1e-12)
    times = [f"{1e3 * best_time(one, least=2):.1f} ms" for one in (ours, theirs)]
    rows.append(("Bellman-Ford, 16 x 256, beside csgraph", *times, "in pairs of doubles"))
    return rows


def heaped(start: np.ndarray, far: np.ndarray, cost: np.ndarray, source: int, target: int) -> list:
    """Return distances by a binary heap of Python's, which keeps what was overtaken."""
    first, ends, prices = start.tolist(), far.tolist(), cost.tolist()
    distance = [np.inf] * (len(first) - 1)
    distance[source], heap = 0.0, [(0.0, source)]
    while heap:
        at, u = heapq.heappop(heap)
        if u == target:
            break
        if at > distance[u]:
            continue
        for entry in range(first[u], first[u + 1]):
            v, through = ends[entry], at + prices[entry]
            if through < distance[v]:
                distance[v] = through
                heapq.heappush(heap, (through, v))
    return distance


def main() -> None:
    """Print the table."""
    machine()
    table("By hand and by a library", ("what", "by hand", "library", "result"), intervals())
    table("Searches", ("what", "by hand", "library", "result"), searches())


if __name__ == "__main__":
    main()
