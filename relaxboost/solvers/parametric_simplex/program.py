"""The linear program of a game, and its work budget.

The relaxation f must be a linear cost with a lower and an upper bound for each example. The domain
of the weights must be a ball or a simplex of size r. The game is then the linear program ::

    min cost·d + r v   subject to   Σd = 1,  s = v − Bᵀd >= 0,  lower <= d <= upper

The unknowns are the distribution d over the examples, the largest edge v, and the slacks s. The
columns of B are those of the margin matrix A and, over a ball, also those of −A. The multipliers of
s >= 0 are the hypothesis weights. The sum Σd is a variable fixed to 1, and the variables have the
order (d, v, s, Σd).
"""

from __future__ import annotations

import numpy as np

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.loop import seconds_left
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.game.solution import Solution
from relaxboost.relaxations import LinearForm
from relaxboost.solvers.interior_point.run import predict_passes
from relaxboost.solvers.work import passes_of

MAX_TABLEAU_ENTRIES = 10_000_000
# Ten million doubles take 80 MB, which are read and written once for each block of pivots.
"""The maximum number of entries of a tableau or of a stored margin matrix."""

Lost = np.linalg.LinAlgError
"""The simplex method cannot continue or has used up its budget."""


def linear_program(game: Game) -> LinearForm | None:
    """Return the costs and bounds of the relaxation f, or None.

    The result is None if f is not a linear cost with finite bounds, if the domain is neither a ball
    nor a simplex, or if a stored margin matrix has more than `MAX_TABLEAU_ENTRIES` entries.
    """
    form = game.linear_form
    if form is None or form.rows is not None or not np.isfinite(form.upper).all():
        return None
    if form.cost.size != game.m or not isinstance(game.over, AtomicSet):
        return None
    # An implicit matrix is never stored as an array, so it may have any number of entries.
    entries = (game.n or 0) * game.m
    return form if 0 < entries <= MAX_TABLEAU_ENTRIES or game.matrix.implicit else None


def near_vertex(form: LinearForm, solution: Solution) -> bool:
    """Predict whether few simplex pivots lead from a solution to a vertex of its linear program.

    The tableau must be small enough, and the pivots must cost at most a third of the work of the
    interior point method.
    """
    # The count of examples whose weights are likely to lie strictly between their bounds predicts
    # the number of pivots, rows and columns. At a vertex there are about as many as hypotheses with
    # nonzero weight, and far from all vertices there are more.
    game = solution.game
    assert isinstance(game.over, AtomicSet)
    excess, inside = bound_distances(form, solution.d, form.cost + solution.margins)
    # An example between bounds has a price close to the threshold, compared with its distance.
    fractional = inside * game.over.scale > np.abs(excess) * (form.upper - form.lower)
    pivots = float(fractional.sum())
    entries = pivots**2
    is_cheap = 3.0 * passes_of(game, pivots * entries) <= predict_passes(game)
    return entries <= MAX_TABLEAU_ENTRIES and is_cheap


def bound_distances(form: LinearForm, d: Vector, price: Vector) -> tuple[Vector, Vector]:
    """Return the distances of prices to a threshold, and of the entries of d to their bounds.

    The price of an example is its cost plus its margin. In a distribution that minimises price·d,
    examples below the threshold are at their upper bounds, and examples above it at their lower
    bounds. The first array is price minus threshold, and the second is the distance of each d_i to
    its nearer bound.
    """
    order = np.argsort(price, kind="stable")
    total = form.lower.sum() + np.cumsum((form.upper - form.lower)[order])
    # The threshold is the price of the example at which the upper bounds add up to 1.
    threshold = price[order[min(int(np.searchsorted(total, 1.0)), d.size - 1)]]
    return price - threshold, np.minimum(d - form.lower, form.upper - d)


class GameProgram:
    """The columns of a game's linear program, with a budget of passes over A.

    Each product of A with a vector takes a pass from the budget. If weights may be negative, the
    negatives of all hypotheses follow as further columns.

    Parameters
    ----------
    game : Game
        A game for which `linear_program` returns a linear program.
    budget : float
        The maximum number of passes over A.
    """

    def __init__(self, game: Game, budget: float) -> None:
        assert isinstance(game.over, AtomicSet)
        self.matrix = game.matrix
        self.over: AtomicSet = game.over
        self.budget = budget
        self._game = game
        self._bulk = game.matrix.bulk()
        self.m = self._bulk.m
        self.n = self._bulk.n
        self.signed = 2 * self.n if self.over.two_sided else self.n
        """The number of columns, including any negatives."""
        self.total = self.m + 1 + self.signed
        """The index of the last variable, the sum Σd."""

    def spend(self, passes: float) -> None:
        """Subtract passes over the margin matrix from the budget.

        Raise `Lost` if the budget is used up, and `TimeUp` if the time limit has passed.
        """
        seconds_left()
        self.budget -= passes
        if self.budget < 0.0:
            raise Lost

    def spend_pivots(self, count: int, size: int) -> None:
        """Subtract the cost of `count` pivots on a tableau with `size` entries from the budget."""
        # A pivot is a rank-one update, which takes one multiplication for each entry.
        self.spend(passes_of(self._game, float(count) * size))

    def edges(self, d: Vector) -> Vector:
        """Return the edges of all columns, with any negatives last."""
        self.spend(1.0)
        edges = self._bulk.edges(d)
        return np.concatenate([edges, -edges]) if self.over.two_sided else edges

    def margins(self, weights: Vector) -> Vector:
        """Return the margins for nonnegative column weights."""
        self.spend(1.0)
        return self._bulk.margins(self.combine(weights))

    def combine(self, weights: Vector) -> Vector:
        """Return the signed weight of each hypothesis: its weight minus that of any negative."""
        return weights[: self.n] - weights[self.n :] if self.over.two_sided else weights

    def separate(self, w: Vector) -> Vector:
        """Return nonnegative column weights for the signed weights `w`, with any negatives last."""
        return np.maximum(np.concatenate([w, -w]), 0.0) if self.over.two_sided else w

    def part(self, examples: Whole, columns: Whole) -> Array:
        """Return the margins of some examples for some columns, as an array.

        The array has a row for each example and a column for each column of the program.
        """
        # The columns of −A follow those of A.
        sign = np.where(columns < self.n, 1.0, -1.0)
        return self._bulk.part(examples, columns % self.n) * sign

    def complete(self, x: Vector) -> Vector:
        """Return the values of all variables, given an `x` that begins with d and v."""
        d = x[: self.m]
        slack = x[self.m] - self.edges(d)
        return np.concatenate([x[: self.m + 1], slack, [d.sum()]])
