"""SmoothBoost (Servedio 2003), which never puts much weight on a single example."""

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
from relaxboost.solvers.boosters.starting_points import active_set, check_atoms, check_relaxation
from relaxboost.solvers.hypothesis import ActiveSet
from relaxboost.solvers.method import Method
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance


@dataclass(frozen=True)
class SmoothBoost(Method):
    """SmoothBoost, which reaches a margin of γ/(2 + γ) on all but a few examples.

    The game has m examples and the relaxation `Capped(k)`; `HardMargin` is treated as k = 1. No
    example ever gets a weight above 1/k. If the weak learner always returns an edge of at least 2γ,
    the run ends after fewer than 2m/(k γ² sqrt(1 − γ)) rounds. The last weights w then give fewer
    than k examples a margin of at most θ = γ/(2 + γ). The solution contains the best w of all
    rounds.

    The margins of these few examples may be far below θ. The gap may then never reach tol, so
    `solve` needs `max_rounds` or `time_limit`. After T rounds, the mean of all hypotheses has a
    soft margin of at least r (θ − m/(k T c)) with c = −log(1 − γ)/2, where r is the size of the
    atoms of the domain, such as the radius of an l1 ball. The claims SER03-T and SER03-soft have
    the proofs.

    Parameters
    ----------
    gamma : float, optional
        The number γ in (0, 1/2]. It should be at most half of the weak learner's smallest edge. By
        default the run starts with half of the first edge. If a later edge is below 2γ, the run
        restarts with the smaller of half this edge and γ/2. No γ is below a quarter of the value of
        the game. The rounds before the last restart are at most sqrt(2)/3 times the bound for the
        last γ, plus one round for each restart.

    References
    ----------
    Servedio (2003), Smooth boosting and learning with malicious noise, JMLR 4, Fig. 1 and its
    theorems, which state the condition on the edge as ½ Σ d_i |h_i − y_i| <= ½ − γ.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, -1], [0.5, 1], [-1, 1]], rb.Capped(2))
    >>> solution = rb.solve(game, 1e-3, rb.solvers.SmoothBoost(gamma=0.1), max_rounds=50)
    >>> bool(solution.d.max() <= 0.5)
    True
    """

    name = "smoothboost"
    cold = "always starts from the uniform distribution"
    endless = (
        "guarantees a margin of gamma/(2 + gamma) on most examples, but no gap; "
        'use method="softboost"'
    )
    gamma: float | None = None

    def __post_init__(self) -> None:
        if self.gamma is None:
            return
        object.__setattr__(self, "gamma", positive("gamma", self.gamma))
        # No edge exceeds 1, so no weak learner returns edges of 2γ for a larger γ.
        if self.gamma > 0.5:
            raise InputError(
                f"gamma must be at most 1/2, got {self.gamma:g}: the weak learner must return "
                "edges of at least 2 gamma, and no edge exceeds 1; pass a smaller gamma"
            )

    def check(self, game: Game) -> None:
        """Raise an InputError unless the game has `HardMargin` or `Capped` and a domain with atoms.

        An l1 ball, for example, has atoms.
        """
        check_relaxation(self, game, (HardMargin, Capped), "is for HardMargin() and Capped(k)")
        check_atoms(self, game)

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        return SmoothBoostRun(game, self.gamma).named(self.name)


class SmoothBoostRun(Booster):
    """A run of SmoothBoost for edges of at least 2γ, in rounds of four steps with θ = γ/(2 + γ).

    1. The weak learner returns a hypothesis with the margin a_i on example i. The weights w are
       the mean of all hypotheses so far.
    2. The run adds a_i − θ to N_i, the excess of example i. The excess is 0 before the first round.
    3. The measure of example i is 1 if N_i <= 0, and (1 − γ)^(N_i/2) otherwise. The distribution d
       is proportional to the measure.
    4. If all measures add up to less than k of `Capped(k)`, the next round is the last round.
    """

    inner = "measure"
    active: ActiveSet

    def __init__(self, game: Game, gamma: float | None) -> None:
        self._relaxation = game.relaxation
        self._k = game.relaxation.double_k if isinstance(game.relaxation, Capped) else 1.0
        self._finds_gamma = gamma is None
        self.gamma = math.inf if gamma is None else gamma
        """Half of the smallest edge that the run expects, or inf before the first edge."""
        self.taken = 0
        """The number of hypotheses so far, whose mean is the combined hypothesis."""
        self._excess = np.zeros(game.m)
        self.ended = False
        """Whether the measures add up to less than k of `Capped(k)`, so that the next round is the
        last."""
        self.active = active_set(game)
        self.d = game.relaxation.center(game.m)

    def advance(self, best: Any) -> Booster | None:
        """Compute the weights and the distribution of the next round, or return None at the end.

        `best` is the hypothesis of the weak learner.
        """
        if self.ended:
            self.end(f"the measures of all examples add up to less than k = {self._k:g}")
            return None
        if best.edge <= 0.0:
            self.end(f"the best edge is {best.edge:.3g}, and SmoothBoost needs edges > 0")
            return None
        if self._finds_gamma and best.edge < 2.0 * self.gamma:
            # Rounding may push an edge above 1, but γ is at most 1/2.
            self.gamma = min(best.edge / 2.0, self.gamma / 2.0, 0.5)
            # Before the first hypothesis d is the uniform distribution, and nothing must restart.
            if self.taken > 0:
                # The edge of `best` is for the old d, so this round adds no hypothesis.
                self.taken = 0
                self._excess = np.zeros(self._excess.size)
                self.d = self._relaxation.center(self._excess.size)
                self.step = 0.0
                return self
        # The first hypothesis of a restart has the share 1, so it replaces the old mean.
        self.taken += 1
        share = 1.0 / self.taken
        v, _ = self.active.direction(best)
        # The theorem is about hypotheses of size 1.
        answer = (v + self.active.u) / self.active.over.scale
        self.active.move(best, share, self.active.u + share * v)
        self.step = share
        theta = self.gamma / (2.0 + self.gamma)
        self._excess = self._excess + answer - theta
        measure = (1.0 - self.gamma) ** (0.5 * np.maximum(self._excess, 0.0))
        total = float(measure.sum())
        # One more round evaluates the last w, and then the run ends.
        self.ended = total < self._k
        self.d = self._relaxation.repair(measure / total)
        return self
