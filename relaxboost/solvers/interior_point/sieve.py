"""The columns that an interior point method has in play, where all of them are too many."""

from __future__ import annotations

import numpy as np

from relaxboost._core.arrays import Vector, Whole
from relaxboost.game.domains import AtomicSet
from relaxboost.matrices import kernels
from relaxboost.matrices.bulk import Bulk, Pricing, spread
from relaxboost.solvers.interior_point.iterate import Iterate

_FIRST, _DENSER = 8, 0.1
"""Cuts of each feature to start with, at least, and that part of √m, the finest that shows."""
_GROWTH, _FEW = 0.5, 500
"""The part of the columns in play that may enter at once, or so many: those of largest price."""
_IDLE = 1e-5
"""Columns leave whose curvature is below this part of what columns in use have."""
_STAY = 0.9
"""As long as this part would stay, all do: their weight goes to others, which upsets iterates."""
_ENOUGH = 0.95
"""None enters where others leave this part of a step."""


class Sieve:
    """All columns of a game, which enter and leave the play as the iterates ask for it.

    Every step ends with a pass over all columns, so that the bracket is that of the whole game.
    No column ever costs more than v, as if all were in play: those that would after a step enter
    before it is taken, of the cuts between each two in play the best of each sign. The others have
    so large a slack that they hardly change the direction. A column leaves at most once, so that
    this comes to an end.

    Parameters
    ----------
    whole : Pricing
    over : AtomicSet
    most : int
        How many may be in play.

    References
    ----------
    Gondzio, González-Brevis & Munari (2013), European J. Oper. Res. 224, the primal-dual column
    generation method.
    """

    def __init__(self, whole: Pricing, over: AtomicSet, most: int) -> None:
        self._whole, self._over, self.most = whole, over, most
        self._left = self._back = np.empty(0, dtype=np.int64)
        each = max(_FIRST, int(_DENSER * np.sqrt(whole.m)))
        columns = whole.spread(each)
        if columns.size > most:
            columns = columns[spread(0, columns.size, most // 2)]
        self.play(columns)
        self.edges = np.zeros(whole.n)
        """Those of all columns, at the last d that was priced."""

    def play(self, columns: Whole) -> None:
        """Put these columns into play, given by increasing number."""
        self.columns = columns
        self.bulk = self._whole.restricted(columns)

    def price(self, d: Vector) -> float:
        """Return the largest price of all columns at d."""
        self.edges = self._whole.edges(d)
        return float(self._over.prices(self.edges).max())

    def reach(self, direction: Vector, v: float, rise: float) -> float:
        """Return the step at which some column costs more than v, 1 at most."""
        change = self._whole.edges(direction)
        return kernels.reach(self.edges, change, v, rise, self._over.two_sided)

    def enter(
        self, direction: Vector, v: float, rise: float, length: float
    ) -> tuple[Bulk, Whole] | None:
        """Let columns enter that cost more than v after a step of this length.

        Return those in play and the places of those of before, None where none enters.
        """
        after, both = self._whole.edges(direction), self._over.two_sided
        if kernels.reach(self.edges, after, v, rise, both) > _ENOUGH * length:
            return None
        after *= length
        after += self.edges
        v += length * rise
        peaks = kernels.peaks(after, self.columns, v, both)
        room = min(self.most - self.columns.size, max(_FEW, int(_GROWTH * self.columns.size)))
        order = np.argsort(-self._over.prices(after[peaks]), kind="stable")
        enter = np.sort(peaks[order[: max(room, 0)]])
        if enter.size == 0:
            return None
        self._back = np.union1d(self._back, np.intersect1d(enter, self._left))
        before = self.columns
        self.play(np.union1d(before, enter))
        return self.bulk, np.searchsorted(self.columns, before)

    def leave(self, iterate: Iterate) -> None:
        """Let columns leave that no longer matter."""
        stay = iterate.weighty(_IDLE) | np.isin(self.columns, self._back)
        if stay.sum() < _STAY * stay.size:
            self._left = np.union1d(self._left, self.columns[~stay])
            self.play(self.columns[stay])
            iterate.leave(self.bulk, stay)
