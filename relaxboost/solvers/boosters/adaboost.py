"""AdaBoost (Freund & Schapire 1997): steepest descent of the exponential risk."""

from __future__ import annotations

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
"""The step rules of `AdaBoost`, whose docstring explains them."""


@dataclass(frozen=True)
class AdaBoost(HardMarginMethod):
    """AdaBoost: steepest descent in the l1 norm for the exponential risk (1/m) Σ exp(−(Aw)_i).

    A is the margin matrix, and w the weights of the hypotheses. AdaBoost need not reach the maximum
    margin, so it needs `max_rounds` or `time_limit`.

    Parameters
    ----------
    step : {"classical", "lecture", "line-search"}
        The rule for the length of a step. Let γ be the edge of the best column. ``"classical"``
        takes artanh γ, ``"lecture"`` takes γ, and ``"line-search"`` takes the minimiser of the
        risk, which is the classical step if all entries are ±1.

    References
    ----------
    Freund & Schapire (1997); Rudin, Daubechies & Schapire (2004), who show games on which
    AdaBoost cycles below the maximum margin.

    Examples
    --------
    >>> import relaxboost as rb
    >>> rb.solve(rb.Game([[1, -1], [0.5, 1]]), method="adaboost", max_rounds=9).rounds
    9
    """

    name = "adaboost"
    endless = (
        "AdaBoost need not reach the maximum margin (Rudin, Daubechies & Schapire 2004); "
        'use method="adaboost-star"'
    )
    step: str = "classical"

    def __post_init__(self) -> None:
        self.choice("step", ADABOOST_STEPS)

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        return AdaBoostRun(game, self.step).named(f"adaboost ({self.step})")


class AdaBoostRun(Booster):
    """Each round adds η times the signed best column to w, from w = 0.

    The distribution d is proportional to exp(−Aw). Up to sign and scale it is the gradient of the
    exponential risk L = (1/m) Σ exp(−(Aw)_i) in the margins Aw. The best column has the largest
    absolute edge γ at d. `AdaBoost` describes the rules for the step η.

    If the entries of A lie in [−1, 1], every step multiplies L by a factor below 1. The factor is
    at most exp(−γ²/2) for the step ``"lecture"``, and at most sqrt(1 − γ²) for ``"classical"``
    and ``"line-search"``.

    If the best column errs on no example, L has no finite minimiser, and the run takes a step of
    18.7. All sums are computed in the log domain. So d may have zeros, and steps and margins may be
    large.

    References
    ----------
    Freund & Schapire (1997), A decision-theoretic generalization of on-line learning and an
    application to boosting, Fig. 2 and Thm 6; Schapire & Singer (1999), Improved boosting
    algorithms using confidence-rated predictions, Sec. 3, for real entries; Telgarsky's lecture on
    AdaBoost, for the view as descent with η = ‖Aᵀ∇L‖_inf / ‖∇L‖_1.
    """

    inner = "exponential"
    active: Votes

    def __init__(self, game: Game, rule: str) -> None:
        self._relaxation = game.relaxation
        self._matrix = game.matrix
        self._rule = rule
        self.active = Votes(game)
        self.d = self._distribution()

    def advance(self, best: Best) -> Booster | None:
        """Add a step along the column `best` to w; return None if w minimises the risk."""
        column = best.sign * self._matrix.column(best.id).astype(np.float64)
        # The formulas of the other steps hold for entries in [−1, 1] only.
        if self._rule != "line-search":
            self._check(best, column)
        eta = self._length(best.edge, column) if best.edge > 0.0 else 0.0
        # Without a positive edge the gradient of the risk is zero.
        if not eta > 0.0:
            return None
        self.active.vote(best, eta, column)
        self.step = eta
        self.d = self._distribution()
        return self

    def _distribution(self) -> Vector:
        # The d of the exponential risk is the entropic smoothing of the hard margin with β = 1.
        return self._relaxation.distribution(self.active.raw, 1.0)

    def _length(self, edge: float, column: Vector) -> float:
        # Rounding can leave an edge of a little more than 1.
        if self._rule == "lecture":
            return min(edge, 1.0)
        if self._rule == "classical":
            return artanh_edge(edge, column, self.active.raw)
        return line_search(edge, column, self.active.raw)

    def _check(self, best: Best, column: Vector) -> None:
        """Raise an InputError for an entry of absolute value above 1.

        A user-defined matrix may have such entries, because nothing checks them before.
        """
        # nan counts as too large, hence the negation below.
        i = int(np.argmax(np.abs(column)))
        if not abs(column[i]) <= 1.0:
            raise InputError(
                f"A[{i}, {best.id}] has absolute value {abs(column[i]):g}, and this step needs "
                "entries in [-1, 1]; divide A by its largest absolute entry, or use "
                'AdaBoost(step="line-search")'
            )
