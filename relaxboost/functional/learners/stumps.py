"""Decision stumps: one split x_j <= c, and a number or a vector in each leaf."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count
from relaxboost.functional.learners import histograms
from relaxboost.functional.learners.base import (
    PROJECTIONS,
    Hypothesis,
    Pool,
    WeakLearner,
    check_width,
    numbers,
    training,
)
from relaxboost.functional.learners.binning import Bins
from relaxboost.functional.measure import Empirical


@dataclass(frozen=True, eq=False)
class StumpHypothesis(Hypothesis):
    """h(x) = leaves[0] if x_j <= threshold, else leaves[1].

    Attributes
    ----------
    feature : int
        j.
    threshold : float
        inf for a constant.
    leaves : array of shape (2,) or (2, K)
    width : int
        The number of features d of the rows it takes.
    gain : float
        What it lowered the squared error of its target by, beyond the best constant, in units of
        the run.
    """

    feature: int
    threshold: float
    leaves: Array
    width: int
    gain: float = 0.0

    def gains(self) -> tuple[Whole, Array]:
        return np.array([self.feature]), np.array([self.gain])

    def __call__(self, X: Array) -> Array:
        above = _column(X, self.feature, self.width) > self.threshold
        if self.leaves.ndim == 1:
            return np.where(above, self.leaves[1], self.leaves[0])
        return self.leaves[above.astype(np.intp)]

    def with_leaves(self, values: Array) -> StumpHypothesis:
        return replace(self, leaves=values)

    def described(self) -> dict[str, Any]:
        threshold = self.threshold if np.isfinite(self.threshold) else None
        parts = {"feature": self.feature, "threshold": threshold, "gain": self.gain}
        return parts | {"leaves": self.leaves.tolist()}

    @classmethod
    def restored(cls, given: dict[str, Any], width: int) -> StumpHypothesis:
        """Return the stump that was `described`; see `Hypothesis.described`."""
        feature, threshold = given["feature"], given["threshold"]
        cut = float("inf") if threshold is None else numbers("threshold", threshold).item()
        gain = numbers("gain", given["gain"]).item()
        if type(feature) is not int or not 0 <= feature < width or gain < 0.0:
            raise ValueError(f"feature must be below {width}, gain >= 0, got {feature!r}, {gain}")
        return cls(feature, cut, numbers("leaves", given["leaves"], 2), width, gain)

    @classmethod
    def combined(
        cls, weights: Array, hypotheses: Sequence[Hypothesis], X: Any, total: Array
    ) -> None:
        """Add Σ w h(X) to `total`, in place: one search in the thresholds for each feature.

        The sum is that of the stumps one by one, up to rounding.
        """
        X = np.asarray(X)
        by_feature: dict[int, list[int]] = {}
        for place, h in enumerate(hypotheses):
            by_feature.setdefault(h.feature, []).append(place)  # type: ignore[attr-defined]
        for feature, places in sorted(by_feature.items()):
            some: list[Any] = [hypotheses[place] for place in places]
            for width in {h.width for h in some}:
                x = _column(X, feature, width)
            thresholds = np.array([h.threshold for h in some])
            order = np.argsort(thresholds, kind="stable")
            leaves = np.array([h.leaves for h in some])[order]
            leaves *= weights[places][order].reshape(-1, *[1] * (leaves.ndim - 1))
            # Row i: the sum where i thresholds lie below x. Both parts are summed from their end.
            sums = np.zeros((len(some) + 1, *leaves.shape[2:]))
            np.cumsum(leaves[:, 1], axis=0, out=sums[1:])
            sums[:-1] += np.cumsum(leaves[::-1, 0], axis=0)[::-1]
            total += sums[np.searchsorted(thresholds[order], x, side="left")]


def _column(X: Any, feature: int, width: int) -> Array:
    """Return a feature of rows X, or raise where there are not `width` or it is not a number."""
    X = np.asarray(X)
    check_width(X, width, "the stump was")
    x = X[:, feature].astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(x))
    if bad.size:
        raise InputError(
            f"features must be finite; row {bad[0]}, column {feature} has {x[bad[0]]}; "
            "impute or drop it"
        )
    return x


class _Stumps(WeakLearner):
    """What all classes of stumps share: the bins, and the search over them."""

    kind: int = histograms.SQUARES
    shrinkage = 0.3  # for want of depth longer steps

    def __init__(self, bins: int | None = 255) -> None:
        self.bins = None if bins is None else count("bins", bins)
        if self.bins == 1:
            raise InputError("bins must be at least 2, one for each leaf; None takes every split")

    @abstractmethod
    def _check(self, outputs: int | None) -> None:
        """Raise where the class has no functions of so many outputs."""

    def prepare(
        self, X: Any, measure: Empirical, outputs: int | None, projection: str, rng: Generator
    ) -> Pool:
        self._check(outputs)
        X = training(X, measure)
        return _Pool(X.shape[1], Bins(X, measure.p, self.bins), measure, self.kind)


class RegressionStumps(_Stumps):
    """All stumps with any number, or any vector, in each leaf.

    The projection is exact over all splits: the stump of least ‖v − h‖ has the weighted means of
    the target in its leaves, and the split of largest Σ over leaves ‖Σ p v‖²/Σ p. Multiples of a
    stump are stumps, so that Eq. 3 and Eq. 4 choose the same. Ties, up to rounding,
    go to the first feature, then to the least threshold; where all features are constant it is the
    constant.

    Parameters
    ----------
    bins : int, optional
        At most so many bins of a feature, >= 2, at its quantiles; None for a split between any two
        neighbouring values, which a feature of at most `bins` values has in any case.

    References
    ----------
    Grubb & Bagnell (2011), Eqs. 3 and 4.
    """

    name = "stumps"
    leafy = True

    def _check(self, outputs: int | None) -> None:
        pass


class ClassificationStumps(_Stumps):
    """All stumps with −1 or +1 in each leaf, both constants among them; of one output.

    The class has −h with each h and ‖h‖ = 1, so that Eq. 3 and Eq. 4 both choose the largest
    <v, h>: the smallest error in classifying sign v_n with weights p_n abs(v_n). Ties go to the
    first feature, then to the least threshold; a leaf without a preference is +1.

    Parameters
    ----------
    bins : int, optional
        As for `RegressionStumps`.

    References
    ----------
    Grubb & Bagnell (2011), Eq. 3 and Theorem 1.
    """

    kind = histograms.SIGNS

    def _check(self, outputs: int | None) -> None:
        if outputs is not None:
            raise InputError(
                f"{self!r} has one output, and the loss needs {outputs}; use MulticlassStumps() or "
                "RegressionStumps()"
            )


class MulticlassStumps(_Stumps):
    """GB11's multiclass decision stumps: one split, and in each leaf a vector of K >= 2 outputs.

    Parameters
    ----------
    leaf : {"vector", "class"}
        "vector": any vector, as `RegressionStumps` has; it takes the least-squares projection.
        "class": a class k, as the vector that is 1 at k and −1/(K−1) elsewhere (Theorem 2). It has
        h without −h, ‖h‖² = K/(K−1) for all, and takes Eq. 3, the largest <v, h>. Every such stump
        is among those with vectors, whose edge is therefore at least as large; the paper's
        experiments do not say which they used. Ties go to the first feature, then to the least
        threshold, and in a leaf to the first class.
    bins : int, optional
        As for `RegressionStumps`.

    References
    ----------
    Grubb & Bagnell (2011), Theorem 2 and Sec. 5.
    """

    def __init__(self, leaf: str = "vector", bins: int | None = 255) -> None:
        super().__init__(bins)
        if leaf not in ("vector", "class"):
            raise InputError(f"leaf must be one of vector, class, got {leaf!r}")
        self.leaf = leaf
        self.kind = histograms.SQUARES if leaf == "vector" else histograms.CLASSES
        self.projections = PROJECTIONS if leaf == "vector" else ("inner",)
        self.leafy = leaf == "vector"

    def _check(self, outputs: int | None) -> None:
        if outputs is None or outputs < 2:
            raise InputError(
                f"{self!r} has an output for each class, and the loss has one; use "
                "ClassificationStumps() or RegressionStumps()"
            )


class _Pool(Pool):
    """The search over all splits of the bins."""

    def __init__(self, width: int, bins: Bins, measure: Empirical, kind: int) -> None:
        self._width, self._bins, self._kind = width, bins, kind
        self._p = None if measure.uniform else measure.p  # a common factor changes nothing
        weights = np.ones(measure.size) if self._p is None else self._p
        self._total = float(weights.sum())
        splits = int(bins.sizes.max(initial=1)) - 1
        self._before, self._after = np.ones((2, len(bins.sizes), splits))
        for row, (codes, size) in enumerate(zip(bins.codes, bins.sizes, strict=True)):
            held = np.bincount(codes, weights, size)
            self._before[row, : size - 1] = held.cumsum()[:-1]
            self._after[row, : size - 1] = held[::-1].cumsum()[::-1][1:]
        self._binned = histograms.Binned(
            bins.codes, bins.sizes, 1.0 / self._before, 1.0 / self._after
        )

    def nearest(self, target: Array) -> tuple[Hypothesis, Array]:
        v = np.ascontiguousarray(target, dtype=np.float64).reshape(len(target), -1)
        if self._p is not None:
            v = v * self._p[:, None]
        shape = target.shape[1:]
        if not self._bins.features.size:
            leaves = self._leaves(np.tile(v.sum(axis=0), (2, 1)), self._total, self._total)
            leaves = leaves.reshape(2, *shape)
            values = np.tile(leaves[0], (len(target), *[1] * len(shape)))
            return StumpHypothesis(0, float("inf"), leaves, self._width), values
        bins = self._bins
        row, place, sums = histograms.best_split(self._binned, v, self._kind)
        self._found = row, place
        leaves = self._leaves(sums, self._before[row, place], self._after[row, place])
        values = np.empty_like(v)
        histograms.spread(bins.codes[row], place, leaves, values)
        threshold = float(bins.thresholds[row][place])
        square = values if self._p is None else values * self._p[:, None]
        gain = float(np.vdot(v, values)) ** 2 / (float(np.vdot(square, values)) or 1.0)
        gain = max(0.0, gain - self._constant_gain(sums.sum(axis=0)))
        stump = StumpHypothesis(
            int(bins.features[row]), threshold, leaves.reshape(2, *shape), self._width, gain
        )
        return stump, values.reshape(target.shape)

    def leaves(self, h: Hypothesis) -> tuple[Whole, int]:
        if not self._bins.features.size:
            return np.zeros(self._bins.codes.shape[1], dtype=np.int64), 2
        row, place = self._found
        return (self._bins.codes[row] > place).astype(np.int64), 2

    def _constant_gain(self, whole: Array) -> float:
        """Return what the best constant lowers the squared error by, given the target's sum."""
        constant = self._leaves(np.stack([whole, whole]), self._total, self._total)[0]
        square = self._total * float(constant @ constant)
        return float(whole @ constant) ** 2 / (square or 1.0)

    def _leaves(self, sums: Array, before: float, after: float) -> Array:
        """Return what the leaves hold, given the sums and the weights of their targets."""
        if self._kind == histograms.SQUARES:
            return sums / np.array([[before], [after]])
        if self._kind == histograms.SIGNS:
            return np.where(sums < 0.0, -1.0, 1.0)
        classes = sums.shape[1]
        leaves = np.full(sums.shape, -1.0 / (classes - 1))
        leaves[[0, 1], sums.argmax(axis=1)] = 1.0
        return leaves
