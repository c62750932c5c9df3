"""AdaBoost* (Rätsch & Warmuth 2005), which reaches the maximum margin."""

from __future__ import annotations

import math
from dataclasses import dataclass

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.solvers.boosters.accuracy import stage_steps, working_accuracy
from relaxboost.solvers.boosters.adaboost import ColumnBooster
from relaxboost.solvers.boosters.exponential_risk import LONGEST, artanh_edge
from relaxboost.solvers.boosters.votes import HardMarginMethod
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import RELATIVE_RESOLUTION, Tolerance

ACCURACIES = ("fixed", "adaptive")
"""The rules for the accuracy ν of AdaBoost*.

"fixed" uses the ν of tol in all rounds. "adaptive" starts with a larger ν, and halves it after each
stage until it equals the fixed one.
"""


@dataclass(frozen=True)
class AdaBoostStar(HardMarginMethod):
    """AdaBoost*, which maximises the smallest margin to within an accuracy ν.

    Parameters
    ----------
    nu : {"fixed", "adaptive"}
        The rule for ν. ``"fixed"`` is the algorithm of the paper with ν = tol/r over `L1Ball(r)`,
        and takes at most about 2 log(m)/ν² rounds for m examples. ``"adaptive"`` is a schedule of
        this package. It starts with a large ν for longer steps, halves ν when the gap is at most r
        ν, and ends with ν = tol/r. The schedule takes at most 4/3 as many rounds as the fixed ν,
        plus two rounds for each ν.

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
        """Return a number of rounds after which AdaBoost* has a gap of at most `tol`.

        Return nan if the weak learner may miss the best hypothesis.
        """
        if game.matrix.slack:
            return math.nan
        return sum(1.0 + stage_steps(game.m, nu) for nu in self._stages(game, tol))

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        label = "adaboost-star" if self.nu == "fixed" else "adaboost-star (adaptive)"
        return AdaBoostStarRun(game, *self._stages(game, goal.tol)).named(label)

    def _stages(self, game: Game, tol: float) -> list[float]:
        stages = [working_accuracy(game, tol)]
        # A stage with ν = 1 would end without a step, because w = 0 has a gap of at most 1.
        while self.nu == "adaptive" and 2.0 * stages[0] < 1.0:
            stages.insert(0, 2.0 * stages[0])
        return stages


class AdaBoostStarRun(ColumnBooster):
    """A run of AdaBoost*, which differs from AdaBoost in the step length.

    Let w be the weights of the hypotheses, A the game matrix, and γ the edge of the best column of
    A. AdaBoost adds artanh γ to the weight of this column. AdaBoost* adds artanh γ − artanh ρ,
    where ρ is the smallest edge of all rounds so far minus the accuracy ν.

    After 2 log(m)/ν² steps for m examples, every margin of w/‖w‖_1 is at least ρ. The smallest edge
    is an upper bound on the value of the game over the unit l1 ball, so the gap is at most ν. If ρ
    is negative, w = 0 has margins of 0 >= ρ, and the gap is at most ν too. The claim RW05-T has the
    proof.

    The theorem of the paper is about a single accuracy ν. If several accuracies are passed, a stage
    with the next accuracy starts as soon as the gap is at most ν. The round that starts a stage has
    three steps.

    1. The run replaces ν by the next accuracy, which makes ρ larger.
    2. The run multiplies w by the factor s in [0, 1] that minimises the sum of
       exp(s (ρ‖w‖_1 − (Aw)_i)) over the m examples i. The theorem assumes that this sum is at most
       m at the start of a stage. The minimum is at most m, because the sum is m for s = 0.
    3. The run adds no step to w, because the best column was chosen for the distribution d before
       step 2, and step 2 changes d.

    Parameters
    ----------
    game : Game
        The game that the booster solves.
    accuracies : float
        The accuracy ν of each stage, in decreasing order.
    """

    # The step along a column with an edge > 0 is positive, even if rounding hides its length.
    why_no_step = "AdaBoost* needs edges > 0"

    def __init__(self, game: Game, *accuracies: float) -> None:
        super().__init__(game)
        self._accuracy, *self._later = accuracies
        # The smallest edge is an upper bound on the value of the game over the unit ball.
        self._least = math.inf
        # The largest margin so far is a lower bound. The weights w = 0 have the margin 0.
        self._margin = 0.0

    def advance(self, best: Best) -> Booster | None:
        """Add a step to the weight of the hypothesis `best`, or start a stage with a smaller ν.

        Return None if the edge of `best` is not positive.
        """
        self._least = min(self._least, best.edge)
        # A new stage changes d, so the edge of `best` says nothing about the first step.
        if best.edge > 0.0 and self._begin_stage():
            self.step = 0.0
            self.d = self._distribution()
            return self
        return super().advance(best)

    def _length(self, edge: float, column: Vector) -> float:
        # Rounding may push an edge above 1.
        edge = min(edge, 1.0)
        rho = self._target()
        # The length artanh γ − artanh ρ equals artanh x for x = (γ − ρ)/(1 − γρ). As ρ <= γ − ν and
        # γ <= 1, the denominator is at least ν in exact arithmetic. The numerator is γ − ρ, summed
        # in an order that does not lose a tiny ν.
        x = (edge - self._least + self._accuracy) / max(1.0 - edge * rho, self._accuracy)
        # A difference of two nearly equal artanh would lose digits, and artanh x loses none.
        if x < 0.5:
            return math.atanh(x)
        # Near 1 the edge itself has lost digits, and the margins still determine artanh γ.
        length = artanh_edge(edge, column, self.active.raw) - math.atanh(min(rho, 1.0 - 2.0**-53))
        # Rounding may make the difference 0 or negative.
        return length if length > 0.0 else LONGEST

    def _target(self) -> float:
        # The result is the margin ρ that the weights of this stage reach.
        return self._least - self._accuracy

    def _begin_stage(self) -> bool:
        # The next stage starts if the gap is at most ν. A stage is skipped if the gap is already at
        # most its ν.
        active = self.active
        margin = float(active.raw.min()) / active.norm if active.norm > 0.0 else 0.0
        self._margin = max(self._margin, margin)
        begun = self._accuracy
        # Rounding may leave the gap slightly above ν after the number of steps of the theorem.
        allowance = 1.0 + RELATIVE_RESOLUTION
        while self._later and self._least - self._margin <= self._accuracy * allowance:
            self._accuracy = self._later.pop(0)
        if self._accuracy == begun:
            return False
        active.reduce_potential(self._target())
        return True
