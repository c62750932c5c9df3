"""Hedge with a temperature schedule, as a method of `solve`."""

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
    """Hedge with a temperature schedule, as a method of `solve`.

    Let A be the margin matrix and f the relaxation. In round t, the weak learner returns the best
    hypothesis w_t for the distribution d_t, and the loss is <d_t, A w_t> + f(d_t). The next
    distribution minimises <d, A(w_1 + ... + w_t)> + (t + 1) f(d) + β_t h(d), where h is the
    relative entropy and β_t the temperature. For f = 0, this is Hedge. If the weak learner is
    exact, the duality gap is at most the mean regret of the distributions; see docs/mathematics.md.

    Pass the method as an object,
    ``method=rb.online.ScheduledHedge()``. The name ``"hedge"`` selects `rb.solvers.Hedge`, whose
    constant β depends on the requested tolerance.

    Parameters
    ----------
    schedule : str or Schedule
        The temperature schedule: "growing", "adaptive", "horizon" or an object. "horizon" is the
        best constant temperature for the number of rounds that guarantees the requested tolerance.

    Raises
    ------
    InputError
        If the schedule is unknown.

    References
    ----------
    Freund & Schapire (1999), Adaptive game playing using multiplicative weights; Dekel (2011),
    Algorithm 2 and Thm 3; Juditsky et al. (2005), Eq. 11; Xiao (2010), Dual averaging methods, for
    losses with an additional f.
    """

    schedule: Any = "growing"

    def __post_init__(self) -> None:
        if self.schedule != "horizon":
            object.__setattr__(self, "schedule", as_schedule(self.schedule))

    def chosen(self, game: Game, tol: float) -> ScheduledHedge:
        """Return the method with its schedule for a game and a tolerance.

        The schedule "horizon" becomes `Horizon(t)` for t = 2 D (L/tol)² rounds, after which the
        duality gap is at most `tol`. Here L bounds the margins, and D is the range of the entropy
        over the permitted distributions.
        """
        if self.schedule != "horizon":
            return self
        # The mean regret L√(2D/t) of t rounds is tol for this t.
        known = _constants(game)
        rounds = 2.0 * known.largest * (known.lipschitz / tol) ** 2
        return replace(self, schedule=Horizon(max(1, math.ceil(min(rounds, 2.0**62)))))

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> HedgeRun:
        schedule: Schedule = self.chosen(game, goal.tol).schedule
        known = _constants(game)
        # The run of `solvers.Hedge` accepts any temperature.
        run = HedgeRun(game, lambda t, squares: schedule.temperature(t, squares, known))
        run.named(f"hedge ({schedule.name or type(schedule).__name__.lower()})")
        return run

    def rounds_bound(self, game: Game, tol: float) -> float:
        """Return a number of rounds after which the mean regret is at most `tol`, or nan.

        The regret of "growing" and "adaptive" after t rounds is at most (β_0 D + L²/β_0) √t, where
        L bounds the margins, D is the range of the entropy, and β_0 the first temperature. The
        result counts the rounds that only evaluate the mean distribution. No bound is known for
        other increasing schedules, for constant temperatures that are too low for `tol`, and for
        inexact weak learners.
        """
        known = _constants(game)
        schedule = self.chosen(game, tol).schedule
        law = schedule.law(known)
        # The theorem needs a formula for β_i, and an exact weak learner.
        if law is None or game.matrix.slack:
            return math.nan
        scale, constant, growth, squares = law
        first = scale * math.sqrt(constant)
        L = known.lipschitz
        # A slightly larger value makes up for rounding, so that the bound is never too small.
        tol = tol * (1.0 - 1e-9)
        # With a constant β the mean regret is at least L²/(2β), which must be below tol.
        if growth == squares == 0.0:
            spare = tol - L * L / (2.0 * first)
            rounds = first * known.largest / spare if spare > 0.0 else math.nan
        # `Growing` and `Adaptive` have the regret (cD + L²/c) √t.
        elif constant == growth + squares * L * L:
            rounds = ((first * known.largest + L * L / first) / tol) ** 2
        else:
            return math.nan
        return rounds_with_means(rounds)


def _constants(game: Game) -> Constants:
    """Return a game's constants for temperature schedules.

    They are a bound on the margins, the modulus 1 of the entropy, and its range over the permitted
    distributions.
    """
    spread = game.entropy_range
    # If f allows one distribution only (m = 1, or k = m), the range is 0 and any β is good.
    # Schedules divide by the range, so a tiny number replaces 0.
    return Constants(game.over.reach(game.n), 1.0, max(spread, 1e-200))
