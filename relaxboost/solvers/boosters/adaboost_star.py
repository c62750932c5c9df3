"""AdaBoost* (Rätsch & Warmuth 2005), which reaches the maximum margin."""

from __future__ import annotations

import math
from dataclasses import dataclass

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.solvers.boosters.accuracy import (
    LARGEST_ACCURACY,
    ROUNDING_SHARE,
    count_steps,
    working_accuracy,
)
from relaxboost.solvers.boosters.adaboost import AdaBoostRun
from relaxboost.solvers.boosters.exponential_risk import LONGEST, artanh_edge, log_sum_exp
from relaxboost.solvers.boosters.votes import HardMarginMethod
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance

ACCURACIES = ("fixed", "adaptive")
"""The rules for ν: the tolerance throughout, or halved from stage to stage down to it."""


@dataclass(frozen=True)
class AdaBoostStar(HardMarginMethod):
    """AdaBoost* with accuracy ν, which reaches the maximum margin up to ν.

    Parameters
    ----------
    nu : {"fixed", "adaptive"}
        ``"fixed"`` is the algorithm of the paper with ν = tol, and takes at most 2 log(m)/tol²
        rounds. ``"adaptive"`` begins with a large ν, which makes long steps, and halves ν whenever
        the bracket has become as narrow as ν, down to tol. The stages add up to at most 4/3 of
        the rounds of the fixed ν and two rounds for each stage. This package chose the schedule;
        `AdaBoostStarRun` explains it.

    References
    ----------
    Rätsch & Warmuth (2005), Efficient margin maximizing with boosting, JMLR 6: Algorithm 2.

    Examples
    --------
    >>> import relaxboost as rb
    >>> solution = rb.solve(rb.Game([[1, -1], [0.5, 1]]), 0.1, "adaboost-star")
    >>> solution.gap <= 0.1 and solution.rounds <= solution.bound
    True
    """

    name = "adaboost-star"
    nu: str = "fixed"

    def __post_init__(self) -> None:
        self.choice("nu", ACCURACIES)

    def rounds_bound(self, game: Game, tol: float) -> float:
        """Return 2 log(m)/tol² rounded up, summed over the stages, and a round without a step
        for each stage: it begins the next stage, or evaluates the last w."""
        if game.matrix.slack:
            return math.nan
        return sum(1.0 + stage_steps(game.m, nu) for nu in self._stages(game, tol))

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        label = "adaboost-star" if self.nu == "fixed" else "adaboost-star (adaptive)"
        return AdaBoostStarRun(game, *self._stages(game, goal.tol)).named(label)

    def _stages(self, game: Game, tol: float) -> list[float]:
        """Return the accuracies of the stages, the largest first; each is half of the last."""
        stages = [working_accuracy(game, tol)]
        while self.nu == "adaptive" and 2.0 * stages[0] <= LARGEST_ACCURACY:
            stages.insert(0, 2.0 * stages[0])
        return stages


class AdaBoostStarRun(AdaBoostRun):
    """AdaBoost with steps artanh γ_t − artanh ρ_t, ρ_t = min over r <= t of γ_r less ν.

    After 2 log(m)/ν² steps, every margin of w/‖w‖_1 is at least min γ − ν (if that is negative,
    w = 0 is as good), and min γ is an upper bound on the game over the unit ball.

    With several accuracies, the run takes the next one once the bracket is as narrow as ν, and
    multiplies w by the share s in [0, 1] that minimises the potential Σ exp(s (ρ‖w‖_1 − (Aw)_i))
    of the new ρ = min γ − ν. At s = 0 the potential is m, where the proof starts, so the
    theorem holds for the stage. The round that multiplies w takes no step, because the edge of its
    column is known at the old d only.

    Parameters
    ----------
    game : Game
    accuracies : float
        ν of each stage, decreasing.

    References
    ----------
    Rätsch & Warmuth (2005), Efficient margin maximizing with boosting, JMLR 6: Algorithm 2 and its
    theorem, for one accuracy.
    """

    def __init__(self, game: Game, *accuracies: float) -> None:
        super().__init__(game, "star")
        self._accuracy, *self._later = accuracies
        self._least = math.inf  # the smallest edge so far
        self._margin = 0.0  # the largest margin so far, for the unit ball; w = 0 has 0

    def advance(self, best: Best) -> Booster | None:
        """Take a step, or begin the next stage, whose first step needs the edge at its own d."""
        self._least = min(self._least, best.edge)
        if best.edge > 0.0 and self._begin_stage():
            self.step = 0.0
            self.d = self._distribution()
            return self
        return super().advance(best)

    def _length(self, edge: float, column: Vector) -> float:
        edge = min(edge, 1.0)
        rho = self._least - self._accuracy
        # artanh γ − artanh ρ = artanh x; for small x the difference would cancel. 1 − γρ is at
        # least the accuracy, but for rounding.
        x = (edge - self._least + self._accuracy) / max(1.0 - edge * rho, self._accuracy)
        if x < 0.5:
            return math.atanh(x)
        classical = artanh_edge(edge, column, self.active.raw)
        shorter = math.atanh(min(rho, 1.0 - 2.0**-53))
        return LONGEST if classical - shorter <= 0.0 else classical - shorter

    def _begin_stage(self) -> bool:
        """Take the next accuracies while the bracket is as narrow as the present one.

        Return whether there was one, in which case w was multiplied by its share.
        """
        active = self.active
        margin = float(active.raw.min()) / active.norm if active.norm > 0.0 else 0.0
        self._margin = max(self._margin, margin)
        begun = self._accuracy
        # Without the share, rounding could keep a stage from ending at the theorem's count.
        allowance = 1.0 + ROUNDING_SHARE
        while self._later and self._least - self._margin <= self._accuracy * allowance:
            self._accuracy = self._later.pop(0)
        if self._accuracy == begun:
            return False
        active.shrink(best_share(active.raw, (self._least - self._accuracy) * active.norm))
        return True


def best_share(raw: Vector, level: float) -> float:
    """Return the s in [0, 1] that minimises Σ exp(s (level − raw_i)), 0 if none is below m."""
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda s: log_sum_exp(s * (level - raw)), bounds=(0.0, 1.0), method="bounded"
    )
    return float(found.x) if found.fun < math.log(raw.size) else 0.0


def stage_steps(m: int, accuracy: float) -> float:
    """Return the number of steps, at least 1, that the theorem grants to one accuracy."""
    return max(1.0, count_steps(math.log(m), accuracy))
