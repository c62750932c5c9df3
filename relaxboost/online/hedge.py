"""Hedge: the d player of a game learns online, w answers best, and regret is the gap."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.online.schedules import Constants, Horizon, Schedule, as_schedule
from relaxboost.solvers.boosters.corrective import starting_point
from relaxboost.solvers.hypothesis import MovingHypothesis
from relaxboost.solvers.method import Method
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance

_GROWTH = 1.1
"""The mean of the d so far is looked at whenever there are so many times as many."""


@dataclass(frozen=True)
class Hedge(Method):
    """Mirror descent of the d player against best answers; for f = 0 it is Hedge (EG).

    Round t has the loss <d, A w_t> + f(d), where w_t is the best answer to d_t. The next d has
    the least <d, A(w_1 + ... + w_t)> + (t + 1) f(d) + β_t h(d), h the relative entropy: this is
    `Relaxation.distribution` at t/(t + 1) times the margins of the mean w̄, and at β_t/(t + 1).
    The gap is at most the mean regret of d, with w̄ and either the mean of the d or the best of
    them; see docs/mathematics.md.

    Hand it to `solve` as an object, ``method=rb.online.Hedge()``.

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

    def chosen(self, game: Game, tol: float) -> Hedge:
        """Return the method with the horizon that the gap asks for, 2 D (L/tol)² rounds."""
        if self.schedule != "horizon":
            return self
        known = _constants(game)
        rounds = 2.0 * known.largest * (known.lipschitz / tol) ** 2
        return replace(self, schedule=Horizon(max(1, math.ceil(min(rounds, 2.0**62)))))

    def check(self, game: Game) -> None:
        """Accept every game."""

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> HedgeRun:
        run = HedgeRun(game, self.chosen(game, goal.tol).schedule)
        run.label = f"hedge ({run.schedule.name or type(run.schedule).__name__.lower()})"
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
        looks = max(0.0, math.log(max(rounds, 1.0)) / math.log(_GROWTH))
        return 2.0 + math.ceil(rounds + looks) if rounds < 2.0**52 else rounds


class HedgeRun(Booster):
    """d_t against its best answers, whose mean is the combined hypothesis.

    Now and then the d shown is the mean of those so far; nothing is learned from the answer.
    """

    inner = "hedge"
    active: MovingHypothesis

    def __init__(self, game: Game, schedule: Schedule) -> None:
        self.schedule = schedule
        self.learned = 0
        """t, the answers learned from."""
        self._f, self._known = game.relaxation, _constants(game)
        self.active = starting_point(game)
        self._squares = self._spent = 0.0
        self._last = self._beta = schedule.temperature(0, 0.0, self._known)
        self.d = self._next = self._f.distribution(np.zeros(game.m), self._beta)
        self._mean: Vector = np.zeros(game.m)
        self._due = 2

    @property
    def regret_bound(self) -> float:
        """A bound of the regret so far: β_{t−1} D + Σ ‖A w_s‖²/(2 β_{s−1}), norms half ranges."""
        return self._last * self._known.largest + self._spent

    def advance(self, best: Any) -> Booster:
        """Learn from the answer `best`, unless it is that to the mean."""
        if self.d is not self._next:
            self.d = self._next
            return self
        self.learned = t = self.learned + 1
        active = self.active
        v, _ = active.direction(best)
        margins = v + active.u
        active.move(best, 1.0 / t, active.u + (1.0 / t) * v)
        self.step = 1.0 / t
        square = (0.5 * (float(margins.max()) - float(margins.min()))) ** 2
        self._squares += square
        self._spent += square / (2.0 * self._beta)
        self._last = self._beta
        self._beta = self.schedule.temperature(t, self._squares, self._known)
        self._mean = self._mean + (self.d - self._mean) / t
        share = 1.0 / (t + 1)
        self.d = self._next = self._f.distribution(active.u * (t * share), self._beta * share)
        if t >= self._due:
            self._due = int(_GROWTH * t) + 1
            self.d = self._f.repair(self._mean)
        return self


def _constants(game: Game) -> Constants:
    """Return L for half ranges of margins, and D for the entropy, whose modulus in l1 is 1."""
    spread = game.relaxation.entropy_range(game.m)
    # One distribution only (m = 1, or k = m) leaves no regret, whatever β.
    return Constants(game.over.reach(game.n), 1.0, max(spread, 1e-200))
