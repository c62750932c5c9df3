"""The columns that an interior point method has in play, where all of them are too many."""

from __future__ import annotations

import numpy as np

from relaxboost._core.arrays import Vector, Whole
from relaxboost.game.domains import AtomicSet
from relaxboost.matrices import kernels
from relaxboost.matrices.bulk import Pricing, spread
from relaxboost.solvers.interior.iterate import Iterate

_FIRST, _DENSER = 8, 0.1
"""Cuts of each feature to start with, at least, and that part of √m, the finest that shows."""
_EAGER = 0.05
"""Columns enter where those outside cost more than this part of the gap of those in play."""
_GROWTH, _FEW = 0.5, 500
"""The part of the columns in play that may enter at once, or so many: those of largest price."""
_CENTRED = 0.1
"""The part of what columns outside cost below which products are not to fall."""
_IDLE = 1e-5
"""Columns leave whose curvature is below this part of what columns in use have."""


class Sieve:
    """All columns of a game, which enter and leave the play as the iterates ask for it.

    Every step ends with a pass over all columns, so that the bracket is that of the whole game.
    Where it is mostly due to columns outside, those enter: of the cuts between each two in play the
    best of each sign. The iterates are near the central path when they do, since a restricted
    program is never solved much further than the columns outside allow; so a step or two mend
    what the new columns upset. A column leaves at most once, so that this comes to an end.

    Parameters
    ----------
    whole : Pricing
    over : AtomicSet
    first : array of shape (any,)
        Columns to start with, beside some that are spread evenly.
    most : int
        How many may be in play.

    References
    ----------
    Gondzio, González-Brevis & Munari (2013), European J. Oper. Res. 224, the primal-dual column
    generation method.
    """

    def __init__(self, whole: Pricing, over: AtomicSet, first: Whole, most: int) -> None:
        self._whole, self._over, self.most = whole, over, most
        self._left = self._back = np.empty(0, dtype=np.int64)
        each = max(_FIRST, int(_DENSER * np.sqrt(whole.m)))
        columns = np.union1d(whole.spread(each), first)
        if columns.size > most:
            columns = columns[spread(0, columns.size, most // 2)]
        self.play(columns)
        self.edges = np.zeros(whole.n)
        """Those of all columns, at the last d that was priced."""
        self.least = 0.0
        """The sum of products that the next step is to aim at, at least."""

    def play(self, columns: Whole) -> None:
        """Put these columns into play, given by increasing number."""
        self.columns = columns
        self.bulk = self._whole.restricted(columns)

    def price(self, d: Vector) -> float:
        """Return the largest price of all columns at d."""
        self.edges = self._whole.edges(d)
        return float(self._over.prices(self.edges).max())

    def exchange(self, iterate: Iterate, upper: float, lower: float) -> bool:
        """Let columns enter and leave; return whether any did.

        Parameters
        ----------
        iterate : Iterate
            At the d priced last; it takes the new columns.
        upper, lower : float
            The bracket of the whole game at `iterate`.
        """
        over = self._over
        prices = over.prices(self.edges)
        outside = over.value(float(prices.max())) - over.value(float(prices[self.columns].max()))
        self.least = _CENTRED * outside
        if outside <= _EAGER * (upper - lower - outside):
            return False
        stay = iterate.weighty(_IDLE) | np.isin(self.columns, self._back)
        peaks = kernels.peaks(self.edges, self.columns, iterate.v, over.two_sided)
        room = min(self.most - int(stay.sum()), max(_FEW, int(_GROWTH * stay.sum())))
        enter = np.sort(peaks[np.argsort(-prices[peaks], kind="stable")[: max(room, 0)]])
        if enter.size == 0:
            return False
        self._back = np.union1d(self._back, np.intersect1d(enter, self._left))
        self._left = np.union1d(self._left, self.columns[~stay])
        kept = self.columns[stay]
        self.play(np.union1d(kept, enter))
        iterate.exchange(self.bulk, stay, np.searchsorted(self.columns, kept))
        return True
