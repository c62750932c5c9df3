"""Column generation inside the interior point method, for games with too many columns."""

from __future__ import annotations

import numpy as np

from relaxboost._core.arrays import Vector, Whole
from relaxboost.game.domains import AtomicSet
from relaxboost.matrices import kernels
from relaxboost.matrices.bulk import Bulk, Pricing, spread
from relaxboost.solvers.interior_point.iterate import Iterate

IDLE = 1e-5
"""Columns leave if their curvature is below this part of the usual one of columns in use: Newton's
equations would hardly change if such a column had no multiplier at all."""


class Sieve:
    """All columns of a game, which are put into play and taken out as the iterates require.

    Every step ends with a pass over all columns, so that the bracket is that of the whole game. No
    column ever has an edge above v, as if all were in play: a step ends where a column would have
    one, and the columns that block it are put into play, for each sign the best cut between two
    cuts in play. The other columns have so large a slack that they hardly change the direction. A
    column leaves at most once, so that the changes come to an end.

    Parameters
    ----------
    whole : Pricing
    over : AtomicSet
    most : int
        How many columns may be in play.

    References
    ----------
    Gondzio, González-Brevis & Munari (2013), European J. Oper. Res. 224, the primal-dual column
    generation method.
    """

    def __init__(self, whole: Pricing, over: AtomicSet, most: int) -> None:
        self._whole = whole
        self._over = over
        self._most = most
        self._left = np.empty(0, dtype=np.int64)
        self._returned = self._left
        # The usual number of bins of a histogram of m examples (Scott 1979, Biometrika 66).
        each = int(np.ceil(np.cbrt(whole.m)))
        columns = whole.spread(each)
        # Half of the places stay free for the columns that block steps.
        if columns.size > most:
            columns = columns[spread(0, columns.size, most // 2)]
        self._put_in_play(columns)
        self.edges = np.zeros(whole.n)
        """The edges of all columns, at the last d that was priced."""

    def _put_in_play(self, columns: Whole) -> None:
        """Set the columns in play, given by increasing number."""
        self.columns = columns
        self.bulk = self._whole.restricted(columns)

    def price(self, d: Vector) -> float:
        """Return the largest price of all columns at d."""
        self.edges = self._whole.edges(d)
        return float(self._over.prices(self.edges).max())

    def block(
        self, direction: Vector, v: float, rise: float, length: float
    ) -> tuple[float, tuple[Bulk, Whole] | None]:
        """Return the longest step, of at most `length`, after which no edge is above v.

        Columns whose edge would be above v after the whole of `length` are put into play, those of
        the largest price first. All columns in play and the places of the former ones are returned
        too, or None if none was put into play.
        """
        change = self._whole.edges(direction)
        is_two_sided = self._over.two_sided
        blocked = kernels.reach(self.edges, change, v, rise, is_two_sided)
        if blocked >= length:
            return length, None
        after = self.edges + length * change
        peaks = kernels.peaks(after, self.columns, v + length * rise, is_two_sided)
        # At most as many as there are, so that no step costs more than eight times the one before.
        room = min(self._most - self.columns.size, self.columns.size)
        order = np.argsort(-self._over.prices(after[peaks]), kind="stable")
        admitted = np.sort(peaks[order[: max(room, 0)]])
        if admitted.size == 0:
            return blocked, None
        # A column that left once and returns stays for good: this bounds the number of changes.
        self._returned = np.union1d(self._returned, np.intersect1d(admitted, self._left))
        former = self.columns
        self._put_in_play(np.union1d(former, admitted))
        return blocked, (self.bulk, np.searchsorted(self.columns, former))

    def drop_idle(self, iterate: Iterate) -> None:
        """Take columns out of play that no longer matter, if they are many."""
        stays = ~iterate.bounds.is_idle(IDLE) | np.isin(self.columns, self._returned)
        # Their weight goes to others, which disturbs the iterate: a few are not worth that.
        if stays.mean() < 0.9:
            self._left = np.union1d(self._left, self.columns[~stays])
            self._put_in_play(self.columns[stays])
            iterate.bounds.drop(self.bulk, stays, iterate.d)
