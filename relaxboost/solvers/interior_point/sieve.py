"""Column generation within the interior point method."""

from __future__ import annotations

import numpy as np

from relaxboost._core.arrays import Vector, Whole
from relaxboost.game.domains import AtomicSet
from relaxboost.matrices import kernels
from relaxboost.matrices.bulk import Bulk, Pricing, spread


class Sieve:
    """All columns of a game, and the selection of those in the restricted problem.

    The steps use only the columns in the restricted problem. Columns enter it during the run, and
    never leave it. Every step ends with a pass over all columns, so the bracket [lower, upper] is
    valid for the whole game.

    A step ends before any edge exceeds the bound v on all edges. Some columns that limit the step
    then enter the restricted problem. Columns with neighbouring indices, such as stumps, are often
    similar. In each step, at most one column of each sign therefore enters between two neighbouring
    columns of the restricted problem.

    Parameters
    ----------
    whole : Pricing
        All columns of the game, with their edges.
    over : AtomicSet
        The set W of the weights w.
    most : int
        The maximum number of columns in the restricted problem.

    References
    ----------
    Gondzio, González-Brevis & Munari (2013), European J. Oper. Res. 224, the primal-dual column
    generation method.
    """

    def __init__(self, whole: Pricing, over: AtomicSet, most: int) -> None:
        self._whole = whole
        self._over = over
        self._most = most
        # This is the usual number of bins of a histogram of m examples (Scott 1979, Biometrika 66).
        each = int(np.ceil(np.cbrt(whole.m)))
        columns = whole.spread(each)
        # Half of the places stay free for the columns that block steps.
        if columns.size > most:
            columns = columns[spread(0, columns.size, most // 2)]
        self._restrict_to(columns)
        self.edges = np.zeros(whole.n)
        """The edges of all columns for the last d that was priced."""

    def _restrict_to(self, columns: Whole) -> None:
        self.columns = columns
        self.bulk = self._whole.restricted(columns)

    def price(self, d: Vector) -> float:
        """Store the edges of all columns for the distribution d, and return the largest price.

        The price of a column is its edge, or |edge| if weights may be negative.
        """
        self.edges = self._whole.edges(d)
        return self._over.edge_size(self.edges)

    def block(
        self, direction: Vector, v: float, rise: float, length: float
    ) -> tuple[float, tuple[Bulk, Whole] | None]:
        """Return the longest step, at most `length`, after which no edge exceeds the bound v.

        In a step of length 1, the distribution d moves by `direction`, and v increases by `rise`.
        If columns enter the restricted problem, the second result is the columns of the new problem
        and the positions of the earlier ones. Otherwise it is None, as always for a step of
        `length`.
        """
        change = self._whole.edges(direction)
        is_two_sided = self._over.two_sided
        blocked = kernels.reach(self.edges, change, v, rise, is_two_sided)
        if blocked >= length:
            return length, None
        after = self.edges + length * change
        peaks = kernels.peaks(after, self.columns, v + length * rise, is_two_sided)
        # At most as many enter as are in use. So a step costs at most eight times the one before.
        room = min(self._most - self.columns.size, self.columns.size)
        order = np.argsort(-self._over.prices(after[peaks]), kind="stable")
        admitted = np.sort(peaks[order[: max(room, 0)]])
        if admitted.size == 0:
            return blocked, None
        former = self.columns
        self._restrict_to(np.union1d(former, admitted))
        return blocked, (self.bulk, np.searchsorted(self.columns, former))
