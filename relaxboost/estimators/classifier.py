"""The classifier."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost.estimators.base import FunctionalGradientEstimator, Held
from relaxboost.estimators.choices import is_likelihood, loss_of
from relaxboost.functional.losses.targets import decided

_LIGHT = 1e-6
"""Of the mean weight: less counts as none, so that no leaf holds such examples alone."""


@dataclass(eq=False, repr=False)
class FunctionalGradientClassifier(ClassifierMixin, FunctionalGradientEstimator):
    """Classification by boosting any convex loss.

    Parameters
    ----------
    loss : str or Loss, optional
        "logistic", the default, or "hinge": the loss of two classes where there are two, and else
        the multiclass one. "exponential" and "smooth-hinge" are for two classes only. "multinomial-
        logistic" and "multiclass-hinge" have one output for each class, also for two classes. Or a
        loss of `relaxboost.functional`, or of your own.
    learner : {"stumps", "trees", "networks"}, WeakLearner or regressor
        `RegressionStumps`, `Trees` or `Networks` with their defaults; a learner; or a scikit-learn
        regressor.
    algorithm : {"refitted", "residual", "repeated", "naive"} or Algorithm, optional
        As for `relaxboost.functional.boost`; by default "refitted" for learners with leaves, such
        as stumps and trees, and "residual" for others.
    step, scale, projection
        Options of the algorithm, where it leaves them open; see `Algorithm`.
    max_rounds, max_learners
        When to stop; see `Stopping`.
    iterate : {"last", "best", "average"}, optional
        What predictions use; see `Algorithm`. By default it is "average" with the steps 1/√t, for
        which the theorems bound the risk of the mean; with others "last", or "best" with early
        stopping.
    validation_fraction : float
        In (0, 1): the share of the examples held out for early stopping, of each class alike. Used
        only if `n_iter_no_change` is given.
    n_iter_no_change : int, optional
        Stop after so many rounds without a lower risk on the examples held out, >= 1; by default
        there is no early stopping and nothing is held out.
    random_state : int, RandomState, optional
        For the examples held out, and for learners that make random choices.
    warm_start : bool
        Whether `fit` goes on with the fit before, on the same data, to `max_rounds` in all. The
        model then keeps three arrays of training length; else it keeps nothing of that length.
    n_jobs : int, optional
        Threads at most; None and −1 for all. They change no result.
    verbose : int
        1 prints the risk ten times in a fit, 2 each round.
    class_weight : dict or "balanced", optional
        Factors on the weights of the examples of each class, as in scikit-learn; also of those
        held out or in X_val.

    Attributes
    ----------
    boosted_ : Boosted
        What `boost` returned: hypotheses, coefficients, the history of the risk.
    classes_ : array of shape (K,)
        The labels, sorted.
    n_iter_ : int
        Rounds.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Grubb & Bagnell (2011), Algorithms 1 to 3.
    """

    usual_loss = "logistic"
    for_categories = "MarginBoostClassifier"

    _: KW_ONLY
    class_weight: Any = None

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight_val: Any = None,
    ) -> FunctionalGradientClassifier:
        """Train on rows X of shape (N, d) and labels y of shape (N,).

        Parameters
        ----------
        X : array of shape (N, d)
            Finite numbers.
        y : array of shape (N,)
            Labels of any kind, at least two.
        sample_weight : array of shape (N,), optional
            At least 0, with a positive sum for each class. Less than a millionth of the mean counts
            as 0.
        X_val, y_val, sample_weight_val : arrays, optional
            A validation set of one's own, of the same features and classes.

        Raises
        ------
        InputError
            For data, labels, weights or parameters that do not fit; it is a ValueError.
        """
        X, y, sample_weight = self._validated(X, y, sample_weight)
        check_classification_targets(y)
        classes = np.unique(y)
        if classes.size < 2:
            raise InputError(
                f"a classifier needs at least two classes, and y has one class only, "
                f"{classes.tolist()[0]!r}; add examples of another"
            )
        held = self._given(X_val, y_val, sample_weight_val)
        loss = loss_of(self._loss, ("binary", "multiclass"), "classifies", classes.size)
        self.classes_ = classes  # callbacks ask for predictions
        if held is not None and self.class_weight is not None:
            held = held._replace(weights=self._like(y, held))
        self._boost(X, y, self._weighted(y, sample_weight, classes), loss, held=held)
        self.classes_ = self.boosted_.classes
        return self

    def _weighted(self, y: Any, weights: Array | None, classes: Any) -> Array | None:
        """Return the weights times those of the classes."""
        if self.class_weight is not None:
            factors = compute_sample_weight(self.class_weight, y)
            weights = factors if weights is None else factors * weights
        if weights is None or (weights < 0.0).any():  # which the loss complains of
            return weights
        for label in classes.tolist():
            if not (weights[y == label] > 0.0).any():
                raise InputError(
                    f"class {label!r} has no example of positive weight; leave its examples out, "
                    "or give it weight"
                )
        return np.where(weights < _LIGHT * weights.mean(), 0.0, weights)

    def _like(self, y: Any, held: Held) -> Array:
        """Return the weights of a validation set times those the classes have in training."""
        known = dict(zip(y.tolist(), compute_sample_weight(self.class_weight, y), strict=True))
        # The loss complains of a label that is not known.
        factors = np.array([known.get(label, 1.0) for label in held.y.tolist()])
        return factors if held.weights is None else factors * np.asarray(held.weights)

    def decision_function(self, X: Any) -> Array:
        """Return f(x) for rows X: (N,), positive for the second of two classes, or (N, K)."""
        return self._decided(X)

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Yield the scores after 1, 2, ... rounds, for rows X of shape (N, d).

        They are what `staged_predict` decides by, each as `decision_function` has them.
        """
        return self._staged(X)

    @property
    def predict_proba(self) -> Any:
        """The method `predict_proba(X)`: probabilities of shape (N, K), columns as `classes_`.

        There is none unless the loss is minus a log-likelihood, "logistic" or
        "multinomial-logistic": an AttributeError says so.
        """
        if not is_likelihood(self._loss):
            raise AttributeError(
                f"loss={self._loss!r} is not the logarithm of a likelihood, so that there is no "
                'predict_proba; use loss="logistic", decision_function, or scikit-learn\'s '
                "CalibratedClassifierCV"
            )
        return self._probabilities

    @property
    def staged_predict_proba(self) -> Any:
        """The method `staged_predict_proba(X)`: the probabilities after 1, 2, ... rounds.

        They are of the functions that `staged_predict` decides by; there is none where there is no
        `predict_proba`.
        """
        return self.predict_proba and self._staged_probabilities

    def _probabilities(self, X: Any) -> Array:
        X = self._rows(X)
        return _likelihoods(self.boosted_.decision(X))

    def _staged_probabilities(self, X: Any) -> Iterator[Array]:
        return map(_likelihoods, self._functions(X))

    def _scores(self, F: Array) -> Array:
        return F[:, 1] - F[:, 0] if F.ndim == 2 and F.shape[1] == 2 else F

    def _predicted(self, scores: Array) -> Any:
        return decided(scores, self.classes_)


def _likelihoods(F: Array) -> Array:
    """Return the probabilities of f, of shape (N, K)."""
    return softmax(F, axis=1) if F.ndim == 2 else np.column_stack([expit(-F), expit(F)])
