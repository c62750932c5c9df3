"""The method that `solve` uses if the user selects "interior-point"."""

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
    """A primal-dual interior point method that uses all columns in every step.

    If an optimum uses hundreds of columns, a booster needs a round for each of them. This method
    needs ten to thirty rounds. Each round factorises a dense matrix. The order of this matrix is
    the number of columns or the number of examples, whichever is smaller.

    If the columns are stumps (cuts of a feature at a threshold), the method does not store them as
    an array. If the program of the relaxation f also has no rows, stumps enter and leave the matrix
    during the run, and the method needs thirty to a hundred rounds. If both the examples and the
    stumps are many, conjugate gradients replace the matrix by passes over the examples. The page
    Mathematics derives the equations.

    References
    ----------
    Mehrotra (1992), SIAM J. Optim. 2; Wright (1997), Primal-Dual Interior-Point Methods.
    """

    name = "interior-point"

    def check(self, game: Game) -> None:
        """Raise InputError if A is too large, or if f needs cones that are not supported."""
        reason = unfit(game)
        if reason:
            raise InputError(f'{reason}; use method="auto"')

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        """Return a run that starts at the distribution `f.center(m)` inside the domain of f."""
        return Opening(game, goal.tol).named("interior-point")
