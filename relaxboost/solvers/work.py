"""Predicted work, counted in passes over A. A pass is one product with every entry of the matrix.

The same sizes give the same prediction on every machine. Seconds, which depend on the machine, are
not used for decisions, so that runs are reproducible.
"""

from __future__ import annotations

from relaxboost.game.game import Game

MULTIPLICATIONS_PER_ENTRY = 25.0
"""Multiplications of a dense factorisation in the time that a pass takes for one entry of A.

A pass is bound by the speed of memory, a factorisation by that of the processor; on machines of the
last ten years their ratio was between 10 and 50."""


LEAST_ENTRIES = 100_000.0
"""Entries of the smallest matrix whose pass takes longer than the calls around it."""


def entries(game: Game) -> float:
    """Return the entries of A that a pass reads, or those that its calls are worth."""
    return max(float(game.matrix.entries), LEAST_ENTRIES)


def passes_of(game: Game, multiplications: float) -> float:
    """Return how many passes over A cost as much as so many multiplications of dense algebra."""
    return multiplications / MULTIPLICATIONS_PER_ENTRY / entries(game)
