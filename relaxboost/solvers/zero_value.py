"""Whether the value of a game is zero: whether some distribution leaves no hypothesis an edge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.matrices.base import WRITE_DOWN_LIMIT
from relaxboost.matrices.bulk import DenseBulk
from relaxboost.solvers.hypothesis import CombinedHypothesis
from relaxboost.solvers.rounds import Booster

RESIDUAL_LEFT = 0.03
"""The part of a residual that conjugate gradients leave.

Newton's method needs no more digits, since the next step begins with the residual itself."""

MAX_PRODUCTS = 100
"""Products with A and its transpose in one Newton step."""

LEAST_FALL = 0.8
"""The part of the residual that a Newton step may leave.

If a step leaves more, the equations have no solution, and the value is positive."""


def unfit(game: Game) -> str:
    """Return why the value of this game cannot be tested for zero, "" where it can.

    In general position n + 1 equations in m unknowns have a solution within bounds only if there
    are more examples than hypotheses.
    """
    form = game.linear_form
    if form is None or form.rows is not None or form.cost.size > game.m or form.cost.any():
        return "f does more than bound d"
    if not isinstance(game.over, AtomicSet) or not game.over.two_sided:
        return "w has one sign only"
    if game.n is None or not game.n < game.m:
        return "hypotheses are not fewer than examples"
    written = game.m * game.n if game.matrix.implicit else game.matrix.entries
    return "" if written <= WRITE_DOWN_LIMIT else "A is too large to write down"


class ZeroValueRun(Booster):
    """Look for the d nearest to the centre c with Aᵀd = 0. If there is one, w = 0 is optimal.

    Where f is 0 between bounds, that d is clip(c − A w + λ) with the multipliers (w, λ) of Aᵀd = 0
    and Σd = 1. These equations are piecewise linear, and semismooth Newton steps solve them in
    three to eight rounds. Each step is a least squares problem over the examples strictly between
    their bounds, for conjugate gradients. If the value is positive the multipliers diverge: the
    residual soon stops to fall, and the run ends.

    Parameters
    ----------
    game : Game
        A game for which `unfit` returns "".
    clock : Clock
    active : CombinedHypothesis
        The w that is shown meanwhile.

    References
    ----------
    Qi & Sun (1993), A nonsmooth version of Newton's method, Mathematical Programming 58.
    """

    inner = "balance"

    def __init__(self, game: Game, clock: Clock, active: CombinedHypothesis) -> None:
        form = game.linear_form
        assert form is not None
        self._clock = clock
        self._relaxation = game.relaxation
        self._bounds = form.lower, form.upper
        matrix = game.matrix
        # Stumps are written down too, since they take three times as long to multiply.
        self._bulk = DenseBulk(matrix.toarray()) if matrix.implicit else matrix.bulk()
        self.active = active
        self.d = game.relaxation.center(game.m)
        self._unclipped = self.d
        self._last_residual = np.inf

    def advance(self, best: object) -> Booster | None:
        """Take a Newton step; return None once the residual has not fallen enough.

        The residual is (Aᵀd, 1 − Σd), the gradient of the dual problem.
        """
        lower, upper = self._bounds
        residual = self._apply_transpose(np.clip(self._unclipped, lower, upper))
        residual[-1] += 1.0
        inside = (lower < self._unclipped) & (self._unclipped < upper)
        size = float(np.linalg.norm(residual))
        if not size <= LEAST_FALL * self._last_residual or not inside.any():
            return None
        self._last_residual = size
        with np.errstate(all="ignore"):  # of a singular matrix nothing is finite, or nothing falls
            self._unclipped = self._unclipped - self._apply(self._newton_step(residual, inside))
        d = np.clip(self._unclipped, lower, upper)
        if not np.isfinite(self._unclipped).all() or not d.any():
            return None
        self.d = self._relaxation.repair(d)
        return self

    def _apply(self, x: Vector) -> Vector:
        """Return A w − λ for x = (w, λ)."""
        return self._bulk.margins(x[:-1]) - x[-1]

    def _apply_transpose(self, d: Vector) -> Vector:
        """Return (Aᵀd, −Σd)."""
        self._clock.check()
        self.work += 1.0
        return np.append(self._bulk.edges(d), -d.sum())

    def _newton_step(self, residual: Vector, inside: NDArray[np.bool_]) -> Vector:
        """Return the Newton step, which conjugate gradients find approximately.

        It solves the normal equations of the examples whose d lies strictly between its bounds.
        """
        from scipy.sparse.linalg import LinearOperator, cg

        normal = LinearOperator(
            (residual.size, residual.size),
            lambda x: self._apply_transpose(inside * self._apply(x)),
            dtype=np.float64,
        )
        step, _ = cg(normal, residual, rtol=RESIDUAL_LEFT, maxiter=MAX_PRODUCTS)
        return np.asarray(step)
