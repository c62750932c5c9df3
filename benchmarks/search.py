"""Shortest paths beside other libraries, and what proofs and hierarchies cost; one thread.

Run: python benchmarks/search.py [--data DIR] [--part searches|hierarchy|loss]

DIR, or the environment variable RELAXBOOST_DATA, holds borlange/ and transportnets/; the grid needs
no files. Libraries that are not there are left out: pip install networkit igraph rustworkx
pyroutingkit. Seconds are of the CPU, and every library finds the same lengths.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import numpy as np
from common import machine, table
from scipy.sparse import csgraph, csr_array

from benchmarks import readers
from relaxboost import planning as pl
from relaxboost._core.compiled import at_most
from relaxboost._core.errors import InputError
from relaxboost.planning.kernels import NOTHING, search
from relaxboost.planning.planners import shortest_arcs

Query = Callable[[int, int], float]
"""The length of a shortest path between two nodes, which was found with its arcs or nodes."""
Whole = Callable[[int], object]
"""Lengths from a node to all."""

PAIRS, FEW, TASKS = 100, 5, 100
"""Pairs of nodes; as many for what is slow; tasks of a loss."""


def ours(graph: pl.Graph, costs: np.ndarray) -> tuple[Query, Whole]:
    """Return our search, without proof."""
    start, far, arcs = graph.forward
    ordered = costs[arcs]

    def query(s: int, t: int) -> float:
        return float(costs[shortest_arcs(graph, ordered, s, t)[0]].sum())

    return query, lambda s: search(start, far, ordered, s, -1, NOTHING)


def proved(graph: pl.Graph, costs: np.ndarray) -> tuple[Query, Whole]:
    """Return our search, with potentials that `check_plan` accepts; to all nodes they are one."""

    def query(s: int, t: int) -> float:
        plan = pl.shortest_path(graph, costs, graph.label(s), graph.label(t))
        assert pl.check_plan(plan).ok
        return plan.cost

    return query, ours(graph, costs)[1]


def with_scipy(graph: pl.Graph, costs: np.ndarray) -> tuple[Query, Whole]:
    """Return SciPy's Dijkstra, which cannot stop at a target."""
    shape = (graph.nodes, graph.nodes)
    matrix = csr_array((costs, (graph.tail, graph.head)), shape=shape)

    def query(s: int, t: int) -> float:
        distance, before = csgraph.dijkstra(matrix, indices=s, return_predecessors=True)
        node = t
        while node != s:
            node = before[node]
        return float(distance[t])

    return query, lambda s: csgraph.dijkstra(matrix, indices=s, return_predecessors=True)


def with_networkx(graph: pl.Graph, costs: np.ndarray) -> tuple[Query, Whole]:
    """Return networkx's."""
    import networkx as nx

    G = nx.DiGraph()
    arcs = zip(graph.tail.tolist(), graph.head.tolist(), costs.tolist(), strict=True)
    G.add_weighted_edges_from(arcs)
    return lambda s, t: nx.single_source_dijkstra(G, s, t)[0], lambda s: nx.single_source_dijkstra(
        G, s
    )


def networkit(graph: pl.Graph, costs: np.ndarray) -> tuple[Query, Whole]:
    """Return networkit's."""
    import networkit as nk

    nk.setNumberOfThreads(1)
    G = nk.GraphFromCoo(
        (costs, (graph.tail, graph.head)), n=graph.nodes, weighted=True, directed=True
    )

    def query(s: int, t: int) -> float:
        found = nk.distance.Dijkstra(G, s, True, False, t)
        found.run()
        found.getPath(t)
        return float(found.distance(t))

    return query, lambda s: nk.distance.Dijkstra(G, s, True, False).run()


def igraph(graph: pl.Graph, costs: np.ndarray) -> tuple[Query, Whole]:
    """Return igraph's."""
    import igraph as ig

    G = ig.Graph(graph.nodes, np.stack([graph.tail, graph.head], 1), directed=True)
    weights = costs.tolist()

    def query(s: int, t: int) -> float:
        path = G.get_shortest_paths(s, t, weights=weights, output="epath")[0]
        return float(costs[path].sum())

    return query, lambda s: G.distances(s, weights=weights)


def rustworkx(graph: pl.Graph, costs: np.ndarray) -> tuple[Query, Whole]:
    """Return rustworkx's."""
    import rustworkx as rx

    G = rx.PyDiGraph()
    G.add_nodes_from(range(graph.nodes))
    G.add_edges_from(
        list(zip(graph.tail.tolist(), graph.head.tolist(), costs.tolist(), strict=True))
    )

    def query(s: int, t: int) -> float:
        nodes = rx.dijkstra_shortest_paths(G, s, target=t, weight_fn=float)[t]
        return sum(G.get_edge_data(u, v) for u, v in zip(nodes, list(nodes)[1:], strict=False))

    return query, lambda s: rx.dijkstra_shortest_path_lengths(G, s, float)


LIBRARIES = {
    "relaxboost": ours,
    "relaxboost, proved": proved,
    "scipy": with_scipy,
    "networkit": networkit,
    "igraph": igraph,
    "rustworkx": rustworkx,
    "networkx": with_networkx,
}


def networks(folder: object) -> Iterator[tuple[str, pl.Graph, np.ndarray]]:
    """Yield networks with costs, those of files where there is a folder."""
    if folder is not None:
        graph = readers.link_graph(readers.read_routes(folder / "borlange"))
        yield "Borlänge", graph, graph.arc_features @ [1.0, 0.1, 0.5, 0.01]
        place = folder / "transportnets" / "ChicagoSketch"
        graph = readers.road_graph(
            readers.read_network(f"{place}_net.tntp", None, f"{place}_node.tntp")
        )
        yield "Chicago Sketch", graph, graph.arc_features @ [1.0, 0.1]
    rng = np.random.default_rng(0)
    graph = pl.grid([*rng.random((4, 256, 256)), np.ones((256, 256))])
    yield "grid 256 x 256", graph, graph.arc_features @ np.append(rng.random(4), 0.2)


def pairs_of(graph: pl.Graph, costs: np.ndarray) -> list[tuple[int, int]]:
    """Return random pairs with a path."""
    rng, made = np.random.default_rng(1), []
    start, far, arcs = graph.forward
    while len(made) < PAIRS:
        s, t = rng.integers(0, graph.nodes, 2).tolist()
        if s != t and np.isfinite(search(start, far, costs[arcs], s, t, NOTHING)[0][t]):
            made.append((s, t))
    return made


def seconds(calls: list[Callable[[], object]]) -> float:
    """Return the CPU seconds of a call, the mean of some after a first one."""
    calls[0]()
    clock = time.process_time()
    for call in calls:
        call()
    return (time.process_time() - clock) / len(calls)


def searches(name: str, graph: pl.Graph, costs: np.ndarray) -> None:
    """Print milliseconds a pair, and from a node to all."""
    pairs, rows, (plain, all_of) = pairs_of(graph, costs), [], ours(graph, costs)
    lengths = [plain(s, t) for s, t in pairs]
    for library, make in LIBRARIES.items():
        if find_spec(library.split(",")[0]) is None:
            continue
        query, whole = make(graph, costs)
        some = pairs[: FEW if library == "networkx" else PAIRS]
        found = [query(s, t) for s, t in some]
        np.testing.assert_allclose(found, lengths[: len(some)], rtol=1e-9)
        one = [
            seconds([lambda s=s, t=t, call=call: call(s, t) for s, t in some])
            for call in (query, plain)  # networkx is compared on the few pairs that it gets
        ]
        every = [
            seconds([lambda s=s, call=call: call(s) for s, _ in some[:FEW]])
            for call in (whole, all_of)
        ]
        cells = [f"{1e3 * x:.3g} ({x / y:.1f}x)" for x, y in (one, every)]
        rows.append((library, *cells))
    title = f"{name}: {graph.nodes} nodes, {graph.arcs} arcs"
    table(title, ("library", "one pair, ms", "one to all, ms"), rows)


def hierarchy(graph: pl.Graph, costs: np.ndarray) -> list[object]:
    """Return what a customisable contraction hierarchy costs, and how it is proved."""
    import pyroutingkit as rk

    at = graph.position
    if at is None:  # hops from two nodes do for an order of the nodes
        ones = csr_array((np.ones(graph.arcs), (graph.tail, graph.head)), shape=(graph.nodes,) * 2)
        hops = csgraph.dijkstra(
            ones, directed=False, indices=[0, graph.nodes // 2], unweighted=True
        )
        at = np.nan_to_num(hops, posinf=0.0).T
    whole = np.rint(costs * (2.0**30 / (1000.0 * costs.max()))).astype(np.uint32)
    ends = graph.tail.astype(np.uint32), graph.head.astype(np.uint32)
    topology = rk.CCHTopology()
    clock = time.process_time()
    topology.build(*ends, *at.T[::-1].astype(np.float32), graph.nodes)
    built = time.process_time() - clock
    metric = rk.CCHMetric(topology)
    customised = seconds([lambda: metric.customize(whole, 1)])
    pairs = pairs_of(graph, costs)
    start, far, arcs = graph.forward
    accepted = 0
    for s, t in pairs:
        path = graph.path(arcs=np.array(metric.query(s, t)[2], dtype=np.int64))
        distance = search(start, far, costs[arcs], s, t, NOTHING)[0]
        plan = pl.Plan(path, costs, np.minimum(distance, distance[t]), "hierarchy")
        accepted += pl.check_plan(plan).ok
    each = seconds([lambda s=s, t=t: metric.query(s, t) for s, t in pairs])
    plain, sure = (make(graph, costs)[0] for make in (ours, proved))
    mine = seconds([lambda s=s, t=t: plain(s, t) for s, t in pairs])
    proof = seconds([lambda s=s, t=t: sure(s, t) for s, t in pairs])
    pays = (built + customised) / (mine - each)
    times = [
        f"{x:.3g}" for x in (1e3 * built, 1e3 * customised, 1e3 * each, 1e3 * mine, 1e3 * proof)
    ]
    return [*times, f"{pays:.0f}", f"{accepted} of {len(pairs)}"]


def loss() -> None:
    """Print the loss and subgradient of many tasks beside loops over searches of the same costs."""
    from planning import planted

    graph, tasks = planted(256, TASKS)
    C = 1.2 + np.random.default_rng(1).random(graph.size)
    costs = graph.costs(C)
    risk = pl.PlanningLoss("additive", base=1.0).bind(tasks)
    # The risk has its own order of the different rows of features.
    place = {row.tobytes(): i for i, row in enumerate(np.asarray(risk.features))}
    F = np.empty(C.size)
    F[[place[row.tobytes()] for row in np.asarray(graph.features)]] = C - 1.0
    mine = seconds([lambda: risk.evaluate(F)] * 3)
    value = risk.evaluate(F)[0]
    rows = [("relaxboost, with the subgradient", f"{mine:.2f}", "1")]
    for name, make, some in (
        ("scipy", with_scipy, tasks),
        ("networkx", with_networkx, tasks[:FEW]),
    ):
        total, spent = 0.0, 0.0
        for task in some:
            shown, less = task.demonstration, costs.copy()
            less[shown.arcs] += 1.0  # `Missed` is a constant less 1 on the demonstration
            query = make(graph, less)[0]
            clock = time.process_time()
            total += shown.cost(less) - query(task.source, task.target)
            spent += time.process_time() - clock
        if some is tasks:
            assert np.isclose(total / TASKS, value, rtol=1e-9)
        each = spent * TASKS / len(some)
        rows.append((f"{name}, searches only", f"{each:.2f}", f"{each / mine:.1f}"))
    header = ("by", "CPU seconds", "ratio")
    table(f"loss of {TASKS} tasks, grid of 256 x 256, {graph.arcs} arcs", header, rows)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data")
    names = ["searches", "hierarchy", "loss"]
    parser.add_argument("--part", choices=names, action="append")
    options = parser.parse_args()
    parts = options.part or names
    machine()
    try:
        folder = readers.data_folder(options.data)
    except InputError as error:
        folder = None
        print(f"\nthe grid alone: {error}")
    rows = []
    with at_most(1):
        for name, graph, costs in networks(folder):
            if "searches" in parts:
                searches(name, graph, costs)
            if "hierarchy" in parts and find_spec("pyroutingkit") is not None:
                rows.append([name, *hierarchy(graph, costs)])
        if "loss" in parts:
            loss()
    header = ("network", "order, ms", "customise, ms", "query, ms", "our query, ms")
    header += ("ours, proved, ms", "pays after queries without proof", "paths proved")
    if rows:
        table("customisable contraction hierarchy (pyroutingkit)", header, rows)


if __name__ == "__main__":
    main()
