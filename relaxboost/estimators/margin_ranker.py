"""A ranker that maximises the soft margin over pairs of documents."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.errors import InputError
from relaxboost.estimators.margin_base import ScoreBoost
from relaxboost.estimators.margin_games import Examples, check_written, weighted
from relaxboost.estimators.margin_paths import ScoreGames, SettingChoice
from relaxboost.estimators.tables import restores_fit
from relaxboost.functional import RankingHinge
from relaxboost.game import Game
from relaxboost.matrices.pairs import PairMatrix


@dataclass(eq=False, repr=False)
class MarginBoostRanker(ScoreBoost):
    """A ranker that maximises the soft margin over pairs of documents of the same query.

    The margin of a pair is half the difference of its documents' votes, in [−1, 1].

    Parameters
    ----------
    fraction : "auto" or float
        The fraction of pairs, in (0, 1], over which the lowest margins are averaged. "auto" chooses
        the fraction with the fewest misordered held-out pairs.
    hypotheses : "stumps" or callable
        As for `MarginBoostRegressor`.
    tol, folds, time_limit, n_jobs, warm_start, verbose
        As for `MarginBoostClassifier`. Each fold holds out whole queries, or single documents if
        there are fewer queries than folds. The votes are not calibrated.

    Attributes
    ----------
    margin_, certificate_, game_, support_, hypotheses_, feature_importances_
        As for `MarginBoostClassifier`. Each row of the game is a pair.
    hardest_ : array of shape (P, 2)
        The pairs of row indices with the lowest margins, the lowest first. In each pair, the row
        with the higher grade comes first. The first of several equal rows of a query stands for all
        of them.
    fraction_ : float
        The fraction that the games use, given or chosen.
    cv_errors_ : dict
        The share of misordered held-out pairs for each fraction, if `fraction` is "auto".

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 4.1, on A[(i, i'), j] = (h_j(x_i) − h_j(x_i')) / 2.

    Examples
    --------
    >>> from relaxboost.estimators import MarginBoostRanker
    >>> model = MarginBoostRanker(fraction=0.5, folds=None).fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    >>> model.score([[4.0], [0.0]], [1, 0])
    1.0
    """

    for_labels = "pass numeric grades, higher for better documents"

    _: KW_ONLY
    fraction: Any = "auto"

    @restores_fit
    def fit(
        self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None
    ) -> MarginBoostRanker:
        """Solve the game of all pairs of documents with the same query and different grades.

        Parameters
        ----------
        X : array or pandas frame of shape (N, d)
            As for `MarginBoostClassifier`.
        y : array of shape (N,)
            The grade of each document; a higher grade is better.
        groups : array of shape (N,), optional
            The query id of each document, of any type and in any order. By default all documents
            belong to one query.
        sample_weight : array of shape (N,), optional
            Numbers >= 0. The weight of a pair is the product of its document weights. A document of
            weight 2 counts as two documents.

        Raises
        ------
        InputError
            If data, groups, weights or a parameter are invalid. InputError is a ValueError.
        """
        grid = self._shares(self.fraction)
        Z, y, weights = self._checked(X, y, sample_weight)
        rows = np.flatnonzero(weights > 0.0)
        codes = np.unique(y, return_inverse=True)[1]
        given, went = Examples(Z, codes, weights, _queries(groups, y)).at(rows).merged()
        better, worse, _ = _risk(given).pairs()
        rule = PairGames(self._table, self.hypotheses)
        choice = SettingChoice("fraction", grid, [f.fraction for f in grid], _disagreements)
        self._learn(rule, choice, given)
        # The game knows merged examples by their index; users know rows of X.
        rows = rows[np.unique(went, return_index=True)[1]]
        pairs = np.column_stack([rows[better], rows[worse]])
        self._describe(rule, pairs, np.arange(better.size))
        return self

    def score(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> float:
        """Return the share of correctly ordered pairs, in [0, 1].

        Only pairs with the same query and different grades count. Equal votes count as the wrong
        order.
        """
        F = self.predict(X)
        y = column_or_1d(y)
        risk: Any = RankingHinge().bind(y, sample_weight, groups=_queries(groups, y))
        return 1.0 - float(risk.disagreement(F))


class PairGames(ScoreGames):
    """The game whose rows are pairs of documents of one query, the better document first."""

    def aims(self, given: Examples) -> Vector:
        # Each aim is the rank of the document's grade, minus the mean rank.
        return given.codes - np.average(given.codes, weights=given.weights)

    def games(self, given: Examples, k: int, grid: list[Any], matrix: Any) -> list[Game]:
        better, worse, weights = _risk(given).pairs()
        check_written(better.size, matrix.n)
        # Products with this matrix go over the documents, which are fewer than the pairs.
        A = PairMatrix(matrix.toarray(), better, worse)
        return [Game(A, weighted(f, weights)) for f in grid]

    def constant(self, part: Examples, k: int, is_varied: bool) -> float | None:
        try:
            _risk(part)
        except InputError:  # No query of this part has documents of two grades.
            return 0.0
        return None if is_varied else 0.0


def _disagreements(held: Array, given: Examples) -> list[float]:
    return list(map(_risk(given).disagreement, held))


def _queries(groups: Any, y: Any) -> Whole:
    if groups is None:
        return np.zeros(len(y), dtype=np.int64)
    groups = column_or_1d(groups)
    check_consistent_length(groups, y)
    try:
        return np.unique(groups, return_inverse=True)[1]
    except TypeError as error:
        raise InputError(
            f"groups must be ids of the same type, and none may be missing: {error}"
        ) from None


def _risk(given: Examples) -> Any:
    grades = given.codes.astype(np.float64)
    return RankingHinge().bind(grades, given.weights, groups=given.groups)
