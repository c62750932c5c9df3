"""Hedge: the d player of a game learns online, w answers best, and regret is the gap."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.online.schedules import Constants, Horizon, Schedule, as_schedule
from relaxboost.solvers.boosters.hedge import HedgeRun, rounds_with_means
from relaxboost.solvers.method import Method
from relaxboost.solvers.stopping import Tolerance


@dataclass(frozen=True)
class ScheduledHedge(Method):
    """Mirror descent of the d player against best answers; for f = 0 it is Hedge (EG).

    Round t has the loss <d, A w_t> + f(d), where w_t is the best answer to d_t. The next d has
    the least <d, A(w_1 + ... + w_t)> + (t + 1) f(d) + β_t h(d), h the relative entropy: this is
    `Relaxation.distribution` at t/(t + 1) times the margins of the mean w̄, and at β_t/(t + 1).
    The gap is at most the mean regret of d, with w̄ and either the mean of the d or the best of
    them; see docs/mathematics.md.

    Hand it to `solve` as an object, ``method=rb.online.ScheduledHedge()``. The name ``"hedge"``
    stands for `rb.solvers.Hedge`, whose β is the constant that tol asks for.

    Parameters
    ----------
    schedule : str or Schedule
        "growing", "adaptive", "horizon" (the constant β for as many rounds as tol asks for), or an
        object. Gradients are half the range of A w_t, at most `Domain.reach`.

    Raises
    ------
    InputError
        For an unknown schedule.

    References
    ----------
    Freund & Schapire (1999), Adaptive game playing using multiplicative weights; Dekel (2011),
    Algorithm 2 and Thm 3; Juditsky et al. (2005), Eq. 11; Xiao (2010), Dual averaging methods, for
    an f that is learned beside the losses.
    """

    schedule: Any = "growing"

    def __post_init__(self) -> None:
        if self.schedule != "horizon":
            object.__setattr__(self, "schedule", as_schedule(self.schedule))

    def chosen(self, game: Game, tol: float) -> ScheduledHedge:
        """Return the method with the horizon that the gap asks for, 2 D (L/tol)² rounds."""
        if self.schedule != "horizon":
            return self
        known = _constants(game)
        rounds = 2.0 * known.largest * (known.lipschitz / tol) ** 2
        return replace(self, schedule=Horizon(max(1, math.ceil(min(rounds, 2.0**62)))))

    def check(self, game: Game) -> None:
        """Accept every game."""

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> HedgeRun:
        schedule: Schedule = self.chosen(game, goal.tol).schedule
        known = _constants(game)
        run = HedgeRun(game, lambda t, squares: schedule.temperature(t, squares, known))
        run.named(f"hedge ({schedule.name or type(schedule).__name__.lower()})")
        return run

    def rounds_bound(self, game: Game, tol: float) -> float:
        """Return the rounds after which the regret is at most `tol` each, for any answers.

        With β_i = c √(i + 1), or `Adaptive`, it is at most (cD + L²/c) √t. Looks at the mean of
        the d count. For other schedules whose β_i grow, and weak learners that may fall short, it
        is nan.
        """
        known, schedule = _constants(game), self.chosen(game, tol).schedule
        law = schedule.law(known)
        if law is None or game.matrix.slack:
            return math.nan
        scale, constant, growth, squares = law
        first, L, tol = scale * math.sqrt(constant), known.lipschitz, tol * (1.0 - 1e-9)
        if growth == squares == 0.0:
            spare = tol - L * L / (2.0 * first)
            rounds = first * known.largest / spare if spare > 0.0 else math.nan
        elif constant == growth + squares * L * L:
            rounds = ((first * known.largest + L * L / first) / tol) ** 2
        else:
            return math.nan
        return rounds_with_means(rounds)


def _constants(game: Game) -> Constants:
    """Return L for half ranges of margins, and D for the entropy, whose modulus in l1 is 1."""
    spread = game.entropy_range
    # If f allows one distribution only (m = 1, or k = m), there is no regret for any β. Schedules
    # divide by the range, so a tiny number stands for 0.
    return Constants(game.over.reach(game.n), 1.0, max(spread, 1e-200))
