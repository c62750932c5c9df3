"""Linear inequalities of the interior point method, with slacks and multipliers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Array

FRACTION_TO_BOUNDARY = 0.995
# At the boundary, a slack or a multiplier becomes zero. 0.995 is a typical value (Wright 1997,
# Section 10.4).
"""The step length as a fraction of the length to the boundary."""
SMALLEST_SLACK = float(np.finfo(np.float64).tiny) ** 0.25
# A multiplier of 1 divided by this slack is about 1e77, and its square is still a finite double.
"""The smallest stored slack."""


class Barrier:
    """Inequalities, each with a positive slack and a multiplier.

    Parameters
    ----------
    slack : array
        The slacks at the start. An entry that is not an inequality must be 1.
    centre : float or array
        The initial product of slack and multiplier of each inequality.
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
        """The sum over all inequalities of slack times multiplier."""
        return float(np.vdot(self.slack, self.mult))

    @property
    def ratio(self) -> Array:
        """The multiplier of each inequality divided by its slack."""
        return self.mult / self.slack

    def missing(self, centre: Array | float) -> Array:
        """Return the multiplier changes that make each slack times multiplier equal to `centre`.

        The slacks stay constant.
        """
        return np.where(self.live, centre / self.slack - self.mult, 0.0)

    def product_after(self, step: float, dual_step: float, dslack: Array, dmult: Array) -> float:
        """Return the sum of slack times multiplier after a step.

        The slacks move by `step` times `dslack`, and the multipliers by `dual_step` times `dmult`.
        """
        after = (self.slack + step * dslack) * (self.mult + dual_step * dmult)
        return float(after.sum(where=self.live))

    def longest(self, dslack: Array, dmult: Array) -> tuple[float, float]:
        """Return the longest steps, at most 1, that keep slacks and multipliers nonnegative.

        The slacks move along `dslack`, and the multipliers along `dmult`.
        """
        # A quotient by a tiny change is infinite, which is no limit to the step.
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            return _step_to_boundary(self.slack, dslack), _step_to_boundary(self.mult, dmult)

    def move(self, slack: Array, dual_step: float, dmult: Array) -> None:
        """Set the slacks to `slack`, and move the multipliers by `dual_step` times `dmult`.

        A slack that rounding makes too small is replaced by `SMALLEST_SLACK` or by 0.5 % of the
        earlier slack, whichever is larger.
        """
        # A step leaves at least this part of a slack. A smaller slack is an effect of rounding.
        kept = (1.0 - FRACTION_TO_BOUNDARY) * self.slack
        least = np.maximum(kept, SMALLEST_SLACK)
        self.slack = np.where(self.live, np.maximum(slack, least), 1.0)
        self.mult = np.where(self.live, self.mult + dual_step * dmult, 0.0)


def _step_to_boundary(x: Array, dx: Array) -> float:
    # Entries that grow never reach zero. Those that are no inequalities do not change.
    return -float(np.where(dx < 0.0, x / dx, -1.0).max(initial=-1.0))
