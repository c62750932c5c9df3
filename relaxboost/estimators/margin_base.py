"""The base class of the margin estimators."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.errors import InputError
from relaxboost._core.parameters import count, positive
from relaxboost.estimators.choices import threads
from relaxboost.estimators.margin_games import Examples, proof
from relaxboost.estimators.margin_paths import Games, Played, SettingChoice, WarmPath
from relaxboost.estimators.tables import TableEstimator, read_weights
from relaxboost.game import Solution
from relaxboost.relaxations import Capped


def soft_margin(fraction: Any) -> Capped:
    """Return `Capped(fraction=fraction)`. Errors name the parameter `fraction`."""
    try:
        return Capped(fraction=fraction)
    except InputError:
        raise InputError(
            f"fraction={fraction!r} must be a number with 0 < fraction <= 1; use "
            "fraction=0.5, for example"
        ) from None


@dataclass(eq=False, repr=False)
class MarginBoost(TableEstimator):
    """The base class of estimators that solve games for a grid of settings and choose one.

    A setting is, for example, the fraction of the examples whose lowest margins are averaged. The
    games are solved from the softest margin (the largest fraction) to the hardest. Subclasses
    define `Games` and a `SettingChoice`. The parameters are those of `MarginBoostClassifier`.
    """

    takes_categories = True
    usual_fractions: ClassVar = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
    """The fractions that ``fraction="auto"`` compares. No fixed fraction is good on all data sets
    (docs/benchmarks.md)."""

    _: KW_ONLY
    fraction: Any = "auto"
    hypotheses: Any = "stumps"
    tol: float = 1e-3
    folds: int | None = 5
    time_limit: float | None = None
    n_jobs: int | None = None
    warm_start: bool = False
    verbose: int = 0

    def _checked(self, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Any, Vector]:
        """Check the parameters. Return X as numbers, y, and the example weights."""
        positive("tol", self.tol)
        threads(self.n_jobs)
        if self.folds is not None and count("folds", self.folds) < 2:
            raise InputError(
                f"folds must be at least 2, or None to hold out no examples, got {self.folds!r}"
            )
        Z, y = self._read_pair(X, y)
        # Classifiers reject a single sample later, because they need two classes. For the other
        # estimators, a single target has no range.
        if self.for_labels is not None and len(Z) < 2:
            raise InputError("X has only one sample; pass at least two samples")
        return Z, y, read_weights(sample_weight, len(Z))

    def _is_auto(self, name: str, value: Any) -> bool:
        """Return whether a parameter is "auto". Other strings raise an InputError."""
        if isinstance(value, str) and value != "auto":
            raise InputError(
                f'{name} must be a number or "auto", got {value!r}; use {name}=0.5, for example'
            )
        if isinstance(value, str) and self.folds is None:
            raise InputError(
                f'{name}="auto" chooses by cross-validation, but folds is None; pass a number such '
                f"as {name}=0.5, or folds=5"
            )
        return isinstance(value, str)

    def _shares(self, fraction: Any) -> list[Any]:
        """Return the relaxations for a fraction or "auto". The largest fraction comes first."""
        is_auto = self._is_auto("fraction", fraction)
        # The largest fraction gives the softest margin.
        fractions = reversed(self.usual_fractions) if is_auto else [fraction]
        return [soft_margin(x) for x in fractions]

    def _learn(self, rule: Games, choice: SettingChoice, given: Examples) -> Any:
        """Choose a setting, and return the held-out votes.

        The axes of the votes are settings, examples and, for more than two classes, classes. If no
        examples were held out, or after Ctrl-C, the result is None.
        """
        self._reset_choice(choice)
        # Only classifiers accept labels, and calibrate their votes.
        calibrates = self.for_labels is None
        path = self._path(rule, choice.is_open or calibrates)
        solved = self._solved_at_once if rule.has_unseen_votes else self._solved_by_folds
        played, held = solved(path, choice, given)
        self._solutions: list[Solution] = [pairs[-1][1] for pairs in played]
        self._stages = [[voter for voter, _ in pairs] for pairs in zip(*played, strict=True)]
        self._certificates: Any = None
        # A user who gives the setting as a number gets no warning.
        if choice.is_open and calibrates:
            self._warn_of_single_hypothesis()
        if path.is_stopped:
            self._warn("interrupted, so that the votes are not calibrated")
            return None
        return None if held is None else held[: len(self._stages)]

    def _reset_choice(self, choice: SettingChoice) -> None:
        # The settings of an earlier fit must not remain.
        for name in ("cv_errors_", f"{choice.name}_"):
            self.__dict__.pop(name, None)
        # A hard margin, for example, has no fraction.
        if not choice.is_open and choice.values[0] is not None:
            setattr(self, f"{choice.name}_", float(choice.values[0]))

    def _path(self, rule: Games, holds_out: bool) -> WarmPath:
        path = WarmPath(rule, self.tol, self.n_jobs, self.verbose)
        if self.time_limit is not None:
            path.deadline = time.time() + positive("time_limit", self.time_limit)
        has_folds = holds_out and not rule.has_unseen_votes
        path.paths_left = len(rule.targets) * (1 + has_folds * (self.folds or 0))
        return path

    def _warn_of_single_hypothesis(self) -> None:
        if any(s.support.size == 1 and (s.margins < 0.0).any() for s in self._solutions):
            self._warn(
                "a single hypothesis has all of the weight and is wrong on some examples: lower "
                'fraction, or use hypotheses="auto"',
                stacklevel=6,
            )

    def _solved_at_once(
        self, path: WarmPath, choice: SettingChoice, given: Examples
    ) -> tuple[list[Played], Array | None]:
        played = path.solve(given, choice.grid, self._starts(len(path.rule.targets)))
        if self.folds is None:
            return played, None
        held = path.rule.unseen_votes(played)
        if choice.is_open:
            ended = ("time_limit", "interrupted")
            is_whole = all(s.status not in ended for pairs in played for _, s in pairs)
            kept = len(self._choose(choice, held, given, is_whole))
            played = [pairs[:kept] for pairs in played]
        return played, held

    def _solved_by_folds(
        self, path: WarmPath, choice: SettingChoice, given: Examples
    ) -> tuple[list[Played], Array | None]:
        grid = choice.grid
        held = None
        if choice.is_open:
            held, is_whole = path.held_out(given, grid, self.folds or 0)
            grid = self._choose(choice, held, given, is_whole)
        # Settings harder than the chosen one are not solved. Softer settings are warm starts, and
        # the stages of the staged methods.
        played = path.solve(given, grid, self._starts(len(path.rule.targets)))
        # With a single setting nothing was held out to choose it. The calibration of a classifier
        # still needs votes on examples that the games have not seen.
        if held is None and self.for_labels is None and self.folds and not path.is_stopped:
            held, _ = path.held_out(given, grid, self.folds)
        return played, held

    def _choose(
        self, choice: SettingChoice, held: Array, given: Examples, is_whole: bool
    ) -> list[Any]:
        errors = choice.errors(held, given)
        losses = errors if choice.losses is None else choice.losses(held, given)
        # If several settings have the smallest loss, the first and softest of them is chosen.
        best = int(np.argmin(losses))
        self.cv_errors_ = dict(zip(choice.values, errors, strict=True))
        setattr(self, f"{choice.name}_", choice.values[best])
        if not is_whole:
            said = f"the {choice.name} was chosen from unfinished games; raise time_limit or tol"
            self._warn(said, stacklevel=7)
        return choice.grid[: best + 1]

    def _starts(self, games: int) -> list[Solution | None]:
        # If the number of classes has changed, the old solutions belong to other games.
        before = getattr(self, "_solutions", []) if self.warm_start else []
        return before if len(before) == games else [None] * games

    def _warn(self, said: str, stacklevel: int = 5) -> None:
        warnings.warn(said, ConvergenceWarning, stacklevel)

    def _describe(self, rule: Games, rows: Whole, went: Whole) -> None:
        for k, s in zip(rule.targets, self._solutions, strict=True):
            if said := rule.shortfall(k, s, self.tol):
                self._warn(said)
        self.margin_ = self._each([np.array([s.lower, s.upper]) for s in self._solutions])
        self.support_ = self._each([s.support for s in self._solutions])
        self.hypotheses_ = self._each([voter.words() for voter in self._stages[-1]])
        # The margin of an example is compared in each of its games, and the worst game counts.
        short = np.max([rule.below(s) for s in self._solutions], axis=0)[went]
        order = np.argsort(-short, kind="stable")
        self.hardest_ = rows[order[: np.count_nonzero(short > 0.0)]]

    def _each(self, values: list[Any]) -> Any:
        """Return the values of all games as a list, or the value itself if there is one game."""
        return values[0] if len(values) == 1 else values

    @property
    def certificate_(self) -> Any:
        """The `Certificate` that proves `margin_`.

        For more than two classes, this is a list with a certificate for each class. A certificate
        is computed at its first use. It contains the training data, with equal examples merged. If
        these are more than 2 000 000 numbers, it contains the SHA-256 of ``game_.matrix`` instead,
        and the checker needs the matrix.
        """
        # Proofs in exact arithmetic take time, and most fits are never certified.
        solutions = self._played("certificate_")
        if self._certificates is None:
            self._certificates = self._each([proof(s) for s in solutions])
        return self._certificates

    @property
    def game_(self) -> Any:
        """The game whose value lies between the bounds in `margin_`.

        For more than two classes, this is a list with a game for each class. Equal examples share
        one row.
        """
        return self._each([s.game for s in self._played("game_")])

    def _played(self, name: str) -> list[Solution]:
        check_is_fitted(self)
        if not hasattr(self, "_solutions"):
            raise AttributeError(
                f"{name} is not available after unpickling, because pickles contain no training "
                "data; read it before pickling"
            )
        return self._solutions

    @property
    def feature_importances_(self) -> Vector:
        """The share of each feature in the total weight of the stumps or trees that vote."""
        check_is_fitted(self)
        voters = self._stages[-1]
        total: Vector = np.sum([voter.importances(self.n_features_in_) for voter in voters], axis=0)
        return total / (total.sum() or 1.0)

    def __getstate__(self) -> dict[str, Any]:
        # Solutions hold their game, and the game holds the training data.
        state = super().__getstate__()
        return {k: v for k, v in state.items() if k not in ("_solutions", "_certificates")}


class ScoreBoost(MarginBoost):
    """The base class of the margin estimators whose predictions are the votes."""

    def predict(self, X: Any) -> Vector:
        """Return the prediction F(x) for each row of X, shape (N, d), as an array of shape (N,)."""
        Z = self._rows(X)
        return self._stages[-1][0](Z)

    def staged_predict(self, X: Any) -> Iterator[Vector]:
        """Yield the predictions for the rows of X at each setting for which `fit` solved a game.

        The setting with the softest margin comes first, and the chosen setting comes last.
        """
        Z = self._rows(X)
        return (voter(Z) for (voter,) in self._stages)

    def contributions(self, X: Any) -> Array:
        """Return exact SHAP values, shape (N, d + 1).

        The last column is the mean prediction; see `MarginBoostClassifier.contributions`.
        """
        Z = self._rows(X)
        return self._stages[-1][0].contributions(Z)
