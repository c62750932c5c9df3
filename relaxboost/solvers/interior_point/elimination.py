"""The choice of the unknowns that are eliminated from Newton's equations in each step."""

from __future__ import annotations

import numpy as np

from relaxboost._core.loop import seconds_left
from relaxboost.matrices.bulk import Bulk
from relaxboost.solvers.interior_point.additive import MAX_CG_ITERATIONS, factor_work, passes_work
from relaxboost.solvers.interior_point.block import Block, Diagonal
from relaxboost.solvers.interior_point.normal import (
    ByColumns,
    ByExamples,
    ByPasses,
    ColumnScaling,
    Normal,
)

MAX_FACTOR_ORDER = 12_000
"""The largest order of a matrix that is factorised: 1.2 GB, and a minute on one core."""


class Elimination:
    """The choice between normal equations by columns, by examples, and by passes.

    The matrix by columns has the order n + 1, that by examples m, and the smaller one is selected.
    Columns that are cuts allow passes without a matrix, which are selected if they take less work.
    """

    def __init__(self) -> None:
        self.is_by_passes = False
        """Whether the last step used passes. Each further step is then expensive."""
        self._iterations: float = 20.0
        """The largest number of iterations of a right-hand side in the last step by passes. At the
        start it is a number that well-conditioned equations take."""
        self._has_no_examples_factor = False

    def factorise(self, bulk: Bulk, block: Block, scaling: ColumnScaling) -> Normal:
        """Return Newton's equations, ready to be solved.

        Raises
        ------
        numpy.linalg.LinAlgError
            If rounding leaves no positive definite matrix.
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
        """Remember how many iterations the equations of this step took."""
        self.is_by_passes = normal.iterations > 0
        if self.is_by_passes:
            # Equations that do not converge are solved with a matrix in the next step.
            has_converged = normal.iterations < MAX_CG_ITERATIONS
            self._iterations = normal.iterations if has_converged else np.inf

    def _prefers_examples(self, bulk: Bulk, block: Block, scaling: ColumnScaling) -> bool:
        # Weights without a curvature of their own cannot be eliminated.
        if not np.isfinite(scaling.D).all():
            return False
        # If K ties examples together, the matrix by columns needs A as an array.
        if block.written and bulk.array is None:
            return True
        return bulk.n > bulk.m and not self._has_no_examples_factor

    def _prefers_passes(self, bulk: Bulk, block: Block, scaling: ColumnScaling) -> bool:
        if bulk.levels is None or not (scaling.has_sum and isinstance(block, Diagonal)):
            return False
        # Only stumps have levels. The work of both ways is counted in entries of A that are read.
        features = len(bulk.levels.codes)
        with_matrix = factor_work(features, bulk.m, bulk.n)
        without = passes_work(features, bulk.m, self._iterations)
        return bulk.n > MAX_FACTOR_ORDER or without < with_matrix
