"""Any scikit-learn regressor as a weak learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost.functional.learners.base import (
    Hypothesis,
    Pool,
    WeakLearner,
    check_outputs,
    check_width,
)
from relaxboost.functional.measure import Empirical


@dataclass(frozen=True, eq=False)
class Fitted(Hypothesis):
    """A fitted regressor.

    Attributes
    ----------
    estimator : object
        With `predict`.
    outputs : int, optional
        K, or None for outputs of shape (N,).
    width : int, optional
        The number of features of the rows it takes, where they are an array.
    """

    estimator: Any
    outputs: int | None
    width: int | None

    def __call__(self, X: Any) -> Array:
        """Return the predictions for rows X, of shape (N,) or (N, K)."""
        if self.width is not None:
            check_width(X, self.width, f"{self.estimator!r} was")
        rows = np.shape(X)[0]
        shape = (rows,) if self.outputs is None else (rows, self.outputs)
        try:
            values = self.estimator.predict(X)
        except (ValueError, TypeError) as error:
            raise InputError(f"{self.estimator!r} could not predict: {error}") from error
        return check_outputs(values, np.broadcast_to(0.0, shape), self.estimator)


class Regressor(WeakLearner):
    """A scikit-learn regressor, cloned and fitted to each target anew.

    It is handed the example weights as `sample_weight` unless they are all equal, and rows X as
    they are: what it does with missing values or columns of a data frame is its own affair. Where
    one of its `random_state` parameters is None, the clone gets a number drawn from the run's seed.

    Parameters
    ----------
    estimator : object
        With `fit`, `predict` and `get_params`, for targets of shape (N,), or (N, K) where the loss
        has K outputs.

    Raises
    ------
    InputError
        Naming the estimator: in `prepare` where there are weights and it takes none; in a round
        where it cannot be fitted, or predicts another shape or values that are not finite.
    """

    def __init__(self, estimator: Any) -> None:
        for name in ("fit", "predict", "get_params"):
            if not callable(getattr(estimator, name, None)) or isinstance(estimator, type):
                raise InputError(
                    f"Regressor needs an instance of a scikit-learn regressor, and {estimator!r} "
                    f"has no {name}() to call"
                )
        self.estimator = estimator

    def prepare(
        self, X: Any, measure: Empirical, outputs: int | None, projection: str, rng: Generator
    ) -> Pool:
        """Return the pool; see `WeakLearner.prepare`."""
        from sklearn.utils.validation import has_fit_parameter

        if not np.shape(X) or np.shape(X)[0] != measure.size:
            raise InputError(
                f"X has shape {np.shape(X)}, and there are {measure.size} targets; one row each"
            )
        weights = None
        if measure.p.min() < measure.p.max():
            if not has_fit_parameter(self.estimator, "sample_weight"):
                raise InputError(
                    f"{self.estimator!r} takes no sample_weight, and the examples have weights; "
                    "leave them out, or use a regressor that does"
                )
            weights = measure.p * measure.size
        return _Fitter(self.estimator, X, weights, outputs, rng)

    def __repr__(self) -> str:
        return f"Regressor({self.estimator!r})"


class _Fitter(Pool):
    """Fits a clone to each target."""

    def __init__(
        self,
        estimator: Any,
        X: Any,
        weights: Array | None,
        outputs: int | None,
        rng: Generator,
    ) -> None:
        self._estimator, self._X, self._outputs, self._rng = estimator, X, outputs, rng
        self._options = {} if weights is None else {"sample_weight": weights}
        self._width = np.shape(X)[1] if np.ndim(X) == 2 else None
        self._seeds = sorted(
            name
            for name, value in estimator.get_params(deep=True).items()
            if value is None and (name == "random_state" or name.endswith("__random_state"))
        )

    def nearest(self, target: Array) -> tuple[Hypothesis, Array]:
        """Return a regressor fitted to a target."""
        from sklearn.base import clone

        estimator = clone(self._estimator)
        estimator.set_params(**{name: int(self._rng.integers(2**31)) for name in self._seeds})
        try:
            estimator.fit(self._X, target, **self._options)
        except (ValueError, TypeError) as error:
            raise InputError(
                f"{estimator!r} could not be fitted to a target of shape {target.shape}: {error}"
            ) from error
        h = Fitted(estimator, self._outputs, self._width)
        return h, h(self._X)
