"""Ranking by functional gradients."""

from __future__ import annotations

from typing import Any

from sklearn.utils import check_consistent_length, column_or_1d

from relaxboost._core.errors import InputError
from relaxboost.estimators.base import FunctionalGradientEstimator
from relaxboost.estimators.choices import loss_of
from relaxboost.estimators.tables import restores_fit
from relaxboost.functional import RankingHinge


class FunctionalGradientRanker(FunctionalGradientEstimator):
    """Ranking of the documents of each query, by boosting the hinge on pairs.

    `fit` and `score` need `groups`, the query of each document. Searches and cross-validation of
    scikit-learn hand groups over after ``set_config(enable_metadata_routing=True)`` and
    ``ranker.set_fit_request(groups=True).set_score_request(groups=True)``.

    Parameters
    ----------
    loss : str or Loss, optional
        "ranking-hinge", the default, or ``RankingHinge("queries")``, which gives all queries the
        same weight.
    learner, algorithm, step, scale, projection, max_rounds, max_learners, iterate
        As for `FunctionalGradientClassifier`.
    validation_fraction, n_iter_no_change, random_state, warm_start, n_jobs, verbose
        As for `FunctionalGradientClassifier`; whole queries are held out.

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
    scikit-learn's `check_estimator` gives no groups. The ranker passes its checks if `fit` and
    `score` get one query for all rows.

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
    for_labels = "give grades as numbers, higher for better documents"

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
        """Train on documents X of shape (N, d), their grades y, and their queries.

        Parameters
        ----------
        X : array or frame of shape (N, d)
            As for `FunctionalGradientClassifier.fit`.
        y : array of shape (N,)
            Grades, higher for better documents.
        groups : array of shape (N,)
            The query of each document, ids of any kind in any order.
        sample_weight : array of shape (N,), optional
            At least 0; a pair weighs the product of its two.
        X_val, y_val, groups_val : arrays, optional
            A validation set with the same features, instead of queries held out.

        Raises
        ------
        InputError
            For data, groups, weights or parameters that do not fit; it is a ValueError.
        """
        X, y, sample_weight = self._validated(X, y, sample_weight)
        held = self._given(X_val, y_val, None)
        if held is None and groups_val is not None:
            raise InputError("groups_val goes with X_val and y_val; give all, or none")
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
        """Return the share of pairs that the scores order as the grades do, in [0, 1].

        Only pairs of one query with different grades count. Equal scores are the wrong order.
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
            "a ranker needs groups, the query of each document; give zeros if there is one query"
        )
    if len(X) < 2:
        raise InputError("a ranker needs pairs of documents, got one sample only; add others")
    groups = column_or_1d(groups)
    check_consistent_length(X, groups)
    return groups
