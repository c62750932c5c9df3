"""The linear program of a game, and the work that its solution may take.

The relaxation f must be a linear cost with a lower and an upper bound for each example. The domain
of the weights must be a ball or a simplex of size r. The game is then the linear program ::

    min cost·d + r v   subject to   Σd = 1,  s = v − Bᵀd >= 0,  lower <= d <= upper

The unknowns are the distribution d over the examples, the largest edge v, and the slacks s. The
columns of B are those of the margin matrix A and, over a ball, also those of −A. The slack of a
column is v minus the edge of the column. The weights of the hypotheses are the multipliers of the
constraints s >= 0. The sum Σd is treated as a variable that is fixed to 1. The order of the
variables is (d, v, s, Σd).
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
"""The maximum number of entries of a simplex tableau, or of a margin matrix that the parametric
simplex method stores as an array. Ten million doubles take 80 MB, which the method reads and writes
once for each block of pivots."""

Lost = np.linalg.LinAlgError
"""The error that is raised if the simplex method cannot continue or has used up its budget."""


def linear_program(game: Game) -> LinearForm | None:
    """Return the costs and bounds of the relaxation f for the linear program of a game.

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
    """Return whether few simplex pivots lead from a solution to a vertex of its linear program.

    The function counts the examples whose weights d_i are likely to lie strictly between their
    bounds. At a vertex there are about as many such examples as hypotheses with nonzero weight, and
    far from all vertices there are more. The count is the predicted number of pivots, and the
    predicted number of rows and of columns of the tableau. The result is True if this tableau is
    small enough, and if the pivots are predicted to cost at most a third of the work of the
    interior point method.
    """
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
    """Return how far prices are from a threshold, and how far the entries of d are from bounds.

    The price of an example is its cost plus its margin. The threshold belongs to the distribution
    that minimises price·d: examples with lower prices are at their upper bounds, and examples with
    higher prices are at their lower bounds.

    The first array contains the price of each example minus the threshold. The second array
    contains the distance of each entry of `d` from the nearer of its two bounds.
    """
    order = np.argsort(price, kind="stable")
    total = form.lower.sum() + np.cumsum((form.upper - form.lower)[order])
    # The threshold is the price of the example at which the upper bounds add up to 1.
    threshold = price[order[min(int(np.searchsorted(total, 1.0)), d.size - 1)]]
    return price - threshold, np.minimum(d - form.lower, form.upper - d)


class GameProgram:
    """The columns of a game's linear program, with a budget of passes over the margin matrix A.

    A pass is one product of A with a vector. The methods that compute such a product subtract it
    from the budget. If weights may be negative, the linear program has two columns for each
    hypothesis: one for the hypothesis and one for its negative. The columns of the negatives come
    last.

    Parameters
    ----------
    game : Game
        A game for which `linear_program` returns a linear program.
    budget : float
        The maximum number of passes over A that the simplex method may take.
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
        """The number of columns: one for each hypothesis and, if weights may be negative, one for
        its negative."""
        self.total = self.m + 1 + self.signed
        """The index of the last variable of the linear program, which is the sum Σd."""

    def spend(self, passes: float) -> None:
        """Subtract a number of passes over the margin matrix from the budget.

        Raise `Lost` if the budget is too small, and `TimeUp` if the time limit of the run has
        passed.
        """
        seconds_left()
        self.budget -= passes
        if self.budget < 0.0:
            raise Lost

    def spend_pivots(self, count: int, size: int) -> None:
        """Subtract the cost of `count` pivots on a tableau with `size` entries from the budget.

        A pivot is a rank-one update of the tableau, which takes one multiplication for each entry.
        """
        self.spend(passes_of(self._game, float(count) * size))

    def edges(self, d: Vector) -> Vector:
        """Return the edges of all columns of the linear program for the distribution d.

        The columns are the hypotheses and, if weights may be negative, then the negatives of the
        hypotheses.
        """
        self.spend(1.0)
        edges = self._bulk.edges(d)
        return np.concatenate([edges, -edges]) if self.over.two_sided else edges

    def margins(self, weights: Vector) -> Vector:
        """Return the margin of each example for nonnegative weights of the program's columns."""
        self.spend(1.0)
        return self._bulk.margins(self.combine(weights))

    def combine(self, weights: Vector) -> Vector:
        """Return a signed weight for each hypothesis: its weight minus the weight of its negative.

        If weights may not be negative, the program has no negatives, and the weights are returned
        unchanged.
        """
        return weights[: self.n] - weights[self.n :] if self.over.two_sided else weights

    def separate(self, w: Vector) -> Vector:
        """Return nonnegative weights of the linear program's columns for the signed weights `w`.

        The weights of the hypotheses come first. If weights may be negative, the weights of the
        negatives of the hypotheses follow.
        """
        return np.maximum(np.concatenate([w, -w]), 0.0) if self.over.two_sided else w

    def part(self, examples: Whole, columns: Whole) -> Array:
        """Return the margins of some examples for some columns of the linear program, as an array.

        The array has a row for each example and a column for each column of the program.
        """
        # The columns of −A follow those of A.
        sign = np.where(columns < self.n, 1.0, -1.0)
        return self._bulk.part(examples, columns % self.n) * sign

    def complete(self, x: Vector) -> Vector:
        """Return the values of all variables of the linear program.

        The argument `x` begins with d and the largest edge v, from which the other values are
        computed.
        """
        d = x[: self.m]
        slack = x[self.m] - self.edges(d)
        return np.concatenate([x[: self.m + 1], slack, [d.sum()]])
