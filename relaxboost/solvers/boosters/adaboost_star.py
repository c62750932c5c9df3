"""AdaBoost* (Rätsch & Warmuth 2005), a form of AdaBoost that reaches the maximum margin."""

from __future__ import annotations

import math
from dataclasses import dataclass

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.solvers.boosters.accuracy import ROUNDING_SHARE, count_steps, working_accuracy
from relaxboost.solvers.boosters.adaboost import AdaBoostRun
from relaxboost.solvers.boosters.exponential_risk import LONGEST, artanh_edge, log_sum_exp
from relaxboost.solvers.boosters.votes import HardMarginMethod
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance

ACCURACIES = ("fixed", "adaptive")
"""The rules for the accuracy ν: "fixed" uses the tolerance in every round, and "adaptive" starts
with a larger ν and halves it from stage to stage until it is the tolerance."""


@dataclass(frozen=True)
class AdaBoostStar(HardMarginMethod):
    """AdaBoost*, which reaches the maximum margin up to an accuracy ν.

    Parameters
    ----------
    nu : {"fixed", "adaptive"}
        ``"fixed"`` is the algorithm of the paper with ν = tol. For m examples it takes at most
        about 2 log(m)/tol² rounds. ``"adaptive"`` is a schedule of this package. The first stage
        has a large ν, which makes long steps. Whenever the gap between both bounds is at most ν,
        the next stage halves ν, until ν is tol. All stages together take at most 4/3 of the rounds
        of the fixed ν, plus two rounds for each stage. `AdaBoostStarRun` explains the stages.

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
        """Return the largest number of rounds that AdaBoost* needs for a gap of `tol`.

        A stage with the accuracy ν takes at most 2 log(m)/ν² steps for m examples. Each stage has
        one more round without a step, which starts the next stage or evaluates the last w. The
        result is nan if the weak learner may miss the best hypothesis.
        """
        if game.matrix.slack:
            return math.nan
        return sum(1.0 + stage_steps(game.m, nu) for nu in self._stages(game, tol))

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        label = "adaboost-star" if self.nu == "fixed" else "adaboost-star (adaptive)"
        return AdaBoostStarRun(game, *self._stages(game, goal.tol)).named(label)

    def _stages(self, game: Game, tol: float) -> list[float]:
        """Return the accuracy ν of each stage, in which every ν is half of the ν before it."""
        stages = [working_accuracy(game, tol)]
        # The weights w = 0 reach the accuracy 1 without a step.
        while self.nu == "adaptive" and 2.0 * stages[0] < 1.0:
            stages.insert(0, 2.0 * stages[0])
        return stages


class AdaBoostStarRun(AdaBoostRun):
    """A run of AdaBoost*, which is AdaBoost with shorter steps.

    Let γ be the edge of the best column, and let ρ be the smallest edge of all rounds so far minus
    the accuracy ν. The step is artanh γ − artanh ρ, while AdaBoost's step is artanh γ. After
    2 log(m)/ν² steps, every margin of w/‖w‖_1 is at least ρ. The smallest edge is an upper bound
    on the value of the game over the unit ball, so the gap is at most ν. If ρ is negative, the
    weights w = 0 reach the same gap. docs/mathematics.md, "AdaBoost", has the proof.

    If several accuracies are given, the next stage starts once the gap is at most ν.

    1. The run takes the next accuracy as ν. The level ρ rises.
    2. The theorem needs a potential of at most m at the start of a stage. The potential of s w is
       Σ exp(s (ρ‖w‖_1 − (Aw)_i)), and it is m for s = 0.
    3. The run multiplies w by the s in [0, 1] with the smallest potential. The theorem then holds
       for the new stage.
    4. The round takes no step, because the edge of its column belongs to the d before step 3.

    Parameters
    ----------
    game : Game
    accuracies : float
        The accuracy ν of each stage, the largest first.

    References
    ----------
    Rätsch & Warmuth (2005), Efficient margin maximizing with boosting, JMLR 6: Algorithm 2 and its
    theorem, which are about one accuracy.
    """

    def __init__(self, game: Game, *accuracies: float) -> None:
        super().__init__(game, "star")
        self._accuracy, *self._later = accuracies
        # The smallest edge is an upper bound on the value of the game over the unit ball.
        self._least = math.inf
        # The largest margin so far is a lower bound. The weights w = 0 have the margin 0.
        self._margin = 0.0

    def advance(self, best: Best) -> Booster | None:
        """Add a step to w, or start the next stage; return None if w minimises the risk."""
        self._least = min(self._least, best.edge)
        # A new stage changes d, so the edge of `best` says nothing about the first step.
        if best.edge > 0.0 and self._begin_stage():
            self.step = 0.0
            self.d = self._distribution()
            return self
        return super().advance(best)

    def _length(self, edge: float, column: Vector) -> float:
        """Return artanh γ − artanh ρ for the edge γ of the column."""
        # Rounding may push an edge above 1.
        edge = min(edge, 1.0)
        rho = self._least - self._accuracy
        # The difference equals artanh x for x = (γ − ρ)/(1 − γρ). As ρ <= γ − ν and γ <= 1, the
        # denominator is at least ν in exact arithmetic.
        x = (edge - self._least + self._accuracy) / max(1.0 - edge * rho, self._accuracy)
        # A difference of two nearly equal numbers would lose digits, and artanh x loses none.
        if x < 0.5:
            return math.atanh(x)
        # Near 1 the edge itself has lost digits, and the margins still determine artanh γ.
        classical = artanh_edge(edge, column, self.active.raw)
        shorter = math.atanh(min(rho, 1.0 - 2.0**-53))
        return LONGEST if classical - shorter <= 0.0 else classical - shorter

    def _begin_stage(self) -> bool:
        """Start the next stage if the gap is at most ν, and return whether it started.

        The method skips every stage whose accuracy the gap has already reached.
        """
        active = self.active
        margin = float(active.raw.min()) / active.norm if active.norm > 0.0 else 0.0
        self._margin = max(self._margin, margin)
        begun = self._accuracy
        # Rounding may leave the gap slightly above ν after the number of steps of the theorem.
        allowance = 1.0 + ROUNDING_SHARE
        while self._later and self._least - self._margin <= self._accuracy * allowance:
            self._accuracy = self._later.pop(0)
        if self._accuracy == begun:
            return False
        active.shrink(best_share(active.raw, (self._least - self._accuracy) * active.norm))
        return True


def best_share(raw: Vector, level: float) -> float:
    """Return the s in [0, 1] that minimises the potential Σ exp(s (level − raw_i)).

    `raw` has the m margins of w, and `level` is ρ‖w‖_1. If the search finds no potential below m,
    the function returns s = 0, for which the potential is m.
    """
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda s: log_sum_exp(s * (level - raw)), bounds=(0.0, 1.0), method="bounded"
    )
    return float(found.x) if found.fun < math.log(raw.size) else 0.0


def stage_steps(m: int, accuracy: float) -> float:
    """Return 2 log(m)/ν² rounded up, the largest number of steps of a stage with accuracy ν.

    The result is at least 1, because a run with one example takes one step.
    """
    return max(1.0, count_steps(math.log(m), accuracy))
