"""When a run ends: the accuracy that was requested, and the one place that compares with it."""

from __future__ import annotations

import math
from dataclasses import dataclass

PATIENCE_ROUNDS = 20
"""Rounds without any progress that a run is allowed."""

PATIENCE_FACTOR = 4
"""A run is ended after this many times the rounds that led to its smallest gap."""

RESOLUTION = 1e-9
"""A gap below this part of the size of the bounds may be due to rounding alone."""


@dataclass(frozen=True)
class Tolerance:
    """The requested gap, and the part of |ρ| that is enough as well.

    Parameters
    ----------
    tol : float
        The requested gap, > 0.
    rtol : float
        The part of |ρ| that the gap may be, in [0, 1). Zero means that only `tol` counts.
    """

    tol: float
    rtol: float = 0.0

    def allowed(self, lower: float, upper: float = math.inf) -> float:
        """Return the largest gap at which a run with this bracket may end.

        The end of the bracket that is nearer to zero stands for |ρ|, so that the bracket itself
        proves the relative accuracy.
        """
        if not self.rtol:
            return self.tol
        return max(self.tol, self.rtol * max(lower, -upper, 0.0))


class StoppingRule:
    """Decides after each round whether the run goes on. Every method ends by this rule.

    The bounds of a round are estimates: they are computed from cached margins, in floating point.
    The rule asks for the certified bracket only when the estimated gap is small enough, because
    certification costs a pass over A.

    Parameters
    ----------
    goal : Tolerance
        The accuracy that was requested.
    size : float
        The size of the numbers that the bounds are made of, for the detection of rounding.
    """

    def __init__(self, goal: Tolerance, size: float) -> None:
        self.goal = goal
        self._size = size
        self._rounding = 0.0
        self._smallest_gap = math.inf
        self._progress_round = 0

    def should_certify(self, lower: float, upper: float) -> bool:
        """Return whether the estimated bracket is narrow enough to be worth a certification."""
        allowed = self.goal.allowed(lower, upper)
        # Certified gaps exceed estimated ones by roundings, which earlier certifications measured.
        return upper - lower <= max(allowed - self._rounding, 0.5 * allowed)

    def judge_certified(self, lower: float, upper: float, estimate: float) -> str:
        """Return "optimal" or "stalled" for a certified bracket, or "" to go on.

        `estimate` is the gap that the rounds believed in.
        """
        gap = upper - lower
        allowed = self.goal.allowed(lower, upper)
        if gap <= allowed:
            return "optimal"
        rounding = gap - estimate
        if rounding > allowed:
            return "stalled"  # however narrow the estimate becomes, the certified gap stays above
        # The next certification waits until the estimate has made up for the rounding. It waits no
        # longer, since the rounds that theorems allow are counted to the requested gap.
        self._rounding += 2.0 * rounding
        return ""

    def judge_progress(self, lower: float, upper: float, number: int) -> str:
        """Return "stalled" once rounding keeps the gap from shrinking, or "" to go on.

        `number` counts the rounds of this run. A gap at the resolution of floating-point numbers
        is given five times the rounds that led to it.
        """
        gap = upper - lower
        if gap < 0.99 * self._smallest_gap:
            self._smallest_gap = gap
            self._progress_round = number
        size = max(self._size, abs(lower), abs(upper))
        if not math.isfinite(gap) or gap > RESOLUTION * size:
            return ""
        waited = number - self._progress_round
        patience = max(PATIENCE_ROUNDS, PATIENCE_FACTOR * self._progress_round)
        return "stalled" if waited > patience else ""
