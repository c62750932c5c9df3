"""A regressor that minimises the mean of the largest residuals, as a soft-margin game."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from relaxboost._core.arrays import Array, Vector
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import positive
from relaxboost.estimators.margin_base import ScoreBoost, soft_margin
from relaxboost.estimators.margin_games import Examples, Voter, check_written, weighted
from relaxboost.estimators.margin_paths import ScoreGames, SettingChoice
from relaxboost.estimators.margin_trees import Columns
from relaxboost.estimators.tables import restores_fit
from relaxboost.game import Game, Solution
from relaxboost.game.domains import Simplex
from relaxboost.relaxations import Capped


@dataclass(eq=False, repr=False)
class MarginBoostRegressor(RegressorMixin, ScoreBoost):
    """A linear combination of hypotheses that minimises the mean of the largest residuals.

    The prediction is F(x) = c + R Σ w_j h_j(x) with ‖w‖_1 <= `radius`, where c is the midpoint of
    the range of y, and R is half its length. `fit` minimises the mean of the largest |y − F(x)|,
    taken over a fraction of the examples. `error_` contains bounds on the optimum.

    The game has the margins ±(y − F(x)), two rows for each example. For k <= N, the k lowest of
    these 2N margins are the k largest absolute residuals, negated. The domain of the weights is
    `Simplex`, and the columns are ±h_j and ±1.

    Parameters
    ----------
    fraction : float
        The fraction of examples, in (0, 1], over which the largest residuals are averaged. 1 gives
        the mean absolute error, and a very small fraction gives the largest residual.
    hypotheses : "stumps" or callable
        "stumps" have at most 32 cuts for each feature. A function of (X, y), which is called with y
        = 1, must return a margin matrix, for example ``partial(rb.matrices.stumps, max_cuts=8)``.
    tol : float
        The largest allowed gap, > 0, between the bounds in `error_`, in units of R.
    folds, time_limit, n_jobs, warm_start, verbose
        As for `MarginBoostClassifier`, without calibration.
    radius : "auto" or float
        The largest distance of a prediction from c, > 0, in units of R. "auto" chooses among 0.25,
        0.5, 1, 2 and 4 by the mean absolute error on held-out folds. Ties go to the smallest
        radius.

    Attributes
    ----------
    error_ : array (lower, upper)
        Bounds on the smallest possible mean of the largest residuals.
    epsilon_ : float
        Half the width of the tube around F, outside of which the largest residuals lie.
    radius_, cv_errors_
        The radius, given or chosen, and with "auto" the held-out mean absolute error of each
        radius.
    margin_, certificate_, game_
        The bounds on the game value, their proof, and the game. The value is the error divided by
        −R(1 + radius_).
    hardest_ : array
        The indices of the rows outside the tube, the largest residual first.
    hypotheses_, feature_importances_, n_features_in_, feature_names_in_
        As for `MarginBoostClassifier`. The weights are in units of y.

    References
    ----------
    Schölkopf, Smola, Williamson & Bartlett (2000), New support vector algorithms, for the tube;
    Takeda & Sugiyama (2008), nu-support vector machine as conditional value-at-risk minimization.

    Examples
    --------
    >>> from relaxboost.estimators import MarginBoostRegressor
    >>> model = MarginBoostRegressor(radius=1.0, folds=None).fit([[0.0], [1.0], [2.0]], [5, 5, 9])
    >>> model.predict([[0.5], [3.0]]).round(2)
    array([5., 9.])
    """

    for_labels = "for labels use MarginBoostClassifier"

    usual_radii: ClassVar = (0.25, 0.5, 1.0, 2.0, 4.0)

    _: KW_ONLY
    fraction: Any = 0.5
    radius: Any = "auto"

    @restores_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MarginBoostRegressor:
        """Solve the game of the residuals.

        Parameters
        ----------
        X : array or pandas frame of shape (N, d)
            As for `MarginBoostClassifier`.
        y : array of shape (N,)
            Finite numbers.
        sample_weight : array of shape (N,), optional
            Numbers >= 0. An example of weight 2 counts as two copies.

        Raises
        ------
        InputError
            If data, weights or a parameter are invalid. InputError is a ValueError.
        """
        soft_margin(self.fraction)  # This raises an InputError unless 0 < fraction <= 1.
        is_auto = self._is_auto("radius", self.radius)
        grid = list(self.usual_radii) if is_auto else [positive("radius", self.radius)]
        Z, y, weights = self._checked(X, y, sample_weight)
        rows = np.flatnonzero(weights > 0.0)
        values, codes = np.unique(y, return_inverse=True)
        low = float(y[rows].min())
        high = float(y[rows].max())
        reach = max(abs(low), abs(high)) * 2.0 * (1.0 + max(grid))
        # Errors are weighted means of numbers up to this size.
        if not math.isfinite(reach * float(weights.sum())):
            raise InputError(
                f"y ranges from {low:g} to {high:g}, which is too wide for residuals in doubles; "
                "divide y by 1e10, for example, and multiply the predictions by 1e10"
            )
        given, went = Examples(Z, codes, weights).at(rows).merged()
        # Sums and differences of the ends may overflow; a constant y needs a scale all the same.
        middle = low / 2 + high / 2
        half = high / 2 - low / 2 or 1.0
        rule = ResidualGames(self._table, self.hypotheses, [1], values, middle, half, self.fraction)
        self._learn(rule, SettingChoice("radius", grid, grid, rule.errors), given)
        self._describe(rule, rows, went)
        scale = half * (1.0 + self.radius_)
        s = self._solutions[0]
        # The margins of the game are negated residuals, and no absolute residual is below 0.
        self.error_ = np.maximum(-scale * self.margin_[::-1], 0.0)
        self.epsilon_ = max(0.0, -scale * s.gamma)
        return self


@dataclass
class ResidualGames(ScoreGames):
    """The game over `Simplex` with two rows for each example, the residual and its negative.

    Every column contains the term ±y, and weights that sum to 1 preserve it.
    """

    values: Vector = field(default_factory=lambda: np.zeros(0))
    """The distinct targets y. The field `codes` of the examples contains indices of targets."""
    middle: float = 0.0
    half: float = 1.0
    fraction: Any = 0.5

    def aims(self, given: Examples) -> Vector:
        # Each aim is the distance of y from the midpoint of the range, in units of half the range.
        return np.clip((self.values[given.codes] - self.middle) / self.half, -1.0, 1.0)

    def games(self, given: Examples, k: int, grid: list[Any], matrix: Any) -> list[Game]:
        check_written(2 * matrix.m, 2 * (matrix.n + 1))
        # The constant hypothesis moves the middle of the prediction.
        H = np.column_stack([matrix.toarray(), np.ones(matrix.m)])
        t = self.aims(given)[:, None]
        # The fraction is halved, because each example has two rows.
        f = weighted(Capped(fraction=self.fraction / 2), np.tile(given.weights, 2))
        games = list[Game]()
        for radius in grid:
            # Divided by 1 + radius, the largest possible residual, entries are in [−1, 1].
            rest = (t - radius * np.column_stack([H, -H])) / (1.0 + radius)
            games.append(Game(np.clip(np.vstack([rest, -rest]), -1.0, 1.0), f, over=Simplex(1)))
        return games

    def voter(
        self, columns: Columns, matrix: Any, s: Solution, given: Examples, setting: Any
    ) -> Voter:
        # A hypothesis and its negative become one hypothesis, with the difference of their weights.
        total = dict[int, float]()
        n = matrix.n + 1
        for atom, c in zip(s.support.tolist(), s.coefficients.tolist(), strict=True):
            # Columns beyond n are the negated hypotheses.
            signed = c * setting * self.half * (1.0 if atom < n else -1.0)
            total[atom % n] = total.get(atom % n, 0.0) + signed
        offset = self.middle + total.pop(matrix.n, 0.0)
        members = [(c, matrix.hypothesis(j)) for j, c in total.items() if c]
        return Voter.of(columns, members, given, offset)

    def constant(self, part: Examples, k: int, is_varied: bool) -> float | None:
        return None if is_varied else float(np.median(self.values[part.codes]))

    def errors(self, held: Array, given: Examples) -> list[float]:
        """Return the mean absolute error of the held-out predictions for each radius."""
        rest = np.abs(held - self.values[given.codes])
        return (rest @ given.weights / given.weights.sum()).tolist()

    def gap(self, tol: float, grid: list[Any]) -> float:
        # The entries of each game are divided by 1 + radius.
        return tol / (1.0 + max(grid))

    def shortfall(self, k: int, s: Solution, tol: float) -> str:
        return "" if s.status == "optimal" else s.message

    def below(self, s: Solution) -> Vector:
        # The lower of the two margins of each example counts.
        return (s.gamma - s.margins).reshape(2, -1).max(axis=0)
