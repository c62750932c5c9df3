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


@dataclass(frozen=True)
class SmoothBoost(Method):
    """SmoothBoost for `Capped(k)`, which gives most examples a margin of θ = γ/(2 + γ).

    Let every edge be at least 2γ, and let κ = k/m. After fewer than 2/(κ γ² sqrt(1 − γ)) rounds
    the run ends, because fewer than k examples have a margin of at most θ. No example ever has a
    weight above 1/k.

    The theorem is about the last w, and does not bound its other margins from below. The gap need
    not reach tol, so SmoothBoost needs `max_rounds` or `time_limit`. After T rounds the soft margin
    of w is at least r (θ − m/(k T c)) with c = −½ log(1 − γ), for atoms of size r.

    Parameters
    ----------
    gamma : float, optional
        γ in (0, 1/2], half of the edge that the weak learner is sure to reach. By default the run
        starts with half of the first edge. When an edge is below 2γ, the new γ is half of this edge
        or half of the old γ, whichever is smaller, and the run begins again. γ never falls below a
        quarter of the value of the game. Up to the factor sqrt(2) for sqrt(1 − γ), all runs before
        the last take at most a third of the bound of the last run, and one round each.

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
        if self.gamma > 0.5:
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
    """The combined hypothesis w is the mean of the answers of the weak learner.

    Let a_i be the margin of example i under an answer, and N_i the sum of a_i − θ over all answers.
    The measure of the example is M(N_i), with M(N) = 1 for N <= 0 and M(N) = exp(−cN) for N > 0,
    where c = −½ log(1 − γ). The distribution d is proportional to the measure. The run ends when
    Σ_i M(N_i) < k.

    The proof follows the potential Σ_i φ(N_i), where φ(0) = 0 and the derivative of φ is −M. Every
    round lowers the potential by at least k γ² sqrt(1 − γ)/(2c), and it never falls below −m/c. The
    claims SER03-T and SER03-soft of `relaxboost.claims` derive both numbers, and check each step.
    """

    inner = "measure"
    active: ActiveSet

    def __init__(self, game: Game, gamma: float | None) -> None:
        self._relaxation = game.relaxation
        # The hard margin is the case k = 1, which does not bound the weight of an example.
        self._k = game.relaxation.double_k if isinstance(game.relaxation, Capped) else 1.0
        self._finds_gamma = gamma is None
        self.gamma = math.inf if gamma is None else gamma
        """The present γ, which is infinite before the first edge if the run finds it."""
        self.taken = 0
        """The number of answers whose mean is w."""
        self._excess = np.zeros(game.m)  # the sums N_i
        self.ended = False
        """Whether the measure has fallen below k, which ends the run."""
        self.active = active_set(game)
        self.d = game.relaxation.center(game.m)

    @property
    def theta(self) -> float:
        """The margin θ = γ/(2 + γ) that the examples are to reach."""
        return self.gamma / (2.0 + self.gamma)

    def advance(self, best: Any) -> Booster | None:
        """Add `best` to the mean and update d; return None once the measure is below k."""
        if self.ended or best.edge <= 0.0:
            return None
        if self._finds_gamma and best.edge < 2.0 * self.gamma:
            self.gamma = min(best.edge / 2.0, self.gamma / 2.0, 0.5)
            # The edge is known at the old d only, so the new run asks for one at its own.
            if self.taken > 0:
                self.taken = 0
                self._excess = np.zeros(self._excess.size)
                self.d = self._relaxation.center(self._excess.size)
                self.step = 0.0
                return self
        self.taken += 1
        share = 1.0 / self.taken
        v, _ = self.active.direction(best)
        # SmoothBoost counts margins of atoms of size 1; v is the change of the scaled margins.
        answer = (v + self.active.u) / self.active.over.scale
        self.active.move(best, share, self.active.u + share * v)
        self.step = share
        self._excess = self._excess + answer - self.theta
        measure = (1.0 - self.gamma) ** (0.5 * np.maximum(self._excess, 0.0))
        total = float(measure.sum())
        self.ended = total < self._k
        self.d = self._relaxation.repair(measure / total)
        return self
