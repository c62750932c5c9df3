"""Block-coordinate Frank–Wolfe steps on the dual: a few demonstrations at a time."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from relaxboost._core.arrays import Array, Whole
from relaxboost._core.errors import InputError
from relaxboost._core.loop import Clock
from relaxboost._core.parameters import count, natural
from relaxboost._core.rounding import down, roundoff
from relaxboost.planning.cuts import Cut, Pieces
from relaxboost.planning.optimisers.base import FitState, Optimiser
from relaxboost.planning.problem import Problem
from relaxboost.planning.regularisers import Ridge


@dataclass(frozen=True)
class FrankWolfe(Optimiser):
    """Block-coordinate Frank–Wolfe of Lacoste-Julien, Jaggi, Schmidt & Pletscher (2013).

    Each demonstration i has an average a_i + <G_i, w> of the cuts of its plans so far, at first 0;
    the lower bound is Σ a_i − Ω*(−Σ G_i), and w = (−Σ G_i)/λ, of which w >= 0 keeps the positive
    part. A step plans for one demonstration at w and moves its average towards the new plan's cut,
    as far as serves the lower bound most: the slope of the bound along the way is piecewise
    linear and falls, and its root is found exactly, among the points where entries of w leave 0.

    A round plans once for each demonstration, in random order. Ω + R is evaluated every few
    rounds, at the average of the w with running weights 2/(k + 2); those plans serve for steps
    as well.

    Parameters
    ----------
    batch : int
        Demonstrations to plan for at the same w, on several threads. The steps are still one after
        the other.
    every : int
        Rounds from one evaluation to the next.
    seed : int

    Notes
    -----
    For `Ridge` and power 1. The dual of a squared loss has a factor >= 0 besides for each
    demonstration, so that its blocks are unbounded and Frank–Wolfe has no vertex to go to.
    """

    batch: int = 1
    every: int = 5
    seed: int = 0

    name: ClassVar[str] = "frank-wolfe"

    def __post_init__(self) -> None:
        count("batch", self.batch)
        count("every", self.every)
        natural("seed", self.seed)

    def check(self, problem: Problem) -> None:
        """Raise without strong convexity, and for squared losses."""
        if not isinstance(problem.regulariser, Ridge):
            raise InputError(
                f"FrankWolfe needs a strongly convex regulariser, Ridge, and has "
                f"{problem.regulariser!r}, without which cuts do not say where w is; "
                'method="bundle" does with any'
            )
        if problem.oracle.power != 1:
            raise InputError(
                "FrankWolfe does power=1; the dual of squared losses is unbounded in each "
                'block: use method="bundle"'
            )

    def steps(self, problem: Problem, start: Array, clock: Clock) -> Iterator[FitState]:
        """Yield the steps, the first at `start`; see `Optimiser`."""
        rng = np.random.default_rng(self.seed)
        n = len(problem.oracle.rows)
        blocks = _Blocks(problem)
        point = problem.at(start)
        blocks.move(np.arange(n), problem.pieces(point.plans))
        yield FitState(point, blocks.lower())
        done = 0
        while True:
            done += 1
            order = rng.permutation(n)
            for first in range(0, n, self.batch):
                rows = np.sort(order[first : first + self.batch])
                found = problem.plans(blocks.w, rows.tolist(), clock=clock)
                blocks.move(rows, problem.pieces(found, rows.tolist()))
            blocks.renew()
            if done % self.every and done > 1:
                yield FitState(None, blocks.lower())
                continue
            point = problem.at(blocks.average, clock=clock)
            yield FitState(point, blocks.lower())
            blocks.move(np.arange(n), problem.pieces(point.plans))


class _Blocks:
    """The averaged cut of each demonstration, and their sum."""

    def __init__(self, problem: Problem) -> None:
        assert isinstance(problem.regulariser, Ridge)
        self.problem, self.ridge = problem, problem.regulariser
        self.p = problem.oracle.weights
        n, d = self.p.size, problem.d
        self.a, self.G = np.zeros(n), np.zeros((n, d))
        # The largest of the sums of absolute values that went into each block, for rounding.
        self.a_size, self.G_size = np.zeros(n), np.zeros((n, d))
        self.moves, self.terms, self.steps = np.zeros(n, dtype=np.int64), 0, 0
        self.slope = np.zeros(d)
        self.w, self.average = np.zeros(d), np.zeros(d)

    def renew(self) -> None:
        """Sum up anew, since differences have left rounding errors."""
        self.slope = self.G.sum(axis=0)
        self.w = self.ridge.argmax(-self.slope, self.problem.nonnegative)

    def move(self, rows: Whole, pieces: Pieces) -> None:
        """Make the step of each block towards its piece, one after the other."""
        self.terms = max(self.terms, pieces.terms)
        for k, i in enumerate(rows.tolist()):
            p = self.p[i]
            self.a_size[i] = max(self.a_size[i], p * pieces.loss_size[k])
            self.G_size[i] = np.maximum(self.G_size[i], p * pieces.slope_size[k])
            more, turn = p * pieces.loss[k] - self.a[i], p * pieces.slope[k] - self.G[i]
            by = best_step(more, -self.slope, -turn, self.ridge, self.problem.nonnegative)
            if by > 0.0:
                self.a[i] += by * more
                self.G[i] += by * turn
                self.slope = self.slope + by * turn
                self.moves[i] += 1
                self.w = self.ridge.argmax(-self.slope, self.problem.nonnegative)
            self.steps += 1
            self.average = self.average + 2.0 / (self.steps + 1) * (self.w - self.average)

    def lower(self) -> float:
        """Return the lower bound of the sum, with allowance for the roundings of all steps."""
        # A step rounds each number it moves at most eight times.
        γ = roundoff(8 * int(self.moves.max()) + self.terms + self.p.size + 16)
        offset = math.fsum(self.a.tolist()) - 2.0 * γ * float(self.a_size.sum())
        slope = self.G.sum(axis=0)
        return self.problem.lower(Cut(down(offset), slope, 2.0 * γ * self.G_size.sum(axis=0)))


def best_step(more: float, v: Array, turn: Array, ridge: Ridge, nonnegative: bool) -> float:
    """Return the γ in [0, 1] of largest γ · more − Ω*(v + γ · turn).

    Its slope is more − <turn, w(γ)> with w(γ) = (v + γ · turn)₊/λ, or without the positive part.

    Parameters
    ----------
    more : float
    v, turn : arrays of shape (d,)
    ridge : Ridge
    nonnegative : bool
    """

    def slope(γ: float) -> float:
        return more - float(turn @ ridge.argmax(v + γ * turn, nonnegative))

    points = np.array([0.0, 1.0])
    if nonnegative:
        moving = turn != 0.0
        corners = -v[moving] / turn[moving]
        inside = np.sort(corners[(corners > 0.0) & (corners < 1.0)])
        points = np.concatenate([[0.0], inside, [1.0]])
    # It falls, and is linear between these points; the root is before the first where it is <= 0.
    k = bisect_left(points, 0.0, key=lambda γ: -slope(γ))
    if k in (0, points.size):
        return float(k > 0)
    low, high = float(points[k - 1]), float(points[k])
    at_low, at_high = slope(low), slope(high)
    return min(1.0, low + (high - low) * at_low / (at_low - at_high))
