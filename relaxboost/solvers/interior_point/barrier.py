"""Inequalities of a linear program: a slack and a multiplier each, whose products go to zero."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array

FRACTION_TO_BOUNDARY = 0.995
"""How much of the step to the boundary is taken; the usual fraction (Wright 1997, Section 10.4)."""
SMALLEST_SLACK = float(np.finfo(np.float64).tiny) ** 0.25
"""A slack is never smaller, so that the square of a multiplier over a slack is a finite double."""


class Barrier:
    """Pairs (slack, multiplier) > 0 in arrays of any shape.

    Parameters
    ----------
    slack : array
        Ones where `live` is False.
    centre : float
        The product that every pair starts with.
    live : boolean array
        True if the entry stands for an inequality. Other entries, such as infinite bounds, are
        never touched.
    """

    def __init__(self, slack: Array, centre: float, live: NDArray[np.bool_]) -> None:
        self.live = live
        self.slack = slack
        self.mult = np.where(live, centre / slack, 0.0)
        self.count = int(live.sum())

    @property
    def product(self) -> float:
        """The complementarity Σ slack · multiplier."""
        return float(np.vdot(self.slack, self.mult))

    @property
    def ratio(self) -> Array:
        """multiplier / slack, the diagonal that the inequalities add to Newton's matrix."""
        ratio: Array = self.mult / self.slack
        return ratio

    def missing(self, centre: Array | float) -> Array:
        """Return the change of the multipliers that makes each product `centre` at fixed slacks."""
        return np.where(self.live, centre / self.slack - self.mult, 0.0)

    def product_after(self, step: float, dual_step: float, dslack: Array, dmult: Array) -> float:
        """Return the complementarity after a step in the slacks and a step in the multipliers."""
        after = (self.slack + step * dslack) * (self.mult + dual_step * dmult)
        return float(after.sum(where=self.live))

    def outliers(
        self, dslack: Array, dmult: Array, step: float, dual_step: float, centre: float
    ) -> Array:
        """Return what to add to products that two steps bring far from `centre`.

        Products between a tenth of it and ten times it are near (Gondzio 1996, β = 0.1). Large
        ones are lowered by ten times `centre` at most.
        """
        after = (self.slack + step * dslack) * (self.mult + dual_step * dmult)
        near = np.clip(after, 0.1 * centre, 10.0 * centre)
        return np.maximum(near - after, -10.0 * centre)

    def longest(self, dslack: Array, dmult: Array) -> tuple[float, float]:
        """Return the steps to the boundary, of slacks and of multipliers, each at most 1."""
        slack_step = _step_to_boundary(self.slack, dslack, self.live)
        return slack_step, _step_to_boundary(self.mult, dmult, self.live)

    def move(self, slack: Array, dual_step: float, dmult: Array) -> None:
        """Replace the slacks by recomputed ones, and move the multipliers along `dmult`."""
        # A step keeps 1 − FRACTION_TO_BOUNDARY of each slack. Less is due to rounding.
        kept = (1.0 - FRACTION_TO_BOUNDARY) * self.slack
        least = np.maximum(kept, SMALLEST_SLACK)
        self.slack = np.where(self.live, np.maximum(slack, least), 1.0)
        self.mult = np.where(self.live, self.mult + dual_step * dmult, 0.0)


def _step_to_boundary(x: Array, dx: Array, live: NDArray[np.bool_]) -> float:
    """Return the largest step of at most 1 with x + step · dx >= 0."""
    falling = (dx < 0.0) & live
    if not falling.any():
        return 1.0
    return min(1.0, float((-x[falling] / dx[falling]).min()))
