"""The algorithm of Shalev-Shwartz & Singer (2009), Fig. 1, with several step rules."""

from __future__ import annotations

import math
from dataclasses import dataclass

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.solvers.boosters.frank_wolfe import (
    EXCHANGING,
    STEPS,
    CorrectiveRun,
    few_steps_suffice,
)
from relaxboost.solvers.method import STOPPING, SmoothedMethod
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance

PAIRWISE_GAP_PER_RADIUS = 0.02
# Pairwise steps reach this gap quickly, and smaller gaps slowly. Used only if a faster method
# follows.
"""The gap, per unit of the domain radius, at which "auto" ends its pairwise steps."""


@dataclass(frozen=True)
class Corrective(SmoothedMethod):
    """The algorithm of Shalev-Shwartz & Singer (2009), Fig. 1, with several step rules.

    Round t moves the weights w towards the best column j. The update of Fig. 1 is
    w_{t+1} = (1 − η_t) w_t + η_t e_j with the step η_t, where e_j is the atom of the domain that
    has weight on column j only. All other weights are multiplied by 1 − η_t.

    Parameters
    ----------
    beta : float, optional
        The weight β of the smoothing function, > 0; see `SmoothedMethod`. For the step ``"fig1"``
        the default is tol / (2 log m) for m examples, as Fig. 1 states.
    smoothing : {"entropy", "binary-entropy"}
        The smoothing function, which is multiplied by β; see `SmoothedMethod`.
    step : {"fig1", "classic", "line-search", "away", "pairwise"}
        The step rule. ``"fig1"`` uses the η_t of the paper, and ``"classic"`` uses η_t = 2/(t + 2).
        ``"line-search"`` maximises the smoothed margin (the relaxed margin with the smoothing) on
        the segment between w_t and the atom e_j. ``"away"`` also uses a line search, and moves w
        away from the worst column in use if this direction is steeper. ``"pairwise"`` moves weight
        from the worst column in use to the best column (Lacoste-Julien & Jaggi 2015), and is
        usually the fastest rule. ``"away"`` and ``"pairwise"`` can reduce the weight of a column to
        0, and need a domain with atoms. A bound on the number of rounds is known only for
        ``"fig1"`` and ``"line-search"``.
    stopping : {"certified", "smoothed"}
        The stopping test. ``"certified"`` requires a certified gap of at most tol. ``"smoothed"``
        is the test of Fig. 1: the gap of the smoothed game at w_t is at most tol. The run then
        returns this w_t, whose error can be up to 3/2 tol.

    References
    ----------
    Shalev-Shwartz & Singer (2009), Fig. 1 and Thm 9.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, -1], [-1, 1], [1, 1]], rb.Capped(k=2))
    >>> rb.solve(game, 0.1, rb.solvers.Corrective(step="pairwise")).status
    'optimal'
    """

    name = "corrective"
    step: str = "fig1"
    stopping: str = "certified"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.choice("step", STEPS)
        self.choice("stopping", STOPPING)

    @property
    def smoothed_test(self) -> bool:
        return self.stopping == "smoothed"

    def check(self, game: Game) -> None:
        """Raise an InputError if the step rule does not suit the domain of the weights.

        The rules "away" and "pairwise" need a domain with atoms, such as an l1 ball.
        """
        super().check(game)
        if self.step in EXCHANGING and not isinstance(game.over, AtomicSet):
            raise InputError(
                f"step={self.step!r} needs a domain with finitely many atoms, but {game.over!r} "
                'has none; use step="line-search"'
            )

    def rounds_bound(self, game: Game, tol: float) -> float:
        """Return a proved bound on the rounds for a gap of `tol`.

        The bound is known for the step rules "fig1" and "line-search". The result is nan for all
        other rules.
        """
        # The proof needs steps that gain at least as much as the step of Fig. 1 (see the section
        # "Stopping" of docs/mathematics.md).
        is_proved = self.step in ("fig1", "line-search")
        return self.fig1_rounds_bound(game, tol) if is_proved else math.nan

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        # Fig. 1 states β for the whole simplex. The other steps take the range of the entropy over
        # the d that f allows, which is smaller and makes longer steps.
        beta, project, suffix = self.projector(game, goal.tol, whole=self.step == "fig1")
        run = CorrectiveRun(game, beta, self.step, project)
        return run.named(f"corrective ({self.step}{suffix})")


def start_pairwise(game: Game, tol: float, is_last: bool) -> CorrectiveRun:
    """Return a run of pairwise Frank–Wolfe steps as a phase of "auto".

    The run ends at the larger gap of `PAIRWISE_GAP_PER_RADIUS` if a faster phase can follow, unless
    the relaxation f is so strongly convex that a few steps suffice.
    """
    loose = PAIRWISE_GAP_PER_RADIUS * game.over.reach(game.n)
    hands_over = tol < loose and not is_last and not few_steps_suffice(game, tol)
    beta, project, _ = Corrective(step="pairwise").projector(game, loose if hands_over else tol)
    # Smoothing costs one half of the gap, so a run that hands over ends at the other half.
    target = loose / 2.0 if hands_over else 0.0
    return CorrectiveRun(game, beta, "pairwise", project, target=target)
