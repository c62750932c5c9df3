"""The incumbent of a run: the best d and w so far, with the bracket [lower, upper] of the value ρ.

d is a distribution over the examples and proves an upper bound. The weights w on the hypotheses
prove a lower bound.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import SolverError
from relaxboost._core.history import History
from relaxboost._core.loop import Clock, TimeUp, until
from relaxboost.game import bounds
from relaxboost.game.game import Game
from relaxboost.game.solution import RoundRecord
from relaxboost.relaxations import Witness
from relaxboost.solvers.hypothesis import CombinedHypothesis
from relaxboost.solvers.rounds import RoundState
from relaxboost.solvers.stopping import Tolerance
from relaxboost.solvers.warm_start import WarmStart, Weights


class Certified(NamedTuple):
    """Feasible points, and the bracket that they prove."""

    weights: Weights
    """The columns and signed weights of w."""
    lower: float
    """The lower bound on ρ that w proves."""
    witness: Witness
    """The proof of the lower bound."""
    d: Vector
    """The distribution over examples."""
    upper: float
    """The upper bound on ρ that d proves."""


class Incumbent:
    """The best points that a run has seen. Their bracket is valid whenever the run is interrupted.

    `lower` and `upper` are the bounds that the rounds computed. `certify` repairs the points and
    evaluates the bracket again.

    Parameters
    ----------
    game : Game
    goal : Tolerance
        The requested accuracy.
    active : CombinedHypothesis
        The weights with which the run begins.
    """

    def __init__(self, game: Game, goal: Tolerance, active: CombinedHypothesis) -> None:
        self._game = game
        self._goal = goal
        self.lower = -math.inf
        self.upper = math.inf
        # The weights are rebuilt on demand from a snapshot. The pair is replaced as a whole, so
        # that an interrupt finds a w that belongs to its margins.
        self._weights: Callable[[], Weights] = partial(active.coefficients, active.snapshot())
        self._d = game.relaxation.center(game.m)
        self._witness: Witness | None = None
        self._proof: tuple[object, object, Certified] | None = None

    def take_start(self, start: WarmStart) -> bool:
        """Take the points of a start. Return whether their bracket meets the goal already."""
        # A missing point leaves the default, and its bound infinite.
        weights = start.w
        if weights is not None:
            self._weights = lambda: weights
            self.lower = start.lower
        if start.d is not None:
            self._d = start.d
            self.upper = start.upper
        return start.upper - start.lower <= self._goal.allowed(start.lower, start.upper)

    def offer(self, state: RoundState) -> None:
        """Take the w of a round if it proves a better lower bound, and its d if it proves a better
        upper bound."""
        if state.lower > self.lower:
            self._take_weights(state)
            self.lower = state.lower
        # Equality includes inf, so that d is one of the booster's even if no bound is finite.
        if state.upper <= self.upper:
            self._d = state.d
            self.upper = state.upper

    def replace(self, state: RoundState) -> None:
        """Take the d and w of this round even if their bounds are worse.

        The algorithm of SS09 Fig. 1 returns its last pair.
        """
        self._take_weights(state)
        self._d = state.d

    def _take_weights(self, state: RoundState) -> None:
        self._weights = partial(state.active.coefficients, state.active.snapshot())
        self._witness = state.witness

    def certify(self, clock: Clock, *, ask_solver: bool = True) -> Certified:
        """Return the repaired points and their bracket, which depends on the points alone.

        A witness is a proof of a lower bound on the relaxed margin of w. If the bracket is too wide
        with the booster's witness and `ask_solver` is true, the relaxation computes a better one,
        for which it may call a solver.
        """
        weights = self._weights
        d = self._d
        # Nothing is computed twice for the same points.
        if self._proof is not None and self._proof[0] is weights and self._proof[1] is d:
            return self._proof[2]
        game = self._game
        w = game.repair_w(weights())
        # The bounds come from one function for all methods, and never from the booster.
        prove = partial(bounds.evaluate_lower, game.matrix, game.relaxation, *w, game.over)
        lower, witness = prove(self._witness)
        repaired = game.repair_d(d)
        upper = bounds.evaluate_upper(game.matrix, game.relaxation, repaired, game.over)
        is_wide = upper - lower > self._goal.allowed(lower, upper)
        if self._witness is not None and is_wide and ask_solver:
            # The bound at hand is valid, so a solver that fails or takes too long does no harm.
            with suppress(SolverError, TimeUp), until(clock.deadline):
                lower, witness = max((lower, witness), prove(), key=operator.itemgetter(0))
        certified = Certified(w, lower, witness, repaired, upper)
        self._proof = weights, d, certified
        return certified


class RunLog:
    """The history of a run. Its rounds and seconds include those before a checkpoint.

    Parameters
    ----------
    clock : Clock
        The clock of this run.
    start : WarmStart
        The points from which the run begins, with the rounds and seconds before a checkpoint.
    """

    def __init__(self, clock: Clock, start: WarmStart) -> None:
        self.clock = clock
        self._start = start
        self._history: History[RoundRecord] = History()
        self._printed = 0
        self.kinds: dict[str, None] = {}
        """The kinds of rounds in the order of their first round. The history drops records of long
        runs, so it may lack a kind."""

    @property
    def seconds(self) -> float:
        """The seconds so far."""
        return self._start.seconds + self.clock.seconds

    @property
    def rounds(self) -> int:
        """The number of rounds so far."""
        return self._start.rounds + self._history.rounds

    @property
    def own_rounds(self) -> int:
        """The number of rounds since the checkpoint."""
        return self._history.rounds

    def add(self, state: RoundState, incumbent: Incumbent) -> None:
        """Record a round, with the bounds of the incumbent."""
        # A dict keeps the order of its keys, which a set does not.
        self.kinds[state.inner] = None
        self._history.add(
            RoundRecord(
                state.round,
                self.seconds,
                incumbent.lower,
                incumbent.upper,
                state.smoothed_gap,
                state.active.used,
                state.step,
                state.inner,
            )
        )

    def print_new(self, trace: tuple[str, ...]) -> None:
        """Print the lines of a trace that were not printed before on standard error."""
        # Standard output belongs to the program that calls `solve`.
        for line in trace[self._printed :]:
            print(f"relaxboost: {line}", file=sys.stderr)
        self._printed = len(trace)

    def records(self, lower: float, upper: float) -> tuple[RoundRecord, ...]:
        """Return the history. Its last record gets the certified bounds."""
        # The bounds of a round are estimates; the end of the history agrees with the solution.
        last = self._history.last
        return self._history.records(last and last._replace(lower=lower, upper=upper))
