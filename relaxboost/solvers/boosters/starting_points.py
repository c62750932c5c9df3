"""The first weights w of a run, and functions that check whether a method accepts a game."""

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
    """Raise an InputError unless the game's relaxation belongs to one of the `accepted` classes.

    `purpose` says what the method is for, as in "is for HardMargin()". The error message consists
    of the name of the method, `purpose`, the relaxation of the game, and the advice to use the
    method with the name `instead`.
    """
    if not isinstance(game.relaxation, accepted):
        raise InputError(
            f"{type(method).__name__}() {purpose}, but this game has {brief(game.relaxation)}; "
            f'use method="{instead}"'
        )


def check_atoms(method: Method, game: Game) -> None:
    """Raise an InputError if the domain of the weights of a game has no atoms.

    Methods that change the weights of single columns need atoms. The error message names the class
    of `method`.
    """
    if not isinstance(game.over, AtomicSet):
        raise InputError(
            f"{type(method).__name__}() gives weights to single columns, so it is for games over "
            f"L1Ball, Simplex and FullSimplex, but this game is over {game.over!r}; "
            'use method="fully-corrective"'
        )


def check_polyhedral(caller: str, game: Game, instead: str) -> None:
    """Raise an InputError if the relaxation is not polyhedral.

    The error message begins with `caller`, such as "MLPBoost()", and recommends `instead`, such as
    `method="auto"`.
    """
    if game.linear_form is None:
        raise InputError(
            f"{caller} solves a linear program, but {brief(game.relaxation)} is not polyhedral; "
            f"use {instead}"
        )


def starting_point(game: Game) -> MovingHypothesis:
    """Return the weights of the hypotheses from which a run on a game starts.

    The returned object stores the weights together with their margins `u`. Its method `direction`
    returns the change of the margins for a step towards a hypothesis, and its method `move` takes
    the step. The docstring of `Method` contains an example.

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
    """Return the weights of the hypotheses from which a run on a game starts, as an `ActiveSet`.

    The domain of the weights must have atoms, as an l1 ball has.
    """
    assert isinstance(game.over, AtomicSet)
    return ActiveSet(game.matrix, game.over, game.relaxation.center(game.m))


class Unbegun(Booster):
    """A booster with a single round, which replaces a method that could not start.

    The round evaluates the bounds on the value for the weights of `starting_point` and the
    distribution `f.center(m)`, so that the run has a result. The method `advance` then raises the
    error that prevented the start.
    """

    inner = "lost"

    def __init__(self, game: Game, error: Exception) -> None:
        self.active = starting_point(game)
        self.d = game.relaxation.center(game.m)
        self._error = error

    def advance(self, best: object) -> Booster:
        raise self._error
