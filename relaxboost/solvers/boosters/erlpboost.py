"""ERLPBoost (Warmuth, Glocer & Vishwanathan 2008): LPBoost with entropic smoothing."""

from __future__ import annotations

from dataclasses import dataclass

from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.matrices import Best
from relaxboost.solvers.boosters.hull import prepare_reweigh
from relaxboost.solvers.boosters.newton import RestrictedRun
from relaxboost.solvers.boosters.starting_points import active_set, check_atoms
from relaxboost.solvers.hypothesis import ActiveSet
from relaxboost.solvers.method import STOPPING, SmoothedMethod
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.smoothing import Projector
from relaxboost.solvers.stopping import Tolerance
from relaxboost.solvers.warm_start import WarmStart


@dataclass(frozen=True)
class ERLPBoost(SmoothedMethod):
    """ERLPBoost, which optimises the weights of all columns found so far in each round.

    The weights w maximise the smoothed relaxed margin, which is the minimum over the distributions
    d of <d, Aw> + f(d) + β Σ d log d. Here A is the game matrix, f is the relaxation, and β is the
    weight of the smoothing. For `HardMargin` and `Capped`, this is Entropy Regularised LPBoost.
    Shalev-Shwartz & Singer (2009) bound the rounds for every relaxation.

    Parameters
    ----------
    beta : float, optional
        The weight β of the smoothing function, > 0; see `SmoothedMethod`.
    smoothing : {"entropy", "binary-entropy"}
        The smoothing function, which is multiplied by β; see `SmoothedMethod`.
    stopping : {"certified", "smoothed"}
        The stopping test. ``"certified"`` requires a certified gap of at most tol. ``"smoothed"``
        requires this of the gap of the smoothed game, and the error can then be larger than tol;
        see `Corrective`.

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
        """Raise an InputError if the domain of the weights has no atoms.

        An l1 ball, for example, has atoms.
        """
        super().check(game)
        check_atoms(self, game)

    def rounds_bound(self, game: Game, tol: float) -> float:
        # A round that optimises all weights gains at least as much as a step of Fig. 1 (SS09, after
        # Eq. 13).
        return self.fig1_rounds_bound(game, tol)

    def prepare(self) -> None:
        """Compile the kernel of the Newton steps."""
        prepare_reweigh()

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        beta, project, suffix = self.projector(game, goal.tol)
        # Smoothing costs up to tol/2, so the smoothed problem is solved to the other half.
        run = ERLPBoostRun(game, beta, project, goal.tol / 2.0, clock)
        return run.named(f"erlpboost{suffix}")


class ERLPBoostRun(Booster):
    """A run of ERLPBoost, which optimises the weights of all columns found so far in each round.

    A round first takes a line-search step towards the new column. This step increases the smoothed
    margin at least as much as the step "fig1" of `Corrective`, so the bound on the rounds of "fig1"
    holds for ERLPBoost too.

    Pairwise steps and then Newton steps over the columns found so far follow. They end when the gap
    of the smoothed game, restricted to these columns, is at most max(g, target)/2, where g is the
    smoothed gap at the start of the round. If f needs a solver, there are no Newton steps.

    Parameters
    ----------
    game : Game
        The game that the booster solves.
    beta : float
        The weight β of the smoothing, > 0.
    project : callable
        The function that maps margins to smoothed distributions.
    target : float
        The gap of the smoothed game at which the run is expected to end.
    clock : Clock
        The clock of the run, which also ends the steps within a round.
    """

    inner = "smoothed"
    active: ActiveSet

    def __init__(
        self, game: Game, beta: float, project: Projector, target: float, clock: Clock
    ) -> None:
        self.active = active_set(game)
        self._clock = clock
        self._restricted = RestrictedRun(game, beta, project, self.active)
        self._target = target
        self.d = self._restricted.d

    def warmed(self, start: WarmStart) -> Booster:
        """Start the run from the weights of a warm start, and return this booster.

        The distribution over the examples is computed from the weights.
        """
        self._restricted.warmed(start)
        self.d = self._restricted.d
        return self

    def advance(self, best: Best) -> Booster | None:
        # The gap is measured before the step, because the step changes d.
        inner = self._restricted
        goal = 0.5 * max(self.active.gap(inner.d, best), self._target)
        # This step gives the bound on the rounds, however few Newton steps follow.
        inner.towards(best)
        inner.settle(goal, self._clock)
        self.d = inner.d
        return self
