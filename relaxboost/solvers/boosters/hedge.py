"""Hedge (Freund & Schapire 1997, 1999): d learns by multiplicative weights, w answers best."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.solvers.boosters.accuracy import ROUNDING_SHARE
from relaxboost.solvers.boosters.regret_account import RegretAccount
from relaxboost.solvers.boosters.starting_points import starting_point
from relaxboost.solvers.hypothesis import MovingHypothesis
from relaxboost.solvers.method import Method
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance

MEAN_GROWTH = 1.1
"""The factor by which the number of answers grows until the mean of the d is shown again."""

LEAST_RANGE = 1e-200
"""A range of the entropy above 0. If f allows one distribution only, there is no regret."""

Temperature = Callable[[int, float], float]
"""Gives β after t answers whose squared half ranges have a given sum."""


@dataclass(frozen=True)
class Hedge(Method):
    """Hedge: multiplicative weights against best answers, at the constant rate that tol asks for.

    w is the mean of the answers. The gap is at most the regret of d, a round, which is at most
    β R/t + L²/(2β) after t answers: R is the range of the relative entropy over the distributions
    that f allows, log(m/k) for `Capped(k)`, and L bounds the margins of an answer, 1 over the unit
    l1 ball. β = L²/tol makes that tol after 2 R (L/tol)² answers. `rb.online.ScheduledHedge` has
    other schedules, which need not know tol.

    References
    ----------
    Freund & Schapire (1997), Sec. 2; Freund & Schapire (1999), Adaptive game playing using
    multiplicative weights; Xiao (2010), Dual averaging methods, for an f besides the losses.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, -1], [0.5, 1], [-1, 1]], rb.Capped(2))
    >>> solution = rb.solve(game, 0.1, "hedge")
    >>> solution.gap <= 0.1 and solution.rounds <= solution.bound
    True
    """

    name = "hedge"
    cold = "Hedge learns from its first round on"

    def check(self, game: Game) -> None:
        """Accept every game."""

    def rounds_bound(self, game: Game, tol: float) -> float:
        """Return 2 R (L/tol)² rounded up, the rounds that show the mean, and one to look."""
        if game.matrix.slack:
            return math.nan
        ratio = game.over.reach(game.n) / (tol * (1.0 - ROUNDING_SHARE))
        return rounds_with_means(2.0 * game.relaxation.entropy_range(game.m) * ratio * ratio)

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        beta = game.over.reach(game.n) ** 2 / (goal.tol * (1.0 - ROUNDING_SHARE))
        return HedgeRun(game, lambda t, squares: beta).named(self.name)


def rounds_with_means(answers: float) -> float:
    """Return the rounds that bring so many answers: those, the rounds for the mean, and one."""
    looks = max(0.0, math.log(max(answers, 1.0)) / math.log(MEAN_GROWTH))
    return 2.0 + math.ceil(answers + looks) if answers < 2.0**52 else answers


class HedgeRun(Booster):
    """d_t against its best answers, whose mean is the combined hypothesis.

    The next d has the least <d, A(w_1 + ... + w_t)> + (t + 1) f(d) + β_t h(d), h the relative
    entropy, which is `Relaxation.distribution` at t/(t + 1) times the margins of the mean. Now and
    then the d shown is the mean of those so far; the run learns nothing from that answer.

    Parameters
    ----------
    game : Game
    temperature : callable
        Gives β_t > 0, never less than the one before.
    """

    inner = "hedge"
    active: MovingHypothesis

    def __init__(self, game: Game, temperature: Temperature) -> None:
        self._temperature = temperature
        self.learned = 0
        """t, the answers learned from."""
        self._f = game.relaxation
        self.active = starting_point(game)
        self._beta = temperature(0, 0.0)
        spread = max(game.relaxation.entropy_range(game.m), LEAST_RANGE)
        self.account = RegretAccount(spread, self._beta)
        """What bounds the regret so far."""
        self._next = self._f.distribution(np.zeros(game.m), self._beta)
        self.d = self._next
        self._mean: Vector = np.zeros(game.m)
        self._due = 2

    def advance(self, best: Any) -> Booster:
        """Learn from the answer `best`, unless it is the answer to the mean."""
        if self.d is not self._next:
            self.d = self._next
            return self
        self.learned += 1
        t = self.learned
        active = self.active
        v, _ = active.direction(best)
        self.account.add(v + active.u, self._beta)
        self.step = 1.0 / t
        active.move(best, self.step, active.u + self.step * v)
        self._beta = self._temperature(t, self.account.squares)
        self._mean = self._mean + (self.d - self._mean) / t
        share = 1.0 / (t + 1)
        self._next = self._f.distribution(active.u * (t * share), self._beta * share)
        self.d = self._next
        if t >= self._due:
            self._due = int(MEAN_GROWTH * t) + 1
            self.d = self._f.repair(self._mean)
        return self
