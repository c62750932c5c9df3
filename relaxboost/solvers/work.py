"""Predicted work, counted in passes over the game matrix A.

A pass is one product of a vector with every entry of A. A prediction depends on the sizes of the
game alone, so every machine takes the same decisions. Seconds are never predicted, because they
differ from machine to machine.
"""

from __future__ import annotations

from relaxboost.game.game import Game

MULTIPLICATIONS_PER_ENTRY = 25.0
"""The number of multiplications in a dense factorisation that take as long as one entry in a pass.

The speed of memory limits a pass, and the speed of the processor limits a factorisation. On
machines of the last ten years this ratio was between 10 and 50."""

LEAST_ENTRIES = 100_000.0
"""The number of entries of A below which the time of a pass no longer falls.

The overhead of the function calls then exceeds the time of the product."""


def entries(game: Game) -> float:
    """Return the number of entries of A that a pass counts, at least `LEAST_ENTRIES`."""
    return max(float(game.matrix.entries), LEAST_ENTRIES)


def passes_of(game: Game, multiplications: float) -> float:
    """Return the number of passes over A that take as long as these dense multiplications."""
    # A small matrix counts as one with LEAST_ENTRIES entries, so the result is never inflated.
    return multiplications / MULTIPLICATIONS_PER_ENTRY / entries(game)
