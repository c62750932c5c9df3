"""Cuts of a convex function, and weighted averages of cuts, with bounds on the rounding errors.

A cut of a convex function is an affine function below it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Matrix, Vector, Whole
from relaxboost._core.rounding import down, roundoff


class Cut(NamedTuple):
    """An affine function below a convex function R: offset + <slope, w> <= R(w) for all w.

    Rounding errors make `slope` inexact. The inequality holds for some exact slope, and each entry
    of `slope` differs from the exact entry by at most `error`. Lower bounds that are derived from a
    cut take this error into account.
    """

    offset: float
    slope: Vector
    error: Vector | float = 0.0


class Cuts(NamedTuple):
    """Cuts of a convex function R(w), which are affine functions below R, stored as arrays.

    Each array has an entry or a row for each cut.
    """

    offset: Vector
    """The offsets of the cuts offset + <slope, w>, with one entry for each cut."""
    slope: Matrix
    """The slopes of the cuts offset + <slope, w>, with a row for each cut and a column for each
    weight in w."""
    error: Matrix
    """A bound on the rounding error of each entry of the array `slope`."""

    def at(self, kept: Any) -> Cuts:
        """Return the cuts with the given indices, or the cuts that a Boolean mask selects."""
        return Cuts(*(x[kept] for x in self))


def average(cuts: Cuts, weights: Vector, group: Whole) -> Cut | None:
    """Average the cuts of each group, and return the sum of these averages.

    A group contains cuts of one convex function, which are affine functions below it. If every
    group has a positive weight, the result is a cut of the sum of these convex functions.

    A solver has computed the `weights`, so they may be inexact. Negative weights are replaced by 0,
    and the weights of each group are divided by their sum. A group without a positive weight
    contributes 0. The result is None if a weight is not finite or if no weight is positive.
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
