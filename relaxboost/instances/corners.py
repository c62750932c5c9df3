"""Small games on which solvers tend to fail.

Their matrices have one row, one column, ties or opposite rows, or their caps are tight. The tests
compare solvers with the closed-form optima.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Corner(NamedTuple):
    """A small matrix, with the relaxations and domains of its games."""

    rows: Any
    games: tuple[tuple[str, str], ...]
    """The games on this matrix, as pairs of texts: the relaxation and the domain."""

    @property
    def A(self) -> NDArray[np.float64]:
        """The margin matrix, with a row for each example and a column for each hypothesis."""
        return np.array(self.rows, dtype=np.float64)


_BALL = "L1Ball(1)"
_HARD = ("HardMargin()", _BALL)
_SIGNED = ("HardMargin()", "Simplex()")
_FLAT = ("Capped(fraction=1)", _BALL)
"""A game with the cap 1/m on the weights, so that only the uniform distribution is feasible."""
_CAPPED = ("Capped(k=3/2)", _BALL)
_NORM = ("NormPenalty(inf, 1/2)", _BALL)
_SUM = ("Capped(k=3/2) + NormPenalty(inf, 1/2)", _BALL)
_ENTROPY = ("KLPenalty(1/10)", _BALL)
_SQUARE = ("HardMargin()", "SquaredNorm(1)")
_ALL = (_HARD, _SIGNED, _FLAT, _CAPPED, _NORM, _SUM, _ENTROPY, _SQUARE)

_REGULAR = 1 - 2 * np.eye(4)
"""A Hadamard matrix of order 4 whose rows all sum to 2."""

CORNERS: dict[str, Corner] = {
    "one-by-one": Corner([[-0.5]], (_HARD, _SIGNED, _FLAT, _NORM, _ENTROPY)),
    "single-row": Corner([[0.5, -0.75, 0.25]], (_HARD, _SIGNED, _FLAT)),
    "single-column": Corner([[0.5], [0.25], [1.0]], _ALL),
    "single-column-with-ties": Corner(
        [[0], [1], [1], [1]], (_HARD, ("Capped(k=2)", _BALL), ("Capped(k=3)", _BALL), _FLAT)
    ),
    "single-column-of-both-signs": Corner([[0.5], [-0.25]], (_HARD, _SIGNED, _FLAT, _CAPPED)),
    "matching-pennies": Corner([[1, -1], [-1, 1]], _ALL),
    "rock-paper-scissors": Corner([[0, 1, -1], [-1, 0, 1], [1, -1, 0]], (_HARD, _SIGNED, _CAPPED)),
    "identity-2": Corner(np.eye(2), _ALL),
    "identity-3": Corner(np.eye(3), (*_ALL, ("Caps([1/6, 1/3, 1/2])", _BALL))),
    "identity-7": Corner(np.eye(7), (_HARD, _FLAT, ("Capped(k=5)", _BALL))),
    "hadamard-4": Corner(_REGULAR, (_HARD, _FLAT, ("Capped(k=2)", _BALL))),
    "hadamard-16": Corner(np.kron(_REGULAR, _REGULAR), (_HARD, ("Capped(k=7)", _BALL))),
    "opposite-rows": Corner([[0.5, -1], [-0.5, 1]], (_HARD, _SIGNED, _FLAT, _CAPPED)),
    "opposite-rows-among-others": Corner(
        [[1, 0.5], [-1, -0.5], [1, 1], [0.5, 1]], (_HARD, _CAPPED, _FLAT, ("Capped(k=3)", _BALL))
    ),
    "opposite-columns": Corner([[0.5, -0.5], [0.25, -0.25]], (_HARD, _SIGNED, _FLAT)),
    "all-ones": Corner(np.ones((3, 4)), _ALL),
    "all-minus-ones": Corner(-np.ones((3, 2)), (_HARD, _SIGNED, _FLAT)),
    "all-zeros": Corner(np.zeros((3, 2)), (_HARD, _SIGNED, _FLAT, _NORM)),
    "equal-rows": Corner([[0.5, -1, 0.25]] * 4, (_HARD, _FLAT, ("Capped(k=2)", _BALL))),
    "caps-that-sum-to-one": Corner(
        [[1, -0.5], [-0.25, 1], [0.5, 0.5]],
        (("Caps([1/2, 1/3, 1/6])", _BALL), ("GroupCaps([0, 0, 1], [2/3, 1/3])", _BALL)),
    ),
    "ties-at-the-cap": Corner(
        [[1, 0], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [0, 1]],
        (_HARD, ("Capped(k=2)", _BALL), ("Capped(k=3)", _BALL), ("Capped(k=7/2)", _BALL)),
    ),
    "tiny-entries": Corner([[1e-300, 0], [0, 1e-300]], (_HARD, _FLAT)),
    "tiny-and-large-entries": Corner([[1, -1e-12], [-1, 1e-12], [1e-12, 1]], (_HARD, _CAPPED)),
}
"""The built-in small games, by matrix name."""
