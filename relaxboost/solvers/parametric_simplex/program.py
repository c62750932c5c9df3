"""The linear program of a game, and the work that its solution may take.

If f is a linear cost with a lower and an upper bound for each example, the game over a ball or a
simplex of size r is the linear program ::

    min cost·d + r v   subject to   Σd = 1,  s = v − Bᵀd >= 0,  lower <= d <= upper

The columns of B are those of A and, over a ball, also those of −A. The weights w are the
multipliers of s >= 0. The variables are numbered in the order (d, v, s, Σd).
"""

from __future__ import annotations

import numpy as np

from relaxboost._core.arrays import Array, Vector, Whole
from relaxboost._core.loop import seconds_left
from relaxboost.game.domains import AtomicSet
from relaxboost.game.game import Game
from relaxboost.game.solution import Solution
from relaxboost.relaxations import LinearForm

MAX_ENTRIES = 10_000_000
"""The most entries of a tableau, or of an A that has to be written down: 80 MB of doubles."""
FRACTIONAL_PER_HYPOTHESIS = 3
"""At a vertex, about one example per hypothesis in use lies between its bounds."""
FRACTIONAL = 500
"""The examples between bounds that any solution may have: their pivots take milliseconds."""
PIVOT_PASSES = 1 / 6
"""The cost of a pivot for each tableau entry, compared with reading an entry of A: updates are
applied in blocks, so that a pivot computes as much as a pass does and reads a fraction."""

Lost = np.linalg.LinAlgError
"""Raised if the simplex method cannot continue, or has used up its budget."""


def linear_program(game: Game) -> LinearForm | None:
    """Return the costs and bounds of f, or None if the game has no program of this form."""
    form = game.linear_form
    if form is None or form.rows is not None or not np.isfinite(form.upper).all():
        return None
    if form.cost.size != game.m or not isinstance(game.over, AtomicSet):
        return None
    # A matrix that is never written down is multiplied without its entries, however large it is.
    entries = (game.n or 0) * game.m
    return form if 0 < entries <= MAX_ENTRIES or game.matrix.implicit else None


def near_vertex(solution: Solution) -> bool:
    """Return whether a solution is near a vertex, so that few pivots lead to one.

    At a vertex only as many examples lie strictly between their bounds as hypotheses have weight.
    """
    game = solution.game
    form = linear_program(game)
    if form is None or not isinstance(game.over, AtomicSet):
        return False
    excess, inside = bound_distances(form, solution.d, form.cost + solution.margins)
    # An example between bounds has a price close to the threshold, compared with its distance.
    fractional = inside * game.over.scale > np.abs(excess) * (form.upper - form.lower)
    limit = max(FRACTIONAL_PER_HYPOTHESIS * solution.support.size, FRACTIONAL)
    return int(fractional.sum()) <= limit


def bound_distances(form: LinearForm, d: Vector, price: Vector) -> tuple[Vector, Vector]:
    """Return how far the price of each example exceeds the threshold, and d its nearer bound.

    The cheapest distribution has examples below the threshold at their upper bounds, and those
    above it at their lower bounds.
    """
    order = np.argsort(price, kind="stable")
    total = form.lower.sum() + np.cumsum((form.upper - form.lower)[order])
    threshold = price[order[min(int(np.searchsorted(total, 1.0)), d.size - 1)]]
    return price - threshold, np.minimum(d - form.lower, form.upper - d)


class GameProgram:
    """The products with B of one matrix and one domain, and a budget of passes over A.

    Parameters
    ----------
    game : Game
        A game for which `linear_program` returns a form.
    budget : float
        The passes that may be spent.
    """

    def __init__(self, game: Game, budget: float) -> None:
        assert isinstance(game.over, AtomicSet)
        self.matrix = game.matrix
        self.over: AtomicSet = game.over
        self.budget = budget
        self._bulk = game.matrix.bulk()
        self.m = self._bulk.m
        self.n = self._bulk.n
        self.signed = 2 * self.n if self.over.two_sided else self.n
        """The number of columns of B."""
        self.total = self.m + 1 + self.signed
        """The number of the last variable, Σd."""

    def spend(self, passes: float) -> None:
        """Subtract passes from the budget; raise Lost if they exceed it, TimeUp if time is up."""
        seconds_left()
        self.budget -= passes
        if self.budget < 0.0:
            raise Lost

    def spend_pivots(self, count: int, size: int) -> None:
        """Subtract the cost of pivots on a tableau with `size` entries."""
        self.spend(count * PIVOT_PASSES * size / self.matrix.entries)

    def edges(self, d: Vector) -> Vector:
        """Return Bᵀd."""
        self.spend(1.0)
        edges = self._bulk.edges(d)
        return np.concatenate([edges, -edges]) if self.over.two_sided else edges

    def margins(self, weights: Vector) -> Vector:
        """Return B times the weights."""
        self.spend(1.0)
        return self._bulk.margins(self.combine(weights))

    def combine(self, weights: Vector) -> Vector:
        """Return the signed weight of each column of A."""
        return weights[: self.n] - weights[self.n :] if self.over.two_sided else weights

    def separate(self, w: Vector) -> Vector:
        """Return the weight of each column of B, nonnegative over a ball."""
        return np.maximum(np.concatenate([w, -w]), 0.0) if self.over.two_sided else w

    def part(self, examples: Whole, columns: Whole) -> Array:
        """Return the entries of B at some examples and columns."""
        sign = np.where(columns < self.n, 1.0, -1.0)
        return self._bulk.part(examples, columns % self.n) * sign

    def complete(self, x: Vector) -> Vector:
        """Return x with the s and the Σd that its d and v imply."""
        d = x[: self.m]
        slack = x[self.m] - self.edges(d)
        return np.concatenate([x[: self.m + 1], slack, [d.sum()]])
