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
"""Step rules: the edge γ; artanh γ; the minimiser of the exponential risk along the column."""


@dataclass(frozen=True)
class AdaBoost(HardMarginMethod):
    """AdaBoost: steepest descent in l1 of the exponential risk (1/m) Σ exp(−(Aw)_i).

    AdaBoost need not reach the maximum margin, so it needs `max_rounds` or `time_limit`.

    Parameters
    ----------
    step : {"classical", "lecture", "line-search"}
        The rule for the length of a step. Let γ be the edge of the best column. ``"classical"``
        takes artanh γ, ``"lecture"`` takes γ, and ``"line-search"`` takes the minimiser of the
        risk, which is the classical step if all entries are ±1.

    References
    ----------
    Freund & Schapire (1997); Rudin, Daubechies & Schapire (2004), who show games on which it
    cycles below the maximum margin.

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
    """w_{t+1} = w_t + η_t r_t e_{j_t}: steepest descent in l1 of the exponential risk.

    From w_1 = 0, d_t is proportional to exp(−A w_t), which is the gradient of
    L(−Aw) = (1/m) Σ exp(−(Aw)_i) up to sign and scale, j_t is the column with the largest absolute
    edge γ_t and r_t the sign of its edge. With entries in [−1, 1] each of the steps ``"lecture"``
    (η = γ) and ``"classical"`` (η = artanh γ, which for entries ±1 is the minimiser along the
    column) multiplies L by at most sqrt(1 − γ²) or exp(−γ²/2), and so does ``"line-search"``, the
    minimiser for any entries.

    If the best column errs on no example, there is no finite minimiser (artanh 1 is infinite), and
    the run takes a step of 18.7. Sums are computed in the log domain, so that d may have zeros
    and steps and margins may be large.

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
        """Add the step along the column `best` to w and recompute d."""
        column = best.sign * self._matrix.column(best.id).astype(np.float64)
        if self._rule != "line-search":
            self._check(best, column)
        eta = self._length(best.edge, column) if best.edge > 0.0 else 0.0
        if not eta > 0.0:  # w minimises the risk
            return None
        self.active.vote(best, eta, column)
        self.step = eta
        self.d = self._distribution()
        return self

    def _distribution(self) -> Vector:
        return self._relaxation.distribution(self.active.raw, 1.0)

    def _length(self, edge: float, column: Vector) -> float:
        if self._rule == "lecture":
            return min(edge, 1.0)
        if self._rule == "classical":
            return artanh_edge(edge, column, self.active.raw)
        return line_search(edge, column, self.active.raw)

    def _check(self, best: Best, column: Vector) -> None:
        """Raise an InputError for entries beyond 1, which a user-defined matrix may have."""
        i = int(np.argmax(np.abs(column)))
        if not abs(column[i]) <= 1.0:
            raise InputError(
                f"A[{i}, {best.id}] has absolute value {abs(column[i]):g}, and this step needs "
                "entries in [-1, 1]; divide A by its largest absolute entry, or use "
                'AdaBoost(step="line-search")'
            )
