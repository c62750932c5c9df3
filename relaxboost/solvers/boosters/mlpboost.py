"""MLPBoost (Mitsuboshi, Hatano & Takimoto 2022).

Each round compares a Frank-Wolfe step with the weights of LPBoost, and takes the better ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.matrices import Best, kernels
from relaxboost.solvers.boosters.atoms import check_atoms
from relaxboost.solvers.boosters.corrective import active_set
from relaxboost.solvers.boosters.lp_weights import LPWeights
from relaxboost.solvers.boosters.smoothed_margin import SmoothedMargin
from relaxboost.solvers.hypothesis import ActiveSet
from relaxboost.solvers.method import SmoothedMethod
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.steps import Segment, line_search, quadratic_step
from relaxboost.solvers.stopping import PATIENCE_ROUNDS, Tolerance
from relaxboost.solvers.warm_start import WarmStart

FRANK_WOLFE_STEPS = ("short", "line-search")
"""The rules for the Frank-Wolfe step: "short" maximises a quadratic lower bound of the smoothed
margin, as SS09 Fig. 1 does, and "line-search" maximises the smoothed margin itself."""


@dataclass(frozen=True)
class MLPBoost(SmoothedMethod):
    """MLPBoost, which takes the better of a Frank-Wolfe step and the weights of LPBoost.

    The method compares weights w by the smoothed margin D(w), which is the minimum over d of
    <d, Aw> + f(d) + β h(d). Here A is the game matrix, d is a distribution over the examples, f is
    the relaxation, and h is the relative entropy to the uniform distribution. The Frank-Wolfe step
    moves w towards the column that the weak learner returns, and it guarantees the bound on the
    rounds. The weights of LPBoost solve a linear program over all columns so far. They are the
    secondary algorithm of the paper and bring most of the progress.

    Parameters
    ----------
    beta, smoothing
        The weight and the kind of the smoothing, as in `SmoothedMethod`.
    step : {"short", "line-search"}
        The length of the Frank-Wolfe step. ``"short"`` is the step of Shalev-Shwartz & Singer
        (2009, SS09), Fig. 1. ``"line-search"`` is the best step between w and the new column.

    References
    ----------
    Mitsuboshi, Hatano & Takimoto (2022), Boosting as Frank-Wolfe, arXiv 2209.10831. The paper
    states the rate O(log(m/k)/ε²), and `rounds_bound` derives the constant.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, -1], [0.5, 1], [-1, 1]], rb.Capped(2))
    >>> rb.solve(game, 0.1, "mlpboost").gap <= 0.1
    True
    """

    name = "mlpboost"
    step: str = "short"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.choice("step", FRANK_WOLFE_STEPS)

    def check(self, game: Game) -> None:
        """Raise an InputError if f has no linear program, or if the domain of w has no atoms."""
        super().check(game)
        check_atoms(self, game)
        if game.linear_form is None:
            raise InputError(
                f"MLPBoost() solves a linear program, and {game.relaxation!r} is not polyhedral; "
                'use method="corrective"'
            )

    def rounds_bound(self, game: Game, tol: float) -> float:
        """Return 64 R (r/tol)², the number of rounds after which the gap is at most `tol`.

        R is the range of the smoothing function, which is log(m/k) for the entropy and
        `Capped(k)`. The number r is the size of the hypotheses. The bound follows in three steps.

        1. The default weight of the smoothing is β = tol/(2R). Smoothing changes D by at most
           tol/2, so the gap g of the smoothed game must reach tol/2.
        2. A step of length less than 1 gains at least β g²/(8r²) in D.
        3. The gap g is at least the suboptimality in D, so 16 r²/(β tol/2) rounds suffice.

        docs/mathematics.md, "Stopping", treats steps of length 1. If the user chose β, or if the
        weak learner may miss the best hypothesis, the result is nan.
        """
        # The base class knows the range of the binary entropy, and when no theorem applies.
        if self.beta is not None or self.smoothing != "entropy" or game.matrix.slack:
            return super().rounds_bound(game, tol)
        return game.over.rounds_bound(game.relaxation.entropy_range(game.m), game.n, tol, True)

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        beta, smoother, suffix = self.smoother(game, goal.tol)
        objective = SmoothedMargin(game.relaxation, smoother, beta, self.smoothing)
        run = MLPBoostRun(game, objective, self.step, clock)
        return run.named(f"mlpboost ({self.step}{suffix})")


class MLPBoostRun(Booster):
    """A run of MLPBoost. Each round computes two updates of w and keeps the better one."""

    inner = "smoothed"
    active: ActiveSet

    def __init__(self, game: Game, objective: SmoothedMargin, step: str, clock: Clock) -> None:
        self.objective = objective
        """The smoothed margin D as a function of the margins A w."""
        self._step_rule = step
        self._idle_rounds = 0
        self.active = active_set(game)
        self.program = LPWeights(game, self.active, clock)
        self.value = -inf
        """The smoothed margin D at the present weights w."""
        self._reweigh()

    def warmed(self, start: WarmStart) -> Booster:
        """Take the weights w of a start, and return the booster.

        The columns of w enter the linear program in the first round.
        """
        if start.w is not None:
            self.active.load(*start.w)
            self._reweigh()
        return self

    def advance(self, best: Best) -> Booster | None:
        """Take the better of both updates, or return None after many rounds without a gain."""
        active = self.active
        before = self.value
        self._step_towards(best)
        self._reweigh()
        # The program overwrites w, so the result of the Frank-Wolfe step is kept.
        corrected = active.weights.copy(), active.u, self.d, self.value
        # In the first round w may hold columns that the program lacks, such as those of a start.
        weighty = np.flatnonzero(active.weights[: len(active)]).tolist()
        self.program.include([active.slot(best), *weighty])
        self.program.optimise()
        self._reweigh()
        # The bound on the rounds needs at least the gain of the Frank-Wolfe step.
        if not self.value > corrected[3]:
            active.weights, active.u, self.d, self.value = corrected
        # Rounding may hide the gain of single rounds close to the maximum.
        self._idle_rounds = 0 if self.value > before else self._idle_rounds + 1
        return self if self._idle_rounds < PATIENCE_ROUNDS else None

    def _step_towards(self, best: Best) -> None:
        """Take the Frank-Wolfe step, which gains at least as much in D as that of SS09 Fig. 1."""
        active = self.active
        objective = self.objective
        v, size = active.direction(best)
        slope = active.gap(self.d, best)
        if self._step_rule == "short":
            self.step = quadratic_step(slope, v, objective.beta, size=size)
        else:
            segment = Segment(active.u, v, slope, size=size)
            self.step = line_search(objective.project, objective.beta, segment).eta
        active.move(best, self.step, kernels.along(active.u, v, self.step))

    def _reweigh(self) -> None:
        """Recompute d and D from the present margins."""
        self.d = self.objective.project(self.active.u)
        self.value = self.objective.value(self.active.u, self.d)
