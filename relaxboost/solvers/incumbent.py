"""The incumbent of a run: the best points so far, with the bounds that they prove.

A distribution over the examples proves the upper bound, and hypothesis weights prove the lower
bound.
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
    """A feasible distribution d and feasible weights w, with the bounds that they prove."""

    weights: Weights
    """The feasible hypothesis weights w."""
    lower: float
    """The lower bound on the value that w proves."""
    witness: Witness
    """The data, such as a threshold γ on the margins, that prove a lower bound on the relaxed
    margin of w."""
    d: Vector
    """The feasible distribution d over the examples."""
    upper: float
    """The upper bound on the value that d proves."""


class Incumbent:
    """The best distribution d and weights w of a run so far, with the bounds that they prove.

    The attributes `lower` and `upper` are floating-point estimates of the bounds. `certify` moves d
    and w to feasible points and proves the bounds.

    Parameters
    ----------
    game : Game
        The game that the run solves.
    goal : Tolerance
        The requested accuracy.
    active : CombinedHypothesis
        The first hypothesis weights w.
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
        """Store the points of a warm start, and return whether their bounds are accurate enough."""
        # A missing point leaves the default, and its bound infinite.
        weights = start.w
        if weights is not None:
            self._weights = lambda: weights
            self.lower = start.lower
        if start.d is not None:
            self._d = start.d
            self.upper = start.upper
        return bool(self._goal.met_by(start.lower, start.upper))

    def offer(self, state: RoundState) -> None:
        """Keep the weights w or the distribution d of a round if they prove a better bound."""
        if state.lower > self.lower:
            self._take_weights(state)
            self.lower = state.lower
        # Equality includes inf, so that d is one of the booster's even if no bound is finite.
        if state.upper <= self.upper:
            self._d = state.d
            self.upper = state.upper

    def replace(self, state: RoundState) -> None:
        """Store the points of a round, even if they prove worse bounds.

        The algorithm of Shalev-Shwartz & Singer (2009), Fig. 1, returns the points of its last
        round.
        """
        self._take_weights(state)
        self._d = state.d

    def _take_weights(self, state: RoundState) -> None:
        self._weights = partial(state.active.coefficients, state.active.snapshot())
        self._witness = state.witness

    def certify(self, clock: Clock, *, ask_solver: bool = True) -> Certified:
        """Move the best points to feasible points, and return them with the proved bounds.

        A witness proves a lower bound on the relaxed margin of the weights. If the booster's
        witness is too weak for the requested accuracy, the relaxation computes a second one, and
        the better bound counts.

        Parameters
        ----------
        clock : Clock
            The clock of the run, whose time limit also ends a solver call.
        ask_solver : bool
            Whether the relaxation may compute a second witness, which may take a solver call.
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
        is_wide = not self._goal.met_by(lower, upper)
        if self._witness is not None and is_wide and ask_solver:
            # The bound at hand is valid, so a solver that fails or takes too long does no harm.
            with suppress(SolverError, TimeUp), until(clock.deadline):
                lower, witness = max((lower, witness), prove(), key=operator.itemgetter(0))
        certified = Certified(w, lower, witness, repaired, upper)
        self._proof = weights, d, certified
        return certified


class RunLog:
    """The history, the rounds and the seconds of a run.

    Rounds and seconds before a checkpoint count too.

    Parameters
    ----------
    clock : Clock
        The clock of this run.
    start : WarmStart
        The warm start of this run.
    """

    def __init__(self, clock: Clock, start: WarmStart) -> None:
        self.clock = clock
        self._start = start
        self.history: History[RoundRecord] = History()
        """The round records of this run, without the rounds before a checkpoint."""
        self._printed = 0
        self.kinds: dict[str, None] = {}
        # The history of a long run drops records, and could lose some of these values.
        """The values of `RoundRecord.inner` so far, in order of first occurrence."""

    @property
    def seconds(self) -> float:
        """The seconds of the run, including those before the checkpoint."""
        return self._start.seconds + self.clock.seconds

    @property
    def rounds(self) -> int:
        """The rounds of the run so far, including those before the checkpoint."""
        return self._start.rounds + self.history.rounds

    def add(self, state: RoundState, incumbent: Incumbent) -> None:
        """Record a round in the history, with the bounds of `incumbent`."""
        # A dict keeps the order of its keys, which a set does not.
        self.kinds[state.inner] = None
        self.history.add(
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
        """Print the new lines of a trace to standard error."""
        # Standard output belongs to the program that calls `solve`.
        for line in trace[self._printed :]:
            print(f"relaxboost: {line}", file=sys.stderr)
        self._printed = len(trace)

    def records(self, lower: float, upper: float) -> tuple[RoundRecord, ...]:
        """Return the round records, with certified bounds in the last one."""
        last = self.history.last
        return self.history.records(last and last._replace(lower=lower, upper=upper))
