"""Fully corrective Frank–Wolfe, a method for games over Euclidean sets such as an l2 ball."""

from __future__ import annotations

from dataclasses import dataclass

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.game.domains.euclidean import EuclideanSet
from relaxboost.game.game import Game
from relaxboost.solvers.boosters.fully_corrective_run import FullyCorrectiveRun
from relaxboost.solvers.method import Method
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance


@dataclass(frozen=True)
class FullyCorrective(Method):
    """Fully corrective Frank–Wolfe, which optimises d over a convex hull of distributions.

    The method is for games over Euclidean sets (`L2Ball`, `SquaredNorm`). The distribution d over
    the examples is the worst distribution for weights w if d attains the relaxed margin F(Aw),
    where A is the margin matrix. A round adds the worst distribution for the current w to the hull,
    and then optimises d over the hull. Over a Euclidean set the best w for d gives weight to every
    column, so the method optimises d and not the weights of single columns. For the hard margin the
    method is the minimum norm point algorithm for the rows of A.

    References
    ----------
    Jaggi (2013), Revisiting Frank–Wolfe, Sec. 2, the fully corrective variant; Wolfe (1976),
    Finding the nearest point in a polytope.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, -1], [0.5, 1]], over=rb.L2Ball(1))
    >>> rb.solve(game, tol=1e-9, method="fully-corrective").status
    'optimal'
    """

    name = "fully-corrective"

    def check(self, game: Game) -> None:
        """Raise an InputError if the domain of the weights is not a Euclidean set."""
        if not isinstance(game.over, EuclideanSet):
            raise InputError(
                f"FullyCorrective() is for games over Euclidean sets, but this game is over "
                f'{game.over!r}; use method="auto"'
            )

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        return FullyCorrectiveRun(game, goal.tol, clock).named("fully-corrective")
