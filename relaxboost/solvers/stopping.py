"""The stopping rule of all methods, which compares the gap with the requested accuracy.

The value ρ of a game lies in the bracket [lower, upper]. The gap is upper − lower.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

PATIENCE_ROUNDS = 20
# A run that can still reduce the gap usually does so within this number of rounds.
"""The minimum number of rounds without progress in a stalled run."""

PATIENCE_FACTOR = 4
# With the factor 1, the method "auto" would end some runs that a later phase can continue.
"""The minimum rounds without progress of a stalled run, as a multiple of the rounds before them."""

RELATIVE_RESOLUTION = 1e-9
# A sum of ten million terms can have such an error.
"""The relative difference of two bounds or weights that may be a rounding error.

Boosters with a guaranteed gap aim at a gap that is smaller than tol by this fraction, because
certified bounds have rounding errors.
"""


@dataclass(frozen=True)
class Tolerance:
    """The requested gap, as a number and as a fraction of the value ρ.

    Parameters
    ----------
    tol : float
        The requested gap, > 0.
    rtol : float
        The accepted gap as a fraction of |ρ|, in [0, 1). If it is 0, only `tol` is used.
    """

    tol: float
    rtol: float = 0.0

    def allowed(self, lower: float, upper: float = math.inf) -> float:
        """Return the largest gap at which a run with these bounds may end.

        If both bounds have the same sign, min(|lower|, |upper|) replaces the unknown |ρ|.
        """
        # Several modules call this method, so the result must not depend on earlier calls.
        if not self.rtol:
            return self.tol
        # A bracket that contains zero proves no bound on |ρ|, so only `tol` counts.
        return max(self.tol, self.rtol * max(lower, -upper, 0.0))

    def met_by(self, lower: float, upper: float) -> str:
        """Return the tolerance that the gap meets: "tol", "rtol", or "" for neither."""
        gap = upper - lower
        if gap <= self.tol:
            return "tol"
        return "rtol" if gap <= self.allowed(lower, upper) else ""


class StoppingRule:
    """The rule that decides after each round whether a run continues.

    A round only estimates the bounds, in floating point from stored margins. Certified bounds are
    valid in spite of rounding errors, but cost a pass over the margin matrix. The rule requests
    them only if the estimated gap is small enough.

    Parameters
    ----------
    goal : Tolerance
        The requested accuracy.
    size : float
        The magnitude of the terms of the bounds. A gap that is tiny compared with `size` may be a
        rounding error.
    """

    def __init__(self, goal: Tolerance, size: float) -> None:
        self.goal = goal
        self._size = size
        self._rounding = 0.0
        self._smallest_gap = math.inf
        self._progress_round = 0
        self.reason = ""
        """The reason for the last status "stalled", as a clause for messages, or ""."""

    def should_certify(self, lower: float, upper: float) -> bool:
        """Return whether the estimated gap is small enough to compute certified bounds."""
        allowed = self.goal.allowed(lower, upper)
        # Certified gaps exceed estimated ones by roundings, which earlier certifications measured.
        return upper - lower <= max(allowed - self._rounding, 0.5 * allowed)

    def judge_certified(self, lower: float, upper: float, estimate: float) -> str:
        """Return the status of a run with these certified bounds, or "" to continue.

        The status is "optimal" if the certified gap meets the requested accuracy. It is "stalled"
        if the certified gap exceeds the estimated gap, `estimate`, by more than the requested gap,
        because a smaller estimate would not help.
        """
        if self.goal.met_by(lower, upper):
            return "optimal"
        rounding = upper - lower - estimate
        # If this difference alone exceeds the allowed gap, a smaller estimate does not help.
        if rounding > self.goal.allowed(lower, upper):
            self.reason = f"its certified bounds are wider than the computed ones by {rounding:.3g}"
            return "stalled"
        # The next certification waits until the estimate is below the allowed gap by this rounding.
        # A longer wait would contradict theorems on the rounds until the estimate reaches the gap.
        self._rounding += 2.0 * rounding
        return ""

    def judge_progress(self, lower: float, upper: float, number: int) -> str:
        """Return "stalled" if rounding errors keep the gap from shrinking, and "" otherwise.

        `number` is the number of rounds of this run. A stalled run has a gap that may be a rounding
        error, and has not reduced it for more than `PATIENCE_ROUNDS` rounds and more than
        `PATIENCE_FACTOR` times the rounds before.
        """
        gap = upper - lower
        # A reduction by less than one percent does not count: rounding causes such changes too.
        if gap < 0.99 * self._smallest_gap:
            self._smallest_gap = gap
            self._progress_round = number
        size = max(self._size, abs(lower), abs(upper))
        # A gap well above rounding may still shrink after many rounds, so the run continues.
        if not math.isfinite(gap) or gap > RELATIVE_RESOLUTION * size:
            return ""
        waited = number - self._progress_round
        patience = max(PATIENCE_ROUNDS, PATIENCE_FACTOR * self._progress_round)
        if waited <= patience:
            return ""
        self.reason = f"rounding has prevented a smaller gap for {waited} rounds"
        return "stalled"

    def is_proof_lost(self, lower: float, upper: float, estimate: float) -> bool:
        """Return whether the certified gap exceeds the estimated gap by more than rounding errors.

        If so, the relaxation has proved only a poor bound for the current points. The next phase of
        "auto" may find points with a better proof.
        """
        size = max(self._size, abs(lower), abs(upper))
        loss = upper - lower - estimate
        # A bound that was not proved at all is infinite, and so is then the size.
        return math.isinf(loss) or loss > math.sqrt(RELATIVE_RESOLUTION) * size
