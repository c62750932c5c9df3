"""The stopping rule of all methods. It compares the gap of a run with the requested accuracy.

The value ρ of a game lies in the bracket [lower, upper]. The gap is upper − lower.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

PATIENCE_ROUNDS = 20
"""The number of rounds without progress after which a run may be treated as stalled. If a run can
still reduce the gap, it usually does so within this number of rounds."""

PATIENCE_FACTOR = 4
"""A run whose gap was last reduced in round t may be treated as stalled only after more than this
factor times t further rounds. With the factor 1, the method "auto" would end some runs that a later
phase can continue."""

RELATIVE_RESOLUTION = 1e-9
"""The relative size below which the difference of two bounds or weights may be a rounding error. A
sum of ten million terms can have such an error. Boosters with a guaranteed gap aim at a gap that is
smaller than tol by this fraction, because the certified bounds have rounding errors."""


@dataclass(frozen=True)
class Tolerance:
    """The gap that a user requests, as a number and as a fraction of the value ρ of the game.

    Parameters
    ----------
    tol : float
        The requested gap, > 0.
    rtol : float
        A fraction in [0, 1). A gap of at most this fraction of |ρ| is accepted too. If `rtol` is
        0, only `tol` is used.
    """

    tol: float
    rtol: float = 0.0

    def allowed(self, lower: float, upper: float = math.inf) -> float:
        """Return the largest gap upper − lower at which a run with these bounds on ρ may end.

        If both bounds have the same sign, the smaller of |lower| and |upper| is a lower bound on
        |ρ|, and replaces |ρ|, which is not known.
        """
        # Several modules call this method, so the result must not depend on earlier calls.
        if not self.rtol:
            return self.tol
        # A bracket that contains zero proves no bound on |ρ|, so only `tol` counts.
        return max(self.tol, self.rtol * max(lower, -upper, 0.0))

    def met_by(self, lower: float, upper: float) -> str:
        """Return which tolerance the gap meets: "tol", "rtol", or "" if it meets neither."""
        gap = upper - lower
        if gap <= self.tol:
            return "tol"
        return "rtol" if gap <= self.allowed(lower, upper) else ""


class StoppingRule:
    """The rule that decides after each round whether a run continues. Every method uses this rule.

    The bounds on the value that a round computes are estimates, because they are computed in
    floating point from stored margins. The certified bounds are valid in spite of rounding errors,
    but they cost a pass over the margin matrix. The rule therefore requests the certified bounds
    only if the gap between the estimates is small enough.

    Parameters
    ----------
    goal : Tolerance
        The accuracy that the user requested.
    size : float
        The magnitude of the terms from which the bounds are computed. A gap that is tiny compared
        with `size` may be a rounding error.
    """

    def __init__(self, goal: Tolerance, size: float) -> None:
        self.goal = goal
        self._size = size
        self._rounding = 0.0
        self._smallest_gap = math.inf
        self._progress_round = 0
        self.reason = ""
        """The reason why the rule last returned the status "stalled", as a clause for messages. It
        is "" if the rule has not returned this status."""

    def should_certify(self, lower: float, upper: float) -> bool:
        """Return whether the estimated gap is so small that the run computes certified bounds."""
        allowed = self.goal.allowed(lower, upper)
        # Certified gaps exceed estimated ones by roundings, which earlier certifications measured.
        return upper - lower <= max(allowed - self._rounding, 0.5 * allowed)

    def judge_certified(self, lower: float, upper: float, estimate: float) -> str:
        """Return the status of a run with these certified bounds, or "" if the run continues.

        The status is "optimal" if the gap upper − lower meets the requested accuracy. The gap
        between the estimated bounds, `estimate`, is smaller than this certified gap. The status is
        "stalled" if the difference between the two gaps is already larger than the requested gap,
        because a smaller estimate would then not help.
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
        """Return "stalled" if rounding errors keep the gap from shrinking. Otherwise return "".

        `number` is the number of rounds of this run. A run is stalled if two conditions hold.
        First, the gap is so small that it may be a rounding error. Second, the gap has not
        decreased for many rounds: more than `PATIENCE_ROUNDS`, and more than `PATIENCE_FACTOR`
        times the rounds before the last decrease.
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

        In this case the relaxation could prove only a poor bound for the current points. The method
        "auto" then starts the next phase, which may find points with a better proof.
        """
        size = max(self._size, abs(lower), abs(upper))
        loss = upper - lower - estimate
        # A bound that was not proved at all is infinite, and so is then the size.
        return math.isinf(loss) or loss > math.sqrt(RELATIVE_RESOLUTION) * size
