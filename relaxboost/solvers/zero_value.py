"""The phase that tests whether the value of a game is zero.

The value is zero if some distribution over the examples gives every hypothesis the edge zero.
"""

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


def unfit(game: Game) -> str:
    """Return why the value of this game cannot be tested for zero, or "" if it can.

    The test solves n + 1 equations for m unknowns, where n is the number of hypotheses and m that
    of examples. In general position these have a solution within bounds only if m > n.
    """
    form = game.linear_form
    if form is None or form.rows is not None or form.cost.size > game.m or form.cost.any():
        return "f does more than bound d"
    if not isinstance(game.over, AtomicSet) or not game.over.two_sided:
        return "its weights w have only one sign"
    if game.n is None or not game.n < game.m:
        return "it has no fewer hypotheses than examples"
    written = game.m * game.n if game.matrix.implicit else game.matrix.entries
    return "" if written <= WRITE_DOWN_LIMIT else "A is too large to write down"


class ZeroValueRun(Booster):
    """A run that looks for a distribution d with Aᵀd = 0, where A is the margin matrix.

    If there is such a d, the value of the game is zero and w = 0 is optimal. The run looks for the
    d that is nearest to the centre c of f. If f is 0 between bounds, this d is clip(c − A w + λ),
    clipped to the bounds, with the multipliers w of Aᵀd = 0 and λ of Σd = 1. These equations are
    piecewise linear, and semismooth Newton steps solve them in three to eight rounds. Each step is
    a least squares problem over the examples strictly between their bounds, which the method of
    conjugate gradients solves. If the value is positive, the multipliers diverge. The residual
    then soon stops falling, and the run ends.

    Parameters
    ----------
    game : Game
        A game for which `unfit` returns "".
    clock : Clock
    active : CombinedHypothesis
        The w that the rounds of this run show.

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
        # Stumps are written down too, because their products take three times as long otherwise.
        self._bulk = DenseBulk(matrix.toarray()) if matrix.implicit else matrix.bulk()
        self.active = active
        self.d = game.relaxation.center(game.m)
        self._unclipped = self.d
        self._last_residual = np.inf

    def advance(self, best: object) -> Booster | None:
        """Take a Newton step; return None if the last step has not reduced the residual enough.

        The residual is (Aᵀd, 1 − Σd), which is the gradient of the dual problem.
        """
        lower, upper = self._bounds
        residual = self._apply_transpose(np.clip(self._unclipped, lower, upper))
        residual[-1] += 1.0
        inside = (lower < self._unclipped) & (self._unclipped < upper)
        size = float(np.linalg.norm(residual))
        # Newton steps that converge more than halve the residual. If a step does not, the equations
        # are taken to have no solution, so that the value is positive. Without an example strictly
        # between its bounds the equations are locally constant.
        if not size <= 0.5 * self._last_residual or not inside.any():
            return None
        self._last_residual = size
        # A singular matrix gives a step that is not finite, or a residual that does not fall. The
        # tests here and in the next round find both.
        with np.errstate(all="ignore"):
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

        The step solves the normal equations of the examples whose d lies strictly between its
        bounds.
        """
        from scipy.sparse.linalg import LinearOperator, cg

        normal = LinearOperator(
            (residual.size, residual.size),
            lambda x: self._apply_transpose(inside * self._apply(x)),
            dtype=np.float64,
        )
        # More digits would not help, because the next step starts from the residual itself. A step
        # that needs more than 100 products is not worth its time.
        step, _ = cg(normal, residual, rtol=0.03, maxiter=100)
        return np.asarray(step)
