"""The combined hypothesis that a run starts from, and the check for domains with atoms."""

from __future__ import annotations

from relaxboost._core.errors import InputError
from relaxboost.game.domains import AtomicSet
from relaxboost.game.domains.euclidean import EuclideanSet
from relaxboost.game.game import Game
from relaxboost.solvers.dense import DensePoint
from relaxboost.solvers.hypothesis import ActiveSet, MovingHypothesis
from relaxboost.solvers.method import Method
from relaxboost.solvers.rounds import Booster


def check_atoms(method: Method, game: Game) -> None:
    """Raise an InputError if the domain of w has no atoms.

    The methods that call this function give weights to single columns of the margin matrix. Over a
    Euclidean set every best w has a weight on every column.
    """
    if not isinstance(game.over, AtomicSet):
        raise InputError(
            f"{type(method).__name__}() gives weights to single columns, so it is for games over "
            f"L1Ball, Simplex and FullSimplex, and this one is over {game.over!r}; "
            'use method="fully-corrective"'
        )


def starting_point(game: Game) -> MovingHypothesis:
    """Return the combined hypothesis that runs start from, for a game over any domain."""
    if isinstance(game.over, AtomicSet):
        return active_set(game)
    # Over a Euclidean set w is dense, and has no atoms.
    assert isinstance(game.over, EuclideanSet)
    return DensePoint(game.matrix, game.over)


def active_set(game: Game) -> ActiveSet:
    """Return the combined hypothesis that runs start from, for a game over a set with atoms."""
    assert isinstance(game.over, AtomicSet)
    return ActiveSet(game.matrix, game.over, game.relaxation.center(game.m))


class Unbegun(Booster):
    """The booster of a run whose method could not start.

    The only round of this run evaluates the start point and the center of f, so that the run has a
    bracket of the value. The update of this round raises the error that prevented the start.
    """

    inner = "lost"

    def __init__(self, game: Game, error: Exception) -> None:
        self.active = starting_point(game)
        self.d = game.relaxation.center(game.m)
        self._error = error

    def advance(self, best: object) -> Booster:
        """Raise the error that prevented the start of the method."""
        raise self._error
