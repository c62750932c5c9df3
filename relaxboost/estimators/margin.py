"""A classifier that maximises the soft margin, with certified bounds on its optimum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from fractions import Fraction
from typing import Any, cast

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.errors import InputError, brief
from relaxboost.estimators.choices import seed_of
from relaxboost.estimators.margin_base import MarginBoost
from relaxboost.estimators.margin_calibration import sigmoids
from relaxboost.estimators.margin_columns import CutColumns
from relaxboost.estimators.margin_games import Examples, made, takes_weights, weighted
from relaxboost.estimators.margin_paths import Games, Played, SettingChoice
from relaxboost.estimators.margin_trees import Columns, RankedColumns, TreePool
from relaxboost.estimators.tables import check_class_weights, classes_of, restores_fit
from relaxboost.functional.losses.targets import decided
from relaxboost.game import Game, Solution
from relaxboost.game.domains import L1Ball
from relaxboost.relaxations import Capped, HardMargin, Relaxation
from relaxboost.relaxations.base import fixed_m


@dataclass
class ClassGames(Games):
    """The games of `MarginBoostClassifier`: one for two classes, otherwise one for each class."""

    classes: Any = None
    is_balanced: bool = True
    """For more than two classes, whether a class and the rest get equal weights in its game."""

    @property
    def has_unseen_votes(self) -> bool:
        # The hypotheses are a pool of trees, each grown on a part of the examples.
        return isinstance(self.hypotheses, str) and self.hypotheses == "auto"

    def columns(self, given: Examples, k: int) -> tuple[Columns, Any]:
        signs = np.where(given.codes == k, 1.0, -1.0)
        weights = self._weights(given, k)
        if not self.has_unseen_votes:
            columns = CutColumns.of(self.table, given.Z, signs, weights)
            return columns, made(self.hypotheses, columns(given.Z), signs)
        # If the categories were ordered by their labels, trees would get information about the
        # labels of the examples on which they are not grown.
        columns = CutColumns.of(self.table, given.Z, np.zeros(signs.size), weights)
        ranked = RankedColumns.of(columns, given.Z)
        E = ranked(given.Z)
        return ranked, TreePool(E, signs, weights, given.units(), given.counts, given.seed)

    def games(self, given: Examples, k: int, grid: list[Any], matrix: Any) -> list[Game]:
        weights = self._weights(given, k)
        over = matrix.over if isinstance(matrix, TreePool) else L1Ball(1)
        return [Game(matrix, weighted(f, weights), over=over) for f in grid]

    def begin(self, matrix: Any) -> Any:
        if not isinstance(matrix, TreePool):
            return None
        # The games start with equal weights of all trees, which are good votes if the time runs
        # out early.
        n: Any = matrix.n
        return None, (np.arange(n), np.full(n, 1.0 / n))

    def unseen_votes(self, played: list[Played]) -> Array:
        votes = []
        for pairs in played:
            pool = cast(TreePool, pairs[0][1].game.matrix)
            votes.append([pool.unseen_votes(s.support, s.coefficients) for _, s in pairs])
        return np.array(votes[0]) if len(votes) == 1 else np.moveaxis(np.array(votes), 0, -1)

    def _weights(self, given: Examples, k: int) -> Vector:
        if len(self.targets) == 1 or not self.is_balanced:
            return given.weights
        # A class has a small share of the weight if there are many classes. The constant vote
        # against the class then has a large soft margin, and the game would learn nothing else.
        own = given.codes == k
        rest = given.weights[~own].sum() / given.weights[own].sum()
        return np.where(own, rest, 1.0) * given.weights

    def constant(self, part: Examples, k: int, is_varied: bool) -> float | None:
        # A vote without features knows nothing if all rows are equal; a single class decides it.
        here = part.codes == k
        if not is_varied:
            return 0.0
        if here.all():
            return 1.0
        return None if here.any() else -1.0

    def errors(self, held: Array, given: Examples) -> list[float]:
        """Return the weighted error rate of the held-out votes for each setting."""
        # The labels are predicted from calibrated votes as in `predict`, because the votes of
        # several games are compared.
        names = np.arange(self.classes.size)
        errors = []
        for F in held:
            a, b = sigmoids(F, given, self.targets)
            wrong = decided(a * F + b, names) != given.codes
            errors.append(float(given.weights[wrong].sum() / given.weights.sum()))
        return errors

    def losses(self, held: Array, given: Examples) -> list[float]:
        """Return the mean log loss of the calibrated held-out votes for each setting."""
        # The number of errors of a few hundred examples is too coarse to choose a fraction by.
        losses = []
        for F in held:
            a, b = sigmoids(F, given, self.targets)
            P = class_probabilities(a * F + b)
            p = np.maximum(P[np.arange(len(P)), given.codes], np.finfo(float).tiny)
            losses.append(float(np.average(-np.log(p), weights=given.weights)))
        return losses

    def shortfall(self, k: int, s: Solution, tol: float) -> str:
        said = super().shortfall(k, s, tol)
        return said and f"class {self.classes.tolist()[k]!r}: {said}"


def class_probabilities(log_odds: Array) -> Array:
    """Convert log odds to probabilities, with a column for each class.

    For two classes, the log odds are a vector. For more classes, they have a column for each class.
    """
    P = expit(log_odds)
    if P.ndim == 1:
        return np.column_stack([1.0 - P, P])
    # Each game of a class against the rest is calibrated alone, so that the sum is not 1.
    return np.asarray(P / P.sum(axis=1, keepdims=True))


@dataclass(eq=False, repr=False)
class MarginBoostClassifier(ClassifierMixin, MarginBoost):
    """A classifier that maximises the soft margin of a weighted vote on the training examples.

    The margin of an example is the vote for its label, in [−1, 1]; it is negative if the vote is
    wrong. The soft margin is the mean of the lowest margins, over a fraction of the examples. A
    large fraction makes the votes robust to wrong labels. `fit` maximises the soft margin up to
    `tol`. `margin_` contains bounds on the largest soft margin, and `certificate_` proves them.

    Parameters
    ----------
    relaxation : {"capped", "hard"} or Relaxation
        "capped" is the soft margin, and "hard" is the smallest margin.
    fraction : "auto" or float
        The fraction, in (0, 1], of the total example weight over which the lowest margins are
        averaged. Small fractions suit clean labels. If labels are noisy, use more than twice the
        fraction of wrong labels. "auto" chooses the fraction by held-out votes. Only "capped" uses
        this parameter. A fraction of less than one example selects only the lowest margin.
    hypotheses : "auto", "stumps", classifier, or callable
        The hypotheses that vote:

        * "auto" is a pool of 200 randomised trees, grown on bootstrap samples. There are five kinds
          of 40 trees each: depth 2, depth 3, depth 5, unlimited depth, and random cuts. The votes
          of a tree on examples outside its sample are *held out*. The fraction maximises the
          likelihood of the held-out votes, which also calibrate the probabilities.
        * "stumps" are all stumps, few of which get a nonzero weight. Cross-validation with `folds`
          chooses the fraction with the fewest errors.
        * A scikit-learn classifier that accepts `sample_weight` is fitted in each round, until it
          finds no better hypothesis. `margin_` then refers to the hypotheses found.
        * A function of X and y = ±1 returns a margin matrix, as does
          ``partial(rb.matrices.stumps, max_cuts=32)``.
    tol : float
        The largest allowed gap, > 0, between the bounds in `margin_`.
    folds : int, optional
        The number of cross-validation folds, >= 2, for choosing the fraction and calibrating the
        votes. The time of `fit` is proportional to it. If there are fewer distinct rows than folds,
        each distinct row is a fold. The trees of "auto" need no folds. If `folds` is None, there is
        no `predict_proba`, the signs of the votes decide, and `fraction` must be a number.
    time_limit : float, optional
        The total time for all games, in seconds. The time to grow the trees does not count. If the
        time runs out or the user presses Ctrl-C, the games return their best bounds, with a
        ConvergenceWarning.
    n_jobs : int, optional
        The number of joblib processes for folds and classes: None means 1, and −1 all processors.
        Results do not depend on it. With several processes, Ctrl-C aborts the fit.
    warm_start : bool
        Whether games start from the solutions of the last `fit`, if the number of hypotheses is the
        same. The games of the folds always start from scratch.
    verbose : int
        1 shows a progress bar on a terminal.
    class_weight : dict or "balanced", optional
        Class weights; "balanced" makes the total weights of all classes equal. For more than two
        classes, each game separates one class from the rest. Unless `class_weight` is a dict, the
        class and the rest then have equal total weights.
    random_state : int or RandomState, optional
        The seed for the trees and folds. The default is a fixed seed; None draws a new one.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels of the K classes, sorted.
    margin_ : array (lower, upper)
        Bounds on the largest soft margin, which is the value of the game. For more than two
        classes, `margin_` and the next four attributes are lists with an entry for each class.
    certificate_ : Certificate
        The proof of `margin_`. It contains training data and is not pickled, so save it separately.
    game_ : Game
        The game. It contains training data and is not pickled.
    support_ : array
        The columns of the margin matrix with nonzero weight.
    hypotheses_ : list of (weight, words)
        The weights and descriptions of the hypotheses, sorted by decreasing weight. Hypotheses
        other than stumps are numbered by their position in `support_`.
    hardest_ : array
        The indices of the rows with margins below the threshold γ of the game, the lowest first.
        Each of these rows has the largest weight that the cap allows. If the fraction is 1, nearly
        all rows belong to them. The first of these rows often have wrong labels. If `fraction` is
        "auto", examine about a fraction `cv_errors_[fraction_]` of all rows, which is the held-out
        error rate.
    feature_importances_ : array of shape (d,)
        The share of each feature in the weights, for "stumps" and "auto". The weight of a tree is
        split among its features in proportion to their decrease in squared error.
    fraction_ : float
        The fraction that the games use, given or chosen. The attribute exists only if the
        relaxation has a fraction or a k.
    cv_errors_ : dict
        The weighted held-out error rate of each fraction, if `fraction` is "auto". After Ctrl-C,
        examples not yet held out have the vote 0.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    See Also
    --------
    MarginBoostRegressor : A regressor that minimises the mean of the largest residuals.

    FunctionalGradientClassifier : A classifier that boosts any convex loss.

    certify_ensemble : Certified bounds on the soft margin of an ensemble from another package.

    Notes
    -----
    Let A be the margin matrix. The weights w of the hypotheses maximise the relaxed margin F(A w)
    subject to ‖w‖_1 <= 1. For "capped", F is the soft margin. For the n trees of "auto", the
    constraint is the stronger ‖w‖_2 <= 1/√n, which spreads the weight over many trees and makes the
    optimal votes unique if the soft margin is positive.

    A stump sends missing values left or right, or votes 0 for them. Categories are ordered by their
    fraction of positive examples, and a stump cuts this order.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 4.1 and Eq. 6. Platt (1999) for the sigmoids. Breiman
    (2001) and Geurts, Ernst & Wehenkel (2006) for the trees.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from relaxboost.estimators import MarginBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MarginBoostClassifier().fit(X, y)
    >>> model.predict_proba(X[:2]).shape
    (2, 2)

    A vote of stumps can be read. Here it is a single stump:

    >>> model = MarginBoostClassifier(fraction=0.5, hypotheses="stumps", folds=None)
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]).predict([[5.0]])
    array(['b'], dtype='<U1')
    >>> model.hypotheses_[0][1]
    'x0 > 1.5'
    >>> model.margin_.round(2)
    array([1., 1.])
    """

    relaxation: Any = "capped"
    _: KW_ONLY
    fraction: Any = "auto"
    hypotheses: Any = "auto"
    class_weight: Any = None
    random_state: Any = 0

    @restores_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Solve the game for two classes, or the games of each class against the rest.

        Parameters
        ----------
        X : array or pandas frame of shape (N, d)
            Numbers or nan. A frame may also contain strings, categories, bools and None.
        y : array of shape (N,)
            Labels of any kind, at least two.
        sample_weight : array of shape (N,), optional
            Numbers >= 0. An example of weight 2 counts as two copies.

        Raises
        ------
        InputError
            If data, labels, weights or a parameter are invalid. InputError is a ValueError.
        """
        grid = self._grid()
        given, rows, went = self._examples(X, y, sample_weight, grid)
        # A user who gives factors for the classes wants these factors, and no others.
        is_balanced = not isinstance(self.class_weight, dict) and all(map(takes_weights, grid))
        classes = self.classes_
        # One game separates two classes. Its votes are positive for the second class.
        targets = [1] if classes.size == 2 else list(range(classes.size))
        rule = ClassGames(self._table, self.hypotheses, targets, classes, is_balanced)
        values = [getattr(f, "fraction", None) for f in grid]
        # For stumps, measurements showed that the errors of folds choose better fractions.
        losses = rule.losses if rule.has_unseen_votes else None
        choice = SettingChoice("fraction", grid, values, rule.errors, losses)
        held = self._learn(rule, choice, given)
        self._describe(rule, rows, went)
        # There is a pair (a, b) for each stage. None means that the log odds are the votes.
        self._sigmoids = None if held is None else [sigmoids(F, given, targets) for F in held]
        return self

    def _grid(self) -> list[Relaxation]:
        if isinstance(self.relaxation, Relaxation):
            return [self.relaxation]
        if isinstance(self.relaxation, str) and self.relaxation == "hard":
            return [HardMargin()]
        if not isinstance(self.relaxation, str) or self.relaxation != "capped":
            raise InputError(
                'relaxation must be "capped", "hard" or a Relaxation such as '
                f"rb.Capped(fraction=0.5), got {self.relaxation!r}; pass the share of the lowest "
                "margins as fraction="
            )
        shares = self._shares(self.fraction)
        if self.hypotheses == "auto" and len(shares) > 1:
            # The mean of all margins would give all weight to one stump, but it spreads over trees.
            shares.insert(0, Capped(fraction=1.0))
        return shares

    def _examples(
        self, X: Any, y: Any, sample_weight: Any, grid: list[Relaxation]
    ) -> tuple[Examples, Whole, Whole]:
        """Return the training examples, with equal rows merged if the relaxations take weights.

        Also return the indices of the rows with positive weight, and the example index of each of
        these rows.
        """
        Z, y, weights = self._checked(X, y, sample_weight)
        self.classes_, codes = classes_of(y)
        factors = self._class_factors(codes, weights)
        rows = np.flatnonzero(weights > 0.0)
        given = Examples(Z, codes, weights, seed=seed_of(self.random_state)).at(rows)
        went = np.arange(rows.size)
        # If the relaxations accept weights, equal examples are merged. Merged examples make games
        # smaller, and weights give the same bits as copies. Factors come after the sums, because a
        # sum of products is rounded otherwise.
        if all(takes_weights(f) for f in grid):
            given, went = given.merged()
            factors = self._class_factors(given.codes, given.weights)
        copies = given.weights
        given = given._replace(weights=copies * factors[given.codes], copies=copies)
        for at, f in enumerate(grid):
            # k becomes a fraction, which also has a meaning for a part of the examples.
            if isinstance(f, Capped) and f.k is not None:
                total = sum(map(Fraction, given.weights.tolist()))
                # The sum of weights such as 0.1 is rounded, and may be just below a whole k.
                if f.exact_k > total * (1 + Fraction(1, 10**12)):
                    raise InputError(
                        f"{brief(f)} needs 1 <= k <= {float(total):.6g}, the sum of the weights "
                        "(sample_weight times class_weight); use a share of that sum, such as "
                        "rb.Capped(fraction=0.5), or larger weights"
                    )
                grid[at] = f = Capped(fraction=min(Fraction(1), f.exact_k / total))
            if fixed_m(f) is not None and self.folds is not None:
                raise InputError(
                    f"{brief(f)} has a parameter for each example, so no examples can be held out; "
                    "use folds=None"
                )
            # The smallest game raises the InputError of any other misfit before the work starts.
            Game(np.ones((given.weights.size, 1)), weighted(f, given.weights))
        return given, rows, went

    def _class_factors(self, codes: Whole, weights: Vector) -> Vector:
        classes = self.classes_
        factors = np.ones(classes.size)
        total = np.bincount(codes, weights, classes.size)
        if self.class_weight == "balanced" and (total > 0.0).all():
            factors = total.sum() / (classes.size * total)
        elif self.class_weight is not None:
            factors = compute_class_weight(self.class_weight, classes=classes, y=classes[codes])
        check_class_weights(classes, total * factors)
        return factors

    def votes(self, X: Any) -> Array:
        """Return the votes for the rows of X, in [−1, 1].

        For two classes, the shape is (N,), and positive votes are for the second class. For more
        classes, the shape is (N, K).
        """
        return self._votes(self._rows(X), -1)

    def _votes(self, Z: Array, stage: int) -> Array:
        return np.array(self._each([voter(Z) for voter in self._stages[stage]])).T

    def _log_odds(self, Z: Array, stage: int) -> Array:
        F = self._votes(Z, stage)
        if self._sigmoids is None:
            return F
        slope, offset = self._sigmoids[stage]
        return np.asarray(slope * F + offset)

    def decision_function(self, X: Any) -> Array:
        """Return the log odds for the rows of X.

        For two classes, the shape is (N,), and positive log odds are for the second class. For more
        classes, the shape is (N, K). The log odds are aF + b for the votes F, where a >= 0 and b
        are fitted to the held-out votes of each game (Platt). If `folds` is None, the votes are
        returned.
        """
        return self._log_odds(self._rows(X), -1)

    def predict(self, X: Any) -> Any:
        """Return the label with the largest log odds for each row of X, shape (N, d)."""
        return decided(self.decision_function(X), self.classes_)

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Yield the log odds for the rows of X at each fraction for which `fit` solved games.

        The largest fraction comes first, and the chosen fraction comes last.
        """
        Z = self._rows(X)
        return (self._log_odds(Z, stage) for stage in range(len(self._stages)))

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield the predicted labels for the rows of X at each fraction that `fit` used.

        The fractions have the order of `staged_decision_function`.
        """
        return (decided(F, self.classes_) for F in self.staged_decision_function(X))

    def contributions(self, X: Any) -> Array:
        """Return the exact SHAP values of `decision_function`, shape (N, d + 1).

        The hypotheses must be stumps. For K > 2 classes, the shape is (N, d + 1, K). The last
        column is the mean of `decision_function` over the training rows, weighted by
        `sample_weight` and `class_weight`, and each row sums to `decision_function(X)`.
        Interventional and path-dependent values are the same, because each stump reads one feature.

        Raises
        ------
        AttributeError
            If the hypotheses are not stumps.

        References
        ----------
        Lundberg & Lee (2017), A unified approach to interpreting model predictions, Eq. 8.
        """
        Z = self._rows(X)
        out = np.stack([voter.contributions(Z) for voter in self._stages[-1]], axis=-1)
        if self._sigmoids is not None:
            slope, offset = self._sigmoids[-1]
            out *= slope
            out[:, -1] += offset
        return out[..., 0] if len(self._stages[-1]) == 1 else out

    # This is a property, because scikit-learn's available_if would hide the reason in the error.
    @property
    def predict_proba(self) -> Any:
        """The method `predict_proba(X)`, which returns probabilities in the order of `classes_`.

        For more than two classes, the one-against-rest probabilities are divided by their sum. The
        method does not exist if `folds` is None, or if Ctrl-C ended the fit.
        """
        remedy = "fit again with folds=5, or use decision_function"
        if self.folds is None:
            raise AttributeError(
                "there is no predict_proba, because folds=None leaves no held-out votes to "
                f"calibrate probabilities; {remedy}"
            )
        if getattr(self, "_sigmoids", self) is None:
            raise AttributeError(
                "there is no predict_proba, because the last fit had folds=None, or Ctrl-C "
                f"ended it before the probabilities were calibrated; {remedy}"
            )
        return self._probabilities

    def _probabilities(self, X: Any) -> Array:
        return class_probabilities(self.decision_function(X))
