"""Predictions of work, counted in passes over the margin matrix A.

A pass is one product of A with a vector, which reads every entry of A. A prediction depends only on
the sizes of the game, so the decisions of a run are the same on every machine.
"""

from __future__ import annotations

from relaxboost._core.blas import MULTIPLICATIONS_PER_ENTRY
from relaxboost.game.game import Game

MIN_ENTRIES = 100_000.0
"""The minimum number of entries that predictions of work assume for a margin matrix. A pass over a
smaller matrix takes no less time, because the function calls take longer than the product."""


def entries(game: Game) -> float:
    """Return the number of entries of the margin matrix of a game, but at least `MIN_ENTRIES`."""
    return max(float(game.matrix.entries), MIN_ENTRIES)


def passes_of(game: Game, multiplications: float) -> float:
    """Convert a number of multiplications to a number of passes over the margin matrix of a game.

    A pass is one product of the margin matrix with a vector. The result is the predicted number of
    passes that take as long as the multiplications.
    """
    return multiplications / MULTIPLICATIONS_PER_ENTRY / entries(game)
