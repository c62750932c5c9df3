"""The method `solve` knows as "interior-point"."""

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
    needs ten to thirty rounds, each with a dense matrix of the order of the columns or of the
    examples, whichever are fewer. The stumps of a data set are never written down: if f has no
    rows in its exact form, cuts are put into play and taken out as the iterates require, and thirty
    to a hundred rounds are enough for any number of examples and of cuts. If both are many,
    conjugate gradients with passes over the examples replace the matrix. The page Mathematics
    derives the equations.

    References
    ----------
    Mehrotra (1992), SIAM J. Optim. 2; Wright (1997), Primal-Dual Interior-Point Methods.
    """

    name = "interior-point"

    def check(self, game: Game) -> None:
        """Raise InputError if A is too large, or if f needs cones that the method does not have."""
        reason = unfit(game)
        if reason:
            raise InputError(reason)

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        """Start from the centre of f."""
        run = Opening(game, goal.tol).named("interior-point")
        return run
