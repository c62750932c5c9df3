"""Cuts of a convex function and their weighted averages, with rounding error bounds.

A cut of a convex function is an affine function below it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from relaxboost._core.arrays import Matrix, Vector, Whole
from relaxboost._core.rounding import down, roundoff


class Cut(NamedTuple):
    """An affine function below a convex function R: offset + <slope, w> <= R(w) for all w.

    The inequality holds for some exact slope, each entry of which differs from `slope` by at most
    `error`.
    """

    offset: float
    slope: Vector
    error: Vector | float = 0.0


class Cuts(NamedTuple):
    """Cuts of a convex function, with one entry or row of each array for each cut."""

    offset: Vector
    """The offsets of the cuts offset + <slope, w>."""
    slope: Matrix
    """The slopes of the cuts: a row for each cut, and a column for each entry of w."""
    error: Matrix
    """A bound on the rounding error of each entry of `slope`."""

    def at(self, kept: Any) -> Cuts:
        """Return the cuts with the given indices or Boolean mask."""
        return Cuts(*(x[kept] for x in self))


def average(cuts: Cuts, weights: Vector, group: Whole) -> Cut | None:
    """Average the cuts of each group, and return the sum of these averages.

    A group contains cuts of one convex function. If every group has a positive weight, the result
    is a cut of the sum of these functions.

    The `weights` of a solver may be inexact: negative weights count as 0, and the weights of each
    group are normalised. A group without a positive weight contributes 0. The result is None if a
    weight is not finite or if no weight is positive.
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
