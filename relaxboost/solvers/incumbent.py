"""The incumbent of a run: the best d and w so far, their bracket, and the file that keeps them."""

from __future__ import annotations

import math
import operator
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
from relaxboost.game.solution import Basis, RoundRecord
from relaxboost.relaxations import Witness
from relaxboost.solvers.checkpoint import Checkpoint
from relaxboost.solvers.hypothesis import CombinedHypothesis
from relaxboost.solvers.rounds import RoundState
from relaxboost.solvers.stopping import Tolerance
from relaxboost.solvers.warm_start import WarmStart, Weights


class Certified(NamedTuple):
    """Feasible points, and the bracket that they prove."""

    weights: Weights
    lower: float
    witness: Witness
    d: Vector
    upper: float


class Incumbent:
    """The best points that a run has seen. Their bracket holds whenever the run is interrupted.

    `lower` and `upper` are the bounds that the rounds computed; `certify` evaluates the bracket
    again from repaired points.
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
        """Take the points of a start; return whether their bracket is narrow enough already."""
        weights = start.w
        if weights is not None:
            self._weights = lambda: weights
            self.lower = start.lower
        if start.d is not None:
            self._d = start.d
            self.upper = start.upper
        return start.upper - start.lower <= self._goal.allowed(start.lower, start.upper)

    def offer(self, state: RoundState) -> None:
        """Keep the w and the d of a round where their bounds are better."""
        if state.lower > self.lower:
            self._take_weights(state)
            self.lower = state.lower
        if state.upper <= self.upper:  # also for inf, so that d is one that the booster made
            self._d = state.d
            self.upper = state.upper

    def replace(self, state: RoundState) -> None:
        """Keep the pair of this round, whatever its bounds: Fig. 1 returns the last pair."""
        self._take_weights(state)
        self._d = state.d

    def _take_weights(self, state: RoundState) -> None:
        self._weights = partial(state.active.coefficients, state.active.snapshot())
        self._witness = state.witness

    def certify(self, clock: Clock, *, ask_solver: bool = True) -> Certified:
        """Return the repaired points and their bracket, each evaluated from the points alone.

        Where the booster knew a witness and the bracket is too wide with it, the relaxation may
        ask a solver for a better one; `ask_solver` says whether it may.
        """
        if self._proof is not None:
            weights, d, known = self._proof
            if weights is self._weights and d is self._d:
                return known
        game = self._game
        weights, d = self._weights, self._d
        w = game.repair_w(weights())
        prove = partial(bounds.evaluate_lower, game.matrix, game.relaxation, *w, game.over)
        lower, witness = prove(self._witness)
        repaired = game.repair_d(d)
        upper = bounds.evaluate_upper(game.matrix, game.relaxation, repaired, game.over)
        is_wide = upper - lower > self._goal.allowed(lower, upper)
        if self._witness is not None and is_wide and ask_solver:
            with suppress(SolverError, TimeUp), until(clock.deadline):
                lower, witness = max((lower, witness), prove(), key=operator.itemgetter(0))
        certified = Certified(w, lower, witness, repaired, upper)
        self._proof = weights, d, certified
        return certified


class RunLog:
    """The history of a run: its records, its clock, and the kinds of rounds that there were.

    Rounds and seconds count on from a checkpoint.
    """

    def __init__(self, clock: Clock, start: WarmStart) -> None:
        self.clock = clock
        self._start = start
        self._history: History[RoundRecord] = History()
        self.kinds: dict[str, None] = {}
        """The kinds of rounds in their order; a thinned history may lack some."""

    @property
    def seconds(self) -> float:
        """Seconds so far, those before a checkpoint included."""
        return self._start.seconds + self.clock.seconds

    @property
    def rounds(self) -> int:
        """Rounds so far, those before a checkpoint included."""
        return self._start.rounds + self._history.rounds

    @property
    def own_rounds(self) -> int:
        """Rounds of this run alone."""
        return self._history.rounds

    def add(self, state: RoundState, incumbent: Incumbent) -> None:
        """Write the record of a round, with the bounds of the incumbent."""
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

    def records(self, lower: float, upper: float) -> tuple[RoundRecord, ...]:
        """Return the history, whose last record carries the certified bounds."""
        last = self._history.last
        return self._history.records(last and last._replace(lower=lower, upper=upper))


class Saver:
    """Writes the checkpoint of a run, now and then and at its end. Without a file it does nothing.

    `basis` returns where the restricted program of the run stands.
    """

    def __init__(self, file: Checkpoint | None, incumbent: Incumbent, log: RunLog) -> None:
        self._file = file
        self._incumbent = incumbent
        self._log = log
        self.basis: Callable[[], Basis | None] = lambda: None

    @property
    def trouble(self) -> str:
        """Why the last write failed, "" if it did not."""
        return "" if self._file is None else self._file.trouble

    def write_if_due(self) -> None:
        """Write the checkpoint if it is time to."""
        if self._file is not None and self._file.due:
            self.write()

    def write(self) -> None:
        """Write the checkpoint."""
        if self._file is not None:
            certify = partial(self._incumbent.certify, self._log.clock)
            self._file.write(certify, self.basis(), self._log.rounds, self._log.seconds)
