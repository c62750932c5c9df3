"""What plays the game of one class against the rest: weighted examples, votes, calibration."""

from __future__ import annotations

import operator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.errors import InputError
from relaxboost.certificates import Certificate, certify
from relaxboost.estimators.margin_columns import CutColumns
from relaxboost.game import Solution
from relaxboost.matrices import StumpColumn, oracle, stumps
from relaxboost.matrices.base import WRITE_DOWN_LIMIT
from relaxboost.relaxations import Capped, Caps, HardMargin, Relaxation
from relaxboost.relaxations.k_or_fraction import exact_share

INLINE = 2_000_000
"""How many numbers a certificate may write down of the data."""

OFTEN = 2
"""How many copies of a row a fold has, on average, if it comes often."""


class Examples(NamedTuple):
    """Rows as `Features.numbers` makes them, the places of their labels, weights, and groups."""

    Z: Array
    codes: Whole
    weights: Vector
    groups: Whole | None = None
    once: bool = False
    """Whether equal ones are one, and weights so copies."""

    def at(self, rows: Any) -> Examples:
        """Return some of them."""
        groups = None if self.groups is None else self.groups[rows]
        return Examples(self.Z[rows], self.codes[rows], self.weights[rows], groups, self.once)

    def merged(self) -> tuple[Examples, Whole]:
        """Return the different ones, sorted, with the sums of their weights; and where each went.

        So a game of copies and one of weights are the same, to the bit.
        """
        groups = [] if self.groups is None else [self.groups]
        keys = np.column_stack([self._places(), self.codes, *groups])
        _, first, went = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        total = np.bincount(went.ravel(), self.weights).astype(np.float64)
        return self.at(first)._replace(weights=total, once=True), went.ravel().astype(np.int64)

    def folds(self, count: int) -> list[tuple[Any, Examples]]:
        """Return which examples each fold holds out, every class spread over all, and the others.

        Groups go together, if there are enough; else equal rows, with whatever labels: those left
        in would speak against. Rows that come often with several labels will be met again; so the
        others have of them what is left on average where each copy is held out once.
        """
        unit: Any = self.groups
        if unit is None or np.unique(unit).size < count:
            unit = self._places()
        _, first, row = np.unique(unit, axis=0, return_index=True, return_inverse=True)
        order = np.lexsort((np.random.default_rng(0).random(first.size), self.codes[first]))
        fold = np.empty(order.size, dtype=np.int64)
        fold[order] = np.arange(order.size) % count
        row, left = row.ravel(), np.zeros(self.codes.size)
        if self.once and unit is not self.groups:
            labels = np.bincount(np.unique(np.column_stack([row, self.codes]), axis=0)[:, 0])
            often = (labels > 1) & (np.bincount(row, self.weights) >= OFTEN * count)
            left = np.where(often[row], self.weights * (1.0 - 1.0 / count), 0.0)
        tests = [fold[row] == one for one in np.unique(fold)]
        kept = [np.where(test, left, self.weights) for test in tests]
        return [
            (test, self._replace(weights=s).at(s > 0.0))
            for test, s in zip(tests, kept, strict=True)
        ]

    def _places(self) -> Array:
        """Return the place of each value among those of its feature; nan is one of them."""
        return np.column_stack([np.unique(x, return_inverse=True)[1] for x in self.Z.T])


class Voter(NamedTuple):
    """What predicts: the hypotheses with weight, and the columns they look at."""

    columns: CutColumns
    members: list[tuple[float, Any]]
    means: Vector
    """Of the hypotheses over the training examples."""
    offset: float = 0.0

    @classmethod
    def of(
        cls,
        columns: CutColumns,
        members: list[tuple[float, Any]],
        given: Examples,
        offset: float = 0.0,
    ) -> Voter:
        """Return the combined hypothesis of some with weights."""
        E, share = columns(given.Z), given.weights / given.weights.sum()
        return cls(columns, members, np.array([share @ _said(h, E) for _, h in members]), offset)

    def __call__(self, Z: Array) -> Vector:
        """Return the votes."""
        E, F = self.columns(Z), np.full(len(Z), self.offset)
        for c, h in self.members:
            F += c * _said(h, E)
        return F

    def cuts(self) -> list[tuple[float, StumpColumn, int]]:
        """Return the weights, the stumps and the features they cut."""
        if not all(isinstance(h, StumpColumn) for _, h in self.members):
            raise AttributeError("importances and contributions are of stumps, not of others")
        return [(c, h, int(self.columns.source[h.feature])) for c, h in self.members]

    def contributions(self, Z: Array) -> Array:
        """Return what each feature adds to the mean of the votes, and that mean, (N, d + 1).

        A stump looks at one feature, so that its SHAP value is c (h(x) − E h) there, 0 elsewhere.
        """
        E, out = self.columns(Z), np.zeros((len(Z), Z.shape[1] + 1))
        out[:, -1] = self.offset
        for (c, h, f), mean in zip(self.cuts(), self.means.tolist(), strict=True):
            out[:, f] += c * (h(E) - mean)
            out[:, -1] += c * mean
        return out

    def words(self) -> list[tuple[float, str]]:
        """Return (weight > 0, what it says) of the hypotheses, the largest weights first."""
        told = [
            (abs(c), self.columns.words(h, c > 0))
            if isinstance(h, StumpColumn)
            else (abs(c), "not " * (c < 0) + f"{h!r} no. {n}")  # trees all have the same repr
            for n, (c, h) in enumerate(self.members)
        ]
        return sorted(told, key=lambda pair: -pair[0])


def _said(h: Any, E: Array) -> Vector:
    """Return what a hypothesis says of columns."""
    return np.asarray(getattr(h, "predict", h)(E), dtype=np.float64)


def takes_weights(f: Relaxation) -> bool:
    """Return whether examples can have weights."""
    prior = f.per_example == "prior" and getattr(f, "prior", 0) is None
    return prior or isinstance(f, Capped | HardMargin)


def weighted(f: Relaxation, weights: Vector) -> Relaxation:
    """Return the relaxation in which weights are copies of examples.

    Copies share what one may weigh: s of them have the cap s / k, where k is the fraction, which
    `Capped` must have, of the sum of weights.
    """
    each, at, counts = np.unique(weights, return_inverse=True, return_counts=True)
    values = [Fraction(s) for s in each.tolist()]
    total = sum(map(operator.mul, values, counts.tolist()), Fraction(0))
    if isinstance(f, Capped):
        k = exact_share(f.fraction) * total
        if each.size == 1:
            return Capped(k=max(Fraction(1), k / values[0]))
        caps = [min(Fraction(1), s / k) for s in values]
        return Caps(tuple(caps[i] for i in at.tolist()))
    if each.size == 1 or isinstance(f, HardMargin):
        return f
    if not takes_weights(f):
        raise InputError(
            f"{f!r} takes no weights of examples; leave sample_weight and class_weight out, or use "
            'relaxation="capped", KLPenalty or KLBall'
        )
    prior = [s / total for s in values]
    return replace(f, prior=tuple(prior[i] for i in at.tolist()))  # type: ignore[type-var]


def made(hypotheses: Any, E: Array, signs: Vector, cuts: int | None = None) -> Any:
    """Return the margin matrix of columns and signs; with `cuts` no learner's, and so few stumps.

    Signs of 1 make it what the hypotheses say.
    """
    if isinstance(hypotheses, str) and hypotheses == "stumps":
        return stumps(E, signs, max_cuts=cuts)
    if hasattr(hypotheses, "fit") and cuts is None:
        # Slack 0: a run ends where the learner finds nothing better. Its bracket is not kept.
        return oracle(hypotheses, E, signs, slack=0.0)
    if callable(hypotheses) and not hasattr(hypotheses, "fit"):
        return hypotheses(E, signs)
    learner = "" if cuts else "a scikit-learn classifier, "
    raise InputError(
        f'hypotheses must be "stumps", {learner}or a function of (X, y) that returns a margin '
        f"matrix, got {hypotheses!r}"
    )


def check_written(rows: int, hypotheses: int) -> None:
    """Raise if a game with these numbers of rows and columns is too large to write down."""
    if rows * hypotheses > WRITE_DOWN_LIMIT:
        raise InputError(
            f"this game has {rows} x {hypotheses} entries, more than {WRITE_DOWN_LIMIT:.0e}; give "
            "fewer examples, or hypotheses=partial(relaxboost.matrices.stumps, max_cuts=8)"
        )


def proof(solution: Solution) -> Certificate:
    """Return the certificate, with the data of the matrix where they are few enough."""
    game = solution.game
    try:
        few = game.n is not None and game.matrix.data().size <= INLINE
    except InputError:  # chunked, with cuts left out
        few = False
    return certify(solution, inline=few)
