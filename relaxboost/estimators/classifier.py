"""A classifier that boosts by functional gradient descent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight

from relaxboost._core.arrays import Array
from relaxboost.estimators.base import FunctionalGradientEstimator
from relaxboost.estimators.choices import check_likelihood, loss_of
from relaxboost.estimators.tables import check_class_weights, classes_of, restores_fit
from relaxboost.functional.losses.targets import decided

LEAST_SHARE_OF_MEAN_WEIGHT = 1e-6
"""The smallest nonzero example weight, as a multiple of the mean weight. Smaller weights become 0,
so that no leaf contains only examples of negligible weight."""


@dataclass(eq=False, repr=False)
class FunctionalGradientClassifier(ClassifierMixin, FunctionalGradientEstimator):
    """A classifier that boosts any convex loss.

    Parameters
    ----------
    loss : str or Loss, optional
        "logistic", the default, and "hinge" use the corresponding multiclass loss for more than two
        classes. "exponential" and "smooth-hinge" are for two classes only. "multinomial-logistic"
        and "multiclass-hinge" have one output for each class, even for two classes. A Loss is one
        of `relaxboost.functional` or a user-defined loss.
    learner : {"stumps", "trees", "networks"}, WeakLearner or regressor
        `RegressionStumps`, `Trees` or `Networks` with their defaults, a weak learner, or a
        scikit-learn regressor.
    algorithm : {"refitted", "residual", "repeated", "naive"} or Algorithm, optional
        As for `relaxboost.functional.boost`. The default is "refitted" for learners with leaves,
        such as stumps and trees, and "residual" for others.
    step, scale, projection
        Options of the algorithm; see `Algorithm`. Options that are set in an `algorithm` object
        take precedence.
    max_rounds, max_learners
        The maximum numbers of rounds and weak learners; see `Stopping`.
    iterate : {"last", "best", "average"}, optional
        The function used for predictions; see `Algorithm`. With the steps 1/√t the default is
        "average", because the theorems bound the risk of the mean. With other steps the default is
        "best" with early stopping, and "last" without it.
    validation_fraction : float
        The fraction of each class, in (0, 1), that is held out if `n_iter_no_change` is set.
    n_iter_no_change : int, optional
        Stop boosting if the held-out risk has not decreased for this number of rounds, >= 1. By
        default there is no early stopping.
    random_state : int, RandomState, optional
        The seed for the held-out examples and for random learners.
    warm_start : bool
        Whether `fit` continues the last fit on the same data, up to `max_rounds` rounds in total.
        This option stores three more arrays of the length of the training set.
    n_jobs : int, optional
        The number of threads: None means 1, and −1 all processors. Results do not depend on it.
    verbose : int
        1 prints the risk about ten times during a fit, and 2 after each round.
    class_weight : dict or "balanced", optional
        Class weights, as in scikit-learn. They also apply to held-out examples and to X_val.

    Attributes
    ----------
    boosted_ : Boosted
        The result of `boost`: the hypotheses, their coefficients and the risk history.
    classes_ : array of shape (K,)
        The labels, sorted.
    n_iter_ : int
        The number of rounds.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    `score` returns the accuracy for every loss. To search over learners or losses, pass objects,
    such as ``{"learner": [Trees(max_depth=2), Trees(max_depth=4)]}``.

    Encode string columns as numbers, for example in a pipeline with
    ``OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)``, and pass the
    indices of the encoded columns to ``Trees(categorical=[...])``.

    References
    ----------
    Grubb & Bagnell (2011), Algorithms 1 to 3.

    Examples
    --------
    >>> from relaxboost.estimators import FunctionalGradientClassifier
    >>> model = FunctionalGradientClassifier(max_rounds=5).fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    >>> model.predict([[0.5], [3.0]])
    array([0, 1])
    """

    usual_loss = "logistic"
    for_categories = "MarginBoostClassifier"

    _: KW_ONLY
    class_weight: Any = None

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
    ) -> FunctionalGradientClassifier:
        """Train on rows X of shape (N, d) and labels y of shape (N,).

        Parameters
        ----------
        X : array or frame of shape (N, d)
            Finite numbers. If the learner accepts missing values, nan marks a missing value.
        y : array of shape (N,)
            Labels of any kind, at least two.
        sample_weight : array of shape (N,), optional
            Numbers >= 0, with a positive sum for each class. Weights below one millionth of the
            mean weight are treated as 0.
        X_val, y_val, sample_weight_val : arrays, optional
            A validation set that replaces the held-out training examples, with the same features
            and classes.

        Raises
        ------
        InputError
            If data, labels, weights or a parameter are invalid. InputError is a ValueError.
        """
        X, y, sample_weight = self._validated(X, y, sample_weight)
        classes, codes = classes_of(y)
        held = self._validation_set(X_val, y_val, sample_weight_val)
        # The number of classes decides between the loss of two classes and the multiclass loss.
        loss = loss_of(self._loss, ("binary", "multiclass"), "classifies", classes.size)
        if self.class_weight is not None:
            factors = compute_sample_weight(self.class_weight, y)
            if held is not None:
                # "balanced" depends on the numbers of examples, and the risks of both sets must be
                # alike. For an unknown label the loss raises the error later, with the classes.
                known = dict(zip(y.tolist(), factors, strict=True))
                alike = np.array([known.get(label, 1.0) for label in held.y.tolist()])
                given = 1.0 if held.weights is None else np.asarray(held.weights)
                held = held._replace(weights=alike * given)
            sample_weight = factors if sample_weight is None else factors * sample_weight
        if sample_weight is not None:
            check_class_weights(classes, np.bincount(codes, sample_weight))
            least = LEAST_SHARE_OF_MEAN_WEIGHT * sample_weight.mean()
            sample_weight = np.where(sample_weight < least, 0.0, sample_weight)
        self._boost(X, y, sample_weight, loss, held=held)
        self.classes_ = self.boosted_.classes
        return self

    def decision_function(self, X: Any) -> Array:
        """Return the scores f(x) of the rows of X.

        For a binary loss, there is one score for each row, and positive scores stand for the second
        class. Otherwise there is a column of scores for each class.
        """
        return self._decided(X)

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Yield the scores f(x) of the rows of X after each round."""
        return self._staged(X)

    # scikit-learn's available_if would hide the error of check_likelihood, which names the loss and
    # the remedy, behind an error of its own.
    @property
    def predict_proba(self) -> Any:
        """The method `predict_proba(X)`, which returns probabilities in the order of `classes_`.

        The method exists only if the loss is a negative log-likelihood, such as "logistic".
        """
        check_likelihood(self._loss, "scikit-learn's CalibratedClassifierCV")
        return self._probabilities

    @property
    def staged_predict_proba(self) -> Any:
        """The method `staged_predict_proba(X)`, which yields the probabilities after each round.

        The method exists only if `predict_proba` exists.
        """
        return self.predict_proba and self._staged_probabilities

    def _probabilities(self, X: Any) -> Array:
        X = self._rows(X)
        return _probabilities_of(self.boosted_.decision(X))

    def _staged_probabilities(self, X: Any) -> Iterator[Array]:
        return map(_probabilities_of, self._functions(X))

    def _scores(self, F: Array) -> Array:
        # A multiclass loss has two outputs for two classes; scikit-learn expects one score then.
        return F[:, 1] - F[:, 0] if F.ndim == 2 and F.shape[1] == 2 else F

    def _predicted(self, scores: Array) -> Any:
        return decided(scores, self.classes_)


def _probabilities_of(F: Array) -> Array:
    return softmax(F, axis=1) if F.ndim == 2 else np.column_stack([expit(-F), expit(F)])
