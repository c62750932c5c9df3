"""Ranking: the hinge on pairs of documents of one query, in O(n log n) time and O(n) memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError
from relaxboost.functional.losses.base import Loss, PointwiseRisk, Risk
from relaxboost.functional.losses.leaves import damped, sums
from relaxboost.functional.losses.margins import Hinge
from relaxboost.functional.losses.pairs import Queries, violated
from relaxboost.functional.measure import Empirical

NORMALISE = ("pairs", "queries")
_TIES = math.nextafter(0.0, 1.0)


@dataclass(frozen=True)
class RankingHinge(Loss):
    """max(0, 1 − (f_i − f_j)), mean over the pairs i, j of one query with y_i > y_j.

    Targets are grades, higher the better, as numbers; `bind` needs `groups`, the query of each
    document, ids of any kind in any order. Queries of one document, or of one grade, have no pair
    and contribute nothing; some query must have a pair of positive weight. At f_i − f_j = 1 the
    subgradient of the pair is 0. With example weights a pair weighs the product of its two, so that
    a document of weight 2 is as good as two of them. Pairs are never listed, except by
    `RankingRisk.pairs` and what needs it: the cvxpy expression, the conjugate and `optimum`.

    Parameters
    ----------
    normalise : {"pairs", "queries"}
        The mean over all pairs of all queries, or the mean over queries of the mean over their
        pairs, in which a query of many documents counts no more than another.

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
    """The risk of `RankingHinge` on data."""

    shrinkage = 0.1  # since leaves need not lower it

    def __init__(self, loss: RankingHinge, y: Array, measure: Empirical, groups: Any) -> None:
        self.loss, self.y, self.measure = loss, y, measure
        self.query = _queries(groups, len(y), loss)
        """The place of each document's query among the ids."""
        order = np.lexsort((y, self.query))
        sizes = np.bincount(self.query)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        self._sizes = sizes.astype(np.float64)
        grades = _places(y, self.query, order, starts)
        # Weights of 1 where all are equal, so that counts are exact.
        self._queries = Queries(measure.p / measure.p.max(), grades, order, starts)
        below, above = self._violated(np.zeros(len(y)), math.inf)
        pairs = np.bincount(self.query, self._queries.weights * below)
        if not pairs.sum() > 0.0:
            raise InputError(
                "no query has documents of two grades (of positive weight), so that there is no "
                f"pair to rank; check that groups, with {len(sizes)} ids for {len(y)} documents, "
                "are the queries and y the grades"
            )
        ranked = pairs > 0.0
        shares = np.full(len(pairs), 1.0 / pairs.sum())
        if loss.normalise == "queries":
            shares = np.divide(1.0 / ranked.sum(), pairs, out=np.zeros(len(pairs)), where=ranked)
        self._shares = shares[self.query]
        self._scale = self._shares / measure.p.max()
        # Of a document's pairs, those where it is the better and those where it is the worse
        # pull in opposite directions.
        self.gradient_bound = measure.norm(self._scale * np.maximum(below, above))

    def evaluate(self, F: Array) -> tuple[float, Array]:
        """Return R[f] and the subgradient: with weights 1, the violated j less the violated i."""
        below, above = self._violated(F, 1.0)
        slopes = self._scale * (above - below)
        # The sum of f_j − f_i over violated pairs is that of F times slopes, query by query; there
        # the slopes sum to zero.
        centre = np.bincount(self.query, F) / self._sizes
        spread = self.measure.inner(slopes, F - centre[self.query])
        return max(self.measure.mean(self._scale * below) + spread, 0.0), slopes

    def refitted(self, F: Array, leaf: Whole, leaves: int) -> Array:
        """Return the balance of the violated pairs of each leaf, within ±log 2.

        Pairs join leaves, so that no leaf has a minimiser of its own. In the balance a document
        counts once for each violated pair, for or against.
        """
        below, above = self._violated(F, 1.0)
        p = self.measure.p * self._scale
        return damped(
            sums(leaf, p * (above - below), leaves), sums(leaf, p * (above + below), leaves)
        )

    def disagreement(self, F: Array) -> float:
        """Return the share of violated constraints, f_i <= f_j (GB11, Fig. 2), in [0, 1].

        Pairs weigh what they weigh in the risk; scores that tie violate.
        """
        below, _ = self._violated(F, _TIES)
        return self.measure.mean(self._scale * below)

    def pairs(self) -> tuple[Whole, Whole, Array]:
        """Return the better, the worse and the weight of each pair; the weights sum to 1.

        This takes memory for all of them.
        """
        better, worse = [], []
        weights, grades_of, order, starts = self._queries
        for start, stop in pairwise(starts):
            documents = order[start:stop]
            grades = grades_of[documents]
            i, j = np.nonzero(grades[:, None] > grades[None, :])
            better.append(documents[i])
            worse.append(documents[j])
        i, j = np.concatenate(better), np.concatenate(worse)
        return i, j, self._shares[i] * weights[i] * weights[j]

    def parts(self) -> tuple[Any, Risk]:
        """Return the matrix of differences of pairs, and the hinge on them."""
        from scipy.sparse import csr_array

        i, j, weights = self.pairs()
        rows = np.arange(len(i))
        entries = np.concatenate([np.ones(len(i)), -np.ones(len(i))])
        places = (np.concatenate([rows, rows]), np.concatenate([i, j]))
        D = csr_array((entries, places), shape=(len(i), len(self.y)))
        return D, PointwiseRisk(Hinge(), np.ones(len(i)), Empirical(len(i), weights), None)

    def expression(self, F: Any) -> Any:
        """Return R as a convex cvxpy expression of F, of shape (N,); it lists the pairs."""
        D, hinge = self.parts()
        return hinge.expression(D @ F)

    def conjugate(self, Z: Array) -> float:
        """Return R*(Z), by a linear program over the pairs.

        Z must be the divergence of a flow on the pairs, at most their weights:
        R*(Z) = min −Σ v_ij over 0 <= v <= weight with Σ v_ij (e_j − e_i) = p Z. HiGHS solves it,
        to its tolerance of 1e-9 relative to the largest weight.
        """
        from scipy.optimize import linprog

        D, hinge = self.parts()
        share = hinge.measure.p / hinge.measure.p.max()
        found = linprog(
            -share,
            A_eq=(D.multiply(share[:, None])).T.tocsr(),
            b_eq=-self.measure.p * Z / hinge.measure.p.max(),
            bounds=(0.0, 1.0),
            method="highs",
            options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
        )
        if found.status == 2:
            return math.inf
        if found.status != 0:
            raise RuntimeError(f"HiGHS on the conjugate of {self.loss!r}: {found.message}")
        return float(found.fun * hinge.measure.p.max())

    def _violated(self, F: Array, margin: float) -> tuple[Array, Array]:
        below, above = np.empty(len(self.y)), np.empty(len(self.y))
        F = np.ascontiguousarray(F, dtype=np.float64)
        violated(F, self._queries, margin, below, above)
        return below, above


def _queries(groups: Any, size: int, loss: RankingHinge) -> Whole:
    if groups is None:
        raise InputError(
            f"{loss!r} needs groups, the query of each document; zeros if there is one query only"
        )
    ids = np.asarray(groups)
    if ids.shape != (size,):
        raise InputError(
            f"groups need shape ({size},), the query of each document, got {ids.shape}; from sizes "
            "make them by np.repeat(np.arange(len(sizes)), sizes)"
        )
    if ids.dtype.kind == "f" and not np.isfinite(ids).all():
        bad = int(np.flatnonzero(~np.isfinite(ids))[0])
        raise InputError(f"groups must not be missing; document {bad} has {ids[bad]}")
    try:
        return np.unique(ids, return_inverse=True)[1].astype(np.int64)
    except TypeError as error:
        raise InputError(
            f"groups must be of one kind, to be sorted ({error}); make them all strings"
        ) from error


def _places(y: Array, query: Any, order: Any, starts: Any) -> Whole:
    """Return 0, 1, ... for the grades of each query from below."""
    steps = np.zeros(len(y), dtype=np.int64)
    steps[1:] = y[order][1:] != y[order][:-1]
    steps[starts[:-1]] = 0
    total = np.cumsum(steps)
    places = np.empty(len(y), dtype=np.int64)
    places[order] = total - total[starts[:-1]][query[order]]
    return places
