"""The default method "auto", which runs several methods as phases."""

from __future__ import annotations

import math
from collections.abc import Iterable
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
# If no phase is left, the error ends the run.
"""The errors after which "auto" continues with its next phase."""


@dataclass(frozen=True)
class Automatic(Method):
    """The default method "auto", which runs several methods as phases in a fixed order.

    The phases depend on the game. Four of them have a work budget: the parametric simplex method
    (the "walk from the start" in the trace), the test for a value of zero, the taut-string steps
    and the fully corrective steps. A phase that exceeds its budget hands over to the next phase.
    `relaxboost.solvers.portfolio` lists the phases with their games and budgets. `Solution.trace`
    says which phases ran and why they ended, and `RoundRecord.inner` names the phase of a round.
    """

    name = "auto"

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        return PortfolioRun(game, goal, clock).named("auto")


class PortfolioRun(Booster):
    """A run of "auto", one phase after another.

    The first round comes before the first phase, so bounds are known even if the first phase is
    interrupted. It evaluates the distribution of a warm start or, if there is none, `f.center(m)`,
    where the relaxation f is finite.
    """

    inner = "start"

    def __init__(self, game: Game, goal: Tolerance, clock: Clock) -> None:
        self.active = starting_point(game)
        self.d = game.relaxation.center(game.m)
        self._request = Request(game, goal, clock, WarmStart(), self)
        self._rounds = 0
        self._phase: Phase | None = None
        self._run: Booster | None = None
        self._waiting: list[Phase] | None = None
        """The phases that have not started yet, in order, or None before the first round."""

    @property
    def current(self) -> Booster:
        return self if self._run is None else self._run

    def describe(self, kinds: Iterable[str]) -> str:
        """Return "auto" and the kinds of rounds in the run, as in "auto (interior)".

        The result omits "start" and "lost", the first round and a failed parametric simplex run,
        and has "pairwise" in place of "smoothed".
        """
        shown = [kind for kind in kinds if kind not in ("start", "lost")]
        words = ["pairwise" if kind == "smoothed" else kind for kind in shown]
        return f"{self.label} ({', '.join(words)})" if words else self.label

    def warmed(self, start: WarmStart) -> Booster:
        """Use the warm start's distribution in the first round, and return this booster.

        Each phase may use the warm start too.
        """
        self._request = self._request._replace(start=start)
        # Without a d the first round uses the distribution f.center(m).
        if start.d is not None:
            self.d = start.d
        return self

    def basis(self) -> Basis | None:
        return None if self._run is None else self._run.basis()

    def ask(self, game: Game) -> Best | Dense:
        # Before the first phase the weak learner gets the first distribution of this object.
        if self._run is None:
            return super().ask(game)
        # The answer counts as work of the phase. `_why_leave` compares the work with the budget.
        self._run.work += 1.0
        return self._run.ask(game)

    def advance(self, best: Any) -> Booster | None:
        """Run the next round with the current phase, or with a later one.

        Return None if the last phase has ended.
        """
        self._rounds += 1
        if self._waiting is None:
            self._waiting = self._choose()
        # The loop ends when a phase has computed a round. Other phases end without a round.
        reason = self._why_leave()
        while True:
            if self._run is not None and not reason:
                reason = self._advance_run(self._run, best)
                if not reason:
                    return self
            if not self._waiting:
                # The last line of the trace reports how the last phase ended.
                if self._phase is not None:
                    self.end(f"the {self._phase.name} ended because {reason}")
                return None
            reason = self._begin_next(self._waiting.pop(0), reason)

    def _choose(self) -> list[Phase]:
        chosen = []
        for phase in PHASES:
            # A reason must be cheap to find, since every phase is asked before the first round.
            why_not = phase.why_not(self._request)
            if why_not:
                self._note(f"left out the {phase.name}: {why_not}.")
            else:
                chosen.append(phase)
        return chosen

    def leave_phase(self, reason: str) -> bool:
        # The list is empty in the last phase, and None before the first one.
        if self._waiting == []:
            return False
        if self._run is not None:
            self._run.end(reason)
        return True

    def _why_leave(self) -> str:
        # The last phase has no successor, so its budget does not matter.
        if self._run is None or self._phase is None or not self._waiting:
            return ""
        # The stopping rule may have ended the phase after the last round.
        if self._run.why_ended != Booster.why_ended:
            return self._run.why_ended
        budget = self._phase.budget(self._request.game)
        if self._run.work <= budget:
            return ""
        return f"its budget of {budget:.0f} passes over A is used up"

    def _advance_run(self, run: Booster, best: Any) -> str:
        # The result is the reason why the phase has ended, or "" if it continues.
        try:
            following = run.advance(best)
        except GIVES_UP as error:
            # The error of the last phase becomes the message of the solution.
            if not self._waiting:
                raise
            return f"it gave up ({error})"
        if following is None:
            return run.why_ended
        self._show(following)
        return ""

    def _begin_next(self, phase: Phase, reason: str) -> str:
        # The result is the reason why the new phase could not start, or "".
        if self._phase is not None:
            used = 0.0 if self._run is None else self._run.work
            self._note(f"left the {self._phase.name} after {used:.0f} passes over A: {reason}.")
        budget = phase.budget(self._request.game)
        limit = f", with a budget of {budget:.0f} passes over A" if budget < math.inf else ""
        self._note(f"began the {phase.name}{limit}.")
        # The next phase may begin with the columns of this one.
        request = self._request._replace(before=self.current)
        # If the start fails, this object keeps the last d and w of the phase before.
        self._phase = phase
        self._run = None
        try:
            self._show(phase.start(request))
        except GIVES_UP as error:
            if not self._waiting:
                raise
            return f"it could not be started ({error})"
        return ""

    def _note(self, decision: str) -> None:
        self.trace = (*self.trace, f"Round {self._rounds}: auto {decision}")

    def _show(self, run: Booster) -> None:
        # In the next round the bounds are evaluated at the d and the w of the phase.
        self._run = run
        self.inner = run.inner
        self.d = run.d
        self.active = run.active
        self.step = run.step
        self.witness = run.witness
        self.evaluated = run.evaluated
