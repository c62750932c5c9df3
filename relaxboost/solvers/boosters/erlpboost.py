"""ERLPBoost: the totally corrective update with entropic smoothing (SS09, Eq. 13)."""

from __future__ import annotations

from dataclasses import dataclass

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.solvers.boosters.frank_wolfe import CorrectiveRun
from relaxboost.solvers.boosters.starting_points import active_set
from relaxboost.solvers.hypothesis import ActiveSet
from relaxboost.solvers.method import STOPPING, SmoothedMethod
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.smoothing import Smoother
from relaxboost.solvers.stopping import Tolerance
from relaxboost.solvers.warm_start import WarmStart


@dataclass(frozen=True)
class ERLPBoost(SmoothedMethod):
    """All weights of the columns seen so far are optimised in each round, on the smoothed game.

    The weights maximise the smoothed relaxed margin, min over d of <d, Aw> + f(d) + β Σ d log d,
    over the columns that the weak learner has returned. With a hard or a soft margin this is
    Entropy Regularised LPBoost. Shalev-Shwartz & Singer (2009) prove the bound on its rounds for
    every relaxation.

    Parameters
    ----------
    beta : float, optional
        The weight of the smoothing, > 0; see `SmoothedMethod`.
    smoothing : {"entropy", "binary-entropy"}
        What is added to f; see `SmoothedMethod`.
    stopping : {"certified", "smoothed"}
        ``"smoothed"`` ends the run by Fig. 1's own test, as for `Corrective`.

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
        """Raise an InputError for a domain of w that has no atoms."""
        super().check(game)
        if not isinstance(game.over, AtomicSet):
            raise InputError(
                f"ERLPBoost() re-weighs the columns found so far, and over {game.over!r} every "
                'column has weight from the start; use method="fully-corrective"'
            )

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        beta, smoother, suffix = self.smoother(game, goal.tol)
        run = ERLPBoostRun(game, beta, smoother, goal.tol / 2.0, clock)
        return run.named(f"erlpboost{suffix}")


class ERLPBoostRun(Booster):
    """Each round adds the new column and maximises the smoothed relaxed margin D over all columns.

    The inner maximisation begins with the best step towards the new column. That step alone gains
    what Fig. 1's step would, so the bound on the rounds carries over. Pairwise steps over the
    columns seen follow, until their own Frank–Wolfe gap is half of the round's gap or, near the
    end, of the target: a closer maximum costs more than the rounds that it saves.
    """

    inner = "smoothed"
    active: ActiveSet

    def __init__(
        self, game: Game, beta: float, smoother: Smoother, target: float, clock: Clock
    ) -> None:
        self.active = active_set(game)
        self._clock = clock
        self._pairwise = CorrectiveRun(game, beta, "pairwise", smoother, self.active)
        self._target = target
        self.d = self._pairwise.d

    def warmed(self, start: WarmStart) -> Booster:
        """Begin with the weights of a start. Its d is not used, because the weights determine d."""
        self._pairwise.warmed(start)
        self.d = self._pairwise.d
        return self

    def advance(self, best: Best) -> Booster | None:
        """Add the column `best` and re-weigh all columns."""
        inner = self._pairwise
        goal = 0.5 * max(self.active.gap(inner.d, best), self._target)
        inner.towards(best)
        inner.settle(goal, self._clock)
        self.d = inner.d
        return self
