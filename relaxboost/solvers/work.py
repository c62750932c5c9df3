"""Predictions of work, counted in passes over the margin matrix A.

A pass is one product of A with a vector, which reads every entry of A. A prediction depends only on
the sizes of the game, so the decisions of a run are the same on every machine.
"""

from __future__ import annotations

from relaxboost.game.game import Game

MULTIPLICATIONS_PER_ENTRY = 25.0
"""A factorisation does this number of multiplications in the time that a pass takes to read one
entry of A. The speed of the memory limits a pass, and the speed of the processor limits a
factorisation. On machines of the last ten years, this number was 10 to 50."""

LEAST_ENTRIES = 100_000.0
"""The minimum number of entries that a margin matrix is assumed to have. For a smaller matrix, the
function calls take longer than the product."""


def entries(game: Game) -> float:
    """Return the number of entries of the margin matrix A, but at least `LEAST_ENTRIES`."""
    return max(float(game.matrix.entries), LEAST_ENTRIES)


def passes_of(game: Game, multiplications: float) -> float:
    """Return the number of passes over A that take as long as this number of multiplications."""
    return multiplications / MULTIPLICATIONS_PER_ENTRY / entries(game)
