"""K of a cone program: a sparse matrix that falls apart by examples, and a border.

K = [P + GᵀHG, Eᵀ; E, 0] on (x, η). What ties many examples together is put last: variables z and
equations with many entries, and two columns for each large second-order cone, whose H is a multiple
of the identity and one outer product more and one less. What is left is quickly factorised, and
mostly has one d_i in each of its connected parts. Then K⁻¹ on d is diagonal plus low rank.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from relaxboost._core.arrays import Array, Vector
from relaxboost.matrices.bulk import Bulk
from relaxboost.solvers.interior_point.block import Block, diagonal_gram, symmetric_factor

MANY = 20
"""Entries above which a row or a column goes to the border."""
_SMALL = 1e-12
"""Added to the diagonal, so that what only the border determines leaves no singular rest."""
_TRACE = 1e-15
"""The part of a diagonal that stays where all else of it cancels; refinement takes it out."""


class Pattern:
    """The places of all entries of K, and how they follow from those of H.

    Parameters
    ----------
    m : int
    square, equations, rows : sparse matrices
        P, E and G; rows of G have at most `MANY` entries.
    places : pair of integer arrays
        The rows and columns of the entries of H that are not in the border.
    """

    def __init__(self, m: int, square: Any, equations: Any, rows: Any, places: Any) -> None:
        from scipy import sparse
        from scipy.sparse.csgraph import connected_components

        size, count = square.shape[0], equations.shape[0]
        whole = size + count
        used = np.diff(sparse.vstack([equations, rows, square]).tocsc().indptr)
        outside = np.append(
            (used > MANY) & (np.arange(size) >= m), np.diff(equations.indptr) > MANY
        )
        self.m, self.inner, self.outer = m, np.flatnonzero(~outside), np.flatnonzero(outside)
        place = np.empty(whole, dtype=np.int64)
        place[self.inner], place[self.outer] = (
            np.arange(self.inner.size),
            np.arange(self.outer.size),
        )
        fixed = sparse.coo_array(
            sparse.block_array([[square, equations.T], [equations, None]])
            + sparse.diags_array(np.where(np.arange(whole) < size, _SMALL, -_SMALL))
        )
        i, j, entry, value = _products(sparse.csr_array(rows), *places)
        rows_, columns = np.append(fixed.row, i), np.append(fixed.col, j)
        where = np.append(np.zeros(fixed.nnz, dtype=np.int64), entry + 1)
        values = np.append(fixed.data, value)
        self._pieces = []
        for top, left in ((False, False), (False, True), (True, True)):
            chosen = (outside[rows_] == top) & (outside[columns] == left)
            shape = ((self.inner, self.outer)[top].size, (self.inner, self.outer)[left].size)
            spot = place[rows_[chosen]] + shape[0] * place[columns[chosen]]
            spots, inverse = np.unique(spot, return_inverse=True)
            table = sparse.csr_array(
                (values[chosen], (inverse, where[chosen])), (spots.size, places[0].size + 1)
            )
            self._pieces.append((shape, spots, table))
        shape, spots, _ = self._pieces[0]
        self._row, column = spots % shape[0], spots // shape[0]
        self._start = np.searchsorted(column, np.arange(shape[0] + 1))
        graph = sparse.csc_array((np.ones(spots.size), self._row, self._start), shape)
        label = connected_components(graph, directed=False)[1][:m]
        self.apart = np.unique(label).size == m

    def block(
        self, H: Vector, columns: Array, corner: Vector, times: Callable[[Vector], Vector]
    ) -> Block:
        """Return K for entries of H, more columns of the border and their diagonal."""
        from scipy import sparse

        H = np.append(1.0, H)
        (shape, spots, table), *rest = self._pieces
        inside = sparse.csc_array((table @ H, self._row, self._start), shape)
        dense = []
        for shape, spots, table in rest:
            piece = np.zeros(shape[0] * shape[1])
            piece[spots] = table @ H
            dense.append(piece.reshape(shape, order="F"))
        V = np.hstack([dense[0], columns[self.inner]])
        below = columns[self.outer]
        C = np.block([[dense[1], below], [below.T, np.diag(corner)]])
        return Bordered(self, inside, V, C, times)


def _products(rows: Any, first: Any, second: Any) -> tuple[Any, Any, Any, Vector]:
    """Return arrays (i, j, e, value) that list all terms G_ai H_ab G_bj of GᵀHG.

    A term belongs to the entry (i, j); e is the number of (a, b) in H, and value is G_ai G_bj.
    """
    degree = np.diff(rows.indptr)
    terms = degree[first] * degree[second]
    entry = np.repeat(np.arange(first.size), terms)
    nth = np.arange(entry.size) - np.repeat(np.cumsum(terms) - terms, terms)
    a = rows.indptr[first[entry]] + nth // degree[second[entry]]
    b = rows.indptr[second[entry]] + nth % degree[second[entry]]
    return rows.indices[a], rows.indices[b], entry, rows.data[a] * rows.data[b]


class Bordered(Block):
    """K⁻¹ by the factor of the inside and a dense one of the size of the border."""

    def __init__(self, pattern: Pattern, inside: Any, V: Array, C: Array, times: Any) -> None:
        self._pattern, self._times, self.written = pattern, times, not pattern.apart
        self._factor = symmetric_factor(inside)
        self._Y = self._factor.solve(V)
        self._T = C - V.T @ self._Y
        self._schur: Array | None = None
        m = pattern.m
        if pattern.apart:
            unit = np.zeros(len(V))
            unit[:m] = 1.0
            self._flat = self._factor.solve(unit)[:m]
            if not (self._flat >= 0.0).all():
                raise np.linalg.LinAlgError("rounding leaves nothing of the diagonal of K")

    def times(self, t: Vector) -> Vector:
        return self._times(t)

    def invert(self, h: Vector) -> Vector:
        pattern = self._pattern
        inside, outside = h[pattern.inner], np.zeros(len(self._T))
        outside[: pattern.outer.size] = h[pattern.outer]
        border = np.linalg.solve(self._T, outside - self._Y.T @ inside)
        t = np.empty_like(h)
        t[pattern.inner] = self._factor.solve(inside) - self._Y @ border
        t[pattern.outer] = border[: pattern.outer.size]
        return t

    def gram(self, bulk: Bulk) -> Array:
        m = self._pattern.m
        Y = self._Y[:m]
        across = np.column_stack([bulk.edges_of(Y.T), -Y.sum(axis=0)])
        if self._pattern.apart:
            gram = diagonal_gram(bulk, self._flat)
        else:
            A = bulk.array
            assert A is not None
            B = np.zeros((len(self._Y), bulk.n + 1))
            B[:m, :-1], B[:m, -1] = A, -1.0
            gram = np.asarray(B[:m].T @ self._factor.solve(B)[:m])
        # Where rows of f already say what Σd is, all of that cancels: a trace of it stays.
        place = np.arange(len(gram))
        gram[place, place] *= 1.0 + _TRACE
        self.uncancelled = gram.diagonal().copy()
        whole = gram + across.T @ np.linalg.solve(self._T, across)
        return np.asarray(whole)

    def _complement(self) -> Array:
        """Return the Schur complement of K in d, the inverse of the part of K⁻¹ in d."""
        if self._schur is None:
            m = self._pattern.m
            Y = self._Y[:m]
            if self._pattern.apart:
                X = Y / self._flat[:, None]
                self._schur = np.diag(1.0 / self._flat) - X @ np.linalg.solve(
                    self._T + Y.T @ X, X.T
                )
            else:
                unit = np.eye(len(self._Y), m)
                inverse = self._factor.solve(unit)[:m] + Y @ np.linalg.solve(self._T, Y.T)
                self._schur = np.linalg.inv(inverse)
        return self._schur

    def reduce(self, h: Vector) -> Vector:
        return np.asarray(self._complement() @ self.invert(h)[: self._pattern.m])

    def expand(self, t: Vector, h: Vector) -> Vector:
        m = self._pattern.m
        more = h.copy()
        more[:m] += self._complement() @ (t - self.invert(h)[:m])
        return np.append(t, self.invert(more)[m:])

    def add_to(self, gram: Array) -> None:
        gram += self._complement()
