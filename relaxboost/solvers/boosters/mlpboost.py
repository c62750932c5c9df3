"""MLPBoost (Mitsuboshi, Hatano & Takimoto 2022), which combines Frank–Wolfe and LPBoost."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import xlog1py, xlogy

from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.matrices import Best, kernels
from relaxboost.solvers.boosters.restricted_programs import RestrictedLinearProgram
from relaxboost.solvers.boosters.starting_points import active_set, check_atoms, check_polyhedral
from relaxboost.solvers.hypothesis import ActiveSet
from relaxboost.solvers.method import SmoothedMethod
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.smoothing import Projector
from relaxboost.solvers.steps import Segment, line_search, quadratic_step
from relaxboost.solvers.stopping import PATIENCE_ROUNDS, Tolerance
from relaxboost.solvers.warm_start import WarmStart

FRANK_WOLFE_STEPS = ("short", "line-search")
"""The Frank–Wolfe steps; see `MLPBoost`."""


@dataclass(frozen=True)
class MLPBoost(SmoothedMethod):
    """MLPBoost, which takes the better of a Frank–Wolfe step and the weights of LPBoost.

    Each round keeps the weights w with the larger smoothed margin D(w), the minimum of <d, Aw> +
    f(d) + β h(d) over the distributions d, for the game matrix A and the relaxation f. The
    Frank–Wolfe step guarantees the bound on the rounds, and LPBoost makes most of the progress.

    Parameters
    ----------
    beta, smoothing
        The weight β > 0 and the function h of the smoothing; see `SmoothedMethod`.
    step : {"short", "line-search"}
        ``"short"`` is the step of Shalev-Shwartz & Singer (2009), Fig. 1, and ``"line-search"`` is
        the step that maximises D.

    References
    ----------
    Mitsuboshi, Hatano & Takimoto (2022), Boosting as Frank-Wolfe, arXiv 2209.10831: O(log(m/k)/ε²)
    rounds for m examples, `Capped(k)` and the accuracy ε.

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
        """Raise an InputError if MLPBoost cannot solve the game.

        The relaxation must be polyhedral, and the domain of the weights must have atoms.
        """
        super().check(game)
        check_atoms(self, game)
        check_polyhedral("MLPBoost()", game, 'method="auto"')

    def rounds_bound(self, game: Game, tol: float) -> float:
        """Return the bound max(2, 64 H (r/tol)²) on the number of rounds.

        H is the range of the entropy over the distributions at which f is finite, or that of the
        binary entropy over all distributions. r is the radius of the l1 ball or the size of the
        simplex. The result is nan if the user chose β, or if the weak learner may miss the best
        hypothesis.
        """
        if self.beta is not None or self.smoothing != "entropy" or game.matrix.slack:
            return self.fig1_rounds_bound(game, tol)
        return game.over.rounds_bound(game.entropy_range, game.n, tol, True)

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        beta, project, suffix = self.projector(game, goal.tol)
        run = MLPBoostRun(game, self, beta, project, clock)
        return run.named(f"mlpboost ({self.step}{suffix})")


class MLPBoostRun(Booster):
    """A run of MLPBoost, which computes two updates in each round and keeps the better one."""

    inner = "smoothed"
    active: ActiveSet

    def __init__(
        self, game: Game, method: MLPBoost, beta: float, project: Projector, clock: Clock
    ) -> None:
        self.beta = beta
        self._game = game
        self._method = method
        self._project = project
        self._idle_rounds = 0
        self.active = active_set(game)
        self.program = RestrictedLinearProgram(game, self.active, clock)
        self.value = -np.inf
        """The smoothed margin of the current weights. It never decreases."""
        self._reweigh()

    def warmed(self, start: WarmStart) -> Booster:
        """Start the run from the weights of a warm start, and return this booster."""
        if start.w is not None:
            self.active.load(*start.w)
            self._reweigh()
        return self

    def advance(self, best: Best) -> Booster | None:
        """Replace the weights by the better of a Frank–Wolfe step and the weights of LPBoost.

        Return None if the smoothed margin has not increased for `PATIENCE_ROUNDS` rounds.
        """
        active = self.active
        before = self.value
        self._step_towards(best)
        self._reweigh()
        corrected = active.weights.copy(), active.u, self.d, self.value
        # The columns of a start have weight, and the program may not have them yet.
        weighty = np.flatnonzero(active.weights[: len(active)]).tolist()
        self.program.include([active.slot(best), *weighty])
        self.program.optimise()
        self._reweigh()
        # The Frank–Wolfe step is chosen if both are equal, and also if the program returns a nan.
        if not self.value > corrected[3]:
            active.weights, active.u, self.d, self.value = corrected
        self._idle_rounds = 0 if self.value > before else self._idle_rounds + 1
        if self._idle_rounds >= PATIENCE_ROUNDS:
            self.end(f"no update raised the smoothed margin for {PATIENCE_ROUNDS} rounds")
            return None
        return self

    def _step_towards(self, best: Best) -> None:
        active = self.active
        v, size = active.direction(best)
        slope = active.gap(self.d, best)
        if self._method.step == "short":
            self.step = quadratic_step(slope, v, self.beta, size=size)
        else:
            segment = Segment(active.u, v, slope, size=size)
            self.step = line_search(self._project, self.beta, segment).eta
        active.move(best, self.step, kernels.along(active.u, v, self.step))

    def _reweigh(self) -> None:
        # The smoothed margin D(w) is attained by the smoothed distribution d.
        u = self.active.u
        d = self._project(u)
        h = float(xlogy(d, d).sum()) + math.log(d.size)
        if self._method.smoothing == "binary-entropy":
            h += float(xlog1py(1.0 - d, -d).sum())
        # If f allows one distribution only, then `default_beta` is huge and h is constant. The
        # product β h would make the other terms vanish in rounding.
        smoothing = self.beta * h if self._game.entropy_range > 0.0 else 0.0
        self.d = d
        self.value = float(d @ u) + self._game.relaxation.penalty(d) + smoothing
