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

    Where an optimum uses hundreds of columns, every column that a booster finds costs it a round;
    here some twenty rounds do, each with a dense matrix of the order of the columns or of the
    examples, whichever are fewer. All stumps of a data set are never written down: where f has no
    rows in its exact form, cuts enter and leave as they are asked for, and sixty to a hundred
    rounds do, for any number of examples and of cuts; where they are many, by passes over the
    examples without a matrix.
    """

    name = "interior-point"

    def check(self, game: Game) -> None:
        """Raise an InputError where A is too large, or f needs cones that it does not know."""
        reason = unfit(game)
        if reason:
            raise InputError(reason)

    def start(self, game: Game, goal: Tolerance, clock: Clock) -> Booster:
        """Start from the centre of f."""
        run = Opening(game, goal.tol, clock).named("interior-point")
        return run
