"""A ranker that boosts by functional gradient descent."""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_consistent_length, column_or_1d

from relaxboost._core.errors import InputError
from relaxboost.estimators.base import FunctionalGradientEstimator
from relaxboost.estimators.choices import loss_of
from relaxboost.estimators.tables import restores_fit
from relaxboost.functional import RankingHinge


class FunctionalGradientRanker(FunctionalGradientEstimator):
    """A ranker that boosts the hinge loss on pairs of documents of the same query.

    `fit` and `score` need `groups`, the query ids of the documents. To pass `groups` through
    scikit-learn's searches and cross-validation, call ``set_config(enable_metadata_routing=True)``
    and ``ranker.set_fit_request(groups=True).set_score_request(groups=True)``.

    Parameters
    ----------
    loss : str or Loss, optional
        "ranking-hinge", the default, or ``RankingHinge("queries")``, which weights all queries
        equally.
    learner, algorithm, step, scale, projection, max_rounds, max_learners, iterate
        As for `FunctionalGradientClassifier`.
    validation_fraction, n_iter_no_change, random_state, warm_start, n_jobs, verbose
        As for `FunctionalGradientClassifier`. Early stopping holds out whole queries.

    Attributes
    ----------
    boosted_ : Boosted
        The result of `boost`.
    n_iter_ : int
        The number of rounds.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Notes
    -----
    scikit-learn's `check_estimator` supplies no groups. The ranker satisfies its checks if all rows
    belong to one query.

    References
    ----------
    Grubb & Bagnell (2011), Sec. 5.

    Examples
    --------
    >>> from relaxboost.estimators import FunctionalGradientRanker
    >>> model = FunctionalGradientRanker().fit([[0.0], [1.0], [2.0]], [0, 1, 2], groups=[7, 7, 7])
    >>> model.score([[4.0], [0.0]], [1, 0], groups=[8, 8])
    1.0
    """

    usual_loss = "ranking-hinge"
    for_categories = "MarginBoostRanker"
    for_labels = "pass numeric grades, higher for better documents"

    @restores_fit
    def fit(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        sample_weight: Any = None,
        *,
        X_val: Any = None,
        y_val: Any = None,
        groups_val: Any = None,
    ) -> FunctionalGradientRanker:
        """Train on documents X of shape (N, d), their grades y and their query ids.

        Parameters
        ----------
        X : array or frame of shape (N, d)
            As for `FunctionalGradientClassifier.fit`.
        y : array of shape (N,)
            The grade of each document; a higher grade is better.
        groups : array of shape (N,)
            The query id of each document, of any type and in any order.
        sample_weight : array of shape (N,), optional
            Numbers >= 0. The weight of a pair is the product of its document weights.
        X_val, y_val, groups_val : arrays, optional
            A validation set with the same features, which replaces the held-out queries.

        Raises
        ------
        InputError
            If data, groups, weights or a parameter are invalid. InputError is a ValueError.
        """
        X, y, sample_weight = self._validated(X, y, sample_weight)
        held = self._validation_set(X_val, y_val, None)
        if held is None and groups_val is not None:
            raise InputError("groups_val needs X_val and y_val; pass all three, or none of them")
        if held is not None:
            held = held._replace(groups=_queries(groups_val, held.X))
        self._boost(
            X,
            y,
            sample_weight,
            loss_of(self._loss, ("ranking",), "ranks"),
            groups=_queries(groups, X),
            held=held,
        )
        return self

    def score(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> float:
        """Return the share of correctly ordered pairs, in [0, 1].

        Only pairs with the same query and different grades count. Equal scores count as the wrong
        order.
        """
        X = self._rows(X)
        loss: Any = loss_of(self._loss, ("ranking",), "ranks")
        # A user-defined ranking loss does not define which pairs are out of order.
        if not isinstance(loss, RankingHinge):
            loss = RankingHinge()
        risk = loss.bind(column_or_1d(y), sample_weight, groups=_queries(groups, X))
        return 1.0 - risk.disagreement(self.predict(X))


def _queries(groups: Any, X: Any) -> Any:
    if groups is None:
        raise InputError(
            "a ranker needs groups, the query id of each document; if there is only one query, "
            "pass zeros"
        )
    if len(X) < 2:
        raise InputError(
            "a ranker needs pairs of documents, but X has only one sample; pass more documents"
        )
    groups = column_or_1d(groups)
    check_consistent_length(X, groups)
    return groups
