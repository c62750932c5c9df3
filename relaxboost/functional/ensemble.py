"""The result of functional boosting: the combined function and the history of the run."""

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
    """A record of the risk, the step and other numbers of a boosting round.

    The function after round t is called f_t. The record of round 0 describes the function before
    the first step.
    """

    round: int
    value: float
    """The risk R[f_t] of the function after the round, on the training set."""
    validation: float
    """The risk of f_t on the validation set, or nan without a validation set. If the iterate is
    "average", this is the validation risk of the mean of f_1..f_t."""
    average: float
    """The training risk of the mean of the functions f_1, ..., f_t after the rounds so far.

    It is nan unless the iterate is "average".
    """
    gradient: float
    """The norm of the subgradient of the training risk at f_t, the function after the round."""
    edge: float
    """The smallest edge among the projections of the boosting round.

    It is nan in round 0, and in a round that found no hypothesis.
    """
    step: float
    """The step size of the boosting round. It is nan in round 0."""
    learners: int
    """The number of hypotheses whose sum is the function f_t after the round."""
    seconds: float


class Term(NamedTuple):
    """A hypothesis in the sum that `boost` returns, with its coefficient and the number of the
    round that added the hypothesis."""

    round: int
    coefficient: float
    hypothesis: Hypothesis


@dataclass(frozen=True)
class Boosted:
    """The function that `boost` found.

    Attributes
    ----------
    terms : tuple of Term
        The hypotheses and their coefficients, in the order of their rounds. The function f_t after
        round t is the sum of the hypotheses of the rounds up to t, times their coefficients.
    history : tuple of BoostRecord
        The risk and the step of each round.
    rounds : int
        The number T of the last round.
    chosen : int
        The round whose function is used for predictions. For the iterate "last" it is T, and for
        "best" it is the round of least risk. For "average", the predictions are those of the mean
        of f_1, ..., f_t, where t is `chosen`: the last round, or the round of least risk if the run
        had a patience.
    iterate : str
        The function that predicts: "last", "best" or "average"; see `Algorithm`.
    status : str
        The reason why the run ended: "max_rounds", "max_learners", "early stopping", "time_limit",
        "callback" or "interrupted". It is "stationary" if all hypotheses are orthogonal to the
        gradient that they should approximate, so that no further step is possible.
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
    """The state from which a warm start continues the run.

    It contains the training predictions of the last f_t and their sum over the rounds, the state of
    the algorithm, and the state of the random number generator.
    """

    @property
    def value(self) -> float:
        """The training risk of the boosted function that is used for predictions."""
        record = self.history[self.chosen]
        return record.average if self.iterate == "average" else record.value

    def weights(self, upto: int | None = None) -> Array:
        """Return the coefficient of each term in the function that is used for predictions.

        If `upto` is given, return the coefficients in the function after round `upto`, without
        averaging over rounds.
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

        If `upto` is given, f is the function after round `upto`, even if the iterate is "average".
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
        """For each round t = 1, 2, ..., yield t and the outputs after round t for the rows of X."""
        total = self._zero(X)
        place = 0
        for t in range(1, self.rounds + 1):
            while place < len(self.terms) and self.terms[place].round == t:
                # Each sum is a new array, because the caller may keep the arrays of earlier rounds.
                total = total + self.terms[place].coefficient * self.terms[place].hypothesis(X)
                place += 1
            yield t, total

    def contributions(self, X: Any) -> Array:
        """Return the SHAP values of the rows of X: the contribution of each feature to the outputs.

        The shape is (N, d + 1) for N rows of d features, or (N, d + 1, K) for K outputs. The last
        column is the weighted mean output over the training rows, and the columns sum to
        `decision(X)`.

        Raises
        ------
        InputError
            If the weak learner is not `Trees`, or if LightGBM, which computes them, is missing.

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
            raise InputError(
                "SHAP values need at least one round, and hypotheses that are all trees"
            )
        return type(some[0]).contributions(weights[places], some, X)

    def importances(self, features: int) -> Array:
        """Return the importance of each feature, as an array of length `features`.

        Each split decreases the squared error with which a hypothesis fits the target of its round.
        The importance of a feature is the sum of these decreases over its splits, divided by the
        sum over all splits. The importances sum to 1. If no split decreases the error, all are 0.
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
        """Return the predicted label of each row of X. If there are no classes, return a number."""
        return decided(self.decision(X), self.classes)

    def _zero(self, X: Any) -> Array:
        rows = np.shape(X)[0] if np.ndim(X) else 0
        if rows == 0:
            raise InputError("X needs at least one row")
        return np.zeros(rows) if self.outputs is None else np.zeros((rows, self.outputs))
