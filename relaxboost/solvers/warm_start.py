"""The points from which a run begins: a solution or a pair of points, made feasible for the game.

d is a distribution over the examples, and w are the weights on the hypotheses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relaxboost._core.arrays import Vector
from relaxboost._core.errors import InputError
from relaxboost.game import bounds
from relaxboost.game.game import Game
from relaxboost.game.solution import Basis, Solution
from relaxboost.solvers.stopping import RESOLUTION


@dataclass
class Relay:
    """The state that a path hands from each game to the next, as the `start` of `solve`.

    The class is internal to the package.
    """

    solution: Solution | None = None
    """The solution of the last game."""
    booster: Any = None
    """The last run. Its simplex method may continue with the next game."""


Weights = tuple[NDArray[np.int64], Vector]
"""Weights w as (support, coefficients). Each column appears once in the support."""


@dataclass(frozen=True, eq=False)
class WarmStart:
    """Feasible points of a game, the bracket that they prove, and a basis from which to continue.

    The default holds no point.
    """

    d: Vector | None = None
    """The distribution over examples, or None."""
    w: Weights | None = None
    """The weights on hypotheses, or None."""
    basis: Basis | None = None
    """The basis of the restricted program with which the earlier run ended."""
    note: str = ""
    """The remark about the start that `Solution.message` repeats."""
    lower: float = -math.inf
    """The lower bound on the value that w proves."""
    upper: float = math.inf
    """The upper bound on the value that d proves."""
    rounds: int = 0
    """The rounds before the checkpoint from which the run continues."""
    seconds: float = 0.0
    """The seconds before the checkpoint from which the run continues."""
    relay: Relay | None = None
    """The relay of the path to which the game belongs."""
    near: Solution | None = None
    """The solution that gave the points, with its own game."""

    def with_bounds(self, game: Game) -> WarmStart:
        """Return the same start with the bounds that its points prove for the game."""
        # A bound without its point stays infinite, because nothing proves it.
        lower = self.lower
        upper = self.upper
        if self.w is not None:
            lower, _ = bounds.evaluate_lower(game.matrix, game.relaxation, *self.w, game.over)
        if self.d is not None:
            upper = bounds.evaluate_upper(game.matrix, game.relaxation, self.d, game.over)
        return replace(self, lower=lower, upper=upper)

    def merge(self, other: WarmStart) -> WarmStart:
        """Return the other start with the d or w of this one if it proves a better bound.

        An equal bound counts as better.
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
    """Return the start that a caller of `solve` gave: a Solution, a Relay or a pair (d, w).

    Raises
    ------
    InputError
        If the start is of another type, holds no point, or does not fit the game.
    """
    if isinstance(given, Solution):
        return _of_solution(game, given)
    if isinstance(given, Relay):
        last = given.solution
        start = WarmStart() if last is None else _of_solution(game, last)
        return replace(start, relay=given)
    return _read_pair(game, given)


def _read_pair(game: Game, given: Any) -> WarmStart:
    """Return a start from (d, w), moved to feasible points. One of the two may be None."""
    # A pair of numbers is rather a d than a pair of points, so it gets the same message.
    if not isinstance(given, (tuple, list)) or len(given) != 2 or isinstance(given[0], Real):
        raise InputError(
            "start must be a Solution, or a pair (d, w) of which one may be None, "
            f"got {given!r:.60}"
        )
    d, w = given
    if d is None and w is None:
        raise InputError("start = (None, None) holds no point; give d, w or both, or leave it out")
    notes = []
    weights = None
    # A change below RESOLUTION is rounding, and the user need not know of it.
    if w is not None:
        support, raw = game.read_w(w)
        if np.abs(game.over.repair(raw) - raw).max(initial=0.0) > RESOLUTION:
            notes.append(f"the w of start was moved into {game.over!r}")
        # Whatever the user gave, the run begins with a feasible w.
        weights = game.repair_w((support, raw))
    if d is not None:
        repaired = game.repair_d(d)
        if np.abs(repaired - np.asarray(d, dtype=np.float64)).max(initial=0.0) > RESOLUTION:
            notes.append(f"the d of start was moved to where {game.relaxation!r} is finite")
        d = repaired
    return WarmStart(d, weights, note="; ".join(notes)).with_bounds(game)


def _of_solution(game: Game, solution: Solution) -> WarmStart:
    """Return the points of a solution, whose game must have the same hypotheses."""
    old = solution.game
    # Column numbers of a weak learner that finds its hypotheses mean nothing to another learner.
    is_unknown = game.n is None and game.matrix is not old.matrix
    if game.n != old.n or is_unknown:
        raise InputError(
            f"start is a solution of a game with {old.matrix!r}, and this game has "
            f"{game.matrix!r}: its weights belong to other hypotheses; give start=(d, None)"
        )
    # A d of other examples has no meaning here, but its weights on hypotheses have.
    d = game.repair_d(solution.d) if old.m == game.m else None
    try:
        w = game.repair_w((solution.support, solution.coefficients))
    except InputError:
        # Over a simplex, no w is near if all weights of the other domain are negative.
        w = None
    return WarmStart(d, w, solution.basis, near=solution).with_bounds(game)
