"""The stopping rule of all methods. It compares the gap of a run with the requested accuracy.

The value ρ of a game lies in the bracket [lower, upper]. The gap is upper − lower.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

PATIENCE_ROUNDS = 20
"""The number of rounds without a smaller gap after which a run may count as stalled."""

PATIENCE_FACTOR = 4
"""A run may take this many times the rounds that led to its smallest gap, before it counts as
stalled."""

RESOLUTION = 1e-9
"""If the relative difference of two numbers is smaller than this, it may be a rounding error."""


@dataclass(frozen=True)
class Tolerance:
    """The gap that a user requests, as a number and as a fraction of the value ρ of the game.

    The gap is the difference upper − lower of the bounds on ρ.

    Parameters
    ----------
    tol : float
        The requested gap, > 0.
    rtol : float
        A fraction in [0, 1). A gap of this fraction of |ρ| is accepted too. If it is 0, only `tol`
        counts.
    """

    tol: float
    rtol: float = 0.0

    def allowed(self, lower: float, upper: float = math.inf) -> float:
        """Return the largest gap upper − lower at which a run with these bounds on ρ may end.

        The bound that is nearer to zero is a lower bound on |ρ|, if both bounds have the same sign.
        It replaces |ρ|, which is not known. The bracket itself then proves the relative accuracy.
        """
        if not self.rtol:
            return self.tol
        # A bracket around zero proves no bound on |ρ|, so `rtol` then allows nothing.
        return max(self.tol, self.rtol * max(lower, -upper, 0.0))


class StoppingRule:
    """The rule that decides after each round whether a run continues. Every method uses it.

    The bounds of a round are estimates, because they are computed in floating point from stored
    margins. The certified bounds cost a pass over the margin matrix. The rule therefore requests
    them only if the estimated gap is small enough.

    Parameters
    ----------
    goal : Tolerance
        The accuracy that the user requested.
    size : float
        The magnitude of the terms in the bounds. Gaps that are tiny compared with it may be
        rounding errors.
    """

    def __init__(self, goal: Tolerance, size: float) -> None:
        self.goal = goal
        self._size = size
        self._rounding = 0.0
        self._smallest_gap = math.inf
        self._progress_round = 0

    def should_certify(self, lower: float, upper: float) -> bool:
        """Return whether the estimated bounds are close enough to compute the certified bounds."""
        allowed = self.goal.allowed(lower, upper)
        # Certified gaps exceed estimated ones by roundings, which earlier certifications measured.
        return upper - lower <= max(allowed - self._rounding, 0.5 * allowed)

    def judge_certified(self, lower: float, upper: float, estimate: float) -> str:
        """Return "optimal" or "stalled" for certified bounds, or "" if the run continues.

        `estimate` is the estimated gap before the certification.
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
        """Return "stalled" if rounding errors keep the gap from shrinking. Otherwise return "".

        A run counts as stalled only if its gap is so small that it may be a rounding error. In
        addition, the gap must not have shrunk for four times the rounds that led to it, and for at
        least `PATIENCE_ROUNDS` rounds. `number` is the number of rounds of this run.
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
