"""The default method of `solve`: it runs the phases of the portfolio, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxboost._core.errors import SolverError
from relaxboost._core.loop import Clock
from relaxboost.game.domains import Dense
from relaxboost.game.game import Game
from relaxboost.game.solution import Basis
from relaxboost.matrices import Best
from relaxboost.solvers.boosters.starting_points import starting_point
from relaxboost.solvers.method import Method
from relaxboost.solvers.portfolio import PHASES, Phase, Request
from relaxboost.solvers.restricted_master import ProgramError
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance
from relaxboost.solvers.warm_start import WarmStart

GIVES_UP = (ProgramError, SolverError, MemoryError, np.linalg.LinAlgError)
"""What a phase raises when it cannot go on; the next phase may be able to."""


@dataclass(frozen=True)
class Automatic(Method):
    """The default method: phases in a fixed order, each with a budget of work.

    `relaxboost.solvers.portfolio` lists the phases, the games that each is for, and the work that
    each may do. `Solution.trace` says which phases ran and why each ended. The history shows the
    kind of every round as `RoundRecord.inner`.
    """

    name = "auto"

    def check(self, game: Game) -> None:
        """Accept every game."""

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        return PortfolioRun(game, goal, clock).named("auto", "pairwise")


class PortfolioRun(Booster):
    """Shows the rounds of the present phase as its own, and decides when the next phase begins.

    The first round is at the centre of f. So a run that is interrupted while its first phase is
    prepared has a bracket.
    """

    inner = "start"

    def __init__(self, game: Game, goal: Tolerance, clock: Clock) -> None:
        self.active = starting_point(game)
        self.d = game.relaxation.center(game.m)
        self._request = Request(game, goal, clock, WarmStart(), self)
        self._phases: list[Phase] | None = None
        self._phase: Phase | None = None
        self._run: Booster | None = None
        self._rounds = 0

    @property
    def current(self) -> Booster:
        return self if self._run is None else self._run

    def warmed(self, start: WarmStart) -> Booster:
        """Show the d of a start first; the phases begin where it says."""
        self._request = self._request._replace(start=start)
        if start.d is not None:
            self.d = start.d
        return self

    def basis(self) -> Basis | None:
        return None if self._run is None else self._run.basis()

    def ask(self, game: Game) -> Best | Dense:
        if self._run is None:
            return super().ask(game)
        self._run.work += 1.0
        return self._run.ask(game)

    def advance(self, best: Any) -> Booster | None:
        """Let the present phase take the answer, or begin the next one."""
        self._rounds += 1
        reason = self._begin_next("") if self._run is None else self._why_leave()
        while True:
            if not reason and self._run is not None:
                try:
                    following = self._run.advance(best)
                except GIVES_UP as error:
                    if not self._phases:
                        raise
                    following = None
                    reason = f"it gave up ({error})"
                if following is not None:
                    self._show(following)
                    return self
            if not self._phases:
                return None
            reason = self._begin_next(reason or "it can do no more")

    def _why_leave(self) -> str:
        """Return why the present phase is over, "" if it goes on."""
        if self._run is None or self._phase is None or not self._phases:
            return ""
        budget = self._phase.budget(self._request.game)
        if self._run.work <= budget:
            return ""
        return f"its budget of {budget:.0f} passes over A is used up"

    def _begin_next(self, reason: str) -> str:
        """Start the next phase; return why it could not be started, "" if it was."""
        if self._phases is None:
            self._phases = self._choose()
        else:
            assert self._phase is not None
            used = 0.0 if self._run is None else self._run.work
            self._tell(f"left the {self._phase.name} after {used:.0f} passes over A: {reason}.")
        self._phase = phase = self._phases.pop(0)
        budget = phase.budget(self._request.game)
        limit = f", with a budget of {budget:.0f} passes over A"
        self._tell(f"began the {phase.name}{limit if budget < np.inf else ''}.")
        before = self.current
        self._run = None
        try:
            self._show(phase.start(self._request._replace(before=before)))
        except GIVES_UP as error:
            if not self._phases:
                raise
            return f"it could not be started ({error})"
        return ""

    def _choose(self) -> list[Phase]:
        """Return the phases that are for this game, and note the others with their reasons."""
        chosen = []
        for phase in PHASES:
            why_not = phase.why_not(self._request)
            if why_not:
                self._tell(f"left out the {phase.name}: {why_not}.")
            else:
                chosen.append(phase)
        return chosen

    def _tell(self, sentence: str) -> None:
        """Add a line to the trace."""
        self.trace = (*self.trace, f"Round {self._rounds}: {sentence}")

    def _show(self, run: Booster) -> None:
        """Go on with a run, and show its pair as the pair of the next round."""
        self._run = run
        self.inner = run.inner
        self.d = run.d
        self.active = run.active
        self.step = run.step
        self.witness = run.witness
        self.evaluated = run.evaluated
