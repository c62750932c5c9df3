"""ERLPBoost: the totally corrective update with entropic smoothing (SS09, Eq. 13)."""

from __future__ import annotations

from dataclasses import dataclass

from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.solvers.boosters.frank_wolfe import CorrectiveRun
from relaxboost.solvers.boosters.starting_points import active_set, check_atoms
from relaxboost.solvers.hypothesis import ActiveSet
from relaxboost.solvers.method import STOPPING, SmoothedMethod
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.smoothing import Smoother
from relaxboost.solvers.stopping import Tolerance
from relaxboost.solvers.warm_start import WarmStart


@dataclass(frozen=True)
class ERLPBoost(SmoothedMethod):
    """Each round optimises the weights of all columns found so far, for the smoothed game.

    The weights maximise the smoothed relaxed margin, which is the minimum over d of
    <d, Aw> + f(d) + β Σ d log d. For a hard or a soft margin this is Entropy Regularised LPBoost.
    Shalev-Shwartz & Singer (2009) prove a bound on its rounds for every relaxation f.

    Parameters
    ----------
    beta : float, optional
        The weight of the smoothing, > 0; see `SmoothedMethod`.
    smoothing : {"entropy", "binary-entropy"}
        The function that β multiplies; see `SmoothedMethod`.
    stopping : {"certified", "smoothed"}
        ``"smoothed"`` is the test of SS09 Fig. 1, as for `Corrective`.

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
        check_atoms(self, game)

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        beta, smoother, suffix = self.smoother(game, goal.tol)
        # Smoothing costs up to tol/2, so the smoothed problem is solved to the other half.
        run = ERLPBoostRun(game, beta, smoother, goal.tol / 2.0, clock)
        return run.named(f"erlpboost{suffix}")


class ERLPBoostRun(Booster):
    """Each round adds a column, and maximises the smoothed relaxed margin over all columns so far.

    The maximisation begins with the best step towards the new column. This step gains at least as
    much as the step of SS09 Fig. 1, so the bound on the rounds of Fig. 1 holds. Pairwise steps over
    the columns found so far follow. They end when their own Frank–Wolfe gap is half of the gap of
    the round, or half of `target` if the gap of the round is smaller. A closer maximum costs more
    time than the rounds that it saves.

    Parameters
    ----------
    game : Game
    beta : float
        The weight β of the smoothing, > 0.
    smoother : Smoother
        The object that finds the minimising d.
    target : float
        The gap of the smoothed problem at which the run is expected to end.
    clock : Clock
        The clock of the run, which ends the pairwise steps when time is up.
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
        """Load the w of a start. Its d is not used, because w determines d."""
        self._pairwise.warmed(start)
        self.d = self._pairwise.d
        return self

    def advance(self, best: Best) -> Booster | None:
        """Add the column `best`, and optimise the weights of all columns."""
        # The gap is measured before the step, because the step changes d.
        inner = self._pairwise
        goal = 0.5 * max(self.active.gap(inner.d, best), self._target)
        # This step gives the bound on the rounds, however few pairwise steps follow.
        inner.towards(best)
        inner.settle(goal, self._clock)
        self.d = inner.d
        return self
