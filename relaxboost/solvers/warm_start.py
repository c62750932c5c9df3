"""The starting points of a run, and their conversion to feasible points of a game.

A point is a distribution d over the examples, or weights w of the hypotheses. Points come from a
solution, from a user's pair (d, w), or from a checkpoint.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError, brief
from relaxboost.game import bounds
from relaxboost.game.game import Game
from relaxboost.game.solution import Basis, Solution
from relaxboost.solvers.stopping import RELATIVE_RESOLUTION


@dataclass
class Relay:
    """The results of the previous game on a path of similar games."""

    solution: Solution | None = None
    """The solution of the previous game, or None before the first game."""
    booster: Any = None
    """The run of the previous game, whose simplex basis the next run may use."""

    def begin(self, game: Game) -> WarmStart:
        """Return the starting points for the next game."""
        start = WarmStart() if self.solution is None else _of_solution(game, self.solution)
        return replace(start, relay=self)


Weights = tuple[NDArray[np.int64], Vector]
"""Weights as two arrays: the distinct indices of the columns with nonzero weight, and their
weights."""


@dataclass(frozen=True, eq=False)
class WarmStart:
    """The feasible starting points of a run, and the bounds that they prove.

    `WarmStart()` has no points, and infinite bounds.
    """

    d: Vector | None = None
    """The distribution over the examples, or None."""
    w: Weights | None = None
    """The weights of the hypotheses, or None."""
    basis: Basis | None = None
    """The last simplex basis of the earlier run, or None."""
    note: str = ""
    """A remark about the points for `Solution.message`, or ""."""
    lower: float = -math.inf
    """The lower bound on the value that w proves, or −inf without w."""
    upper: float = math.inf
    """The upper bound on the value that d proves, or inf without d."""
    rounds: int = 0
    """The number of rounds before the checkpoint, or 0."""
    seconds: float = 0.0
    """The seconds before the checkpoint, or 0."""
    relay: Relay | None = None
    """The results of the previous game on a `path`, or None."""
    near: Solution | None = None
    """The solution from which the points come, or None."""

    def with_bounds(self, game: Game) -> WarmStart:
        """Return a copy with the bounds that the points prove for a game."""
        # A bound without its point stays infinite, because nothing proves it.
        lower = self.lower
        upper = self.upper
        if self.w is not None:
            lower, _ = bounds.evaluate_lower(game.matrix, game.relaxation, *self.w, game.over)
        if self.d is not None:
            upper = bounds.evaluate_upper(game.matrix, game.relaxation, self.d, game.over)
        return replace(self, lower=lower, upper=upper)

    def merge(self, other: WarmStart) -> WarmStart:
        """Return a warm start with the better d and the better w of this one and `other`.

        Ties go to this warm start. The note joins both notes. The basis is that of `other`, if it
        has one. All remaining fields come from `other`.
        """
        # The two bounds are independent, so each comes from the better start.
        best_d = other if other.upper < self.upper else self
        best_w = other if other.lower > self.lower else self
        return replace(
            other,
            d=best_d.d,
            w=best_w.w,
            basis=other.basis or self.basis,
            note="; ".join(filter(None, (self.note, other.note))),
            lower=best_w.lower,
            upper=best_d.upper,
        )


def read_start(game: Game, given: Any) -> WarmStart:
    """Convert the argument `start` of `solve` to feasible points with bounds.

    Raises
    ------
    InputError
        If `given` has another type, contains no point, or does not fit the game.
    """
    if isinstance(given, Solution):
        return _of_solution(game, given)
    return _read_pair(game, given)


def _read_pair(game: Game, given: Any) -> WarmStart:
    # A pair of numbers is probably a d and not a pair of points, so it is rejected too.
    if not isinstance(given, (tuple, list)) or len(given) != 2 or isinstance(given[0], Real):
        raise InputError(
            "start must be a Solution or a pair (d, w), in which d or w may be None, "
            f"got {given!r:.60}"
        )
    d, w = given
    if d is None and w is None:
        raise InputError("start = (None, None) contains no point; pass d, w or both, or omit start")
    notes = []
    weights = None
    # A change below RELATIVE_RESOLUTION is rounding, and the user need not know of it.
    if w is not None:
        support, raw = game.read_w(w)
        if np.abs(game.over.repair(raw) - raw).max(initial=0.0) > RELATIVE_RESOLUTION:
            notes.append(f"the w of start was moved into {game.over!r}")
        # The run begins with a feasible w, even if the w of the user is not feasible.
        weights = game.repair_w((support, raw))
    if d is not None:
        repaired = game.repair_d(d)
        if (
            np.abs(repaired - np.asarray(d, dtype=np.float64)).max(initial=0.0)
            > RELATIVE_RESOLUTION
        ):
            notes.append(
                f"the d of start was moved to a d at which {brief(game.relaxation)} is finite"
            )
        d = repaired
    return WarmStart(d, weights, note="; ".join(notes)).with_bounds(game)


def _of_solution(game: Game, solution: Solution) -> WarmStart:
    old = solution.game
    # Weak learners that find their hypotheses in a run do not share column indices.
    is_unknown = game.n is None and game.matrix is not old.matrix
    if game.n != old.n or is_unknown:
        raise InputError(
            f"start is a solution of a game with {old.matrix!r}, but this game has "
            f"{game.matrix!r}, so the weights of start belong to other hypotheses; pass "
            "start=(start.d, None)"
        )
    # A d of other examples has no meaning here, but weights of the same hypotheses have.
    d = game.repair_d(solution.d) if old.m == game.m else None
    try:
        w = game.repair_w((solution.support, solution.coefficients))
    except InputError:
        # Over a simplex, no w is near if all weights of the other domain are negative.
        w = None
    return WarmStart(d, w, solution.basis, near=solution).with_bounds(game)
