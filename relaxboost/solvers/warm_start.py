"""Where a run begins: a solution, or a pair of points, made feasible for the game."""

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


@dataclass
class Relay:
    """What a path hands on from game to game; in the package only, as a `start`."""

    solution: Solution | None = None
    booster: Any = None
    """What ran last. Its program, or its walk, goes on with the next game."""
    beyond: tuple[Solution, float] | None = None
    """A second solution, whose game lies on the other side of the next game, and its share in a
    mixture with `solution`. The next game may start from this mixture."""


Weights = tuple[NDArray[np.int64], Vector]
"""(support, coefficients), each column once."""

_MOVED = 1e-9
"""A repair that moves no entry by more is not worth a word."""


@dataclass(frozen=True, eq=False)
class WarmStart:
    """Feasible points of a game and the bracket that they prove, and a basis to go on from."""

    d: Vector | None = None
    w: Weights | None = None
    basis: Basis | None = None
    said: str = ""
    """What `Solution.message` is to say of it."""
    lower: float = -math.inf
    upper: float = math.inf
    rounds: int = 0
    """How many a run that goes on has behind it, and how many seconds."""
    seconds: float = 0.0
    relay: Relay | None = None
    near: Solution | None = None
    """What it was, as it stood in its own game."""

    def scored(self, game: Game) -> WarmStart:
        """Return it with the bounds that its points prove."""
        lower, upper = self.lower, self.upper
        if self.w is not None:
            lower, _ = bounds.evaluate_lower(game.matrix, game.relaxation, *self.w, game.over)
        if self.d is not None:
            upper = bounds.evaluate_upper(game.matrix, game.relaxation, self.d, game.over)
        return replace(self, lower=lower, upper=upper)

    def joined(self, other: WarmStart) -> WarmStart:
        """Return the other with the points of this one where they are better."""
        d, upper = (other.d, other.upper) if other.upper < self.upper else (self.d, self.upper)
        w, lower = (other.w, other.lower) if other.lower > self.lower else (self.w, self.lower)
        said = "; ".join(filter(None, (self.said, other.said)))
        basis = other.basis or self.basis
        return replace(other, d=d, w=w, basis=basis, said=said, lower=lower, upper=upper)


def ended_as(solution: Solution) -> str:
    """Return how the last d of a run was made (`RoundRecord.inner`), "" where nothing says it."""
    return solution.history[-1].inner if solution.history else ""


def read_start(game: Game, given: Any) -> WarmStart:
    """Return the start of `solve`: a Solution, or a pair (d, w), either of which may be None."""
    if isinstance(given, Solution):
        return _of_solution(game, given)
    if isinstance(given, Relay):
        last = given.solution
        start = WarmStart() if last is None else _of_solution(game, last)
        if last is not None and given.beyond is not None:
            start = _mixture(game, last, *given.beyond).joined(start)
        return replace(start, relay=given)
    return _read_pair(game, given)


def _read_pair(game: Game, given: Any) -> WarmStart:
    """Return a start from (d, w), either of which may be None, moved to where it is feasible."""
    if not isinstance(given, (tuple, list)) or len(given) != 2 or isinstance(given[0], Real):
        raise InputError(
            "start must be a Solution, or a pair (d, w) of which one may be None, "
            f"got {given!r:.60}"
        )
    d, w = given
    if d is None and w is None:
        raise InputError("start = (None, None) says nothing; give d, w or both, or leave it out")
    said = []
    weights = None
    if w is not None:
        support, raw = game.read_w(w)
        if np.abs(game.over.repair(raw) - raw).max(initial=0.0) > _MOVED:
            said.append(f"the w of start was moved into {game.over!r}")
        weights = game.repair_w((support, raw))
    if d is not None:
        repaired = game.repair_d(d)
        if np.abs(repaired - np.asarray(d, dtype=np.float64)).max(initial=0.0) > _MOVED:
            said.append(f"the d of start was moved to where {game.relaxation!r} is finite")
        d = repaired
    return WarmStart(d, weights, said="; ".join(said)).scored(game)


def _of_solution(game: Game, solution: Solution) -> WarmStart:
    """Return the points of a solution, of this game or of one with the same hypotheses."""
    old = solution.game
    unknown = game.n is None and game.matrix is not old.matrix
    if game.n != old.n or unknown:
        raise InputError(
            f"start is a solution of a game with {old.matrix!r}, and this one has "
            f"{game.matrix!r}: its weights are of other hypotheses; give start=(d, None)"
        )
    d = game.repair_d(solution.d) if old.m == game.m else None
    try:
        w = game.repair_w((solution.support, solution.coefficients))
    except InputError:  # over a simplex, where no weight of the other domain is positive
        w = None
    return WarmStart(d, w, solution.basis, near=solution).scored(game)


def _mixture(game: Game, one: Solution, other: Solution, part: float) -> WarmStart:
    """Return the points between two solutions, and the weights of the other where they are better.

    A mixture of d is as good as that of the values, where f is convex in its parameter too.
    """
    support = np.union1d(one.support, other.support)
    w = np.zeros(support.size)
    for solution, share in ((one, 1.0 - part), (other, part)):
        w[np.searchsorted(support, solution.support)] += share * solution.coefficients
    d = game.repair_d((1.0 - part) * one.d + part * other.d)
    mixed = WarmStart(d, game.repair_w((support, w))).scored(game)
    alone = WarmStart(w=game.repair_w((other.support, other.coefficients))).scored(game)
    return alone.joined(mixed)
