"""Inequalities of a linear program: a slack and a multiplier each, whose products go to zero."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array

_KEPT, TINY = 1e-3, 1e-40
"""A slack that is computed anew keeps this part of itself, whatever rounding says, and so much in
any case: where rounding has the last word for long, ratios overflow without."""
_NEAR = 0.1
"""Products are near their centre from this part of it to its inverse."""


class Barrier:
    """Pairs (slack, multiplier) > 0 in arrays of any shape.

    Parameters
    ----------
    slack : array
        Ones where `live` is False.
    centre : float
        The product that every pair starts with.
    live : boolean array
        Where there is an inequality at all.
    """

    def __init__(self, slack: Array, centre: float, live: NDArray[np.bool_]) -> None:
        self.live = live
        self.slack = slack
        self.mult = np.where(live, centre / slack, 0.0)
        self.count = int(live.sum())

    @property
    def product(self) -> float:
        """Σ slack · multiplier."""
        return float(np.vdot(self.slack, self.mult))

    @property
    def ratio(self) -> Array:
        """multiplier / slack: the diagonal that an inequality adds to Newton's matrix."""
        ratio: Array = self.mult / self.slack
        return ratio

    def missing(self, centre: Array | float) -> Array:
        """Return what multipliers lack to products of `centre` at the present slacks."""
        return np.where(self.live, centre / self.slack - self.mult, 0.0)

    def product_after(self, step: float, dual_step: float, dslack: Array, dmult: Array) -> float:
        """Return Σ slack · multiplier after the two steps."""
        after = (self.slack + step * dslack) * (self.mult + dual_step * dmult)
        return float(after.sum(where=self.live))

    def bent(
        self, dslack: Array, dmult: Array, step: float, dual_step: float, centre: float
    ) -> Array:
        """Return what products that the two steps bring far from `centre` lack, or have beyond."""
        after = (self.slack + step * dslack) * (self.mult + dual_step * dmult)
        near = np.clip(after, _NEAR * centre, centre / _NEAR)
        return np.maximum(near - after, -centre / _NEAR)

    def longest(self, dslack: Array, dmult: Array) -> tuple[float, float]:
        """Return the steps to the boundary, of slacks and of multipliers, 1 at most."""
        return _longest(self.slack, dslack, self.live), _longest(self.mult, dmult, self.live)

    def move(self, slack: Array, dual_step: float, dmult: Array) -> None:
        """Take the new slacks, and go so far with the multipliers."""
        least = np.maximum(_KEPT * self.slack, TINY)
        self.slack = np.where(self.live, np.maximum(slack, least), 1.0)
        self.mult = np.where(self.live, self.mult + dual_step * dmult, 0.0)


def _longest(x: Array, dx: Array, live: NDArray[np.bool_]) -> float:
    falling = (dx < 0.0) & live
    if not falling.any():
        return 1.0
    return min(1.0, float((-x[falling] / dx[falling]).min()))
