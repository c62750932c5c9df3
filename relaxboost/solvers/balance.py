"""Whether some distribution leaves every hypothesis without an edge, by Newton's method."""

from __future__ import annotations

import numpy as np

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.matrices.base import WRITE_DOWN_LIMIT
from relaxboost.matrices.bulk import DenseBulk
from relaxboost.solvers.rounds import Booster

_EXACT, _PRODUCTS = 0.03, 100
"""Of conjugate gradients: the part of the residual that a step leaves, and how many they may be."""
_FALLS = 0.8
"""The part that a step leaves where it converges. No game of ρ > 0 was seen to take four."""


class Balance(Booster):
    """The d nearest to the centre with Aᵀd = 0: where there is one, w = 0 is optimal.

    Where f is 0 between bounds, that d is clip(c − A w + λ), with the multipliers (w, λ) of
    Aᵀd = 0 and Σd = 1. Those equations are piecewise linear, and Newton's method meets them in
    three to eight steps; a step is a least squares problem over the examples that are strictly
    between their bounds, and takes ten to thirty products with A, of whatever size it is. Where
    ρ > 0 the multipliers run away: what is left of the equations soon stops to fall, and
    `run` goes on.

    Parameters
    ----------
    game : Game
        One that `may_balance`.
    clock : Clock
    run : Booster
        What goes on where there is none.

    References
    ----------
    Qi & Sun (1993), Math. Programming 58, the semismooth Newton method.
    """

    inner = "balance"

    def __init__(self, game: Game, clock: Clock, run: Booster) -> None:
        form = game.linear_form
        assert form is not None
        self._game, self._clock, self._run = game, clock, run
        self._lower, self._upper = form.lower, form.upper
        # Written down, also where it is made of stumps: they take three times as long to multiply.
        matrix = game.matrix
        self._bulk = DenseBulk(matrix.toarray()) if matrix.implicit else matrix.bulk()
        self.active = run.active
        self._free = game.relaxation.center(game.m)  # d before it is clipped
        self._left = np.inf

    def _times(self, x: Vector) -> Vector:
        """Return A w − λ."""
        return self._bulk.margins(x[:-1]) - x[-1]

    def _transposed(self, d: Vector) -> Vector:
        """Return (Aᵀd, −Σd)."""
        self._clock.check()
        return np.append(self._bulk.edges(d), -d.sum())

    def advance(self, best: object) -> Booster | None:
        """Take a step; give up where what is left of the equations has not fallen enough.

        Their residual is (Aᵀd, 1 − Σd), which is the gradient of the dual problem.
        """
        from scipy.sparse.linalg import LinearOperator, cg

        residual = self._transposed(np.clip(self._free, self._lower, self._upper))
        residual[-1] += 1.0
        inside = (self._lower < self._free) & (self._free < self._upper)
        left, size = float(np.linalg.norm(residual)), residual.size
        if not left <= _FALLS * self._left or not inside.any():
            return self._run
        self._left = left
        normal = LinearOperator(
            (size, size), lambda x: self._transposed(inside * self._times(x)), dtype=np.float64
        )
        with np.errstate(all="ignore"):  # a singular matrix: then nothing is finite, or falls
            step, _ = cg(normal, residual, rtol=_EXACT, maxiter=_PRODUCTS)
            self._free = self._free - self._times(step)
        d = np.clip(self._free, self._lower, self._upper)
        if not np.isfinite(self._free).all() or not d.any():
            return self._run
        self.d = self._game.relaxation.repair(d)
        return self


def may_balance(game: Game) -> bool:
    """Whether f is 0 between bounds, w has either sign, and examples are more than columns.

    In general position n + 1 equations in m unknowns have a solution inside the bounds only so.
    """
    form, over, matrix, m = game.linear_form, game.over, game.matrix, game.m
    if form is None or form.rows is not None or form.cost.size > m or form.cost.any():
        return False
    if not isinstance(over, AtomicSet) or not over.two_sided or not 0 < (matrix.n or 0) < m:
        return False
    return (m * (matrix.n or 0) if matrix.implicit else matrix.entries) <= WRITE_DOWN_LIMIT
