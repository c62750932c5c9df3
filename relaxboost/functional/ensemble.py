"""The result of `boost`: the boosted function and the history of the run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Array
from relaxboost._core.errors import InputError
from relaxboost.functional.learners import Hypothesis, WeakLearner
from relaxboost.functional.losses import Loss
from relaxboost.functional.losses.targets import decided


class BoostRecord(NamedTuple):
    """The risk, the step and other numbers of a boosting round.

    The function after round t is f_t. Round 0 is the state before the first step.
    """

    round: int
    value: float
    """The training risk R[f_t]."""
    validation: float
    """The validation risk of f_t, or of the mean of f_1, ..., f_t if the iterate is "average". It
    is nan without a validation set."""
    average: float
    """The training risk of the mean of f_1, ..., f_t, or nan unless the iterate is "average"."""
    gradient: float
    """The norm of the subgradient of the training risk at f_t."""
    edge: float
    """The smallest edge among the projections of the round, or nan if there are none."""
    step: float
    """The step size of the round, or nan in round 0."""
    learners: int
    """The number of hypotheses in f_t."""
    seconds: float


class Term(NamedTuple):
    """A hypothesis of a boosted function, with its coefficient and round."""

    round: int
    coefficient: float
    hypothesis: Hypothesis


@dataclass(frozen=True)
class Boosted:
    """A boosted function, as returned by `boost`.

    Attributes
    ----------
    terms : tuple of Term
        The hypotheses and their coefficients, in the order of their rounds. The function f_t after
        round t is the weighted sum of the hypotheses up to round t.
    history : tuple of BoostRecord
        The risk and the step of each round.
    rounds : int
        The number T of the last round.
    chosen : int
        The round used for predictions: T for the iterate "last", and the round of least risk for
        "best". For "average", the mean of f_1, ..., f_chosen predicts, where `chosen` is T, or the
        round of least risk if the run had a patience.
    iterate : str
        The function used for predictions: "last", "best" or "average"; see `Algorithm`.
    status : str
        Why the run ended: "max_rounds", "max_learners", "early stopping", "time_limit", "callback",
        "interrupted", or "stationary" if all hypotheses are orthogonal to the gradient.
    """

    loss: Loss
    learner: WeakLearner
    terms: tuple[Term, ...] = field(repr=False)
    history: tuple[BoostRecord, ...] = field(repr=False)
    rounds: int
    chosen: int
    iterate: str
    status: str
    outputs: int | None
    classes: Any = field(repr=False)
    seconds: float
    state: Any = field(repr=False)
    """The state from which a warm start continues the run: the sum of the f_t and the last f_t on
    the training set, the algorithm, and the random number generator."""

    @property
    def value(self) -> float:
        """The training risk of the function used for predictions."""
        record = self.history[self.chosen]
        return record.average if self.iterate == "average" else record.value

    def weights(self, upto: int | None = None) -> Array:
        """Return the coefficient of each term in the function used for predictions.

        If `upto` is given, return the coefficients in f_upto, without averaging over rounds.
        """
        coefficients = np.array([term.coefficient for term in self.terms])
        # A term of round t is in f_t and in all later iterates.
        born = np.array([term.round for term in self.terms])
        if upto is not None:
            return np.where(born <= upto, coefficients, 0.0)
        # A term of round t is part of chosen − t + 1 of the averaged iterates.
        if self.iterate == "average" and self.chosen:
            return coefficients * np.maximum(self.chosen - born + 1, 0) / self.chosen
        return np.where(born <= self.chosen, coefficients, 0.0)

    def decision(self, X: Any, upto: int | None = None) -> Array:
        """Return the outputs f(x) for the N rows x of X, as an array of shape (N,) or (N, K).

        If `upto` is given, f is f_upto, even if the iterate is "average".
        """
        total = self._zero(X)
        weights = self.weights(upto)
        # Hypotheses of one class add up their outputs together, which is faster.
        kinds: dict[type[Hypothesis], list[int]] = {}
        for place in np.flatnonzero(weights).tolist():
            kinds.setdefault(type(self.terms[place].hypothesis), []).append(place)
        for kind, places in kinds.items():
            kind.combined(weights[places], [self.terms[i].hypothesis for i in places], X, total)
        return total

    def staged(self, X: Any) -> Iterator[tuple[int, Array]]:
        """Yield each round t = 1, 2, ... and the outputs f_t(x) for the rows of X."""
        total = self._zero(X)
        place = 0
        for t in range(1, self.rounds + 1):
            while place < len(self.terms) and self.terms[place].round == t:
                # Each sum is a new array, because the caller may keep the arrays of earlier rounds.
                total = total + self.terms[place].coefficient * self.terms[place].hypothesis(X)
                place += 1
            yield t, total

    def contributions(self, X: Any) -> Array:
        """Return the SHAP values for the rows of X, shape (N, d + 1), or (N, d + 1, K) for K
        outputs.

        The last column is the weighted mean output over the training rows. The columns sum to
        `decision(X)`.

        Raises
        ------
        InputError
            If the weak learner is not `Trees`, or if LightGBM is missing.

        References
        ----------
        Lundberg, Erion & Lee (2018), Consistent individualized feature attribution for tree
        ensembles.
        """
        weights = self.weights()
        places = np.flatnonzero(weights)
        # LightGBM explains a sum of trees only, so that all hypotheses must be trees.
        some = [self.terms[place].hypothesis for place in places]
        if len({type(h) for h in some}) != 1:
            raise InputError("SHAP values need at least one round, and only trees as hypotheses")
        return type(some[0]).contributions(weights[places], some, X)

    def importances(self, features: int) -> Array:
        """Return the importance of each of `features` features.

        The importance of a feature is its share of the decrease in squared error over all splits.
        If no split decreases the error, all importances are 0.
        """
        total = np.zeros(features)
        for place in np.flatnonzero(self.weights()):
            found = self.terms[place].hypothesis.gains()
            if found is None:
                raise InputError(
                    f"{self.learner!r} has no feature importances; use stumps or trees"
                )
            total += np.bincount(found[0], found[1], features)
        return total / (total.sum() or 1.0)

    def predict(self, X: Any) -> Any:
        """Return the predicted label of each row of X, or a number if there are no classes."""
        return decided(self.decision(X), self.classes)

    def _zero(self, X: Any) -> Array:
        rows = np.shape(X)[0] if np.ndim(X) else 0
        if rows == 0:
            raise InputError("X needs at least one row")
        return np.zeros(rows) if self.outputs is None else np.zeros((rows, self.outputs))
