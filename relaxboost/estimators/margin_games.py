"""Weighted examples, votes, and the games built from them."""

from __future__ import annotations

import math
import operator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.errors import InputError, brief
from relaxboost.certificates import Certificate, certify
from relaxboost.estimators.margin_columns import CutColumns
from relaxboost.estimators.margin_trees import Columns, PooledTree
from relaxboost.game import Solution
from relaxboost.matrices import StumpColumn, oracle, stumps
from relaxboost.matrices.base import MAX_DENSE_ENTRIES
from relaxboost.relaxations import Capped, Caps, HardMargin, Relaxation
from relaxboost.relaxations.k_or_fraction import exact_share

MAX_NUMBERS_IN_CERTIFICATE = 2_000_000
"""The maximum number of matrix or data entries that an estimator's certificate contains. For larger
data, the certificate contains the SHA-256, and `check_certificate` needs the matrix."""

FREQUENT_COPIES = 10
"""A training row with at least this number of copies is called frequent: it is expected to occur
again in new data. With ten copies, each of five folds contains two of them on average."""


class Examples(NamedTuple):
    """The training examples: rows, label indices, weights and groups."""

    Z: Array
    codes: Whole
    weights: Vector
    groups: Whole | None = None
    once: bool = False
    """Whether equal training examples were merged."""
    copies: Vector | None = None
    """The number of copies of each example. If it is None, the weights count the copies."""
    seed: int = 0
    """The seed for folds and trees."""

    @property
    def counts(self) -> Vector:
        """The number of copies of each example, which need not be an integer."""
        return self.weights if self.copies is None else self.copies

    def at(self, rows: Any) -> Examples:
        """Return the examples selected by indices or a mask."""
        groups = None if self.groups is None else self.groups[rows]
        copies = None if self.copies is None else self.copies[rows]
        kept = self._replace(Z=self.Z[rows], codes=self.codes[rows], weights=self.weights[rows])
        return kept._replace(groups=groups, copies=copies)

    def merged(self) -> tuple[Examples, Whole]:
        """Return the examples with equal ones merged, and the index of each row's merged example.

        Weights are added, so that repeated rows and weighted rows give the same game, bit for bit.
        """
        groups = [] if self.groups is None else [self.groups]
        keys = np.column_stack([self._places(), self.codes, *groups])
        _, first, went = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        went = went.ravel()
        # Sums of sorted weights do not depend on the order of the rows.
        order = np.lexsort((self.weights, went))
        total = np.bincount(went[order], self.weights[order]).astype(np.float64)
        return self.at(first)._replace(weights=total, once=True), went.astype(np.int64)

    def folds(self, count: int) -> list[tuple[Any, Examples]]:
        """For each fold, return a mask of the held-out examples, and the training examples.

        Every class is spread over all folds. Groups stay together if there are at least `count`
        groups; otherwise equal rows stay together. Frequent rows with several labels stay in
        training, with 1 − 1/count of their weight, even if they are held out.
        """
        # scikit-learn's StratifiedGroupKFold knows neither weights of copies nor this exception.
        unit: Any = self.groups
        if unit is None or np.unique(unit).size < count:
            unit = self._places()
        _, first, row = np.unique(unit, axis=0, return_index=True, return_inverse=True)
        # The folds get the units of each class in turn, in random order.
        order = np.lexsort((np.random.default_rng(self.seed).random(first.size), self.codes[first]))
        fold = np.empty(order.size, dtype=np.int64)
        fold[order] = np.arange(order.size) % count
        row = row.ravel()
        left = np.zeros(self.codes.size)
        if self.once and unit is not self.groups:
            # Other rows must not occur in training with another label. Frequent rows keep the
            # weight that would remain, on average, if their copies were spread over the folds.
            is_kept = self._are_frequent(row)
            left = np.where(is_kept, self.weights * (1.0 - 1.0 / count), 0.0)
        tests = [fold[row] == number for number in np.unique(fold)]
        kept = [np.where(test, left, self.weights) for test in tests]
        return [
            (test, self._replace(weights=s).at(s > 0.0))
            for test, s in zip(tests, kept, strict=True)
        ]

    def units(self) -> Whole:
        """For each example, return the index of the set of examples to which it belongs.

        The bootstrap draws all examples of a set, or none. Equal rows form one set, except frequent
        rows with several labels. Their index is −1, and their copies are drawn one by one.
        """
        row = np.unique(self._places(), axis=0, return_inverse=True)[1].ravel()
        if self.once:
            row[self._are_frequent(row)] = -1
        drawn = row >= 0
        row[drawn] = np.unique(row[drawn], return_inverse=True)[1]
        return row

    def _are_frequent(self, row: Whole) -> Any:
        labels = np.bincount(np.unique(np.column_stack([row, self.codes]), axis=0)[:, 0])
        return ((labels > 1) & (np.bincount(row, self.counts) >= FREQUENT_COPIES))[row]

    def _places(self) -> Array:
        """Return the rank of each value in its feature, including nan."""
        return np.column_stack([np.unique(x, return_inverse=True)[1] for x in self.Z.T])


class Voter(NamedTuple):
    """A weighted sum of hypotheses, with the columns that they read."""

    columns: Columns
    members: list[tuple[float, Any]]
    means: Vector
    """The mean output of each stump over the training examples, and nan for other hypotheses."""
    offset: float = 0.0

    @classmethod
    def of(
        cls,
        columns: Columns,
        members: list[tuple[float, Any]],
        given: Examples,
        offset: float = 0.0,
    ) -> Voter:
        """Return the weighted sum of `members`, which are pairs of a weight and a hypothesis."""
        E = columns(given.Z)
        share = given.weights / given.weights.sum()
        # The means are only used by the contributions, which exist for stumps only.
        means = [
            float(share @ h(E)) if isinstance(h, StumpColumn) else math.nan for _, h in members
        ]
        return cls(columns, members, np.array(means), offset)

    def __call__(self, Z: Array) -> Vector:
        """Return the vote for each row of Z, in which categories are numbers."""
        E = self.columns(Z)
        F: Vector = np.full(len(Z), self.offset)
        for c, h in self.members:
            F += c * np.asarray(getattr(h, "predict", h)(E), dtype=np.float64)
        return F

    def importances(self, features: int) -> Vector:
        """Return the importance of each feature, a sum of absolute hypothesis weights.

        The weight of a tree is split among its features in proportion to their decrease in squared
        error.
        """
        total = np.zeros(features)
        for c, h in self.members:
            if isinstance(h, PooledTree):
                np.add.at(total, self.columns.source, abs(c) * h.importances())
            elif isinstance(h, StumpColumn):
                total[self.columns.source[h.feature]] += abs(c)
            else:
                raise AttributeError(
                    'feature importances exist only for hypotheses="stumps" and hypotheses="auto"'
                )
        return total

    def contributions(self, Z: Array) -> Array:
        """Return the contribution of each feature, with the mean vote in the last column."""
        if not all(isinstance(h, StumpColumn) for _, h in self.members):
            raise AttributeError(
                'feature contributions exist only for stumps; fit with hypotheses="stumps"'
            )
        # A stump h of weight c reads one feature. Its SHAP value is c (h(x) − E h) for this
        # feature, and 0 for the others.
        E = self.columns(Z)
        out = np.zeros((len(Z), Z.shape[1] + 1))
        out[:, -1] = self.offset
        for (c, h), mean in zip(self.members, self.means.tolist(), strict=True):
            out[:, self.columns.source[h.feature]] += c * (h(E) - mean)
            out[:, -1] += c * mean
        return out

    def words(self) -> list[tuple[float, str]]:
        """Return the weights and descriptions of the hypotheses, sorted by decreasing weight.

        A hypothesis with a negative weight is negated.
        """
        described = [
            (abs(c), self.columns.words(h, c > 0))
            if isinstance(h, StumpColumn) and isinstance(self.columns, CutColumns)
            # The representation is the same for all trees.
            else (abs(c), "not " * (c < 0) + f"{h!r} no. {n}")
            for n, (c, h) in enumerate(self.members)
        ]
        return sorted(described, key=lambda pair: -pair[0])


def takes_weights(f: Relaxation) -> bool:
    """Return whether a relaxation supports example weights."""
    # A user-defined prior already has a number for each example.
    prior = f.per_example == "prior" and getattr(f, "prior", 0) is None
    return prior or isinstance(f, Capped | HardMargin)


def weighted(f: Relaxation, weights: Vector) -> Relaxation:
    """Return the relaxation in which an example of weight s counts as s copies.

    A `Capped` relaxation needs a `fraction`. Its k becomes this fraction of the total weight, and
    an example of weight s has the cap s / k.
    """
    # The sums are exact, because copies and weights must give the same game to the bit. Fractions
    # are slow, and are made once for equal weights.
    each, at, counts = np.unique(weights, return_inverse=True, return_counts=True)
    values = [Fraction(s) for s in each.tolist()]
    total = sum(map(operator.mul, values, counts.tolist()), Fraction(0))
    if isinstance(f, Capped):
        k = exact_share(f.fraction) * total
        if each.size == 1:
            # `Capped` represents equal caps by one number.
            return Capped(k=max(Fraction(1), k / values[0]))
        caps = [min(Fraction(1), s / k) for s in values]
        return Caps(tuple(caps[i] for i in at.tolist()))
    if each.size == 1 or isinstance(f, HardMargin):
        return f
    if not takes_weights(f):
        raise InputError(
            f"{brief(f)} does not support example weights; leave sample_weight and class_weight "
            'out, or use relaxation="capped"'
        )
    # Copies of an example share its prior probability.
    prior = [s / total for s in values]
    return replace(f, prior=tuple(prior[i] for i in at.tolist()))  # type: ignore[type-var]


def made(hypotheses: Any, E: Array, signs: Vector, cuts: int | None = None) -> Any:
    """Return the margin matrix of the hypotheses on the rows of E with labels ±1.

    If `cuts` is given, each column of E gets at most this number of stumps, and weak learners are
    rejected.
    """
    if isinstance(hypotheses, str) and hypotheses == "stumps":
        return stumps(E, signs, max_cuts=cuts)
    if hasattr(hypotheses, "fit") and cuts is None:
        # With slack 0 a run ends when the learner finds no better hypothesis. The slack may be
        # wrong, but the bounds of that run are not kept (`margin_paths._over_known`).
        return oracle(hypotheses, E, signs, slack=0.0)
    if callable(hypotheses) and not hasattr(hypotheses, "fit"):
        return hypotheses(E, signs)
    # Only classifiers accept trees and weak learners, because their games may have unknown columns.
    learner = "" if cuts else "a scikit-learn classifier, "
    trees = "" if cuts else '"auto" (trees), '
    raise InputError(
        f'hypotheses must be {trees}"stumps", {learner}or a function of (X, y) that returns a '
        f"margin matrix, got {hypotheses!r}"
    )


def check_written(rows: int, hypotheses: int) -> None:
    """Raise an InputError if the matrix of a game is too large to be stored."""
    if rows * hypotheses > MAX_DENSE_ENTRIES:
        raise InputError(
            f"the matrix of this game has {rows} x {hypotheses} entries, more than "
            f"{MAX_DENSE_ENTRIES:.0e}; pass "
            "fewer examples, or hypotheses=partial(relaxboost.matrices.stumps, max_cuts=8)"
        )


def proof(solution: Solution) -> Certificate:
    """Return the certificate of a solution. It contains the matrix if the matrix is small."""
    game = solution.game
    try:
        size = game.matrix.data().size if game.n is not None else math.inf
    except InputError:  # A chunked matrix that lacks some of its cuts cannot list its entries.
        size = math.inf
    return certify(solution, inline=size <= MAX_NUMBERS_IN_CERTIFICATE)
