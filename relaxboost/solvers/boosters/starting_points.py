"""The first weights of a run, and checks whether a method accepts a game."""

from __future__ import annotations

from relaxboost._core.errors import InputError, brief
from relaxboost.game.domains import AtomicSet
from relaxboost.game.domains.euclidean import EuclideanSet
from relaxboost.game.game import Game
from relaxboost.solvers.dense import DensePoint
from relaxboost.solvers.hypothesis import ActiveSet, MovingHypothesis
from relaxboost.solvers.method import Method
from relaxboost.solvers.rounds import Booster


def check_relaxation(
    method: Method, game: Game, accepted: tuple[type, ...], purpose: str, instead: str = "auto"
) -> None:
    """Raise an InputError unless the game's relaxation is of an `accepted` class.

    `purpose` says what the method is for, as in "is for HardMargin()". The message recommends the
    method `instead`.
    """
    if not isinstance(game.relaxation, accepted):
        raise InputError(
            f"{type(method).__name__}() {purpose}, but this game has {brief(game.relaxation)}; "
            f'use method="{instead}"'
        )


def check_atoms(method: Method, game: Game) -> None:
    """Raise an InputError if the domain of a game has no atoms.

    Methods that change the weights of single columns need atoms.
    """
    if not isinstance(game.over, AtomicSet):
        raise InputError(
            f"{type(method).__name__}() gives weights to single columns, so it is for games over "
            f"L1Ball, Simplex and FullSimplex, but this game is over {game.over!r}; "
            'use method="fully-corrective"'
        )


def check_polyhedral(caller: str, game: Game, instead: str) -> None:
    """Raise an InputError if the relaxation is not polyhedral.

    The message starts with `caller`, such as "MLPBoost()", and recommends `instead`, such as
    `method="auto"`.
    """
    if game.linear_form is None:
        raise InputError(
            f"{caller} solves a linear program, but {brief(game.relaxation)} is not polyhedral; "
            f"use {instead}"
        )


def starting_point(game: Game) -> MovingHypothesis:
    """Return the hypothesis weights from which a run on a game starts.

    The result stores the weights with their margins `u`. Its method `direction` returns the margin
    change of a step towards a hypothesis, and `move` takes the step. See the example of `Method`.

    Parameters
    ----------
    game : Game
        The game that the run solves.
    """
    if isinstance(game.over, AtomicSet):
        return active_set(game)
    # Over a Euclidean set w is dense, and has no atoms.
    assert isinstance(game.over, EuclideanSet)
    return DensePoint(game.matrix, game.over)


def active_set(game: Game) -> ActiveSet:
    """Return the hypothesis weights from which a run on a game starts, as an `ActiveSet`.

    The domain of the weights must have atoms, as an l1 ball has.
    """
    assert isinstance(game.over, AtomicSet)
    return ActiveSet(game.matrix, game.over, game.relaxation.center(game.m))


class Unbegun(Booster):
    """A one-round booster in place of a method that could not start.

    Its round gives bounds for `starting_point` and `f.center(m)`. `advance` then raises the error
    of the method.
    """

    inner = "lost"

    def __init__(self, game: Game, error: Exception) -> None:
        self.active = starting_point(game)
        self.d = game.relaxation.center(game.m)
        self._error = error

    def advance(self, best: object) -> Booster:
        raise self._error
