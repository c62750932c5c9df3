"""The phase of taut-string steps: its games, its rounds, and the bound on edges that it needs."""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.solvers.hypothesis import FullWeights
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance
from relaxboost.solvers.taut_string_steps import TautStringSteps
from relaxboost.solvers.warm_start import WarmStart

STEPS_PER_ROUND = 10
"""Steps between two evaluations of both bounds, which then take a tenth of the time. While v is far
below the value, w has its direction after as few steps."""

PASSES_PER_STEP = 5.0
"""Passes over A that a step takes, which gathers and scatters by level."""

AIM = 0.9
"""The part of tol by which the aim is above the lower bound. d needs not reach the aim itself."""

STEPS_PER_RATIO = 0.5
"""Steps for each feature and each time that the value exceeds the requested gap. First-order
methods take a number of steps in proportion to that ratio; the factor was measured on sets of 2 to
57 features."""


def unfit(game: Game) -> str:
    """Return why taut-string steps are not for this game, "" if they are."""
    form = game.linear_form
    over = game.over
    if not (isinstance(over, AtomicSet) and over.two_sided):
        return f"taut-string steps are for games over L1Ball, and this one is over {over!r}"
    if not game.matrix.implicit or game.matrix.bulk().levels is None:
        return f"taut-string steps need all stumps of examples in memory, and A is {game.matrix!r}"
    if form is None or form.rows is not None or form.cost.any() or form.cost.size > game.m:
        return (
            "taut-string steps need an f that only bounds d, as Capped does, "
            f"not {game.relaxation!r}"
        )
    return ""


class StringsRun(Booster):
    """A round takes some steps towards a d without an edge above the aim v.

    The aim is the lower bound and most of tol. Either d gets there, and the gap is tol, or w proves
    a lower bound above v, and the steps restart with a higher v. While v is below the value, w
    proves more than v, up to (value - v)^2 / value, so a few restarts are enough.

    Parameters
    ----------
    game : Game
        A game for which `unfit` returns "".
    goal : Tolerance
        The requested gap.
    clock : Clock
        Each step checks the time limit.
    budget : float
        Passes over A that the run may take. It ends once it is predicted to take more.
    """

    inner = "strings"
    active: FullWeights

    def __init__(self, game: Game, goal: Tolerance, clock: Clock, budget: float = math.inf) -> None:
        over = game.over
        form = game.linear_form
        levels = game.matrix.bulk().levels
        assert isinstance(over, AtomicSet)
        assert form is not None
        assert levels is not None
        self._game = game
        self._over = over
        self._goal = goal
        self._clock = clock
        self._budget = budget
        self._features = len(levels.codes)
        self.d = game.relaxation.center(game.m)
        self._steps = TautStringSteps(levels, form.lower, np.minimum(form.upper, 1.0), self.d)
        self.active = FullWeights(over, np.arange(0), np.zeros(0), np.zeros(game.m))
        self._lower = 0.0  # of the unit ball, where w = 0 proves it
        self._v = self._aim()

    def _tol(self) -> float:
        """Return the gap over the unit ball that is enough for the present lower bound."""
        scale = self._over.scale
        return self._goal.allowed(self._lower * scale) / scale

    def _aim(self) -> float:
        return self._lower + AIM * self._tol()

    def warmed(self, start: WarmStart) -> Booster:
        """Start from the d and the lower bound of a warm start that has both.

        From a d without a w the method takes as many steps as from the centre, or more.
        """
        if start.d is not None and start.lower > 0.0:
            self.d = start.d
            self._steps.restart(start.d)
            self._lower = start.lower / self._over.scale
            self._v = self._aim()
        return self

    def advance(self, best: Best) -> Booster | None:
        """Take the steps of a round; return None if the budget is predicted not to suffice."""
        # The lower bound stands for the value, so the prediction rises as the bound does.
        steps = STEPS_PER_RATIO * self._features * self._lower / self._tol()
        if steps * PASSES_PER_STEP > self._budget:
            return None
        for _ in range(STEPS_PER_ROUND):
            self._clock.check()
            self._steps.step(self._v)
        self.work += STEPS_PER_ROUND * PASSES_PER_STEP
        # Rounding may leave d outside of its bounds, or its sum away from 1.
        self.d = self._game.relaxation.repair(self._steps.d)
        self._evaluate_weights()
        # The direction of w has settled once it proves more than v; a longer w would prove little.
        if self._lower > self._v:
            self._v = self._aim()
            self._steps.restart(self._steps.d)
        return self

    def _evaluate_weights(self) -> None:
        """Keep the weights of the last step if they prove a better lower bound."""
        columns, w = self._steps.weights()
        if not columns.size:
            return
        # Only the direction of w counts; the margin is that of w on the boundary of the ball.
        over = self._over
        w = over.repair(w * (over.scale / float(np.abs(w).sum())))
        margins = self._game.matrix.margins(columns, w)
        lower = self._game.relaxation.relaxed_margin(margins)[0] / over.scale
        if lower > self._lower:
            self._lower = lower
            self.active = FullWeights(over, columns, w, margins)
