"""The choice of the unknowns that are eliminated from Newton's equations."""

from __future__ import annotations

import numpy as np

from relaxboost._core.loop import seconds_left
from relaxboost.matrices.bulk import Bulk
from relaxboost.solvers.interior_point.additive import MAX_CG_ITERATIONS
from relaxboost.solvers.interior_point.block import Block, Diagonal
from relaxboost.solvers.interior_point.normal import (
    ByColumns,
    ByExamples,
    ByPasses,
    ColumnScaling,
    Normal,
)

MAX_FACTOR_ORDER = 12_000
# Such a matrix takes 1.2 GB, and its factorisation takes a minute on one core.
"""The maximum order of a factorised matrix."""
MIN_PASSES_ORDER = 2_000
# With 20 features and 20 000 examples, both take about as long for 1300 stumps, and the
# factorisation takes six times as long for 7000.
"""The number of stumps in use above which conjugate gradients replace a factorisation."""
MAX_STORED_ENTRIES = MAX_FACTOR_ORDER**2
# The array takes no more memory than the largest matrix that is factorised.
"""The maximum number of entries of a game matrix that is stored as a dense array."""


class Elimination:
    """The choice between three ways to solve Newton's equations.

    * `ByColumns` factorises a matrix of order n + 1 for the n columns.
    * `ByExamples` factorises a matrix of order m for the m examples.
    * `ByPasses` solves the equations for the columns by matrix-free conjugate gradients. The
      columns must be stumps, and the relaxation f must have only bounds on single variables.

    The class usually selects the smaller matrix of `ByColumns` and `ByExamples`. `ByPasses`
    replaces `ByColumns` for n above `MIN_PASSES_ORDER` or, if conjugate gradients have failed to
    converge, above `MAX_FACTOR_ORDER`.
    """

    def __init__(self) -> None:
        self.is_by_passes = False
        """Whether conjugate gradients solved Newton's equations in the last step."""
        self._have_passes_converged = True
        self._has_no_examples_factor = False

    def factorise(self, bulk: Bulk, block: Block, scaling: ColumnScaling) -> Normal:
        """Return Newton's equations, prepared for several right-hand sides.

        `block` is the matrix of the relaxation f, and `scaling` has the terms of the column
        weights.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the matrix is not positive definite because of rounding errors.
        TimeUp
            If the time limit of the run has been reached.
        """
        seconds_left()
        if self._prefers_examples(bulk, block, scaling):
            try:
                return ByExamples(bulk, block, scaling)
            except np.linalg.LinAlgError:
                # Rows of f may fix so much of d that no matrix for d alone has a factor.
                has_rows = not isinstance(block, Diagonal)
                if not has_rows or block.written or bulk.n > MAX_FACTOR_ORDER:
                    raise
                self._has_no_examples_factor = True
        if self._prefers_passes(bulk, block, scaling):
            return ByPasses(bulk, block, scaling)
        try:
            return ByColumns(bulk, block, scaling)
        except np.linalg.LinAlgError:
            # The inverse of K may lose digits that the Schur complement of K in d keeps.
            can_turn = block.written and not self._has_no_examples_factor
            if not can_turn or bulk.m > MAX_FACTOR_ORDER:
                raise
            return ByExamples(bulk, block, scaling)

    def note(self, normal: Normal) -> None:
        """Record whether conjugate gradients were used, and whether they converged."""
        self.is_by_passes = normal.iterations > 0
        # Equations that do not converge are solved with a matrix in the next steps.
        if normal.iterations >= MAX_CG_ITERATIONS:
            self._have_passes_converged = False

    def _prefers_examples(self, bulk: Bulk, block: Block, scaling: ColumnScaling) -> bool:
        # Weights without a curvature of their own cannot be eliminated.
        if not np.isfinite(scaling.D).all():
            return False
        # If K ties examples together, the matrix by columns needs A as an array.
        if block.written and bulk.array is None:
            return True
        return bulk.n > bulk.m and not self._has_no_examples_factor

    def _prefers_passes(self, bulk: Bulk, block: Block, scaling: ColumnScaling) -> bool:
        # Only stumps have levels.
        if bulk.levels is None or not (scaling.has_sum and isinstance(block, Diagonal)):
            return False
        least = MIN_PASSES_ORDER if self._have_passes_converged else MAX_FACTOR_ORDER
        return bulk.n > least
