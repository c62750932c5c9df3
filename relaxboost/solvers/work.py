"""Predictions of work, counted in passes over the margin matrix A.

A pass is one product of A with a vector, which reads every entry of A. A prediction depends only on
the sizes of the game. Therefore the decisions of a run are the same on every machine. Seconds are
not predicted, because they differ between machines.
"""

from __future__ import annotations

from relaxboost.game.game import Game

MULTIPLICATIONS_PER_ENTRY = 25.0
"""The number of multiplications that a factorisation performs in the time in which a pass over the
margin matrix A reads one entry of A.

A pass is one product of A with a vector. The speed of the memory limits a pass, and the speed of
the processor limits a factorisation. On machines of the last ten years, this number was 10 to
50."""

LEAST_ENTRIES = 100_000.0
"""The minimum number of entries that a margin matrix A is assumed to have when the work is
predicted. A smaller matrix is treated as if it had this many.

A pass is one product of A with a vector. For a smaller A, the function calls take longer than the
product, and the time of a pass hardly depends on the number of entries."""


def entries(game: Game) -> float:
    """Return the number of entries of the margin matrix A, but at least `LEAST_ENTRIES`."""
    return max(float(game.matrix.entries), LEAST_ENTRIES)


def passes_of(game: Game, multiplications: float) -> float:
    """Return the number of passes over A that take as long as a dense factorisation.

    A pass is one product of the margin matrix A with a vector. `multiplications` is the number of
    multiplications in the factorisation.
    """
    # A small matrix counts as one with LEAST_ENTRIES entries, so the result is not too large.
    return multiplications / MULTIPLICATIONS_PER_ENTRY / entries(game)
