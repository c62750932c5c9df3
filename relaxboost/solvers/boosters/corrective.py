"""The corrective update of Shalev-Shwartz & Singer (2009), Fig. 1, and its faster step rules."""

from __future__ import annotations

import math
from dataclasses import dataclass

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.solvers.boosters.frank_wolfe import EXCHANGING, STEPS, CorrectiveRun
from relaxboost.solvers.method import STOPPING, SmoothedMethod
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance


@dataclass(frozen=True)
class Corrective(SmoothedMethod):
    """SS09 Fig. 1: each round moves w by a step η towards the best column.

    The update is w_{t+1} = (1 − η_t) w_t + η_t e_j, where e_j is the atom of the best column j.
    A round adds one column to w and multiplies all other weights by the same factor.

    Parameters
    ----------
    beta : float, optional
        The weight β of the smoothing, > 0; see `SmoothedMethod`. For the step ``"fig1"`` the
        default is tol / (2 log m), as Fig. 1 states.
    smoothing : {"entropy", "binary-entropy"}
        The function that β multiplies; see `SmoothedMethod`.
    step : {"fig1", "classic", "line-search", "away", "pairwise"}
        The rule for η. ``"fig1"`` takes the step of the paper. ``"classic"`` takes 2/(t + 2) in
        round t. ``"line-search"`` takes the best step on the segment. ``"away"`` does the same,
        and moves away from the worst column in use if that direction is steeper. ``"pairwise"``
        moves weight from the worst column in use to the best column (Lacoste-Julien & Jaggi
        2015); it is the fastest rule. The last two rules drop columns again, and need a domain
        with atoms. Only ``"fig1"`` and ``"line-search"`` have a bound on the rounds.
    stopping : {"certified", "smoothed"}
        ``"smoothed"`` is the test of Fig. 1: the run ends when the gap of the smoothed problem at
        w_t is at most tol, and returns this w_t. The test does not bound the error by tol; errors
        of up to 3/2 tol occur.

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
        """Raise an InputError if the step needs atoms, and the domain of w has none."""
        super().check(game)
        if self.step in EXCHANGING and not isinstance(game.over, AtomicSet):
            raise InputError(
                f"step={self.step!r} takes weight from the worst of finitely many atoms, and "
                f'{game.over!r} has none; use step="line-search"'
            )

    def rounds_bound(self, game: Game, tol: float) -> float:
        """Return the bound of Fig. 1, or nan for a step that it does not cover."""
        # docs/mathematics.md, "Stopping": a step must gain at least what the step of Fig. 1 gains.
        return super().rounds_bound(game, tol) if self.step in ("fig1", "line-search") else math.nan

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        # Fig. 1 states β for the whole simplex. The other steps take the range of the entropy over
        # the d that f allows, which is smaller and makes longer steps.
        beta, smoother, suffix = self.smoother(game, goal.tol, whole=self.step == "fig1")
        run = CorrectiveRun(game, beta, self.step, smoother)
        return run.named(f"corrective ({self.step}{suffix})")
