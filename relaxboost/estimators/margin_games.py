"""Weighted examples, weighted sums of hypotheses, and the games that are built from them."""

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
"""The maximum number of entries of a margin matrix, or of the data from which stumps are made, that
the certificate of an estimator contains. For larger data, the certificate contains the SHA-256, and
`check_certificate` needs the matrix."""

FREQUENT_COPIES = 10
"""The number of copies from which a row of the training data is frequent. A frequent row is
expected to occur again. If its copies have different labels, folds and bootstrap samples therefore
do not hold out all copies together. With ten copies, each of five folds has two on average."""


class Examples(NamedTuple):
    """The training examples: rows of numbers, indices of labels, weights and groups."""

    Z: Array
    codes: Whole
    weights: Vector
    groups: Whole | None = None
    once: bool = False
    """Whether equal training examples were merged into one example each."""
    copies: Vector | None = None
    """The number of copies of each training example. If it is None, the weights are the numbers of
    copies."""
    seed: int = 0
    """The seed for the random choices of folds and trees."""

    @property
    def counts(self) -> Vector:
        """The number of copies of each training example, which need not be an integer."""
        return self.weights if self.copies is None else self.copies

    def at(self, rows: Any) -> Examples:
        """Return the examples that the given indices or the given mask select."""
        groups = None if self.groups is None else self.groups[rows]
        copies = None if self.copies is None else self.copies[rows]
        kept = self._replace(Z=self.Z[rows], codes=self.codes[rows], weights=self.weights[rows])
        return kept._replace(groups=groups, copies=copies)

    def merged(self) -> tuple[Examples, Whole]:
        """Return the examples without duplicates, and for each row the index of its example.

        The weight of an example is the sum of the weights of its copies. Repeated rows and rows
        with weights therefore give the same game, bit for bit.
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
        """Return, for each fold, a mask of the held-out examples, and the examples for training.

        Every class is spread over all folds. Groups stay together if there are at least `count`
        groups. Otherwise equal rows stay together, even if their labels differ, because a held-out
        row must not occur in training with another label. Frequent rows with several labels are an
        exception, because they are expected to occur again. The fold that holds such a row out also
        keeps it in training, with 1 − 1/count of its weight. This is the share that would remain,
        on average, if the copies of the row were spread over the folds.
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
            is_kept = self._are_frequent(row)
            left = np.where(is_kept, self.weights * (1.0 - 1.0 / count), 0.0)
        tests = [fold[row] == number for number in np.unique(fold)]
        kept = [np.where(test, left, self.weights) for test in tests]
        return [
            (test, self._replace(weights=s).at(s > 0.0))
            for test, s in zip(tests, kept, strict=True)
        ]

    def units(self) -> Whole:
        """Return, for each example, the index of a set of examples that are drawn together.

        Bootstrap samples draw all examples of such a set, or none of them. Equal rows form one set,
        even if their labels differ, as in `folds`. Frequent rows with several labels have the index
        −1. Their copies are drawn one by one, because such rows are expected to occur again.
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
        """Return the rank of each value among the values of its feature, including nan."""
        return np.column_stack([np.unique(x, return_inverse=True)[1] for x in self.Z.T])


class Voter(NamedTuple):
    """A weighted sum of hypotheses, with the columns of the data that the hypotheses read."""

    columns: Columns
    members: list[tuple[float, Any]]
    means: Vector
    """The mean output of each hypothesis over the training examples.

    It is nan for hypotheses that are not stumps.
    """
    offset: float = 0.0

    @classmethod
    def of(
        cls,
        columns: Columns,
        members: list[tuple[float, Any]],
        given: Examples,
        offset: float = 0.0,
    ) -> Voter:
        """Return the weighted sum of the hypotheses in `members`.

        The list `members` contains pairs of a weight and a hypothesis.
        """
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
        """Return the importance of each feature, which is a sum of absolute weights of hypotheses.

        The absolute weight of a stump counts for its only feature. The absolute weight of a tree is
        split among its features in proportion to how much they decrease the squared error.
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
        """Return the contribution of each feature, and in the last column the mean vote."""
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
        """Return a pair (weight, description) for each hypothesis, in order of decreasing weight.

        If a hypothesis has a negative weight, its negative is described, and the weight is
        positive.
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
    """Return whether a relaxation accepts weights of examples."""
    # A user-defined prior already has a number for each example.
    prior = f.per_example == "prior" and getattr(f, "prior", 0) is None
    return prior or isinstance(f, Capped | HardMargin)


def weighted(f: Relaxation, weights: Vector) -> Relaxation:
    """Return the relaxation in which an example of weight s is treated as s copies.

    A `Capped` relaxation must be specified by its `fraction`. Its k becomes this fraction of the
    total weight, and an example of weight s has the cap s / k.
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
    """Return the margin matrix of the hypotheses: their predictions for the rows of E, times the
    labels −1 and +1 in `signs`.

    If `cuts` is given, at most this number of stumps is made from each column of E. Weak learners
    are then rejected, because the game needs all hypotheses in advance.
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
            f"this game has {rows} x {hypotheses} entries, more than {MAX_DENSE_ENTRIES:.0e}; pass "
            "fewer examples, or hypotheses=partial(relaxboost.matrices.stumps, max_cuts=8)"
        )


def proof(solution: Solution) -> Certificate:
    """Return the certificate of a solution, which contains the matrix if it is small."""
    game = solution.game
    try:
        size = game.matrix.data().size if game.n is not None else math.inf
    except InputError:  # A chunked matrix that lacks some of its cuts cannot list its entries.
        size = math.inf
    return certify(solution, inline=size <= MAX_NUMBERS_IN_CERTIFICATE)
