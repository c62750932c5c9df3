"""The method of `solve` with the name "interior-point"."""

from __future__ import annotations

from dataclasses import dataclass

from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost.game.game import Game
from relaxboost.solvers.interior_point.run import Opening, unfit
from relaxboost.solvers.method import Method
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.stopping import Tolerance


@dataclass(frozen=True)
class InteriorPoint(Method):
    """A primal-dual interior point method on all columns at once.

    If an optimum uses hundreds of columns, a booster needs a round for each of them. This method
    needs ten to thirty rounds. Each round factorises a dense matrix whose order is the number of
    columns or of examples, whichever is smaller. The stumps of a data set are not stored as an
    array. If f has no rows in its linear program, cuts enter and leave the matrix as the iterates
    require, and the method needs thirty to a hundred rounds. If examples and cuts are both many,
    conjugate gradients replace the matrix by passes over the examples. The page Mathematics derives
    the equations.

    References
    ----------
    Mehrotra (1992), SIAM J. Optim. 2; Wright (1997), Primal-Dual Interior-Point Methods.
    """

    name = "interior-point"

    def check(self, game: Game) -> None:
        """Raise InputError if A is too large, or if f needs cones that are not supported."""
        reason = unfit(game)
        if reason:
            raise InputError(reason)

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        """Return a run that starts at the distribution `f.center(m)` of the relaxation f."""
        return Opening(game, goal.tol).named("interior-point")
