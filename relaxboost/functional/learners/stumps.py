"""Decision stumps: trees with one split, and a number or a vector in each leaf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.random import Generator

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count
from relaxboost.functional.learners.base import (
    Hypothesis,
    Pool,
    WeakLearner,
    check_finite,
    check_width,
    numbers,
    training,
)
from relaxboost.functional.learners.histograms import Bins, best_split
from relaxboost.functional.measure import Empirical


@dataclass(frozen=True, eq=False)
class StumpHypothesis(Hypothesis):
    """The decision stump h(x) = leaves[0] if x_j <= threshold, and leaves[1] otherwise.

    Attributes
    ----------
    feature : int
        The index j of the feature.
    threshold : float
        The threshold of the split, or inf if the function is constant.
    leaves : array of shape (2,) or (2, K)
        The leaf values, with a column for each output if there are several.
    width : int
        The number of features.
    gain : float
        The decrease in squared error from the best constant to the stump, for the target of its
        round.
    """

    feature: int
    threshold: float
    leaves: Array
    width: int
    gain: float = 0.0

    def gains(self) -> tuple[Whole, Array]:
        return np.array([self.feature]), np.array([self.gain])

    def __call__(self, X: Array) -> Array:
        above = _finite_column(X, self.feature, self.width) > self.threshold
        if self.leaves.ndim == 1:
            return np.where(above, self.leaves[1], self.leaves[0])
        return self.leaves[above.astype(np.intp)]

    def with_leaves(self, values: Array) -> StumpHypothesis:
        return replace(self, leaves=values)

    def described(self) -> dict[str, Any]:
        # JSON has no infinity, which is the threshold of a constant.
        threshold = self.threshold if np.isfinite(self.threshold) else None
        parts = {"feature": self.feature, "threshold": threshold, "gain": self.gain}
        return parts | {"leaves": self.leaves.tolist()}

    @classmethod
    def restored(cls, given: dict[str, Any], width: int) -> StumpHypothesis:
        """Return the stump from a dictionary that `described` returned, for `width` features."""
        feature = given["feature"]
        threshold = given["threshold"]
        cut = float("inf") if threshold is None else numbers("threshold", threshold).item()
        gain = numbers("gain", given["gain"]).item()
        if type(feature) is not int or not 0 <= feature < width or gain < 0.0:
            raise ValueError(
                f"feature must be below {width}, and gain must be >= 0, got {feature!r}, {gain}"
            )
        return cls(feature, cut, numbers("leaves", given["leaves"], 2), width, gain)

    @classmethod
    def combined(
        cls, weights: Array, hypotheses: Sequence[Hypothesis], X: Any, total: Array
    ) -> None:
        X = np.asarray(X)
        # The stumps of a feature are a step function, so one search for each row is enough.
        by_feature: dict[int, list[int]] = {}
        for place, h in enumerate(hypotheses):
            by_feature.setdefault(h.feature, []).append(place)  # type: ignore[attr-defined]
        for feature, places in sorted(by_feature.items()):
            some: list[Any] = [hypotheses[place] for place in places]
            for width in {h.width for h in some}:
                x = _finite_column(X, feature, width)
            thresholds = np.array([h.threshold for h in some])
            # Between two neighbouring thresholds the sum is constant.
            order = np.argsort(thresholds, kind="stable")
            leaves = np.array([h.leaves for h in some])[order]
            leaves *= weights[places][order].reshape(-1, *[1] * (leaves.ndim - 1))
            # Row i is the sum for an x that is above exactly i thresholds.
            sums = np.zeros((len(some) + 1, *leaves.shape[2:]))
            np.cumsum(leaves[:, 1], axis=0, out=sums[1:])
            sums[:-1] += np.cumsum(leaves[::-1, 0], axis=0)[::-1]
            total += sums[np.searchsorted(thresholds[order], x, side="left")]


def _finite_column(X: Any, feature: int, width: int) -> Array:
    X = np.asarray(X)
    check_width(X, width, "the stump was")
    x = X[:, feature].astype(np.float64)
    check_finite(x[:, None], feature)
    return x


class RegressionStumps(WeakLearner):
    """A weak learner for stumps with any number or vector in each leaf.

    The search returns the stump nearest to the target among all splits. Its leaf values are
    weighted means of the target. Both projections choose the same stump, because multiples of
    stumps are stumps. Ties, up to rounding errors, go to the first feature and then to the least
    threshold. If all features are constant, so is the stump.

    Parameters
    ----------
    bins : int, optional
        The maximum number of bins per feature, >= 2, which are separated by quantiles. If a feature
        has at most `bins` values, or if `bins` is None, any two neighbouring values can be split.

    References
    ----------
    Grubb & Bagnell (2011), Eqs. 3 and 4.
    """

    name = "stumps"
    leafy = True
    # The shrinkage is larger than for trees, because a stump fits a target less well than a tree.
    shrinkage = 0.3
    signs: ClassVar[bool] = False
    """Whether every leaf value is −1 or +1."""

    def __init__(self, bins: int | None = 255) -> None:
        self.bins = None if bins is None else count("bins", bins)
        if self.bins == 1:
            raise InputError("bins must be at least 2, or None to allow every split")

    def prepare(
        self, X: Any, measure: Empirical, outputs: int | None, projection: str, rng: Generator
    ) -> Pool:
        if self.signs and outputs is not None:
            raise InputError(
                f"{self!r} has one output, but the loss needs {outputs}; use RegressionStumps()"
            )
        return _Search(training(X, measure), measure, self.bins, self.signs)


class ClassificationStumps(RegressionStumps):
    """A weak learner for stumps with −1 or +1 in each leaf, and the constants ±1.

    The search returns the stump h with the largest <v, h> for the target v, which is also the best
    classifier of the sign of v with weights |v|. Both projections choose it, because ‖h‖ = 1 and
    the class is closed under negation. Ties go to the first feature and then to the least
    threshold. If the target sums to 0 over a leaf, its value is +1.

    Parameters
    ----------
    bins : int, optional
        As for `RegressionStumps`.

    References
    ----------
    Grubb & Bagnell (2011), Eq. 3 and Theorem 1.
    """

    name = ""
    leafy = False
    signs = True


class _Search(Pool):
    def __init__(self, X: Array, measure: Empirical, bins: int | None, signs: bool) -> None:
        self._width = X.shape[1]
        self._signs = signs
        self._uniform = measure.uniform
        # A common factor of the weights changes no split, and sums of weights 1 are exact.
        self._p = np.ones(measure.size) if measure.uniform else measure.p
        self._bins = Bins(X, self._p, bins)
        self._found = 0, 0

    def nearest(self, target: Array) -> tuple[Hypothesis, Array]:
        flat = target.reshape(len(target), -1)
        v = flat if self._uniform else self._p[:, None] * flat
        shape = target.shape[1:]
        bins = self._bins
        total = np.full(2, self._p.sum())
        # All features are constant, and so is the best stump.
        if not bins.features.size:
            leaves = self._leaves(np.stack([v.sum(axis=0)] * 2), total).reshape(2, *shape)
            values = np.repeat(leaves[:1], len(target), axis=0)
            return StumpHypothesis(0, float("inf"), leaves, self._width), values
        row, place, sums = best_split(bins, v, self._signs)
        # `Refitted` asks for the leaves of this stump directly after the search.
        self._found = row, place
        weights = np.array([bins.before[row, place], bins.after[row, place]])
        leaves = self._leaves(sums, weights)
        # The gain is measured from the best constant, which is written as a stump with half of the
        # weight in each leaf.
        whole = np.stack([sums.sum(axis=0) / 2.0] * 2)
        constant = self._leaves(2.0 * whole, total)
        gain = _decrease(sums, leaves, weights) - _decrease(whole, constant, total / 2.0)
        h = StumpHypothesis(
            int(bins.features[row]),
            float(bins.thresholds[row][place]),
            leaves.reshape(2, *shape),
            self._width,
            max(0.0, gain),
        )
        return h, h.leaves.take(bins.codes[row] > place, axis=0)

    def leaves(self, h: Hypothesis) -> tuple[Whole, int]:
        if not self._bins.features.size:
            return np.zeros(len(self._p), dtype=np.int64), 2
        row, place = self._found
        return (self._bins.codes[row] > place).astype(np.int64), 2

    def _leaves(self, sums: Array, weights: Array) -> Array:
        return np.where(sums < 0.0, -1.0, 1.0) if self._signs else sums / weights[:, None]


def _decrease(sums: Array, leaves: Array, weights: Array) -> float:
    # The nearest multiple of h decreases the squared error by <v, h>²/‖h‖².
    square = float(weights @ (leaves * leaves).sum(axis=1))
    return float((sums * leaves).sum()) ** 2 / (square or 1.0)
