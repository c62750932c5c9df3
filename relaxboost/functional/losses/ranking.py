"""The ranking hinge over pairs of n documents, in O(n log n) time and O(n) memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.compiled import njit
from relaxboost._core.errors import InputError
from relaxboost.functional.losses.base import Loss, PointwiseRisk, Risk
from relaxboost.functional.losses.leaves import damped, sums
from relaxboost.functional.losses.margins import Hinge
from relaxboost.functional.measure import Empirical

NORMALISE = ("pairs", "queries")


class Queries(NamedTuple):
    """The documents of a ranking as arrays for the compiled pair sums."""

    weights: Array
    """The weight of each document, shape (N,)."""
    grades: Whole
    """The number of lower grades that occur in the document's query, shape (N,). It replaces the
    grade."""
    order: Whole
    """The indices of the documents, sorted by query and grade, shape (N,)."""
    starts: Whole
    """The positions in `order` at which the Q queries begin, followed by N, shape (Q + 1,)."""


@dataclass(frozen=True)
class RankingHinge(Loss):
    """The ranking hinge, the mean of max(0, 1 − (f_i − f_j)) over pairs of documents i and j.

    f_i and f_j are the scores of two documents of the same query, and document i has the higher
    grade.

    The targets are grades; a higher grade is better. `bind` needs `groups`, the query ids of the
    documents. At f_i − f_j = 1 the subgradient of a pair is 0. The weight of a pair is the product
    of its document weights, so that a document of weight 2 counts as two documents. Boosting never
    lists the pairs; only `RankingRisk.pairs`, the cvxpy expression, the conjugate and `optimum` do.

    Parameters
    ----------
    normalise : {"pairs", "queries"}
        "pairs" averages over all pairs of all queries. "queries" averages over the pairs of each
        query and then over the queries that have pairs.

    References
    ----------
    Herbrich, Graepel & Obermayer (2000), Large margin rank boundaries for ordinal regression;
    Joachims (2002), Optimizing search engines using clickthrough data; GB11, Sec. 5.
    """

    normalise: str = "pairs"
    name = "ranking-hinge"
    task: ClassVar[str] = "ranking"

    def __post_init__(self) -> None:
        if self.normalise not in NORMALISE:
            raise InputError(
                f"normalise must be one of {', '.join(NORMALISE)}, got {self.normalise!r}"
            )

    def _risk(self, y: Array, measure: Empirical, classes: Any, groups: Any) -> RankingRisk:
        return RankingRisk(self, y, measure, groups)


class RankingRisk(Risk):
    """The weighted mean of `RankingHinge` over the pairs of documents in given data."""

    # A refitted leaf need not lower the risk. Therefore steps are shorter than for other losses.
    shrinkage = 0.1

    def __init__(self, loss: RankingHinge, y: Array, measure: Empirical, groups: Any) -> None:
        self.loss = loss
        self.y = y
        self.measure = measure
        self.query = _queries(groups, len(y), loss)
        """The index of each document's query among the sorted ids of all queries."""
        order = np.lexsort((y, self.query))
        sizes = np.bincount(self.query)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        self._sizes = sizes.astype(np.float64)
        grades = _ranks_of_grades(y, self.query, order, starts)
        # Equal weights become 1, so that sums of them are exact.
        self._queries = Queries(measure.p / measure.p.max(), grades, order, starts)
        # With an infinite margin every pair is violated, so that all pairs are counted.
        below, above = self._violated(np.zeros(len(y)), math.inf)
        pairs = np.bincount(self.query, self._queries.weights * below)
        if not pairs.sum() > 0.0:
            raise InputError(
                "there are no pairs to rank, because no query has documents of positive weight "
                f"with different grades; groups has {len(sizes)} ids for {len(y)} documents; check "
                "that groups contains the queries and y the grades"
            )
        # The mean over queries leaves out queries without pairs.
        ranked = pairs > 0.0
        shares = np.full(len(pairs), 1.0 / pairs.sum())
        if loss.normalise == "queries":
            shares = np.divide(1.0 / ranked.sum(), pairs, out=np.zeros(len(pairs)), where=ranked)
        self._shares = shares[self.query]
        self._scale = self._shares / measure.p.max()
        # The pairs in which a document is better and those in which it is worse have opposite
        # signs in its gradient.
        self.gradient_bound = measure.norm(self._scale * np.maximum(below, above))

    def evaluate(self, F: Array) -> tuple[float, Array]:
        # With equal weights, the subgradient at a document is proportional to the number of
        # violated pairs in which it is the worse document, minus those in which it is the better
        # document.
        below, above = self._violated(F, 1.0)
        slopes = self._scale * (above - below)
        # The sum of f_j − f_i over violated pairs is <slopes, F>. The slopes of a query sum to 0,
        # so that subtracting the mean of F in each query only makes rounding errors smaller.
        centre = np.bincount(self.query, F) / self._sizes
        spread = self.measure.inner(slopes, F - centre[self.query])
        return max(self.measure.mean(self._scale * below) + spread, 0.0), slopes

    def refitted(self, F: Array, leaf: Whole, leaves: int) -> Array:
        # The result is ±log(1 + |G|/H). H is the number of violated pairs of the leaf's documents.
        # G is the sum of their signs: + if the document is the better one of the pair, and −
        # otherwise. Because pairs connect different leaves, the loss of a single leaf has no
        # minimiser.
        below, above = self._violated(F, 1.0)
        p = self.measure.p * self._scale
        return damped(
            sums(leaf, p * (above - below), leaves), sums(leaf, p * (above + below), leaves)
        )

    def disagreement(self, F: Array) -> float:
        """Return the weighted share of misordered pairs, in [0, 1] (GB11, Fig. 2).

        A pair is misordered if the score of its better document is at most that of its worse
        document. F contains the scores.
        """
        # Every positive difference is at least the least positive double.
        below, _ = self._violated(F, math.nextafter(0.0, 1.0))
        return self.measure.mean(self._scale * below)

    def pairs(self) -> tuple[Whole, Whole, Array]:
        """Return the better document, the worse document and the weight of each pair.

        The weights sum to 1.
        """
        better = []
        worse = []
        weights, grades_of, order, starts = self._queries
        for start, stop in pairwise(starts):
            documents = order[start:stop]
            grades = grades_of[documents]
            i, j = np.nonzero(grades[:, None] > grades[None, :])
            better.append(documents[i])
            worse.append(documents[j])
        i = np.concatenate(better)
        j = np.concatenate(worse)
        return i, j, self._shares[i] * weights[i] * weights[j]

    def parts(self) -> tuple[Any, Risk]:
        # D maps scores to their differences in pairs, and Q is the hinge risk of the differences.
        from scipy.sparse import csr_array

        i, j, weights = self.pairs()
        rows = np.arange(len(i))
        entries = np.concatenate([np.ones(len(i)), -np.ones(len(i))])
        places = (np.concatenate([rows, rows]), np.concatenate([i, j]))
        D = csr_array((entries, places), shape=(len(i), len(self.y)))
        return D, PointwiseRisk(Hinge(), np.ones(len(i)), Empirical(len(i), weights), None)

    def expression(self, F: Any) -> Any:
        D, hinge = self.parts()
        return hinge.expression(D @ F)

    def conjugate(self, Z: Array) -> float:
        from scipy.optimize import linprog

        D, hinge = self.parts()
        # R*(Z) is the minimum of −Σ v_ij over 0 <= v_ij <= weight with Σ v_ij (e_j − e_i) = p Z.
        # HiGHS has absolute tolerances, and weights of pairs may be tiny. It drops tiny
        # coefficients, so the weights are bounds, and its presolve fixes variables at tiny bounds.
        share = hinge.measure.p / hinge.measure.p.max()
        found = linprog(
            -np.ones(share.size),
            A_eq=D.T.tocsr(),
            b_eq=-self.measure.p * Z / hinge.measure.p.max(),
            bounds=np.column_stack([np.zeros(share.size), share]),
            method="highs",
            options={
                "primal_feasibility_tolerance": 1e-9,
                "dual_feasibility_tolerance": 1e-9,
                "presolve": False,
            },
        )
        if found.status == 2:
            return math.inf
        if found.status != 0:
            raise RuntimeError(
                f"HiGHS failed to compute the conjugate of {self.loss!r}: {found.message}"
            )
        return float(found.fun * hinge.measure.p.max())

    def _violated(self, F: Array, margin: float) -> tuple[Array, Array]:
        # The results contain, for each document, the total weight of the worse documents, and of
        # the better documents, with which it forms violated pairs.
        below = np.empty(len(self.y))
        above = np.empty(len(self.y))
        F = np.ascontiguousarray(F, dtype=np.float64)
        _sweep(F, self._queries, margin, below, above)
        return below, above


def _queries(groups: Any, size: int, loss: RankingHinge) -> Whole:
    if groups is None:
        raise InputError(
            f"{loss!r} needs groups, the query id of each document; pass zeros if "
            "there is only one query"
        )
    ids = np.asarray(groups)
    if ids.shape != (size,):
        raise InputError(
            f"groups must have shape ({size},), with the query id of each document, got "
            f"{ids.shape}; if you have the sizes of the queries, pass "
            "np.repeat(np.arange(len(sizes)), sizes)"
        )
    if ids.dtype.kind == "f" and not np.isfinite(ids).all():
        bad = int(np.flatnonzero(~np.isfinite(ids))[0])
        raise InputError(f"groups must not contain missing values; document {bad} has {ids[bad]}")
    try:
        return np.unique(ids, return_inverse=True)[1].astype(np.int64)
    except TypeError as error:
        raise InputError(
            f"groups cannot be sorted, because the ids have different types ({error}); make all "
            "ids strings"
        ) from error


def _ranks_of_grades(y: Array, query: Any, order: Any, starts: Any) -> Whole:
    # These are the numbers of distinct lower grades in the query of each document.
    steps = np.zeros(len(y), dtype=np.int64)
    steps[1:] = y[order][1:] != y[order][:-1]
    steps[starts[:-1]] = 0
    total = np.cumsum(steps)
    places = np.empty(len(y), dtype=np.int64)
    places[order] = total - total[starts[:-1]][query[order]]
    return places


@njit()
def _sweep(F: Array, queries: Queries, margin: float, below: Array, above: Array) -> None:
    # A pair (i, j) of documents of the same query is violated if grade_i > grade_j and, in doubles,
    # f_i − f_j < margin. below[i] is the sum of weight_j over the violated pairs (i, j), and
    # above[j] the sum of weight_i. Because the difference of two scores is monotone in both, one
    # sweep in decreasing order of the scores gives `below`, and one in increasing order gives
    # `above`. A Fenwick tree over the grades contains the weights of the documents that the sweep
    # has passed.
    weights = queries.weights
    grades = queries.grades
    starts = queries.starts
    for q in range(starts.size - 1):
        documents = queries.order[starts[q] : starts[q + 1]]
        n = documents.size
        size = 0
        for i in documents:
            size = max(size, grades[i] + 1)
            below[i] = above[i] = 0.0
        # Documents of one grade have no pair.
        if size < 2:
            continue
        ranked = documents[np.argsort(F[documents])]
        tree = np.zeros(size + 1)
        # The j with f_i − f_j < margin come last in the order; a smaller f_i only adds such j.
        met = n - 1
        for place in range(n - 1, -1, -1):
            i = ranked[place]
            while met >= 0 and F[i] - F[ranked[met]] < margin:
                j = ranked[met]
                _add(tree, grades[j], weights[j])
                met -= 1
            below[i] = _sum_below(tree, grades[i])
        tree[:] = 0.0
        met = 0
        for place in range(n):
            j = ranked[place]
            while met < n and F[ranked[met]] - F[j] < margin:
                i = ranked[met]
                # Grades count from the top here, so that a prefix holds the grades above.
                _add(tree, size - 1 - grades[i], weights[i])
                met += 1
            above[j] = _sum_below(tree, size - 1 - grades[j])


@njit()
def _add(tree: Array, place: int, weight: float) -> None:
    # A Fenwick tree gives sums over prefixes in O(log n) time.
    k = place + 1
    while k < tree.size:
        tree[k] += weight
        k += k & -k


@njit()
def _sum_below(tree: Array, place: int) -> float:
    total = 0.0
    k = place
    while k > 0:
        total += tree[k]
        k -= k & -k
    return total
