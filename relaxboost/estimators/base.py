"""The base class of the functional-gradient estimators."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.validation import check_is_fitted

from relaxboost._core.arrays import Array
from relaxboost._core.compiled import at_most
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, share
from relaxboost.estimators.choices import seed_of, threads, weak_learner
from relaxboost.estimators.tables import TableEstimator, read_weights
from relaxboost.functional import Algorithm, Boosted, BoostState, Loss, Risk, Stopping, boost
from relaxboost.functional.algorithms import algorithm_of
from relaxboost.functional.learners import LEARNERS


class Held(NamedTuple):
    """The validation examples of a fit, passed by the user or split off from the training set."""

    X: Any
    y: Any
    groups: Any = None
    weights: Any = None


class LearnerEstimator(TableEstimator):
    """The base class of estimators that accept missing values only if their weak learner does."""

    learner: Any

    def _without_missing(self) -> str | None:
        given = self.learner
        known = LEARNERS[given] if isinstance(given, str) and given in LEARNERS else given
        if getattr(known, "missing", False):
            return None
        return (
            f", and learner={self.learner!r} does not accept missing values; fill them in, or use "
            "learner='trees'"
        )


# scikit-learn compares estimators by their parameters, and prints them itself.
@dataclass(eq=False, repr=False)
class FunctionalGradientEstimator(LearnerEstimator):
    """The base class of the estimators that boost by functional gradient descent."""

    usual_loss: ClassVar[str]
    """The name of the default loss."""

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
    warm_start: bool = False
    n_jobs: int | None = None
    verbose: int = 0

    @property
    def _loss(self) -> Any:
        return self.usual_loss if self.loss is None else self.loss

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Any, Array | None]:
        X, y = self._read_pair(X, y)
        given = None if sample_weight is None else read_weights(sample_weight, len(X))
        return X, y, given

    def _validation_set(self, X_val: Any, y_val: Any, sample_weight_val: Any) -> Held | None:
        if X_val is None and y_val is None:
            if sample_weight_val is not None:
                raise InputError(
                    "sample_weight_val needs X_val and y_val; pass all three, or none of them"
                )
            return None
        if X_val is None or y_val is None:
            raise InputError("X_val and y_val belong together; pass both of them, or neither")
        X_val = self._read(X_val)
        self._check_numeric(y_val)
        y_val = column_or_1d(y_val)
        check_consistent_length(X_val, y_val, sample_weight_val)
        return Held(X_val, y_val, None, sample_weight_val)

    def _boost(
        self,
        X: Array,
        y: Any,
        weights: Array | None,
        loss: Loss,
        *,
        groups: Any = None,
        scale: float | None = None,
        held: Held | None = None,
    ) -> None:
        before = self._previous_run()
        # A warm start splits the data as before. A RandomState changes with each draw, so that the
        # number drawn is kept.
        drawn = seed_of(self.random_state) if before is None else self._seed
        # The split and the learner share one generator, so that random_state fixes the whole fit.
        random = check_random_state(drawn)
        seed = int(random.randint(2**31 - 1))
        patience = self.n_iter_no_change
        patience = None if patience is None else count("n_iter_no_change", patience)
        if held is None and patience is not None:
            rows, out = self._split(y, groups, loss, random)
            held = Held(*(None if v is None else v[out] for v in (X, y, groups, weights)))
            X, y = X[rows], y[rows]
            groups, weights = (None if v is None else v[rows] for v in (groups, weights))
        risk = loss.bind(y, weights, groups=groups)
        learner = weak_learner(self.learner)
        # A learner object that sets its own number of threads keeps that number.
        if self.n_jobs is not None and getattr(learner, "n_jobs", self.n_jobs) is None:
            learner = copy(learner)
            learner.n_jobs = self.n_jobs  # type: ignore[attr-defined]
        # Without a limit the compiled kernels use every processor, also those of other programs.
        with at_most(threads(self.n_jobs)):
            boosted = boost(
                X,
                risk,
                learner,
                algorithm=self._algorithm(risk, scale, held is not None),
                stopping=Stopping(
                    max_rounds=self.max_rounds,
                    max_learners=self.max_learners,
                    patience=patience,
                    validation=held,
                    callback=self._print_risk,
                ),
                warm_start=before,
                rng=seed,
            )
        # The state for a warm start contains arrays of training length, which pickles should not
        # contain.
        self.boosted_: Boosted = boosted if self.warm_start else replace(boosted, state=None)
        self.n_iter_ = self.boosted_.rounds
        self._seed: int = drawn

    def _print_risk(self, state: BoostState) -> None:
        every = max(1, self.max_rounds // 10) if self.verbose == 1 else 1
        if self.verbose and state.round % every == 0:
            print(f"round {state.round}: risk {state.value:.6g}")

    def _previous_run(self) -> Boosted | None:
        before: Boosted | None = getattr(self, "boosted_", None) if self.warm_start else None
        if before is None:
            return None
        if before.state is None:
            raise InputError(
                "warm_start=True cannot continue the last fit, which had warm_start=False and "
                "stored no state; fit from scratch with warm_start=True first"
            )
        if self.max_rounds < before.rounds:
            raise InputError(
                f"max_rounds={self.max_rounds} is less than the {before.rounds} rounds of the last "
                "fit; increase max_rounds, which with warm_start=True counts these rounds too"
            )
        return before

    def _algorithm_with_step(self) -> Algorithm:
        # Leaves can be refitted to the loss. Other hypotheses only project its gradient.
        usual = "refitted" if weak_learner(self.learner).leafy else "residual"
        given = usual if self.algorithm is None else self.algorithm
        return algorithm_of(given).filled(step=self.step)

    def _step(self, risk: Risk) -> Any:
        made = self._algorithm_with_step()
        return (
            made.default_step(risk, weak_learner(self.learner)) if made.step is None else made.step
        )

    def _algorithm(self, risk: Risk, scale: float | None, watched: bool) -> Algorithm:
        usual = "best" if watched else "last"
        # The theorems for these steps bound the risk of the mean of the iterates.
        if self._step(risk) == "1/sqrt(t)":
            usual = "average"
        return self._algorithm_with_step().filled(
            scale=self.scale if scale is None else scale,
            projection=self.projection,
            iterate=self.iterate or usual,
        )

    def _split(self, y: Any, groups: Any, loss: Loss, random: Any) -> tuple[Any, Any]:
        part = share("validation_fraction", self.validation_fraction)
        # Queries stay whole, because the loss compares the documents of a query. Classes are held
        # out in proportion, so that the classes of both parts are the same.
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
                "change validation_fraction, or leave n_iter_no_change out"
            ) from error

    @property
    def feature_importances_(self) -> Array:
        """The share of each feature in the decrease in squared error over all splits.

        The attribute exists only if the weak learner has splits.
        """
        check_is_fitted(self)
        try:
            return self.boosted_.importances(self.n_features_in_)
        except InputError as error:
            # scikit-learn's selectors ask hasattr whether there are importances.
            raise AttributeError(str(error)) from error

    def _scores(self, F: Array) -> Array:
        """Convert the outputs of boosting to scores, for example by adding an intercept."""
        return F

    def _predicted(self, scores: Array) -> Any:
        """Convert scores to the labels or numbers that `predict` returns."""
        return scores

    def _decided(self, X: Any) -> Array:
        X = self._rows(X)
        return self._scores(self.boosted_.decision(X))

    def _functions(self, X: Any) -> Iterator[Array]:
        X = self._rows(X)
        total: Any = 0.0
        for t, F in self.boosted_.staged(X):
            # `staged` yields f_t, and this estimator predicts by the mean of f_1, ..., f_t.
            if self.boosted_.iterate == "average":
                total = total + F
                F = total / t
            yield F

    def _staged(self, X: Any) -> Iterator[Array]:
        return map(self._scores, self._functions(X))

    def predict(self, X: Any) -> Any:
        """Return the prediction for each row of X, shape (N, d), as an array of shape (N,)."""
        return self._predicted(self._decided(X))

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield the predictions for the rows of X after each round.

        If `iterate` is "average", the predictions after round t use the mean of f_1, ..., f_t.
        """
        for scores in self._staged(X):
            yield self._predicted(scores)
