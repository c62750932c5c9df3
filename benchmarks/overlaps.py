"""How much of a trip was seen in training, reports by that, and link sizes of routes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from relaxboost import planning as pl
from relaxboost.planning.splitting import arc_rows

STRATA = {"< .3": (0.0, 0.3), ".3-.5": (0.3, 0.5), ".5-.8": (0.5, 0.8), ">= .8": (0.8, np.inf)}
"""The ends of the strata of overlap, of which the first belongs to a stratum."""


def overlap(tasks: Sequence[pl.Task], training: Sequence[pl.Task]) -> np.ndarray:
    """Return the largest Jaccard index of each task's arcs with those of a training task, (T,)."""
    rows, owner = arc_rows((*tasks, *training))
    cut = int(np.searchsorted(owner, len(tasks)))
    size = np.diff(rows.indptr)
    columns = rows[cut:].T.tocsr()
    most = np.zeros(len(tasks))
    # Products are made of 256 rows at a time, so that they fit in memory.
    for start in range(0, cut, 256):
        shared = (rows[start : min(start + 256, cut)] @ columns).tocoo()
        i, j = shared.row + start, shared.col + cut
        np.maximum.at(most, owner[i], shared.data / (size[i] + size[j] - shared.data))
    return most


def strata(report: pl.Evaluation, overlaps: np.ndarray) -> dict[str, pl.Evaluation]:
    """Return the reports on tasks with similar overlaps."""
    return {
        name: report.at((overlaps >= low) & (overlaps < high))
        for name, (low, high) in STRATA.items()
    }


def with_link_size(tasks: Sequence[pl.Task], utilities: Sequence[float]) -> list[pl.Task]:
    """Return tasks of a graph on graphs that have the feature "link size".

    The link size of an arc is the expected number of visits to the node that it leads to, on the
    way of the task at given utilities (Fosgerau, Frejinger & Karlström 2013). Every pair of source
    and target has a graph of its own.
    """
    graph = tasks[0].graph
    nothing = np.zeros((len(utilities),) * 2)
    logit = pl.LogitFit(np.array(utilities), graph.names, np.nan, nothing, nothing, "optimal", 0)
    factors, graphs, made = {}, {}, []
    for task in tasks:
        source, target = task.source, task.target
        if target not in factors:
            p = logit.probabilities(graph, graph.label(target))
            P = sparse.csr_array((p, (graph.tail, graph.head)), shape=(graph.nodes,) * 2)
            factors[target] = splu(sparse.csc_array(sparse.eye_array(graph.nodes) - P.T))
        if (source, target) not in graphs:
            start = np.zeros(graph.nodes)
            start[source] = 1.0
            visits = factors[target].solve(start)
            X = np.column_stack([graph.arc_features, visits[graph.head]])
            names = [*graph.names, "link size"]
            graphs[source, target] = pl.Graph(
                graph.tail, graph.head, X, nodes=graph.labels, names=names
            )
        own = graphs[source, target]
        shown = [own.path(arcs=path.arcs) for path in task.demonstrations]
        ends = graph.label(source), graph.label(target)
        made.append(pl.Task(own, *ends, shown, task.loss, weight=task.weight))
    return made
