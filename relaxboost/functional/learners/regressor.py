"""Weak learners that fit scikit-learn regressors, such as small neural networks."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from relaxboost._core.arrays import Array
from relaxboost._core.blas import one_blas_thread
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count
from relaxboost.functional.learners.base import (
    Hypothesis,
    Pool,
    WeakLearner,
    check_outputs,
    check_rows,
    check_width,
    training,
)
from relaxboost.functional.measure import Empirical


@dataclass(frozen=True, eq=False)
class Fitted(Hypothesis):
    """A hypothesis that returns the predictions of a fitted regressor.

    Attributes
    ----------
    estimator : object
        The regressor, which has a method `predict`.
    outputs : int, optional
        The number K of outputs, or None for outputs of shape (N,).
    width : int, optional
        The number of training features, or None if the rows were not an array.
    """

    estimator: Any
    outputs: int | None
    width: int | None

    def __call__(self, X: Any) -> Array:
        if self.width is not None and (np.ndim(X) != 2 or np.shape(X)[1] != self.width):
            # The representation of an estimator may be too long to print.
            check_width(X, self.width, f"{self.estimator!r} was")
        rows = np.shape(X)[0]
        shape = (rows,) if self.outputs is None else (rows, self.outputs)
        try:
            values = self.estimator.predict(X)
        except (ValueError, TypeError) as error:
            raise InputError(f"{self.estimator!r} could not predict: {error}") from error
        return check_outputs(values, np.broadcast_to(0.0, shape), self.estimator)


class Regressor(WeakLearner):
    """A weak learner that fits a clone of a scikit-learn regressor to each target.

    Unequal example weights are passed as `sample_weight`. The rows X are passed unchanged, so that
    the regressor must handle missing values and data frames itself. If its parameter `random_state`
    is None, each clone gets a seed from the run.

    Parameters
    ----------
    estimator : object
        A regressor for targets of shape (N,), or (N, K) if the loss has K outputs.

    Raises
    ------
    InputError
        In `prepare`, if there are weights and the regressor does not accept them. In a round, if a
        clone cannot be fitted, or does not predict finite numbers of the right shape.
    """

    def __init__(self, estimator: Any) -> None:
        for name in ("fit", "predict", "get_params"):
            if not callable(getattr(estimator, name, None)) or isinstance(estimator, type):
                raise InputError(
                    f"Regressor needs an instance of a scikit-learn regressor, but {estimator!r} "
                    f"has no method {name}()"
                )
        self.estimator = estimator

    def prepare(
        self, X: Any, measure: Empirical, outputs: int | None, projection: str, rng: Generator
    ) -> Pool:
        from sklearn.utils.validation import has_fit_parameter

        check_rows(X, measure)
        weights = None
        if measure.p.min() < measure.p.max():
            if not has_fit_parameter(self.estimator, "sample_weight"):
                raise InputError(
                    f"{self.estimator!r} does not accept sample_weight, but the examples have "
                    "weights; leave the weights out, or use a regressor that accepts sample_weight"
                )
            weights = measure.p * measure.size
        return _Fitter(self.estimator, X, weights, outputs, rng)

    def __repr__(self) -> str:
        return f"Regressor({self.estimator!r})"


class _Fitter(Pool):
    def __init__(
        self,
        estimator: Any,
        X: Any,
        weights: Array | None,
        outputs: int | None,
        rng: Generator,
    ) -> None:
        self._estimator = estimator
        self._X = X
        self._outputs = outputs
        self._rng = rng
        # Regressors without sample weights work if there are none.
        self._options = {} if weights is None else {"sample_weight": weights}
        self._width = np.shape(X)[1] if np.ndim(X) == 2 else None
        self._seeds = sorted(
            name
            for name, value in estimator.get_params(deep=True).items()
            if value is None and (name == "random_state" or name.endswith("__random_state"))
        )

    def nearest(self, target: Array) -> tuple[Hypothesis, Array]:
        from sklearn.base import clone

        # The clones of all rounds predict together, so each round needs its own.
        estimator = clone(self._estimator)
        estimator.set_params(**{name: int(self._rng.integers(2**31)) for name in self._seeds})
        try:
            # Nearest neighbours keep the target, and the caller overwrites its array.
            estimator.fit(self._X, target.copy(), **self._options)
        except (ValueError, TypeError) as error:
            raise InputError(
                f"{estimator!r} could not be fitted to a target of shape {target.shape}: {error}"
            ) from error
        h = Fitted(estimator, self._outputs, self._width)
        return h, h(self._X)


class Networks(Regressor):
    """A weak learner whose hypotheses are networks with one hidden layer of tanh units.

    scikit-learn's `MLPRegressor` fits each network by L-BFGS without a penalty. Features are
    standardised and targets are scaled to a fixed norm, so that the units of the data matter
    only through rounding errors. The fit may end at a local optimum, so that there is no guarantee
    on the edges.

    Parameters
    ----------
    hidden : int
        The number of units, >= 1. The default 5 is from Figure 1 of Grubb & Bagnell (2011).
    iterations : int
        The maximum number of L-BFGS iterations for each target, >= 1.

    References
    ----------
    Grubb & Bagnell (2011), Sec. 5, Figure 1. The paper does not say how its networks are trained.
    """

    name = "networks"
    __repr__ = WeakLearner.__repr__

    def __init__(self, hidden: int = 5, iterations: int = 100) -> None:
        from sklearn.neural_network import MLPRegressor

        self.hidden = count("hidden", hidden)
        self.iterations = count("iterations", iterations)
        # A remainder after many projections gives small derivatives from the start. With tol > 0
        # L-BFGS would end after one iteration.
        options = {"activation": "tanh", "solver": "lbfgs", "alpha": 0.0, "tol": 0.0}
        super().__init__(
            MLPRegressor(hidden_layer_sizes=(self.hidden,), max_iter=self.iterations, **options)
        )

    def prepare(
        self, X: Any, measure: Empirical, outputs: int | None, projection: str, rng: Generator
    ) -> Pool:
        from sklearn.preprocessing import StandardScaler

        X = training(X, measure)
        scaler = StandardScaler().fit(X, sample_weight=measure.p * measure.size)
        pool = super().prepare(scaler.transform(X), measure, outputs, projection, rng)
        return _Scaled(pool, scaler, measure)


class _Scaled(Pool):
    def __init__(self, pool: Pool, scaler: Any, measure: Empirical) -> None:
        self._pool = pool
        self._scaler = scaler
        self._measure = measure

    def nearest(self, target: Array) -> tuple[Hypothesis, Array]:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.pipeline import make_pipeline

        # The initial outputs of a network are about 1. The target must be larger, also if only a
        # small part of the target can be fitted; a norm of 20 is enough.
        size = (self._measure.norm(target) or 1.0) / 20.0
        # Several threads would slow down products of matrices with few columns.
        with warnings.catch_warnings(), one_blas_thread():
            # The warning of the iteration limit is switched off, because the limit is intended.
            warnings.simplefilter("ignore", ConvergenceWarning)
            h, values = self._pool.nearest(target / size)
        assert isinstance(h, Fitted)
        # The last layer is linear, and so scaling it scales the outputs.
        for outer in (h.estimator.coefs_[-1], h.estimator.intercepts_[-1]):
            outer *= size
        return Fitted(make_pipeline(self._scaler, h.estimator), h.outputs, h.width), size * values
