"""Work predictions, counted in passes over the margin matrix A.

A pass is one product of A with a vector. Predictions depend only on the sizes of the game, so a run
decides alike on every machine.
"""

from __future__ import annotations

from relaxboost._core.blas import MULTIPLICATIONS_PER_ENTRY
from relaxboost.game.game import Game

MIN_ENTRIES = 100_000.0
# A pass over a smaller matrix takes no less time, because function calls dominate.
"""The minimum number of matrix entries in work predictions."""


def entries(game: Game) -> float:
    """Return the number of entries of a game's margin matrix, at least `MIN_ENTRIES`."""
    return max(float(game.matrix.entries), MIN_ENTRIES)


def passes_of(game: Game, multiplications: float) -> float:
    """Convert multiplications to passes over the margin matrix that take as long."""
    return multiplications / MULTIPLICATIONS_PER_ENTRY / entries(game)
