"""The sentence that says how a run ended: `Solution.message`."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from relaxboost.game.game import Game
from relaxboost.relaxations.own import is_own
from relaxboost.solvers.incumbent import Certified
from relaxboost.solvers.stopping import Tolerance

NEAR_ROUNDING = 1e-10
"""A gap below this part of |ρ| is near the rounding of the bounds, and the message says so."""

ENDINGS = {
    "optimal": "the gap {gap:.3g} is at most {asked}",
    "by rtol": "the gap {gap:.3g} is at most rtol = {rtol:g} of |rho| >= {size:.3g}",
    "by Fig. 1": "the smoothed gap of Fig. 1 fell to {tol:g}; the certified gap is {gap:.3g}",
    "failed": "{reason}; the bracket holds, at a gap of {gap:.3g}, {asked}",
    "max_rounds": "max_rounds was reached at a gap of {gap:.3g}, {asked}",
    "time_limit": "time_limit was reached at a gap of {gap:.3g}, {asked}",
    "callback": "the callback ended the run at a gap of {gap:.3g}, {asked}",
    "interrupted": "interrupted at a gap of {gap:.3g}, {asked}; the bracket holds",
    "inaccurate": "the bounds cross by {gap:.3g}: they are numerical, as good as the solver",
    "stalled": "no new column, or rounding, keeps the gap at {gap:.3g}, {asked}",
}
"""How each status is explained."""


class Ending(NamedTuple):
    """How a run ended."""

    status: str
    reason: str
    """Why it failed, "" if it did not."""
    smoothed_test: bool
    """Whether Fig. 1's own test was to end it."""


def describe_ending(game: Game, goal: Tolerance, ending: Ending, proof: Certified) -> str:
    """Return how a run ended, and what a user of its result should know."""
    gap = proof.upper - proof.lower
    status = ending.status
    kind = _kind_of(ending, gap > goal.tol)
    asked = f"tol = {goal.tol:g}"
    if goal.rtol and status != "optimal":
        asked += f", rtol = {goal.rtol:g}"
    said = ENDINGS[kind].format(
        gap=gap,
        asked=asked,
        tol=goal.tol,
        rtol=goal.rtol,
        size=max(proof.lower, -proof.upper),
        reason=ending.reason,
    )
    if kind == "by Fig. 1":
        return said
    if status == "optimal":
        said += _warn_of_idle_weights(game, goal, proof)
    if status in ("stalled", "failed") and not goal.rtol:
        said += _warn_of_rounding(proof)
    if status in ("stalled", "inaccurate") and is_own(game.relaxation):
        said += "; the relaxation is your own: rb.testing.check_relaxation(f) finds what in it "
        said += "disagrees"
    return said


def _kind_of(ending: Ending, is_wider_than_tol: bool) -> str:
    """Return which of the sentences fits."""
    if ending.status != "optimal":
        return ending.status
    if ending.smoothed_test:
        return "by Fig. 1"
    return "by rtol" if is_wider_than_tol else "optimal"


def _warn_of_idle_weights(game: Game, goal: Tolerance, proof: Certified) -> str:
    """Return a warning if w = 0 is optimal to the same tolerance, so that w says nothing."""
    support, _ = proof.weights
    if not support.size or not game.over.holds_zero:
        return ""
    # F(0) may take a solver, but it is at most f at any d. So a cheap look comes first.
    most = game.relaxation.penalty(game.relaxation.center(game.m))
    if proof.upper - most > goal.allowed(most, proof.upper):
        return ""
    at_zero = game.relaxation.relaxed_margin(np.zeros(game.m))[0]
    idle = proof.upper - at_zero
    if idle > goal.allowed(at_zero, proof.upper):
        return ""
    return f"; so is that of w = 0, {idle:.3g}: for a w that says more, lower tol"


def _warn_of_rounding(proof: Certified) -> str:
    """Return a hint to `rtol` if the gap is near the rounding of the bounds."""
    gap = proof.upper - proof.lower
    part = gap / max(abs(proof.lower), abs(proof.upper), math.ulp(0.0))
    if not 0.0 <= part <= NEAR_ROUNDING:
        return ""
    return f"; that is {part:.1g} of |rho|, near the rounding of bounds: ask for rtol"
