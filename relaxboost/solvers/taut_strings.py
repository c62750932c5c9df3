"""The phase of taut-string steps: the games that it is for, and its rounds.

`taut_string_steps` has the steps themselves. They are given a number v, the aim, and look for a
distribution d over the examples without an edge above v.
"""

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
"""The number of steps between two evaluations of both bounds. The evaluations then take a tenth of
the time. If the aim is far below the value, the weights w have their direction after ten steps."""

PASSES_PER_STEP = 5.0
"""The passes over the matrix A in the time of a step, which gathers and scatters by level."""


def unfit(game: Game) -> str:
    """Return why taut-string steps are not for this game, or "" if they are."""
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
    """A run of taut-string steps. A round takes some steps towards a d without an edge above v.

    The aim v is the lower bound plus most of the requested gap. If such a d exists, the steps
    approach it, and the gap is reached. Otherwise the weights w soon prove a lower bound above v,
    and the steps restart with a larger v. If v is below the value of the game, w proves up to
    (value − v)² / value more than v, so that a few restarts are enough.

    Parameters
    ----------
    game : Game
        A game for which `unfit` returns "".
    goal : Tolerance
        The requested gap.
    clock : Clock
        The clock of the run. Each step checks its time limit.
    budget : float
        The number of passes over A that the run may take. The run ends as soon as it is predicted
        to take more.
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
        # The lower bound of the game over the unit ball, which w = 0 proves to be at least 0.
        self._lower = 0.0
        self._v = self._aim()

    def _tol(self) -> float:
        """Return the requested gap of the game over the unit ball, at the present lower bound."""
        scale = self._over.scale
        return self._goal.allowed(self._lower * scale) / scale

    def _aim(self) -> float:
        """Return the next v, which leaves a tenth of the requested gap to the steps.

        The upper bound approaches v from above, and does not reach it.
        """
        return self._lower + 0.9 * self._tol()

    def warmed(self, start: WarmStart) -> Booster:
        """Start from the d and the lower bound of a warm start that has both.

        A d without a w saves no steps compared with the centre of f.
        """
        if start.d is not None and start.lower > 0.0:
            self.d = start.d
            self._steps.restart(start.d)
            self._lower = start.lower / self._over.scale
            self._v = self._aim()
        return self

    def advance(self, best: Best) -> Booster | None:
        """Take the steps of a round; return None if the run is predicted to exceed its budget."""
        # First-order methods take steps in proportion to value / gap. Half a step for each feature
        # was measured on data of 2 to 57 features. The lower bound stands for the value, so that
        # the prediction rises with this bound.
        steps = 0.5 * self._features * self._lower / self._tol()
        passes = steps * PASSES_PER_STEP
        if passes > self._budget:
            self.why_ended = (
                f"it predicts {passes:.0f} passes over A, which exceeds the budget of "
                f"{self._budget:.0f}"
            )
            return None
        for _ in range(STEPS_PER_ROUND):
            self._clock.check()
            self._steps.step(self._v)
        self.work += STEPS_PER_ROUND * PASSES_PER_STEP
        # Rounding may leave d outside of its bounds, or its sum away from 1.
        self.d = self._game.relaxation.repair(self._steps.d)
        self._evaluate_weights()
        # If w proves more than v, its direction has settled, and a longer w proves little more.
        if self._lower > self._v:
            self._v = self._aim()
            self._steps.restart(self._steps.d)
        return self

    def _evaluate_weights(self) -> None:
        """Keep the weights of the last step if they prove a better lower bound."""
        columns, w = self._steps.weights()
        # Strings that do not bend give w = 0, which proves nothing new.
        if not columns.size:
            return
        # Only the direction of w counts, so w is moved to the boundary of the ball.
        over = self._over
        w = over.repair(w * (over.scale / float(np.abs(w).sum())))
        margins = self._game.matrix.margins(columns, w)
        lower = self._game.relaxation.relaxed_margin(margins)[0] / over.scale
        if lower > self._lower:
            self._lower = lower
            self.active = FullWeights(over, columns, w, margins)
