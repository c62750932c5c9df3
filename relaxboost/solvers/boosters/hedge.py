"""Hedge (Freund & Schapire 1997, 1999), a multiplicative-weights algorithm."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.solvers.boosters.starting_points import starting_point
from relaxboost.solvers.hypothesis import MovingHypothesis
from relaxboost.solvers.method import Method
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import RELATIVE_RESOLUTION, Tolerance

UPDATES_RATIO = 1.1
# These rounds do not update d. With 1.1 they are rare, and a run makes at most 10 % more updates
# than necessary.
"""The growth factor of the number of updates between two rounds that evaluate the mean of d."""

Temperature = Callable[[int, float], float]
"""A function that returns the weight β of the entropy in Hedge.

Its arguments are the number of hypotheses so far and the sum of r_s² over them, where r_s is half
the range of the margins of hypothesis s.
"""


@dataclass(frozen=True)
class Hedge(Method):
    """Hedge, which updates the distribution d by multiplicative weights at the rate 1/β.

    The combined hypothesis w is the mean of the weak learner's hypotheses (atoms of the domain of
    w, or dense weights). After t hypotheses the gap is at most the regret of d divided by t, and
    this quotient is at most β R/t + L²/(2β). R is the range of the relative entropy over the
    distributions that the relaxation allows: log(m/k) for m examples and `Capped(k)`. L is the
    largest absolute margin of a hypothesis, which is 1 over the unit l1 ball. With β = L²/tol the
    bound is tol after 2 R (L/tol)² hypotheses. `rb.online.ScheduledHedge` has schedules of β that
    do not use tol.

    References
    ----------
    Freund & Schapire (1997), Sec. 2; Freund & Schapire (1999), Adaptive game playing using
    multiplicative weights; Xiao (2010), Dual averaging methods, for a penalty f.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, -1], [0.5, 1], [-1, 1]], rb.Capped(2))
    >>> solution = rb.solve(game, 0.1, "hedge")
    >>> solution.gap <= 0.1 and solution.rounds <= solution.bound
    True
    """

    name = "hedge"
    cold = "cannot start from a given point, because its guarantee counts every round"

    def rounds_bound(self, game: Game, tol: float) -> float:
        """Return a proved bound on the number of rounds of Hedge.

        The bound is 2 R (L/tol)² rounded up, plus the rounds that evaluate means. R is the range of
        the relative entropy over the distributions that the relaxation allows, and L is the largest
        absolute margin of a hypothesis. The result is nan if the weak learner may miss the best
        hypothesis.
        """
        # The theorem assumes that every answer is the best hypothesis.
        if game.matrix.slack:
            return math.nan
        ratio = game.over.reach(game.n) / (tol * (1.0 - RELATIVE_RESOLUTION))
        return rounds_with_means(2.0 * game.entropy_range * ratio * ratio)

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        beta = game.over.reach(game.n) ** 2 / (goal.tol * (1.0 - RELATIVE_RESOLUTION))
        return HedgeRun(game, lambda t, squares: beta).named(self.name)


def rounds_with_means(answers: float) -> float:
    """Return an upper bound on the rounds in which Hedge makes `answers` updates.

    The other rounds evaluate the mean of all distributions d.
    """
    # The number of answers grows by more than UPDATES_RATIO between two rounds that evaluate the
    # mean. So for n answers there are at most 1 + log(n) / log(UPDATES_RATIO) such rounds. The
    # other 1 is the last round. Doubles beyond 2^52 are integers already.
    looks = max(0.0, math.log(max(answers, 1.0)) / math.log(UPDATES_RATIO))
    return 2.0 + math.ceil(answers + looks) if answers < 2.0**52 else answers


class HedgeRun(Booster):
    """A run of Hedge, whose combined hypothesis is the mean of the weak learner's hypotheses.

    After the weak learner has returned w_1, ..., w_t, the next distribution d minimises <d, A(w_1 +
    ... + w_t)> + (t + 1) f(d) + β_t h(d), for the game matrix A, the relaxation f and the relative
    entropy h. `Relaxation.distribution` minimises this objective divided by t + 1.

    Parameters
    ----------
    game : Game
        The game that the booster solves.
    temperature : callable
        A function that returns β_t > 0 (see `Temperature`). β_t must not decrease with t.
    """

    inner = "hedge"
    active: MovingHypothesis

    def __init__(self, game: Game, temperature: Temperature) -> None:
        self._temperature = temperature
        self.learned = 0
        """The number t of updates of the distribution d so far."""
        self._f = game.relaxation
        self.active = starting_point(game)
        self._squares = 0.0
        self._beta = temperature(0, 0.0)
        self._next = self._f.distribution(np.zeros(game.m), self._beta)
        self.d = self._next
        self._mean: Vector = np.zeros(game.m)
        self._due = 2

    def advance(self, best: Any) -> Booster:
        """Update the weights w and the distribution d with the hypothesis `best`.

        If the last round has evaluated the mean of all distributions, `best` is ignored.
        """
        # The regret does not count the answer of a round that evaluates the mean.
        if self.d is not self._next:
            self.d = self._next
            return self
        self.learned += 1
        t = self.learned
        active = self.active
        v, _ = active.direction(best)
        # A constant added to all margins of the answer, which are v + u, changes no distribution.
        # So only their range counts.
        margins = v + active.u
        self._squares += (0.5 * (float(margins.max()) - float(margins.min()))) ** 2
        self.step = 1.0 / t
        active.move(best, self.step, active.u + self.step * v)
        self._beta = self._temperature(t, self._squares)
        # The mean of all d, each counted once, proves the upper bound of the theorem.
        self._mean = self._mean + (self.d - self._mean) / t
        # The factor 1/(t + 1) does not change the minimiser, and keeps the numbers bounded.
        share = 1.0 / (t + 1)
        self._next = self._f.distribution(active.u * (t * share), self._beta * share)
        self.d = self._next
        # The number of rounds that evaluate the mean grows only like log t.
        if t >= self._due:
            self._due = int(UPDATES_RATIO * t) + 1
            self.d = self._f.repair(self._mean)
        return self
