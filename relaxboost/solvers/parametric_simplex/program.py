"""The linear program of a game, and the work that its solution may take.

If f is a linear cost with a lower and an upper bound for each example, the game over a ball or a
simplex of size r is the linear program ::

    min cost·d + r v   subject to   Σd = 1,  s = v − Bᵀd >= 0,  lower <= d <= upper

The unknowns are the distribution d over the examples, the largest edge v, and the slacks s, which
say how far the edge of each column lies below v. The columns of B are those of the margin matrix A
and, over a ball, also those of −A. The weights w of the hypotheses are the multipliers of s >= 0.
The variables are numbered in the order (d, v, s, Σd).
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

MAX_ENTRIES = 10_000_000
"""The most entries of a tableau, or of an A that has to be written down: 80 MB of doubles."""

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

    At a vertex only about as many examples lie strictly between their bounds as hypotheses have
    weight. Each of the others takes about one pivot, and a row and a column of the tableau. The
    pivots are few if they are predicted to cost at most a third of the interior point method.
    """
    game = solution.game
    form = linear_program(game)
    if form is None or not isinstance(game.over, AtomicSet):
        return False
    excess, inside = bound_distances(form, solution.d, form.cost + solution.margins)
    # An example between bounds has a price close to the threshold, compared with its distance.
    fractional = inside * game.over.scale > np.abs(excess) * (form.upper - form.lower)
    pivots = float(fractional.sum())
    entries = pivots**2
    is_cheap = 3.0 * passes_of(game, pivots * entries) <= predict_passes(game)
    return entries <= MAX_ENTRIES and is_cheap


def bound_distances(form: LinearForm, d: Vector, price: Vector) -> tuple[Vector, Vector]:
    """Return how far each example is from the threshold price, and from its nearer bound.

    The first array has the price of each example less the threshold, and the second the distance
    of its d. The cheapest distribution has the examples with prices below the threshold at their
    upper bounds, and those with prices above the threshold at their lower bounds.
    """
    order = np.argsort(price, kind="stable")
    total = form.lower.sum() + np.cumsum((form.upper - form.lower)[order])
    # The threshold is the price of the example at which the upper bounds add up to 1.
    threshold = price[order[min(int(np.searchsorted(total, 1.0)), d.size - 1)]]
    return price - threshold, np.minimum(d - form.lower, form.upper - d)


class GameProgram:
    """The products with B of one matrix and one domain, and a budget of passes over A.

    B has the columns of the margin matrix A, and over a ball also those of −A.

    Parameters
    ----------
    game : Game
        A game for which `linear_program` returns a form.
    budget : float
        The number of passes over A that may be spent.
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
        """The number of columns of B."""
        self.total = self.m + 1 + self.signed
        """The number of the last variable, Σd."""

    def spend(self, passes: float) -> None:
        """Subtract passes from the budget.

        Raises
        ------
        Lost
            If the passes exceed the budget.
        TimeUp
            If the time limit of the run is over.
        """
        # This call raises TimeUp.
        seconds_left()
        self.budget -= passes
        if self.budget < 0.0:
            raise Lost

    def spend_pivots(self, count: int, size: int) -> None:
        """Subtract the cost of pivots on a tableau with `size` entries.

        A pivot is a rank-one update, which takes one multiplication for each entry.
        """
        self.spend(passes_of(self._game, float(count) * size))

    def edges(self, d: Vector) -> Vector:
        """Return Bᵀd, the edge of each column of B for a distribution d over the examples."""
        self.spend(1.0)
        edges = self._bulk.edges(d)
        return np.concatenate([edges, -edges]) if self.over.two_sided else edges

    def margins(self, weights: Vector) -> Vector:
        """Return the margin of each example, for one weight for each column of B."""
        self.spend(1.0)
        return self._bulk.margins(self.combine(weights))

    def combine(self, weights: Vector) -> Vector:
        """Return the signed weight of each column of A, from the weights of the columns of B."""
        return weights[: self.n] - weights[self.n :] if self.over.two_sided else weights

    def separate(self, w: Vector) -> Vector:
        """Return the weight of each column of B, from signed weights w of the columns of A."""
        return np.maximum(np.concatenate([w, -w]), 0.0) if self.over.two_sided else w

    def part(self, examples: Whole, columns: Whole) -> Array:
        """Return the entries of B at some examples and columns."""
        # The columns of −A follow those of A.
        sign = np.where(columns < self.n, 1.0, -1.0)
        return self._bulk.part(examples, columns % self.n) * sign

    def complete(self, x: Vector) -> Vector:
        """Return the variables x with the slacks s and the sum Σd that their d and v imply."""
        d = x[: self.m]
        slack = x[self.m] - self.edges(d)
        return np.concatenate([x[: self.m + 1], slack, [d.sum()]])
