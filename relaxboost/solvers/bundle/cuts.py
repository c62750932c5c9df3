"""Cuts of a convex function, and their averages, with bounds of the rounding errors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Matrix, Vector, Whole
from relaxboost._core.rounding import down, roundoff


class Cut(NamedTuple):
    """An affine function below a convex function R: offset + <slope, w> <= R(w) for all w.

    The inequality holds for some slope that differs from this slope by at most `error`, entry by
    entry. Lower bounds that are derived from a cut take this rounding error into account.
    """

    offset: float
    slope: Vector
    error: Vector | float = 0.0


class Cuts(NamedTuple):
    """K cuts as arrays."""

    offset: Vector
    """Shape (K,)."""
    slope: Matrix
    """Shape (K, d)."""
    error: Matrix
    """Shape (K, d)."""

    def at(self, kept: Any) -> Cuts:
        """Return the cuts at the given indices, or the cuts that a mask selects."""
        return Cuts(*(x[kept] for x in self))


def average(cuts: Cuts, weights: Vector, group: Whole) -> Cut | None:
    """Return the sum over the groups of the weighted average of the cuts of the group.

    The weights are not trusted, because they come from a solver. They are made nonnegative, and
    divided by their sum in each group. None is returned if a weight is not finite or if no weight
    is positive.
    """
    # Interior point methods return tiny negative multipliers for inactive cuts.
    alpha = np.maximum(weights, 0.0)
    total = np.bincount(group, alpha)
    if not np.isfinite(total).all() or total.max() <= 0.0:
        return None
    # The sum of the weights differs from 1 by rounding, and γ includes this difference.
    γ = roundoff(alpha.size + 8)
    alpha = alpha / np.where(total > 0.0, total, 1.0)[group]
    offsets, slopes, errors = cuts
    return Cut(
        down(float(alpha @ offsets) - 2.0 * γ * float(alpha @ np.abs(offsets))),
        alpha @ slopes,
        (alpha @ errors) * (1.0 + 2.0 * γ) + 2.0 * γ * (alpha @ np.abs(slopes)),
    )
