"""Learners of other kinds than maximum margin, for tasks with linear costs >= 0.

The averaged structured perceptron; perturbed Fenchel-Young losses. Neither is tuned.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relaxboost import planning as pl
from relaxboost._core.compiled import thread_pool
from relaxboost.planning.kernels import NOTHING, search, trace

LEAST = 1e-6


def planned(task: pl.Task, ordered: np.ndarray) -> np.ndarray:
    """Return the arcs of a shortest path, for costs in the order of the adjacency."""
    start, far, arcs = task.graph.forward
    via = search(start, far, ordered, task.source, task.target, NOTHING)[1]
    return trace(via, arcs, task.graph.tail, task.source, task.target)


def perceptron(tasks: Sequence[pl.Task], first: np.ndarray, epochs: int = 5) -> np.ndarray:
    """Return averaged weights of Collins (2002), kept >= 0, from `first`."""
    graph = tasks[0].graph
    X, order = graph.arc_features, graph.forward.arcs
    rng = np.random.default_rng(0)
    w, total = first.copy(), np.zeros_like(first)
    rate = np.linalg.norm(first) / np.linalg.norm(X[tasks[0].demonstration.arcs].sum(axis=0)) / 10.0
    for _ in range(epochs):
        for i in rng.permutation(len(tasks)):
            taken = planned(tasks[i], np.maximum(X @ w, LEAST)[order])
            shown = tasks[i].demonstration.arcs
            w = np.maximum(w + rate * (X[taken].sum(axis=0) - X[shown].sum(axis=0)), 0.0)
            total += w
    return total / (epochs * len(tasks))


def perturbed(
    tasks: Sequence[pl.Task],
    first: np.ndarray,
    samples: int = 3,
    noise: float = 0.2,
    steps: int = 60,
    batch: int = 200,
) -> np.ndarray:
    """Return weights by the perturbed Fenchel-Young loss of Berthet et al. (2020), and Adam.

    Plans are for costs with Gaussian noise an arc, raised to at least a little above 0, in
    batches; the mean of the second half of the iterates is returned. Costs are scaled to a mean of
    1 at `first`, which is what `noise` is in proportion to.
    """
    graph = tasks[0].graph
    X, order = graph.arc_features, graph.forward.arcs
    rng = np.random.default_rng(0)
    w = first / (X @ first).mean()
    mean, square, total = np.zeros_like(w), np.zeros_like(w), np.zeros_like(w)
    pool, _ = thread_pool()
    for t in range(1, steps + 1):
        some = [tasks[i] for i in rng.choice(len(tasks), min(batch, len(tasks)), replace=False)]
        seeds = rng.integers(0, 2**63, len(some))
        c = X @ w

        def slope(pair: tuple, c: np.ndarray = c) -> np.ndarray:
            task, own = pair[0], np.random.default_rng(pair[1])
            taken = [
                planned(task, np.maximum(c + noise * own.normal(size=c.size), LEAST)[order])
                for _ in range(samples)
            ]
            away = X[np.concatenate(taken)].sum(axis=0) / samples
            return X[task.demonstration.arcs].sum(axis=0) - away

        g = np.mean(list(pool.map(slope, zip(some, seeds, strict=True))), axis=0)
        mean, square = 0.9 * mean + 0.1 * g, 0.99 * square + 0.01 * g * g
        step = (mean / (1 - 0.9**t)) / (np.sqrt(square / (1 - 0.99**t)) + 1e-12)
        w = np.maximum(w - 0.1 / np.sqrt(t) * step, 0.0)
        total += w if t > steps // 2 else 0.0
    return total / (steps - steps // 2)
