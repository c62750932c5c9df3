"""The rounds that all boosters share.

In round t a booster holds a distribution d_t over the examples and weights w_t of the hypotheses.
The weak learner returns the best hypothesis for d_t. Then the bounds that d_t and w_t prove are
evaluated, and the booster updates both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from math import nan
from typing import Any

from relaxboost._core.arrays import Vector
from relaxboost.game.domains import Dense
from relaxboost.game.game import Game
from relaxboost.game.solution import Basis
from relaxboost.matrices import Best
from relaxboost.relaxations import Witness
from relaxboost.solvers.hypothesis import CombinedHypothesis
from relaxboost.solvers.warm_start import WarmStart


@dataclass(slots=True)
class RoundState:
    """The state of a run after the weak learner has answered and before the booster's update.

    In round 1 the weights w are those from which the method starts. Over balls these are w = 0.

    AdaBoost's weights w_t leave the ball, so its `active` holds them scaled to the size of the
    ball. It has three more attributes. ``active.norm`` is ‖w_t‖_1, ``active.raw`` is the vector of
    margins A w_t, and ``active.log_risk`` is the logarithm of the exponential risk (1/m) Σ exp(−(A
    w_t)_i). Over `L1Ball(r)`, ``active.u`` is r raw / norm.
    """

    round: int
    """The number of the round, counted from 1. If the run continues from a checkpoint, the numbers
    continue those of the earlier run."""
    d: Vector
    """The distribution d_t over the examples for which the weak learner has found the best
    hypothesis."""
    best: Best | Dense
    """The answer of the weak learner. It is an atom, or dense weights over a Euclidean set."""
    active: CombinedHypothesis
    """The weights w_t of the hypotheses, with their margins."""
    smoothed_gap: float
    """The gap that the stopping test of SS09 Fig. 1 uses, or nan if d_t is not smoothed.

    It is <d_t, A(e_j − w_t)> for the margin matrix A and the best hypothesis e_j. If the domain
    puts a penalty g*(w) on the weights, it is g(Aᵀd_t) + g*(w_t) − <d_t, A w_t>, where g is the
    conjugate of g*."""
    lower: float
    """The lower bound on the value of the game that the weights w_t prove.

    It is the relaxed margin F(A w_t) minus the penalty of the domain on w_t. If the booster has a
    witness, which is a proof of a lower bound on F(A w_t), this bound replaces F(A w_t). The bound
    is computed from stored margins, so it contains rounding errors."""
    upper: float
    """The upper bound on the value of the game that d_t proves.

    It is f(d_t) for the relaxation f, plus the value of the best edge. The slack of the weak
    learner is added to the edge, because the learner may miss the best hypothesis by this slack."""
    step: float
    """The length of the step that led to w_t. For AdaBoost it is the step η_{t−1} of unscaled
    weights."""
    inner: str
    """The kind of this round. `RoundRecord.inner` explains the possible words."""
    witness: Witness | None = None
    """The booster's proof of `lower`, or None if `lower` is computed from F(A w_t)."""


class Booster(ABC):
    """A run of a method. It holds d_t and w_t, and updates them with the weak learner's answer.

    In round t, d_t is a distribution over the examples, and w_t are the weights of the hypotheses.
    """

    label: str = ""
    """The name of the method, as `Solution.method` shows it."""
    inner: str
    """The kind of the present round. `RoundRecord.inner` explains the possible words."""
    active: CombinedHypothesis
    """The weights w_t of the hypotheses in this round, with their margins."""
    d: Vector
    """The distribution d_t over the examples in this round. Every round has a new array."""
    step: float = nan
    """The length of the step that led to the present weights, or nan if the method has no steps."""
    work: float = 0.0
    """The work of the run so far, in passes over the margin matrix A. Each answer of the weak
    learner counts as one pass. A booster adds the work of its updates."""
    trace: tuple[str, ...] = ()
    """A tuple with one sentence for each decision of the run, in the order of the decisions."""
    why_ended: str = ""
    """The reason why `advance` returned None, as a clause with its numbers, or "" before that."""
    witness: Witness | None = None
    """A proof of a lower bound close to the relaxed margin of the present weights, or None. Some
    relaxations call a solver to compute the relaxed margin, and the proof makes this call
    unnecessary."""
    evaluated: tuple[float, float] | None = None
    """The relaxed margin F(A w_t) of the present weights and the relaxation f(d_t) at the present
    distribution, or None if the booster has not computed them."""

    def named(self, label: str) -> Booster:
        """Set the name that `Solution.method` shows. Return this booster."""
        self.label = label
        return self

    def describe(self, kinds: Iterable[str]) -> str:
        """Return the name of the method.

        A method with several kinds of rounds adds the given `kinds`.
        """
        return self.label

    @property
    def current(self) -> Booster:
        """The run that computes the present rounds.

        For the method "auto" it is the run of a phase.
        """
        return self

    def basis(self) -> Basis | None:
        """Return the basis of the restricted linear program. Return None if there is no program."""
        return None

    def warmed(self, start: WarmStart) -> Booster:
        """Take the points of a warm start. Return this booster.

        `solve` calls this method before the first round. By default the points are ignored. `solve`
        keeps the bracket that the points prove in any case.
        """
        return self

    def ask(self, game: Game) -> Best | Dense:
        """Return the answer of the weak learner to the present distribution d."""
        return game.over.best(game.matrix, self.d)

    @abstractmethod
    def advance(self, best: Any) -> Booster | None:
        """Update the distribution d and the weights w with the answer `best` of the weak learner.

        Return the booster of the next round, which usually is this booster. If the booster can no
        longer change d or w, set `why_ended` and return None.
        """


class Rounds:
    """An iterator over the rounds of a booster. It yields a `RoundState` for each round.

    The iterator ends when the booster returns None. Nothing writes to the array `d` of a state
    after its round, but the object `active` changes with the next round.

    Parameters
    ----------
    game : Game
    booster : Booster
        The run that computes the first round.
    first : int
        The number of the first round.
    """

    def __init__(self, game: Game, booster: Booster, first: int = 1) -> None:
        self._game = game
        self._first = first
        self._value = game.relaxation.valuer()
        self.booster = booster
        """The run that computes the present round."""

    def __iter__(self) -> Iterator[RoundState]:
        """Yield the state of each round, before the booster updates d and w."""
        game = self._game
        for number in count(self._first):
            booster = self.booster
            best = booster.ask(game)
            booster.work += 1.0
            margin, penalty = self._evaluate(booster)
            active = booster.active
            # Only smoothed rounds have the gap that Fig. 1 tests.
            is_smoothed = booster.inner == "smoothed"
            yield RoundState(
                round=number,
                d=booster.d,
                best=best,
                active=active,
                smoothed_gap=active.gap(booster.d, best) if is_smoothed else nan,
                # Both bounds are estimates; `Incumbent.certify` evaluates the exact ones.
                lower=margin - active.cost,
                # A weak learner may miss the best edge by its slack, and the bound must not.
                upper=penalty + game.over.value(best.edge + best.slack),
                step=booster.step,
                inner=booster.inner,
                witness=booster.witness,
            )
            # The caller evaluates and perhaps ends the run before d and w change.
            following = booster.advance(best)
            if following is None:
                return
            self.booster = following

    def _evaluate(self, booster: Booster) -> tuple[float, float]:
        """Return the relaxed margin F(A w), or a lower bound on it, and the relaxation f(d).

        A is the margin matrix, and w and d are the weights and the distribution of the booster.
        """
        # An interior point method knows both numbers already, and they may be expensive.
        if booster.evaluated is not None:
            return booster.evaluated
        f = self._game.relaxation
        u = booster.active.u
        # F may need a solver, and a witness proves nearly the same bound without one.
        witness = booster.witness
        margin = self._value(u) if witness is None else f.lower_bound(u, witness)
        return margin, f.penalty(booster.d)
