"""Fully corrective Frank–Wolfe for games over Euclidean sets, which optimises d instead of w."""

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
    """Each round optimises d over the convex hull of the worst distributions seen so far.

    The method is for games over Euclidean sets (`L2Ball`, `SquaredNorm`). Over these sets every
    best w is dense, so there are no columns to re-weigh. For f = 0 the method is the minimum norm
    point algorithm for the rows of the margin matrix A.

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
        """Raise an InputError if the domain of w is not a Euclidean set."""
        if not isinstance(game.over, EuclideanSet):
            raise InputError(
                f"FullyCorrective() is for games over Euclidean sets, and this one is over "
                f'{game.over!r}; use method="auto"'
            )

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        return FullyCorrectiveRun(game, goal.tol, clock).named("fully-corrective")
