"""The check of the boosters whose w is a combination of atoms, which single columns are."""

from __future__ import annotations

from relaxboost._core.errors import InputError
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.solvers.method import Method


def check_atoms(method: Method, game: Game) -> None:
    """Raise an InputError for a game over a set without atoms, or with a penalty on w."""
    if not isinstance(game.over, AtomicSet):
        raise InputError(
            f"{type(method).__name__}() is for games over L1Ball, Simplex and FullSimplex, and "
            f'this one is over {game.over!r}; use method="corrective"'
        )
