"""A regressor that boosts by functional gradient descent."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import share
from relaxboost.estimators.base import FunctionalGradientEstimator
from relaxboost.estimators.choices import loss_of
from relaxboost.estimators.tables import restores_fit
from relaxboost.functional import Quantile, Risk


@dataclass(eq=False, repr=False)
class FunctionalGradientRegressor(RegressorMixin, FunctionalGradientEstimator):
    """A regressor that boosts any convex loss.

    If the loss depends only on f − y, like all losses of the package, boosting starts at the
    constant f_0 of least risk. For other losses f_0 is 0.

    Parameters
    ----------
    loss : str or Loss, optional
        "squared", the default, "absolute", "huber" (δ = 1, in units of y), or "quantile" together
        with `quantile`; a loss of `relaxboost.functional`, such as ``Quantile(0.9)``; or a
        user-defined loss.
    learner, algorithm, step
        As for `FunctionalGradientClassifier`.
    scale : float, optional
        A factor of the steps. If the steps are 1/√t and the gradient is bounded, the default is the
        standard deviation of y divided by the bound (Theorem 5 of Grubb & Bagnell 2011 assumes
        functions and gradients of size one). Otherwise the default is 1.
    projection, max_rounds, max_learners, iterate
        As for `FunctionalGradientClassifier`.
    validation_fraction, n_iter_no_change, random_state, warm_start, n_jobs, verbose
        As for `FunctionalGradientClassifier`.
    quantile : float, optional
        The level, in (0, 1), of ``loss="quantile"``. If it is set, "quantile" is the default loss.

    Attributes
    ----------
    boosted_ : Boosted
        The result of `boost`, for the targets y − f_0.
    intercept_ : float
        The constant f_0 at which boosting starts.
    n_iter_ : int
        The number of rounds.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    `score` returns R² for every loss. To compare models by their loss, pass `scoring` to a search,
    such as ``make_scorer(mean_pinball_loss, alpha=0.9, greater_is_better=False)`` for a quantile.

    References
    ----------
    Grubb & Bagnell (2011), Algorithms 1 to 3.

    Examples
    --------
    >>> from relaxboost.estimators import FunctionalGradientRegressor
    >>> model = FunctionalGradientRegressor("absolute").fit([[0.0], [1.0], [2.0]], [5, 5, 9])
    >>> model.predict([[0.5], [3.0]]).round(3)
    array([5., 9.])
    """

    usual_loss = "squared"
    for_categories = "MarginBoostRegressor"
    for_labels = "for labels use FunctionalGradientClassifier"

    _: KW_ONLY
    quantile: float | None = None

    @restores_fit
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> FunctionalGradientRegressor:
        """Train on rows X of shape (N, d) and finite numbers y of shape (N,).

        The parameters and errors are those of `FunctionalGradientClassifier.fit`.
        """
        X, y, sample_weight = self._validated(X, y, sample_weight)
        held = self._validation_set(X_val, y_val, sample_weight_val)
        chosen = self._loss
        if self.quantile is not None:
            if self.loss not in (None, "quantile"):
                raise InputError(
                    f"quantile={self.quantile!r} is the level of loss='quantile', but "
                    f"loss={self.loss!r}; leave quantile or loss out"
                )
            chosen = Quantile(share("quantile", self.quantile))
        loss = loss_of(chosen, ("regression",), "does regression")
        risk = loss.bind(y, sample_weight)
        # Such a loss is the same for (f + c, y + c), so that boosting may start at a constant.
        self.intercept_ = _best_constant(risk, y) if loss.of_differences else 0.0
        y = y - self.intercept_
        if held is not None:
            held = held._replace(y=held.y.astype(np.float64) - self.intercept_)
        self._boost(X, y, sample_weight, loss, scale=self._scale(risk, y), held=held)
        return self

    def _scale(self, risk: Risk, y: Array) -> Any:
        if self.scale is not None:
            return self.scale
        step = self._step(risk)
        if not (isinstance(step, str) and step == "1/sqrt(t)") or math.isinf(risk.gradient_bound):
            return 1.0
        spread = risk.measure.norm(y - risk.measure.mean(y))
        return (spread or 1.0) / risk.gradient_bound

    def _scores(self, F: Array) -> Array:
        return F + self.intercept_


def _best_constant(risk: Risk, y: Array) -> float:
    # A user-defined loss has no formula for the constant of least risk. Its mean slope never falls,
    # because the loss is convex, and bisection finds where the slope changes its sign.
    low = float(y.min())
    high = float(y.max())
    while True:
        middle = low / 2.0 + high / 2.0  # The sum low + high may overflow.
        if not low < middle < high:
            return middle
        slope = risk.measure.mean(risk.evaluate(np.full(len(y), middle))[1])
        if slope == 0.0:
            return middle
        if slope < 0.0:
            low = middle
        else:
            high = middle
