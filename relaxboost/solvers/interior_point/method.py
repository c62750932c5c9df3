"""The method "interior-point" of `solve`."""

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
    """A primal-dual interior point method for games whose optimum uses many columns.

    If an optimum uses hundreds of columns, methods that add one column in each round need hundreds
    of rounds. This method needs ten to thirty. Each round factorises a dense matrix, whose order is
    the smaller of the numbers of columns and examples.

    Stumps (cuts of a feature at a threshold) are not stored as an array. If the relaxation f is
    also a linear program with only bounds on single variables, the matrix starts with some of the
    stumps, others enter during the run, and the method needs thirty to a hundred rounds. For many
    examples and stumps, matrix-free conjugate gradients replace the factorisation. The page
    Mathematics explains the method, and the docstrings in `solvers/interior_point/` have all
    equations.

    References
    ----------
    Mehrotra (1992), SIAM J. Optim. 2; Wright (1997), Primal-Dual Interior-Point Methods.

    Examples
    --------
    >>> import relaxboost as rb
    >>> game = rb.Game([[1, -1], [-1, 1], [1, 1]], rb.KLPenalty(0.1))
    >>> rb.solve(game, tol=1e-6, method=rb.solvers.InteriorPoint()).status
    'optimal'
    """

    name = "interior-point"

    def check(self, game: Game) -> None:
        """Raise an InputError if the method does not support the game.

        The number of columns must be known. Over `L2Ball` or `SquaredNorm`, the number of columns
        or of examples must be at most 12 000. If the relaxation f is not polyhedral, its cone
        program may have only half lines, second-order cones and exponential cones.
        """
        reason = unfit(game)
        if reason:
            raise InputError(f'{reason}; use method="auto"')

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        return Opening(game, goal.tol).named("interior-point")
