"""AdaBoost (Freund & Schapire 1997), which changes one weight in each round."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.solvers.boosters.exponential_risk import artanh_edge, line_search
from relaxboost.solvers.boosters.votes import HardMarginMethod, Votes
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance

ADABOOST_STEPS = ("lecture", "classical", "line-search")
"""The step rules along a column with edge γ.

The length is γ ("lecture"), artanh γ ("classical"), or the minimiser of the exponential risk
("line-search").
"""


@dataclass(frozen=True)
class AdaBoost(HardMarginMethod):
    """AdaBoost, which minimises the exponential risk (1/m) Σ exp(−(Aw)_i).

    A is the game matrix with m examples, w are the weights of the hypotheses, and (Aw)_i is the
    margin of example i. The smallest margin of w/‖w‖_1 need not tend to the maximum margin, so
    `solve` needs `max_rounds` or `time_limit`.

    Parameters
    ----------
    step : {"classical", "lecture", "line-search"}
        The step rule. Let γ be the edge of the best hypothesis. ``"classical"`` takes artanh γ,
        ``"lecture"`` takes γ, and ``"line-search"`` takes the length that minimises the risk. If
        all entries of A are ±1, this length is artanh γ.

    References
    ----------
    Freund & Schapire (1997). Rudin, Daubechies & Schapire (2004) show games on which the
    distributions of AdaBoost cycle and the margin stays below its maximum.

    Examples
    --------
    >>> import relaxboost as rb
    >>> rb.solve(rb.Game([[1, -1], [0.5, 1]]), method="adaboost", max_rounds=9).rounds
    9
    """

    name = "adaboost"
    endless = (
        "need not reach the maximum margin (Rudin, Daubechies & Schapire 2004); "
        'use method="adaboost-star"'
    )
    step: str = "classical"

    def __post_init__(self) -> None:
        self.choice("step", ADABOOST_STEPS)

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        return AdaBoostRun(game, self.step).named(f"adaboost ({self.step})")


class ColumnBooster(Booster):
    """A base class for runs of AdaBoost and AdaBoost*, whose subclasses choose the step length.

    Each round adds a step to the weight of one hypothesis, and recomputes the distribution over the
    examples.
    """

    inner = "exponential"
    needs_unit_entries = True
    """Whether the step rule needs entries of the game matrix in [−1, 1]."""
    why_no_step = "no step reduces the risk"
    """The reason in `Solution.message` why the run took no further step."""
    active: Votes

    def __init__(self, game: Game) -> None:
        self._relaxation = game.relaxation
        self._matrix = game.matrix
        self.active = Votes(game)
        self.d = self._distribution()

    @abstractmethod
    def _length(self, edge: float, column: Vector) -> float:
        """Return the amount that a step adds to the weight of a hypothesis.

        `column` contains the margins of the hypothesis, and `edge` is its positive edge.
        """

    def advance(self, best: Best) -> Booster | None:
        """Add a step to the weight of the hypothesis `best`.

        Return None if no step reduces the exponential risk.
        """
        column = best.sign * self._matrix.column(best.id).astype(np.float64)
        if self.needs_unit_entries:
            self._check(best, column)
        eta = self._length(best.edge, column) if best.edge > 0.0 else 0.0
        # If the largest edge is not positive, all edges are 0, and so is the gradient of the risk.
        if not eta > 0.0:
            self.end(f"the largest edge is {best.edge:.3g}, and {self.why_no_step}")
            return None
        self.active.vote(best, eta, column)
        self.step = eta
        self.d = self._distribution()
        return self

    def _distribution(self) -> Vector:
        return self._relaxation.distribution(self.active.raw, 1.0)

    def _check(self, best: Best, column: Vector) -> None:
        # The entries of a user-defined matrix are unknown until the matrix returns a column.
        i = int(np.argmax(np.abs(column)))
        if not abs(column[i]) <= 1.0:
            raise InputError(
                f"A[{i}, {best.id}] has absolute value {abs(column[i]):g}, but this step needs "
                "entries in [-1, 1]; divide A by its largest absolute entry, or use "
                'AdaBoost(step="line-search")'
            )


class AdaBoostRun(ColumnBooster):
    """A run of AdaBoost, which changes one weight in each round.

    A round has three steps, for the game matrix A with m examples and the weights w.

    1. The run computes the distribution d over the examples, which is proportional to
       exp(−(Aw)_i). Up to sign and scale, d is the gradient of the exponential risk
       L = (1/m) Σ exp(−(Aw)_i) with respect to the margins Aw. The first w is 0.
    2. The weak learner returns the column of A with the largest absolute edge γ for d.
    3. The run adds the step η, with the sign of the edge, to the weight of the column.

    If the entries of A lie in [−1, 1], the step ``"lecture"`` multiplies L by at most exp(−γ²/2).
    The steps ``"classical"`` and ``"line-search"`` multiply L by at most sqrt(1 − γ²), a smaller
    factor (proof in docs/mathematics.md, section "AdaBoost").

    If no entry of the best column is negative, the risk has no minimiser along this column. The
    line search and, if all entries are 1, the rule ``"classical"`` then take a step of fixed
    length. Large margins do not overflow.

    References
    ----------
    Freund & Schapire (1997), A decision-theoretic generalization of on-line learning and an
    application to boosting, Fig. 2 and Thm 6; Schapire & Singer (1999), Improved boosting
    algorithms using confidence-rated predictions, Sec. 3, for real entries.
    """

    def __init__(self, game: Game, rule: str) -> None:
        super().__init__(game)
        self._rule = rule
        # The line search minimises the risk for entries of any size; the other rules do not.
        self.needs_unit_entries = rule != "line-search"

    def _length(self, edge: float, column: Vector) -> float:
        if self._rule == "lecture":
            # Rounding may push an edge above 1.
            return min(edge, 1.0)
        # The classical step minimises an upper bound of the risk, which is tight for entries ±1.
        if self._rule == "classical":
            return artanh_edge(edge, column, self.active.raw)
        return line_search(edge, column, self.active.raw)
