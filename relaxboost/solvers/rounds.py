"""The rounds that all boosters share.

In round t a booster holds a distribution d_t over the examples and weights w_t on the hypotheses.
The weak learner answers d_t with the best hypothesis, the round evaluates the bounds that d_t and
w_t prove, and the booster then updates both.
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

    In round 1 the weights w are those from which the method starts; over balls this is w = 0.

    AdaBoost's weights w_t leave the ball, so its `active` holds them scaled to the size of the
    ball. There ``active.norm`` is ‖w_t‖_1, ``active.raw`` the margins A w_t, and
    ``active.log_risk`` the logarithm of the exponential risk (1/m) Σ exp(−(A w_t)_i). Over
    `L1Ball(r)`, ``active.u`` is r raw / norm.
    """

    round: int
    """The number of the round, counted from 1; it continues that of a checkpoint."""
    d: Vector
    """The distribution d_t over examples that the weak learner has answered."""
    best: Best | Dense
    """The answer of the weak learner: an atom, or dense weights over a Euclidean set."""
    active: CombinedHypothesis
    """The weights w_t with their margins."""
    smoothed_gap: float
    """The gap that SS09 Fig. 1 tests, or nan if d_t is not smoothed.

    It is <d_t, A(e_j − w_t)> for the game matrix A and the best hypothesis e_j. For a domain with a
    penalty g*(w), whose conjugate is g, it is g(Aᵀd_t) + g*(w_t) − <d_t, A w_t>."""
    lower: float
    """The lower bound on the value of the game that the weights w_t prove.

    It is the relaxed margin F(A w_t) minus the penalty of the domain on w_t, computed from stored
    margins. If the booster has a witness, the bound on F that this proves replaces F(A w_t)."""
    upper: float
    """The upper bound on the value of the game that d_t proves.

    It is the relaxation f(d_t) plus the value of the best edge and of the weak learner's slack."""
    step: float
    """The step that led to w_t. For AdaBoost it is η_{t−1}, the step of the unscaled weights."""
    inner: str
    """The method that made d_t, one of the words that `RoundRecord.inner` explains."""
    witness: Witness | None = None
    """The booster's proof of `lower`, or None if `lower` is computed from F(A w_t)."""


class Booster(ABC):
    """A run of a method: it holds d_t and w_t, and updates them with the weak learner's answer."""

    label: str = ""
    """The name of the method, as `Solution.method` shows it."""
    inner: str
    """The kind of the present round, one of the words that `RoundRecord.inner` explains."""
    active: CombinedHypothesis
    """The weights w_t on the hypotheses, with their margins."""
    d: Vector
    """The distribution d_t over the examples. Every round has a new array."""
    step: float = nan
    """The step that led to w_t, or nan if the method has no steps."""
    work: float = 0.0
    """The work of the run so far, in passes over the game matrix A. Each answer of the weak learner
    counts as one pass. A booster adds the cost of its updates."""
    trace: tuple[str, ...] = ()
    """One sentence for each decision of the run, in the order of the decisions."""
    witness: Witness | None = None
    """A proof of a lower bound close to the relaxed margin F(A w_t), or None. It saves a call of
    the solver that some relaxations need to compute F."""
    evaluated: tuple[float, float] | None = None
    """The relaxed margin F(A w_t) and the relaxation f(d_t), if the booster has computed them."""

    def named(self, label: str) -> Booster:
        """Set the name that solutions show, and return the booster."""
        self.label = label
        return self

    def describe(self, kinds: Iterable[str]) -> str:
        """Return the name of the method. A run with several kinds of rounds adds the kinds."""
        return self.label

    @property
    def current(self) -> Booster:
        """The run that computes the current rounds; in a portfolio, the run of its phase."""
        return self

    def basis(self) -> Basis | None:
        """Return the present basis of the restricted program, or None if there is no program."""
        return None

    def warmed(self, start: WarmStart) -> Booster:
        """Return the booster after it has taken the points of a start.

        `solve` calls this method before the first round. By default nothing changes. `solve` keeps
        the bracket of the start in any case.
        """
        return self

    def ask(self, game: Game) -> Best | Dense:
        """Return the answer of the weak learner to d_t."""
        return game.over.best(game.matrix, self.d)

    @abstractmethod
    def advance(self, best: Any) -> Booster | None:
        """Update d and w with the answer `best` of the weak learner.

        Return the booster of the next round, usually itself, or None if nothing can change.
        """


class Rounds:
    """An iterator over the rounds of a booster, which yields a `RoundState` for each.

    It ends when the booster returns None, and otherwise never. The array `d` of a state is not
    written to after its round, but `active` changes with the next round.

    Parameters
    ----------
    game : Game
    booster : Booster
        The run that makes the first round.
    first : int
        The number of the first round.
    """

    def __init__(self, game: Game, booster: Booster, first: int = 1) -> None:
        self._game = game
        self._first = first
        self._value = game.relaxation.valuer()
        self.booster = booster
        """The run that computes the current round."""

    def __iter__(self) -> Iterator[RoundState]:
        """Yield the state of each round."""
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
        """Return the relaxed margin of w, or a lower bound on it, and the relaxation at d."""
        # An interior point method knows both numbers already, and they may be expensive.
        if booster.evaluated is not None:
            return booster.evaluated
        f = self._game.relaxation
        u = booster.active.u
        # F may need a solver, and a witness proves nearly the same bound without one.
        witness = booster.witness
        margin = self._value(u) if witness is None else f.lower_bound(u, witness)
        return margin, f.penalty(booster.d)
