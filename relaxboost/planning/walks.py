"""Sums over all walks of a graph, each with weight exp(-cost): what the recursive logit divides by.

N = I + M + M² + ... = (I − M)^-1, where M_ij sums exp(-cost) over the arcs from i to j: N_ij is the
weight of all walks from i to j, those that go in circles with them. It is finite if and only if
the spectral radius of M is below 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError
from relaxboost.planning.graphs import Graph
from relaxboost.planning.kernels import NOTHING, search

_LEAST = 1e-200
"""Weights of walks below this are summed anew, with costs less those of the shortest."""
_BLOCK = 64  # targets at a time: their sums and the derivatives of these should fit in a cache


class EndlessWalks(InputError):
    """Costs so low that weights of walks have no finite sum, or one above 1e308."""


class Walks:
    """The weights of the walks of a graph.

    Elimination of I − M without row exchanges only ever adds numbers of one sign off the
    diagonal: entries of N far below 1 are as exact as large ones, down to where doubles underflow.

    Parameters
    ----------
    graph : Graph
    costs : array of shape (E,)
        Of either sign; inf is an arc that nobody takes.

    Raises
    ------
    EndlessWalks
        Unless the spectral radius of M is below 1. For each y > 0 it is at most the largest of
        (M y)_i / y_i (Collatz & Wielandt). For y = N (N 1) that is 1 − 1 / k, where k is the mean
        number of nodes on walks from i by their weights, however large the weights are. So the
        proof wants k below 10^12, more than M y is rounded by, and does not rest on how exact y
        is. Sums above 1e308 are refused, too.
    """

    def __init__(self, graph: Graph, costs: Array) -> None:
        from scipy.sparse.linalg import splu

        self.graph, self.costs = graph, costs
        with np.errstate(over="ignore"):
            self.weights = np.exp(-costs)
        M, n = self.matrix(self.weights), graph.nodes
        y = np.full(n, np.nan)
        if np.isfinite(self.weights).all():
            A = sparse.csc_array(sparse.eye_array(n, format="csr") - M)
            try:  # no row is exchanged, and the order is that of a symmetric pattern
                self.factor: Any = splu(A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0)
                y = self.factor.solve(self.factor.solve(np.ones(n)))
            except RuntimeError:  # a pivot is 0
                pass
        with np.errstate(all="ignore"):
            shrinks = (y > 0.0) & (M @ y < (1.0 - 1e-12) * y)
        if not (np.isfinite(y).all() and shrinks.all()):
            node = graph.label(int(np.flatnonzero(~shrinks | ~np.isfinite(y))[0]))
            why = "go in circles at costs so low that their weights exp(-cost) have no finite sum"
            if np.isinf(y).any() and not (y < 0.0).any():
                why = "are so many, at costs so low, that weights exp(-cost) add to above 1e308"
            raise EndlessWalks(
                f"walks from {node!r} {why}; raise the costs (utilities must fall around every "
                "circle), or add a feature that is above 0 on every arc"
            )
        self.potential = np.log(y)

    def matrix(self, values: Array) -> sparse.csr_array:
        """Return the matrix of shape (nodes, nodes) that sums values over arcs."""
        ends = self.graph.tail, self.graph.head
        return sparse.csr_array((values, ends), shape=(self.graph.nodes,) * 2)

    def solve(self, b: Array, transposed: bool = False) -> Array:
        """Return N b, or Nᵀ b."""
        made: Array = self.factor.solve(b, trans="T" if transposed else "N")
        return made

    def units(self, nodes: Whole) -> Array:
        """Return unit vectors as columns, shape (n, len(nodes))."""
        made = np.zeros((self.graph.nodes, len(nodes)))
        made[nodes, np.arange(len(nodes))] = 1.0
        return made

    def towards(self, target: int) -> tuple[Walks, Array]:
        """Return walks whose costs are less those of the shortest to a target, and these.

        The arc i -> j then costs c + δ_j − δ_i >= 0, and sums to the target are at least 1: they
        do not underflow however far it is. δ is by Dijkstra's search, and for costs below 0, too:
        by M y < y costs c + log y_i − log y_j are positive.
        """
        graph, π = self.graph, self.potential
        reduced = np.maximum(self.costs + π[graph.tail] - π[graph.head], 0.0)
        start, far, arcs = graph.backward
        away = search(start, far, reduced[arcs], target, -1, NOTHING)[0]
        there, here = away[graph.head], away[graph.tail]
        with np.errstate(invalid="ignore"):
            costs = np.where(np.isfinite(there), np.maximum(reduced + there - here, 0.0), np.inf)
        return Walks(graph, costs), away - π + π[target]


class WalkSums:
    """The sums from sources to targets, in blocks that share a factor.

    Attributes
    ----------
    walks : Walks
    places : array of int
        Which pairs these are.
    z : array of shape (n, t)
        The sums to the targets of the block.
    source, column : arrays of int
        Of each pair.
    there : array
        z of each pair, and `log`, its logarithm at the costs that were given.
    """

    def __init__(self, walks: Walks, places: Whole, source: Whole, target: Whole) -> None:
        self.walks, self.places, self.source = walks, places, source
        targets, self.column = np.unique(target, return_inverse=True)
        self.z = walks.solve(walks.units(targets))
        self.there = self.z[source, self.column]
        with np.errstate(divide="ignore"):
            self.log = np.log(self.there)


def sums(walks: Walks, source: Whole, target: Whole) -> list[WalkSums]:
    """Return the sums over walks for pairs of nodes; sums that underflow are scaled by target.

    There must be a path between the two of each pair.
    """
    made, targets = [], np.unique(target)
    for k in range(0, len(targets), _BLOCK):
        places = np.flatnonzero(np.isin(target, targets[k : k + _BLOCK]))
        block = WalkSums(walks, places, source[places], target[places])
        low = np.unique(target[places[~(block.there > _LEAST)]])
        if low.size:
            kept = places[~np.isin(target[places], low)]
            block = WalkSums(walks, kept, source[kept], target[kept])
        made += [block] if block.places.size else []
        for node in low.tolist():
            near, away = walks.towards(node)
            places = np.flatnonzero(target == node)
            block = WalkSums(near, places, source[places], target[places])
            block.log -= away[source[places]]
            made.append(block)
    return made
