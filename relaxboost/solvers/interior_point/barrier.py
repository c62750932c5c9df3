"""Linear inequalities of the interior point method, each with a slack and a multiplier."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array

FRACTION_TO_BOUNDARY = 0.995
"""The length of a step of the interior point method, divided by the length at which a slack or a
multiplier becomes zero. 0.995 is a typical value (Wright 1997, Section 10.4)."""
SMALLEST_SLACK = float(np.finfo(np.float64).tiny) ** 0.25
"""The smallest slack that the interior point method stores. A multiplier of 1 divided by such a
slack is about 1e77, and the square of this quotient is still a finite double."""


class Barrier:
    """The inequalities of an interior point method, each with a positive slack and a multiplier.

    Parameters
    ----------
    slack : array
        The slacks at the start. An entry that is not an inequality must be 1.
    centre : float or array
        The product of slack and multiplier of every inequality at the start.
    live : boolean array
        A mask of the entries that are inequalities. The other entries, such as infinite bounds of
        variables, have the multiplier 0.
    """

    def __init__(self, slack: Array, centre: Array | float, live: NDArray[np.bool_]) -> None:
        # Other entries have a multiplier of 0, so that they add nothing to any sum.
        self.live = live
        self.slack = slack
        self.mult = np.where(live, centre / slack, 0.0)
        self.count = int(live.sum())

    @property
    def product(self) -> float:
        """The sum over all inequalities of the product of slack and multiplier."""
        return float(np.vdot(self.slack, self.mult))

    @property
    def ratio(self) -> Array:
        """The multiplier of each inequality divided by its slack."""
        return self.mult / self.slack

    def missing(self, centre: Array | float) -> Array:
        """Return the changes of the multipliers that make each product equal to `centre`.

        A product is a slack times its multiplier. The slacks are assumed to stay constant.
        """
        return np.where(self.live, centre / self.slack - self.mult, 0.0)

    def product_after(self, step: float, dual_step: float, dslack: Array, dmult: Array) -> float:
        """Return the sum of the products of slack and multiplier after a step.

        The slacks move by `step` times `dslack`, and the multipliers by `dual_step` times `dmult`.
        """
        after = (self.slack + step * dslack) * (self.mult + dual_step * dmult)
        return float(after.sum(where=self.live))

    def longest(self, dslack: Array, dmult: Array) -> tuple[float, float]:
        """Return the lengths of the longest steps that keep slacks and multipliers nonnegative.

        The first length is for a step of the slacks along `dslack`, and the second length is for a
        step of the multipliers along `dmult`. Both lengths are at most 1.
        """
        # A quotient by a tiny change is infinite, which is no limit to the step.
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            return _step_to_boundary(self.slack, dslack), _step_to_boundary(self.mult, dmult)

    def move(self, slack: Array, dual_step: float, dmult: Array) -> None:
        """Set the slacks to `slack`, and move the multipliers by `dual_step` times `dmult`.

        If rounding makes a new slack too small, it is replaced by `SMALLEST_SLACK` or by 0.5 % of
        the earlier slack, whichever is larger.
        """
        # A step leaves at least this part of a slack. A smaller slack is an effect of rounding.
        kept = (1.0 - FRACTION_TO_BOUNDARY) * self.slack
        least = np.maximum(kept, SMALLEST_SLACK)
        self.slack = np.where(self.live, np.maximum(slack, least), 1.0)
        self.mult = np.where(self.live, self.mult + dual_step * dmult, 0.0)


def _step_to_boundary(x: Array, dx: Array) -> float:
    # Entries that grow never reach zero. Those that are no inequalities do not change.
    return -float(np.where(dx < 0.0, x / dx, -1.0).max(initial=-1.0))
