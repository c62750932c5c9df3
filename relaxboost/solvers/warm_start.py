"""The points from which a run begins, and their conversion to feasible points of a game.

A point is a distribution d over the examples, or weights w of the hypotheses. The points come from
a solution of a game, from a pair (d, w) that the user passes, or from a checkpoint.
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
    """The solution of the previous game on the path. It is None before the first game."""
    booster: Any = None
    """The run of the previous game on the path. The next run may use its simplex basis."""

    def begin(self, game: Game) -> WarmStart:
        """Return the points from which the run of the next game begins."""
        start = WarmStart() if self.solution is None else _of_solution(game, self.solution)
        return replace(start, relay=self)


Weights = tuple[NDArray[np.int64], Vector]
"""The type of weights w: an array of the indices of the columns with nonzero weight, and an array
of their weights. No index appears twice."""


@dataclass(frozen=True, eq=False)
class WarmStart:
    """The feasible points from which a run begins, and the bounds on the value that they prove.

    The points are a distribution d over the examples and weights w of the hypotheses. `WarmStart()`
    has neither d nor w, and infinite bounds.
    """

    d: Vector | None = None
    """The distribution over the examples from which a run begins. It is None if the warm start has
    no distribution."""
    w: Weights | None = None
    """The weights of the hypotheses from which a run begins. They are None if the warm start has no
    weights."""
    basis: Basis | None = None
    """The simplex basis of the restricted linear program at the end of the earlier run. It is None
    if there is no such basis."""
    note: str = ""
    """A remark about the points of the warm start, which `Solution.message` repeats. It is "" if
    there is no remark."""
    lower: float = -math.inf
    """The lower bound on the value of the game that the weights w prove. It is minus infinity if w
    is None."""
    upper: float = math.inf
    """The upper bound on the value of the game that the distribution d proves. It is infinity if d
    is None."""
    rounds: int = 0
    """The number of rounds of the earlier runs, if the run continues from a checkpoint. Otherwise
    it is 0."""
    seconds: float = 0.0
    """The duration of the earlier runs in seconds, if the run continues from a checkpoint.
    Otherwise it is 0."""
    relay: Relay | None = None
    """The object that stores the results of the previous game, if the run is part of a `path`.
    Otherwise it is None."""
    near: Solution | None = None
    """The solution of an earlier game from which the points of the warm start come. It is None if
    the points do not come from a solution."""

    def with_bounds(self, game: Game) -> WarmStart:
        """Return a copy of this warm start with the bounds that its points prove for a game."""
        # A bound without its point stays infinite, because nothing proves it.
        lower = self.lower
        upper = self.upper
        if self.w is not None:
            lower, _ = bounds.evaluate_lower(game.matrix, game.relaxation, *self.w, game.over)
        if self.d is not None:
            upper = bounds.evaluate_upper(game.matrix, game.relaxation, self.d, game.over)
        return replace(self, lower=lower, upper=upper)

    def merge(self, other: WarmStart) -> WarmStart:
        """Return a warm start with the better d and the better w of this warm start and `other`.

        If two bounds are equal, the result has the d or w of this warm start. The note combines
        both notes. The basis is that of `other`, or that of this warm start if `other` has none.
        All remaining fields come from `other`.
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
    """Convert the argument `start` of `solve` to feasible points with bounds, and return them.

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
