"""A classifier of the largest soft margin, with its bracket, and one that chooses how soft."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_X_y
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.compiled import is_interrupt
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, positive
from relaxboost.estimators.margin_columns import CutColumns, Features
from relaxboost.estimators.margin_games import (
    Examples,
    Voter,
    proof,
    sigmoid,
    takes_weights,
    weighted,
)
from relaxboost.functional.losses.targets import decided
from relaxboost.game import Game, Solution
from relaxboost.matrices import StumpColumn, oracle, stumps
from relaxboost.relaxations import Capped, HardMargin, Relaxation
from relaxboost.solvers import path, solve


def _can_tell(self: Any) -> bool:
    if self.folds is None or getattr(self, "_sigmoid", self) is None:
        raise AttributeError(
            "there is no predict_proba, since no votes were held out to calibrate by: folds is "
            "None, or the fit was interrupted; use decision_function, or fit with folds=5"
        )
    return True


@dataclass(eq=False, repr=False)
class _MarginBoost(ClassifierMixin, BaseEstimator, ABC):
    """What both share: one game for each class against the rest, its solution, calibration."""

    _: KW_ONLY
    hypotheses: Any = "stumps"
    tol: float = 1e-3
    class_weight: Any = None
    folds: int | None = 5
    time_limit: float | None = None
    _table: Features = field(init=False)

    @abstractmethod
    def _grid(self) -> list[Relaxation]:
        """Return the relaxations to choose from, the softest first."""

    def _choose(self, held: Array, given: Examples) -> int:
        """Return the place of the best relaxation, from votes held out; where there is one, 0."""
        return 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Solve the game of each class against the rest; of two classes, one game.

        Parameters
        ----------
        X : array or pandas frame of shape (N, d)
            Numbers, nan where missing; in a frame also strings, categories, bools, None.
        y : array of shape (N,)
            Labels of any kind, at least two.
        sample_weight : array of shape (N,), optional
            >= 0. Whole weights are copies.

        Raises
        ------
        InputError
            For data, labels, weights or parameters that do not fit; it is a ValueError. Before any
            game is solved.
        """
        positive("tol", self.tol)
        if self.folds is not None and count("folds", self.folds) < 2:
            raise InputError("folds must be at least 2, to hold one out; or None")
        grid = self._grid()
        given, rows, went = self._examples(X, y, sample_weight, grid)
        self._stopped, held, best = False, None, 0
        if len(grid) > 1:
            held, whole = self._held_out(given, grid)
            best = self._choose(held, given)
            if not whole:
                said = "the fraction was chosen from unfinished games; raise time_limit or tol"
                warnings.warn(said, ConvergenceWarning, 2)
        pairs = [self._play(given, k, grid[best : best + 1])[0] for k in self._targets()]
        self._voters, self._solutions = map(list, zip(*pairs, strict=True))
        self._certificates = None
        self._describe(rows, went)
        if held is None and self.folds is not None and not self._stopped:
            held, _ = self._held_out(given, grid)
        if self._stopped:
            held, said = None, "interrupted, so that the votes are not calibrated"
            warnings.warn(said, ConvergenceWarning, 2)
        self._sigmoid = None if held is None else self._calibrated(held[best], given)
        return self

    def _examples(
        self, X: Any, y: Any, sample_weight: Any, grid: list[Relaxation]
    ) -> tuple[Examples, Whole, Whole]:
        """Return what is known of each different example, the rows of weight, and where they went.

        Equal examples become one, with the sum of their weights, where f takes weights.
        """
        Z, y = check_X_y(self._numbers(X, True), y, ensure_all_finite="allow-nan", estimator=self)
        empty = np.flatnonzero(np.isnan(Z).all(axis=0))
        if empty.size:
            raise InputError(
                f"feature {self._table.names[empty[0]]!r} has no value in any example; leave it out"
            )
        try:
            check_classification_targets(y)
            self.classes_, codes = np.unique(y, return_inverse=True)
        except TypeError as error:
            raise InputError(f"labels must be of one kind, none missing: {error}") from None
        weights = _check_sample_weight(sample_weight, Z, dtype=np.float64, ensure_non_negative=True)
        weights = weights * self._class_factors(codes, weights)[codes]
        rows = np.flatnonzero(weights > 0.0)
        given = Examples(Z, codes, weights).at(rows)
        went = np.arange(rows.size)
        if all(takes_weights(f) for f in grid):
            given, went = given.merged()
        for at, f in enumerate(grid):
            if isinstance(f, Capped) and f.k is not None:  # a share, that folds have too
                total = sum(map(Fraction, given.weights.tolist()))
                if f.exact_k > total * (1 + Fraction(1, 10**12)):  # sums are rounded
                    raise InputError(
                        f"{f!r} needs 1 <= k <= the sum of the weights of examples, sample_weight "
                        f"times class_weight, which is {float(total):.6g}; give fraction, a share "
                        "of that sum, or larger weights"
                    )
                grid[at] = f = Capped(fraction=min(Fraction(1), f.exact_k / total))
            if f.fixed_m is not None and self.folds is not None:
                raise InputError(
                    f"{f!r} has a number for each example, and folds hold some out; use folds=None"
                )
            # Which says what else does not fit, before the work.
            Game(np.ones((given.weights.size, 1)), weighted(f, given.weights))
        return given, rows, went

    def _numbers(self, X: Any, reset: bool) -> Array:
        """Return what the table makes of X, checked; with `reset` also the table."""
        given: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}
        if not hasattr(X, "iloc") and not reset and any(self._table.levels):
            import pandas as pd

            X = pd.DataFrame(np.asarray(X, dtype=object))
        if not hasattr(X, "iloc"):
            Z: Array = validate_data(self, X, reset=reset, **given)
            if reset:
                self._table = Features.numbered(Z.shape[1])
            return Z
        validate_data(self, X, reset=reset, skip_check_array=True)  # names of features
        if reset:
            self._table = Features.of(X)
        return check_array(self._table.numbers(X), estimator=self, **given)

    def _class_factors(self, codes: Whole, weights: Vector) -> Vector:
        """Return a factor for each class, "balanced" counting copies; checks that all weigh."""
        classes = self.classes_
        if classes.size < 2:
            raise InputError(
                f"y has one class only, {classes.tolist()[0]!r}; add examples of another"
            )
        factors, total = np.ones(classes.size), np.bincount(codes, weights)
        if self.class_weight == "balanced" and (total > 0.0).all():
            factors = total.sum() / (classes.size * total)
        elif self.class_weight is not None:
            factors = compute_class_weight(self.class_weight, classes=classes, y=classes[codes])
        light = np.flatnonzero(~(total * factors > 0.0))
        if light.size:
            raise InputError(
                f"class {classes.tolist()[light[0]]!r} has no example of positive weight; leave "
                "its examples out, or give it weight"
            )
        return factors

    def _targets(self) -> list[int]:
        """Return the classes that are +1 in a game."""
        return [1] if self.classes_.size == 2 else list(range(self.classes_.size))

    def _made(self) -> Callable[[Array, Vector], Any]:
        """Return what makes the margin matrix of columns and signs."""
        if isinstance(self.hypotheses, str) and self.hypotheses == "stumps":
            return stumps
        if hasattr(self.hypotheses, "fit"):
            # Slack 0: a run ends where the learner finds nothing better. Its bracket is not kept.
            return lambda E, signs: oracle(self.hypotheses, E, signs, slack=0.0)
        if callable(self.hypotheses):
            return self.hypotheses
        raise InputError(
            'hypotheses must be "stumps", a scikit-learn classifier, or a function of (X, y) that '
            f"returns a margin matrix, got {self.hypotheses!r}"
        )

    def _play(
        self, given: Examples, k: int, grid: list[Relaxation]
    ) -> list[tuple[Voter, Solution]]:
        """Solve the games of class k against the rest, one for each relaxation, on one path."""
        signs = np.where(given.codes == k, 1.0, -1.0)
        free = not isinstance(self.class_weight, dict) and all(map(takes_weights, grid))
        if self.classes_.size > 2 and free:
            # Else a vote of no for every class has a large soft margin.
            rest = given.weights[signs < 0.0].sum() / given.weights[signs > 0.0].sum()
            given = given._replace(weights=np.where(signs > 0.0, rest, 1.0) * given.weights)
        columns = CutColumns.of(self._table, given.Z, signs, given.weights)
        matrix = self._made()(columns(given.Z), signs)
        if not callable(getattr(matrix, "hypothesis", None)):
            raise InputError(
                f"hypotheses made {type(matrix).__name__}, which has no hypothesis(j) to predict "
                "by; return stumps(...), oracle(...) or a matrix with that method"
            )
        games = [Game(matrix, weighted(f, given.weights)) for f in grid]
        # After Ctrl-C what is left gets one round.
        limit = 1e-9 if self._stopped else self.time_limit
        solutions = path(games, self.tol, time_limit=limit)
        self._stopped |= any(s.status == "interrupted" for s in solutions)
        if hasattr(self.hypotheses, "fit"):  # of hypotheses that were not found nothing is known
            found = matrix.columns(range(matrix.known))
            games = [Game(found, game.relaxation) for game in games]
            starts = [(s.d, (s.support, s.coefficients)) for s in solutions]
            pairs = zip(games, starts, strict=True)
            solutions = [solve(g, self.tol, start=at, time_limit=limit) for g, at in pairs]
        return [(Voter.of(columns, matrix, s), s) for s in solutions]

    def _held_out(self, given: Examples, grid: list[Relaxation]) -> tuple[Array, bool]:
        """Return votes on each example of games without it, (relaxations, examples[, classes]).

        And whether all games were finished; after Ctrl-C votes not yet known are 0.
        """
        targets, whole = self._targets(), True
        out = np.zeros((len(grid), given.codes.size, len(targets)))
        try:
            for test, place in product(given.folds(self.folds or 5), range(len(targets))):
                part = given.at(~test)
                here = part.codes == targets[place]
                if all(np.unique(x).size == 1 for x in part.Z.T):
                    continue  # no hypothesis: every vote is 0
                if here.all() or not here.any():  # all say what there is
                    out[:, test, place] = 1.0 if here.all() else -1.0
                    continue
                played = self._play(part, targets[place], grid)
                if self._stopped:  # in a game, or before the next
                    break
                whole &= all(s.status != "time_limit" for _, s in played)
                out[:, test, place] = [voter(given.Z[test]) for voter, _ in played]
        except (KeyboardInterrupt, SystemError) as error:
            if not is_interrupt(error):
                raise
            self._stopped = True
        return (out[:, :, 0] if len(targets) == 1 else out), whole and not self._stopped

    def _calibrated(self, F: Array, given: Examples) -> Any:
        """Return a and b of the log odds aF + b, from votes held out: numbers, or one a class."""
        columns = F.reshape(len(F), -1).T
        pairs = zip(self._targets(), columns, strict=True)
        found = [sigmoid(f, given.codes == k, given.weights) for k, f in pairs]
        return np.array(found[0] if len(found) == 1 else found).T

    def _describe(self, rows: Whole, went: Whole) -> None:
        """Set what is told of the solutions, and warn of what they fail to say."""
        for k, s in zip(self._targets(), self._solutions, strict=True):
            idle = s.upper - s.game.relaxation.relaxed_margin(np.zeros(s.game.m))[0]
            if s.status != "optimal" or idle <= self.tol:
                remedy = "" if idle > self.tol else "; no vote beats none: raise fraction"
                label = self.classes_.tolist()[k]
                warnings.warn(f"class {label!r}: {s.message}{remedy}", ConvergenceWarning, 3)
        self.margin_ = self._each([np.array([s.lower, s.upper]) for s in self._solutions])
        self.support_ = self._each([s.support for s in self._solutions])
        self.hypotheses_ = self._each([voter.words() for voter in self._voters])
        short = np.max([s.gamma - s.margins for s in self._solutions], axis=0)[went]
        order = np.argsort(-short, kind="stable")
        self.hardest_ = rows[order[: np.count_nonzero(short > 0.0)]]

    def _each(self, told: list[Any]) -> Any:
        """Return one of two classes, and else a list by class."""
        return told[0] if self.classes_.size == 2 else told

    @property
    def certificate_(self) -> Any:
        """The `Certificate` of `margin_`, a list by class where there are more than two.

        It is made when first asked for. It holds the training data, equal examples once, so that a
        saved one can be checked alone; beyond 2 000 000 numbers only the SHA-256 of
        ``game_.matrix``, which the checker then needs.
        """
        solutions = self._played("certificate_")
        if self._certificates is None:
            self._certificates = self._each([proof(s) for s in solutions])
        return self._certificates

    @property
    def game_(self) -> Any:
        """The `Game` of `margin_`, or a list: equal examples once, features with nan twice."""
        return self._each([s.game for s in self._played("game_")])

    def _played(self, name: str) -> list[Solution]:
        check_is_fitted(self)
        if not hasattr(self, "_solutions"):
            raise AttributeError(
                f"a pickle keeps no training data, and so no {name}; ask for it before pickling"
            )
        return self._solutions

    @property
    def feature_importances_(self) -> Vector:
        """The share of each feature in the weights of the stumps, shape (d,)."""
        check_is_fitted(self)
        total = np.zeros(self.n_features_in_)
        for voter in self._voters:
            for c, h in voter.members:
                if not isinstance(h, StumpColumn):
                    raise AttributeError("feature_importances_ are of stumps, not of others")
                total[voter.columns.source[h.feature]] += abs(c)
        return total / (total.sum() or 1.0)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {k: v for k, v in state.items() if k not in ("_solutions", "_certificates")}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def votes(self, X: Any) -> Array:
        """Return the votes in [−1, 1] for rows X: (N,) for the second of two classes, or (N, K)."""
        check_is_fitted(self)
        Z = self._numbers(X, False)
        return np.array(self._each([voter(Z) for voter in self._voters])).T

    def decision_function(self, X: Any) -> Array:
        """Return log odds: (N,), positive for the second class; or (N, K), largest for the label.

        They are aF + b for the votes F, with a >= 0 and b of each game fitted to votes on examples
        that were held out (Platt); the votes themselves where folds is None.
        """
        F = self.votes(X)
        return F if self._sigmoid is None else self._sigmoid[0] * F + self._sigmoid[1]

    def predict(self, X: Any) -> Any:
        """Return the label that `decision_function` decides for, for rows X of shape (N, d)."""
        return decided(self.decision_function(X), self.classes_)

    @available_if(_can_tell)
    def predict_proba(self, X: Any) -> Array:
        """Return probabilities of shape (N, K), columns as `classes_`, from the log odds.

        Those of more than two classes are divided by their sum.
        """
        P = expit(self.decision_function(X))
        if P.ndim == 1:
            return np.column_stack([1.0 - P, P])
        return P / P.sum(axis=1, keepdims=True)


@dataclass(eq=False, repr=False)
class MarginBoostClassifier(_MarginBoost):
    """The largest soft margin that votes of stumps, or of a weak learner, have on the training set.

    The weights w of the hypotheses, ‖w‖_1 <= 1, are the best of a game, up to `tol`: they maximise
    F(A w), with `Capped` the mean of the share `fraction` of margins that are lowest. `margin_`
    brackets the best there is, and `certificate_` proves it.

    Parameters
    ----------
    relaxation : {"capped", "hard"} or Relaxation
        "capped" is the soft margin, "hard" the smallest margin.
    fraction : float
        Of the examples, in (0, 1], with weights of the weight: those with the lowest margins count.
        Small if labels are clean; well above twice the share of wrong ones, which votes would fit
        else. Of "capped" only. Less than one example is the hard margin.
    hypotheses : "stumps", classifier, or callable
        All stumps, which send missing values left, right or nowhere, and categories by subsets,
        prefixes of their order by share of +1. Or a scikit-learn classifier with sample_weight,
        fitted anew in each round until it finds nothing better: then `margin_` is of the hypotheses
        found. Or a function of (X, y in −1 and +1) that returns a margin matrix, such as
        ``partial(rb.matrices.stumps, max_cuts=32)``.
    tol : float
        The gap of the bracket, > 0.
    class_weight : dict or "balanced", optional
        Factors on the weights of each class; "balanced" gives all classes the same total. Of more
        than two, without a dict, each class has half of the weight in its game.
    folds : int, optional
        How many parts are held out, one after the other, to calibrate the votes; `fit` takes about
        so many times longer. None: labels are by the votes, and there is no `predict_proba`.
    time_limit : float, optional
        Seconds for each game. After it, or Ctrl-C, the best bracket so far is kept; a
        ConvergenceWarning says so.

    Attributes
    ----------
    classes_ : array of shape (K,)
        The labels, sorted.
    margin_ : array (lower, upper)
        Of the game. Here and below: of two classes one, and else a list, a game for each class
        against the rest.
    certificate_ : Certificate
    game_ : Game
        Both hold the training data, and pickles neither: save the certificate before.
    support_ : array
        The numbers of the hypotheses with weight, in the margin matrix.
    hypotheses_ : list of (weight, words)
        What they say, the largest weights first; others than stumps by their place in `support_`.
    hardest_ : array
        The rows with the lowest margins, lowest first: those below the threshold γ, which weigh as
        much as the cap allows. Wrong labels are among them first.
    feature_importances_ : array of shape (d,)
        The share of each feature in the weights; of stumps only.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Sec. 4.1 and Eq. 6. Platt (1999) for the sigmoids.
    """

    relaxation: Any = "capped"
    fraction: float = 0.1
    _: KW_ONLY

    def _grid(self) -> list[Relaxation]:
        if isinstance(self.relaxation, Relaxation):
            return [self.relaxation]
        named = {"capped": lambda: Capped(fraction=self.fraction), "hard": HardMargin}
        if not isinstance(self.relaxation, str) or self.relaxation not in named:
            raise InputError(
                'relaxation must be "capped", "hard" or a Relaxation such as rb.KLPenalty(1), got '
                f"{self.relaxation!r}"
            )
        return [named[self.relaxation]()]


@dataclass(eq=False, repr=False)
class MarginBoostClassifierCV(_MarginBoost):
    """`MarginBoostClassifier` with the fraction of least error on held-out parts.

    Each fold solves its games on one warm path from the largest fraction down; of equal errors the
    largest fraction wins, which uses the fewest hypotheses. The votes of the winner also calibrate
    `predict_proba`.

    Parameters
    ----------
    fractions : sequence of float
        To choose from, each in (0, 1].
    hypotheses, tol, class_weight, folds, time_limit
        As for `MarginBoostClassifier`; `folds` may not be None.

    Attributes
    ----------
    fraction_ : float
        The one chosen.
    cv_errors_ : dict
        The share of weight that was misclassified when held out, by fraction. After Ctrl-C
        examples that were not yet held out have votes of 0; a ConvergenceWarning says so.
    margin_, certificate_, game_, support_, hypotheses_, hardest_, feature_importances_
        As for `MarginBoostClassifier`.
    """

    fractions: Sequence[float] = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    _: KW_ONLY

    def _grid(self) -> list[Relaxation]:
        if self.folds is None or len(set(self.fractions)) < 2:
            raise InputError(
                "a choice by cross-validation needs folds, and at least two fractions; give both, "
                "or use MarginBoostClassifier"
            )
        return [Capped(fraction=share) for share in sorted(set(self.fractions), reverse=True)]

    def _choose(self, held: Array, given: Examples) -> int:
        """Return the place of the fraction of least error."""
        names, errors = np.arange(self.classes_.size), []
        for F in held:
            a, b = self._calibrated(F, given)
            wrong = decided(a * F + b, names) != given.codes
            errors.append(float(given.weights[wrong].sum() / given.weights.sum()))
        shares = sorted(set(self.fractions), reverse=True)
        self.cv_errors_ = dict(zip(shares, errors, strict=True))
        best = int(np.argmin(errors))
        self.fraction_ = shares[best]
        return best
