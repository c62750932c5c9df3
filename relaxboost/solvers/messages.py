"""The sentences of `Solution.message` about the end of a run."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from relaxboost.game.game import Game
from relaxboost.relaxations.own import is_own
from relaxboost.solvers.incumbent import Certified
from relaxboost.solvers.stopping import RELATIVE_RESOLUTION, Tolerance

ENDINGS = {
    "optimal": "the gap {gap:.3g} is at most {goal}",
    "by rtol": "the gap {gap:.3g} is at most rtol = {rtol:g} times |rho|, and |rho| >= {size:.3g}",
    "by Fig. 1": "the smoothed gap of Fig. 1 fell to {tol:g}; the certified gap is {gap:.3g}",
    "failed": "{reason}; the bracket is valid, with a gap of {gap:.3g}; the goal was {goal}",
    "max_rounds": "max_rounds was reached at a gap of {gap:.3g}; the goal was {goal}",
    "time_limit": "time_limit was reached at a gap of {gap:.3g}; the goal was {goal}",
    "callback": "the callback ended the run at a gap of {gap:.3g}; the goal was {goal}",
    "interrupted": "the run was interrupted at a gap of {gap:.3g}; the bracket is valid; "
    "the goal was {goal}",
    "inaccurate": "the lower bound exceeds the upper bound by {excess:.3g}: both bounds are only "
    "as accurate as the solver that computed them",
    "stalled": "the run could not reduce the gap below {gap:.3g}: {reason}; the goal was {goal}",
}
"""The sentence of `Solution.message` for each end of a run.

Most keys are words of `Solution.status`. For "optimal" there are two further keys: "by rtol" if
only the relative tolerance allows the gap, and "by Fig. 1" if the test of the smoothed gap ended
the run.
"""


class Ending(NamedTuple):
    """The end of a run: its status, its reason and its stopping test."""

    status: str
    """The end of the run in one word, as in `Solution.status`."""
    reason: str
    """The reason from an error, the booster or the stopping rule, or "" if the status says
    enough."""
    smoothed_test: bool
    """Whether the run used the smoothed-gap test of Shalev-Shwartz & Singer (2009), Fig. 1."""


def describe_ending(game: Game, goal: Tolerance, ending: Ending, proof: Certified) -> str:
    """Return the text of `Solution.message`, with a warning about misleading results."""
    gap = proof.upper - proof.lower
    status = ending.status
    kind = _kind_of(ending, goal.met_by(proof.lower, proof.upper))
    # An optimal run names the tolerance that it met, and any other run both.
    requested = f"tol = {goal.tol:g}"
    if goal.rtol and status != "optimal":
        requested += f", rtol = {goal.rtol:g}"
    message = ENDINGS[kind].format(
        gap=gap,
        excess=-gap,
        goal=requested,
        tol=goal.tol,
        rtol=goal.rtol,
        size=max(proof.lower, -proof.upper),
        reason=ending.reason or "its certified bounds are wider than the computed ones",
    )
    # Fig. 1's test bounds the smoothed gap only, so the warnings below do not apply.
    if kind == "by Fig. 1":
        return message
    if status == "optimal":
        message += _warn_of_idle_weights(game, goal, proof)
    # A tol below the rounding of the bounds cannot be reached, but a relative one may be.
    if status in ("stalled", "failed") and not goal.rtol:
        message += _warn_of_rounding(proof)
    # The families of the package are tested; a method of a user's class may be wrong.
    if status in ("stalled", "inaccurate") and is_own(game.relaxation):
        message += (
            "; the relaxation f is user-defined: rb.testing.check_relaxation(f) finds methods of f "
            "that contradict each other"
        )
    return message


def _kind_of(ending: Ending, met: str) -> str:
    if ending.status != "optimal":
        return ending.status
    if ending.smoothed_test:
        return "by Fig. 1"
    return "by rtol" if met == "rtol" else "optimal"


def _warn_of_idle_weights(game: Game, goal: Tolerance, proof: Certified) -> str:
    # If w = 0 is optimal within the requested accuracy, the weights w of the solution say nothing
    # about the hypotheses.
    # If w = 0 is the result or is not feasible, there is nothing to warn of.
    support, _ = proof.weights
    if not support.size or not game.over.holds_zero:
        return ""
    # The exact F(0) may take a solver. It is at most f(d) for every d, which costs little, and
    # rules most games out.
    most = game.relaxation.penalty(game.relaxation.center(game.m))
    if proof.upper - most > goal.allowed(most, proof.upper):
        return ""
    at_zero = game.relaxation.relaxed_margin(np.zeros(game.m))[0]
    gap = proof.upper - at_zero
    if gap > goal.allowed(at_zero, proof.upper):
        return ""
    return f"; w = 0 is as good, with a gap of {gap:.3g}: for informative weights, lower tol"


def _warn_of_rounding(proof: Certified) -> str:
    gap = proof.upper - proof.lower
    # The smallest positive double replaces a zero, so that the division is defined.
    part = gap / max(abs(proof.lower), abs(proof.upper), math.ulp(0.0))
    if not 0.0 <= part <= RELATIVE_RESOLUTION:
        return ""
    return f"; this gap is {part:.1g} of |rho|, close to the rounding of the bounds: use rtol"
