"""The phase of "auto" that tests whether the value of a game is zero.

Its games have the value zero if a feasible distribution gives every hypothesis the edge zero.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import brief
from relaxboost._core.loop import Clock
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.matrices.base import MAX_DENSE_ENTRIES
from relaxboost.matrices.bulk import DenseBulk
from relaxboost.solvers.hypothesis import CombinedHypothesis
from relaxboost.solvers.interior_point.block import diagonal_gram
from relaxboost.solvers.interior_point.factor import Factor
from relaxboost.solvers.rounds import Booster
from relaxboost.solvers.work import passes_of


def unfit(game: Game) -> str:
    """Return why the test for the value zero cannot be used, or "" if it can."""
    # The test solves n + 1 equations for the m entries of d. In general position they have a
    # solution within the bounds only if m > n.
    form = game.linear_form
    if form is None or form.rows is not None or form.cost.size > game.m or form.cost.any():
        return (
            f"it needs an f that only bounds each weight d_i, as Capped does, and f is "
            f"{brief(game.relaxation)}"
        )
    if not isinstance(game.over, AtomicSet) or not game.over.two_sided:
        return f"it is for games over L1Ball, but this game is over {game.over!r}"
    if game.n is None or not game.n < game.m:
        return "it needs fewer hypotheses than examples"
    written = game.m * game.n if game.matrix.implicit else game.matrix.entries
    return "" if written <= MAX_DENSE_ENTRIES else "A is too large to be stored as a dense array"


class ZeroValueRun(Booster):
    """A run that looks for a distribution d with Aᵀd = 0, where A is the margin matrix.

    If there is such a d within the bounds of the relaxation, the value of the game is zero, and w =
    0 is optimal. The run looks for the nearest such d to c = `f.center(m)`. This d is c − A w + λ,
    clipped to the bounds, where w are the multipliers of Aᵀd = 0, and λ is the multiplier of Σd =
    1.

    The equations Aᵀd = 0 and Σd = 1 are piecewise linear in w and λ. If they have a solution,
    semismooth Newton steps find it in three to eight rounds. Each step solves a least-squares
    problem over the examples strictly between their bounds, by conjugate gradients. If the value is
    positive, the multipliers diverge, the residual soon stops decreasing, and the run ends.

    Parameters
    ----------
    game : Game
        A game for which `unfit` returns "".
    clock : Clock
        The clock of the run.
    active : CombinedHypothesis
        The weights that the run reports in every round.

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
        # Stumps are stored as a dense array too, which makes the products three times as fast.
        self._bulk = DenseBulk(matrix.toarray()) if matrix.implicit else matrix.bulk()
        self.active = active
        self.d = game.relaxation.center(game.m)
        self._unclipped = self.d
        self._last_residual = np.inf
        # This number of products takes twice as long as a factorisation of the equations.
        n = self._bulk.n
        written = game.m * n if matrix.implicit else matrix.entries
        factor_passes = passes_of(game, n * (written / 2.0 + n**2 / 3.0))
        self._products = max(int(factor_passes), 5)

    def advance(self, best: object) -> Booster | None:
        """Take a Newton step towards a distribution d with Aᵀd = 0.

        Return None if the last step has not reduced the norm of the residual (Aᵀd, 1 − Σd) enough,
        or if this step does not lead to a valid d. Otherwise, return this booster.
        """
        lower, upper = self._bounds
        residual = self._apply_transpose(np.clip(self._unclipped, lower, upper))
        residual[-1] += 1.0
        inside = (lower < self._unclipped) & (self._unclipped < upper)
        size = float(np.linalg.norm(residual))
        # If a step leaves more than 0.8 of the residual, the equations are taken to have no
        # solution, and the value to be positive. First steps of runs that converged left up to 0.7.
        # Without an example strictly between its bounds the equations are locally constant.
        if not size <= 0.8 * self._last_residual:
            self.end(
                f"a Newton step changed the residual of A^T d = 0 from {self._last_residual:.3g} "
                f"to {size:.3g}, and the test ends if a step leaves more than 0.8 of the residual"
            )
            return None
        if not inside.any():
            self.end("all entries of d are at their bounds, so Newton steps cannot move d")
            return None
        self._last_residual = size
        # A singular matrix gives a step that is not finite, or a residual that does not fall. The
        # tests here and in the next round find both.
        with np.errstate(all="ignore"):
            self._unclipped = self._unclipped - self._apply(self._newton_step(residual, inside))
        d = np.clip(self._unclipped, lower, upper)
        if not np.isfinite(self._unclipped).all() or not d.any():
            self.end("a Newton step led to no distribution")
            return None
        self.d = self._relaxation.repair(d)
        return self

    def _apply(self, x: Vector) -> Vector:
        self.work += 1.0
        return self._bulk.margins(x[:-1]) - x[-1]

    def _apply_transpose(self, d: Vector) -> Vector:
        self._clock.check()
        self.work += 1.0
        return np.append(self._bulk.edges(d), -d.sum())

    def _newton_step(self, residual: Vector, inside: NDArray[np.bool_]) -> Vector:
        # The step solves the normal equations of a least squares problem over the examples that
        # `inside` marks, whose entry of d is strictly between its bounds.
        from scipy.sparse.linalg import LinearOperator, cg

        normal = LinearOperator(
            (residual.size, residual.size),
            lambda x: self._apply_transpose(inside * self._apply(x)),
            dtype=np.float64,
        )
        # More digits would not help, because the next step starts from the residual itself.
        step, is_short = cg(normal, residual, rtol=0.03, maxiter=self._products)
        if is_short:
            # These products have cost more than a factorisation. Nearly dependent columns slow the
            # conjugate gradients down, but not a factorisation.
            gram = diagonal_gram(self._bulk, inside.astype(np.float64))
            # A column without entries has a diagonal of 0, to which the mean is added instead.
            return Factor(gram, np.full(len(gram), gram.diagonal().mean())).solve(residual)
        return np.asarray(step)
