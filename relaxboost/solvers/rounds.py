"""The loop over the rounds of a run, which all methods share.

A booster is a run of a method. In round t it has a distribution d_t over the examples and
hypothesis weights w_t. The weak learner returns the best hypothesis for d_t, the loop evaluates the
bounds that d_t and w_t prove, and the booster updates d_t and w_t.
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
    """The state of a run in round t, before the booster updates d_t and w_t.

    The weak learner has already returned the best hypothesis for d_t. In round 1, w_1 are the
    starting weights, which are 0 over a ball.

    AdaBoost's weights w_t grow beyond the ball, so `active` contains them scaled to the radius r of
    the ball, with the margins ``active.u``. Three more attributes describe the unscaled w_t:
    ``active.norm`` is ‖w_t‖_1, ``active.raw`` is the vector of margins A w_t, and
    ``active.log_risk`` is the logarithm of the exponential risk (1/m) Σ exp(−(A w_t)_i).
    """

    round: int
    """The number t of the round, starting with 1. A run from a checkpoint continues the
    numbering."""
    d: Vector
    """The distribution d_t over the examples, for which `best` was returned."""
    best: Best | Dense
    """The weak learner's best hypothesis for d_t: the index, sign and edge of a column.

    Over a Euclidean set, such as an l2 ball, it has a weight for each column.
    """
    active: CombinedHypothesis
    """The hypothesis weights w_t, with their margins A w_t."""
    smoothed_gap: float
    """The gap in the stopping test of Shalev-Shwartz & Singer (2009), Fig. 1, or nan if d_t is not
    smoothed.

    The gap is <d_t, A(e_j − w_t)>, where e_j is the unit vector of the best hypothesis. If the
    domain puts a penalty g*(w) on the weights, the gap is g(Aᵀd_t) + g*(w_t) − <d_t, A w_t>, where
    g is the conjugate of g*.
    """
    lower: float
    """The lower bound on the value that w_t proves, in floating point.

    The bound is F(A w_t) minus the penalty on w_t, where F is the relaxed margin. If the booster
    has a witness, its lower bound on F(A w_t) replaces F(A w_t).
    """
    upper: float
    """The upper bound f(d_t) + g(Aᵀd_t) on the value that d_t proves.

    g(Aᵀd_t) is the value of the best weights for d_t. A weak learner may miss the best edge by its
    slack, so the bound uses the returned edge plus the slack.
    """
    step: float
    """The length of the step to w_t, before any scaling, or nan if the method has no steps."""
    inner: str
    """The kind of this round in one word; see `RoundRecord.inner`."""
    witness: Witness | None = None
    """The data that prove `lower`, or None if w_t itself proves it."""


class Booster(ABC):
    """A run of a method, with a distribution d_t and weights w_t in each round t.

    `advance` updates both with the weak learner's hypothesis for d_t.
    """

    label: str = ""
    """The name of the method, as `Solution.method` shows it."""
    inner: str
    """The kind of the current round in one word; see `RoundRecord.inner`."""
    active: CombinedHypothesis
    """The hypothesis weights w_t of this round, with their margins."""
    d: Vector
    """The distribution d_t of this round. Each update creates a new array."""
    step: float = nan
    """The length of the last step, or nan if the method has no steps."""
    work: float = 0.0
    """The work of the run so far, in passes over the margin matrix A.

    A pass is a product of A with a vector. The loop counts one pass for each call of the weak
    learner, and the booster adds those of its updates.
    """
    trace: tuple[str, ...] = ()
    """One sentence for each decision of the run, in order."""
    why_ended: str = "the method returned no further round"
    """The reason why `advance` returned None, as a clause for messages."""
    witness: Witness | None = None
    # Useful if only a solver can compute the relaxed margin.
    """The data that prove a lower bound on the relaxed margin of the current weights, or None."""
    evaluated: tuple[float, float] | None = None
    """The relaxed margin of the current weights, or a lower bound on it, and the relaxation at d_t.

    The attribute is None if the booster has not computed these numbers.
    """

    def named(self, label: str) -> Booster:
        """Set the method name in `Solution.method`, and return this booster."""
        self.label = label
        return self

    def describe(self, kinds: Iterable[str]) -> str:
        """Return the method name in `Solution.method`.

        `kinds` has a word for each kind of round in the run. A subclass may append these words.
        """
        return self.label

    @property
    def current(self) -> Booster:
        """The booster of the current round: `self`, or the run of a phase of "auto"."""
        return self

    def basis(self) -> Basis | None:
        """Return the last simplex basis of column generation, or None for other methods."""
        return None

    def end(self, reason: str) -> None:
        """Store the reason why the run or its current phase ends."""
        self.why_ended = reason

    def leave_phase(self, reason: str) -> bool:
        """End the current phase of "auto" if another one follows, and return whether one does."""
        return False

    def warmed(self, start: WarmStart) -> Booster:
        """Start from the points of a warm start, and return this booster.

        By default they are ignored. Even then, they are candidates for the result of the run.
        """
        return self

    def ask(self, game: Game) -> Best | Dense:
        """Return the weak learner's best hypothesis for the current distribution d.

        Over a Euclidean set, such as an l2 ball, the result has a weight for each hypothesis.
        """
        return game.over.best(game.matrix, self.d)

    @abstractmethod
    def advance(self, best: Any) -> Booster | None:
        """Update the distribution d and the weights w of the hypotheses.

        `best` is the weak learner's hypothesis for d. Return the booster of the next round, usually
        `self`. If d and w can no longer be improved, call `end` with the reason and return None.
        """


class Rounds:
    """An iterator over the rounds of a booster, which yields their `RoundState`.

    It ends when `Booster.advance` returns None. The array `d` of a state never changes, but the
    object `active` changes in the next round.

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
        """The booster of the current round."""

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
    """Return a copy of `limits` whose callback gets a read-only distribution d."""
    # The booster and the incumbent hold the same array d.
    callback = limits.callback
    if callback is None:
        return limits
    return replace(limits, callback=lambda state: callback(_protect(state)))


def _protect(state: RoundState) -> RoundState:
    d = state.d.view()
    d.flags.writeable = False
    return replace(state, d=d)
