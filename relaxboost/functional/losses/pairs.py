"""Violated pairs of a ranking counted without listing them: sorting and a Fenwick tree."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import njit


class Queries(NamedTuple):
    """The documents of a ranking by their queries."""

    weights: Array
    """Of the documents, shape (N,)."""
    grades: Whole
    """The places 0, 1, ... of the grades within the query, shape (N,)."""
    order: Whole
    """The documents, query by query, shape (N,)."""
    starts: Whole
    """Where each query begins in `order`, shape (Q + 1,)."""


@njit()
def violated(F: Array, queries: Queries, margin: float, below: Array, above: Array) -> None:
    """Sum for each document the weights of those it makes a violated pair with.

    A pair is i and j of one query with grade_i > grade_j; it is violated where the double
    f_i − f_j is below the margin. That is monotone in either score, so a sweep through both in
    falling order, and one in rising order, meets each pair once; a Fenwick tree over the grades
    holds what was met. O(n log n) for a query of n documents.

    Written are, into `below` and `above`, the weights of the j violated by i and of the i that
    violate j.
    """
    weights, grades, starts = queries.weights, queries.grades, queries.starts
    for q in range(starts.size - 1):
        documents = queries.order[starts[q] : starts[q + 1]]
        n, size = documents.size, 0
        for i in documents:
            size = max(size, grades[i] + 1)
            below[i] = above[i] = 0.0
        if size < 2:
            continue
        ranked = documents[np.argsort(F[documents])]
        tree = np.zeros(size + 1)
        met = n - 1
        for place in range(n - 1, -1, -1):
            i = ranked[place]
            while met >= 0 and F[i] - F[ranked[met]] < margin:
                j = ranked[met]
                _add(tree, grades[j], weights[j])
                met -= 1
            below[i] = _total(tree, grades[i])
        tree[:] = 0.0
        met = 0
        for place in range(n):
            j = ranked[place]
            while met < n and F[ranked[met]] - F[j] < margin:
                i = ranked[met]
                # Grades from the top, so that a prefix is what is above.
                _add(tree, size - 1 - grades[i], weights[i])
                met += 1
            above[j] = _total(tree, size - 1 - grades[j])


@njit()
def _add(tree: Array, place: int, weight: float) -> None:
    k = place + 1
    while k < tree.size:
        tree[k] += weight
        k += k & -k


@njit()
def _total(tree: Array, place: int) -> float:
    """Return the weight at places before `place`."""
    total, k = 0.0, place
    while k > 0:
        total += tree[k]
        k -= k & -k
    return total
