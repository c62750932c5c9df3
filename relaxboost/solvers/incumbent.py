"""The incumbent of a run: the best points so far, and the bounds on the value that they prove.

The points are a distribution over the examples, which proves the upper bound, and weights of the
hypotheses, which prove the lower bound.
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
    """The feasible weights w of the hypotheses, which prove the bound `lower`."""
    lower: float
    """The lower bound on the value of the game that the weights w prove."""
    witness: Witness
    """The data, such as a threshold γ on the margins, that prove a lower bound on the relaxed
    margin of the weights w."""
    d: Vector
    """The feasible distribution d over the examples, which proves the bound `upper`."""
    upper: float
    """The upper bound on the value of the game that the distribution d proves."""


class Incumbent:
    """The best distribution d and weights w of a run so far, with the bounds that they prove.

    The attributes `lower` and `upper` are the best bounds so far, estimated in floating point.
    `certify` moves d and w to feasible points and evaluates the bounds again.

    Parameters
    ----------
    game : Game
        The game that the run solves.
    goal : Tolerance
        The requested accuracy.
    active : CombinedHypothesis
        The weights w of the hypotheses from which the run starts.
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
        """Store the points of a warm start as the best points so far.

        Return whether the bounds that these points prove meet the requested accuracy.
        """
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
        """Keep the weights w and the distribution d of a round if they prove better bounds.

        The weights w are compared with the best weights so far, and d is compared with the best
        distribution so far.
        """
        if state.lower > self.lower:
            self._take_weights(state)
            self.lower = state.lower
        # Equality includes inf, so that d is one of the booster's even if no bound is finite.
        if state.upper <= self.upper:
            self._d = state.d
            self.upper = state.upper

    def replace(self, state: RoundState) -> None:
        """Store the distribution d and the weights w of a round, even if they prove worse bounds.

        The algorithm of Shalev-Shwartz & Singer (2009), Fig. 1, returns the points of the last
        round.
        """
        self._take_weights(state)
        self._d = state.d

    def _take_weights(self, state: RoundState) -> None:
        self._weights = partial(state.active.coefficients, state.active.snapshot())
        self._witness = state.witness

    def certify(self, clock: Clock, *, ask_solver: bool = True) -> Certified:
        """Return the best points of the run, moved to feasible points, and the proved bounds.

        The points are a distribution d over the examples and weights w of the hypotheses. A witness
        is the data that prove a lower bound on the relaxed margin of w. If the bound from the
        booster's witness is too low for the requested accuracy, the relaxation computes a second
        witness, and the larger bound is used.

        Parameters
        ----------
        clock : Clock
            The clock of the run. A solver call ends at the time limit of the run.
        ask_solver : bool
            Whether the relaxation may compute a second witness. Some relaxations call a solver for
            it.
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
    """The history of a run, the number of its rounds, and the seconds that it has taken.

    The rounds and seconds before a checkpoint are included.

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
        """The records of the rounds of this run, without the rounds before a checkpoint."""
        self._printed = 0
        self.kinds: dict[str, None] = {}
        """The values of `RoundRecord.inner` that have occurred, in the order of their first
        occurrence. They are stored here because the history of a long run drops some of the
        records."""

    @property
    def seconds(self) -> float:
        """The seconds that the run has taken, including the seconds before the checkpoint."""
        return self._start.seconds + self.clock.seconds

    @property
    def rounds(self) -> int:
        """The number of rounds of the run so far, including the rounds before the checkpoint."""
        return self._start.rounds + self.history.rounds

    def add(self, state: RoundState, incumbent: Incumbent) -> None:
        """Add a record of a round to the history, with the bounds of `incumbent`."""
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
        """Print to standard error the lines of a trace that were added since the last call."""
        # Standard output belongs to the program that calls `solve`.
        for line in trace[self._printed :]:
            print(f"relaxboost: {line}", file=sys.stderr)
        self._printed = len(trace)

    def records(self, lower: float, upper: float) -> tuple[RoundRecord, ...]:
        """Return the records of the rounds that the history has kept.

        In the last record, the certified bounds `lower` and `upper` replace the estimates.
        """
        last = self.history.last
        return self.history.records(last and last._replace(lower=lower, upper=upper))
