"""What the three estimators share: parameters, the held-out share, stages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, share
from relaxboost.estimators.choices import weak_learner
from relaxboost.functional import Algorithm, Boosted, Loss, Risk, Stopping, boost
from relaxboost.functional.algorithms import algorithm_of


@dataclass(eq=False, repr=False)  # scikit-learn compares and prints its estimators itself
class FunctionalGradientEstimator(BaseEstimator):
    """Restricted gradient descent in function space (GB11) behind scikit-learn's interface."""

    usual_loss: ClassVar[str]
    """The name of the loss where none is given."""

    loss: Any = None
    learner: Any = "stumps"
    _: KW_ONLY
    algorithm: Any = None
    step: Any = None
    scale: Any = None
    projection: str | None = None
    max_rounds: int = 200
    max_learners: int | None = None
    iterate: str | None = None
    validation_fraction: float = 0.1
    n_iter_no_change: int | None = None
    random_state: Any = None

    @property
    def _loss(self) -> Any:
        return self.usual_loss if self.loss is None else self.loss

    def _validated(
        self, X: Any, y: Any, sample_weight: Any, numeric: bool
    ) -> tuple[Array, Any, Array | None]:
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=numeric)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        return X, y, sample_weight

    def _boost(
        self,
        X: Array,
        y: Any,
        weights: Array | None,
        loss: Loss,
        *,
        groups: Any = None,
        scale: float | None = None,
    ) -> None:
        random = check_random_state(self.random_state)
        seed = int(random.randint(2**31 - 1))
        rows, held = self._split(y, groups, loss, random)
        patience = None if held is None else count("n_iter_no_change", self.n_iter_no_change)

        def at(values: Any, some: Any) -> Any:
            return None if values is None else values[some]

        validation = None
        if held is not None:
            validation = (X[held], y[held], at(groups, held), at(weights, held))
            X, y, groups, weights = X[rows], y[rows], at(groups, rows), at(weights, rows)
        risk = loss.bind(y, weights, groups=groups)
        self.boosted_: Boosted = boost(
            X,
            risk,
            weak_learner(self.learner),
            algorithm=self._algorithm(risk, scale, held is not None),
            stopping=Stopping(
                max_rounds=self.max_rounds,
                max_learners=self.max_learners,
                patience=patience,
                validation=validation,
            ),
            seed=seed,
        )
        self.n_iter_ = self.boosted_.rounds

    def _made(self) -> Algorithm:
        """Return the algorithm; by default leaves refitted, and residuals where there are none."""
        if self.algorithm is not None:
            return algorithm_of(self.algorithm)
        return algorithm_of("refitted" if weak_learner(self.learner).leafy else "residual")

    def _step(self, risk: Risk) -> Any:
        """Return the step, by name where it is the default."""
        made = self._made().filled(step=self.step)
        return made.default_step(risk) if made.step is None else made.step

    def _algorithm(self, risk: Risk, scale: float | None, watched: bool) -> Algorithm:
        """Return the algorithm, with the options of the estimator where it leaves them open."""
        usual = "best" if watched else "last"
        if self._step(risk) == "1/sqrt(t)":
            usual = "average"
        return self._made().filled(
            step=self.step,
            scale=self.scale if scale is None else scale,
            projection=self.projection,
            iterate=self.iterate or usual,
        )

    def _split(self, y: Any, groups: Any, loss: Loss, random: Any) -> tuple[Any, Any]:
        """Return the rows to train on and those to watch, None and None for all and none."""
        if self.n_iter_no_change is None:
            return None, None
        part = share("validation_fraction", self.validation_fraction)
        kind: Any = ShuffleSplit
        if loss.task == "ranking":
            kind = GroupShuffleSplit
        elif loss.task != "regression":
            kind = StratifiedShuffleSplit
        try:
            splitter = kind(n_splits=1, test_size=part, random_state=random)
            return next(splitter.split(np.zeros(len(y)), y, groups))
        except ValueError as error:
            raise InputError(
                f"validation_fraction={part} of {len(y)} examples cannot be held out: {error}; "
                "change it, or leave n_iter_no_change out"
            ) from error

    def _rows(self, X: Any) -> Array:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, dtype=np.float64)

    def _scores(self, F: Array) -> Array:
        """Return scores as the interface has them, given f."""
        return F

    def _predicted(self, scores: Array) -> Any:
        """Return predictions, given scores."""
        return scores

    def _decided(self, X: Any) -> Array:
        X = self._rows(X)
        return self._scores(self.boosted_.decision(X))

    def _staged(self, X: Any) -> Iterator[Array]:
        X = self._rows(X)
        total: Any = 0.0
        for t, F in self.boosted_.staged(X):
            if self.boosted_.iterate == "average":
                total = total + F
                F = total / t
            yield self._scores(F)

    def predict(self, X: Any) -> Any:
        """Return predictions for rows X of shape (N, d), of shape (N,)."""
        return self._predicted(self._decided(X))

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield the predictions after 1, 2, ... rounds.

        They are those of the means of f_1..f_t where the iterate is "average", and else of f_t,
        also for rounds after the best.

        Parameters
        ----------
        X : array of shape (N, d)
        """
        for scores in self._staged(X):
            yield self._predicted(scores)
