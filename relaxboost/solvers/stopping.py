"""The stopping rule of all methods: it compares a bracket with the requested accuracy.

The value ρ of a game lies in the bracket [lower, upper]. The gap is upper − lower.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

PATIENCE_ROUNDS = 20
"""The number of rounds without progress that every run may take before it counts as stalled."""

PATIENCE_FACTOR = 4
"""The patience of the rule, as a multiple of the number of rounds up to the smallest gap.

A run that then takes more rounds without a smaller gap counts as stalled."""

RESOLUTION = 1e-9
"""Two numbers with a relative difference below this may differ by rounding alone."""


@dataclass(frozen=True)
class Tolerance:
    """The gap that a user requests, in absolute terms and as a fraction of the value ρ.

    Parameters
    ----------
    tol : float
        The requested gap, > 0.
    rtol : float
        The gap may also be this fraction of |ρ|, in [0, 1). With 0 only `tol` counts.
    """

    tol: float
    rtol: float = 0.0

    def allowed(self, lower: float, upper: float = math.inf) -> float:
        """Return the largest gap upper − lower at which a run with this bracket may end.

        The end of the bracket that is nearer to zero is a lower bound on |ρ|. The method uses it
        in place of |ρ|, so the bracket itself proves the relative accuracy.
        """
        if not self.rtol:
            return self.tol
        # A bracket around zero proves no bound on |ρ|, so `rtol` then allows nothing.
        return max(self.tol, self.rtol * max(lower, -upper, 0.0))


class StoppingRule:
    """Decide after each round whether a run continues. Every method uses this rule.

    The bounds of a round are estimates: they are computed in floating point from stored margins.
    The rule requests the certified bracket only if the estimated gap is small enough, because
    certification costs a pass over the game matrix.

    Parameters
    ----------
    goal : Tolerance
        The accuracy that the user requested.
    size : float
        The size of the terms in the bounds. Rounding is judged in relation to this size.
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
        """Return "optimal" or "stalled" for a certified bracket, or "" if the run continues.

        `estimate` is the gap that the rounds had computed before the certification.
        """
        gap = upper - lower
        allowed = self.goal.allowed(lower, upper)
        if gap <= allowed:
            return "optimal"
        rounding = gap - estimate
        # If rounding alone exceeds the allowed gap, a smaller estimate does not help.
        if rounding > allowed:
            return "stalled"
        # The next certification waits until the estimate has made up for the rounding. It waits no
        # longer, since theorems count the rounds until the estimate reaches the requested gap.
        self._rounding += 2.0 * rounding
        return ""

    def judge_progress(self, lower: float, upper: float, number: int) -> str:
        """Return "stalled" if rounding keeps the gap from shrinking, or "" if the run continues.

        `number` is the number of rounds of this run. A gap that may be due to rounding gets five
        times the rounds that led to it, and at least `PATIENCE_ROUNDS` more.
        """
        gap = upper - lower
        # A reduction by less than one percent does not count: rounding causes such changes too.
        if gap < 0.99 * self._smallest_gap:
            self._smallest_gap = gap
            self._progress_round = number
        size = max(self._size, abs(lower), abs(upper))
        # A gap well above rounding may shrink after many idle rounds, so patience has no end.
        if not math.isfinite(gap) or gap > RESOLUTION * size:
            return ""
        waited = number - self._progress_round
        patience = max(PATIENCE_ROUNDS, PATIENCE_FACTOR * self._progress_round)
        return "stalled" if waited > patience else ""
