"""The phase of "auto" that takes the steps of `taut_string_steps`."""

from __future__ import annotations

import math

import numpy as np

from relaxboost._core.errors import brief
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
# With ten steps, the evaluations take a tenth of the time of a run.
"""The number of steps between two evaluations of the bounds."""

PASSES_PER_STEP = 5.0
# A step reads the levels of all examples twice, and computes strings over the levels.
"""The predicted cost of one taut-string step, in passes over the margin matrix."""


def unfit(game: Game) -> str:
    """Return why taut-string steps cannot be used for a game, or "" if they can.

    The reason begins with "they", because `Solution.trace` puts the name of the steps before it.
    """
    form = game.linear_form
    over = game.over
    if not (isinstance(over, AtomicSet) and over.two_sided):
        return f"they are for games over L1Ball, but this game is over {over!r}"
    if not game.matrix.implicit or game.matrix.bulk().levels is None:
        return f"they need all stumps of examples in memory, and A is {game.matrix!r}"
    if form is None or form.rows is not None or form.cost.any() or form.cost.size > game.m:
        return (
            f"they need an f that only bounds each weight d_i, as Capped does, and f is "
            f"{brief(game.relaxation)}"
        )
    return ""


class StringsRun(Booster):
    """A run of taut-string steps, ten in each round.

    The steps look for a distribution d for which no stump has an edge above v, the lower bound on
    the value plus 0.9 of the requested gap. If such a d exists, the steps converge to it, and the
    run reaches the requested gap. Otherwise the weights w soon prove a lower bound above v, and the
    steps restart with a larger v.

    Parameters
    ----------
    game : Game
        A game for which `unfit` returns "".
    goal : Tolerance
        The requested gap.
    clock : Clock
        The clock of the run. Each step checks its time limit.
    budget : float
        The maximum number of passes over the margin matrix. The run ends as soon as its prediction
        exceeds this number.
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
        # The lower bound for the game over the unit ball. w = 0 proves the lower bound 0.
        self._lower = 0.0
        self._v = self._aim()

    def _tol(self) -> float:
        scale = self._over.scale
        return self._goal.allowed(self._lower * scale) / scale

    def _aim(self) -> float:
        # The upper bound that d proves converges to v from above. The last tenth of the gap is the
        # allowed distance between this upper bound and v.
        return self._lower + 0.9 * self._tol()

    def warmed(self, start: WarmStart) -> Booster:
        """Start from the distribution and the lower bound of a warm start, and return this booster.

        If the lower bound is not positive, the distribution is ignored.
        """
        # Without a positive lower bound, the run would need as many steps from d as from
        # `f.center(m)`.
        if start.d is not None and start.lower > 0.0:
            self.d = start.d
            self._steps.restart(start.d)
            self._lower = start.lower / self._over.scale
            self._v = self._aim()
        return self

    def advance(self, best: Best) -> Booster | None:
        """Take the steps of a round.

        Return None if the run is predicted to exceed its budget.
        """
        # First-order methods take steps in proportion to value / gap. The factor of 0.5 for each
        # feature was measured on data with 2 to 57 features. The lower bound replaces the value, so
        # the prediction rises with this bound.
        steps = 0.5 * self._features * self._lower / self._tol()
        passes = steps * PASSES_PER_STEP
        if passes > self._budget:
            self.end(
                f"it predicts {passes:.3g} passes over A to reach the requested gap, and its "
                f"budget is {self._budget:.4g}"
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
        # Better weights replace those of the run, because they prove a larger lower bound.
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
