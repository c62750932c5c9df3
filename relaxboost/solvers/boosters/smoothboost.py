"""SmoothBoost (Servedio 2003): a boosting algorithm that never puts much weight on an example."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost._core.parameters import positive
from relaxboost.game.game import Game
from relaxboost.relaxations import Capped, HardMargin
from relaxboost.solvers.boosters.starting_points import active_set, check_atoms
from relaxboost.solvers.hypothesis import ActiveSet
from relaxboost.solvers.method import Method
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance

LARGEST_GAMMA = 0.5
"""The largest γ: an edge of 2γ = 1 is the largest there is."""


@dataclass(frozen=True)
class SmoothBoost(Method):
    """SmoothBoost for `Capped(k)`: κ = k/m, and a margin of θ = γ/(2 + γ) for most examples.

    If every edge is at least 2γ, then after fewer than 2/(κ γ² sqrt(1 − γ)) rounds fewer than k
    examples have a margin of at most θ, and the run ends. No example ever weighs more than 1/k.

    The theorem says nothing about how far below θ the other examples are, so the gap need not
    reach tol. After T rounds the soft margin of the mean w is at least θ − m/(k T c),
    c = −½ log(1 − γ), which `SmoothBoostRun` derives; with atoms of size r, it is r times that.
    So SmoothBoost needs `max_rounds` or `time_limit`. The solution has the w of the best soft
    margin, which need not be the last w, to which the theorem applies.

    Parameters
    ----------
    gamma : float, optional
        γ in (0, 1/2], half of the edge that the weak learner is sure to reach. By default the run
        finds it: γ starts as half of the first edge; whenever an edge is below 2γ, γ becomes half
        of that edge or of itself, whichever is less, and the run begins again. γ never falls below
        a quarter of the value of the game, and the runs before the last add up to at most
        a third of its bound, up to the factor sqrt(2) for sqrt(1 − γ).

    References
    ----------
    Servedio (2003), Smooth boosting and learning with malicious noise, JMLR 4, Fig. 1 and its
    theorems, which state the edge as ½ Σ d |h − y| <= ½ − γ.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, -1], [0.5, 1], [-1, 1]], rb.Capped(2))
    >>> solution = rb.solve(game, 1e-3, rb.solvers.SmoothBoost(gamma=0.1), max_rounds=50)
    >>> bool(solution.d.max() <= 0.5)
    True
    """

    name = "smoothboost"
    cold = "SmoothBoost counts its margins from the first round"
    endless = (
        "SmoothBoost is sure of a margin of gamma/(2 + gamma) for most examples, and of no gap; "
        'use method="softboost"'
    )
    gamma: float | None = None

    def __post_init__(self) -> None:
        if self.gamma is None:
            return
        object.__setattr__(self, "gamma", positive("gamma", self.gamma))
        if self.gamma > LARGEST_GAMMA:
            raise InputError(
                f"gamma must be at most 1/2, got {self.gamma:g}: the edges of the weak learner are "
                "at least 2 gamma, and no edge exceeds 1"
            )

    def check(self, game: Game) -> None:
        """Raise an InputError for other relaxations, and for domains without atoms."""
        if not isinstance(game.relaxation, HardMargin | Capped):
            raise InputError(
                "SmoothBoost() is for HardMargin() and Capped(k), and this game has "
                f'{game.relaxation!r}; use method="corrective"'
            )
        check_atoms(self, game)

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        return SmoothBoostRun(game, self.gamma).named(self.name)


class SmoothBoostRun(Booster):
    """w is the mean of the answers; d is proportional to M(N_i), N_i = Σ_s (a_s,i − θ).

    M(N) is 1 for N <= 0 and (1 − γ)^(N/2) above, and the run ends once Σ M < k. Let φ have the
    derivative −M and φ(0) = 0, so that φ > −1/c, c = −½ log(1 − γ). M changes by a factor of at
    most e^c per unit, so a round changes Φ = Σ φ(N_i) by at most
    −Σ M (2γ − θ − (e^x − 1 − x)/c), x = c(1 + θ), and for γ <= 1/2 the bracket times c is at
    least γ² sqrt(1 − γ)/2. With Σ M >= k each round and Φ > −m/c, this gives the theorem. As Φ <= 0
    after every round, Σ [−N_i]_+ <= m/c, which bounds the soft margin of w from below.
    """

    inner = "measure"
    active: ActiveSet

    def __init__(self, game: Game, gamma: float | None) -> None:
        self._relaxation = game.relaxation
        self._k = game.relaxation.double_k if isinstance(game.relaxation, Capped) else 1.0
        self._finds_gamma = gamma is None
        self.gamma = math.inf if gamma is None else gamma
        """The γ in use; infinite before the first edge if the run is to find it."""
        self.taken = 0
        """The answers that w is the mean of."""
        self._excess = np.zeros(game.m)  # N
        self.ended = False
        """Whether the measure has fallen below k, which ends the run."""
        self.active = active_set(game)
        self.d = game.relaxation.center(game.m)

    @property
    def theta(self) -> float:
        """The margin θ = γ/(2 + γ) that the examples are to reach."""
        return self.gamma / (2.0 + self.gamma)

    def advance(self, best: Any) -> Booster | None:
        """Add `best` to the mean, and reweigh; None once the measure is below k."""
        if self.ended or best.edge <= 0.0:
            return None
        if self._finds_gamma and best.edge < 2.0 * self.gamma:
            self.gamma = min(best.edge / 2.0, self.gamma / 2.0, LARGEST_GAMMA)
            self.taken = 0
            self._excess = np.zeros(self._excess.size)
        self.taken += 1
        share = 1.0 / self.taken
        v, _ = self.active.direction(best)
        answer = (v + self.active.u) / self.active.over.scale
        self.active.move(best, share, self.active.u + share * v)
        self.step = share
        self._excess = self._excess + answer - self.theta
        measure = (1.0 - self.gamma) ** (0.5 * np.maximum(self._excess, 0.0))
        total = float(measure.sum())
        self.ended = total < self._k
        self.d = self._relaxation.repair(measure / total)
        return self
