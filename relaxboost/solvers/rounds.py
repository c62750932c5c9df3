"""The loop over the rounds of a run, which all methods share.

A booster is a run of a method. In round t it has a distribution d_t over the examples and weights
w_t of the hypotheses. The weak learner returns the best hypothesis for d_t. The loop then evaluates
the bounds on the value that d_t and w_t prove, and the booster updates d_t and w_t.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from math import nan
from typing import Any

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import Limits
from relaxboost.game.domains import Dense
from relaxboost.game.game import Game
from relaxboost.game.solution import Basis
from relaxboost.matrices import Best
from relaxboost.relaxations import Witness
from relaxboost.relaxations.bounds import bounds_of
from relaxboost.solvers.hypothesis import CombinedHypothesis
from relaxboost.solvers.warm_start import WarmStart


@dataclass(slots=True)
class RoundState:
    """The state of a run in round t, before the booster updates the distribution and the weights.

    The weak learner has already returned the best hypothesis for the distribution d_t. The weights
    w_1 of round 1 are those from which the method starts. Over a ball, w_1 is 0.

    The weights w_t of AdaBoost grow beyond the ball. The object `active` therefore contains these
    weights scaled to the radius r of the ball, and ``active.u`` are the margins of the scaled
    weights. Three more attributes describe w_t before the scaling: ``active.norm`` is ‖w_t‖_1,
    ``active.raw`` is the vector of margins A w_t, and ``active.log_risk`` is the logarithm of the
    exponential risk (1/m) Σ exp(−(A w_t)_i).
    """

    round: int
    """The number t of the round. The first round has number 1. If the run continues from a
    checkpoint, the numbering continues that of the earlier run."""
    d: Vector
    """The distribution d_t over the examples. The weak learner has returned `best` for this d_t."""
    best: Best | Dense
    """The best hypothesis for d_t, as the weak learner returned it: the index, sign and edge of a
    column of the margin matrix. Over a Euclidean set, such as an l2 ball, the hypothesis has a
    weight for each column."""
    active: CombinedHypothesis
    """The weights w_t of the hypotheses, with their margins A w_t for the margin matrix A."""
    smoothed_gap: float
    """The gap that is used in the stopping test of Shalev-Shwartz & Singer (2009), Fig. 1, or nan
    if d_t is not smoothed.

    The gap is <d_t, A(e_j − w_t)>, where d_t is the distribution over the examples, A is the margin
    matrix, w_t are the weights, and e_j is the unit vector of the best hypothesis. If the domain
    puts a penalty g*(w) on the weights, the gap is g(Aᵀd_t) + g*(w_t) − <d_t, A w_t>, where g is
    the conjugate of g*."""
    lower: float
    """The lower bound on the value of the game that the weights w_t prove.

    The bound is F(A w_t) minus the penalty that the domain puts on w_t, where F is the relaxed
    margin and A is the margin matrix. If the booster has a witness, which proves a lower bound on
    F(A w_t), this lower bound replaces F(A w_t). The bound is computed in floating point, so
    rounding errors affect it."""
    upper: float
    """The upper bound on the value of the game that the distribution d_t proves.

    The bound is f(d_t) + g(Aᵀd_t), where f is the relaxation, A is the margin matrix, and g(Aᵀd_t)
    is the value of the best weights w for d_t. A weak learner may declare a slack, which is the
    largest amount by which the edge of the returned hypothesis may be below the best edge. The
    bound uses the edge of the returned hypothesis plus this slack."""
    step: float
    """The length of the step that led to the weights w_t of round t, or nan if the method has no
    steps. For AdaBoost it is the step before the weights are scaled to the ball."""
    inner: str
    """A word for the kind of this round. `RoundRecord.inner` explains the possible words."""
    witness: Witness | None = None
    """The data that prove the bound `lower`. They are None if `lower` is the relaxed margin of the
    weights w_t, because w_t itself then proves the bound."""


class Booster(ABC):
    """A run of a method, which computes a distribution d_t and weights w_t for each round t.

    d_t is a distribution over the examples, and w_t are the weights of the hypotheses. The method
    `advance` updates both with the hypothesis that the weak learner returned for d_t.
    """

    label: str = ""
    """The name of the method, as `Solution.method` shows it."""
    inner: str
    """A word for the kind of the current round. `RoundRecord.inner` explains the possible words."""
    active: CombinedHypothesis
    """The weights w_t of the hypotheses in this round, together with their margins."""
    d: Vector
    """The distribution d_t over the examples in this round. Each update creates a new array."""
    step: float = nan
    """The length of the step that led to the current weights. It is nan if the method has no
    steps."""
    work: float = 0.0
    """The work of the run so far, in passes over the margin matrix A. A pass is one product of A
    with a vector. A call of the weak learner is one pass. The booster adds the passes of its
    updates."""
    trace: tuple[str, ...] = ()
    """A tuple with one sentence for each decision of the run, in the order of the decisions."""
    why_ended: str = "the method returned no further round"
    """The reason why the method `advance` returned None and ended the run, as a clause for
    messages."""
    witness: Witness | None = None
    """The data that prove a lower bound on the relaxed margin of the current weights, or None. Such
    data are useful if only a solver can compute the relaxed margin."""
    evaluated: tuple[float, float] | None = None
    """Two numbers: the relaxed margin of the current weights, or a lower bound on this relaxed
    margin, and the value of the relaxation at the current distribution. The attribute is None if
    the booster has not computed these numbers."""

    def named(self, label: str) -> Booster:
        """Set the name of the method that `Solution.method` shows, and return this booster."""
        self.label = label
        return self

    def describe(self, kinds: Iterable[str]) -> str:
        """Return the name of the method that `Solution.method` shows.

        `kinds` contains a word for each kind of round in the run. A subclass may append these words
        to the name.
        """
        return self.label

    @property
    def current(self) -> Booster:
        """The booster that computes the current round: `self`, or the run of a phase of "auto"."""
        return self

    def basis(self) -> Basis | None:
        """Return the last basis of the linear program of column generation.

        The result is None if the booster does not use column generation.
        """
        return None

    def end(self, reason: str) -> None:
        """Store the reason why the run or the current phase of the run ends."""
        self.why_ended = reason

    def leave_phase(self, reason: str) -> bool:
        """End the current phase of "auto" for the given reason, if another phase follows it.

        Return whether another phase follows.
        """
        return False

    def warmed(self, start: WarmStart) -> Booster:
        """Start from the distribution d and the weights w of a warm start. Return this booster.

        A booster that does not override this method ignores d and w. Even then, they are candidates
        for the result of the run.
        """
        return self

    def ask(self, game: Game) -> Best | Dense:
        """Return the weak learner's best hypothesis for the current distribution d.

        If w ranges over a Euclidean set, such as an l2 ball, the best answer to d is not a single
        hypothesis. The result then has a weight for each hypothesis.
        """
        return game.over.best(game.matrix, self.d)

    @abstractmethod
    def advance(self, best: Any) -> Booster | None:
        """Update the distribution d and the weights w of the hypotheses.

        `best` is the hypothesis that the weak learner returned for d. Return the booster that
        computes the next round, which is the same object in most cases. If d and w can no longer be
        improved, call `end` with the reason and return None.
        """


class Rounds:
    """An iterator over the rounds of a booster. It yields a `RoundState` for each round.

    The iterator ends when the method `advance` of the booster returns None. The array `d` of a
    state does not change after the round, but the object `active` changes in the next round.

    Parameters
    ----------
    game : Game
        The game that the booster solves.
    booster : Booster
        The booster that computes the first round.
    first : int
        The number of the first round.
    """

    def __init__(self, game: Game, booster: Booster, first: int = 1) -> None:
        self._game = game
        self._first = first
        self.booster = booster
        """The booster that computes the current round of the run."""

    def __iter__(self) -> Iterator[RoundState]:
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
                # A weak learner may miss the best edge by its slack, so the bound adds the slack.
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
        # The results are F(A w), or a lower bound on it, and f(d).
        # An interior point method knows both numbers already, and they may be expensive.
        if booster.evaluated is not None:
            return booster.evaluated
        f = self._game.relaxation
        u = booster.active.u
        # F may need a solver, and a witness proves nearly the same bound without one.
        witness = booster.witness
        margin = f.relaxed_margin(u)[0] if witness is None else bounds_of(f).lower_bound(u, witness)
        return margin, f.penalty(booster.d)


def with_protected_callback(limits: Limits) -> Limits:
    """Return a copy of `limits` in which the callback gets a read-only distribution d."""
    # The booster and the incumbent hold the same array d.
    callback = limits.callback
    if callback is None:
        return limits
    return replace(limits, callback=lambda state: callback(_protect(state)))


def _protect(state: RoundState) -> RoundState:
    d = state.d.view()
    d.flags.writeable = False
    return replace(state, d=d)
