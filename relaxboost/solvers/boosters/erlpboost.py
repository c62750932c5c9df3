"""ERLPBoost: each round optimises all weights on a game that the entropy smooths.

The update is Eq. 13 of Shalev-Shwartz & Singer (2009), "SS09" in this file.
"""

from __future__ import annotations

from dataclasses import dataclass

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.solvers.boosters.corrective import CorrectiveRun, active_set
from relaxboost.solvers.hypothesis import ActiveSet
from relaxboost.solvers.method import STOPPING, SmoothedMethod
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.smoothing import Smoother
from relaxboost.solvers.stopping import Tolerance
from relaxboost.solvers.warm_start import WarmStart


@dataclass(frozen=True)
class ERLPBoost(SmoothedMethod):
    """ERLPBoost, which optimises the weights of all columns seen so far in each round.

    The weights w maximise the smoothed relaxed margin, min over d of
    <d, Aw> + f(d) + β Σ d_i log d_i. Here A is the game matrix, restricted to the columns that the
    weak learner has returned, d is a distribution over the examples, f is the relaxation, and β is
    the weight of the smoothing. With a hard or a soft margin this is Entropy Regularised LPBoost.

    Shalev-Shwartz & Singer (2009) prove a bound on the number of rounds for every relaxation. The
    bound counts rounds only. Each round runs an inner maximisation, and the time of a round grows
    like 1/tol.

    Parameters
    ----------
    beta : float, optional
        The weight β of the smoothing, > 0. `SmoothedMethod` explains the default.
    smoothing : {"entropy", "binary-entropy"}
        The function that is added to f, as in `SmoothedMethod`.
    stopping : {"certified", "smoothed"}
        The test that ends a run. ``"certified"`` tests the gap between the certified bounds.
        ``"smoothed"`` tests the gap of the smoothed game, as Fig. 1 of the paper does.

    References
    ----------
    Warmuth, Glocer & Vishwanathan (2008), Entropy regularized LPBoost; Shalev-Shwartz & Singer
    (2009), Eq. 13.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, -1], [-1, 1], [1, 1]], rb.Capped(k=2))
    >>> rb.solve(game, tol=0.01, method="erlpboost").status
    'optimal'
    """

    name = "erlpboost"
    stopping: str = "certified"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.choice("stopping", STOPPING)

    @property
    def smoothed_test(self) -> bool:
        return self.stopping == "smoothed"

    def check(self, game: Game) -> None:
        """Raise an InputError if the domain of w has no atoms."""
        super().check(game)
        if not isinstance(game.over, AtomicSet):
            raise InputError(
                f"ERLPBoost() optimises the weights of the columns found so far, and over "
                f"{game.over!r} every column has weight from the start; use "
                'method="fully-corrective"'
            )

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        beta, smoother, suffix = self.smoother(game, goal.tol)
        # The smoothing may use one half of tol, so the smoothed gap must reach the other half.
        run = ERLPBoostRun(game, beta, smoother, goal.tol / 2.0, clock)
        return run.named(f"erlpboost{suffix}")


class ERLPBoostRun(Booster):
    """A run of ERLPBoost. Each round maximises the smoothed relaxed margin over all columns so far.

    A round has two parts.

    1. The run takes the best step towards the new column. This step gains at least what the step
       of SS09 Fig. 1 would gain, so the bound on the rounds of Fig. 1 holds.
    2. Pairwise steps follow, which move weight between the columns seen so far. They end when the
       Frank-Wolfe gap over these columns is at most half of the gap of the round, or tol/4 if that
       is larger. A closer maximum would take more time than the rounds that it saves.
    """

    inner = "smoothed"
    active: ActiveSet

    def __init__(
        self, game: Game, beta: float, smoother: Smoother, target: float, clock: Clock
    ) -> None:
        self.active = active_set(game)
        self._clock = clock
        # Both runs share one active set, so the pairwise steps change the weights of this run.
        self._pairwise = CorrectiveRun(game, beta, "pairwise", smoother, self.active)
        self._target = target
        self.d = self._pairwise.d

    def warmed(self, start: WarmStart) -> Booster:
        """Take the weights w of a start, and return the booster. The new d follows from w."""
        self._pairwise.warmed(start)
        self.d = self._pairwise.d
        return self

    def advance(self, best: Best) -> Booster | None:
        """Add the column `best`, optimise the weights of all columns, and return the booster."""
        inner = self._pairwise
        goal = 0.5 * max(self.active.gap(inner.d, best), self._target)
        # The first step gives the bound on the rounds, and the pairwise steps the speed.
        inner.towards(best)
        inner.settle(goal, self._clock)
        self.d = inner.d
        return self
