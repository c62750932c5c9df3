"""A regressor for the median and a prediction band with guaranteed coverage."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, share
from relaxboost.estimators.base import LearnerEstimator
from relaxboost.estimators.choices import weak_learner
from relaxboost.estimators.tables import restores_fit
from relaxboost.functional import Boosted, Empirical, Quantile, Risk, boost


class _Quantiles(Risk):
    """The sum of several quantile losses, with one output for each quantile."""

    def __init__(self, levels: tuple[float, ...], y: Array, starts: Array) -> None:
        self.losses = [Quantile(q) for q in levels]
        # Boosting starts at f = 0, which stands for the quantiles of all y.
        self.columns = [y - start for start in starts]
        self.measure = Empirical(len(y))
        self.outputs = len(levels)
        self.gradient_bound = math.hypot(*(loss.gradient_bound for loss in self.losses))

    def evaluate(self, F: Array) -> tuple[float, Array]:
        each = [
            loss.pointwise(f, y) for loss, f, y in zip(self.losses, F.T, self.columns, strict=True)
        ]
        value = sum(self.measure.mean(values) for values, _ in each)
        return float(value), np.stack([slopes for _, slopes in each], axis=1)

    def refitted(self, F: Array, leaf: Whole, leaves: int) -> Array:
        # Trees may share their leaves among the outputs, or have leaves for each output.
        each = np.broadcast_to(leaf.reshape(len(leaf), -1), F.shape)
        parts = zip(self.losses, F.T, self.columns, each.T, strict=True)
        return np.stack(
            [
                loss.refitted(f, y, self.measure.p, np.ascontiguousarray(at), leaves)
                for loss, f, y, at in parts
            ],
            axis=1,
        )

    def expression(self, F: Any) -> Any:
        parts = enumerate(zip(self.losses, self.columns, strict=True))
        return sum(self.measure.p @ loss.atoms(F[:, k], y) for k, (loss, y) in parts)

    def conjugate(self, Z: Array) -> float:
        parts = zip(self.losses, Z.T, self.columns, strict=True)
        return float(sum(self.measure.mean(loss.conjugates(z, y)) for loss, z, y in parts))


@dataclass(eq=False, repr=False)
class QuantileBandRegressor(RegressorMixin, LearnerEstimator):
    """A regressor for the median and a prediction band with guaranteed coverage.

    One run of boosting fits the median and both ends of the band. If the ends cross, they are
    swapped. Then n held-out examples calibrate the width of the band: both ends move by the same
    distance. The coverage holds on average over exchangeable held-out and new examples, but not for
    a given x. If n < coverage/(1 − coverage), no finite band has the coverage, and the ends are
    infinite.

    Parameters
    ----------
    coverage : float
        The least probability, in (0, 1), that the band contains a new y.
    learner : {"stumps", "trees"} or WeakLearner
        A learner whose leaves can be refitted.
    max_rounds : int
        The number of rounds, >= 1. The step size is the shrinkage of the learner.
    calibration_fraction : float
        The fraction of examples, in (0, 1), that is held out to calibrate the width of the band.
    random_state : int, RandomState, optional
        The seed for the held-out examples and for random learners.

    Attributes
    ----------
    boosted_ : Boosted
        The result of `boost`. The entries of `starts_` are not included in its three outputs.
    starts_ : array of shape (3,)
        The lower quantile, median and upper quantile of the training targets, at which boosting
        starts.
    widening_ : float
        The distance by which calibration widened the band at both ends. It is negative if the band
        became narrower, and inf if there are too few examples.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Romano, Patterson & Candès (2019), Conformalized quantile regression, Theorem 1;
    Chernozhukov, Fernández-Val & Galichon (2010), Quantile and probability curves without crossing.

    Examples
    --------
    >>> from relaxboost.estimators import QuantileBandRegressor
    >>> X, y = [[float(i)] for i in range(40)], list(range(40))
    >>> QuantileBandRegressor(0.8, random_state=0).fit(X, y).predict_interval([[5.0]]).shape
    (1, 2)
    """

    for_categories = "MarginBoostRegressor"
    for_labels = "for labels use FunctionalGradientClassifier"

    coverage: float = 0.9
    learner: Any = "stumps"
    _: KW_ONLY
    max_rounds: int = 200
    calibration_fraction: float = 0.25
    random_state: Any = None

    @restores_fit
    def fit(self, X: Any, y: Any) -> QuantileBandRegressor:
        """Train on rows X of shape (N, d) and numbers y of shape (N,).

        Raises
        ------
        InputError
            If the data or a parameter is invalid. InputError is a subclass of ValueError.
        """
        X, y = self._read_pair(X, y)
        # The examples that set the width are not those that trained the functions. On the training
        # examples the residuals are too small, and the band would cover less than it promises.
        part = self.calibration_fraction
        coverage = share("coverage", self.coverage)
        held = math.ceil(share("calibration_fraction", part) * len(y))
        if held >= len(y):
            raise InputError(
                f"calibration_fraction={part} of {len(y)} samples leaves no examples for training; "
                "pass more examples"
            )
        # The new value is equally likely to have each rank among held + 1 exchangeable values. This
        # is the smallest rank that it exceeds with a probability of at most 1 − coverage.
        rank = math.ceil((held + 1) * coverage)
        random = check_random_state(self.random_state)
        order = random.permutation(len(y))
        out = order[:held]
        rows = order[held:]
        levels = ((1.0 - coverage) / 2.0, 0.5, (1.0 + coverage) / 2.0)
        self.starts_ = np.quantile(y[rows], levels)
        boosted = boost(
            X[rows],
            _Quantiles(levels, y[rows], self.starts_),
            weak_learner(self.learner),
            algorithm="refitted",
            stopping=count("max_rounds", self.max_rounds),
            rng=int(random.randint(2**31 - 1)),
        )
        self.boosted_: Boosted = replace(boosted, state=None)
        low, _, high = self._sorted(X[out]).T
        # This is the distance by which each held-out example is outside its band. It is negative
        # inside the band.
        outside = np.maximum(low - y[out], y[out] - high)
        self.widening_ = float(np.sort(outside)[rank - 1]) if rank <= held else math.inf
        return self

    def _sorted(self, X: Array) -> Array:
        return np.sort(self.boosted_.decision(X) + self.starts_, axis=1)

    def predict_interval(self, X: Any) -> Array:
        """Return the lower and upper ends of the band for each row of X, as two columns."""
        low, median, high = self._sorted(self._rows(X)).T
        # A negative widening can make the ends cross. The band is then the median alone, which
        # covers no less than an empty band.
        return np.stack(
            [
                np.minimum(low - self.widening_, median),
                np.maximum(high + self.widening_, median),
            ],
            axis=1,
        )

    def predict(self, X: Any) -> Array:
        """Return the predicted median for each row of X. It lies in the band."""
        return self._sorted(self._rows(X))[:, 1]
