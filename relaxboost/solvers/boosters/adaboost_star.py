"""AdaBoost* (Rätsch & Warmuth 2005), which reaches the maximum margin."""

from __future__ import annotations

import math
from dataclasses import dataclass

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.solvers.boosters.accuracy import ROUNDING_SHARE, stage_steps, working_accuracy
from relaxboost.solvers.boosters.adaboost import AdaBoostRun
from relaxboost.solvers.boosters.exponential_risk import LONGEST, artanh_edge, best_share
from relaxboost.solvers.boosters.votes import HardMarginMethod
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance

ACCURACIES = ("fixed", "adaptive")
"""The rules for the accuracy ν of `AdaBoostStar`, whose docstring explains them."""


@dataclass(frozen=True)
class AdaBoostStar(HardMarginMethod):
    """AdaBoost* with an accuracy ν: AdaBoost with shorter steps, which reach the maximum margin.

    The margin of the final w is at least the maximum margin less ν.

    Parameters
    ----------
    nu : {"fixed", "adaptive"}
        The rule for ν. ``"fixed"`` is the algorithm of the paper with ν = tol, which takes at most
        2 log(m)/tol² rounds. ``"adaptive"`` begins with a large ν, and halves ν when the bracket
        [lower, upper] of the value is as narrow as ν, down to tol. This takes at most 4/3 of the
        rounds of the fixed ν, and two for each ν. The paper does not have this schedule.

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
        """Return the rounds of all stages: the steps of the theorem, and one round for each stage.

        A stage with the accuracy ν takes at most 2 log(m)/ν² steps. Its other round takes no step:
        it begins the next stage, or evaluates the last w.
        """
        if game.matrix.slack:
            return math.nan
        return sum(1.0 + stage_steps(game.m, nu) for nu in self._stages(game, tol))

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        label = "adaboost-star" if self.nu == "fixed" else "adaboost-star (adaptive)"
        return AdaBoostStarRun(game, *self._stages(game, goal.tol)).named(label)

    def _stages(self, game: Game, tol: float) -> list[float]:
        """Return the accuracies of the stages. Each is half of the one before."""
        stages = [working_accuracy(game, tol)]
        # With ν >= 1, w = 0 is accurate already.
        while self.nu == "adaptive" and 2.0 * stages[0] < 1.0:
            stages.insert(0, 2.0 * stages[0])
        return stages


class AdaBoostStarRun(AdaBoostRun):
    """AdaBoost with the step η = artanh γ − artanh ρ, where γ is the edge of the best column.

    Let Γ be the smallest edge of all rounds so far, and ρ = Γ − ν. Γ is an upper bound of the
    maximum margin over the unit l1 ball. After 2 log(m)/ν² steps every margin of w/‖w‖_1 is at
    least ρ. If ρ is negative, the margins of w = 0 are at least ρ as well.

    With several accuracies the run has a stage for each. A stage ends when the bracket of the value
    is as narrow as its ν. The next stage begins with a multiple s w of the present w. The factor s
    in [0, 1] minimises the potential Σ_i exp(s (ρ ‖w‖_1 − (Aw)_i)) for the new ρ. The proof of the
    theorem needs a potential of at most m at the start, which s = 0 has, so it holds for the stage.
    The round that multiplies w takes no step, because it knows the edge at the old d only.

    Parameters
    ----------
    game : Game
    accuracies : float
        The accuracy ν of each stage, in decreasing order.

    References
    ----------
    Rätsch & Warmuth (2005), Efficient margin maximizing with boosting, JMLR 6: Algorithm 2 and its
    theorem, for one accuracy.
    """

    def __init__(self, game: Game, *accuracies: float) -> None:
        super().__init__(game, "star")
        self._accuracy, *self._later = accuracies
        # The smallest edge Γ so far, and the largest margin so far, over the unit ball. The margin
        # of w = 0 is 0.
        self._least = math.inf
        self._margin = 0.0

    def advance(self, best: Best) -> Booster | None:
        """Take a step, or begin the next stage.

        The first step of a stage needs the edge at the d of this stage, so it takes another round.
        """
        self._least = min(self._least, best.edge)
        if best.edge > 0.0 and self._begin_stage():
            self.step = 0.0
            self.d = self._distribution()
            return self
        return super().advance(best)

    def _length(self, edge: float, column: Vector) -> float:
        edge = min(edge, 1.0)
        rho = self._least - self._accuracy
        # The addition theorem gives artanh γ − artanh ρ = artanh x with x = (γ − ρ)/(1 − γρ). If
        # x is small, the digits of the difference would cancel. The denominator is at least ν, up
        # to rounding.
        x = (edge - self._least + self._accuracy) / max(1.0 - edge * rho, self._accuracy)
        if x < 0.5:
            return math.atanh(x)
        # If x is close to 1, rounding has lost the digits of 1 − x, and the difference is accurate.
        classical = artanh_edge(edge, column, self.active.raw)
        shorter = math.atanh(min(rho, 1.0 - 2.0**-53))
        return LONGEST if classical - shorter <= 0.0 else classical - shorter

    def _begin_stage(self) -> bool:
        """Begin the next stage if the bracket is as narrow as ν; return whether it began."""
        active = self.active
        margin = float(active.raw.min()) / active.norm if active.norm > 0.0 else 0.0
        self._margin = max(self._margin, margin)
        begun = self._accuracy
        # After the steps of the theorem the bracket is ν wide, up to rounding.
        allowance = 1.0 + ROUNDING_SHARE
        while self._later and self._least - self._margin <= self._accuracy * allowance:
            self._accuracy = self._later.pop(0)
        if self._accuracy == begun:
            return False
        active.shrink(best_share(active.raw, (self._least - self._accuracy) * active.norm))
        return True
