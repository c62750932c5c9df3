"""The classifier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost.estimators.base import FunctionalGradientEstimator
from relaxboost.estimators.choices import is_likelihood, loss_of
from relaxboost.functional.losses.targets import decided


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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> FunctionalGradientClassifier:
        """Train on rows X of shape (N, d) and labels y of shape (N,).

        Parameters
        ----------
        X : array of shape (N, d)
            Finite numbers.
        y : array of shape (N,)
            Labels of any kind, at least two.
        sample_weight : array of shape (N,), optional
            >= 0, with a positive sum.

        Raises
        ------
        InputError
            For data, labels, weights or parameters that do not fit; it is a ValueError.
        """
        X, y, sample_weight = self._validated(X, y, sample_weight, numeric=False)
        check_classification_targets(y)
        classes = np.unique(y)
        if classes.size < 2:
            raise InputError(
                f"a classifier needs at least two classes, and y has one class only, "
                f"{classes.tolist()[0]!r}; add examples of another"
            )
        loss = loss_of(self._loss, ("binary", "multiclass"), "classifies", classes.size)
        self._boost(X, y, sample_weight, loss)
        self.classes_ = self.boosted_.classes
        return self

    def decision_function(self, X: Any) -> Array:
        """Return f(x) for rows X: shape (N,), positive for the second of two classes, or (N, K).

        Parameters
        ----------
        X : array of shape (N, d)
        """
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

    def _probabilities(self, X: Any) -> Array:
        X = self._rows(X)
        F = self.boosted_.decision(X)
        if F.ndim == 2:
            return softmax(F, axis=1)
        return np.column_stack([expit(-F), expit(F)])

    def _scores(self, F: Array) -> Array:
        return F[:, 1] - F[:, 0] if F.ndim == 2 and F.shape[1] == 2 else F

    def _predicted(self, scores: Array) -> Any:
        return decided(scores, self.classes_)
