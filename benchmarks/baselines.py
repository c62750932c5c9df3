"""Learners of other kinds than maximum margin, for tasks with linear costs >= 0.

The averaged structured perceptron; the recursive logit, which is maximum-entropy inverse
reinforcement learning on a graph, by sparse factors; perturbed Fenchel-Young losses. None is tuned.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from relaxboost import planning as pl
from relaxboost._core.compiled import thread_pool
from relaxboost.planning.kernels import NOTHING, search, trace

LEAST = 1e-6
INVALID = 1e10


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


class Logit:
    """The recursive logit's likelihood (Fosgerau, Frejinger & Karlstrom 2013), and its gradient.

    A path has probability exp(-cost) / z at its source, z = M z + b with M_ij the sum of
    exp(-cost) over arcs between nodes that are no targets, and b the same into the target: one
    sparse factor serves all targets, and its transpose the gradient. No arc leaves a target. It is
    Ziebart's maximum-entropy model (2008) without a horizon.
    """

    def __init__(self, tasks: Sequence[pl.Task]) -> None:
        self.graph = graph = tasks[0].graph
        self.tasks = tasks
        self.X = graph.arc_features
        self.targets = sorted({task.target for task in tasks})
        leaving = np.bincount(graph.tail, minlength=graph.nodes)
        if leaving[self.targets].any():
            raise ValueError("targets must be absorbing: no arc may leave them")
        self.inner = np.flatnonzero(leaving[graph.head] > 0)
        into = [np.flatnonzero(graph.head == target) for target in self.targets]
        self.into = np.concatenate(into)
        self.column = np.repeat(np.arange(len(into)), [len(x) for x in into])
        place = {target: k for k, target in enumerate(self.targets)}
        self.at = np.array([place[task.target] for task in tasks])
        self.source = np.array([task.source for task in tasks])
        self.shown = np.mean([self.X[t.demonstration.arcs].sum(axis=0) for t in tasks], axis=0)

    def loss(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the mean of -log p and its gradient; `INVALID` where z is not finite and > 0."""
        from scipy.sparse import csc_array, eye_array
        from scipy.sparse.linalg import splu

        graph, n = self.graph, len(self.tasks)
        e = np.exp(-(self.X @ w))
        inner, into = self.inner, self.into
        shape = (graph.nodes, graph.nodes)
        M = csc_array((e[inner], (graph.tail[inner], graph.head[inner])), shape=shape)
        b = np.zeros((graph.nodes, len(self.targets)))
        np.add.at(b, (graph.tail[into], self.column), e[into])
        try:
            factor = splu(csc_array(eye_array(graph.nodes, format="csc") - M))
        except RuntimeError:
            return INVALID, np.zeros_like(w)
        z = factor.solve(b)
        there = z[self.source, self.at]
        if not np.isfinite(z).all() or z.min() < -1e-9 or not (there > 0.0).all():
            return INVALID, np.zeros_like(w)
        weight = np.zeros_like(b)
        np.add.at(weight, (self.source, self.at), 1.0 / (n * there))
        u = factor.solve(weight, trans="T")
        flow = np.zeros(graph.arcs)
        flow[inner] = e[inner] * np.einsum("ek,ek->e", u[graph.tail[inner]], z[graph.head[inner]])
        np.add.at(flow, into, e[into] * u[graph.tail[into], self.column])
        value = float(self.shown @ w + np.log(there).mean())
        return value, self.shown - self.X.T @ flow

    def error(self, w: np.ndarray) -> float:
        """Return how far the gradient is from central differences, relative to its size."""
        found, h = self.loss(w)[1], 1e-5
        away = [
            (self.loss(w + h * e)[0] - self.loss(w - h * e)[0]) / (2.0 * h) for e in np.eye(w.size)
        ]
        return float(np.abs(found - away).max() / max(np.abs(found).max(), 1.0))

    def safe(self, constant: int) -> np.ndarray:
        """Return weights at which z is finite, by a feature that is 1 on every inner arc."""
        most = np.bincount(self.graph.tail[self.inner]).max()
        w = np.ones(self.X.shape[1])
        w[constant] = np.log(most) + 0.1
        return w

    def fit(self, first: np.ndarray) -> np.ndarray:
        """Return the weights >= 0 of greatest likelihood that L-BFGS-B finds from `first`."""
        from scipy.optimize import minimize

        bounds = [(0.0, None)] * first.size
        found = minimize(self.loss, first, jac=True, method="L-BFGS-B", bounds=bounds)
        return found.x
